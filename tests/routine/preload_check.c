/* Uses memcpy, memset and their kin as programs do, in the ways that a library put under them must
 * bear. Run with the name of a check; exits with 0 where every copy was right. With -DPLUGIN it
 * becomes the library that the check "dlopen" loads. With -DSTATIC it can be linked statically, and
 * lacks that check. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "harness.h"

/* Through these the compiler can neither inline nor foresee a call. */
static void (*volatile bzero_of_libc)(void*, size_t) = bzero;

static void* zero(void* at, UNUSED int value, size_t bytes) {
    bzero_of_libc(at, bytes);
    return at;
}

/* A function under test: a copy, or a set of `value`, of which only the low byte counts. */
struct way {
    plain_function copy;
    plain_set_function set;
    int value, returns_end;
};
static const volatile struct way copies[] = {
    {.copy = memcpy}, {.copy = memmove}, {.copy = mempcpy, .returns_end = 1}};
static const volatile struct way sets[] = {
    {.set = memset}, {.set = memset, .value = -0x1280}, {.set = zero}};
enum { WAYS = 3 };

static const size_t sizes[] = {0,   1,    2,    3,    4,    5,    7,    8,    9,    15,
                               16,  17,   31,   32,   33,   63,   64,   65,   96,   127,
                               128, 129,  191,  192,  255,  256,  257,  300,  511,  512,
                               513, 1000, 1024, 2047, 4096, 4097, 8192, 8193, 9001, 20000};
#define SIZES COUNT_OF(sizes)
#define LARGEST 20000
#define MARGIN 256

struct room {
    unsigned char at[2 * LARGEST + 6 * MARGIN];
};

static unsigned char pattern(size_t i) {
    return (unsigned char)((i * 2654435761u) >> 11);
}

/* Whether a copy to `distance` bytes behind its source, or a set there, was wrong, or wrote beside:
 * memcpy forgives overlap, as glibc's does. By hand: nothing here may rest on what is tested. */
static int is_wrong(struct room* room, struct way way, size_t bytes, size_t from,
                    ptrdiff_t distance) {
    const size_t source = 2 * MARGIN + from, to = source + (size_t)distance;
    const size_t begin = (distance < 0 ? to : source) - 64;
    const size_t end = (distance < 0 ? source : to) + bytes + 64;
    volatile unsigned char* const at = room->at;
    for (size_t i = begin; i < end; ++i) at[i] = pattern(i);
    void *const there = room->at + to, *const behind = room->at + to + bytes;
    const void* returned =
        way.set ? way.set(there, way.value, bytes) : way.copy(there, room->at + source, bytes);
    if (returned != (way.returns_end ? behind : there)) return 1;
    for (size_t i = begin; i < end; ++i) {
        unsigned char must_be = pattern(i);
        if (i >= to && i < to + bytes) {
            must_be = way.set ? (unsigned char)way.value : pattern(i - (size_t)distance);
        }
        if (at[i] != must_be) return 1;
    }
    return 0;
}

/* How far the destination lies behind a source that it does not overlap, for these offsets. */
static ptrdiff_t apart(size_t bytes, size_t from, size_t to) {
    return (ptrdiff_t)((bytes + 63) / 64 * 64 + MARGIN + to) - (ptrdiff_t)from;
}

/* Copies of up to `largest` bytes. */
static int faults(struct room* room, size_t largest) {
    static const size_t offsets[] = {0, 1, 7, 32, 63};
    static const int distances[] = {-200, -64, -33, -16, -8, -1, 1, 7, 8, 31, 64, 65, 130, 250};
    int wrong = 0;
    for (size_t size = 0; size < SIZES && sizes[size] <= largest; ++size) {
        for (size_t i = 0; i < WAYS * 25; ++i) {
            const size_t from = offsets[i % 5], to = offsets[i / 5 % 5];
            const ptrdiff_t far = apart(sizes[size], from, to);
            wrong += is_wrong(room, copies[i / 25], sizes[size], from, far);
            if (i < WAYS * 5) wrong += is_wrong(room, sets[i / 5], sizes[size], from, 0);
        }
    }
    for (size_t size = 0; size < SIZES && sizes[size] <= largest; size += 3) {
        for (size_t i = 0; i < COUNT_OF(distances); ++i) {
            for (int way = 0; way < WAYS; ++way)
                wrong += is_wrong(room, copies[way], sizes[size], 0, distances[i]);
        }
    }
    return wrong;
}

#ifdef PLUGIN

static struct room plugin_room;
static int faults_when_loaded;

__attribute__((constructor)) static void when_loaded(void) {
    faults_when_loaded = faults(&plugin_room, LARGEST);
}

int plugin_faults(void) {
    return faults_when_loaded + faults(&plugin_room, LARGEST);
}

#else

static struct room room;

/* --- Before anybody's constructors --- */

static int early_faults = -1;

