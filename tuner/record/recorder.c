/* The slow path: calls that are sampled, calls of a burst, and a thread's first call. */
#include "recorder.h"

#include "draw.h"
#include "instructions.h"
#include "size_class.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    TIMED_FROM = 2048,       /* bytes: from there on a call that is probed is timed, too */
    PROBED_FROM = 1 << 18,   /* from there on each is probed; of smaller ones half are not */
    LONG_FROM = 1 << 16,     /* from there on a copy is long enough to lose its CPU meanwhile */
    ONE_BURST_IN = 8,        /* samples */
    SAMPLES_AT_ONCE = 1024,  /* reserved, 12 pages */
    BURSTS_AT_ONCE = 16,     /* reserved */
    NOTE_EVERY_NS = 5000000, /* the clocks */
    SAME_STACK = 1 << 20,    /* bytes */
};

static void *carry_out(const struct call *call)
{
    if (call->function == RAW_MEMSET) {
        set_function *set = (set_function *)next_function[RAW_MEMSET];
        return set(call->destination, (int)(intptr_t)call->source, call->bytes);
    }
    copy_function *copy = (copy_function *)next_function[call->function];
    return copy(call->destination, call->source, call->bytes);
}

static int64_t *cell_of(const struct call *call)
{
    return &thread.slot->cells.cell[call->function][size_class(call->bytes)];
}

/* Draws how many calls of this one's class are left until its next sample. Returns whether this
 * call is one: the first of a class need not be. Atomic, as signal handlers count, too. */
static int grant(const struct call *call)
{
    const size_t number = size_class(call->bytes);
    const uint64_t work = class_start(number) + 256;
    uint32_t *folded = &thread.slot->folded[call->function][number];
    int64_t *cell = cell_of(call);
    const int64_t before = __atomic_load_n(cell, __ATOMIC_RELAXED);
    const uint32_t so_far = (uint32_t)before;
    uint64_t calls = draw_calls(&thread.random, process.period, work);
    int sampled = 1;
    if (so_far == 1 && *folded == 0) {
        sampled = calls == 1;
        calls = sampled ? draw_calls(&thread.random, process.period, work) : calls - 1;
    }
    int64_t change = ((int64_t)calls - 1 - (before >> 32)) * ((int64_t)1 << 32);
    if (so_far >> RAW_FOLD_BITS) { /* before it runs over into the upper half */
        ++*folded;
        change -= 1 << RAW_FOLD_BITS;
    }
    __atomic_fetch_add(cell, change, __ATOMIC_RELAXED);
    return sampled;
}

/* --- Bursts --- */

