/* A program whose own functions stand before libc's, and copy, as those of a sanitizer do: what the
 * recorder itself needs of the kernel must not come back to it through them. CALLS: of 5000 bytes. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void* (*volatile set)(void*, int, size_t) = memset;
static void* (*volatile copy)(void*, const void*, size_t) = memcpy;
static char noted[1 << 16], from[1 << 16], to[1 << 16];

static void note(void) {
    set(noted, 1, sizeof noted);
    copy(noted, from, sizeof noted);
}

void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
    note();
    return (void*)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
}

int munmap(void* at, size_t bytes) {
    note();
    return (int)syscall(SYS_munmap, at, bytes);
}

int madvise(void* at, size_t bytes, int advice) {
    note();
    return (int)syscall(SYS_madvise, at, bytes, advice);
}

/* As faketime has it: a clock that stands still. */
int clock_gettime(clockid_t clock, struct timespec* now) {
    note();
    now->tv_sec = clock == CLOCK_REALTIME ? 1000000000 : 1;
    now->tv_nsec = 0;
    return 0;
}

int main(int count, char** words) {
    for (long i = count > 1 ? atol(words[1]) : 0; i > 0; --i) {
        from[0] = (char)i;
        copy(to, from, 5000);
        if (to[0] != from[0]) return 1;
    }
    return 0;
}
