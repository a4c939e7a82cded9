/* Makes copies that are known exactly and looks at them, in the ways that counting and a trial must
 * bear. Run with the name of a situation and its arguments; "x64" before it makes the sizes of most
 * so many times larger. Prints "FUNCTION SIZE CALLS" for what the process did, where that is not
 * what the arguments say. A wrong copy ends it with 1. */
#define _GNU_SOURCE
#include "known_copies.h"
#include "restrictions.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>

/* --- Threads --- */

static pthread_barrier_t barrier;
static int together;

/* So many calls of 40 bytes, and as many again once all threads are there. */
static void* in_thread(void* calls) {
    unsigned char here[40 * 64];
    for (int part = 0; part <= together; ++part) {
        for (intptr_t i = 0; i < (intptr_t)calls; ++i) copy_into(here, 40 * scale);
        if (part < together) pthread_barrier_wait(&barrier);
    }
    return NULL;
}

/* COUNT CALLS: all at the same time, or one after the other. */
static void threads(long count, long calls, int at_once) {
    pthread_t* ids = calloc((size_t)count, sizeof *ids);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    together = at_once;
    for (long i = 0; i < count; ++i) {
        if (pthread_create(&ids[i], &small, in_thread, (void*)calls)) fail("no thread");
        if (!at_once) pthread_join(ids[i], NULL);
    }
    for (long i = 0; at_once && i < count; ++i) pthread_join(ids[i], NULL);
}

/* --- Children --- */

/* Returns what the child ended with. */
static int end_of(pid_t child) {
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 1;
    return WEXITSTATUS(status);
}

static void wait_for(pid_t child) {
    if (end_of(child)) fail("a child failed");
}

static void copy_in_child(size_t bytes, long calls) {
    const pid_t child = fork();
    if (child == 0) {
        copies(bytes, calls);
        _exit(0);
    }
    wait_for(child);
}

/* Makes CALLS copies in each process: of 16 bytes in the parent, of 32 in a child, of 64 in the
 * child's child. A child that libc does not know of copies 128 bytes. A child of vfork copies 200
 * bytes, and counts as the parent. Then the parent copies 16 again. */
static void children(long calls) {
    copies(16 * scale, calls);
    pid_t child = fork();
    if (child == 0) {
        copies(32 * scale, calls);
        copy_in_child(64 * scale, calls);
        copies(32 * scale, calls);
        _exit(0);
    }
    wait_for(child);
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        copies(128 * scale, calls);
        syscall(SYS_exit_group, 0);
    }
    wait_for(child);
    child = vfork();
    if (child == 0) {
        copies(200 * scale, calls);
        _exit(0);
    }
    wait_for(child);
    copies(16 * scale, calls);
}

/* These arguments, by vfork and exec, posix_spawn, or exec. */
static void begin_anew(const char* how, char** again) {
    extern char** environ;
    pid_t child = 0;
    if (strcmp(how, "posix_spawn") == 0) {
        if (posix_spawn(&child, again[0], NULL, NULL, again, environ)) fail("no child");
    } else if (strcmp(how, "execve") == 0 || (child = vfork()) == 0) {
        execv(again[0], again);
        _exit(1);
    }
    wait_for(child);
}

/* CALLS of 16 bytes, then this program again, in all these ways. */
static void exec_itself(char* self, char* calls) {
    char bytes[20];
    snprintf(bytes, sizeof bytes, "%zu", 32 * scale);
    copies(16 * scale, atol(calls));
    char* again[] = {self, "copies", bytes, calls, NULL};
    begin_anew("vfork", again);
    begin_anew("posix_spawn", again);
    begin_anew("execve", again);
}

static void* half(void* calls) {
    static __thread unsigned char here[8192];
    for (long i = *(long*)calls / 2; i > 0; --i) copy_into(here, sizeof here);
    return NULL;
}

/* The command ends when it has copied, and it goes on. */
static void in_background(long calls) {
    int ends[2];
    char done = 0;
    if (pipe(ends)) fail("no pipe");
    if (fork() != 0) {
        if (read(ends[0], &done, 1) != 1) fail("it ended");
        return;
    }
    setsid();
    const int none = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; ++i) dup2(none, i);
    copies(8192, calls);
    if (write(ends[1], &done, 1) != 1) fail("nobody waits");
    alarm(60);
    pause();
}

/* HOW CALLS: so many copies of 8 KiB, in this process or in one that it becomes or starts: see
 * tests/python/test_process_families.py. */
