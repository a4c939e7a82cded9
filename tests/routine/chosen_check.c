/* Shows what a generated file of several profiles has chosen, and that its copies are right, from
 * the first constructor on.
 *
 * Prints the name that asterope_profile returns in the program's first constructor, and in main. */
#define _GNU_SOURCE
#include "harness.h"

#include "asterope_memcpy.h"

static plain_set_function setting = asterope_memset;

static void* set(void* to, const void* from, size_t bytes) {
    return setting(to, *(const char*)from, bytes);
}

/* Their addresses stand in memory that has to be relocated. */
static plain_function copies[] = {asterope_memcpy, asterope_mempcpy, asterope_memmove, set};

static void check(const char* when) {
    static char source[5000], destination[5000];
    for (size_t i = 0; i < COUNT_OF(copies); ++i) {
        for (size_t bytes = 0; bytes <= sizeof source; bytes += bytes < 700 ? 1 : 613) {
            const char value = (char)(1 + bytes % 99);
            memset(source, value, bytes);
            memset(destination, 0, sizeof destination);
            copies[i](destination, source, bytes);
            for (size_t at = 0; at < sizeof destination; ++at) {
                if (destination[at] != (at < bytes ? value : 0)) die(when, bytes);
            }
        }
    }
}

static const char* first_name;

__attribute__((constructor(101))) static void first(void) {
    first_name = asterope_profile();
    check("constructor");
}

int main(void) {
    check("main");
    printf("%s %s\n", first_name, asterope_profile());
    return 0;
}
