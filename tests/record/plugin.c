/* A library that record_check loads. */
#include <string.h>

static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

void copies_of_plugin(void);
void copies_of_plugin(void)
{
    char from[100] = {1}, to[100];
    for (int i = 0; i < 100; ++i) copy(to, from, sizeof to);
}
