/* How programs of tests take rights away from themselves: system calls, files, their root, their
 * user, the time stamp. And how some end. */
#pragma once

#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "../routine/harness.h"

enum { CANNOT = 77 }; /* what the program ends with where this machine cannot do that */

/* From now on these system calls get `verdict`. `directly`: without libc's wrapper. */
static void restrict_calls(const int* calls, size_t count, uint32_t verdict, int directly) {
    struct sock_filter filter[40];
    size_t at = 0;
    filter[at++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; ++i) {
        filter[at++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict);
    }
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {(unsigned short)at, filter};
    const int failed = directly ? syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                                      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
                                : prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                                      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    if (failed) {
        printf("no seccomp here\n");
        exit(CANNOT);
    }
}

/* Calls that fork and the end need are left. */
static void forbid_system_calls(int directly) {
    static const int deadly[] = {
#ifdef SYS_open /* younger architectures have openat alone */
        SYS_open,
#endif
        SYS_openat,  SYS_mmap,   SYS_munmap, SYS_fallocate,       SYS_mincore, SYS_ioctl,
        SYS_gettid,  SYS_getpid, SYS_tgkill, SYS_perf_event_open, SYS_close,   SYS_prlimit64,
        SYS_madvise, SYS_read,   SYS_prctl,  SYS_clock_gettime};
    restrict_calls(deadly, COUNT_OF(deadly), SECCOMP_RET_KILL_PROCESS, directly);
}

/* Libraries ask the kernel so to learn what it supports, which restricts nothing: "mode" as
 * libseccomp does, "filter", "threads", "privileges". */
static void probe(const char* how) {
    long result = -1;
    if (strcmp(how, "mode") == 0) result = syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL);
    if (strcmp(how, "filter") == 0) result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0);
    if (strcmp(how, "threads") == 0)
        result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL);
    if (strcmp(how, "privileges") == 0)
        result = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? -1 : 0;
    if (result != -1) _exit(1);
}

/* HOW: "calls", "calls_directly", "strict", which forbids the time stamp, too, "stamp", "rights",
 * "other_user"; "restricted", by a filter that allows all calls; and of what a file needs, "root",
 * "files", "size". */
static void give_up(const char* how) {
    const struct rlimit none = {0, 0}, three = {3, 3};
    int failed = 0;
    if (strncmp(how, "calls", 5) == 0) forbid_system_calls(how[5] != 0);
    if (strcmp(how, "strict") == 0) failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (strcmp(how, "stamp") == 0) failed = prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    if (strcmp(how, "rights") == 0)
        failed = getuid() || chroot("/tmp") || setgid(65534) || setuid(65534);
    if (strcmp(how, "other_user") == 0)
        failed = setgroups(0, NULL) || setgid(65534) || setuid(65534);
    if (strcmp(how, "restricted") == 0) restrict_calls(NULL, 0, 0, 0);
    if (strcmp(how, "root") == 0) failed = chroot("/proc");
    if (strcmp(how, "files") == 0) failed = setrlimit(RLIMIT_NOFILE, &three);
    if (strcmp(how, "size") == 0) failed = setrlimit(RLIMIT_FSIZE, &none);
    if (failed) _exit(CANNOT);
}

/* As Go's programs end. */
UNUSED static void end_without_libc(void) {
#if defined __x86_64__
    __asm__ volatile("syscall" : : "a"(231L), "D"(0L) : "rcx", "r11", "memory");
#elif defined __aarch64__
    register long call __asm__("x8") = 94, code __asm__("x0") = 0;
    __asm__ volatile("svc 0" : : "r"(call), "r"(code) : "memory");
#endif
}
