/* Checks asterope_memcpy_mt: it copies right for every caller, and its threads exist when they
 * should and are gone when they must be.
 *
 * Usage: memcpy_mt_check WHAT [CPUS [CREATIONS [OTHERS]]]
 *
 *   WHAT       one of `checks`, at the end
 *   CPUS       that the routine is told this process may use (default 4); 0: the real ones
 *   CREATIONS  of threads that succeed (default, and -1: all)
 *   OTHERS     threads of this process that belong to an emulator (default 0)
 *
 * The routine, ROUTINE, is included, so that it can be told these. Prints `ok` or `FAIL: ...`;
 * exits 1 where something failed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "copy_check.h"
#include "harness.h"
#include OF_ARCHITECTURE(stops.h)

static int cpus = 4, creations = -1, others;
static int creations_of_child = -1; /* in a child that has threads of its own */

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

/* In place of the system calls that prepare pages, which such a routine has. */
static size_t prepared; /* bytes */
UNUSED static long counted_call(long number, size_t first, size_t second, size_t third) {
    if (number == SYS_madvise && third == 23) {
        __atomic_fetch_add(&prepared, second, __ATOMIC_RELAXED);
    }
    return syscall(number, first, second, third);
}

#define sched_getaffinity told_affinity
#define pthread_create told_create
#include ROUTINE
#undef sched_getaffinity
#undef pthread_create

enum { ROOM = 9 << 20 };

/* The buffers of one check: a source of random bytes, and a destination. */
struct pair {
    unsigned char *from, *to;
};

static struct pair new_pair(uint32_t seed) {
    const struct pair pair = {guarded(ROOM), guarded(ROOM)};
    fill_randomly(pair.from, ROOM, seed);
    return pair;
}

static void set(unsigned* flag) {
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

static void await_flag(const unsigned* flag) {
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) sched_yield();
}

/* Threads of this process, but for an emulator's. */
static size_t tasks(void) {
    size_t count = 0;
    DIR* folder = opendir("/proc/self/task");
    while (readdir(folder)) ++count;
    closedir(folder);
    return count - 2 - (size_t)others; /* . and .. */
}

static void copy(struct pair pair, size_t bytes) {
    if (asterope_memcpy_mt(pair.to, pair.from, bytes) != pair.to) die("returns another", bytes);
    if (memcmp(pair.to, pair.from, bytes)) die("copies wrongly", bytes);
}

static void* call_mt(void* to, const void* from, size_t bytes, UNUSED size_t distance) {
    return asterope_memcpy_mt(to, from, bytes);
}

/* Sizes around those at which something changes. */
static void copies(void) {
    static const size_t around[] = {65536,  98304,   131072,  163840,  196608,  229376, 262144,
                                    300000, 1048576, 2097152, 3145728, 3250000, 4194304};
    const struct copy_subject subject = {.name = "asterope_memcpy_mt", .copy = call_mt};
    const struct copy_plan plan = {.last = 128, .around = around, .around_count = COUNT_OF(around)};
    copy_check_start(ROOM);
    if (!copy_check(&subject, &plan)) exit(1);
}

static unsigned char too_early[1 << 20];

/* A call before the pool's own constructor. The later ones must still get threads. */
__attribute__((constructor(101))) static void call_too_early(void) {
    asterope_memcpy_mt(too_early, too_early + sizeof too_early / 2, sizeof too_early / 2);
}

#ifndef STORES_MAP_HUGE_PAGES
#define STORES_MAP_HUGE_PAGES 0
#endif

/* From 4 MiB on a copy prepares nearly all pages of memory that was not used before, shared or not.
 * Where stores map huge pages, it prepares the pages around these. A thread prepares no page that
 * lies in two chunks. */
static void fresh(void) {
    enum { BEHIND = 4 << 20 }; /* two huge pages */
    for (size_t bytes = ROOM - 4096; bytes > 3 << 20; bytes -= 1 << 20) {
        for (int turn = 0; turn < 3; ++turn) {
            const struct pair pair = new_pair(9);
            prepared = 0;
            copy((struct pair){pair.from + 7, pair.to + 16}, bytes);
            const size_t around = bytes > 8 << 20 ? bytes - (2 << 20) : bytes;
            const size_t most = STORES_MAP_HUGE_PAGES ? around : bytes;
            const size_t least = STORES_MAP_HUGE_PAGES ? 1 : bytes - bytes / 8;
            if (bytes < 4 << 20 ? prepared != 0 : prepared < least || prepared > most)
                die("prepares others", prepared);
            prepared = 0;
            copy(pair, bytes);
            if (prepared) die("prepares pages again", prepared);
            unsigned char* const end = guarded(ROOM + BEHIND) + ROOM; /* no store may go further */
            mprotect(end, BEHIND, PROT_NONE);
            copy((struct pair){pair.from, end - bytes}, bytes);
        }
    }
}

