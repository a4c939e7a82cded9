/* The trial: each call takes the way that is its turn, and what it takes until the next one is
 * booked on that way.
 *
 * Time is cut into pairs of periods of some milliseconds, which all threads share. In some pairs
 * every place (return address, size class, function) changes its way by itself, after a few calls;
 * an interval lasts until the next call of the same place then, and what a way does to the rest of
 * the program is in it. In the others all places go libc's way during one period of the pair and
 * the routine's during the other, and intervals last until the thread's next call, whichever that
 * is: they are all of its time, once. The first interval after a change of way is in neither.
 *
 * In operation one pair of periods in so many is that. In the rest all calls take what has won
 * more pairs than it lost, and hardly any is looked at. */
#include "trial.h"

#include "draw.h"
#include "instructions.h"

#include <errno.h>
#include <time.h>

enum {
    LEAST_CALLS = 4,  /* of a place's own block */
    MORE_CALLS = 6,   /* fewer than so many more: the last interval is the eighth at most */
    PERIOD_CALLS = 7, /* that the thread has timed which ends a period */
    TOUCHED = 64,
    LONG = 64,            /* of what is timed at least: longer intervals count as so long */
    TURN = 10,            /* the same, from where on they are of CPU time */
    SAME_STACK = 1 << 20, /* bytes */
    EASY = 16,            /* times the calls that are timed as one */
    LOST = 4,             /* pairs that are lost more than won, and libc's way is better */
    MOST_LOST = 32,
};

static const uint64_t shortest_period_ns = 1000000;
static const uint64_t shortest_interval_ns = 10000;
static const uint64_t periods_room = 4096; /* so many of one length, before they become longer */

/* Of each thread. */
struct tried {
    struct trial_thread *table;
    struct trial_place *recent; /* of the last large call in its own way */
    struct trial_place *last;   /* of the last call that was timed; null: none */
    const char *busy;           /* frame of the call that is being booked; null: none */
    uint64_t started;           /* ticks of the last call */
    uint64_t period;            /* that it was in */
    uint64_t random;
    uint64_t ticks;   /* of the calls that were timed in the last pair of periods together, */
    uint64_t timed;   /* which are so many */
    uint64_t first_ticks, first_timed; /* those of the first of the pair */
    uint64_t bytes;   /* of the last call */
    uint32_t gap;     /* of this pair */
    int32_t left;     /* calls until the next one is timed */
    uint32_t calls;   /* timed in this period */
    uint32_t at;      /* where its next block together goes */
    uint32_t is_long; /* 1: its intervals are of CPU time */
    uint32_t is_idle; /* it could have no table */
    uint32_t touched_places;
    uint16_t touched[TOUCHED]; /* places with a block together */
};
static __thread struct tried tried;
__thread int32_t easy_calls;

/* --- Ways --- */

static inline void *go(any_function *way, void *destination, const void *source, size_t bytes,
                       int function)
{
    if (function == RAW_MEMSET)
        return ((set_function *)way)(destination, (int)(intptr_t)source, bytes);
    if (function == RAW_MEMPCPY)
        return (char *)((copy_function *)way)(destination, source, bytes) + bytes;
    return ((copy_function *)way)(destination, source, bytes);
}

static any_function *libcs(int function) { return trial.way[function][TRIAL_LIBC]; }

static int do_overlap(const void *destination, const void *source, size_t bytes)
{
    const uintptr_t to = (uintptr_t)destination, from = (uintptr_t)source;
    return to - from < bytes || from - to < bytes;
}

/* --- Periods --- */

static int is_easy(uint64_t period)
{
    return trial.explore && mixed(~trial.seed + period / 2) % trial.explore;
}

static int is_together(uint64_t period)
{
    return !is_easy(period) && mixed(trial.seed + period / 2) & 1;
}

/* Of all places, in a period together. */
static uint32_t way_together(uint64_t period)
{
    const uint64_t drawn = mixed(trial.seed + period / 2);
    if (!((period & 1) ^ (drawn >> 1 & 1))) return TRIAL_LIBC;
    return trial.whole && drawn >> 2 & 1 ? trial.whole : TRIAL_ROUTINE;
}

