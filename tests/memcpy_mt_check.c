/* Checks asterope_memcpy_mt: that it copies right, whoever calls it, and that its threads are there
 * when they should be and gone when they must be.
 *
 * Usage: memcpy_mt_check WHAT [CPUS [CREATIONS]]
 *   WHAT       copies, callers, help, fork, handler or tasks, see the functions of that name
 *   CPUS       that the routine is told this process may use (default 4); 0: the real ones
 *   CREATIONS  of threads that succeed (default: all)
 * The routine, ROUTINE, is included, so that it can be told these. Prints `ok` or `FAIL: ...`;
 * exits 1 where something failed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int cpus = 4, creations = -1;

static int told_affinity(pid_t pid, size_t bytes, cpu_set_t* set) {
    if (cpus == 0) return sched_getaffinity(pid, bytes, set);
    CPU_ZERO_S(bytes, set);
    for (int i = 0; i < cpus; ++i) CPU_SET_S(i, bytes, set);
    return 0;
}

static int told_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                       void* argument) {
    if (creations == 0) return EAGAIN;
    if (creations > 0) --creations;
    return pthread_create(thread, attributes, run, argument);
}

#define sched_getaffinity told_affinity
#define pthread_create told_create
#include ROUTINE
#undef sched_getaffinity
#undef pthread_create

enum { PAGE = 4096, ROOM = 5 << 20 };

static _Noreturn void fail(const char* what, size_t number) {
    printf("FAIL: %s: %zu\n", what, number);
    fflush(stdout);
    _exit(1);
}

/* `bytes`, whole pages, between two pages that cannot be touched. */
static unsigned char* guarded(size_t bytes) {
    unsigned char* all = mmap(0, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + PAGE, bytes, PROT_READ | PROT_WRITE)) {
        fail("no memory", bytes);
    }
    return all + PAGE;
}

static void fill_randomly(unsigned char* bytes, size_t count, uint32_t state) {
    for (size_t i = 0; i < count; ++i)
        bytes[i] = (unsigned char)((state = state * 1664525 + 1013904223) >> 24);
}

/* Threads of this process. */
static size_t tasks(void) {
    size_t count = 0;
    DIR* folder = opendir("/proc/self/task");
    while (readdir(folder)) ++count;
    closedir(folder);
    return count - 2; /* . and .. */
}

/* Copies `bytes` and looks at each of them, and at a line on either side where there is room. */
static void copy(unsigned char* to, const unsigned char* from, size_t bytes,
                 const unsigned char* begin, const unsigned char* end) {
    const size_t before = to - begin < 64 ? (size_t)(to - begin) : 64;
    const size_t behind = end - (to + bytes) < 64 ? (size_t)(end - (to + bytes)) : 64;
    memset(to - before, 0xA5, before + bytes + behind);
    if (asterope_memcpy_mt(to, from, bytes) != to) fail("does not return its destination", bytes);
    if (memcmp(to, from, bytes)) fail("copies wrongly", bytes);
    for (size_t i = 0; i < before; ++i) {
        if (to[-1 - (ptrdiff_t)i] != 0xA5) fail("writes in front", bytes);
    }
    for (size_t i = 0; i < behind; ++i) {
        if (to[bytes + i] != 0xA5) fail("writes behind", bytes);
    }
}

/* Sizes around those at which something changes, at all kinds of misalignment, and flush against
 * pages that cannot be touched. */
static void copies(void) {
    static const size_t around[] = {64,     65536,  98304,   131072,  163840,  196608,  229376,
                                    262144, 300000, 1048576, 2097152, 3145728, 3250000, 4194304};
    static const size_t to_at[] = {0, 1, 63, 2048, 4095}, from_at[] = {0, 31, 4095};
    unsigned char *from = guarded(ROOM), *to = guarded(ROOM);
    fill_randomly(from, ROOM, 1);
    for (size_t i = 0; i < sizeof around / sizeof *around; ++i) {
        for (size_t bytes = around[i] - 1; bytes <= around[i] + 1; ++bytes) {
            for (size_t t = 0; t < 5; ++t) {
                for (size_t f = 0; f < 3; ++f)
                    copy(to + to_at[t], from + from_at[f], bytes, to, to + ROOM);
            }
            copy(to + ROOM - bytes, from + ROOM - bytes, bytes, to, to + ROOM);
        }
    }
    copy(to, from, 0, to, to + ROOM);
}

/* Lets others run in the midst of a job, as they do on a busy machine. */
static void* yielding_copy(void* to, const void* from, size_t bytes, size_t unused) {
    (void)unused;
    sched_yield();
    return asterope_memcpy(to, from, bytes);
}

static void* call_again_and_again(void* number) {
    unsigned char *from = guarded(ROOM), *to = guarded(ROOM);
    fill_randomly(from, ROOM, (uint32_t)(size_t)number);
    for (size_t i = 0; i < 300; ++i) {
        const size_t bytes = 140000 + (i * 7919 + (size_t)number * 104729) % 300000;
        struct asterope_threads_job job = {
            (char*)to + i, (const char*)from + i * 64, bytes, 65536, 0, 0, yielding_copy, 0};
        if (i % 2 || !asterope_threads_run(&job, 4)) {
            asterope_memcpy_mt(to + i, from + i * 64, bytes);
        }
        if (memcmp(to + i, from + i * 64, bytes)) fail("copies wrongly", bytes);
    }
    return 0;
}

