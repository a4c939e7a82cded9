/* Makes calls that are known exactly, in the ways that the recorder must bear. Run with the name of
 * a situation and its arguments. Prints "FUNCTION SIZE CALLS" for what the process did, where that
 * is not what the arguments say. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *__memcpy_chk(void *, const void *, size_t, size_t);
void *__memmove_chk(void *, const void *, size_t, size_t);
void *__mempcpy_chk(void *, const void *, size_t, size_t);
void *__memset_chk(void *, int, size_t, size_t);

/* Through these the compiler can neither inline nor foresee a call. */
typedef void *copy_function(void *, const void *, size_t);
static copy_function *volatile copy = memcpy;
static copy_function *volatile move = memmove;
static copy_function *volatile copy_to_end = mempcpy;
static void *(*volatile set)(void *, int, size_t) = memset;

#define LARGEST (1 << 20)
static char from[LARGEST + 64], to[LARGEST + 64];

static long number(char **arguments, int i) { return arguments[i] ? atol(arguments[i]) : 0; }

static void copies(size_t bytes, long calls)
{
    while (calls-- > 0) copy(to, from, bytes);
}

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* --- Each function ------------------------------------------------------------------------------
 */

static int functions(void)
{
    static const size_t sizes[] = {0,  1,  2,  7,   8,   15,   16,   17,    31,     32,
                                   33, 63, 64, 100, 255, 1000, 4096, 70000, LARGEST};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        const size_t bytes = sizes[i];
        const long calls = (long)(i * 37 % 50);
        for (long call = 0; call < calls; ++call) {
            if (copy(to, from, bytes) != to || __memcpy_chk(to, from, bytes, bytes) != to ||
                move(to, from, bytes) != to || __memmove_chk(to, from, bytes, bytes) != to ||
                copy_to_end(to, from, bytes) != to + bytes ||
                __mempcpy_chk(to, from, bytes, bytes) != to + bytes ||
                set(to, 256 + 'x', bytes) != to || __memset_chk(to, 'x', bytes, bytes) != to)
                fail("a wrong result");
            if (bytes && (to[0] != 'x' || to[bytes - 1] != 'x')) fail("a wrong memset");
        }
        printf("memcpy %zu %ld\nmemmove %zu %ld\nmempcpy %zu %ld\nmemset %zu %ld\n", bytes,
               2 * calls, bytes, 2 * calls, bytes, 2 * calls, bytes, 2 * calls);
    }
    return 0;
}

/* --- Threads ------------------------------------------------------------------------------------
 */

static pthread_barrier_t barrier;

static void *together(void *calls)
{
    char here[64];
    for (intptr_t i = 0; i < (intptr_t)calls; ++i) copy(here, from, 40);
    pthread_barrier_wait(&barrier);
    for (intptr_t i = 0; i < (intptr_t)calls; ++i) copy(here, from, 40);
    return NULL;
}

static void *alone(void *calls)
{
    char here[64];
    for (intptr_t i = 0; i < (intptr_t)calls; ++i) copy(here, from, 40);
    return NULL;
}

/* COUNT CALLS: all at the same time, each twice as many calls of 40 bytes. */
static int threads(long count, long calls)
{
    pthread_t *ids = calloc((size_t)count, sizeof *ids);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    for (long i = 0; i < count; ++i) {
        if (pthread_create(&ids[i], &small, together, (void *)calls)) fail("no thread");
    }
    for (long i = 0; i < count; ++i) pthread_join(ids[i], NULL);
    return 0;
}

/* The same, one after the other. */
static int threads_in_turn(long count, long calls)
{
    for (long i = 0; i < count; ++i) {
        pthread_t id;
        if (pthread_create(&id, NULL, alone, (void *)calls)) fail("no thread");
        pthread_join(id, NULL);
    }
    return 0;
}

/* --- Children -----------------------------------------------------------------------------------
 */

static void wait_for(pid_t child)
{
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) fail("a child failed");
}

/* CALLS: of 16 bytes in the parent, 32 in a child, 64 in its child, 128 in one that only the kernel
 * knows of, 200 in one of vfork, which counts as the parent, and 16 in the parent again. */
static int children(long calls)
{
    copies(16, calls);
    pid_t child = fork();
    if (child == 0) {
        copies(32, calls);
        child = fork();
        if (child == 0) {
            copies(64, calls);
            _exit(0);
        }
        wait_for(child);
        copies(32, calls);
        _exit(0);
    }
    wait_for(child);
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        for (long i = 0; i < calls; ++i) copy(to, from, 128);
        syscall(SYS_exit_group, 0);
    }
    wait_for(child);
    child = vfork();
    if (child == 0) {
        for (long i = 0; i < calls; ++i) copy(to, from, 200);
        _exit(0);
    }
    wait_for(child);
    copies(16, calls);
    return 0;
}

