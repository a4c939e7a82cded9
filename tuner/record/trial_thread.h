/* The data that a trial has of each thread, and the periods that all threads share. */
#ifndef ASTEROPE_TRIAL_THREAD_H
#define ASTEROPE_TRIAL_THREAD_H

#include "trial.h"

#pragma GCC visibility push(hidden)

enum { TRIAL_TOUCHED = 64 };

/* The data of one thread. "Timed": the time stamp was read for the call. */
struct tried {
    struct trial_thread *table;
    struct trial_place *recent; /* the place of the last large call, also in periods together */
    struct trial_place *last;   /* the place of the group that is being timed; null: not any */
    struct trial_place *single; /* that of the call being timed by itself; null: not any */
    const char *busy;           /* frame of the call that is being booked; null: not any */
    uint64_t started;           /* ticks of the group's first call */
    uint64_t single_started;
    uint64_t period;  /* the one that the thread has entered last */
    uint64_t eased;   /* ticks of the last call in it that was not easy; 0: not one yet */
    uint64_t entered; /* ticks of its start, for this thread */
    uint64_t moved;   /* bytes that were copied since then */
    /* In each period together, a part counts. These are figures of that part. */
    uint64_t counted; /* CPU time of the thread at its beginning; 0: it has not begun */
    uint64_t within;  /* ticks of the intervals that are within their places' limits */
    uint64_t limits, beyond; /* sums of limits: of the intervals within them, and of the others */
    uint32_t intervals, longest; /* all intervals, and those beyond their limits */
    uint64_t random;
    /* The ticks of large copies, their squares, and the ticks that passed, all in units of 256
     * ticks. Old ones count less. */
    uint64_t large_ticks, large_squares, passed;
    uint64_t looked; /* ticks of the last call that was timed; 0: not one yet */
    /* Calls that were timed in the last pair of periods together, with their ticks: */
    uint64_t ticks, timed;
    uint64_t grouped_ticks, grouped;        /* only those that were timed in groups */
    uint64_t first_ticks, first_timed;      /* only those of the pair's first period */
    uint32_t gap;                           /* calls in a group, in this pair */
    int32_t left;                           /* calls until the next one is timed */
    int32_t rest;                           /* calls left of a group that a single call came into */
    uint32_t calls;                         /* calls that were timed in this period */
    uint32_t is_settled, is_single_settled; /* the group began in the part that counts */
    uint32_t at;                            /* the slot for its next block together */
    uint32_t is_long;                       /* 1: its intervals are of CPU time */
    uint32_t is_idle;                       /* 1: it did not get a table */
    uint32_t touched_places;
    uint16_t touched[TRIAL_TOUCHED]; /* places with a block together */
};
extern __thread struct tried tried;

enum { LARGE = 1 << 20 /* bytes: such copies may last as long as a period */ };

static inline any_function *libcs(int function) { return trial.way[function][TRIAL_LIBC]; }

/* --- trial_periods.c --- */

/* Whether the period is one of operation: its calls are not tried. */
int is_easy(uint64_t period);
/* Whether all places go the same way in it. */
int is_together(uint64_t period);
/* The copy that all places take then. It is libc's if the way has no such function. */
any_function *copy_together(uint64_t period, int function);
/* Libc if it has plainly won more pairs of periods than it lost, else the map or the routine. */
uint32_t best_way(void);
/* The clock of this thread's intervals. `now` is the time stamp. Long intervals are of the thread's
 * own CPU time, as other programs have turns in most of them. A system call costs little beside
 * them. */
uint64_t own_clock(uint64_t now);
/* The ticks of an interval. The arguments are own_clock() at its beginning and at its end. */
uint64_t ticks_from(uint64_t started, uint64_t own);
static inline uint32_t kept_ticks(uint64_t ticks)
{
    return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}
/* Notes the ticks that one large copy took. */
void note_large(uint64_t ticks);
void begin_block(struct trial_block *block, const struct trial_place *place, uint64_t group,
                 uint32_t way, uint32_t gap);
/* Books the time since the thread's last call that was timed, and enters the period that runs.
 * `own`: the call's start. Returns 1, and books nothing, if this call is just another one of its
 * group. */
int book_thread(struct trial_place *place, int is_single, uint64_t now, uint64_t *own);

#pragma GCC visibility pop

#endif
