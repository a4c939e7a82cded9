/* Copies in the ways that a trial must bear. Run with the name of a situation and its arguments; each
 * copy is looked at, and a wrong one ends it with 1. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void *copy_function(void *, const void *, size_t);
static copy_function *volatile copy = memcpy;
static copy_function *volatile move = memmove;
static copy_function *volatile copy_to_end = mempcpy;
static void *(*volatile set)(void *, int, size_t) = memset;

#define LARGEST (1 << 20)

static void fail(const char *what)
{
    static const char start[] = "wrong: ";
    if (write(2, start, sizeof start - 1) < 0 || write(2, what, strlen(what)) < 0) _exit(3);
    _exit(1);
}

static void look(const unsigned char *at, size_t bytes, unsigned char value)
{
    for (size_t i = 0; i < bytes; i += i + 64 < bytes ? 61 : 1)
        if (at[i] != value) fail("a copy");
}

static void copies(size_t bytes, long calls)
{
    unsigned char *from = malloc(bytes + 1), *to = malloc(bytes + 1);
    for (long i = 0; i < calls; ++i) {
        const unsigned char value = (unsigned char)i;
        from[0] = from[bytes - 1] = value;
        if (copy(to, from, bytes) != to) fail("a result");
        if (to[0] != value || to[bytes - 1] != value) fail("a copy");
    }
    free(from);
    free(to);
}

static void functions(void)
{
    static unsigned char from[8192], to[8192 + 64];
    for (int i = 0; i < 4000; ++i) {
        const size_t bytes = 512 + (size_t)i % 4096;
        const unsigned char value = (unsigned char)(i | 1);
        set(from, value, bytes);
        look(from, bytes, value);
        if (copy_to_end(to, from, bytes) != to + bytes) fail("mempcpy's result");
        look(to, bytes, value);
        to[0] = 7;
        if (move(to + 1, to, bytes) != to + 1) fail("memmove's result");
        if (to[1] != 7 || to[2] != value) fail("an overlapping move");
        if (copy(to, to + 1, bytes) != to) fail("memcpy's result");
        if (to[0] != 7 || to[1] != value) fail("an overlapping copy");
        copy(to, from, (size_t)i % 200);
    }
}

static pthread_barrier_t all_there;
static void *in_thread(void *size)
{
    copies(1024, 1);
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < 20; ++i) copies((size_t)(uintptr_t)size, 200);
    return NULL;
}

static void threads(int count)
{
    pthread_t thread[64];
    pthread_barrier_init(&all_there, NULL, (unsigned)count);
    for (int i = 0; i < count; ++i)
        pthread_create(&thread[i], NULL, in_thread, (void *)(uintptr_t)(1024u << i % 4));
    for (int i = 0; i < count; ++i) pthread_join(thread[i], NULL);
}

static void forks(void)
{
    copies(4096, 5000);
    for (int i = 0; i < 5; ++i) {
        const pid_t child = i % 2 ? fork() : (pid_t)syscall(SYS_fork);
        if (child == 0) {
            copies(8192, 3000);
            _exit(0);
        }
        copies(4096, 500);
        int status;
        waitpid(child, &status, 0);
        if (status) fail("a child");
    }
}

/* Another program in this process's place. */
static void executes(char *self)
{
    copies(4096, 5000);
    char *words[] = {self, "copies", "8192", "5000", NULL};
    execv(self, words);
    fail("exec");
}

/* A child that borrows this process's memory, until it executes. */
static void borrows(char *self)
{
    copies(4096, 5000);
    char *words[] = {self, "copies", "8192", "5000", NULL};
    for (int i = 0; i < 5; ++i) {
        int status;
        const pid_t child = vfork();
        if (child == 0) {
            static unsigned char from[4096], to[4096];
            copy(to, from, sizeof to);
            execv(self, words);
            _exit(1);
        }
        copies(4096, 500);
        if (waitpid(child, &status, 0) < 0 || status) fail("a child");
    }
}

