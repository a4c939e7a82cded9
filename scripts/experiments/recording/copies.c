/* Does some arithmetic between copies: copies CALLS SIZE MIB ROUNDS
 *
 * SIZE bytes each, or 1 to N where it is -N, unpredictably; within MIB of memory on each side, 0 for
 * one buffer; after ROUNDS of arithmetic each. Its results do not depend on the copies. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words)
{
    if (count != 5) return 2;
    const long calls = atol(words[1]), size = atol(words[2]), rounds = atol(words[4]);
    const size_t most = (size_t)labs(size), span = (size_t)atol(words[3]) << 20;
    char *from = malloc(span + most + 1024), *to = malloc(span + most + 1024);
    if (!from || !to) return 1;
    memset(from, 1, span + most + 1024);
    memset(to, 1, span + most + 1024);
    static uint64_t table[2048];
    uint64_t x = 88172645463325252u, sum = 0;
    for (long i = 0; i < calls; ++i) {
        for (long k = 0; k < rounds; ++k) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            table[x % 2048] += x;
            sum += table[(x >> 20) % 2048];
        }
        const size_t bytes = size < 0 ? (x >> 40) % most + 1 : most;
        const size_t reach = span ? span : 1024;
        memcpy(to + x % reach, from + (x >> 20) % reach, bytes);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
