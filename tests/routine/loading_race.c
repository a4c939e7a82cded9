/* A library that copies in a thread of its own while a library behind it is loaded, and looks
 * whether every copy was right.
 *
 * It is loaded by LD_PRELOAD behind the library under test, and so initialised before that one. The
 * process exits with 1 where a copy was wrong. */
#define _GNU_SOURCE
#include <pthread.h>

#include "harness.h"

enum { BYTES = 100, MARGIN = 64 };

static unsigned char from[BYTES], room[MARGIN + BYTES + MARGIN];
static unsigned running, stop;
static pthread_t thread;

/* In a tight loop: nothing repairs what a wrong copy writes beside its destination. */
static void* copy_until_stopped(void* unused) {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        memcpy(room + MARGIN, from, BYTES);
        __atomic_store_n(&running, 1, __ATOMIC_RELAXED);
    }
    return unused;
}

__attribute__((constructor)) static void start(void) {
    memset(room, CANARY, sizeof room);
    for (int i = 0; i < BYTES; ++i) from[i] = (unsigned char)i;
    if (pthread_create(&thread, NULL, copy_until_stopped, NULL) != 0) _exit(2);
    while (!__atomic_load_n(&running, __ATOMIC_RELAXED)) continue;
}

__attribute__((destructor)) static void finish(void) {
    int wrong = 0;
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    for (int i = 0; i < MARGIN; ++i) {
        wrong += room[i] != CANARY || room[MARGIN + BYTES + i] != CANARY;
    }
    for (int i = 0; i < BYTES; ++i) wrong += room[MARGIN + i] != from[i];
    if (wrong == 0) return;
    printf("FAIL: %d bytes are wrong\n", wrong);
    fflush(stdout);
    _exit(1);
}
