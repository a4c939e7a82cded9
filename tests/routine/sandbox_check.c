/* Takes rights away from itself, copies sizes that sense, and ends: with 0 where every copy was
 * right, with 77 where this system takes no such right away.
 *
 * sandbox_check HOW: "loading": every system call but those of the end, before any library's
 * constructor runs; of the time stamp counter "strict", "strict by syscall", "stamp", "stamp by
 * syscall", and "unseen", by an instruction of its own; "probed": by a call that the kernel
 * refuses. */
#define _GNU_SOURCE
#include "../record/restrictions.h"

#ifndef COPY
#define COPY memcpy
#endif
void* COPY(void*, const void*, size_t);

enum { LARGEST = 100000 };

/* By an instruction, so that no library sees it. */
static long unseen_prctl(long option, long a, long b) {
#ifdef __x86_64__
    long result = SYS_prctl;
    register long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(option), "S"(a), "d"(b), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = SYS_prctl, x0 __asm__("x0") = option, x1 __asm__("x1") = a;
    register long x2 __asm__("x2") = b, x3 __asm__("x3") = 0, x4 __asm__("x4") = 0;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
#endif
}

static void before_all_constructors(int argc, char** argv) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {COUNT_OF(filter), filter};
    if (argc != 2 || strcmp(argv[1], "loading") != 0) return;
    if (unseen_prctl(PR_SET_NO_NEW_PRIVS, 1, 0) ||
        unseen_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program))
        _exit(CANNOT);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(int, char**) = before_all_constructors;

static unsigned char source[LARGEST], destination[LARGEST];

static int faults(void) {
    int wrong = 0;
    for (size_t bytes = 1000; bytes <= LARGEST; bytes += 1000) {
        for (size_t i = 0; i < bytes; ++i)
            source[i] = (unsigned char)((i + bytes) * 2654435761u >> 11);
        COPY(destination, source, bytes);
        for (size_t i = 0; i < bytes; ++i) wrong += destination[i] != source[i];
    }
    return wrong;
}

static void give_up_otherwise(const char* how) {
    long failed = 0;
    if (strcmp(how, "strict by syscall") == 0)
        failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
    if (strcmp(how, "stamp by syscall") == 0)
        failed = syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV);
    if (strcmp(how, "unseen") == 0) failed = unseen_prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0);
    if (failed) _exit(CANNOT);
}

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    int wrong = faults();
    if (strcmp(how, "probed") == 0) {
        probe("mode");
        how = "unseen";
    }
    give_up(how);
    give_up_otherwise(how);
    wrong += faults();
    for (;;) syscall(SYS_exit, wrong != 0); /* strict seccomp has no exit_group */
}
