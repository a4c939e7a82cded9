"""A program that copies in each way in which processes begin and end."""

from __future__ import annotations

# The beginning of a C program that ends and restricts itself as few others do.
BEGIN = r"""
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* As Go's programs end. */
static void end_without_libc(void)
{
#if defined __x86_64__
    __asm__ volatile("syscall" : : "a"(231L), "D"(0L) : "rcx", "r11", "memory");
#elif defined __aarch64__
    register long call __asm__("x8") = 94, code __asm__("x0") = 0;
    __asm__ volatile("svc 0" : : "r"(call), "r"(code) : "memory");
#endif
}

/* As sandboxes do: the filter cannot be asked what it allows. */
static int restrict_calls(void)
{
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog filter = {1, &all};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &filter);
}
"""
# HOW COUNT: COUNT copies of 8 KiB, in itself or in a process that it becomes or starts.
_COPIES = r"""
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <spawn.h>

static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

static void copies(long count)
{
    static char from[8192], to[8192];
    while (count-- > 0) copy(to, from, sizeof to);
}

static void *half(void *count)
{
    copies(*(long *)count / 2);
    return NULL;
}

static int two_threads(long count)
{
    pthread_t other;
    if (pthread_create(&other, NULL, half, &count)) return 1;
    half(&count);
    return pthread_join(other, NULL);
}

/* Nothing is done at its end. */
static int killed(long count)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        copies(count);
        raise(SIGKILL);
    }
    return wait(&status) != child || !WIFSIGNALED(status);
}

/* The command ends when it has copied, and it goes on. */
static int background(long count)
{
    int ends[2];
    char done = 0;
    if (pipe(ends)) return 1;
    if (fork()) return read(ends[0], &done, 1) != 1;
    setsid();
    const int none = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; ++i) dup2(none, i);
    copies(count);
    if (write(ends[1], &done, 1) != 1) return 1;
    alarm(60);
    pause();
    return 0;
}

static int waited_for(void)
{
    int status;
    return wait(&status) < 0 || status;
}

int main(int words, char **word)
{
    const char *how = word[1];
    const long count = atol(word[2]);
    char *again[] = {word[0], "foreground", word[2], NULL};
    if (words != 3) return 2;
    if (!strcmp(how, "background")) return background(count);
    if (!strcmp(how, "threads")) return two_threads(count);
    if (!strcmp(how, "killed")) return killed(count);
    if (!strcmp(how, "posix_spawn")) {
        pid_t child;
        extern char **environ;
        return posix_spawn(&child, word[0], NULL, NULL, again, environ) || waited_for();
    }
    if (!strcmp(how, "execve")) execv(word[0], again);
    if (!strcmp(how, "vfork")) {
        if (vfork() == 0) {
            execv(word[0], again);
            _exit(1);
        }
        return waited_for();
    }
    if (!strcmp(how, "fork")) {
        if (fork()) return waited_for();
        copies(count);
        _exit(0);
    }
    if (!strcmp(how, "other_user") && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
        return 77;
    if (!strcmp(how, "restricted") && restrict_calls()) return 77;
    copies(count);
    if (!strcmp(how, "raw_exit")) end_without_libc();
    return 0;
}
"""
PROGRAM = BEGIN + _COPIES

FAMILIES = (
    *("foreground", "raw_exit", "restricted", "execve", "vfork", "fork", "other_user"),
    *("background", "threads", "posix_spawn", "killed"),
)
# Each is started by itself, and by a shell that waits for it.
BY_SHELL = {"alone": "{}", "below a shell": "sh -c '{}; exit $?'"}
# These ends and beginnings a shell has shown in another light than the rest.
SHELLS_DIFFER = ("raw_exit", "restricted", "background", "killed")