/* Eight threads at once, of which one at a time has the pool. */
static void callers(void) {
    pthread_t threads[8];
    for (size_t i = 0; i < 8; ++i) pthread_create(&threads[i], 0, call_again_and_again, (void*)i);
    for (size_t i = 0; i < 8; ++i) pthread_join(threads[i], 0);
}

static pthread_t caller;
static unsigned helped;

/* The caller copies nothing until somebody else has. */
static void* wait_for_help(void* to, const void* from, size_t bytes, size_t unused) {
    (void)unused;
    if (!pthread_equal(pthread_self(), caller)) {
        const struct timespec late = {0, 100000}; /* the caller must wait for what this copies */
        __atomic_store_n(&helped, 1, __ATOMIC_RELEASE);
        nanosleep(&late, 0);
    } else {
        while (!__atomic_load_n(&helped, __ATOMIC_ACQUIRE)) sched_yield();
    }
    return asterope_memcpy(to, from, bytes);
}

/* Whether others take their chunks, also after they had time to fall asleep. Hangs where not. */
static void help(void) {
    unsigned char *from = guarded(ROOM), *to = guarded(ROOM);
    caller = pthread_self();
    for (uint32_t i = 0; i < 100; ++i) {
        struct asterope_threads_job job = {
            (char*)to, (const char*)from, 1000000, i % 2 ? 0 : 65536, 0, 0, wait_for_help, 0};
        const struct timespec pause = {0, i % 10 ? 0 : 5000000};
        fill_randomly(from, 1000000, i);
        helped = 0;
        if (!asterope_threads_run(&job, 4)) fail("nobody helps", i);
        if (memcmp(from, to, 1000000)) fail("copies wrongly", i);
        nanosleep(&pause, 0);
    }
}

static void await(pid_t child) {
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) fail("child's status", (size_t)status);
}

static unsigned calling, stop_calling;

static void* call_until_stopped(void* room) {
    unsigned char *from = guarded(ROOM), *to = guarded(ROOM);
    while (!__atomic_load_n(&stop_calling, __ATOMIC_RELAXED)) {
        asterope_memcpy_mt(to, from, 1000000);
        __atomic_store_n(&calling, 1, __ATOMIC_RELAXED);
    }
    return room;
}

/* Children of a process in the midst of copies start threads of their own, and so do theirs. */
static void fork_while_copying(void) {
    unsigned char *from = guarded(ROOM), *to = guarded(ROOM);
    pthread_t other;
    fill_randomly(from, ROOM, 3);
    copy(to, from, 1000000, to, to + ROOM);
    pthread_create(&other, 0, call_until_stopped, 0);
    /* No thread may start while we fork: AddressSanitizer has locks of its own for that. */
    while (!__atomic_load_n(&calling, __ATOMIC_RELAXED)) sched_yield();
    for (size_t i = 0; i < 50; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(60); /* rather than hang */
            copy(to, from, 1000000 + i, to, to + ROOM);
            if (tasks() < 2) fail("threads of a child", tasks());
            const pid_t grandchild = fork();
            copy(to, from, 2000000 + i, to, to + ROOM);
            if (grandchild != 0) await(grandchild);
            exit(0); /* as programs do, destructors and all */
        }
        copy(to, from, 4000000 + i, to, to + ROOM);
        await(child);
    }
    __atomic_store_n(&stop_calling, 1, __ATOMIC_RELAXED);
    pthread_join(other, 0);
}

static volatile sig_atomic_t is_child, handled;
static unsigned char *handler_from, *handler_to;

static void fork_and_copy(int signal) {
    (void)signal;
    const pid_t child = fork();
    if (child == 0) {
        is_child = 1;
    } else {
        await(child);
    }
    if (handled % 2) copy(handler_to, handler_from, 400000, handler_to, handler_to + ROOM);
    ++handled;
}

/* A handler that forks in the midst of a copy, and copies itself: the copy that it interrupted
 * comes to its end in both processes. */
static void handler(void) {
    unsigned char *from = guarded(ROOM), *to = guarded(ROOM);
    handler_from = guarded(ROOM);
    handler_to = guarded(ROOM);
    fill_randomly(from, ROOM, 5);
    copy(to, from, 1000000, to, to + ROOM); /* threads are there */
    signal(SIGALRM, fork_and_copy);
    for (int i = 0; i < 100; ++i) {
        const struct itimerval once = {{0, 0}, {0, 1 + i * 37 % 500}};
        const int before = handled;
        setitimer(ITIMER_REAL, &once, 0);
        do {
            copy(to, from, 4000000, to, to + ROOM);
        } while (handled == before);
        if (is_child) _exit(0);
    }
}

int main(int count, char** words) {
    const char* what = count > 1 ? words[1] : "";
    if (count > 2) cpus = atoi(words[2]);
    if (count > 3) creations = atoi(words[3]);
    if (tasks() != 1) fail("threads before the first call", tasks());
    if (!strcmp(what, "copies")) {
        copies();
    } else if (!strcmp(what, "callers")) {
        callers();
    } else if (!strcmp(what, "help")) {
        help();
    } else if (!strcmp(what, "fork")) {
        fork_while_copying();
    } else if (!strcmp(what, "handler")) {
        handler();
    } else if (!strcmp(what, "tasks")) { /* how many there are after the first calls */
        copies();
        printf("%zu\n", tasks());
    } else {
        fail("what to check", 0);
    }
    puts("ok");
    return 0;
}
