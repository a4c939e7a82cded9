/* libasterope_record.so: libc's copies and memset under their own names, counted.
 *
 * The fast path looks up the next function and this thread's cells. It adds to the cell of function
 * and size class, and jumps. In operation it is shorter: the thread has one counter for all calls.
 * Before the constructor has run, it uses nothing that needs a relocation: not even the thread's
 * cells, whose place the dynamic linker writes. */
#include "instructions.h"
#include "recorder.h"
#include "size_class.h"
#include "trial.h"

#include <dlfcn.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define RARE __attribute__((noinline))
#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER /* Linux 5.0 */
#define SECCOMP_FILTER_FLAG_NEW_LISTENER 8
#endif

#define INLINED static inline __attribute__((always_inline))

struct raw_cells uncounted;
__thread struct thread thread = {.counted = &uncounted};
any_function *next_function[RAW_FUNCTIONS];
any_function *recorded_function[RAW_FUNCTIONS];

/* A call of a trial, or of a process that does not record. It may overlap, as libc's calls do. */
RARE static void *not_counted(void *destination, const void *source, size_t bytes, int function)
{
    any_function *next = next_function[function];
    if (trial.is_on && has_stack()) return try_call(destination, source, bytes, function);
    if (next) return carry_out(next, destination, source, bytes, function);
    if (function == RAW_MEMSET)
        plain_fill(destination, (int)(intptr_t)source, bytes);
    else if ((uintptr_t)destination - (uintptr_t)source >= bytes)
        plain_copy_up(destination, source, bytes);
    else
        plain_copy_down(destination, source, bytes);
    return (char *)destination + (function == RAW_MEMPCPY ? bytes : 0);
}

INLINED void *called(void *destination, const void *source, size_t bytes, int function)
{
    any_function *easy = __atomic_load_n(&trial.easy[function], __ATOMIC_RELAXED);
    if (easy && __builtin_expect(!add_is_negative(&easy_calls, -1), 1))
        return carry_out(easy, destination, source, bytes, function);
    any_function *next = recorded_function[function];
    if (__builtin_expect(!next, 0)) return not_counted(destination, source, bytes, function);
    struct raw_cells *counted = thread.counted;
    int64_t *cell = &counted->cell[function][size_class(bytes)];
    if (__builtin_expect(add_is_negative(cell, RAW_CALL), 0)) /* it is sampled */
        return record_call(destination, source, bytes, function, counted);
    return carry_out(next, destination, source, bytes, function);
}

void __chk_fail(void) __attribute__((noreturn, weak)); /* other libcs lack it */
__attribute__((noreturn, cold)) static void fail(void)
{
    if (__chk_fail) __chk_fail();
    abort();
}

/* A function, and that which -D_FORTIFY_SOURCE calls. `room`: the size of the destination, as the
 * compiler knows it. `second` declares the second argument, which is passed on as `source`. */
#define INTERPOSED(name, second, source, number)                                                   \
    EXPORTED void *name(void *destination, second, size_t bytes)                                   \
    {                                                                                              \
        return called(destination, source, bytes, number);                                         \
    }                                                                                              \
    EXPORTED void *__##name##_chk(void *destination, second, size_t bytes, size_t room)            \
    {                                                                                              \
        if (__builtin_expect(bytes > room, 0)) fail();                                             \
        return called(destination, source, bytes, number);                                         \
    }

INTERPOSED(memcpy, const void *source, source, RAW_MEMCPY)
INTERPOSED(memmove, const void *source, source, RAW_MEMMOVE)
INTERPOSED(mempcpy, const void *source, source, RAW_MEMPCPY)
INTERPOSED(memset, int value, (const void *)(intptr_t)value, RAW_MEMSET)

EXPORTED void *__mempcpy(void *destination, const void *source, size_t bytes)
    __attribute__((alias("mempcpy")));

/* A program that restricts its own system calls may be killed for one of ours. Its filter cannot be
 * asked about, so the call that sets it is the sign. Strict seccomp forbids the time stamp, too. */
