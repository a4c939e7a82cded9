/* The trial: each call takes the way whose turn it is. The time until the next call is booked on
 * that way.
 *
 * Time is cut into pairs of periods of some milliseconds, which all threads share. In some pairs
 * every place (return address, size class, function) changes its way by itself, after a few calls.
 * Then an interval lasts until the next call of the same place. So it also has the way's effect on
 * the rest of the program.
 *
 * In the other pairs all places take one way together: libc's during one period, the routine's
 * during the other. Then an interval lasts until the thread's next call from any place. So the
 * intervals add up to all of its time. Calls that follow each other fast are timed in groups. A
 * call that takes as long as a group is timed by itself, and does not count in the group around it.
 *
 * A way leaves dirty lines in the caches, and throws others out. The next way pays for that: it
 * waits for write-backs and for missing lines. So the first interval after a change is left out,
 * and the first part of a period. If copies of 32 KiB and more move over 2 GB/s, changes are
 * further apart, and more is left out. So little of that cost counts.
 *
 * In operation only one of `explore` pairs of periods is a trial. In the rest all calls take the
 * map or the routine, or libc if that has plainly won more pairs than it lost. The trial then looks
 * at hardly any call. */
#include "trial.h"

#include "draw.h"
#include "instructions.h"

#include <errno.h>

enum {
    LEAST_CALLS = 3,    /* booked intervals of a place's own block, at least */
    MORE_CALLS = 6,     /* a random number below this is added */
    FEW_CALLS = 1,      /* the same for rare calls, of which a program has few */
    FEW_MORE_CALLS = 2, /* the same for such calls */
    RARE_CALLS = 100,   /* times the shortest interval: calls that take as much are rare */
    EASY = 64,          /* so many easy calls in a row, for each call of a group */
    MOST_EASY = 2048,   /* easy calls in a row, at most: after them it notices a fork */
    MOST_SETTLING = 1 << 12,
    TURNING = 1 << 15, /* bytes; see note_moved() */
    SINGLE = 1 << 14,  /* bytes from which on one call may take as long as a group */
    SLOW_GAP = 2,      /* it does so if its place has groups of so many calls or fewer */
    MEASURED = 8,      /* of so many smaller calls that are timed, one has its copy measured */
};

__thread int64_t easy_calls;

static int do_overlap(const void *destination, const void *source, size_t bytes)
{
    const uintptr_t to = (uintptr_t)destination, from = (uintptr_t)source;
    return to - from < bytes || from - to < bytes;
}

/* --- Choosing --- */

/* Whether the place had no call in a period together since the interval's start. If calls are
 * grouped, such calls are not seen. So the pair must be the same then. */
static int is_interval_complete(const struct trial_place *place)
{
    return place->started && place->uses_cpu_clock == tried.uses_cpu_clock &&
           ((place->gap == 1 && tried.gap == 1) || place->pair == tried.period / 2);
}

/* Counts the bytes that tell how fast the caches are turned over. Smaller copies do not count: most
 * of them have data that stays in the caches. */
static void note_moved(size_t bytes, uint64_t calls)
{
    if (bytes >= TURNING) tried.moved += bytes * calls;
}

/* Counts one call that stands for `calls` of them. */
static void count_calls(struct trial_place *place, int function, size_t bytes, uint64_t calls)
{
    place->calls += calls;
    if (function != RAW_MEMSET) place->copied += bytes * calls;
}

/* The number of intervals after a change that do not count. */
static uint32_t settling_calls(const struct trial_place *place)
{
    const uint64_t each = (uint64_t)place->usual * place->gap;
    const uint64_t calls = each ? __atomic_load_n(&trial.settling, __ATOMIC_RELAXED) / each : 0;
    return calls < 1 ? 1 : calls < MOST_SETTLING ? (uint32_t)calls : MOST_SETTLING;
}

/* The first intervals of a block are always kept, as they show changes within it. The others are a
 * random choice. */
static void book_own(struct trial_place *place, uint64_t ticks)
{
    struct trial_block *block = &place->own;
    const uint32_t before = block->intervals;
    const uint64_t at = before < TRIAL_KEPT
                            ? before
                            : TRIAL_FIRST + draw_below(&tried.random, before + 1 - TRIAL_FIRST);
    if (at < TRIAL_KEPT) {
        const uint64_t above = place->bytes / place->gap - ((uint64_t)1 << place->power);
        block->ticks[at] = kept_ticks(ticks);
        block->bytes[at] = (uint16_t)(above * 65535 >> place->power);
    }
    if (block->kept < TRIAL_KEPT) ++block->kept;
    ++block->intervals;
}

