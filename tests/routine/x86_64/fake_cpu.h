/* A CPU of x86-64 that the test describes, for nearest_check and fake/cpuid.h: read_cpuid and `saved_by_system`
 * stand for the instructions CPUID and XGETBV. */
#ifndef ASTEROPE_FAKE_CPU_H
#define ASTEROPE_FAKE_CPU_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct {
    unsigned most_leaves, vendor_b, vendor_d, vendor_c; /* leaf 0 */
    unsigned signature, leaf1_c;
    unsigned most_subleaves, leaf7_b, leaf7_c, leaf7_d; /* leaf 7 */
    unsigned leaf7_1_a;
    unsigned extended_c, extended_d, extended7_d; /* leaves 80000001H and 80000007H */
    unsigned most_extended, extended8_b; /* leaves 80000000H and 80000008H */
    unsigned saved;
} fake;

static void read_cpuid(unsigned leaf, unsigned subleaf, unsigned* a, unsigned* b, unsigned* c,
                       unsigned* d) {
    *a = *b = *c = *d = 0;
    if (leaf == 0)
        *a = fake.most_leaves, *b = fake.vendor_b, *d = fake.vendor_d, *c = fake.vendor_c;
    if (leaf == 1) *a = fake.signature, *c = fake.leaf1_c;
    if (leaf == 7 && subleaf == 0)
        *a = fake.most_subleaves, *b = fake.leaf7_b, *c = fake.leaf7_c, *d = fake.leaf7_d;
    if (leaf == 7 && subleaf == 1) *a = fake.leaf7_1_a;
    if (leaf == 0x80000000u) *a = fake.most_extended;
    if (leaf == 0x80000001u) *c = fake.extended_c, *d = fake.extended_d;
    if (leaf == 0x80000007u) *d = fake.extended7_d;
    if (leaf == 0x80000008u) *b = fake.extended8_b;
}

#define saved_by_system fake.saved

/* Takes the numbers, hexadecimal, in the order above; false where they are not there. */
static bool read_fake_cpu(const char* line) {
    unsigned* at = (unsigned*)&fake;
    for (; at < (unsigned*)(&fake + 1); ++at, line = strchr(line, ' '), line += line != NULL) {
        if (line == NULL || sscanf(line, "%x", at) != 1) return false;
    }
    return true;
}

#endif
