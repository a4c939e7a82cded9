/* The trial's parts: its data, those of each thread, and the functions that the recorder calls. */
#ifndef ASTEROPE_TRIAL_H
#define ASTEROPE_TRIAL_H

#include "recorder.h"
#include "trial_file.h"

#pragma GCC visibility push(hidden)

struct trial {
    uint32_t is_on;       /* 0: every copy is libc's */
    uint32_t has_counter; /* 0: the time stamp is forbidden */
    uint32_t ways[RAW_FUNCTIONS];
    uint8_t numbers[RAW_FUNCTIONS][TRIAL_WAYS];   /* of the ways that a function has */
    any_function *way[RAW_FUNCTIONS][TRIAL_WAYS]; /* by their numbers */
    uint64_t least[TRIAL_WAYS]; /* places try the way by themselves from so many bytes on */
    any_function *together[RAW_FUNCTIONS]; /* all calls take it now; null: they differ */
    /* In operation, most calls take these at once, and are not looked at; null: all calls are
     * looked at. They copy overlapping buffers right, except for mempcpy's. */
    any_function *easy[RAW_FUNCTIONS], *easy_ways[RAW_FUNCTIONS][TRIAL_WAYS];
    uint32_t map; /* the way of a library with a map: all places take it, or no place; 0: none */
    uint32_t explore;            /* one pair of periods in so many is a trial; 0: all are */
    int32_t score;               /* pairs together that libc's way won, less those that it lost */
    uint64_t period, period_end; /* its number, and the ticks of its end; all threads share both */
    uint64_t settled;            /* the ticks from which on the period counts */
    uint64_t settling; /* ticks after a place's own change that do not count: half a turnover */
    uint64_t seed, started, started_ns;
    uint64_t turnover; /* bytes of one way until nothing of the last way is left in the caches */
    uint64_t shortest; /* ticks of an interval of which its booking takes some 1 % */
    uint32_t failed;
    /* These are for programs whose processes are short: */
    uint32_t only_way;    /* 1 + the way that all of the process's calls take; 0: they differ */
    uint32_t by_place;    /* 1: places change their ways by themselves in all of its periods */
    uint64_t hurried_ns;  /* from `started_ns` to its last period too short for the caches */
    uint64_t kind;        /* 0: not known */
    uint32_t is_begun;    /* 1: the process's file has the trial's header */
    uint32_t has_figures; /* 1: its file has figures, or tells why not, and stays in operation */
};
extern struct trial trial;
/* The calls of this thread that may still be easy before one is looked at; below 0: not any. */
extern __thread int64_t easy_calls;

enum { TRIAL_TOUCHED = 64 };

/* The data of one thread. A call is timed if the time stamp was read for it. */
struct tried {
    struct trial_thread *table;
    struct trial_place *recent; /* of the last call of TRIAL_LEAST and more, in any period */
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
    uint64_t counted;        /* CPU time of the thread at its beginning; 0: it has not begun */
    uint64_t within;         /* ticks of the intervals that are within their places' limits */
    uint64_t limits, beyond; /* sums of limits: of the intervals within them, and of the others */
    uint32_t intervals, longest; /* all intervals, and those beyond their limits */
    uint64_t random;
    /* The ticks of large copies, their squares, and the ticks that passed, all in units of 256
     * ticks. Old ones count less. */
    uint64_t large_ticks, large_squares, passed;
    uint64_t looked; /* ticks of the last call that was timed; 0: not one yet */
    /* The calls in the intervals that were booked in this pair together, and their ticks: */
    uint64_t ticks, booked;
    uint64_t grouped_ticks, grouped;        /* only those that were timed in groups */
    uint64_t first_ticks, first_booked;     /* only those of the pair's first period */
    uint32_t gap;                           /* calls in a group, in this pair */
    int32_t left;                           /* calls until the next one is timed */
    int32_t rest;                           /* calls left of a group that a single call came into */
    uint32_t calls;                         /* calls that were timed in this period */
    uint32_t is_settled, is_single_settled; /* the group began in the part that counts */
    uint32_t at;                            /* the slot for its next block together */
    uint32_t uses_cpu_clock;                /* 1: its intervals are of CPU time */
    uint32_t is_idle;                       /* 1: it did not get a table */
    uint32_t touched_places;
    uint16_t touched[TRIAL_TOUCHED]; /* places with a block together */
};
extern __thread struct tried tried;

enum { LARGE = 1 << 20 /* bytes: such copies may last as long as a period */ };

static inline any_function *libcs(int function) { return trial.way[function][TRIAL_LIBC]; }

static inline struct trial_file *trial_file(void)
{
    return (struct trial_file *)(process.file + 1);
}

/* --- trial_ways.c --- */

/* Reads the environment. Returns whether it asks for a trial. */
int start_trial(void);
/* Ends the trial: the program has forbidden itself the counter, or all but a few system calls. */
void forbid_counter(void);

/* --- trial_kinds.c: processes that are too short for periods --- */

/* Finds the kind of this process, from the program's path. */
void find_kind(void);
/* If processes of this kind are known to be short, draws how this one takes part. */
void begin_process(int is_fork);
/* Notes the end of a process that has a file of its own. Call it before the process ends. */
void end_process(void);

/* --- trial.c --- */

/* Copies by the way whose turn it is. The caller jumps here and does not call: so the return
 * address is that of the copy's caller. */
void *try_call(void *destination, const void *source, size_t bytes, int function);
/* Begins the trial anew in the child of a fork. */
void forget_trial(void);

/* --- trial_sites.c --- */

/* Carries a copy out by a call, from a return address of this place. */
void *carry_out_from(size_t place, any_function *way, void *destination, const void *source,
                     size_t bytes, int function);

/* --- trial_periods.c: the periods that all threads share --- */

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
void begin_block(struct trial_block *block, const struct trial_place *place, uint64_t number,
                 uint32_t way, uint32_t gap);
/* Books the time since the thread's last call that was timed, and enters the period that runs.
 * `own`: the call's start. Returns 1, and books nothing, if this call is just another one of its
 * group. */
int book_thread(struct trial_place *place, int is_single, uint64_t now, uint64_t *own);

/* --- trial_log.c: a signal handler that interrupts it does not enter it --- */

/* Makes the trial's part of the file, if it is missing. Returns 0 if room is short. */
int begin_trial_file(void);
/* Notes in that part that the counter may not be read. */
void tell_of_no_counter(void);
/* This thread's table; null: the thread is not tried. */
struct trial_thread *claim_table(void);
/* This thread's place for such a call. The first such call makes the place. */
struct trial_place *find_place(const char *caller, int function, size_t bytes);
/* The number of calls to time as one, if a call takes so many ticks. */
uint32_t gap_for(uint64_t ticks);
/* Draws the order of the ways in the place's next cycle, and the room where it is kept. */
void begin_cycle(struct trial_place *place);
void keep_own_block(struct trial_place *place);
void keep_together_block(const struct trial_block *block);

#pragma GCC visibility pop

#endif