static int taken_by(long number, long what, long how)
{
    const int strict = TAKES_CALLS | TAKES_COUNTER;
    if (number == SYS_seccomp)
        return what == SECCOMP_SET_MODE_STRICT   ? strict
               : what == SECCOMP_SET_MODE_FILTER ? TAKES_CALLS
                                                 : 0;
    if (number != SYS_prctl) return 0;
    if (what == PR_SET_SECCOMP) return how == SECCOMP_MODE_STRICT ? strict : TAKES_CALLS;
    return what == PR_SET_TSC && how == PR_TSC_SIGSEGV ? TAKES_COUNTER : 0;
}

/* Libraries probe the kernel by calls that cannot succeed, and restrict nothing. A positive result
 * is the listener of a filter. Otherwise it is a thread that did not get the filter. */
static int has_succeeded(long number, long flags, long result)
{
    const int makes_listener =
        number == SYS_seccomp && (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0;
    return result == 0 || (result > 0 && makes_listener);
}

/* It takes all arguments that there can be. So it ends in a jump to libc's function, as if it were
 * not there: a system call may return twice, or on another stack. Here it has another name, as the
 * header declares it with a variable number of arguments. */
typedef long system_call(long, long, long, long, long, long, long);
EXPORTED system_call interposed_syscall __asm__("syscall");
long interposed_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    static system_call *next;
    if (__builtin_expect(!next, 0)) next = (system_call *)dlsym(RTLD_NEXT, "syscall");
    const int taken = recorded_function[0] || trial.is_on ? taken_by(number, a, b) : 0;
    if (__builtin_expect(taken != 0, 0)) {
        struct restriction restriction;
        expect_restriction(taken, &restriction);
        const long result = next(number, a, b, c, d, e, f);
        end_restriction(&restriction, has_succeeded(number, b, result));
        return result;
    }
    return next(number, a, b, c, d, e, f);
}

EXPORTED int prctl(int option, ...)
{
    va_list list;
    va_start(list, option);
    unsigned long arguments[4];
    for (int i = 0; i < 4; ++i) arguments[i] = va_arg(list, unsigned long);
    va_end(list);
    return (int)syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]);
}

/* Notes the stack of signal handlers for has_stack(): it may have no more room than they need. */
EXPORTED int sigaltstack(const stack_t *restrict stack, stack_t *restrict before)
{
    const int result = (int)syscall(SYS_sigaltstack, stack, before);
    if (result == 0 && stack) {
        const int is_one = !(stack->ss_flags & SS_DISABLE);
        thread.signal_stack = is_one ? stack->ss_sp : NULL;
        thread.signal_stack_bytes = is_one ? stack->ss_size : 0;
    }
    return result;
}

/* A child may be killed, or end by a system call past libc, as Go's programs do. Then its own file
 * lacks its last CPU time, and the parent's file gets it here. */
EXPORTED pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    typedef pid_t wait_call(pid_t, int *, int, struct rusage *);
    static wait_call *next;
    struct rusage own_usage;
    int own_status;
    if (!next) next = (wait_call *)dlsym(RTLD_NEXT, "wait4");
    if (!usage) usage = &own_usage;
    if (!status) status = &own_status;
    pid = next(pid, status, options, usage);
    if (pid > 0 && (WIFEXITED(*status) || WIFSIGNALED(*status))) note_child((uint64_t)pid, usage);
    return pid;
}

EXPORTED pid_t wait3(int *status, int options, struct rusage *usage)
{
    return wait4(-1, status, options, usage);
}

EXPORTED pid_t waitpid(pid_t pid, int *status, int options)
{
    return wait4(pid, status, options, NULL);
}

EXPORTED pid_t wait(int *status) { return wait4(-1, status, 0, NULL); }

__attribute__((constructor)) static void start(void) { start_recording(); }

/* A program that ends otherwise has its last clocks from its last sample. */
__attribute__((destructor)) static void finish(void) { note_end(); }

EXPORTED void _exit(int status)
{
    note_end();
    for (;;) syscall(SYS_exit_group, status);
}

EXPORTED void _Exit(int status) __attribute__((alias("_exit")));
