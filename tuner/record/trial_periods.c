/* The trial's periods, and the booking of those in which all places go the same way: see
 * trial.c. */
#include "trial.h"

#include "draw.h"

#include <time.h>

enum {
    PERIOD_CALLS = 7,   /* a thread times so many, before it may end a period that is tried */
    CUT_AT = 64,        /* shortest intervals: longer intervals count as so long */
    TURN = 10,          /* shortest intervals: longer ones are measured in CPU time */
    FEWER_ALONE = 16,   /* where no interval is compared, so many times fewer calls are timed */
    UNSETTLED = 4,      /* of so many parts of a period, the first one does not count */
    UNSETTLED_LONG = 2, /* the same, if a period lasts so many cache turnovers */
    TURNING_AT = 2,     /* bytes a nanosecond: slower copies leave little behind in the caches */
    FIRST_PERIODS = 16, /* even a short program has so many */
    LARGE_COPIES = 8,   /* a period lasts at least so many large copies, if these take much time */
    LARGE_PART = 10,    /* much time: one part in so many */
    FIRST_OF_LARGE = 8, /* for such copies, at most one part in so many of the time so far */
    LOOKED_BITS = 8,    /* their ticks are kept in units of 2^8 */
    LOST = 4,           /* libc's way is better if it won so many pairs more than it lost */
    MOST_LOST = 32,     /* the score's bound, so that a change is noticed soon */
    LONGEST = 1 << 29,  /* 16ths of a tick */
    LONGER = 8,         /* a longer interval raises its place's limit by one part in so many */
    /* In a period, so many intervals may be beyond their limits, and one of MOST_BEYOND_OF: */
    MOST_BEYOND = 2,
    MOST_BEYOND_OF = 8,
};

static const uint64_t shortest_period_ns = 1000000;
static const uint64_t shortest_interval_ns = 10000;
/* A period lasts at least one part in so many of the time so far. So the number of periods grows
 * with the logarithm of time. */
static const uint64_t periods_room = 4096;

__thread struct tried tried;

/* --- Periods --- */

int is_easy(uint64_t period)
{
    return trial.explore && mixed(~trial.seed + period / 2) % trial.explore;
}

/* Whether this process is of a kind that is too short for periods: see trial_kinds.c. */
static int is_short(void) { return trial.only_way || trial.by_place; }

/* One pair of two in a row is together, so that each phase of the program has its share. If a
 * map is judged, most of the other pairs are, too: a map only acts in these. */
int is_together(uint64_t period)
{
    if (is_short()) return trial.only_way != 0;
    const uint64_t pair = period / 2, drawn = mixed(trial.seed + pair);
    const uint64_t is_one = (mixed(trial.seed + pair / 2) >> 8 ^ pair) & 1;
    return !is_easy(period) && (is_one || (trial.map && !trial.explore && drawn >> 62));
}

/* The way of all places in a period together. */
static uint32_t way_together(uint64_t period)
{
    const uint64_t drawn = mixed(trial.seed + period / 2);
    if (trial.only_way) return trial.only_way - 1;
    if (!((period & 1) ^ (drawn >> 1 & 1))) return TRIAL_LIBC;
    return trial.map && drawn >> 2 & 1 ? trial.map : TRIAL_ROUTINE;
}

uint32_t best_way(void)
{
    if (__atomic_load_n(&trial.score, __ATOMIC_RELAXED) >= LOST) return TRIAL_LIBC;
    return trial.map ? trial.map : TRIAL_ROUTINE;
}

/* When a pair together ends, counts whether libc took less time for a call. */
static void keep_score(void)
{
    const uint64_t timed = tried.booked - tried.first_booked;
    if (!trial.explore || !timed || !tried.first_booked) return;
    const uint64_t ticks = tried.ticks - tried.first_ticks;
    const int first_won = (unsigned __int128)tried.first_ticks * timed <
                          (unsigned __int128)ticks * tried.first_booked;
    const int libc_won = (way_together(tried.period & ~(uint64_t)1) == TRIAL_LIBC) == first_won;
    const int32_t score = __atomic_load_n(&trial.score, __ATOMIC_RELAXED);
    if (libc_won ? score < MOST_LOST : score > -MOST_LOST)
        __atomic_fetch_add(&trial.score, libc_won ? 1 : -1, __ATOMIC_RELAXED);
}

