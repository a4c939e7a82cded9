/* Stands for the compiler's header: a CPU that the variable FAKE_CPU describes. */
#include <stdlib.h>

#include "../fake_cpu.h"

static inline int __get_cpuid_count(unsigned leaf, unsigned subleaf, unsigned* a, unsigned* b,
                                    unsigned* c, unsigned* d) {
    if (!read_fake_cpu(getenv("FAKE_CPU"))) abort();
    read_cpuid(leaf, subleaf, a, b, c, d);
    return leaf <= (leaf >> 31 ? fake.most_extended : fake.most_leaves);
}

static inline int __get_cpuid(unsigned leaf, unsigned* a, unsigned* b, unsigned* c, unsigned* d) {
    return __get_cpuid_count(leaf, 0, a, b, c, d);
}
