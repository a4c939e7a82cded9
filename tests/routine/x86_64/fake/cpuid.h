/* Stands for the compiler's header: a CPU that the variable FAKE_CPU describes. */
#include <stdlib.h>

#include "../fake_cpu.h"

static inline int __get_cpuid_count(unsigned leaf, unsigned subleaf, unsigned* a, unsigned* b,
                                    unsigned* c, unsigned* d) {
    if (!read_fake_cpu(getenv("FAKE_CPU"))) abort();
    unsigned most, others[3];
    read_cpuid(leaf & 0x80000000u, 0, &most, &others[0], &others[1], &others[2]);
    read_cpuid(leaf, subleaf, a, b, c, d);
    return leaf <= most;
}

static inline int __get_cpuid(unsigned leaf, unsigned* a, unsigned* b, unsigned* c, unsigned* d) {
    return __get_cpuid_count(leaf, 0, a, b, c, d);
}
