/* Copies its standard input to its standard output with two routines. Each chunk goes through a
 * buffer that stays in the cache, with a routine tuned for that. It also goes through one of
 * many buffers, with the other routine. */
#include "asterope_memcpy.h"
#include "hot_memcpy.h"

#include <stdio.h>

int main(void)
{
    enum { chunks = 64, chunk_bytes = 1 << 16 };
    static char many[chunks][chunk_bytes], same[chunk_bytes];
    size_t got;

    for (unsigned turn = 0; (got = fread(same, 1, sizeof same, stdin)) > 0; ++turn) {
        char *one = many[turn % chunks];
        asterope_memcpy(one, same, got);
        hot_memcpy(same, one, got);
        if (fwrite(same, 1, got, stdout) != got) return perror("both: standard output"), 1;
    }
    if (ferror(stdin)) return perror("both: standard input"), 1;
    return fflush(stdout) ? 1 : 0;
}
