/* A library that record_check loads. */
#include <string.h>

static void* (*volatile copy)(void*, const void*, size_t) = memcpy;

void copies_of_plugin(void);
void copies_of_plugin(void) {
    static char from[2048], to[2048];
    for (int i = 0; i < 100; ++i) copy(to, from, sizeof to);
}
