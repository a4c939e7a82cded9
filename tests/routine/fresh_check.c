/* Counts the page faults of copies into memory that nobody has touched: `fresh_check SIZE...`
 * prints for each size "SIZE ROUTINE LIBC", the minor faults of as many copies of the one and of
 * the other.
 */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "asterope_memcpy.h"
#include "harness.h"

enum { COPIES = 32 };

static long faults(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) exit(2);
    return usage.ru_minflt;
}

/* Of COPIES copies, each to pages of its own; `past` bytes into the first of them. */
static long faults_of(plain_function copy, const char* source, size_t size, size_t past) {
    size_t room = (size / PAGE + 2) * PAGE;
    char* fresh = (char*)guarded(COPIES * room);
    madvise(fresh, COPIES * room, MADV_NOHUGEPAGE); /* or one fault would do for many copies */
    long before = faults();
    for (size_t i = 0; i < COPIES; i++) copy(fresh + i * room + past, source, size);
    long count = faults() - before;
    munmap(fresh, COPIES * room);
    return count;
}

int main(int argc, char** argv) {
    volatile plain_function libc = memcpy; /* no call that the compiler could do without */
    volatile plain_function routine = asterope_memcpy;
    for (int i = 1; i < argc; i++) {
        size_t size = strtoul(argv[i], NULL, 10);
        char* source = malloc(size);
        if (!source) return 2;
        memset(source, 1, size);
        /* what is there for the first time faults by itself: code, tables of the dynamic linker */
        faults_of(routine, source, size, 0);
        faults_of(libc, source, size, 0);
        long ours = faults_of(routine, source, size, 16);
        printf("%zu %ld %ld\n", size, ours, faults_of(libc, source, size, 16));
        free(source);
    }
    return 0;
}
