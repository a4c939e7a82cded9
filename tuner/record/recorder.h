/* What the recorder's parts share. All of it is hidden: a program sees the functions of libc that
 * are interposed.
 *
 * Everything behind the fast path may run in a signal handler, on a small alternate stack, in a
 * process that is short of anything: no malloc, no stdio, no lock that is waited for without end,
 * little stack, system calls that are no cancellation points, errno as it was. */
#ifndef ASTEROPE_RECORDER_H
#define ASTEROPE_RECORDER_H

#include "instructions.h"
#include "raw_file.h"

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef void any_function(void);
typedef void *copy_function(void *destination, const void *source, size_t bytes);
typedef void *set_function(void *destination, int value, size_t bytes);

struct call {
    void *destination;
    const void *source;
    size_t bytes;
    const char *caller; /* return address */
    int function;       /* RAW_MEMCPY and so on */
};

/* The functions that are interposed: the next library's. Null before the constructor has run. */
extern any_function *next_function[RAW_FUNCTIONS];
/* The same while this process records, else null: all that the fast path asks. */
extern any_function *recorded_function[RAW_FUNCTIONS];

/* Of each thread. Zero at its start but for `counted`, which is then `uncounted`. */
struct thread {
    struct raw_cells *counted; /* where the fast path counts */
    struct raw_slot *slot;     /* null: none yet */
    const char *busy;          /* the frame of the slow path that runs; null: none does */
    uint64_t random;
    uint32_t slot_number;
    uint32_t id;
    const char *signal_stack; /* its lowest byte; null: none that is known */
    size_t signal_stack_bytes;
};
extern __thread struct thread thread;

/* Whether there is enough of the stack for the slow path. Handlers of signals may run on one of
 * their own that has room for little more than what the kernel puts there. */
static inline int has_stack(void)
{
    enum { SLOW_PATH = 4096 };
    const size_t left = (size_t)(stack_pointer() - thread.signal_stack);
    return left >= SLOW_PATH || left >= thread.signal_stack_bytes;
}

/* Cells without a call left: each call that counts here takes the slow path. */
extern struct raw_cells uncounted;

enum {
    IS_GUEST = 1, /* the file is the parent's for good, as no other can be made */
    IS_QUIET = 2, /* the program restricts its system calls: those of ours might end it */
};

struct process {
    struct raw_file *file; /* null: none yet, or none any more */
    uint64_t period;
    uint64_t seed;
    size_t page_bytes;             /* of the kernel: 4 KiB, on AArch64 up to 64 */
    const volatile uint32_t *mark; /* 0 in the child of a fork that told nobody */
    uint32_t slots_room;           /* that the file may have */
    uint32_t is_parents;           /* 1: the file is the parent's; this process has none yet */
    uint32_t has_no_counter;       /* 1: reading the time stamp would end the program */
    uint32_t limit;                /* why calls are only counted; 0: they are not */
    uint32_t changing;             /* the lock of try_to_change() */
};
extern struct process process;

/* The slow path. `counted` is where the fast path has counted the call. Jumped to, not called: its
 * return address is the caller's of the copy. */
void *record_call(void *destination, const void *source, size_t bytes, int function,
                  struct raw_cells *counted);

/* --- file.c --- */

/* Returns 0 where that is no folder's absolute path. */
int record_into(const char *folder);
/* Makes and maps the process's file, in the place of its parent's. Returns whether that could be
 * done; one that could not get its space stays behind empty. */
int open_file(void);
/* Of this process's own. */
void remove_file(void);
/* Under one of a thousand names, where it may take the place of another ended process's. */
void keep_file(void);
/* Reserves `bytes` of the file from `offset` on; 0, and RAW_FULL, where there is no space. */
int reserve(size_t offset, size_t bytes);
void note_clocks(uint64_t monotonic_ns);

/* --- recording.c: the slots of a process's threads, its start, its children, its end --- */

/* From the environment; leaves recorded_function null where nothing is to be recorded. */
void start_recording(void);
/* Ends it for this process: calls go straight on from now on. */
void stop_recording(void);
/* Gives this thread a slot, and the process a file where it has none. Returns 0, and has ended the
 * recording, where that cannot be. */
int claim_slot(void);
/* The child of a fork begins anew, with its first copy. Where it may make no system calls or no
 * file, as it has changed its root, say, it goes on in its parent's. */
void begin_anew(void);
/* What a system call takes from the program where it succeeds: other system calls, the time stamp.
 */
enum { TAKES_CALLS = 1, TAKES_COUNTER = 2 };

struct restriction {
    int taken;
    int has_slot, has_trial_file;
    uint32_t limit_before, had_no_counter, was_on;
};
/* Before such a call: does what needs system calls, and makes none and reads no time stamp until
 * end_restriction(), which makes no system call. */
void expect_restriction(int taken, struct restriction *restriction);
/* Goes on as before where the call has not succeeded; else only counts from now on. */
void end_restriction(const struct restriction *restriction, int has_succeeded);
/* Notes what this process took, before it ends. */
void note_end(void);
uint64_t clock_ns(int clock);
/* Of a variable's text; where it is none, `otherwise`. */
uint64_t number_in(const char *text, uint64_t otherwise);
/* 1: this thread alone changes what the process shares, and no signal interrupts it, until
 * changed(). 0: another one does. */
int try_to_change(uint64_t *signals);
void changed(uint64_t signals);

/* --- others.c --- */

/* As in raw_header. */
struct others {
    uint32_t sanitizer;
    char program[RAW_NAME], first[RAW_NAME], next[RAW_NAME], routine[RAW_NAME];
};
extern struct others others;
void find_others(void);

/* --- modules.c --- */

/* Sees to it that the table has the module of a caller, at most 100 times a process. */
void know_module(const char *caller, uint64_t now_ns);
void forget_modules(void);

/* One of the functions; memset's value travels as the source. */
static inline void *carry_out(any_function *function_to_call, void *destination,
                              const void *source, size_t bytes, int function)
{
    if (function == RAW_MEMSET)
        return ((set_function *)function_to_call)(destination, (int)(intptr_t)source, bytes);
    return ((copy_function *)function_to_call)(destination, source, bytes);
}

/* Whether a signal handler interrupted what is `busy` (its frame; null: nothing is) and copies now.
 * One that left it by longjmp for good has a later call at the same place of the stack, or above. */
static inline int is_nested(const char *busy, const char *frame)
{
    enum { SAME_STACK = 1 << 20 /* bytes */ };
    return busy && !(frame >= busy && frame - busy < SAME_STACK);
}

/* With its end. */
static inline void put_text(char *at, const char *text)
{
    do *at++ = *text;
    while (*text++);
}

static inline void set_flag(uint32_t flag)
{
    __atomic_fetch_or(&process.file->header.flags, flag, __ATOMIC_RELAXED);
}

#pragma GCC visibility pop

#endif
