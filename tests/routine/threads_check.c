/* Two threads that copy to neighbouring ranges at once: neither may write a byte of the other's.
 *
 * Usage: threads_check [--rounds N]
 *   --rounds  copies of each thread with each rendered routine (default 100000)
 * The memory is cut into ranges of odd sizes, which belong to the threads in turn: each has
 * neighbours of the other thread on both sides, in the same cache lines. Before and after each copy
 * its range must hold what was copied there last, so that it is seen when a neighbour writes back a
 * byte that it had read before. Prints `ok PREFIX` or `FAIL PREFIX: ...` for each routine; exits 1
 * if one failed. */
#define _GNU_SOURCE
#include <pthread.h>

#include "harness.h"
#include "rendered_routines.h"

enum { THREADS = 2, RANGES = 64, LARGEST = 1100, SOURCE_BYTES = 8192 };

/* From `begin` to where the next one begins. */
static struct range {
    size_t begin, bytes;
    const unsigned char* holds; /* the bytes of the source that were copied here last */
} ranges[RANGES];

static unsigned char source[SOURCE_BYTES], destination[RANGES * LARGEST];

struct thread {
    size_t number, rounds;
    const struct rendered_routine* routine;
    char fault[128]; /* or empty */
};

/* Half of the ranges small, as most copies are. */
static void cut_ranges(void) {
    uint64_t state = 2;
    size_t at = 0;
    for (int i = 0; i < RANGES; ++i) {
        ranges[i].begin = at;
        ranges[i].bytes = (size_t)(next_random(&state) % (next_random(&state) % 2 ? 64 : LARGEST));
        at += ranges[i].bytes;
    }
}

static void fill_with_source(void) {
    for (int i = 0; i < RANGES; ++i) {
        ranges[i].holds = source;
        memcpy(destination + ranges[i].begin, source, ranges[i].bytes);
    }
}

static bool holds_what_it_should(struct thread* thread, const struct range* range,
                                 const char* when) {
    const unsigned char* is = destination + range->begin;
    if (memcmp(is, range->holds, range->bytes) == 0) return true;
    size_t i = 0;
    while (i + 1 < range->bytes && is[i] == range->holds[i]) ++i;
    snprintf(thread->fault, sizeof thread->fault,
             "byte %zu of %zu is 0x%02x, must be 0x%02x (%s a copy)", i, range->bytes, is[i],
             range->holds[i], when);
    return false;
}

static void* copy_at_random(void* argument) {
    struct thread* thread = argument;
    const plain_function functions[] = {thread->routine->copy, thread->routine->copy_to_end,
                                        thread->routine->move};
    uint64_t state = thread->number;
    for (size_t round = 0; round < thread->rounds; ++round) {
        struct range* range =
            &ranges[next_random(&state) % (RANGES / THREADS) * THREADS + thread->number];
        if (!holds_what_it_should(thread, range, "before")) break;
        range->holds = source + next_random(&state) % (SOURCE_BYTES - LARGEST);
        functions[round % 3](destination + range->begin, range->holds, range->bytes);
        if (!holds_what_it_should(thread, range, "after")) break;
    }
    return NULL;
}

static bool check(const struct rendered_routine* routine, size_t rounds) {
    struct thread threads[THREADS];
    pthread_t handles[THREADS];
    fill_with_source();
    for (size_t i = 0; i < THREADS; ++i) {
        threads[i] = (struct thread){.number = i, .rounds = rounds, .routine = routine};
        if (pthread_create(&handles[i], NULL, copy_at_random, &threads[i]) != 0) {
            perror("threads_check: pthread_create");
            exit(2);
        }
    }
    for (size_t i = 0; i < THREADS; ++i) pthread_join(handles[i], NULL);
    for (size_t i = 0; i < THREADS; ++i) {
        if (threads[i].fault[0] == '\0') continue;
        printf("FAIL %s: %s\n", routine->name, threads[i].fault);
        return false;
    }
    printf("ok %s\n", routine->name);
    return true;
}

int main(int argc, char** argv) {
    size_t rounds = 100000;
    const struct option options[] = {{.name = "--rounds", .number = &rounds}};
    read_options(argc, argv, options, COUNT_OF(options));
    fill_randomly(source, SOURCE_BYTES, 1);
    cut_ranges();
    bool right = true;
    for (int i = 0; i < ROUTINES; ++i) right &= check(&rendered_routines[i], rounds);
    return right ? 0 : 1;
}