/* Begins one where this draw is to be kept. From then on each call of this thread comes here. */
static void begin_burst(void)
{
    struct raw_header *header = &process.file->header;
    const uint64_t number = __atomic_fetch_add(&header->bursts_drawn, 1, __ATOMIC_RELAXED);
    const uint64_t place = number < RAW_BURSTS ? number : draw_below(&thread.random, number + 1);
    if (place >= RAW_BURSTS) return;
    if (place >= header->bursts_room && !(header->flags & RAW_FULL)) {
        uint64_t signals;
        if (!try_to_change(&signals)) return;
        const uint32_t room = header->bursts_room;
        if (room < RAW_BURSTS && reserve(offsetof(struct raw_file, bursts[room]),
                                         BURSTS_AT_ONCE * sizeof(struct raw_burst)))
            header->bursts_room = room + BURSTS_AT_ONCE;
        changed(signals);
    }
    if (place >= header->bursts_room) return;
    struct raw_burst *burst = &process.file->bursts[place];
    uint32_t nobody = 0;
    if (!__atomic_compare_exchange_n(&burst->writer, &nobody, thread.id, 0, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return;
    burst->calls = 0;
    thread.burst = burst;
    thread.counted = &uncounted;
}

static uint16_t hash_of_page(const void *address)
{
    return (uint16_t)(((uintptr_t)address / RAW_PAGE) * 0x9e3779b97f4a7c15u >> 48);
}

/* `start`: ticks when the call came. */
static void note_burst_call(const struct call *call, uint64_t start)
{
    struct raw_burst *burst = thread.burst;
    const uint32_t number = burst->calls;
    if (number < RAW_BURST_CALLS) {
        struct raw_burst_call *noted = &burst->call[number];
        const uint64_t gap = number ? start - thread.burst_end : 0;
        noted->size = call->bytes < UINT32_MAX ? (uint32_t)call->bytes : UINT32_MAX;
        noted->gap_ticks = gap < UINT32_MAX ? (uint32_t)gap : UINT32_MAX;
        noted->destination_page = hash_of_page(call->destination);
        noted->destination_mod = (uintptr_t)call->destination % 64;
        noted->source_page = call->function == RAW_MEMSET ? 0 : hash_of_page(call->source);
        noted->source_mod = call->function == RAW_MEMSET ? 0 : (uintptr_t)call->source % 64;
        noted->function = (uint8_t)call->function;
        __atomic_store_n(&burst->calls, number + 1, __ATOMIC_RELEASE);
    }
    if (number + 1 >= RAW_BURST_CALLS) {
        __atomic_store_n(&burst->writer, 0, __ATOMIC_RELEASE);
        thread.burst = NULL;
        thread.counted = &thread.slot->cells;
    }
    thread.burst_end = ticks_now();
}

/* --- Samples --- */

static uint32_t at_most_32_bits(uint64_t ticks)
{
    return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

/* A byte of the buffer in a line that is drawn. */
static const char *random_byte(const void *start, size_t bytes)
{
    return (const char *)start + draw_below(&thread.random, bytes);
}

/* A load from a page that is not there would fault before the copy's first store faults again. */
static uint8_t residence(const void *address)
{
    unsigned char there;
    const uintptr_t page = (uintptr_t)address & -(uintptr_t)process.page_bytes;
    if (syscall(SYS_mincore, page, (size_t)1, &there) != 0) return 0;
    return there & 1 ? RAW_RESIDENT_KNOWN | RAW_RESIDENT : RAW_RESIDENT_KNOWN;
}

static void probe(const struct call *call, struct raw_sample *sample)
{
    if (call->function != RAW_MEMSET) {
        sample->source_ticks =
            at_most_32_bits(ticks_of_load(random_byte(call->source, call->bytes)));
        sample->flags |= RAW_SOURCE_PROBED;
    }
    const char *place = random_byte(call->destination, call->bytes);
    sample->flags |= residence(place);
    if (!(sample->flags & RAW_RESIDENT)) return;
    sample->destination_ticks = at_most_32_bits(ticks_of_load(place));
    sample->flags |= RAW_DESTINATION_PROBED;
}

/* Where the sample is to be kept; null: nowhere. Of all that were drawn, each is kept with the same
 * chance (Vitter's algorithm R). */
static struct raw_sample *place_of_sample(void)
{
    struct raw_header *header = &process.file->header;
    const uint64_t number = __atomic_fetch_add(&header->drawn, 1, __ATOMIC_RELAXED);
    if (number >= header->samples_room && header->samples_room < RAW_SAMPLES &&
        !(header->flags & RAW_FULL)) {
        uint64_t signals;
        if (try_to_change(&signals)) {
            const uint32_t room = header->samples_room;
            if (room < RAW_SAMPLES && reserve(offsetof(struct raw_file, samples[room]),
                                              SAMPLES_AT_ONCE * sizeof(struct raw_sample)))
                header->samples_room = room + SAMPLES_AT_ONCE;
            changed(signals);
        }
    }
    const uint64_t room = header->samples_room;
    const uint64_t place = number < room ? number : draw_below(&thread.random, number + 1);
    return place < room ? &process.file->samples[place] : NULL;
}

static void keep(struct raw_sample *sample)
{
    struct raw_sample *place = place_of_sample();
    if (!place || __atomic_exchange_n(&place->ready, 2, __ATOMIC_ACQUIRE) == 2) return;
    sample->ready = 2;
    *place = *sample;
    __atomic_store_n(&place->ready, 1, __ATOMIC_RELEASE);
}

/* How often another thread took this one's CPU. */
static long times_cpu_was_lost(void)
{
    struct rusage usage;
    return syscall(SYS_getrusage, RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

static void *carry_out_sample(const struct call *call)
{
    struct raw_header *header = &process.file->header;
    if (__atomic_load_n(&header->stop, __ATOMIC_RELAXED)) {
        stop_recording();
        return carry_out(call);
    }
    if (process.limit) return carry_out(call);

    const uint64_t now = clock_ns(CLOCK_MONOTONIC);
    struct raw_sample sample = {
        .size = call->bytes,
        .caller = (uintptr_t)call->caller,
        .monotonic_ns = now,
        .destination_offset = (uintptr_t)call->destination % RAW_PAGE,
        .function = (uint8_t)call->function,
    };
    if (call->function != RAW_MEMSET) {
        const uintptr_t from = (uintptr_t)call->source, to = (uintptr_t)call->destination;
        sample.source_offset = from % RAW_PAGE;
        if (to - from < call->bytes || from - to < call->bytes) sample.flags |= RAW_OVERLAP;
    }
    /* A probe brings a line and the translation of its page to the caches, which is much of a small
     * copy (4 KiB that nothing had cached: 0.2 us instead of 0.55), so its own time is known from
     * calls that are not probed. Those that are both tell the situations' times apart. */
    const int is_probed = call->bytes >= PROBED_FROM || !(draw(&thread.random) >> 63);
    if (call->bytes && is_probed) probe(call, &sample);
    void *result;
    if ((call->bytes < TIMED_FROM && is_probed) || is_watching()) {
        result = carry_out(call);
    } else {
        const long lost_before = call->bytes >= LONG_FROM ? times_cpu_was_lost() : 0;
        const uint64_t start = ticks_in_order();
        result = carry_out(call);
        sample.copy_ticks = ticks_in_order() - start;
        if (call->bytes < LONG_FROM || times_cpu_was_lost() == lost_before)
            sample.flags |= RAW_TIMED;
    }
    know_module(call->caller, now);
    keep(&sample);
    watch(call, sample.copy_ticks, now);
    if (now - header->noted[header->note & 1].monotonic_ns > NOTE_EVERY_NS) note_clocks(now);
    if (!thread.burst && draw_below(&thread.random, ONE_BURST_IN) == 0) begin_burst();
    return result;
}

/* --- The slow path --- */

/* Whether a signal handler interrupted the slow path and copies now. One that left it by longjmp
 * for good has the slow path of a later call at the same place of the stack, or above. */
static int is_nested(const char *frame)
{
    return thread.busy && !(frame >= thread.busy && frame - thread.busy < SAME_STACK);
}

void *record_call(void *destination, const void *source, size_t bytes, int function,
                  struct raw_cells *counted)
{
    const struct call call = {destination, source, bytes, __builtin_return_address(0), function};
    const char *frame = __builtin_frame_address(0);
    if (is_nested(frame)) {
        if (counted == &uncounted && thread.slot)
            __atomic_fetch_add(cell_of(&call), RAW_CALL, __ATOMIC_RELAXED);
        return carry_out(&call);
    }
    if (thread.burst && process.limit) { /* even the time stamp is forbidden by strict seccomp */
        __atomic_store_n(&thread.burst->writer, 0, __ATOMIC_RELEASE);
        thread.burst = NULL;
        thread.counted = &thread.slot->cells;
    }
    const uint64_t start = thread.burst ? ticks_now() : 0;
    const int error = errno;
    thread.busy = frame;
    if (*process.mark == 0 && !process.limit) {
        if (thread.slot && counted == &thread.slot->cells) /* the parent's */
            __atomic_fetch_sub(cell_of(&call), RAW_CALL, __ATOMIC_RELAXED);
        begin_anew();
        counted = &uncounted; /* the new file may be where the parent's was */
    }
    void *result;
    if (!thread.slot && !claim_slot()) {
        result = carry_out(&call);
    } else {
        int is_due = 1;
        if (counted == &uncounted) {
            __atomic_store_n(&uncounted.cell[function][size_class(bytes)], 0, __ATOMIC_RELAXED);
            is_due = __atomic_add_fetch(cell_of(&call), RAW_CALL, __ATOMIC_RELAXED) < 0;
        }
        const int in_burst = thread.burst != NULL;
        result = is_due && grant(&call) ? carry_out_sample(&call) : carry_out(&call);
        if (in_burst && thread.burst) note_burst_call(&call, start);
    }
    thread.busy = NULL;
    errno = error;
    return result;
}