any_function *copy_together(uint64_t period, int function)
{
    any_function *way = trial.way[function][way_together(period)];
    return way ? way : libcs(function);
}

static uint64_t scaled(uint64_t number, uint64_t by, uint64_t of)
{
    return (uint64_t)((unsigned __int128)number * by / (of ? of : 1));
}

static void count_period(uint64_t period)
{
    struct trial_header *header = &trial_file()->header;
    uint32_t *count = !is_easy(period)           ? &header->periods_tried
                      : best_way() == TRIAL_LIBC ? &header->easy_libcs
                                                 : &header->easy_others;
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

void note_large(uint64_t ticks)
{
    ticks >>= LOOKED_BITS;
    tried.large_ticks += ticks;
    tried.large_squares += ticks * ticks;
}

/* Ticks of LARGE_COPIES large copies, weighted by their time; 0: large copies take little of the
 * thread's time. A period with only one such copy would tell nothing of it. */
static uint64_t large_copies(void)
{
    if (!tried.large_ticks || tried.large_ticks * LARGE_PART < tried.passed) return 0;
    return (tried.large_squares / tried.large_ticks << LOOKED_BITS) * LARGE_COPIES;
}

static void forget_some_of_large(void)
{
    tried.large_ticks -= tried.large_ticks / 8;
    tried.large_squares -= tried.large_squares / 8;
    tried.passed -= tried.passed / 8;
}

/* Begins the next period, unless another thread has just done so. */
static void end_period(uint64_t period, uint64_t now)
{
    if (!__atomic_compare_exchange_n(&trial.period, &period, period + 1, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    const uint64_t ns = clock_ns(CLOCK_MONOTONIC) - trial.started_ns;
    const uint64_t passed = now - trial.started;
    uint64_t length = ns / periods_room;
    const uint64_t so_far = scaled(now - tried.entered, ns, passed);
    uint64_t by_caches = tried.moved > so_far * TURNING_AT
                             ? scaled(so_far, UNSETTLED_LONG * trial.turnover, tried.moved)
                             : 0;
    if (by_caches > ns / FIRST_PERIODS) {
        by_caches = ns / FIRST_PERIODS;
        trial.hurried_ns = ns;
    }
    if (length < by_caches) length = by_caches;
    uint64_t by_large = scaled(large_copies(), ns, passed);
    if (by_large > ns / FIRST_OF_LARGE) by_large = ns / FIRST_OF_LARGE;
    if (length < by_large) length = by_large;
    forget_some_of_large();
    if (length < shortest_period_ns) length = shortest_period_ns;
    length += draw_below(&tried.random, length);
    const uint64_t ticks = scaled(length, passed, ns);
    trial.shortest = scaled(shortest_interval_ns, passed, ns);
    __atomic_store_n(&trial.settling, scaled(by_caches / UNSETTLED, passed, ns), __ATOMIC_RELAXED);
    const uint64_t unsettled = ticks / (by_caches ? UNSETTLED_LONG : UNSETTLED);
    __atomic_store_n(&trial.settled, now + unsettled, __ATOMIC_RELAXED);
    __atomic_store_n(&trial.period_end, now + ticks, __ATOMIC_RELEASE);
    count_period(period + 1);
    for (int function = 0; function < RAW_FUNCTIONS; ++function) {
        any_function *way = is_together(period + 1) ? copy_together(period + 1, function) : NULL;
        any_function *easy = is_easy(period + 1) ? trial.easy_ways[function][best_way()] : NULL;
        __atomic_store_n(&trial.together[function], way, __ATOMIC_RELAXED);
        __atomic_store_n(&trial.easy[function], easy, __ATOMIC_RELAXED);
    }
    if (!process.limit) note_clocks(ns + trial.started_ns);
}

/* --- Booking --- */

uint64_t own_clock(uint64_t now)
{
    return tried.uses_cpu_clock ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : now;
}

uint64_t ticks_from(uint64_t started, uint64_t own)
{
    const uint64_t passed = own - started;
    if (!tried.uses_cpu_clock) return passed;
    return scaled(passed, trial.shortest, shortest_interval_ns);
}

void begin_block(struct trial_block *block, const struct trial_place *place, uint64_t number,
                 uint32_t way, uint32_t gap)
{
    block->number = (uint32_t)number;
    block->gap = gap;
    block->intervals = 0;
    block->kept = 0;
    block->place = (uint16_t)(place - tried.table->place);
    block->way = (uint8_t)way;
}

/* Ticks of the part of the period that counts. Intervals beyond their limits count with this way's
 * mean part of the limit. 0: they are too many, as when another phase of the program begins. */
static uint64_t usual_ticks(void)
{
    if (tried.longest > MOST_BEYOND + tried.intervals / MOST_BEYOND_OF) return 0;
    return scaled(tried.within, tried.limits + tried.beyond, tried.limits);
}

/* Keeps the time of the period that is over, and its blocks together, for this thread. */
static void end_together(void)
{
    if (tried.counted && tried.touched_places && !process.limit && !is_short()) {
        const uint64_t within = usual_ticks();
        const uint64_t ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - tried.counted;
        const struct trial_block all = {
            .number = (uint32_t)tried.period,
            .gap = 1,
            .intervals = 1,
            .kept = 1,
            .place = TRIAL_ALL,
            .way = (uint8_t)way_together(tried.period),
            .ticks = {(uint32_t)ns, (uint32_t)(ns >> 32), (uint32_t)within,
                      (uint32_t)(within >> 32)},
        };
        keep_together_block(&all);
    }
    tried.counted = tried.within = tried.limits = tried.beyond = 0;
    tried.intervals = tried.longest = 0;
    for (uint32_t i = 0; i < tried.touched_places; ++i) {
        struct trial_block *block = &tried.table->place[tried.touched[i]].together;
        if (block->intervals && !is_short()) keep_together_block(block);
        block->intervals = 0;
    }
    tried.touched_places = 0;
}

/* Books an interval within its place's limit or beyond it. The limit is 1.5 times a length that
 * about 2 % of the place's intervals exceed. Interrupts, and turns of other programs and of
 * other machines, are beyond it. Both periods of a pair have the same limit. */
static void book_within(struct trial_place *place, uint64_t ticks, uint32_t gap)
{
    const uint32_t pair = (uint32_t)(tried.period / 2);
    uint64_t each = ticks * 16 / gap + 1;
    if (each > LONGEST) each = LONGEST;
    if (!place->longest) place->longest = (uint32_t)each * 4;
    if (place->limit_pair != pair || !place->limit) place->limit = place->longest;
    place->limit_pair = pair;
    if (each > place->longest)
        place->longest += place->longest / LONGER + 1;
    else
        place->longest -= place->longest / (49 * LONGER); /* if one of 50 is longer, it stays */
    const uint64_t limit = (uint64_t)place->limit * 3 / 2 * gap / 16;
    ++tried.intervals;
    if (ticks > limit) {
        ++tried.longest;
        tried.beyond += limit;
    } else {
        tried.within += ticks;
        tried.limits += limit;
    }
}

/* Books an interval of `gap` calls, in a period together. The kept intervals are a uniform
 * choice of the place's in that period. */
static void book_together(struct trial_place *place, uint64_t ticks, uint32_t gap)
{
    struct trial_block *block = &place->together;
    if (block->intervals && block->gap != gap) return; /* they are found to be slow */
    if (!block->intervals) {
        if (tried.touched_places == TRIAL_TOUCHED) return;
        tried.touched[tried.touched_places++] = (uint16_t)(place - tried.table->place);
        begin_block(block, place, tried.period, way_together(tried.period), gap);
    }
    const uint32_t before = block->intervals;
    const uint64_t at = before < TRIAL_KEPT ? before : draw_below(&tried.random, before + 1);
    if (at < TRIAL_KEPT) block->ticks[at] = kept_ticks(ticks);
    if (block->kept < TRIAL_KEPT) ++block->kept;
    ++block->intervals;
    book_within(place, ticks, gap);
    /* an interruption says nothing of how fast calls follow each other */
    if (ticks > CUT_AT * trial.shortest) ticks = CUT_AT * trial.shortest;
    tried.ticks += ticks;
    tried.booked += gap;
    if (place == tried.single) return;
    tried.grouped_ticks += ticks;
    tried.grouped += gap;
}

/* Books the single call. The group that it came into goes on as if the call had not been. */
static void end_single(uint64_t own)
{
    if (tried.is_single_settled)
        book_together(tried.single, ticks_from(tried.single_started, own), 1);
    tried.started += own - tried.single_started;
    tried.left = tried.rest;
    tried.single = NULL;
}

static void enter_period(uint64_t period)
{
    end_together();
    if (period / 2 == tried.period / 2) {
        tried.first_ticks = tried.ticks;
        tried.first_booked = tried.booked;
    } else { /* both periods of a pair are timed alike */
        if (tried.booked) {
            keep_score();
            const uint64_t mean = tried.ticks / tried.booked;
            const uint64_t of_gap = mean * tried.gap, long_from = TURN * trial.shortest;
            tried.uses_cpu_clock = of_gap > (tried.uses_cpu_clock ? long_from / 2 : long_from);
            const uint64_t each = tried.grouped ? tried.grouped_ticks / tried.grouped : mean;
            tried.gap = gap_for(trial.only_way ? each / FEWER_ALONE : each);
        }
        if (process.limit || trial.only_way) tried.uses_cpu_clock = 0;
        tried.ticks = tried.booked = tried.first_booked = tried.grouped_ticks = tried.grouped = 0;
    }
    tried.last = tried.single = NULL;
    tried.left = 1;
    tried.moved = tried.eased = 0;
    tried.period = period;
    tried.calls = 0;
}

int book_thread(struct trial_place *place, int is_single, uint64_t now, uint64_t *own)
{
    const uint64_t period = __atomic_load_n(&trial.period, __ATOMIC_ACQUIRE);
    const uint32_t used_cpu_clock = tried.uses_cpu_clock;
    if (tried.looked) tried.passed += (now - tried.looked) >> LOOKED_BITS;
    tried.looked = now;
    if (period != tried.period) {
        enter_period(period);
    } else {
        if (tried.single) end_single(*own);
        if (is_together(period) && !is_single && tried.last) {
            if (--tried.left > 0) return 1;
            if (tried.is_settled)
                book_together(tried.last, ticks_from(tried.started, *own), tried.gap);
        }
        if ((tried.calls >= PERIOD_CALLS || is_easy(period)) &&
            now >= __atomic_load_n(&trial.period_end, __ATOMIC_ACQUIRE)) {
            end_period(period, now);
            enter_period(__atomic_load_n(&trial.period, __ATOMIC_ACQUIRE));
        }
    }
    if (!tried.calls++) tried.entered = now;
    if (used_cpu_clock != tried.uses_cpu_clock) *own = own_clock(now);
    const uint32_t is_settled = now >= __atomic_load_n(&trial.settled, __ATOMIC_RELAXED);
    if (is_settled && !tried.counted && is_together(tried.period) && !process.limit)
        tried.counted = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (is_single && is_together(tried.period)) {
        tried.is_single_settled = is_settled;
        tried.single = place;
        tried.single_started = *own;
        tried.rest = tried.left;
    } else {
        tried.is_settled = is_settled;
        tried.last = place;
        tried.started = *own;
    }
    return 0;
}
