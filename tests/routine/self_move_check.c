/* Moves a buffer onto itself that cannot be written: dies of a fault where a byte is stored.
 *
 * Usage: self_move_check BYTES */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "asterope_memcpy.h"

int main(int count, char** arguments) {
    const size_t bytes = count == 2 ? strtoul(arguments[1], NULL, 10) : 0;
    char* buffer = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED) return 1;
    const int right = asterope_memmove(buffer, buffer, bytes) == buffer;
    puts(right ? "ok" : "returned something else");
    return !right;
}
