/* Shows which profile a generated file of several chooses on CPUs that are not this one.
 *
 * Compiled with -DROUTINE="path": the generated file, in which the test has put what fake_cpu.h
 * says in the place of the instructions that ask the CPU. Each line on stdin is a CPU: the numbers
 * there, hexadecimal. Prints for each the name of the profile and the features, as a number. */
#define _GNU_SOURCE
#include "harness.h"
#include OF_ARCHITECTURE(fake_cpu.h)

#include ROUTINE

int main(void) {
    char line[500];
    while (fgets(line, sizeof line, stdin) && read_fake_cpu(line)) {
        struct asterope_cpu read;
        asterope_read_cpu(&read);
        const unsigned has = asterope_cpu_has(&read);
        printf("%s %x\n", asterope_name(asterope_nearest(&read, has)), has);
    }
    return 0;
}
