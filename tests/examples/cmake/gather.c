/* Gathers all of its standard input in memory, then writes it: a copy with asterope_memcpy. */
#include "asterope_memcpy.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    static char chunk[1 << 16];
    char *all = NULL;
    size_t used = 0, room = 0, got;

    while ((got = fread(chunk, 1, sizeof chunk, stdin)) > 0) {
        if (got > room - used) {
            char *larger = malloc(room = 2 * (used + got));
            if (!larger) return fputs("gather: out of memory\n", stderr), 1;
            asterope_memcpy(larger, all, used); /* what a realloc would do */
            free(all);
            all = larger;
        }
        asterope_memcpy(all + used, chunk, got);
        used += got;
    }
    if (ferror(stdin)) return perror("gather: standard input"), 1;
    if (fwrite(all, 1, used, stdout) != used || fflush(stdout)) {
        return perror("gather: standard output"), 1;
    }
    free(all);
    return 0;
}
