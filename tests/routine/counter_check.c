/* Shows that a routine with sensing copies lives without the time stamp counter where the process
 * is forbidden to read it.
 *
 * Usage: counter_check LIBRARY BYTES
 * Forbids it, loads the routine, copies so many bytes. Prints `ok`, or `skip` where this system
 * cannot forbid it; dies of a signal where the routine reads the counter all the same. */
#define _GNU_SOURCE
#include <sys/prctl.h>

#include "harness.h"

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const size_t bytes = strtoull(argv[2], NULL, 10);
    unsigned char *source = guarded(bytes), *destination = guarded(bytes);
    memset(source, 0x5A, bytes);
    int mode = PR_TSC_ENABLE;
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0 || prctl(PR_GET_TSC, &mode) != 0 ||
        mode != PR_TSC_SIGSEGV) {
        puts("skip");
        return 0;
    }
    void* library;
    plain_function copy;
    *(void**)&copy = function_of(argv[1], "asterope_memcpy", &library);
    copy(destination, source, bytes);
    if (memcmp(destination, source, bytes) != 0) return 1;
    puts("ok");
    return 0;
}
