/* Times every build of the routine on buffers in every place, all in one process: see experiment.py.
 *
 * Usage: driver ROUNDS SEED SIZE[,SIZE...] LIBRARY AGAIN [LIBRARY AGAIN ...]
 * Writes `calls SIZE N` and then a line a trial: ROUND SIZE SOURCE DESTINATION BUILD COPY NS, where
 * BUILD counts the libraries from 0 and COPY is routine; again (that of AGAIN, which is one and the
 * same build for all: how far identical code strays from itself, wherever it was loaded); called
 * (libc through the build's own call); or libc.
 * Exits with 1 and one line on stderr where a copy is wrong or a library cannot be used.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PAGE = 4096,
    LARGEST = 1 << 20,
    /* Source and destination begin on pages, the latter half of one further on: the same in all
     * places, so that these differ in nothing else and no destination aliases its source. */
    PHASE = PAGE / 2,
    ROOM = 2 * LARGEST + 4 * PAGE,
    PLACES = 4,
    COPIES = 4,
    MOST_BUILDS = 16,
    MOST_SIZES = 16,
    TRIAL_NS = 40000
};

typedef void *copy_function(void *, const void *, size_t);

struct trial {
    int build, copy;
};

static const char *const place_names[PLACES] = {"heap", "data", "bss", "stack"};
static const char *const copy_names[COPIES] = {"routine", "again", "called", "libc"};

static char data_room[ROOM] = {1}; /* not all 0, so it is in the data segment */
static char bss_room[ROOM];

static copy_function *copies[MOST_BUILDS][COPIES];
static int builds;

static uint64_t random_state;

/* xorshift64 */
static size_t random_below(size_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % bound);
}

static char *on_page(char *at)
{
    return at + (PAGE - (uintptr_t)at % PAGE) % PAGE;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Nanoseconds a call. One loop for all: only the copy is compiled at several levels. */
static double time_calls(copy_function *copy, char *destination, const char *source, size_t size,
                         long calls)
{
    double begin;
    long i;
    for (i = 0; i < calls / 8 + 1; ++i) copy(destination, source, size); /* it may find cold code */
    begin = now();
    for (i = 0; i < calls; ++i) copy(destination, source, size);
    return (now() - begin) / (double)calls;
}

static int check(const char *name, copy_function *copy, char *destination, const char *source,
                 size_t size)
{
    memset(destination, 0, size);
    copy(destination, source, size);
    if (memcmp(destination, source, size) == 0) return 0;
    fprintf(stderr, "%s copies %zu bytes wrongly\n", name, size);
    return 1;
}

/* What `name` is in the library at `path`; without that, NULL and a line on stderr. */
static copy_function *find(const char *path, const char *name)
{
    copy_function *found = NULL;
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) *(void **)&found = dlsym(library, name);
    if (!found) fprintf(stderr, "%s\n", dlerror());
    return found;
}

static int load(const char *path, const char *again)
{
    copy_function **const own = copies[builds++];
    own[0] = find(path, "asterope_memcpy");
    own[1] = own[0] ? find(again, "asterope_memcpy") : NULL;
    own[2] = own[1] ? find(path, "placement_call_libc") : NULL;
    own[3] = memcpy;
    return !own[2];
}

/* Each copy of each build once, in random order, on buffers in these two places. */
static void run_block(int round, size_t size, long calls, int from, int to, char *destination,
                      const char *source)
{
    struct trial trials[MOST_BUILDS * COPIES];
    size_t count = 0, i;
    int build, copy;
    for (build = 0; build < builds; ++build) {
        for (copy = 0; copy < COPIES; ++copy) {
            trials[count].build = build;
            trials[count++].copy = copy;
        }
    }
    for (i = count; i > 1; --i) {
        const size_t other = random_below(i);
        const struct trial kept = trials[i - 1];
        trials[i - 1] = trials[other];
        trials[other] = kept;
    }
    for (i = 0; i < count; ++i) {
        copy_function *const timed = copies[trials[i].build][trials[i].copy];
        const double ns = time_calls(timed, destination, source, size, calls);
        printf("%d %zu %s %s %d %s %.4f\n", round, size, place_names[from], place_names[to],
               trials[i].build, copy_names[trials[i].copy], ns);
    }
}

static int run(int rounds, const size_t *sizes, int size_count)
{
    char stack_room[ROOM];
    char *rooms[PLACES];
    long calls[MOST_SIZES];
    int order[MOST_SIZES * PLACES * PLACES];
    const int blocks = size_count * PLACES * PLACES;
    char *const heap_room = malloc(ROOM);
    int i, round, build;
    if (!heap_room) {
        fprintf(stderr, "no memory\n");
        return 1;
    }
    rooms[0] = heap_room;
    rooms[1] = data_room;
    rooms[2] = bss_room;
    rooms[3] = stack_room;
    for (i = 0; i < PLACES; ++i) {
        size_t at;
        /* so every page is there, and no timed copy meets one for the first time */
        for (at = 0; at < ROOM; ++at) rooms[i][at] = (char)(at * 31 + at / 251);
        rooms[i] = on_page(rooms[i]);
    }
    for (i = 0; i < size_count; ++i) {
        char *const source = rooms[0], *const destination = rooms[0] + LARGEST + PAGE + PHASE;
        const double ns = time_calls(memcpy, destination, source, sizes[i], 16);
        calls[i] = (long)(TRIAL_NS / (ns > 1 ? ns : 1)) + 1;
        printf("calls %zu %ld\n", sizes[i], calls[i]);
        for (build = 0; build < builds; ++build) {
            if (check("the routine", copies[build][0], destination, source, sizes[i])) return 1;
        }
    }
    for (i = 0; i < blocks; ++i) order[i] = i;
    for (round = 0; round < rounds; ++round) {
        for (i = blocks; i > 1; --i) {
            const size_t other = random_below((size_t)i);
            const int kept = order[i - 1];
            order[i - 1] = order[other];
            order[other] = kept;
        }
        for (i = 0; i < blocks; ++i) {
            const int size = order[i] / (PLACES * PLACES);
            const int from = order[i] / PLACES % PLACES, to = order[i] % PLACES;
            run_block(round, sizes[size], calls[size], from, to, rooms[to] + LARGEST + PAGE + PHASE,
                      rooms[from]);
        }
    }
    free(heap_room);
    return fflush(stdout) != 0;
}

int main(int argc, char **argv)
{
    size_t sizes[MOST_SIZES];
    int size_count = 0, i;
    char *next;
    if (argc < 6 || argc % 2 || (argc - 4) / 2 > MOST_BUILDS) return 2;
    random_state = (strtoull(argv[2], NULL, 10) << 1) | 1; /* 0 would stay 0 */
    for (next = argv[3]; *next && size_count < MOST_SIZES; next += *next == ',') {
        sizes[size_count++] = strtoul(next, &next, 10);
    }
    for (i = 4; i < argc; i += 2) {
        if (load(argv[i], argv[i + 1])) return 1;
    }
    return run(atoi(argv[1]), sizes, size_count);
}
