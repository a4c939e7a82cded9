/* Gathers all of its standard input in memory, then writes it: a copy with asterope_memcpy. */
#include "asterope_memcpy.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    static char chunk[1 << 16];
    char *all = NULL;
    size_t used = 0, got;

    while ((got = fread(chunk, 1, sizeof chunk, stdin)) > 0) {
        char *larger = realloc(all, used + got);
        if (!larger) return fputs("gather: out of memory\n", stderr), 1;
        all = larger;
        asterope_memcpy(all + used, chunk, got);
        used += got;
    }
    if (used && fwrite(all, 1, used, stdout) != used) return perror("gather"), 1;
    free(all);
    return fflush(stdout) || ferror(stdin);
}
