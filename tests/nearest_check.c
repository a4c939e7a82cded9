/* Shows which profile a generated file of several chooses on CPUs that are not this one.
 *
 * Compiled with -DROUTINE="path": the generated file, in which the test has put read_cpuid and
 * `saved_by_system` in the place of the instructions CPUID and XGETBV. Each line on stdin is a CPU:
 * the numbers below, hexadecimal. Prints for each the name of the profile and the features, as a
 * number. */
#include <stdio.h>

static struct {
    unsigned vendor_b, vendor_d, vendor_c; /* leaf 0 */
    unsigned signature, leaf1_c;
    unsigned most_subleaves, leaf7_b, leaf7_c, leaf7_d; /* leaf 7 */
    unsigned leaf7_1_a;
    unsigned extended_c, extended_d;
    unsigned saved;
} cpu;

static void read_cpuid(unsigned leaf, unsigned subleaf, unsigned* a, unsigned* b, unsigned* c,
                       unsigned* d) {
    *a = *b = *c = *d = 0;
    if (leaf == 0) *b = cpu.vendor_b, *d = cpu.vendor_d, *c = cpu.vendor_c;
    if (leaf == 1) *a = cpu.signature, *c = cpu.leaf1_c;
    if (leaf == 7 && subleaf == 0)
        *a = cpu.most_subleaves, *b = cpu.leaf7_b, *c = cpu.leaf7_c, *d = cpu.leaf7_d;
    if (leaf == 7 && subleaf == 1) *a = cpu.leaf7_1_a;
    if (leaf == 0x80000001u) *c = cpu.extended_c, *d = cpu.extended_d;
}

#define saved_by_system cpu.saved
#include ROUTINE

int main(void) {
    while (scanf("%x %x %x %x %x %x %x %x %x %x %x %x %x", &cpu.vendor_b, &cpu.vendor_d,
                 &cpu.vendor_c, &cpu.signature, &cpu.leaf1_c, &cpu.most_subleaves, &cpu.leaf7_b,
                 &cpu.leaf7_c, &cpu.leaf7_d, &cpu.leaf7_1_a, &cpu.extended_c, &cpu.extended_d,
                 &cpu.saved) == 13) {
        const unsigned has = asterope_cpu_has();
        printf("%s %x\n", asterope_name(asterope_nearest(has)), has);
    }
    return 0;
}