/* The next way of a place that changes its way by itself. */
static any_function *own_way(struct trial_place *place, size_t bytes, uint64_t own)
{
    const int has_block = place->turn < place->racing;
    if (!has_block || !is_interval_complete(place)) {
        place->unsettled = settling_calls(place);
    } else if (place->unsettled) {
        --place->unsettled;
    } else if (place->left) {
        book_own(place, ticks_from(place->started, own));
        --place->left;
    }
    if (!has_block || !place->left) {
        if (has_block) keep_own_block(place);
        if (!has_block || ++place->turn == place->racing) begin_cycle(place);
        begin_block(&place->own, place, place->cycles, place->order[place->turn], place->gap);
        place->unsettled = settling_calls(place);
        const int is_rare = place->usual > RARE_CALLS * trial.shortest && place->gap == 1;
        const uint32_t least = is_rare ? FEW_CALLS : LEAST_CALLS;
        place->left = place->unsettled > least ? place->unsettled : least;
        place->left += (uint32_t)draw_below(&tried.random, is_rare ? FEW_MORE_CALLS : MORE_CALLS);
    }
    place->gap_left = (int32_t)place->gap;
    count_calls(place, place->function, bytes, place->gap);
    place->own_calls += place->gap;
    note_moved(bytes, place->gap);
    place->started = own;
    place->uses_cpu_clock = (uint8_t)tried.uses_cpu_clock;
    place->pair = tried.period / 2;
    place->bytes = bytes;
    return trial.way[place->function][place->own.way];
}

/* Whether the call may take as long as a group. */
static int takes_long(const struct trial_place *place, size_t bytes)
{
    return bytes >= SINGLE && place->gap <= SLOW_GAP && !trial.only_way;
}

static uint32_t easy_for(uint32_t gap) { return gap < MOST_EASY / EASY ? gap * EASY : MOST_EASY; }

static any_function *way_of(struct trial_place *place, int function, size_t bytes)
{
    const uint64_t now = ticks_now();
    const int is_single = takes_long(place, bytes);
    uint64_t own = own_clock(now);
    if (book_thread(place, is_single, now, &own)) return copy_together(tried.period, function);
    if (is_easy(tried.period)) {
        uint64_t calls = 1;
        if (trial.easy[function] && easy_calls <= 0) {
            if (tried.eased) tried.gap = gap_for((now - tried.eased) / easy_for(tried.gap));
            tried.eased = now;
            easy_calls = easy_for(tried.gap);
            calls += (uint64_t)easy_calls;
        }
        count_calls(place, function, bytes, calls);
        place->started = 0;
        any_function *best = trial.way[function][best_way()];
        return best ? best : libcs(function);
    }
    const int has_place = place > &tried.table->place[TRIAL_SMALL];
    if (has_place && !is_together(tried.period)) {
        tried.recent = place;
        return own_way(place, bytes, own);
    }
    tried.left = is_single ? 1 : (int32_t)tried.gap;
    count_calls(place, function, bytes, (uint64_t)tried.left);
    note_moved(bytes, (uint64_t)tried.left);
    place->started = 0;
    if (!is_together(tried.period)) {
        place->own_calls += tried.gap;
        return libcs(function);
    }
    return copy_together(tried.period, function);
}

/* The present way of the call's own place, while its interval still runs; null: it ends. */
static any_function *way_in_between(struct trial_place *place, size_t bytes)
{
    if (--place->gap_left <= 0) return NULL;
    place->bytes += bytes;
    return trial.way[place->function][place->own.way];
}

/* Whether a call in a period together is just another one of its group. */
static int is_one_of_group(struct trial_place *place, size_t bytes)
{
    if (bytes < SINGLE || takes_long(place, bytes)) return 0;
    tried.recent = place;
    return --tried.left > 0;
}

/* --- The time of copies alone --- */

/* The way's index in the figures of measured copies; below 0: it is not measured. A measured call
 * does not have the program's return address, and a library with a map looks at that. */
static int measured_way(any_function *way, int function)
{
    if (way == libcs(function)) return TRIAL_LIBC;
    return way == trial.way[function][TRIAL_ROUTINE] ? 1 : -1;
}

static int is_measured(size_t bytes)
{
    return bytes >= LARGE || !draw_below(&tried.random, MEASURED);
}

/* Bounds the ticks of a copy. Otherwise a few interruptions would be most of the copies' time. Any
 * memory is faster than 100 MB/s. */
static uint64_t at_most(uint64_t ticks, size_t bytes)
{
    const uint64_t most = 2 * trial.shortest + bytes * trial.shortest / 1000;
    return trial.shortest && ticks > most ? most : ticks;
}