/* Copies over threads by `copy`, where the pool is to be had. */
static bool run_job(struct pair pair, size_t bytes, size_t chunk, asterope_threads_copy copy) {
    struct asterope_threads_job job = {.destination = (char*)pair.to,
                                       .source = (char*)pair.from,
                                       .bytes = bytes,
                                       .chunk = chunk,
                                       .copy = copy};
    return asterope_threads_run(&job, 4);
}

/* Lets others run in the midst of a job, as they do on a busy machine. */
static void* yielding_copy(void* to, const void* from, size_t bytes, UNUSED size_t distance) {
    sched_yield();
    return asterope_memcpy(to, from, bytes);
}

static void* call_again_and_again(void* number) {
    const struct pair pair = new_pair((uint32_t)(size_t)number);
    for (size_t i = 0; i < 300; ++i) {
        const struct pair at = {pair.from + i * 64, pair.to + i};
        const size_t bytes = 140000 + (i * 7919 + (size_t)number * 104729) % 300000;
        if (i % 2 || !run_job(at, bytes, 65536, yielding_copy)) {
            asterope_memcpy_mt(at.to, at.from, bytes);
        }
        if (memcmp(at.to, at.from, bytes)) die("copies wrongly", bytes);
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
static unsigned helped, helper_sleeps = 100; /* us */

/* The caller copies nothing until another thread has. */
static void* wait_for_help(void* to, const void* from, size_t bytes, UNUSED size_t distance) {
    if (!pthread_equal(pthread_self(), caller)) {
        set(&helped);
        usleep(helper_sleeps); /* the caller must wait for what this copies */
    } else {
        await_flag(&helped);
    }
    return asterope_memcpy(to, from, bytes);
}

/* One copy that other threads take part in; hangs without their help. */
static void check_help(struct pair pair, size_t chunk) {
    caller = pthread_self();
    helped = 0;
    memset(pair.to, 0, 1000000);
    errno = 77;
    if (!run_job(pair, 1000000, chunk, wait_for_help)) die("nobody helps", 0);
    if (errno != 77) die("errno changed", (size_t)errno);
    if (memcmp(pair.from, pair.to, 1000000)) die("copies wrongly", 1000000);
}

/* Others take their chunks, also after they had time to fall asleep. At first they keep the caller
 * waiting until it looks whether this is still its process. */
static void help(void) {
    const struct pair pair = new_pair(1);
    for (uint32_t i = 0; i < 100; ++i) {
        helper_sleeps = i == 0 ? 50000 : 100;
        fill_randomly(pair.from, 1000000, i);
        check_help(pair, i % 2 ? 0 : 65536);
        usleep(i % 10 ? 0 : 5000);
    }
}

/* A child that hangs is killed, with all that it started and this process: what is left would keep
 * stdout open. It may hold back all signals that it could be told to end by. */
static void await(pid_t child) {
    int status, looks = 60 * 5000;
    pid_t ended;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 && looks-- > 0) usleep(200);
    if (ended == 0) {
        printf("FAIL: a child hangs: %ld\n", (long)child);
        fflush(stdout);
        kill(0, SIGKILL);
    }
    if (ended != child || status != 0) die("child's status", (size_t)status);
}

static unsigned calling, stop_calling;

static void* call_until_stopped(void* room) {
    const struct pair pair = new_pair(1);
    while (!__atomic_load_n(&stop_calling, __ATOMIC_RELAXED)) {
        asterope_memcpy_mt(pair.to, pair.from, 1000000);
        set(&calling);
    }
    return room;
}

/* --- Signals, cancellation, the end --- */

static volatile sig_atomic_t in_copy, handled, handled_in_copy;

static void note_signal(UNUSED int signal) {
    ++handled;
    handled_in_copy += in_copy;
}

static unsigned hit;
static void (*hit_by)(void);

/* The caller is hit by a signal or cancelled; the others leave it a chunk in which that happens. */
static void* copy_and_hit(void* to, const void* from, size_t bytes, UNUSED size_t distance) {
    if (pthread_equal(pthread_self(), caller)) {
        __atomic_store_n(&hit, 1, __ATOMIC_RELAXED);
        hit_by();
    }
    while (!__atomic_load_n(&hit, __ATOMIC_RELAXED)) sched_yield();
    return asterope_memcpy(to, from, bytes);
}

static void signal_itself(void) {
    in_copy = 1;
    raise(SIGALRM);
    in_copy = 0;
}

static void cancel_itself(void) {
    pthread_cancel(caller);
}

static void* copy_cancelled(void* pair) {
    caller = pthread_self();
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    run_job(*(const struct pair*)pair, 1000000, 65536, copy_and_hit);
    die("a thread was not cancelled behind its copy", 0);
}

/* Signals and cancellation come behind a copy and not in the midst of it: a handler could leave by
 * siglongjmp, while workers still copy. */
static void held(void) {
    struct pair pair = new_pair(3);
    pthread_t thread;
    signal(SIGALRM, note_signal);
    for (int i = 1; i <= 20; ++i) {
        caller = pthread_self();
        hit = 0;
        handled = 0;
        hit_by = signal_itself;
        if (!run_job(pair, 1000000, 0, copy_and_hit)) die("nobody helps", 0);
        if (handled_in_copy) die("a signal is handled in the midst of a copy", 0);
        if (!handled) die("a signal is lost", 0);
        memset(pair.to, 0, ROOM);
        hit = 0;
        hit_by = cancel_itself;
        if (pthread_create(&thread, 0, copy_cancelled, &pair)) die("no thread", 0);
        pthread_join(thread, 0);
        if (memcmp(pair.to, pair.from, 1000000)) die("copies wrongly", 1000000);
        check_help(pair, 0);
    }
}

static unsigned char* missing; /* ROOM bytes */
static unsigned mended_by_others;

static void mend_page(UNUSED int signal, siginfo_t* info, UNUSED void* context) {
    unsigned char* page = (unsigned char*)((uintptr_t)info->si_addr / PAGE * PAGE);
    if (page < missing || page >= missing + ROOM) _exit(3);
    if (!pthread_equal(pthread_self(), caller)) {
        __atomic_store_n(&mended_by_others, 1, __ATOMIC_RELAXED);
    }
    if (mprotect(page, PAGE, PROT_READ | PROT_WRITE)) _exit(4);
}

/* A program that maps pages when they are touched: workers must have its handler called too. */
static void faults(void) {
    const struct pair pair = new_pair(3);
    check_help(pair, 0);
    missing = pair.to;
    handle(SIGSEGV, mend_page);
    while (!mended_by_others) {
        helped = 0;
        if (mprotect(pair.to, ROOM, PROT_NONE)) die("no pages", 0);
        if (!run_job(pair, 1000000, 0, wait_for_help)) die("nobody helps", 0);
        if (memcmp(pair.from, pair.to, 1000000)) die("copies wrongly", 1000000);
    }
}

static void* stop_cancelled(void* stopped) {
    pthread_cancel(pthread_self());
    asterope_threads_stop();
    *(bool*)stopped = true;
    pthread_testcancel();
    return stopped;
}

/* A thread that is to be cancelled closes the library: the workers end, and then it does. */
static void stop(void) {
    const struct pair pair = new_pair(3);
    pthread_t thread;
    bool stopped = false;
    check_help(pair, 0);
    pthread_create(&thread, 0, stop_cancelled, &stopped);
    pthread_join(thread, 0);
    if (!stopped) die("cancelled before all workers had ended", 0);
    /* one that was joined may stand in /proc for a moment more */
    for (int tries = 0; tasks() > 1 && tries < 10000; ++tries) usleep(1000);
    if (tasks() != 1) die("threads are left", tasks());
    copy(pair, 1000000); /* as what exits later may */
    if (tasks() != 1) die("threads after the end", tasks());
}

#include "memcpy_mt_children.h"

/* How many threads there are after the first calls. */
static void print_tasks(void) {
    copies();
    printf("%zu\n", tasks());
}

static const struct check checks[] = {
    {"copies", copies},         {"fresh", fresh},     {"callers", callers},
    {"help", help},             {"held", held},       {"faults", faults},
    {"forks", forks_in_copies}, {"sleeper", sleeper}, {"children", children},
    {"namespace", namespace},   {"stop", stop},       {"tasks", print_tasks}};

int main(int count, char** words) {
    if (count > 2) cpus = atoi(words[2]);
    if (count > 3) creations = creations_of_child = atoi(words[3]);
    if (count > 4) others = atoi(words[4]);
    setpgid(0, 0);
    if (tasks() != 1) die("threads before the first call", tasks());
    run_check(count > 1 ? words[1] : "", checks, COUNT_OF(checks));
    return 0;
}
