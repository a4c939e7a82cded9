/* The declarations that the recorder's parts share. All of them are hidden: a program only sees the
 * functions of libc that are interposed.
 *
 * All code behind the fast path may run in a signal handler, on a small alternate stack, in a
 * process that is short of memory or files. So it uses no malloc and no stdio, and little stack.
 * It never waits for a lock without end. It makes its system calls directly, as libc's functions
 * may be cancellation points. It leaves errno as it was. */
#ifndef ASTEROPE_RECORDER_H
#define ASTEROPE_RECORDER_H

#include "instructions.h"
#include "raw_file.h"

#include <stddef.h>
#include <stdint.h>

struct rusage;

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
/* The same while this process records, else null: these tell the fast path whether to count. */
extern any_function *recorded_function[RAW_FUNCTIONS];

/* The data of one thread. All of it is zero at its start, except that `counted` is `uncounted`. */
struct thread {
    struct raw_cells *counted; /* where the fast path counts */
    struct raw_slot *slot;     /* null: it has not claimed one yet */
    const char *busy;          /* the frame of the slow path that runs; null: it does not run */
    uint64_t random;
    uint32_t slot_number;
    uint32_t id;
    const char *signal_stack; /* its lowest byte; null: not known */
    size_t signal_stack_bytes;
};
extern __thread struct thread thread;

/* Whether the stack has enough room for the slow path. Handlers of signals may run on a stack of
 * their own, which holds little more than the kernel's own data. */
static inline int has_stack(void)
{
    enum { SLOW_PATH = 4096 };
    const size_t left = (size_t)(stack_pointer() - thread.signal_stack);
    return left >= SLOW_PATH || left >= thread.signal_stack_bytes;
}

/* Cells in which no call is left until the next sample: each call that counts here takes the slow
 * path. */
extern struct raw_cells uncounted;

enum {
    IS_GUEST = 1, /* the file stays the parent's, as this process cannot make one */
    IS_QUIET = 2, /* the program restricts its system calls: the recorder's might end it */
};

struct process {
    struct raw_file *file; /* null: it has not been made yet, or was given up */
    uint64_t period;
    uint64_t seed;
    size_t page_bytes;             /* of the kernel: 4 KiB, on AArch64 up to 64 */
    const volatile uint32_t *mark; /* 0 in the child of a fork that called no handlers */
    uint32_t slots_room;           /* that the file may have */
    uint32_t is_parents;           /* 1: the file is the parent's; this process has none yet */
    uint32_t has_no_counter;       /* 1: to read the time stamp would end the program */
    uint32_t limit;                /* the reason why calls are only counted; 0: some are sampled */
    uint32_t changing;             /* the lock of try_to_change() */
};
extern struct process process;

/* The slow path. The fast path has counted the call in `counted`. It jumps here and does not call:
 * so the return address is that of the copy's caller. */
void *record_call(void *destination, const void *source, size_t bytes, int function,
                  struct raw_cells *counted);

/* --- file.c --- */

enum { LONGEST_FOLDER = 960, LONGEST_PATH = LONGEST_FOLDER + 64 };

/* Returns 0 if the text is not a folder's absolute path. */
int record_into(const char *folder);
/* Copies that path and a slash. Returns where the name of a file in it goes. */
char *put_folder(char *at);
/* Makes and maps the process's file, in the place of its parent's. Returns whether it succeeded. A
 * file that could not get its space stays behind empty. */
int open_file(void);
void remove_file(void);
/* Renames the file to one of a thousand names, or of fewer if it is large. There it may replace
 * another ended process's. */
void keep_file(void);
/* Reserves `bytes` of the file from `offset` on. If space is short, returns 0 and sets RAW_FULL. */
int reserve(size_t offset, size_t bytes);
void note_clocks(uint64_t monotonic_ns);

/* --- recording.c: the slots of a process's threads, its start, its children, its end --- */

/* Reads the environment. Leaves recorded_function null if it asks for no recording. */
void start_recording(void);
/* Ends it for this process: calls go straight on from now on. */
void stop_recording(void);
/* Gives this thread a slot, and the process a file if it lacks one. Without a file it ends the
 * recording; if the lock is not free for 3 s, it only skips this call. It returns 0 then. */
int claim_slot(void);
/* The child of a fork begins anew, with its first copy. If it may not make system calls or a file
 * (it has changed its root, say), it goes on in its parent's file. */
void begin_anew(void);
/* A system call may take from the program: other system calls, the time stamp. */
enum { TAKES_CALLS = 1, TAKES_COUNTER = 2 };

struct restriction {
    int taken;
    int has_slot, has_trial_file;
    uint32_t limit_before, had_no_counter, was_on;
};
/* To be called before such a call. It makes all system calls that are needed later. From then to
 * the end of end_restriction() the recorder makes no system call, and does not read the time
 * stamp. */
void expect_restriction(int taken, struct restriction *restriction);
/* Goes on as before if the call has failed; else it only counts from now on. */
void end_restriction(const struct restriction *restriction, int has_succeeded);
/* Notes the process's CPU time, before it ends. */
void note_end(void);
/* Notes the CPU time of a child that the process has waited for. Makes no system call. */
void note_child(uint64_t pid, const struct rusage *usage);
uint64_t clock_ns(int clock);
/* The number in a variable's text, or `otherwise` if the text is not a number. */
uint64_t number_in(const char *text, uint64_t otherwise);
/* Returns 1 if this thread alone may change the shared data, without signals, until changed().
 * Returns 0 if another thread changes them now. */
int try_to_change(uint64_t *signals);
void changed(uint64_t signals);

/* --- others.c, modules.c --- */

extern struct raw_others others;
void find_others(void);
/* Adds a caller's module to the table, if it is missing. It looks at most 100 times a process. */
void learn_module(const char *caller, uint64_t now_ns);
void forget_modules(void);

/* Calls one of the functions; memset's value is passed as the source. */
static inline void *carry_out(any_function *function_to_call, void *destination,
                              const void *source, size_t bytes, int function)
{
    if (function == RAW_MEMSET)
        return ((set_function *)function_to_call)(destination, (int)(intptr_t)source, bytes);
    return ((copy_function *)function_to_call)(destination, source, bytes);
}

/* Whether this call comes from a signal handler that has interrupted the slow path. `busy`: the
 * frame of the slow path; null: it does not run. A handler may leave it for good by longjmp. Then
 * later calls are at the same place of the stack, or above. */
static inline int is_nested(const char *busy, const char *frame)
{
    enum { SAME_STACK = 1 << 20 /* bytes */ };
    return busy && !(frame >= busy && frame - busy < SAME_STACK);
}

/* Copies the text and the 0 at its end. */
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