/* No files from now on, neither to open nor to make; every other system call. */
static int filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};
    copies(4096, 5000);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
        return 77;
    copies(4096, 5000);
    copies(65536, 500);
    return 0;
}

/* Rights, root and file system are given up between copies. */
static int renounces(void)
{
    copies(4096, 5000);
    if (getuid() || chroot("/tmp") || setgid(65534) || setuid(65534)) return 77;
    copies(4096, 5000);
    const pid_t child = fork();
    if (child == 0) {
        copies(8192, 500);
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) < 0 || status) fail("a child");
    return 0;
}

static volatile long handled;
static unsigned char handlers[2][2048];
static void handle(int number)
{
    (void)number;
    handlers[0][0] = (unsigned char)++handled;
    copy(handlers[1], handlers[0], sizeof handlers[0]);
    if (handlers[1][0] != handlers[0][0]) fail("a handler's copy");
}

static sigjmp_buf out;
static void leap(int number)
{
    (void)number;
    ++handled;
    siglongjmp(out, 1);
}

static void signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval every = {{0, 300}, {0, 300}};
    sigsetjmp(out, 1);
    setitimer(ITIMER_REAL, &every, NULL);
    static unsigned char from[4096], to[4096]; /* nothing that a leap could leave half done */
    while (handled < 300) {
        from[0] = (unsigned char)handled;
        copy(to, from, sizeof from);
    }
    every = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, NULL);
}

static void plugin(const char *path)
{
    for (int i = 0; i < 200; ++i) {
        void *library = dlopen(path, RTLD_NOW);
        void (*call)(copy_function *, long) = library ? dlsym(library, "call") : NULL;
        if (!call) fail("the plugin");
        call(copy, 50);
        dlclose(library);
    }
}

/* From many places: each call of this has a return address of its own. */
#define CALL copy(to, from, bytes);
#define CALLS CALL CALL CALL CALL CALL CALL CALL CALL
#define MANY CALLS CALLS CALLS CALLS CALLS CALLS CALLS CALLS
static void places(void)
{
    static unsigned char from[1024], to[1024];
    const size_t bytes = sizeof from;
    for (int i = 0; i < 300; ++i) {
        from[0] = (unsigned char)i;
        MANY MANY MANY MANY MANY MANY MANY MANY
        if (to[0] != from[0]) fail("a copy of many");
    }
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    const long size = count > 2 ? atol(arguments[2]) : 4096;
    const long calls = count > 3 ? atol(arguments[3]) : 20000;
    if (!strcmp(what, "copies")) copies((size_t)size, calls);
    if (!strcmp(what, "functions")) functions();
    if (!strcmp(what, "threads")) threads((int)size);
    if (!strcmp(what, "forks")) forks();
    if (!strcmp(what, "executes")) executes(arguments[0]);
    if (!strcmp(what, "borrows")) borrows(arguments[0]);
    if (!strcmp(what, "filter")) return filter();
    if (!strcmp(what, "renounces")) return renounces();
    if (!strcmp(what, "signals")) signals(handle);
    if (!strcmp(what, "leaps")) signals(leap);
    if (!strcmp(what, "plugin")) plugin(arguments[2]);
    if (!strcmp(what, "places")) places();
    if (!strcmp(what, "no_counter")) {
        copies(4096, 5000);
        if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0)) return 77;
        copies(4096, 5000);
    }
    if (!strcmp(what, "strict")) {
        copies(4096, 5000);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0)) return 77;
        static unsigned char from[4096], to[4096];
        for (int i = 0; i < 5000; ++i) copy(to, from, sizeof from);
        syscall(SYS_exit, 0);
    }
    if (!strcmp(what, "killed")) {
        copies((size_t)size, calls);
        kill(getpid(), SIGKILL);
    }
    if (!strcmp(what, "ends_by_exit")) {
        copies((size_t)size, calls);
        _exit(0);
    }
    return 0;
}