static void family(const char* how, char* self, char* calls) {
    static const char* const anew[] = {"execve", "vfork", "posix_spawn"};
    char* again[] = {self, "copies", "8192", calls, NULL};
    long count = atol(calls);
    pthread_t other;
    for (size_t i = 0; i < COUNT_OF(anew); ++i) {
        if (strcmp(how, anew[i]) == 0) {
            begin_anew(how, again);
            return;
        }
    }
    if (strcmp(how, "fork") == 0) {
        copy_in_child(8192, count);
    } else if (strcmp(how, "killed") == 0) { /* nothing is done at its end */
        int status;
        if (fork() == 0) {
            copies(8192, count);
            raise(SIGKILL);
        }
        if (wait(&status) < 0 || !WIFSIGNALED(status)) fail("it was not killed");
    } else if (strcmp(how, "background") == 0) {
        in_background(count);
    } else if (strcmp(how, "threads") == 0) {
        if (pthread_create(&other, NULL, half, &count)) fail("no thread");
        half(&count);
        pthread_join(other, NULL);
    } else {
        give_up(how);
        copies(8192, count);
        if (strcmp(how, "raw_exit") == 0) end_without_libc();
    }
}

/* --- Signals --- */

static volatile long handled;
static int jumps; /* the handler never returns */
static unsigned char to_of_handler[24 * 64];
static sigjmp_buf before;

static void on_signal(UNUSED int number) {
    copy_into(to_of_handler, 24 * scale);
    set(to_of_handler, 0, 20 * scale);
    ++handled;
    if (jumps) siglongjmp(before, 1);
}

static void fork_on_signal(UNUSED int number) {
    ++handled;
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_IGN);
        copy_into(to_of_handler, 24 * scale);
        return; /* into the copy that was interrupted, and on to the end of the program */
    }
    wait_for(child);
}

static void exit_on_signal(UNUSED int number) {
    copy_into(to_of_handler, 24 * scale);
    _exit(7);
}

/* The handler runs so often, at moments of the clock's choice, on an alternate stack. */
static void signals(void (*handler)(int), long wanted) {
    static char stack[1 << 16];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    const pid_t first = getpid();
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_handler = handler};
    if (handler != fork_on_signal) action.sa_flags = SA_ONSTACK;
    sigaction(SIGALRM, &action, NULL);
    volatile long calls = 0;
    while (handled < wanted) {
        const long seen = handled;
        if (sigsetjmp(before, 1) == 0) {
            const struct itimerval once = {{0, 0}, {0, 30 + seen * 37 % 300}};
            setitimer(ITIMER_REAL, &once, NULL);
            while (handled == seen) {
                copy(to, from, 48 * scale); /* which a jump may leave half done */
                ++calls;
            }
        }
        if (getpid() != first) {
            copies(48 * scale, 100);
            _exit(0);
        }
    }
    if (handler == fork_on_signal) return;
    printf("memcpy %zu %ld\nmemcpy %zu %ld\nmemset %zu %ld\n", 48 * scale, calls, 24 * scale,
           handled, 20 * scale, handled);
    fflush(stdout);
}

/* On a stack that holds what the kernel puts there, and hardly more. */
static void copy_on_signal(UNUSED int number) {
    copy(to_of_handler, from, 24);
    copy(to_of_handler, from, 900);
}

