/* The slots of a process's threads. The recording of a process: its start, its beginning in a child
 * of fork, and its end. */
#include "recorder.h"

#include "draw.h"
#include "instructions.h"
#include "trial.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    YIELDS = 100, /* first tries for the lock: each lets other threads run */
    WAITS = 3000, /* all tries: after each other one it waits 1 ms */
};

/* With half of this, samples took 3 % of a loop that only copies 64 cached KiB. */
static const uint64_t default_period = 8 << 20;
static const uint64_t largest_period = (uint64_t)1 << 32; /* draw_calls() */

struct process process;
static const uint32_t always_marked = 1;

/* --- System calls, made directly: libc's functions may be cancellation points --- */

uint64_t clock_ns(int clock)
{
    struct timespec now;
    /* System calls may be forbidden, and libc's function makes none. But it reads the time stamp,
     * and libraries such as faketime put their own function in its place. */
    const int is_libcs = process.limit == IS_QUIET && !process.has_no_counter;
    if (is_libcs ? clock_gettime(clock, &now) != 0 : syscall(SYS_clock_gettime, clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t block_signals(void)
{
    const uint64_t all = ~(uint64_t)0;
    uint64_t before = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    return before;
}

static void unblock_signals(uint64_t before)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}

static int take_lock(void)
{
    uint32_t free = 0;
    return __atomic_compare_exchange_n(&process.changing, &free, 1, 0, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static void give_lock(void) { __atomic_store_n(&process.changing, 0, __ATOMIC_RELEASE); }

int try_to_change(uint64_t *signals)
{
    if (process.changing) return 0;
    *signals = block_signals();
    if (take_lock()) return 1;
    unblock_signals(*signals);
    return 0;
}

void changed(uint64_t signals)
{
    give_lock();
    unblock_signals(signals);
}

/* --- Slots --- */

/* Finds the first unused slot: that of a thread that has ended, or a new one. */
static int free_slot(uint32_t *number)
{
    struct raw_header *header = &process.file->header;
    const long pid = syscall(SYS_getpid);
    for (uint32_t i = 0; i < header->slots; ++i) {
        const uint32_t owner = header->owners[i];
        if (owner && owner != thread.id &&
            (syscall(SYS_tgkill, pid, owner, 0) == 0 || errno != ESRCH))
            continue;
        *number = i;
        return 1;
    }
    *number = header->slots;
    if (*number >= process.slots_room) return 0;
    if (!reserve(offsetof(struct raw_file, slots[*number]), sizeof(struct raw_slot))) return 0;
    header->slots = *number + 1;
    return 1;
}

static void use_slot(uint32_t number)
{
    struct raw_header *header = &process.file->header;
    const uint32_t order = __atomic_fetch_add(&header->threads, 1, __ATOMIC_RELAXED);
    thread.random = mixed(process.seed + order);
    thread.slot_number = number;
    thread.slot = &process.file->slots[number];
    thread.counted = &thread.slot->cells;
}

static int wait_for_lock(void)
{
    const struct timespec pause = {0, 1000000};
    for (int i = 0; i < WAITS; ++i) {
        if (take_lock()) return 1;
        if (i < YIELDS)
            sched_yield();
        else
            syscall(SYS_nanosleep, &pause, NULL);
    }
    return 0;
}

static int share_slot(void)
{
    set_flag(RAW_SHARED);
    use_slot(0);
    return 1;
}

int claim_slot(void)
{
    if (process.limit) return share_slot();
    const uint64_t signals = block_signals();
    int done = 0;
    if (wait_for_lock()) {
        const int has_file = (process.file && !process.is_parents) || open_file();
        if (has_file) {
            uint32_t number;
            thread.id = (uint32_t)syscall(SYS_gettid);
            if (free_slot(&number)) {
                process.file->header.owners[number] = thread.id;
            } else {
                number = thread.id % process.file->header.slots;
                set_flag(RAW_SHARED);
            }
            use_slot(number);
            done = 1;
        } else if (process.file) {
            process.limit = IS_GUEST;
            done = share_slot();
        } else {
            stop_recording();
        }
        give_lock();
    }
    unblock_signals(signals);
    return done;
}

/* --- Start, fork, end --- */

/* Marks the recorder as at work, so that copies meanwhile go straight on. A program's own mmap or
 * dlopen may copy then, and would wait for the lock that this thread has. Returns null if the
 * recorder is at work already. */
static const char *begin_own(const char *frame)
{
    if (thread.busy || tried.busy) return NULL;
    thread.busy = tried.busy = frame;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return frame;
}

static void end_own(const char *frame)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (frame) thread.busy = tried.busy = NULL;
}

void stop_recording(void)
{
    for (int i = 0; i < RAW_FUNCTIONS; ++i)
        __atomic_store_n(&recorded_function[i], NULL, __ATOMIC_RELAXED);
}

/* Makes the mark: the kernel empties its page in the child of each fork. A child of vfork shares
 * the page. */
static void mark_process(void)
{
    static uint32_t *page;
    process.mark = &always_marked;
    if (!page) {
        void *mapped = (void *)syscall(SYS_mmap, NULL, process.page_bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) return;
        if (syscall(SYS_madvise, mapped, process.page_bytes, MADV_WIPEONFORK) != 0) {
            syscall(SYS_munmap, mapped, process.page_bytes);
            return;
        }
        page = mapped;
    }
    *page = 1;
    process.mark = page;
}

void begin_anew(void)
{
    if (process.limit) {
        set_flag(RAW_SHARED);
        return;
    }
    process.is_parents = process.file != NULL;
    process.changing = 0;
    process.seed = mixed(process.seed ^ (uint64_t)syscall(SYS_getpid));
    thread.slot = NULL;
    thread.counted = &uncounted;
    forget_modules();
    forget_trial();
    mark_process();
}

/* A signal handler may interrupt a slow path, the recorder's or the trial's, and fork. Then that
 * slow path has to end first, in the parent's file. The next one sees the emptied page, and begins
 * anew. */
static void begin_child(void)
{
    if (!thread.busy && !tried.busy) begin_anew();
}

void expect_restriction(int taken, struct restriction *restriction)
{
    const int error = errno;
    const char *frame = begin_own(__builtin_frame_address(0));
    if (*process.mark == 0) begin_anew();
    *restriction = (struct restriction){
        .taken = taken,
        .has_slot = thread.slot || claim_slot(),
        .had_no_counter = process.has_no_counter,
        .was_on = trial.is_on,
    };
    /* later the process may be unable to rename the file */
    if (trial.explore && restriction->has_slot && !process.is_parents && !process.limit)
        keep_file();
    restriction->has_trial_file =
        taken & TAKES_COUNTER && trial.is_on && restriction->has_slot && begin_trial_file();
    restriction->limit_before = process.limit;
    if (restriction->has_slot) process.limit = IS_QUIET;
    if (taken & TAKES_COUNTER) {
        process.has_no_counter = 1;
        trial.is_on = 0;
    }
    end_own(frame);
    errno = error;
}

void end_restriction(const struct restriction *restriction, int has_succeeded)
{
    if (restriction->taken & TAKES_COUNTER) trial.is_on = restriction->was_on;
    if (!has_succeeded) {
        process.has_no_counter = restriction->had_no_counter;
        process.limit = restriction->limit_before;
        return;
    }
    if (restriction->has_slot) set_flag(RAW_QUIET);
    if (!(restriction->taken & TAKES_COUNTER) || !trial.is_on) return;
    forbid_counter();
    if (restriction->has_trial_file) tell_of_no_counter();
}

void note_end(void)
{
    if (!process.file || process.limit == IS_QUIET) return;
    struct raw_header *header = &process.file->header;
    if (process.is_parents || *process.mark == 0) {
        __atomic_fetch_add(&header->children_cpu_ns, clock_ns(CLOCK_PROCESS_CPUTIME_ID),
                           __ATOMIC_RELAXED);
    } else if (header->pid == (uint32_t)syscall(SYS_getpid)) { /* not a child of vfork */
        if (trial.is_on) end_process();
        note_clocks(clock_ns(CLOCK_MONOTONIC));
        header->has_ended = 1;
        /* in operation, the files of thousands of short processes would stay for ever */
        if (trial.explore && trial.has_counter && !trial.failed)
            trial.has_figures ? keep_file() : remove_file();
    }
}

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

void note_child(uint64_t pid, const struct rusage *usage)
{
    if (!process.file || process.is_parents || *process.mark == 0) return;
    struct raw_header *header = &process.file->header;
    const uint64_t ns = ns_of(usage->ru_utime) + ns_of(usage->ru_stime);
    const uint64_t number = __atomic_fetch_add(&header->waited, 1, __ATOMIC_RELAXED);
    header->child[number % RAW_CHILDREN] = (struct raw_child){.cpu_ns = ns, .pid = pid};
    __atomic_fetch_add(&header->waited_cpu_ns, ns, __ATOMIC_RELAXED);
}

/* glibc's shared library lacks pthread_atfork(): each program has its own. Another libc lacks
 * __register_atfork(). */
extern void *__dso_handle __attribute__((visibility("hidden")));
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *)
    __attribute__((weak, visibility("default")));

static int call_in_children(void (*function)(void))
{
    typedef int registration(void (*)(void), void (*)(void), void (*)(void));
    if (__register_atfork) return __register_atfork(NULL, NULL, function, &__dso_handle) == 0;
    registration *others = (registration *)dlsym(RTLD_DEFAULT, "pthread_atfork");
    return others && others(NULL, NULL, function) == 0;
}

uint64_t number_in(const char *text, uint64_t otherwise)
{
    char *end;
    if (!text || *text < '0' || *text > '9') return otherwise;
    const uint64_t number = strtoull(text, &end, 10);
    return *end ? otherwise : number;
}

/* Asks the kernel: to read a forbidden counter ends the program. */
static int counter_is_allowed(void)
{
    int mode = PR_TSC_ENABLE;
    return syscall(SYS_prctl, PR_GET_TSC, &mode, 0, 0, 0) != 0 || mode == PR_TSC_ENABLE;
}

void start_recording(void)
{
    static const char *const names[] = {"memcpy", "memmove", "mempcpy", "memset"};
    for (int i = 0; i < RAW_FUNCTIONS; ++i)
        next_function[i] = (any_function *)dlsym(RTLD_NEXT, names[i]);

    if (!record_into(secure_getenv("ASTEROPE_RECORD"))) return;
    process.page_bytes = getauxval(AT_PAGESZ);
    find_others();
    process.period = number_in(secure_getenv("ASTEROPE_RECORD_PERIOD"), default_period);
    if (process.period < 1 || process.period > largest_period) process.period = default_period;
    process.has_no_counter = !counter_is_allowed();
    const uint64_t by_chance = (process.has_no_counter ? 0 : ticks_now()) ^
                               (uint64_t)getpid() << 40 ^ (uintptr_t)&process.page_bytes;
    process.seed = mixed(number_in(secure_getenv("ASTEROPE_RECORD_SEED"), by_chance));
    mark_process();
    if (!call_in_children(begin_child)) return;
    const char *frame = begin_own(__builtin_frame_address(0));
    const int is_trial = start_trial(), has_slot = claim_slot();
    end_own(frame);
    if (!has_slot) return;
    if (process.has_no_counter) {
        struct restriction restriction;
        expect_restriction(TAKES_COUNTER, &restriction);
        end_restriction(&restriction, 1);
    }
    if (is_trial) return;
    for (int i = 0; i < RAW_FUNCTIONS; ++i) recorded_function[i] = next_function[i];
}
