/* A CPU of x86-64 that the test describes, for nearest_check and fake/cpuid.h: read_cpuid and
 * `saved_by_system` stand for the instructions CPUID and XGETBV. */
#ifndef ASTEROPE_FAKE_CPU_H
#define ASTEROPE_FAKE_CPU_H

#include <stdbool.h>
#include <stdio.h>

/* What CPUID says of a leaf and a subleaf in one of its registers, in the order of the numbers. */
static const struct {
    unsigned leaf, subleaf;
    char of;
} told[] = {
    {0, 0, 'a'},           {0, 0, 'b'},           {0, 0, 'd'},           {0, 0, 'c'},
    {1, 0, 'a'},           {1, 0, 'c'},           {7, 0, 'a'},           {7, 0, 'b'},
    {7, 0, 'c'},           {7, 0, 'd'},           {7, 1, 'a'},           {0x80000001u, 0, 'c'},
    {0x80000001u, 0, 'd'}, {0x80000007u, 0, 'd'}, {0x80000000u, 0, 'a'}, {0x80000008u, 0, 'b'},
};
enum { TOLD = sizeof told / sizeof told[0] };
static unsigned fake[TOLD + 1];
#define saved_by_system fake[TOLD]

static void read_cpuid(unsigned leaf, unsigned subleaf, unsigned* a, unsigned* b, unsigned* c,
                       unsigned* d) {
    *a = *b = *c = *d = 0;
    for (int i = 0; i < TOLD; ++i) {
        unsigned* const in[] = {a, b, c, d};
        if (told[i].leaf == leaf && told[i].subleaf == subleaf) *in[told[i].of - 'a'] = fake[i];
    }
}

/* Takes the numbers, hexadecimal; false where they are not there. */
static bool read_fake_cpu(const char* line) {
    for (int i = 0, length; i <= TOLD; ++i, line += length) {
        if (sscanf(line, "%x%n", &fake[i], &length) != 1) return false;
    }
    return true;
}

#endif
