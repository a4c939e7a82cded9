/* A CPU of x86-64 that the test describes, for nearest_check, and in the place of the compiler's
 * cpuid.h: read_cpuid and `saved_by_system` stand for the instructions CPUID and XGETBV. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* " LEAF.SUBLEAF.REGISTER=VALUE ...", hexadecimal; what is not there is 0, as all is where a file
 * of several profiles chooses as it is loaded. */
static const char* fake;

static inline bool read_fake_cpu(const char* line) {
    fake = line;
    return true;
}

static inline unsigned told(unsigned leaf, unsigned subleaf, char of) {
    if (!fake) return 0;
    char name[40];
    snprintf(name, sizeof name, " %x.%x.%c=", leaf, subleaf, of);
    const char* at = strstr(fake, name);
    return at ? (unsigned)strtoul(at + strlen(name), NULL, 16) : 0;
}
#define saved_by_system told(0, 0, 's')

static inline void read_cpuid(unsigned leaf, unsigned subleaf, unsigned* a, unsigned* b,
                              unsigned* c, unsigned* d) {
    *a = told(leaf, subleaf, 'a');
    *b = told(leaf, subleaf, 'b');
    *c = told(leaf, subleaf, 'c');
    *d = told(leaf, subleaf, 'd');
}

static inline int __get_cpuid_count(unsigned leaf, unsigned subleaf, unsigned* a, unsigned* b,
                                    unsigned* c, unsigned* d) {
    read_fake_cpu(getenv("FAKE_CPU"));
    read_cpuid(leaf, subleaf, a, b, c, d);
    return leaf <= told(leaf & 0x80000000u, 0, 'a');
}

static inline int __get_cpuid(unsigned leaf, unsigned* a, unsigned* b, unsigned* c, unsigned* d) {
    return __get_cpuid_count(leaf, 0, a, b, c, d);
}
