/* What a trial has of each thread, and the periods that all of them share. */
#ifndef ASTEROPE_TRIAL_THREAD_H
#define ASTEROPE_TRIAL_THREAD_H

#include "trial.h"

#pragma GCC visibility push(hidden)

enum { TRIAL_TOUCHED = 64 };

/* Of each thread. */
struct tried {
    struct trial_thread *table;
    struct trial_place *recent; /* of the last large call in its own way */
    struct trial_place *last;   /* of the group that is being timed; null: none is */
    struct trial_place *single; /* of the call that is being timed by itself; null: none is */
    const char *busy;           /* frame of the call that is being booked; null: none */
    uint64_t started;           /* ticks of the group's first call */
    uint64_t single_started;
    uint64_t period;  /* that it was in */
    uint64_t eased;   /* ticks of the last call in it that was looked at, as easy ones are not; 0: none */
    uint64_t entered; /* ticks of its start, for this thread, */
    uint64_t moved;   /* and bytes that were copied since then */
    uint64_t counted; /* CPU time of the thread where the part that counts began; 0: it has not */
    uint64_t within;  /* ticks of the intervals in that part that are within their places' limits, */
    uint64_t limits, beyond;     /* these limits' sum, and that of the other intervals' limits */
    uint32_t intervals, longest; /* how many there are, and how many beyond their limits */
    uint64_t random;
    /* What large copies took, the same squared, and the time that passed, all in 256 ticks; what is
     * long ago counts less. */
    uint64_t large_ticks, large_squares, passed;
    uint64_t looked; /* ticks of the last call that was timed; 0: none was */
    uint64_t ticks; /* of the calls that were timed in the last pair of periods together, */
    uint64_t timed; /* which are so many */
    uint64_t grouped_ticks, grouped;        /* of them, those that were timed in groups */
    uint64_t first_ticks, first_timed;      /* those of the first of the pair */
    uint32_t gap;                           /* of this pair */
    int32_t left;                           /* calls until the next one is timed */
    int32_t rest;                           /* of the group that the single call came into */
    uint32_t calls;                         /* timed in this period */
    uint32_t is_settled, is_single_settled; /* the group began in the part that counts */
    uint32_t at;                            /* where its next block together goes */
    uint32_t is_long;                       /* 1: its intervals are of CPU time */
    uint32_t is_idle;                       /* it could have no table */
    uint32_t touched_places;
    uint16_t touched[TRIAL_TOUCHED]; /* places with a block together */
};
extern __thread struct tried tried;

enum { LARGE = 1 << 20 /* bytes: such copies are as long as periods may be */ };

static inline any_function *libcs(int function) { return trial.way[function][TRIAL_LIBC]; }

/* --- trial_periods.c --- */

/* Whether no call of the period is tried. */
int is_easy(uint64_t period);
/* Whether all places go the same way in it. */
int is_together(uint64_t period);
/* What they take then: libc's where the routine has no such function. */
any_function *copy_together(uint64_t period, int function);
/* What has won more pairs of periods than it lost. */
uint32_t best_way(void);
/* Where intervals are so long that other programs have turns in most of them, they are of the
 * thread's own CPU time: a system call is nothing beside them then. `now`: by the time stamp. */
uint64_t own_clock(uint64_t now);
/* Of what own_clock() said when the interval began, and when it ended. */
uint64_t ticks_from(uint64_t started, uint64_t own);
static inline uint32_t kept_ticks(uint64_t ticks)
{
    return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}
/* A large copy took so long itself. */
void note_large(uint64_t ticks);
void begin_block(struct trial_block *block, const struct trial_place *place, uint64_t group,
                 uint32_t way, uint32_t gap);
/* Books the time since the thread's last call that was timed, and finds out what period it is.
 * `own`: the call's start. Returns whether that is still to come, as this call is just another one
 * of the group. */
int book_thread(struct trial_place *place, int is_single, uint64_t now, uint64_t *own);

#pragma GCC visibility pop

#endif
