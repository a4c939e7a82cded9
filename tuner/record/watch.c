/* Who touches a copy first, and when: hardware breakpoints on 8 bytes of a destination.
 *
 * While one is armed, processors give up the fast way of rep movsb, wherever it copies: 64 KiB took
 * 20 us instead of 4.5 on Zen 5, 4 KiB 2.5 us instead of 0.45. So each is armed shortly, longer
 * pauses follow longer ones, and no copy is timed meanwhile. The first access ends it by itself.
 *
 * Two of perf_event_open for each thread: one stops at reads and writes, one at writes alone, as
 * x86 has none for reads alone. Each counts once and writes place and time into a ring buffer that
 * is mapped; no signal is sent, and no file stays open, as the mapping keeps the event. One place
 * is watched at a time in a process. Later samples look whether something came. */
#include "recorder.h"

#include "draw.h"
#include "size_class.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LEAST = 16, /* bytes of a copy: it has 8 that are aligned */
    LENGTH = 8,
    THREADS = 8,
    PAUSE_FACTOR =
        200,           /* between two, as a multiple of what opening and arming the last one took */
    MOST_FAILURES = 3, /* in a row */
};

static const uint64_t least_pause_ns = 100000000, longest_pause_ns = 2000000000;

struct access {
    uint64_t ns, ip;
    uint32_t thread;
};

/* All of it under try_to_change(). */
static struct {
    int rings; /* 0: nothing is watched */
    void *ring[2 * THREADS];
    struct raw_watch watch;
    const struct raw_slot *slot;
    uint64_t copied_bytes; /* by that slot, when it began */
    uint64_t next_ns;
    int failures;
    int user_only;
    uint64_t random;
    char text[1024];
} open_watch;

/* A page that describes the ring, and one that is the ring. */
static size_t ring_bytes(void) { return 2 * process.page_bytes; }

/* By the counts, each call as its class's start. */
static uint64_t copied_bytes(const struct raw_slot *slot)
{
    uint64_t bytes = 0;
    for (int function = 0; function < RAW_MEMSET; ++function) {
        for (size_t number = 0; number < RAW_CLASSES; ++number) {
            const uint64_t calls = (uint32_t)slot->cells.cell[function][number] +
                                   ((uint64_t)slot->folded[function][number] << RAW_FOLD_BITS);
            bytes += calls * class_start(number);
        }
    }
    return bytes;
}

static void close_rings(void)
{
    while (open_watch.rings > 0) munmap(open_watch.ring[--open_watch.rings], ring_bytes());
}

static void *open_ring(uint32_t thread_id, uintptr_t address, uint32_t type)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = PERF_ATTR_SIZE_VER5,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
        .disabled = 1,
        .exclude_kernel = (unsigned)open_watch.user_only & 1,
        .exclude_hv = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .bp_type = type,
        .bp_addr = address,
        .bp_len = LENGTH,
    };
    const int event =
        (int)syscall(SYS_perf_event_open, &attributes, thread_id, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (event < 0) return NULL;
    void *ring = mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    int error = errno;
    if (ring != MAP_FAILED && syscall(SYS_ioctl, event, PERF_EVENT_IOC_REFRESH, 1) != 0) {
        error = errno;
        munmap(ring, ring_bytes());
        ring = MAP_FAILED;
    }
    syscall(SYS_close, event);
    errno = error;
    return ring == MAP_FAILED ? NULL : ring;
}

/* Both breakpoints of a thread, or neither. */
static int open_thread(uint32_t thread_id, uintptr_t address)
{
    static const uint32_t types[] = {HW_BREAKPOINT_RW, HW_BREAKPOINT_W};
    for (int i = 0; i < 2; ++i) {
        void *ring = open_ring(thread_id, address, types[i]);
        if (!ring) {
            const int error = errno;
            if (i) munmap(open_watch.ring[--open_watch.rings], ring_bytes());
            errno = error;
            return 0;
        }
        open_watch.ring[open_watch.rings++] = ring;
    }
    return 1;
}

struct entry { /* of getdents64 */
    uint64_t inode;
    int64_t next;
    unsigned short bytes;
    unsigned char type;
    char name[];
};

/* Up to seven threads beside this one. */
static void open_others(uint32_t thread_id, uintptr_t address)
{
    const int folder = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/task",
                                    O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (folder < 0) return;
    long bytes;
    while (open_watch.rings < 2 * THREADS &&
           (bytes = syscall(SYS_getdents64, folder, open_watch.text, sizeof open_watch.text)) > 0) {
        for (long at = 0; at < bytes && open_watch.rings < 2 * THREADS;) {
            const struct entry *entry = (const struct entry *)(open_watch.text + at);
            uint32_t other = 0;
            for (const char *digit = entry->name; *digit >= '0' && *digit <= '9'; ++digit)
                other = other * 10 + (uint32_t)(*digit - '0');
            if (other && other != thread_id) open_thread(other, address);
            at += entry->bytes;
        }
    }
    syscall(SYS_close, folder);
}

/* The first record of each ring; the earliest of each kind. */
static void read_rings(struct access *first, struct access *write)
{
    struct record {
        struct perf_event_header header;
        uint64_t ip;
        uint32_t process, thread;
        uint64_t time;
    };
    for (int i = 0; i < open_watch.rings; ++i) {
        const struct perf_event_mmap_page *page = open_watch.ring[i];
        if (__atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) < sizeof(struct record)) continue;
        const struct record *record =
            (const struct record *)((const char *)open_watch.ring[i] + process.page_bytes);
        if (record->header.type != PERF_RECORD_SAMPLE) continue;
        struct access *access = i % 2 ? write : first;
        if (access->ns && access->ns <= record->time) continue;
        access->ns = record->time;
        access->ip = record->ip;
        access->thread = record->thread;
    }
}