/* CALLS of 16 bytes, then this program again, in turn by exec, vfork and exec, posix_spawn. */
static int exec_itself(char **arguments, long calls)
{
    extern char **environ;
    copies(16, calls);
    char *again[] = {arguments[0], "copies", "32", arguments[2], NULL};
    pid_t child = vfork();
    if (child == 0) {
        execv(arguments[0], again);
        _exit(1);
    }
    wait_for(child);
    if (posix_spawn(&child, arguments[0], NULL, NULL, again, environ)) fail("no child");
    wait_for(child);
    execv(arguments[0], again);
    return 1;
}

/* --- Signals ------------------------------------------------------------------------------------
 */

static volatile long handled;
static char to_of_handler[64];
static sigjmp_buf before;

static void on_signal(int signal_number)
{
    (void)signal_number;
    copy(to_of_handler, from, 24);
    set(to_of_handler, 0, 20);
    ++handled;
}

static void jump_on_signal(int signal_number)
{
    (void)signal_number;
    copy(to_of_handler, from, 24);
    ++handled;
    siglongjmp(before, 1);
}

static void fork_on_signal(int signal_number)
{
    (void)signal_number;
    ++handled;
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_IGN);
        copy(to_of_handler, from, 24);
        return; /* into the copy that was interrupted, and on to the end of the program */
    }
    wait_for(child);
}

static void exit_on_signal(int signal_number)
{
    (void)signal_number;
    copy(to_of_handler, from, 24);
    _exit(7);
}

static void alarm_soon(long i)
{
    const struct itimerval once = {{0, 0}, {0, 30 + i * 37 % 300}};
    setitimer(ITIMER_REAL, &once, NULL);
}

/* HANDLED: so often, at moments of the clock's choice. On an alternate stack. */
static int signals(void (*handler)(int), long wanted)
{
    static char stack[1 << 16];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGALRM, &action, NULL);
    volatile long calls = 0;
    while (handled < wanted) {
        const long seen = handled;
        if (sigsetjmp(before, 1) == 0) {
            alarm_soon(seen);
            while (handled == seen) {
                copy(to, from, 48);
                ++calls;
            }
        }
    }
    printf("memcpy 48 %ld\nmemcpy 24 %ld\nmemset 20 %ld\n", calls, handled, handled);
    fflush(stdout);
    return 0;
}

static int fork_in_handler(void)
{
    struct sigaction action = {.sa_handler = fork_on_signal};
    sigaction(SIGALRM, &action, NULL);
    const pid_t first = getpid();
    for (long i = 0; handled < 20; ++i) {
        const long seen = handled;
        alarm_soon(seen);
        while (handled == seen) copy(to, from, 48);
        if (getpid() != first) {
            copies(48, 100);
            _exit(0);
        }
    }
    return 0;
}

/* --- What a program may ask about itself ---------------------------------------------------------
 */

static int keeps_errno(void)
{
    for (int i = 0; i < 2000; ++i) {
        errno = 1000 + i;
        copy(to, from, (size_t)i % 512);
        if (errno != 1000 + i) fail("errno changed");
    }
    return 0;
}

static int keeps_files(void)
{
    for (int i = 0; i < 200; ++i) {
        copies(100, 5);
        const int file = open("/dev/null", O_RDONLY);
        if (file != 3) fail("a descriptor is taken");
        close(file);
    }
    return 0;
}

static int overlapping(void)
{
    static unsigned char buffer[2000];
    for (size_t bytes = 0; bytes < 600; bytes += 7) {
        for (int distance = -70; distance <= 70; distance += 5) {
            for (size_t i = 0; i < sizeof buffer; ++i) buffer[i] = (unsigned char)(i * 31);
            copy(buffer + 700 + distance, buffer + 700, bytes);
            for (size_t i = 0; i < bytes; ++i) {
                if (buffer[700 + distance + (ptrdiff_t)i] != (unsigned char)((700 + i) * 31))
                    fail("an overlapping copy is wrong");
            }
        }
    }
    return 0;
}

/* --- Restricted programs ------------------------------------------------------------------------
 */

static int directly; /* without libc's wrapper */

/* From now on these system calls get `verdict`. */
static void restrict_calls(const int *calls, size_t count, uint32_t verdict)
{
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
    const int failed =
        directly ? syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
                 : prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    if (failed) {
        printf("no seccomp here\n");
        exit(77);
    }
}

/* What fork needs is left. */
static const int deadly[] = {
#ifdef SYS_open /* younger architectures have openat alone */
    SYS_open,
#endif
    SYS_openat, SYS_mmap,   SYS_munmap, SYS_fallocate,       SYS_mincore, SYS_ioctl,
    SYS_gettid, SYS_getpid, SYS_tgkill, SYS_perf_event_open, SYS_close,   SYS_prlimit64,
    SYS_madvise, SYS_read,  SYS_prctl,  SYS_clock_gettime};

/* CALLS before, and as many after all system calls but those needed to end are deadly. */
static int restricted(long calls)
{
    copies(16, calls);
    restrict_calls(deadly, sizeof deadly / sizeof deadly[0], SECCOMP_RET_KILL_PROCESS);
    copies(16, calls);
    copies(5000, calls);
    _exit(0);
}

