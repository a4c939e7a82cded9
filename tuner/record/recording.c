/* The file that a process records into, and the slots of its threads. */
#include "recorder.h"

#include "draw.h"
#include "instructions.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
    LONGEST_FOLDER = 960,
    MOST_FILES = 1 << 20, /* of one process id */
    YIELDS = 100,         /* to another thread that makes the file or takes a slot */
    WAITS = 3000,         /* for it, of 1 ms */
};

/* With half of it, samples took 3 % of a loop that does nothing but copy 64 cached KiB. */
static const uint64_t default_period = 8 << 20;
static const uint64_t largest_period = (uint64_t)1 << 32; /* draw_calls() */
static const uint64_t window_ns = 5000000;                /* see watch.c */

struct process process;
static const uint32_t always_marked = 1;
static char path[LONGEST_FOLDER + 64]; /* the folder, and the file where there is one */
static size_t folder_bytes;

/* --- System calls that are no cancellation points --- */

static int open_raw(int more)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | more, 0600);
}

static void close_raw(int file) { syscall(SYS_close, file); }

uint64_t clock_ns(int clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) return 0;
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

/* --- The file --- */

/* Where Linux is older than 5.14, which has MADV_POPULATE_WRITE. Where the file system cannot
 * reserve anything, zeros are written: no page of the kernel's, which may hold other areas too. */
static int allocate(size_t offset, size_t bytes)
{
    static const char zeros[RAW_PAGE];
    const int file = open_raw(0);
    if (file < 0) return 0;
    int done = syscall(SYS_fallocate, file, 0, offset, bytes) == 0;
    if (!done && (errno == EOPNOTSUPP || errno == ENOSYS)) {
        done = 1;
        for (size_t at = offset; done && at < offset + bytes; at += RAW_PAGE)
            done = syscall(SYS_pwrite64, file, zeros, (size_t)RAW_PAGE, at) == RAW_PAGE;
    }
    close_raw(file);
    return done;
}

/* Has the pages made, which fails where a store to them would be SIGBUS. That needs neither the
 * path, which a program may have lost by chroot or with its rights, nor a descriptor. */
static int have_pages(struct raw_file *mapped, size_t offset, size_t bytes)
{
    const size_t page = process.page_bytes, first = offset & -page;
    const size_t all = (offset + bytes - first + page - 1) & -page;
    return syscall(SYS_madvise, (char *)mapped + first, all, MADV_POPULATE_WRITE) == 0 ||
           (errno == EINVAL && allocate(offset, bytes));
}

int reserve(size_t offset, size_t bytes)
{
    const int done = have_pages(process.file, offset, bytes);
    if (!done) set_flag(RAW_FULL);
    return done;
}

void note_clocks(uint64_t monotonic_ns)
{
    struct raw_header *header = &process.file->header;
    const uint32_t next = ~header->note & 1;
    header->noted[next].monotonic_ns = monotonic_ns;
    header->noted[next].ticks = ticks_now();
    header->noted[next].cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    __atomic_store_n(&header->note, next, __ATOMIC_RELEASE);
}

/* Appends a number to the path. */
static char *put_number(char *at, uint32_t number)
{
    char digits[10];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (count) *at++ = digits[--count];
    return at;
}

/* A new file under a name that an earlier program of this process id has not taken. */
static int create(uint32_t pid)
{
    char *at = path + folder_bytes;
    *at++ = '/';
    at = put_number(at, pid);
    *at++ = '-';
    for (uint32_t serial = 0; serial < MOST_FILES; ++serial) {
        char *end = put_number(at, serial);
        const char suffix[] = ".raw";
        for (size_t i = 0; i < sizeof suffix; ++i) end[i] = suffix[i];
        const int file = open_raw(O_CREAT | O_EXCL);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

/* Its size, by how large files may be: one beyond the limit is a signal that ends the program. */
static size_t file_bytes(void)
{
    struct rlimit limit;
    const size_t all = sizeof(struct raw_file), rest = offsetof(struct raw_file, slots);
    if (syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) != 0 || limit.rlim_cur >= all)
        return all;
    if (limit.rlim_cur < rest + sizeof(struct raw_slot)) return 0;
    return limit.rlim_cur - (limit.rlim_cur - rest) % sizeof(struct raw_slot);
}

static void name_executable(char *name)
{
    const long bytes =
        syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", name, RAW_EXECUTABLE - 1);
    if (bytes > 0) return;
    const char *given = (const char *)getauxval(AT_EXECFN);
    for (size_t i = 0; given && given[i] && i < RAW_EXECUTABLE - 1; ++i) name[i] = given[i];
}

/* Maps the file, with space for what each process has; null: there is none. */
static struct raw_file *map(int file, size_t bytes)
{
    if (!bytes || syscall(SYS_ftruncate, file, bytes) != 0) return NULL;
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) return NULL;
    if (have_pages(mapped, 0, RAW_PAGE) &&
        have_pages(mapped, offsetof(struct raw_file, slots), sizeof(struct raw_slot)))
        return mapped;
    munmap(mapped, bytes);
    return NULL;
}

