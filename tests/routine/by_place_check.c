/* Copies and sets by libc's names, each at a place of its own that a map may name, into memory that
 * nobody has touched.
 *
 * Arguments come one after the other. PLACE:SIZE copies there, and prints as a line by how much
 * each counter of the libraries under it has grown. Before a place "thread", "handler" and "fork"
 * say where it is called from, "overlap" that its destination begins within its source. "halted":
 * the first load from the source faults. Then the line says how many pages of the destination are
 * there, or "cannot" where the system prepares none. "closed" and PATH:SIZE are for the plugin.
 *
 * Prints `FAIL: ...` and exits with 1 where bytes, the result or errno are wrong. With -DPLUGIN the
 * places alone, as a library. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

#include "harness.h"

/* Its calls have return addresses in it, none is a jump. */
#define PLACE(name, call)                                                                          \
    __attribute__((noinline)) void* name(unsigned char* to, unsigned char* from, size_t bytes) {   \
        void* result = call;                                                                       \
        __asm__ volatile("" : "+r"(result) : "r"(to), "r"(from) : "memory");                       \
        return result;                                                                             \
    }
PLACE(first, memcpy(to, from, bytes))
PLACE(second, memcpy(to, from, bytes))
PLACE(moving, memmove(to, from, bytes))
PLACE(ending, mempcpy(to, from, bytes))
PLACE(setting, memset(to, 0x100 + from[0], bytes))
PLACE(zeroing, (bzero(to, bytes), to))

#ifndef PLUGIN
typedef void* place(unsigned char*, unsigned char*, size_t);

enum { ALIGNED = 1 << 16, THREADS = 8, CALLS = 500, POPULATE = 23, WAYS = 4 };

/* Where no library counts, all are 0. */
static long* counted(const char* name) {
    static long none[WAYS];
    long* found = dlsym(RTLD_DEFAULT, name);
    return found ? found : none;
}

/* At a multiple of every page size, with room before and behind it. */
static unsigned char* fresh(size_t bytes) {
    const size_t at = (size_t)guarded(bytes + 3 * ALIGNED);
    unsigned char* there = (unsigned char*)((at / ALIGNED + 2) * ALIGNED);
    madvise(there - ALIGNED, bytes + 2 * ALIGNED, MADV_NOHUGEPAGE);
    return there;
}

static place* wanted;
static size_t bytes, distance; /* that it is to copy, and how far; 0: to other memory */
static bool is_halted;
static size_t resident; /* pages of the target, where it is halted */
static __thread unsigned char *source, *target;

static void on_fault(UNUSED int number, UNUSED siginfo_t* info, UNUSED void* context) {
    static unsigned char state[1 << 16];
    if (mincore(target, bytes / PAGE * PAGE, state) != 0) _exit(1);
    resident = 0;
    for (size_t i = 0; i < bytes / PAGE; ++i) resident += state[i] & 1;
    if (mprotect(source, PAGE, PROT_READ | PROT_WRITE) != 0) _exit(1);
}

static bool prepares_pages(void) {
    return madvise(guarded(PAGE), PAGE, POPULATE) == 0;
}

static unsigned char pattern(size_t at, unsigned turn) {
    return (unsigned char)((at + 7 * turn + 1) * 167 >> 3);
}

static void find_memory(void) {
    source = fresh(bytes + distance);
    target = distance ? source + distance : fresh(bytes);
}

static void check(void) {
    static __thread unsigned turn;
    ++turn;
    for (size_t at = 0; at < bytes; ++at) source[at] = pattern(at, turn);
    if (is_halted) {
        handle(SIGSEGV, on_fault);
        if (mprotect(source, PAGE, PROT_NONE) != 0) or_exit(NULL);
    }
    errno = 77;
    const void* result = wanted(target, source, bytes);
    if (result != (wanted == ending ? target + bytes : target)) die("another result", bytes);
    if (errno != 77) die("errno changed", bytes);
    for (size_t at = 0; at < bytes; ++at) {
        const unsigned char copied = pattern(wanted == setting ? 0 : at, turn);
        if (target[at] != (wanted == zeroing ? 0 : copied)) die("wrong byte", at);
    }
    if (target[bytes] != 0 || (distance == 0 && target[-1] != 0)) die("wrote beside", bytes);
}

static void on_signal(UNUSED int number) {
    check();
}

static void* in_thread(void* nothing) {
    find_memory();
    for (int i = 0; i < CALLS; ++i) check();
    return nothing;
}

static void in_threads(void) {
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; ++i) pthread_create(&thread[i], NULL, in_thread, NULL);
    for (int i = 0; i < THREADS; ++i) pthread_join(thread[i], NULL);
}

static void* plugin;
static place* find(char* name) {
    place* const own = (place*)dlsym(RTLD_DEFAULT, name);
    return own ? own : (place*)function_of(name, "first", &plugin);
}

static void call(const char* situation) {
    static const char* const names[WAYS] = {"hot", "cold", "consume", "fresh"};
    const long *own = counted("asterope_counted"), *libcs = counted("next_counted");
    long before[WAYS], libcs_before = libcs[0];
    distance = strcmp(situation, "overlap") == 0 ? bytes / 2 + 1 : 0;
    is_halted = strcmp(situation, "halted") == 0;
    find_memory();
    for (int way = 0; way < WAYS; ++way) before[way] = own[way];
    if (strcmp(situation, "thread") == 0) {
        in_threads();
    } else if (strcmp(situation, "handler") == 0) {
        signal(SIGUSR1, on_signal);
        raise(SIGUSR1);
    } else {
        check();
    }
    if (is_halted && prepares_pages()) {
        printf("%zu", resident);
    } else if (is_halted) {
        printf("cannot");
    } else {
        for (int way = 0; way < WAYS; ++way)
            if (own[way] > before[way]) printf("%ld %s ", own[way] - before[way], names[way]);
        if (libcs[0] > libcs_before) printf("%ld libc ", libcs[0] - libcs_before);
    }
    printf("\n");
}

int main(int count, char** words) {
    const char* situation = "";
    for (int i = 1; i < count; ++i) {
        char* colon = strrchr(words[i], ':');
        if (strcmp(words[i], "closed") == 0) {
            dlclose(plugin);
        } else if (strcmp(words[i], "fork") == 0) {
            int status = 0;
            fflush(stdout);
            const pid_t child = fork();
            if (child) return waitpid(child, &status, 0) < 0 || status;
        } else if (!colon) {
            situation = words[i];
        } else {
            *colon = 0;
            wanted = find(words[i]);
            bytes = (size_t)atol(colon + 1);
            call(situation);
            situation = "";
        }
    }
    return 0;
}
#endif