static void small_stack(long wanted) {
#ifdef _SC_MINSIGSTKSZ
    const size_t bytes = (size_t)sysconf(_SC_MINSIGSTKSZ);
#else
    const size_t bytes = MINSIGSTKSZ;
#endif
    const stack_t stack = {.ss_sp = guarded(bytes), .ss_size = bytes};
    if (sigaltstack(&stack, NULL)) fail("no stack");
    const struct sigaction action = {.sa_handler = copy_on_signal, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    for (long i = 0; i < wanted; ++i) {
        raise(SIGUSR1);
        copies(1000 * scale, 10);
    }
    printf("memcpy 24 %ld\nmemcpy 900 %ld\nmemcpy %zu %ld\n", wanted, wanted, 1000 * scale,
           10 * wanted);
}

/* --- What a program may ask about itself --- */

static void keeps_errno_and_files(void) {
    for (int i = 0; i < 2000; ++i) {
        errno = 1000 + i;
        copy(to, from, (size_t)i % 512 * scale);
        if (errno != 1000 + i) fail("errno changed");
        const int file = open("/dev/null", O_RDONLY);
        if (file != 3) fail("a descriptor is taken");
        close(file);
    }
}

/* --- Restricted programs --- */

/* HOW CALLS: calls of both sizes before something is given up, and after it; in a child, too, where
 * there may be one. */
static void restricted(const char* how, long calls) {
    copies(16, calls);
    copies(5000, calls);
    give_up(how);
    copies(16, calls);
    copies(5000, calls);
    if (strcmp(how, "rights") == 0) copy_in_child(5000, calls);
    if (strcmp(how, "strict") == 0) syscall(SYS_exit, 0); /* all that it leaves */
    _exit(0);
}

/* HOW CALLS: as above, though nothing is given up. */
static void probed(const char* how, long calls) {
    copies(16 * scale, calls);
    probe(how);
    copies(5000 * scale, calls);
}

/* HOW CALLS: copies before and after a child that can make no file, as it gives up what that needs
 * before it copies. As many calls come from a thread of that child, if it can make one, and from a
 * child of its own. */
static int guest(const char* how, long calls) {
    copies(16 * scale, calls);
    const pid_t child = fork();
    if (child == 0) {
        give_up(how);
        copies(32 * scale, calls);
        if (strcmp(how, "calls")) threads(1, calls, 0);
        copy_in_child(64 * scale, calls);
        _exit(0);
    }
    const int code = end_of(child);
    copies(16 * scale, calls);
    return code;
}

/* SYSTEM_CALL ERRNO PROGRAM...: for the program, this one fails. */
static void refused(char** arguments) {
    const int call = strcmp(arguments[0], "madvise") == 0 ? SYS_madvise : SYS_fallocate;
    restrict_calls(&call, 1, SECCOMP_RET_ERRNO | (uint32_t)atol(arguments[1]), 0);
    execv(arguments[2], arguments + 2);
}

/* --- Others --- */

/* PATH TIMES: loaded so often, and unloaded but for the last time. */
static void plugin(const char* path, long times) {
    for (long i = 0; i < times; ++i) {
        void* library;
        ((void (*)(void))function_of(path, "copies_of_plugin", &library))();
        if (i + 1 < times) dlclose(library);
    }
}

static void mixture(long calls) {
    for (long i = 0; i < calls; ++i) {
        copy(to + 5, from + 3, 10);
        if (i % 4 == 0) move(to + 100, to + 50, 300);
        if (i % 16 == 0) copy(to + 65536, from + 200000, 5000);
        if (i % 64 == 0) set(to + 300000, 1, 100000);
    }
}

/* From many places: each of these calls has a return address of its own. In a trial for as many
   periods as it takes to try something at one of them. */
#define CALL copy(to, from, 1024);
#define CALLS CALL CALL CALL CALL CALL CALL CALL CALL
#define MANY CALLS CALLS CALLS CALLS CALLS CALLS CALLS CALLS
static void places(void) {
    for (int i = 0; i < (scale > 1 ? 3000 : 300); ++i) {
        from[0] = (unsigned char)i;
        MANY MANY MANY MANY MANY MANY MANY MANY;
        if (to[0] != from[0]) fail("a copy is wrong");
    }
}

/* Copies until its standard input ends; says after the first ones that it does. */
static void until_told(void) {
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    char told;
    copies(16, 1000);
    if (write(STDOUT_FILENO, "x", 1) != 1) fail("no output");
    while (read(STDIN_FILENO, &told, 1) != 0) copies(16, 1000);
}

/* HOW CALLS */
static void end_early(const char* how, long calls) {
    copies(16 * scale, calls);
    if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "null") == 0) copy(NULL, from, 16 * scale);
    if (strcmp(how, "handler") == 0) {
        signal(SIGUSR1, exit_on_signal);
        raise(SIGUSR1);
    }
    _exit(0);
}

int main(int argc, char** argv) {
    char* self = argv[0];
    if (argc > 1 && argv[1][0] == 'x') {
        scale = (size_t)atol(*++argv + 1);
        --argc;
    }
    const char* what = argc > 1 ? argv[1] : "";
    char* word = argc > 2 ? argv[2] : "";
    const long first = atol(word), second = argc > 3 ? atol(argv[3]) : 0;
#define SITUATION(name, action)                                                                    \
    if (strcmp(what, name) == 0) return action;
    SITUATION("copies", (copies((size_t)first, second), 0))
    SITUATION("functions", (functions(first ? first : 1), 0))
    SITUATION("threads", (threads(first, second, 1), 0))
    SITUATION("threads_in_turn", (threads(first, second, 0), 0))
    SITUATION("children", (children(first), 0))
    SITUATION("exec", (exec_itself(self, word), 0))
    SITUATION("signals", (signals(on_signal, first), 0))
    SITUATION("jumps", (jumps = 1, signals(on_signal, first), 0))
    SITUATION("fork_in_handler", (signals(fork_on_signal, 20), 0))
    SITUATION("errno_and_files", (keeps_errno_and_files(), 0))
    SITUATION("restricted", (restricted(word, second), 0))
    SITUATION("probed", (probed(word, second), 0))
    SITUATION("small_stack", (small_stack(first), 0))
    SITUATION("guest", guest(word, second))
    SITUATION("refused", (refused(argv + 2), 1))
    SITUATION("plugin", (plugin(word, second), 0))
    SITUATION("mixture", (mixture(first), 0))
    SITUATION("halves", (copies(16, first), copies(18, first), 0))
    SITUATION("places", (places(), 0))
    SITUATION("until_told", (until_told(), 0))
    SITUATION("end", (end_early(word, second), 0))
    SITUATION("family", (family(word, self, argc > 3 ? argv[3] : ""), 0))
    fprintf(stderr, "no such situation\n");
    return 2;
}