/* Makes and maps the process's file. One that could not get its space stays behind empty. */
static struct raw_file *open_file(void)
{
    const uint32_t pid = (uint32_t)syscall(SYS_getpid);
    const int file = create(pid);
    if (file < 0) return NULL;
    const size_t bytes = file_bytes();
    struct raw_file *mapped = map(file, bytes);
    if (!mapped) syscall(SYS_ftruncate, file, (size_t)0);
    close_raw(file);
    if (!mapped) return NULL;
    madvise(mapped, bytes, MADV_DONTDUMP);

    struct raw_header *header = &mapped->header;
    header->version = RAW_VERSION;
    header->pid = pid;
    header->file_bytes = bytes;
    header->period = process.period;
    header->window_ns = window_ns;
    header->slots = 1;
    header->started_realtime_ns = (int64_t)clock_ns(CLOCK_REALTIME);
    name_executable(header->executable);
    process.slots_room =
        (uint32_t)((bytes - offsetof(struct raw_file, slots)) / sizeof(struct raw_slot));
    process.file = mapped;
    note_clocks(clock_ns(CLOCK_MONOTONIC));
    header->started = header->noted[header->note];
    __atomic_thread_fence(__ATOMIC_RELEASE);
    const char magic[] = RAW_MAGIC;
    for (size_t i = 0; i < sizeof magic; ++i) header->magic[i] = magic[i];
    return mapped;
}

/* --- Slots --- */

/* The first slot that nobody uses: one of a thread that has ended, or a new one. */
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

int claim_slot(void)
{
    if (is_quiet()) {
        set_flag(RAW_SHARED);
        use_slot(0);
        return 1;
    }
    const uint64_t signals = block_signals();
    int done = 0;
    if (wait_for_lock()) {
        if (process.file || open_file()) {
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
        } else {
            stop_recording();
        }
        give_lock();
    }
    unblock_signals(signals);
    return done;
}

/* --- Start, fork, end --- */

void stop_recording(void)
{
    for (int i = 0; i < RAW_FUNCTIONS; ++i)
        __atomic_store_n(&recorded_function[i], NULL, __ATOMIC_RELAXED);
}

/* A page that the kernel empties in the child of each fork, not of vfork, whose child shares it. */
static void mark_process(void)
{
    static uint32_t *page;
    process.mark = &always_marked;
    if (!page) {
        void *mapped = mmap(NULL, process.page_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) return;
        if (madvise(mapped, process.page_bytes, MADV_WIPEONFORK) != 0) {
            munmap(mapped, process.page_bytes);
            return;
        }
        page = mapped;
    }
    *page = 1;
    process.mark = page;
}

void begin_anew(void)
{
    if (is_quiet()) {
        set_flag(RAW_SHARED);
        return;
    }
    if (process.file) munmap(process.file, process.file->header.file_bytes);
    process.file = NULL;
    process.changing = 0;
    process.seed = mixed(process.seed ^ (uint64_t)syscall(SYS_getpid));
    thread.slot = NULL;
    thread.burst = NULL;
    thread.counted = &uncounted;
    forget_modules();
    forget_watch();
    mark_process();
}

/* Where a signal handler forks that has interrupted the slow path, that one has to end first, in
 * the parent's file; the emptied page tells the next one. */
static void begin_child(void)
{
    if (!thread.busy) begin_anew();
}

void become_quiet(void)
{
    const int error = errno;
    if (*process.mark == 0) begin_anew();
    if (thread.slot || claim_slot()) set_flag(RAW_QUIET);
    errno = error;
}

static uint64_t number_in(const char *text, uint64_t otherwise)
{
    char *end;
    if (!text || *text < '0' || *text > '9') return otherwise;
    const uint64_t number = strtoull(text, &end, 10);
    return *end ? otherwise : number;
}

void start_recording(void)
{
    static const char *const names[] = {"memcpy", "memmove", "mempcpy", "memset"};
    for (int i = 0; i < RAW_FUNCTIONS; ++i)
        next_function[i] = (any_function *)dlsym(RTLD_NEXT, names[i]);

    const char *folder = secure_getenv("ASTEROPE_RECORD");
    folder_bytes = folder ? strlen(folder) : 0;
    if (!folder_bytes || folder[0] != '/' || folder_bytes > LONGEST_FOLDER) return;
    for (size_t i = 0; i < folder_bytes; ++i) path[i] = folder[i];
    process.page_bytes = getauxval(AT_PAGESZ);
    process.period = number_in(secure_getenv("ASTEROPE_RECORD_PERIOD"), default_period);
    if (process.period < 1 || process.period > largest_period) process.period = default_period;
    const uint64_t by_chance = ticks_now() ^ (uint64_t)getpid() << 40 ^ (uintptr_t)&folder;
    process.seed = mixed(number_in(secure_getenv("ASTEROPE_RECORD_SEED"), by_chance));
    mark_process();
    if (pthread_atfork(NULL, NULL, begin_child) != 0) return;
    if (!claim_slot()) return;
    for (int i = 0; i < RAW_FUNCTIONS; ++i) recorded_function[i] = next_function[i];
}
