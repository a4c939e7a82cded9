/* The trial's parts, and what the recorder calls of them. */
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
    uint64_t least[TRIAL_WAYS]; /* bytes from where on places by themselves try it */
    any_function *together[RAW_FUNCTIONS];        /* what all calls take now; null: not one way */
    /* In operation, what calls take that are not even looked at; null: there is none. Overlap of
     * copies is no harm to it, but for mempcpy's. */
    any_function *easy[RAW_FUNCTIONS], *easy_ways[RAW_FUNCTIONS][TRIAL_WAYS];
    uint32_t whole;   /* the way that all places take together, or none: a library with a map; 0: none */
    uint32_t explore; /* of so many pairs of periods one is tried in; 0: all are */
    int32_t score;    /* of libc's, pairs together that it lost more than it won */
    uint64_t period, settled, period_end;         /* all threads are in the same one */
    uint64_t settling; /* ticks after a change until the caches hold what the new way leaves there */
    uint64_t seed, started, started_ns;
    uint64_t turnover_ns; /* that fast copies take to fill the caches some times over */
    uint64_t shortest; /* ticks of an interval: reading the time stamp is 1 % of it */
    uint32_t failed;
    /* Of a process of a program whose processes are short: */
    uint32_t alone;    /* 1 + the way that all of its calls take; 0: not one */
    uint32_t by_place; /* 1: places change their ways by themselves in all of its periods */
    uint64_t kind;     /* 0: not known */
    uint32_t is_begun; /* 1: the process's file has the trial's header */
    uint32_t has_figures; /* 1: of this process, of a place or of periods */
};
extern struct trial trial;
/* Calls of this thread that may be easy, until one is looked at; below 0: none. */
extern __thread int64_t easy_calls;

static inline struct trial_file *trial_file(void)
{
    return (struct trial_file *)(process.file + 1);
}

/* --- trial_ways.c --- */

/* From the environment. Returns whether this process is to be tried. */
int start_trial(void);
/* The program forbids itself the counter, or all but a few system calls. */
void forbid_counter(void);

/* --- trial_kinds.c: processes that are too short for periods --- */

/* From the environment. */
void find_kind(void);
/* Whether this process is one of a kind that is short, and how it goes then. */
void begin_process(int is_fork);
/* Before the process ends. */
void end_process(void);

/* --- trial.c --- */

/* The call's copy, by the way that is its turn. Jumped to, not called: its return address is the
 * caller's of the copy. */
void *try_call(void *destination, const void *source, size_t bytes, int function);
/* In the child of a fork. */
void forget_trial(void);

/* --- trial_log.c: none of it waits, and no signal interrupts it half done --- */

/* Makes the trial's part of the file where there is none yet. Returns 0 where there is no room. */
int begin_trial_file(void);
/* In that part. */
void tell_of_no_counter(void);
/* This thread's table; null: it has none, and is not tried. */
struct trial_thread *claim_table(void);
/* The table's place for such a call, the first time anew. */
struct trial_place *find_place(struct trial_thread *table, const char *caller, int function,
                               size_t bytes);
/* How many calls to time as one where one takes so long. */
uint32_t gap_for(uint64_t ticks);
/* Draws the order of the place's next cycle, and where it is kept. */
void begin_cycle(struct trial_thread *table, struct trial_place *place, uint64_t *random);
void keep_own_block(struct trial_place *place);
/* `at`: where the thread's next block together goes. */
void keep_together_block(struct trial_thread *table, const struct trial_block *block, uint32_t *at);

#pragma GCC visibility pop

#endif