/* The same by the mode that forbids time stamps, too. */
static int strict(long calls)
{
    copies(16, calls);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) exit(77);
    copies(16, calls);
    copies(5000, calls);
    syscall(SYS_exit, 0);
    return 1;
}

/* The same in a child that has made no copy before, and that forks then. */
static int restricted_child(long calls)
{
    pid_t child = fork();
    if (child == 0) {
        restrict_calls(deadly, sizeof deadly / sizeof deadly[0], SECCOMP_RET_KILL_PROCESS);
        copies(16, calls);
        child = fork();
        if (child == 0) {
            copies(32, calls);
            _exit(0);
        }
        wait_for(child);
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* HOW CALLS: a child that can make no file, with as many calls in each of two threads, and one of
 * its own that makes none. */
static int guest(const char *how, long calls)
{
    copies(16, 100);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0}, three = {3, 3};
        if (strcmp(how, "root") == 0 && chroot("/proc")) _exit(77);
        if (strcmp(how, "files") == 0 && setrlimit(RLIMIT_NOFILE, &three)) _exit(77);
        if (strcmp(how, "size") == 0 && setrlimit(RLIMIT_FSIZE, &none)) _exit(77);
        copies(32, calls);
        threads_in_turn(1, calls);
        const pid_t grandchild = fork();
        if (grandchild == 0) {
            copies(64, calls);
            _exit(0);
        }
        wait_for(grandchild);
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    copies(16, 100);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* SYSTEM_CALL ERRNO PROGRAM...: for the program, this one fails. */
static int refused(char **arguments)
{
    static const struct {
        const char *name;
        int call;
    } known[] = {{"madvise", SYS_madvise}, {"fallocate", SYS_fallocate}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        if (strcmp(arguments[2], known[i].name)) continue;
        restrict_calls(&known[i].call, 1, SECCOMP_RET_ERRNO | (uint32_t)number(arguments, 3));
        execv(arguments[4], arguments + 4);
    }
    return 1;
}

/* --- Others -------------------------------------------------------------------------------------
 */

static int plugin(const char *path)
{
    for (int i = 0; i < 3; ++i) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) fail(dlerror());
        void (*copies_of_plugin)(void) = (void (*)(void))dlsym(library, "copies_of_plugin");
        if (!copies_of_plugin) fail("no such function");
        copies_of_plugin();
        if (i < 2) dlclose(library);
    }
    return 0;
}

/* Known sizes at known offsets: `from` and `to` are aligned to 4096 here. */
static int mixture(long calls)
{
    char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    for (long i = 0; i < calls; ++i) {
        copy(memory + 8192 + 5, memory + 3, 10);
        if (i % 4 == 0) move(memory + 100, memory + 50, 300);
        if (i % 16 == 0) copy(memory + 65536, memory + 200000, 5000);
        if (i % 64 == 0) set(memory + 300000, 1, 100000);
    }
    return 0;
}

/* First so many of one size, then as many of another. */
static int halves(long calls)
{
    copies(16, calls);
    copies(18, calls);
    return 0;
}

/* Copies until its standard input ends; says after the first ones that it does. */
static int until_told(void)
{
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    char told;
    copies(16, 1000);
    if (write(STDOUT_FILENO, "x", 1) != 1) return 1;
    while (read(STDIN_FILENO, &told, 1) != 0) copies(16, 1000);
    return 0;
}

static int crash(const char *how)
{
    copies(16, 1000);
    if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "null") == 0) copy(NULL, from, 16);
    if (strcmp(how, "handler") == 0) {
        signal(SIGUSR1, exit_on_signal);
        raise(SIGUSR1);
    }
    return 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const long first = argc > 2 ? number(argv, 2) : 0, second = argc > 3 ? number(argv, 3) : 0;
    const char *word = argc > 2 ? argv[2] : "";
#define SITUATION(name, action)                                                                    \
    if (strcmp(what, name) == 0) return action;
    SITUATION("copies", (copies((size_t)first, second), 0))
    SITUATION("functions", functions())
    SITUATION("threads", threads(first, second))
    SITUATION("threads_in_turn", threads_in_turn(first, second))
    SITUATION("children", children(first))
    SITUATION("exec", exec_itself(argv, first))
    SITUATION("signals", signals(on_signal, first))
    SITUATION("jumps", signals(jump_on_signal, first))
    SITUATION("fork_in_handler", fork_in_handler())
    SITUATION("errno", keeps_errno())
    SITUATION("files", keeps_files())
    SITUATION("overlapping", overlapping())
    SITUATION("restricted", restricted(first))
    SITUATION("strict", strict(first))
    SITUATION("restricted_directly", (directly = 1, restricted(first)))
    SITUATION("guest", guest(word, second))
    SITUATION("refused", refused(argv))
    SITUATION("restricted_child", restricted_child(first))
    SITUATION("plugin", plugin(word))
    SITUATION("mixture", mixture(first))
    SITUATION("halves", halves(first))
    SITUATION("until_told", until_told())
    SITUATION("crash", crash(word))
    fprintf(stderr, "no such situation\n");
    return 2;
}