static void keep(void)
{
    struct raw_header *header = &process.file->header;
    if (!header->watches_room) {
        if (header->flags & RAW_FULL) return;
        if (!reserve(offsetof(struct raw_file, watches), sizeof process.file->watches)) return;
        header->watches_room = RAW_WATCHES;
    }
    const uint64_t number = header->watches_drawn++;
    const uint64_t place =
        number < RAW_WATCHES ? number : draw_below(&open_watch.random, number + 1);
    if (place >= RAW_WATCHES) return;
    struct raw_watch *kept = &process.file->watches[place];
    __atomic_store_n(&kept->ready, 0, __ATOMIC_RELEASE);
    *kept = open_watch.watch;
    __atomic_store_n(&kept->ready, 1, __ATOMIC_RELEASE);
}

/* For so long it was armed. Of a time beyond the window nothing counts: had the program copied
 * much, it would have been looked at before. */
static void pause_after(uint64_t armed_ns)
{
    const uint64_t window_ns = process.file->header.window_ns;
    const uint64_t until =
        clock_ns(CLOCK_MONOTONIC) + PAUSE_FACTOR * (armed_ns < window_ns ? armed_ns : window_ns);
    if (until > open_watch.next_ns) open_watch.next_ns = until;
}

int is_watching(void) { return open_watch.rings != 0; }

/* Looks whether something came. */
static void poll_watch(uint64_t now_ns)
{
    struct access first = {0}, write = {0};
    read_rings(&first, &write);
    struct raw_watch *watch = &open_watch.watch;
    if (!first.ns && now_ns < watch->armed_ns + process.file->header.window_ns) return;
    close_rings();
    watch->closed_ns = now_ns;
    watch->access_ns = first.ns;
    watch->access_ip = first.ip;
    watch->access_thread = first.thread;
    watch->write_ns = write.ns;
    watch->write_ip = write.ip;
    watch->write_thread = write.thread;
    watch->copied_bytes = copied_bytes(open_watch.slot) - open_watch.copied_bytes;
    pause_after((first.ns ? first.ns : now_ns) - watch->armed_ns);
    keep();
}

static void open_one(const struct call *call, uint64_t copy_ticks)
{
    const uint64_t start = clock_ns(CLOCK_MONOTONIC);
    const uintptr_t first = ((uintptr_t)call->destination + LENGTH - 1) & -(uintptr_t)LENGTH;
    const uintptr_t end = ((uintptr_t)call->destination + call->bytes) & -(uintptr_t)LENGTH;
    const uintptr_t address = first + LENGTH * draw_below(&thread.random, (end - first) / LENGTH);

    int done = open_thread(thread.id, address);
    if (!done && (errno == EACCES || errno == EPERM) && !open_watch.user_only) {
        open_watch.user_only = 1; /* what the kernel reads for the program is not seen then */
        done = open_thread(thread.id, address);
    }
    if (!done) {
        process.file->header.watch_errno = errno;
        open_watch.next_ns = start + least_pause_ns;
        ++open_watch.failures;
        return;
    }
    open_others(thread.id, address);
    open_watch.failures = 0;
    process.file->header.watch_errno = 0;
    struct raw_watch *watch = &open_watch.watch;
    watch->size = call->bytes;
    watch->caller = (uintptr_t)call->caller;
    watch->copy_ticks = copy_ticks;
    watch->thread = thread.id;
    open_watch.slot = thread.slot;
    open_watch.copied_bytes = copied_bytes(thread.slot);
    watch->armed_ns = clock_ns(CLOCK_MONOTONIC);
    uint64_t pause = PAUSE_FACTOR * (watch->armed_ns - start);
    if (pause < least_pause_ns) pause = least_pause_ns;
    if (pause > longest_pause_ns) pause = longest_pause_ns;
    open_watch.next_ns = watch->armed_ns + pause;
}

void watch(const struct call *call, uint64_t copy_ticks, uint64_t now_ns)
{
    const int can_open = call->function != RAW_MEMSET && call->bytes >= LEAST &&
                         now_ns >= open_watch.next_ns && open_watch.failures < MOST_FAILURES;
    if ((!open_watch.rings && !can_open) || *process.mark == 0)
        return; /* rings are not inherited */
    uint64_t signals;
    if (!try_to_change(&signals)) return;
    if (open_watch.rings) poll_watch(now_ns);
    if (!open_watch.rings && can_open) open_one(call, copy_ticks);
    changed(signals);
}

/* For the process that starts recorded ones: a breakpoint that is never enabled, closed with the
 * descriptor returned; -1: none. While any event of a task exists in the system, opening another
 * takes 20 us; the first one takes 15 ms, as Linux patches its scheduler for it, and a second after
 * the last one is gone it patches that back. */
__attribute__((visibility("default"))) int asterope_record_hold_breakpoint(void);
int asterope_record_hold_breakpoint(void)
{
    static uint64_t watched;
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = PERF_ATTR_SIZE_VER5,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .bp_type = HW_BREAKPOINT_W,
        .bp_addr = (uintptr_t)&watched,
        .bp_len = LENGTH,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The rings are not inherited: another mapping may be at their addresses by now. */
void forget_watch(void)
{
    open_watch.rings = 0;
    open_watch.next_ns = 0;
    open_watch.failures = 0;
}