static void before_all_constructors(void) {
    early_faults = faults(&room, LARGEST);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(void) = before_all_constructors;

/* --- In signal handlers --- */

static volatile sig_atomic_t signals, signal_faults;

static void on_signal(UNUSED int number) {
    static struct room room_of_handler;
    signal_faults += faults(&room_of_handler, 300) != 0;
    ++signals;
}

/* Handlers interrupt copies at moments of the clock's choice, until they have done so often. */
static int in_signals(void) {
    int wrong = 0;
    signal(SIGALRM, on_signal);
    while (signals < 100) {
        const struct itimerval once = {{0, 0}, {0, 50 + signals * 37 % 400}};
        setitimer(ITIMER_REAL, &once, NULL);
        wrong += faults(&room, 1024);
    }
    return wrong + signal_faults;
}

/* --- After fork, in threads, in a library loaded late --- */

static int after_fork(void) {
    int wrong = faults(&room, LARGEST);
    for (int i = 0; i < 5; ++i) {
        int status = 1;
        const pid_t child = fork();
        if (child == 0) _exit(faults(&room, LARGEST) != 0);
        wrong += child < 0 || waitpid(child, &status, 0) != child || status != 0;
    }
    return wrong + faults(&room, LARGEST);
}

static void* in_thread(void* own_room) {
    return faults(own_room, LARGEST) ? own_room : NULL;
}

static int in_threads(void) {
    static struct room rooms[6];
    pthread_t threads[6];
    int wrong = 0;
    for (int i = 0; i < 6; ++i) {
        if (pthread_create(&threads[i], NULL, in_thread, &rooms[i])) return -1;
    }
    for (int i = 0; i < 6; ++i) {
        void* failed = NULL;
        pthread_join(threads[i], &failed);
        wrong += failed != NULL;
    }
    return wrong;
}

#ifndef STATIC

static int in_plugin(const char* path) {
    void* library;
    int (*plugin_faults)(void) = (int (*)(void))function_of(path, "plugin_faults", &library);
    const int wrong = plugin_faults();
    dlclose(library);
    return wrong + faults(&room, LARGEST);
}

#endif

/* --- Overflows, as -D_FORTIFY_SOURCE finds them --- */

static int overflow(const char* name, size_t bytes) {
    static char from[64] = "0123456789abcdefghijklmnopqrstuvwxyz";
    char to[16];
    if (strcmp(name, "memcpy") == 0) {
        memcpy(to, from, bytes);
    } else if (strcmp(name, "memmove") == 0) {
        memmove(to, from, bytes);
    } else if (strcmp(name, "memset") == 0) {
        memset(to, '0', bytes);
    } else if (mempcpy(to, from, bytes) != to + bytes) {
        return 1;
    }
    printf("%.*s\n", (int)bytes, to);
    return 0;
}

/* --- Not even relocated --- */

/* With room enough, the checked functions are plain ones of a fourth argument. */
typedef void* checked_function(void*, const void*, size_t, size_t);
typedef void* checked_set_function(void*, int, size_t, size_t);
static uintptr_t checked;
static void* with_room(void* to, const void* from, size_t bytes) {
    return ((checked_function*)checked)(to, from, bytes, bytes);
}
static void* set_with_room(void* to, int value, size_t bytes) {
    return ((checked_set_function*)checked)(to, value, bytes, bytes);
}

/* `path`: a library as the kernel would map it, and nothing done to it: no relocation, no
 * constructor. `functions`: the name of each, and its place there. */
static int unrelocated(const char* path, char** functions) {
    struct stat status;
    const int file = open(path, O_RDONLY), all = PROT_READ | PROT_WRITE | PROT_EXEC;
    if (file < 0 || fstat(file, &status)) return -1;
    char* const base = mmap(NULL, (size_t)status.st_size, all, MAP_PRIVATE, file, 0);
    int wrong = 0;
    for (; base != MAP_FAILED && *functions; functions += 2) {
        const char* name = functions[0];
        const int zeros = strcmp(name, "bzero") == 0, has_room = strstr(name, "_chk") != NULL;
        const uintptr_t at = (uintptr_t)base + strtoull(functions[1], NULL, 10);
        struct way way = {.value = 0x4f2, .returns_end = strstr(name, "mempcpy") != NULL};
        if (zeros) {
            bzero_of_libc = (void (*)(void*, size_t))at;
            way.set = zero;
            way.value = 0;
        } else if (strstr(name, "memset")) {
            way.set = has_room ? set_with_room : (plain_set_function)at;
        } else {
            way.copy = has_room ? with_room : (plain_function)at;
        }
        checked = at;
        for (size_t size = 0; size < SIZES; ++size) {
            wrong += is_wrong(&room, way, sizes[size], 3, apart(sizes[size], 3, 11));
            if (way.set) wrong += is_wrong(&room, (struct way){.set = way.set}, sizes[size], 3, 8);
            if (way.copy) wrong += is_wrong(&room, way, sizes[size], 0, 40);
        }
    }
    return base == MAP_FAILED ? -1 : wrong;
}

int main(int argc, char** argv) {
    const char *check = argc > 1 ? argv[1] : "", *argument = argc > 2 ? argv[2] : "";
    int wrong = -1;
    if (strcmp(check, "copies") == 0) wrong = faults(&room, LARGEST);
    if (strcmp(check, "early") == 0) wrong = early_faults;
    if (strcmp(check, "signals") == 0) wrong = in_signals();
    if (strcmp(check, "fork") == 0) wrong = after_fork();
    if (strcmp(check, "threads") == 0) wrong = in_threads();
#ifndef STATIC
    if (strcmp(check, "dlopen") == 0) wrong = in_plugin(argument);
#endif
    if (strcmp(check, "unrelocated") == 0) wrong = unrelocated(argument, argv + 3);
    if (strncmp(check, "mem", 3) == 0) wrong = overflow(check, (size_t)atoi(argument));
    if (wrong) fprintf(stderr, "%s: %d wrong\n", check, wrong);
    return wrong != 0;
}

#endif
