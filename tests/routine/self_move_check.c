/* Moves a buffer onto itself that cannot be written: dies of a fault where a byte is stored.
 *
 * Usage: self_move_check BYTES */
#define _GNU_SOURCE
#include "asterope_memcpy.h"
#include "harness.h"

int main(int count, char** arguments) {
    const size_t bytes = count == 2 ? strtoul(arguments[1], NULL, 10) : 0;
    void* buffer = guarded(bytes);
    if (mprotect(buffer, bytes, PROT_READ) != 0) return 1;
    const int right = asterope_memmove(buffer, buffer, bytes) == buffer;
    puts(right ? "ok" : "returned something else");
    return !right;
}
