/* The slow path: calls that are sampled, and a thread's first call. */
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
    LONG_FROM = 1 << 16,     /* bytes of a copy that may well lose its CPU meanwhile */
    NOTE_EVERY_NS = 5000000, /* the clocks */
};

static void *carry_out_call(const struct call *call)
{
    return carry_out(next_function[call->function], call->destination, call->source, call->bytes,
                     call->function);
}

static int64_t *cell_of(const struct call *call)
{
    return &thread.slot->cells.cell[call->function][size_class(call->bytes)];
}

/* Draws the number of calls that are left until the next sample of this call's class. Returns
 * whether this call is one: the first call of a class need not be. The change is atomic, as signal
 * handlers count, too. */
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

/* --- Samples --- */

/* The place in which to keep the sample; null: it is not kept. Each drawn sample is kept with the
 * same chance (Vitter's algorithm R). */
static struct raw_sample *place_of_sample(void)
{
    struct raw_header *header = &process.file->header;
    const uint64_t number = __atomic_fetch_add(&header->drawn, 1, __ATOMIC_RELAXED);
    uint64_t signals;
    if (!header->samples_room && !(header->flags & RAW_FULL) && try_to_change(&signals)) {
        if (reserve(offsetof(struct raw_file, samples), sizeof process.file->samples))
            header->samples_room = RAW_SAMPLES;
        changed(signals);
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

/* The number of times that another thread took this one's CPU. */
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
        return carry_out_call(call);
    }
    if (process.limit) return carry_out_call(call);

    struct raw_sample sample = {
        .size = call->bytes,
        .caller = (uintptr_t)call->caller,
        .function = (uint8_t)call->function,
    };
    const long lost_before = call->bytes >= LONG_FROM ? times_cpu_was_lost() : 0;
    const uint64_t before = ticks_in_order(), start = ticks_in_order();
    void *result = carry_out_call(call);
    const uint64_t taken = ticks_in_order() - start, of_timing = start - before;
    sample.ticks = taken > of_timing ? taken - of_timing : 0;
    sample.timed = call->bytes < LONG_FROM || times_cpu_was_lost() == lost_before;
    const uint64_t now = clock_ns(CLOCK_MONOTONIC);
    learn_module(call->caller, now);
    keep(&sample);
    if (now - header->noted[header->note & 1].monotonic_ns > NOTE_EVERY_NS) note_clocks(now);
    return result;
}

/* --- The slow path --- */

/* The slow path without stack: it counts the call, and takes no sample. */
__attribute__((noinline)) static void *count_alone(void *destination, const void *source,
                                                   size_t bytes, int function,
                                                   const struct raw_cells *counted)
{
    if (counted == &uncounted && thread.slot)
        __atomic_fetch_add(&thread.slot->cells.cell[function][size_class(bytes)], RAW_CALL,
                           __ATOMIC_RELAXED);
    return carry_out(next_function[function], destination, source, bytes, function);
}

__attribute__((noinline)) static void *look_at_call(void *destination, const void *source,
                                                    size_t bytes, int function,
                                                    struct raw_cells *counted, const char *caller)
{
    const struct call call = {destination, source, bytes, caller, function};
    const char *frame = __builtin_frame_address(0);
    if (is_nested(thread.busy, frame)) {
        if (counted == &uncounted && thread.slot)
            __atomic_fetch_add(cell_of(&call), RAW_CALL, __ATOMIC_RELAXED);
        return carry_out_call(&call);
    }
    const int error = errno;
    thread.busy = frame;
    if (*process.mark == 0 && !process.limit) {
        if (thread.slot && counted == &thread.slot->cells) /* it was counted for the parent */
            __atomic_fetch_sub(cell_of(&call), RAW_CALL, __ATOMIC_RELAXED);
        begin_anew();
        counted = &uncounted; /* the new file may be where the parent's was */
    }
    void *result;
    if (!thread.slot && !claim_slot()) {
        result = carry_out_call(&call);
    } else {
        int is_due = 1;
        if (counted == &uncounted) {
            __atomic_store_n(&uncounted.cell[function][size_class(bytes)], 0, __ATOMIC_RELAXED);
            is_due = __atomic_add_fetch(cell_of(&call), RAW_CALL, __ATOMIC_RELAXED) < 0;
        }
        result = is_due && grant(&call) ? carry_out_sample(&call) : carry_out_call(&call);
    }
    thread.busy = NULL;
    errno = error;
    return result;
}

void *record_call(void *destination, const void *source, size_t bytes, int function,
                  struct raw_cells *counted)
{
    const char *caller = __builtin_return_address(0);
    if (!has_stack()) return count_alone(destination, source, bytes, function, counted);
    return look_at_call(destination, source, bytes, function, counted, caller);
}
