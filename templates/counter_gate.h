/* Keeps the routine from reading the counter once the program has forbidden it to itself.
 *
 * Included by preload.c, behind a routine that senses. libc's prctl and syscall forbid it, so these go
 * first, and let no sensing copy pass from then on: in all threads, though each forbids it to itself
 * alone. What makes the system call by instructions of its own is not seen. */
#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* As in linux/seccomp.h, which not every system with a C compiler has. */
enum { ASTEROPE_SECCOMP_STRICT = 1, ASTEROPE_SECCOMP_SET_STRICT = 0 };

/* Apart, as programs make thousands of other system calls this way. */
__attribute__((noinline)) static void asterope_close_gate(long number, long a, long b, long c)
{
    /* libraries probe the kernel by arguments that it refuses */
    const int by_seccomp =
        number == SYS_seccomp && a == ASTEROPE_SECCOMP_SET_STRICT && b == 0 && c == 0;
    const int by_prctl = number == SYS_prctl &&
                         ((a == PR_SET_SECCOMP && b == ASTEROPE_SECCOMP_STRICT) ||
                          (a == PR_SET_TSC && b == PR_TSC_SIGSEGV));
    if (by_seccomp || by_prctl)
        __atomic_store_n(&asterope_sensing_from, (size_t)-1, __ATOMIC_RELAXED);
}

/* libc's own could not be called before this library is relocated. */
static inline long asterope_gate_system_call(long number, long a, long b, long c, long d, long e, long f)
{
#ifdef __x86_64__
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return number;
#else
    register long which __asm__("x8") = number;
    register long first __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    register long fifth __asm__("x4") = e;
    register long sixth __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(first)
                     : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "memory");
    return first;
#endif
}

/* By a name of its own here, as libc's header declares one of any number of arguments. */
ASTEROPE_CHECKED long asterope_syscall(long number, long a, long b, long c, long d, long e, long f)
    __asm__("syscall");

long asterope_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (__builtin_expect(number == SYS_seccomp || number == SYS_prctl, 0))
        asterope_close_gate(number, a, b, c);
    const long result = asterope_gate_system_call(number, a, b, c, d, e, f);
    if (__builtin_expect((unsigned long)result < -4095UL, 1)) return result;
    errno = (int)-result;
    return -1;
}

ASTEROPE_CHECKED int prctl(int option, ...);

int prctl(int option, ...)
{
    long arguments[4];
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; ++i) arguments[i] = va_arg(list, long);
    va_end(list);
    return (int)asterope_syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2],
                                 arguments[3], 0);
}
