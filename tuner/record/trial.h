/* The trial's parts, and the functions that the recorder calls. */
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
    /* The way of a library with a map: all places take it together, or no place does; 0: there is
     * no such way. */
    uint32_t whole;
    uint32_t explore; /* one pair of periods in so many is a trial; 0: all are */
    int32_t score;    /* pairs together that libc's way won, less those that it lost */
    uint64_t period, period_end; /* its number, and the ticks of its end; all threads share both */
    uint64_t settled;            /* the ticks from which on the period counts */
    uint64_t settling; /* ticks after a change until the caches are in the new way's state */
    uint64_t seed, started, started_ns;
    uint64_t turnover; /* bytes that one way must copy until nothing of the last way is left in
                        * the caches */
    uint64_t shortest; /* ticks of an interval of which reading the time stamp takes 1 % */
    uint32_t failed;
    /* These are for programs whose processes are short: */
    uint32_t alone;    /* 1 + the way that all of the process's calls take; 0: they differ */
    uint32_t by_place; /* 1: places change their ways by themselves in all of its periods */
    uint64_t hurried_ns; /* from `started_ns` to its last period that was too short for the caches */
    uint64_t kind;     /* 0: not known */
    uint32_t is_begun; /* 1: the process's file has the trial's header */
    uint32_t has_figures; /* 1: this process has written figures of a place or of periods */
};
extern struct trial trial;
/* The calls of this thread that may still be easy before one is looked at; below 0: not any. */
extern __thread int64_t easy_calls;

static inline struct trial_file *trial_file(void)
{
    return (struct trial_file *)(process.file + 1);
}

/* --- trial_ways.c --- */

/* Reads the environment. Returns whether this process takes part in a trial. */
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

/* --- trial_log.c: a signal handler that interrupts it does not enter it --- */

/* Makes the trial's part of the file, if it is missing. Returns 0 if room is short. */
int begin_trial_file(void);
/* Notes in that part that the counter may not be read. */
void tell_of_no_counter(void);
/* This thread's table; null: the thread is not tried. */
struct trial_thread *claim_table(void);
/* The table's place for such a call. The first such call makes the place. */
struct trial_place *find_place(struct trial_thread *table, const char *caller, int function,
                               size_t bytes);
/* The number of calls to time as one, if a call takes so many ticks. */
uint32_t gap_for(uint64_t ticks);
/* Draws the order of the ways in the place's next cycle, and the room where it is kept. */
void begin_cycle(struct trial_thread *table, struct trial_place *place, uint64_t *random);
void keep_own_block(struct trial_place *place);
/* `at`: the slot for the thread's next block of a period together. */
void keep_together_block(struct trial_thread *table, const struct trial_block *block, uint32_t *at);

#pragma GCC visibility pop

#endif
