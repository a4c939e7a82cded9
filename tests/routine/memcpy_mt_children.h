/* Part of memcpy_mt_check.c: processes that fork, before copies over threads and amid them. */
#pragma once

static pid_t by_system_call(void) {
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* All but fork call no handler of it. */
static pid_t (*const ways[])(void) = {
    fork,
    by_system_call,
#if __GLIBC_PREREQ(2, 34)
    _Fork,
#endif
};
enum { WAYS = COUNT_OF(ways) };

/* A child that shares its parent's memory: vfork with room to return. */
static int copy_in_shared_memory(UNUSED void* nothing) {
    const struct pair pair = new_pair(7);
    for (size_t i = 0; i < 3; ++i) copy(pair, 1000000 + i);
    if (tasks() != 1) die("threads of a child in shared memory", tasks());
    asterope_threads_stop(); /* as its exit() would */
    return 0;
}

static pid_t in_shared_memory(void) {
    static unsigned char stack[1 << 20] __attribute__((aligned(64)));
    return clone(copy_in_shared_memory, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, 0);
}

/* Children of fork start threads of their own. The others copy alone, and so do their
 * children. That holds before the parent has threads, and while another thread of it is in the
 * midst of a copy. It holds where they share its memory. The parent's own pool works on. */
static void children(void) {
    const struct pair pair = new_pair(3);
    pthread_t other;
    for (size_t i = 0; i < 100; ++i) {
        const size_t way = i % (WAYS + 1); /* the last one: in shared memory */
        /* No thread may start while we fork: AddressSanitizer has locks of its own for that, and
         * what was forked then waits for ever. A thread that has helped or called has started, so
         * there is one that helps where that sanitizer is used. */
        if (i == 10) check_help(pair, 0);
        if (i == 20) {
            pthread_create(&other, 0, call_until_stopped, 0);
            await_flag(&calling);
        }
        const pid_t child = way == WAYS ? in_shared_memory() : ways[way]();
        if (child == 0) {
            creations = creations_of_child;
            copy(pair, 1000000 + i);
            copy(pair, 2000000 + i);
            if ((ways[way] == fork) != (tasks() > 1)) die("threads of a child", tasks());
            if (ways[way] == fork) check_help(pair, 0);
            if (i % 3 == 0) {
                const pid_t grandchild = ways[i / 3 % WAYS]();
                copy(pair, 3000000 + i);
                if (grandchild != 0) await(grandchild);
            }
            exit(0); /* as programs do, destructors and all */
        }
        if (i >= 10) copy(pair, 4000000 + i);
        await(child);
        if (i >= 10 && i < 20) check_help(pair, 0);
    }
    set(&stop_calling);
    pthread_join(other, 0);
    check_help(pair, 0);
}

static struct pair of_handler;
static size_t way_to_fork;
static pid_t forked_child;
static volatile sig_atomic_t forked; /* 1 in the parent, 2 in the child */

/* The handler of a fault, which no copy holds back. */
static void fork_at_fault(UNUSED int signal) {
    forked_child = ways[way_to_fork]();
    forked = forked_child == 0 ? 2 : 1;
    if (forked_child != 0) return;
    /* another copy before the interrupted one goes on, with one worker: see run_and_fork */
    creations = 1;
    copy(of_handler, 400000);
}

/* The caller forks while workers are at work, and waits for them behind that. */
static void* work_late(void* to, const void* from, size_t bytes, UNUSED size_t distance) {
    if (!pthread_equal(pthread_self(), caller)) {
        set(&helped);
        while (!__atomic_load_n(&forked, __ATOMIC_ACQUIRE)) sched_yield();
        usleep(20000);
    } else if (!forked) {
        await_flag(&helped);
        raise(SIGTRAP);
    }
    return asterope_memcpy(to, from, bytes);
}

static void run_and_fork(asterope_threads_copy copy_and_fork, size_t way) {
    const struct pair pair = new_pair(9);
    caller = pthread_self();
    helped = 0;
    forked = 0;
    way_to_fork = way;
    if (!run_job(pair, 1000000, 0, copy_and_fork)) {
        if (forked != 2) die("nobody helps", way);
        asterope_memcpy(pair.to, pair.from, 1000000); /* as asterope_memcpy_mt does */
    }
    if (!forked) die("nobody forked", way);
    if (memcmp(pair.from, pair.to, 1000000)) die("copies wrongly", way);
    if (forked == 2) {
        copy(pair, 1000000);
        if (ways[way] == fork) {
            usleep(5000); /* the worker must be woken up, though the caller forked asleep */
            check_help(pair, 0);
        }
        exit(0);
    }
    await(forked_child);
}

/* A copy in the midst of which its caller becomes another process comes to its end there too. */
static void forks_in_copies(void) {
    of_handler = new_pair(5);
    signal(SIGTRAP, fork_at_fault);
    for (size_t i = 0; i < 5 * WAYS; ++i) run_and_fork(work_late, i % WAYS);
}

/* Each instruction of the caller comes here. At the system call that puts it to sleep it forks. */
static void fork_before_sleep(int signal, UNUSED siginfo_t* info, void* context) {
    if (!about_to_wait(context)) return;
    stop_stepping(context);
    fork_at_fault(signal);
}

static void* step_to_sleep(void* to, const void* from, size_t bytes, UNUSED size_t distance) {
    asterope_memcpy(to, from, bytes);
    if (!pthread_equal(pthread_self(), caller)) {
        set(&helped);
        while (!__atomic_load_n(&forked, __ATOMIC_ACQUIRE)) usleep(1000);
    } else if (!forked) {
        await_flag(&helped);
        start_stepping();
    }
    return to;
}

/* The fork just before a caller goes to sleep, when it has looked at everything: in the child
 * there is then no thread that could wake it. */
static void sleeper(void) {
    if (!CAN_STEP) {
        puts("skip: no process can step through its own instructions here");
        exit(0);
    }
    of_handler = new_pair(5);
    handle(SIGTRAP, fork_before_sleep);
    for (size_t i = 0; i < WAYS; ++i) run_and_fork(step_to_sleep, i);
}

/* The first process of a PID namespace, and its child that is the first one of another: both have
 * the number 1. */
static void namespace(void) {
    const struct pair pair = new_pair(3);
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
        puts("skip: no PID namespace is to be had");
        exit(0);
    }
    const pid_t first = fork();
    if (first == 0) {
        check_help(pair, 0);
        const pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
        if (getpid() != 1) die("the number in a namespace", (size_t)getpid());
        if (child < 0) die("no child in a namespace", 0);
        if (child == 0) copy(pair, 1000000);
        if (child != 0) await(child);
        exit(0);
    }
    await(first);
}