static void *carry_out_measured(struct trial_place *place, any_function *way, void *destination,
                                const void *source, size_t bytes, int function)
{
    const int measured = measured_way(way, function);
    const uint64_t before = ticks_in_order(), start = ticks_in_order();
    void *result = carry_out_from((size_t)(place - tried.table->place), way, destination, source,
                                  bytes, function);
    const uint64_t taken = ticks_in_order() - start, of_timing = start - before;
    const uint64_t ticks = at_most(taken > of_timing ? taken - of_timing : 0, bytes);
    place->copy_ticks[measured] += ticks;
    ++place->copies[measured];
    if (bytes >= LARGE) note_large(ticks);
    return result;
}

/* --- The slow path --- */

/* Gets this thread a table. Returns 0 if it is not tried. */
static int claim(void)
{
    tried.table = claim_table();
    tried.is_idle = !tried.table;
    if (tried.is_idle) return 0;
    tried.random = mixed(trial.seed + thread.id);
    tried.period = __atomic_load_n(&trial.period, __ATOMIC_ACQUIRE);
    tried.gap = 1;
    return 1;
}

/* `measured`: the place of the call, if its copy is to be measured; else null. Both values are
 * returned in registers: if one had an address on the stack, try_call() would not end in a jump. */
struct chosen {
    any_function *way;
    struct trial_place *measured;
};

__attribute__((noinline)) static struct chosen choose(const char *caller, int function,
                                                      size_t bytes)
{
    const char *frame = __builtin_frame_address(0);
    any_function *way = libcs(function);
    struct trial_place *measured = NULL;
    if (!trial.has_counter || is_nested(tried.busy, frame)) return (struct chosen){way, NULL};
    tried.busy = frame;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const int error = errno;
    const int is_strange = *process.mark == 0; /* the child of a fork that called no handlers */
    if (is_strange && !process.limit) begin_anew();
    if (!(is_strange && process.limit) && !tried.is_idle && (tried.table || claim())) {
        struct trial_place *place = bytes < TRIAL_LEAST ? &tried.table->place[TRIAL_SMALL]
                                                        : find_place(caller, function, bytes);
        any_function *together = __atomic_load_n(&trial.together[function], __ATOMIC_RELAXED);
        if (together)
            way = is_one_of_group(place, bytes) ? together : NULL;
        else
            way = place->started ? way_in_between(place, bytes) : NULL;
        if (!way) {
            way = way_of(place, function, bytes);
            if (!process.limit && measured_way(way, function) >= 0 && is_measured(bytes))
                measured = place;
        }
    }
    errno = error;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    tried.busy = NULL;
    return (struct chosen){way, measured};
}

/* The way of a call that is not timed, found without the clock; null: choose() looks closer. */
static inline any_function *quick_way(const char *caller, int function, size_t bytes)
{
    any_function *together = __atomic_load_n(&trial.together[function], __ATOMIC_RELAXED);
    if (together && bytes < SINGLE) return --tried.left > 0 ? together : NULL;
    if (bytes < TRIAL_LEAST) return --tried.left > 0 ? libcs(function) : NULL;
    struct trial_place *place = tried.recent;
    if (!place || place->caller != (uintptr_t)caller || place->function != function ||
        bytes >> place->power != 1)
        return NULL;
    if (together) return is_one_of_group(place, bytes) ? together : NULL;
    return place->started && place->gap_left > 1 ? way_in_between(place, bytes) : NULL;
}

void *try_call(void *destination, const void *source, size_t bytes, int function)
{
    const char *caller = __builtin_return_address(0);
    struct chosen chosen = {quick_way(caller, function, bytes), NULL};
    if (!chosen.way) chosen = choose(caller, function, bytes);
    any_function *way = chosen.way;
    if (function != RAW_MEMSET && __builtin_expect(do_overlap(destination, source, bytes), 0))
        way = next_function[RAW_MEMMOVE]; /* also for memcpy: some programs rely on it by mistake */
    if (__builtin_expect(chosen.measured && measured_way(way, function) >= 0, 0)) {
        void *result =
            carry_out_measured(chosen.measured, way, destination, source, bytes, function);
        return function == RAW_MEMPCPY ? (char *)result + bytes : result;
    }
    if (function == RAW_MEMPCPY) /* whose ways are memcpy's */
        return (char *)carry_out(way, destination, source, bytes, function) + bytes;
    return carry_out(way, destination, source, bytes, function);
}

void forget_trial(void)
{
    const char *busy = tried.busy;
    tried = (struct tried){.busy = busy};
    easy_calls = 0;
    trial.has_figures = 0;
    if (trial.is_on) begin_process(1);
}