static uint32_t best_way(void)
{
    if (__atomic_load_n(&trial.score, __ATOMIC_RELAXED) >= LOST) return TRIAL_LIBC;
    return trial.whole ? trial.whole : TRIAL_ROUTINE;
}

/* Of the pair together that is over, whether libc's way took more for a call. */
static void keep_score(void)
{
    const uint64_t timed = tried.timed - tried.first_timed;
    if (!trial.explore || !timed || !tried.first_timed) return;
    const uint64_t ticks = tried.ticks - tried.first_ticks;
    const int first_won = (unsigned __int128)tried.first_ticks * timed <
                          (unsigned __int128)ticks * tried.first_timed;
    const int libc_won = (way_together(tried.period & ~(uint64_t)1) == TRIAL_LIBC) == first_won;
    const int32_t score = __atomic_load_n(&trial.score, __ATOMIC_RELAXED);
    if (libc_won ? score < MOST_LOST : score > -MOST_LOST)
        __atomic_fetch_add(&trial.score, libc_won ? 1 : -1, __ATOMIC_RELAXED);
}

/* Libc's where the routine has no such function. */
static any_function *copy_together(uint64_t period, int function)
{
    any_function *way = trial.way[function][way_together(period)];
    return way ? way : libcs(function);
}

/* Begins the next period, unless another thread has just done so. */
static void end_period(uint64_t period, uint64_t now)
{
    if (!__atomic_compare_exchange_n(&trial.period, &period, period + 1, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    const uint64_t ns = clock_ns(CLOCK_MONOTONIC) - trial.started_ns;
    uint64_t length = ns / periods_room;
    if (length < shortest_period_ns) length = shortest_period_ns;
    length += draw_below(&tried.random, length);
    const uint64_t passed = now - trial.started;
    const uint64_t ticks = (uint64_t)((unsigned __int128)passed * length / (ns ? ns : 1));
    trial.shortest = (uint64_t)((unsigned __int128)passed * shortest_interval_ns / (ns ? ns : 1));
    __atomic_store_n(&trial.period_end, now + ticks, __ATOMIC_RELEASE);
    for (int function = 0; function < RAW_FUNCTIONS; ++function) {
        any_function *way = is_together(period + 1) ? copy_together(period + 1, function) : NULL;
        any_function *easy = is_easy(period + 1) ? trial.easy_ways[function][best_way()] : NULL;
        __atomic_store_n(&trial.together[function], way, __ATOMIC_RELAXED);
        __atomic_store_n(&trial.easy[function], easy, __ATOMIC_RELAXED);
    }
    if (!process.limit) note_clocks(ns + trial.started_ns);
}

/* --- Booking --- */

/* Where intervals are so long that other programs have turns in most of them, they are of the
 * thread's own CPU time: a system call is nothing beside them then. */
static uint64_t own_clock(uint64_t now)
{
    return tried.is_long ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : now;
}

static uint64_t ticks_from(uint64_t started, uint64_t own)
{
    const uint64_t passed = own - started;
    if (!tried.is_long) return passed;
    return (uint64_t)((unsigned __int128)passed * trial.shortest / shortest_interval_ns);
}

static void keep_ticks(struct trial_block *block, uint32_t at, uint64_t ticks, uint64_t bytes,
                       const struct trial_place *place)
{
    const uint64_t start = place->power ? (uint64_t)1 << place->power : UINT64_MAX;
    block->ticks[at] = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
    block->bytes[at] = bytes > start ? (uint16_t)((bytes - start) * 65535 >> place->power) : 0;
}

static void begin_block(struct trial_block *block, const struct trial_place *place, uint64_t group,
                        uint32_t way, uint32_t gap)
{
    block->group = (uint32_t)group;
    block->gap = gap;
    block->calls = 0;
    block->kept = 0;
    block->place = (uint16_t)(place - tried.table->place);
    block->way = (uint8_t)way;
}

/* The blocks together of the period that is over, for this thread. */
static void end_together(void)
{
    for (uint32_t i = 0; i < tried.touched_places; ++i) {
        struct trial_block *block = &tried.table->place[tried.touched[i]].together;
        if (block->calls) keep_together_block(tried.table, block, &tried.at);
        block->calls = 0;
    }
    tried.touched_places = 0;
}

/* An interval of the thread's last call, in a period together. Of each place's in a period, those
 * that are kept are a uniform choice. */
static void book_together(uint64_t ticks)
{
    struct trial_place *place = tried.last;
    struct trial_block *block = &place->together;
    if (!block->calls) {
        if (tried.touched_places == TOUCHED) return;
        tried.touched[tried.touched_places++] = (uint16_t)(place - tried.table->place);
        begin_block(block, place, tried.period, way_together(tried.period), tried.gap);
    }
    const uint64_t at =
        block->calls < TRIAL_KEPT ? block->calls : draw_below(&tried.random, block->calls + 1);
    if (at < TRIAL_KEPT) keep_ticks(block, (uint32_t)at, ticks, tried.bytes, place);
    if (block->kept < TRIAL_KEPT) ++block->kept;
    ++block->calls;
    /* an interruption says nothing of how fast calls follow each other */
    tried.ticks += ticks < LONG * trial.shortest ? ticks : LONG * trial.shortest;
    tried.timed += tried.gap;
}

static void enter_period(uint64_t period)
{
    end_together();
    if (period / 2 == tried.period / 2) {
        tried.first_ticks = tried.ticks;
        tried.first_timed = tried.timed;
    } else { /* both of a pair are timed alike */
        if (tried.timed) {
            keep_score();
            const uint64_t mean = tried.ticks / tried.timed;
            if (mean * tried.gap > TURN * trial.shortest) tried.is_long = 1;
            tried.gap = gap_for(mean);
        }
        if (process.limit) tried.is_long = 0;
        tried.ticks = tried.timed = tried.first_timed = 0;
    }
    tried.period = period;
    tried.calls = 0;
}

/* The time since the thread's last call that was timed, and what period it is. */
static void book_thread(struct trial_place *place, size_t bytes, uint64_t now, uint64_t own)
{
    const uint64_t period = __atomic_load_n(&trial.period, __ATOMIC_ACQUIRE);
    if (period != tried.period) {
        enter_period(period);
    } else {
        if (tried.calls > 1 && is_together(period)) book_together(ticks_from(tried.started, own));
        if (tried.calls >= PERIOD_CALLS &&
            now >= __atomic_load_n(&trial.period_end, __ATOMIC_ACQUIRE)) {
            end_period(period, now);
            enter_period(__atomic_load_n(&trial.period, __ATOMIC_ACQUIRE));
        }
    }
    ++tried.calls;
    tried.started = own; /* of the other clock where that has just changed: not booked */
    tried.bytes = bytes;
    tried.last = place;
}

/* --- Choosing --- */

/* Whether the place's interval ran on without a call of its own in a period together. */
static int is_whole(const struct trial_place *place)
{
    return place->started && place->is_long == tried.is_long &&
           ((place->gap == 1 && tried.gap == 1) || place->pair == tried.period / 2);
}

/* The way of a place that changes by itself. */
static any_function *own_way(struct trial_place *place, size_t bytes, uint64_t own)
{
    const int has_block = place->turn < place->racing;
    if (has_block && is_whole(place)) {
        struct trial_block *block = &place->own;
        const uint64_t ticks = ticks_from(place->started, own);
        if (!place->is_first && block->kept < TRIAL_KEPT) {
            keep_ticks(block, block->kept, ticks, place->bytes / place->gap, place);
            ++block->kept;
            ++block->calls;
        }
        place->is_first = 0;
    } else {
        place->is_first = 1;
    }
    if (!has_block || !place->left) {
        if (has_block) keep_own_block(place);
        if (!has_block || ++place->turn == place->racing)
            begin_cycle(tried.table, place, &tried.random);
        begin_block(&place->own, place, place->cycles, place->order[place->turn], place->gap);
        place->left = (uint8_t)(LEAST_CALLS + draw_below(&tried.random, MORE_CALLS));
        place->is_first = 1;
    }
    --place->left;
    place->gap_left = (int32_t)place->gap;
    place->calls += place->gap;
    place->own_calls += place->gap;
    place->started = own;
    place->is_long = (uint8_t)tried.is_long;
    place->pair = tried.period / 2;
    place->bytes = bytes;
    return trial.way[place->function][place->own.way];
}

static any_function *way_of(struct trial_place *place, int function, size_t bytes)
{
    const uint64_t now = ticks_now();
    const uint32_t was_long = tried.is_long;
    const uint64_t own = own_clock(now);
    book_thread(place, bytes, now, own);
    if (is_easy(tried.period)) {
        easy_calls = trial.easy[function] ? (int32_t)tried.gap * EASY : 0;
        place->calls += (uint64_t)easy_calls + 1;
        place->started = 0;
        any_function *best = trial.way[function][best_way()];
        return best ? best : libcs(function);
    }
    const int large = place > &tried.table->place[TRIAL_SMALL];
    if (large && !is_together(tried.period)) {
        tried.recent = place;
        return own_way(place, bytes, was_long == tried.is_long ? own : own_clock(now));
    }
    tried.left = (int32_t)tried.gap;
    place->calls += tried.gap;
    place->started = 0;
    if (!is_together(tried.period)) {
        place->own_calls += tried.gap;
        return libcs(function);
    }
    return copy_together(tried.period, function);
}

/* The way that the place of a large call has already, where its interval has not come to an end;
 * null: it has. */
static any_function *way_in_between(struct trial_place *place, size_t bytes)
{
    if (--place->gap_left <= 0) return NULL;
    place->bytes += bytes;
    return trial.way[place->function][place->own.way];
}

static int claim(void)
{
    tried.table = claim_table();
    if (!tried.table) {
        tried.is_idle = 1;
        return 0;
    }
    tried.last = NULL;
    tried.random = mixed(trial.seed + thread.id);
    tried.period = __atomic_load_n(&trial.period, __ATOMIC_ACQUIRE);
    tried.calls = tried.at = tried.touched_places = 0;
    tried.gap = 1;
    tried.is_long = 0;
    tried.ticks = tried.timed = 0;
    return 1;
}

/* Whether a signal handler interrupted the booking and copies now; see recorder.c. */
static int is_nested(const char *frame)
{
    return tried.busy && !(frame >= tried.busy && frame - tried.busy < SAME_STACK);
}

__attribute__((noinline)) static any_function *choose(const char *caller, int function,
                                                      size_t bytes)
{
    const char *frame = __builtin_frame_address(0);
    any_function *way = libcs(function);
    if (!trial.has_counter || is_nested(frame)) return way;
    tried.busy = frame;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const int error = errno;
    const int is_strange = *process.mark == 0; /* the child of a fork that told nobody */
    if (is_strange && !process.limit) begin_anew();
    if (!(is_strange && process.limit) && !tried.is_idle && (tried.table || claim())) {
        struct trial_place *place = bytes < TRIAL_LEAST
                                        ? &tried.table->place[TRIAL_SMALL]
                                        : find_place(tried.table, caller, function, bytes);
        way = place->started && !trial.together[function] ? way_in_between(place, bytes) : NULL;
        if (!way) way = way_of(place, function, bytes);
    }
    errno = error;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    tried.busy = NULL;
    return way;
}

/* What needs no look at the clock; null: this call is to be timed. */
static inline any_function *quick_way(const char *caller, int function, size_t bytes)
{
    any_function *together = __atomic_load_n(&trial.together[function], __ATOMIC_RELAXED);
    if (together) return --tried.left > 0 ? together : NULL;
    if (bytes < TRIAL_LEAST) return --tried.left > 0 ? libcs(function) : NULL;
    struct trial_place *place = tried.recent;
    if (place && place->caller == (uintptr_t)caller && place->function == function &&
        bytes >> place->power == 1 && place->started && place->gap_left > 1)
        return way_in_between(place, bytes);
    return NULL;
}

void *try_call(void *destination, const void *source, size_t bytes, int function)
{
    const char *caller = __builtin_return_address(0);
    any_function *way = quick_way(caller, function, bytes);
    if (!way) way = choose(caller, function, bytes);
    if (function != RAW_MEMSET && __builtin_expect(do_overlap(destination, source, bytes), 0)) {
        /* memcpy, too, is memmove for programs that get away with it */
        void *moved = ((copy_function *)next_function[RAW_MEMMOVE])(destination, source, bytes);
        return (char *)moved + (function == RAW_MEMPCPY ? bytes : 0);
    }
    return go(way, destination, source, bytes, function);
}

void forget_trial(void)
{
    const char *busy = tried.busy;
    tried = (struct tried){.busy = busy};
    easy_calls = 0;
}
