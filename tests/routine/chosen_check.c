/* Shows what a generated file of several profiles has chosen, and that its copies are right, from
 * the first constructor on.
 *
 * Prints the name that asterope_profile returns in the program's first constructor, and in main. */
#define _GNU_SOURCE
#include "harness.h"

/* One of the two. */
static void check(plain_function copy, plain_set_function set, const char* when) {
    static char source[5000], destination[5000];
    for (size_t bytes = 0; bytes <= sizeof source; bytes += bytes < 700 ? 1 : 613) {
        const char value = (char)(1 + bytes % 99);
        memset(source, value, bytes);
        memset(destination, 0, sizeof destination);
        copy ? copy(destination, source, bytes) : set(destination, value, bytes);
        for (size_t i = 0; i < sizeof destination; ++i) {
            if (destination[i] == (i < bytes ? value : 0)) continue;
            printf("%s: %zu bytes are wrong\n", when, bytes);
            exit(1);
        }
    }
}

#include "asterope_memcpy.h"

/* Its address stands in memory that has to be relocated. */
static plain_function copies[] = {asterope_memcpy, asterope_mempcpy, asterope_memmove};
static plain_set_function sets[] = {asterope_memset};
static const char* first_name;

__attribute__((constructor(101))) static void first(void) {
    first_name = asterope_profile();
    for (int i = 0; i < 3; ++i) check(copies[i], NULL, "constructor");
    check(NULL, sets[0], "constructor");
}

int main(void) {
    for (int i = 0; i < 3; ++i) check(copies[i], NULL, "main");
    check(NULL, sets[0], "main");
    printf("%s %s\n", first_name, asterope_profile());
    return 0;
}
