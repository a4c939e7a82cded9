/* Copies and sets at places that a map names, each a function of its own, and counts who made
 * them.
 *
 * Arguments come one after the other. PLACE:SIZE copies there, and prints which way was taken as
 * a line. "closed" and PATH:SIZE are for the plugin. Before a place "thread", "handler" and
 * "fork" say where it is called from, "overlap" that its buffers do. A wrong copy ends it with
 * 1. With -DPLUGIN the places alone, as a library. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>

#include "harness.h"

/* Its calls have return addresses in it, none is a jump. */
#define PLACE(name, call)                                                                          \
    __attribute__((noinline)) void name(unsigned char* to, unsigned char* from, size_t bytes) {    \
        call;                                                                                      \
        __asm__ volatile("" : : "r"(to), "r"(from) : "memory");                                    \
    }
PLACE(first, memcpy(to, from, bytes))
PLACE(second, memcpy(to, from, bytes))
PLACE(moving, memmove(to, from, bytes))
PLACE(ending, if (mempcpy(to, from, bytes) != to + bytes) _exit(1))
PLACE(setting, memset(to, from[0], bytes))

#ifndef PLUGIN
typedef void place(unsigned char*, unsigned char*, size_t);

enum { LARGEST = 1 << 16, THREADS = 8, CALLS = 500, WAYS = 4 };

/* Where no library counts, all are 0. */
static long* counted(const char* name) {
    static long none[WAYS];
    long* found = dlsym(RTLD_DEFAULT, name);
    return found ? found : none;
}

static place* wanted;
static size_t bytes; /* that it is to copy */

static void check(unsigned char* to, unsigned char* from) {
    static __thread unsigned char value;
    const unsigned char start = (unsigned char)(value + 1);
    to[bytes] = 7;
    for (size_t i = 0; i < bytes; ++i) from[i] = ++value;
    wanted(to, from, bytes);
    for (size_t i = 0; i < bytes; ++i)
        if (to[i] != (unsigned char)(start + (wanted == setting ? 0 : i))) _exit(1);
    if (to[bytes] != 7) _exit(1);
}

static __thread unsigned char source[LARGEST], target[LARGEST];
static void on_signal(UNUSED int number) {
    check(target, source);
}

static void* in_thread(void* nothing) {
    for (int i = 0; i < CALLS; ++i) check(target, source);
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

int main(int count, char** words) {
    static const char* const names[WAYS] = {"hot", "cold", "consume", "fresh"};
    const long *own = counted("asterope_counted"), *libcs = counted("next_counted");
    const char* situation = "";
    for (int i = 1; i < count; ++i) {
        char* colon = strrchr(words[i], ':');
        if (!strcmp(words[i], "closed")) {
            dlclose(plugin);
        } else if (!strcmp(words[i], "fork")) {
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
            long before[WAYS], libcs_before = libcs[0];
            for (int way = 0; way < WAYS; ++way) before[way] = own[way];
            if (!strcmp(situation, "thread")) {
                in_threads();
            } else if (!strcmp(situation, "handler")) {
                signal(SIGUSR1, on_signal);
                raise(SIGUSR1);
            } else if (!strcmp(situation, "overlap")) {
                check(source + 1, source);
            } else {
                check(target, source);
            }
            for (int way = 0; way < WAYS; ++way)
                if (own[way] > before[way]) printf("%ld %s ", own[way] - before[way], names[way]);
            if (libcs[0] > libcs_before) printf("%ld libc ", libcs[0] - libcs_before);
            printf("\n");
            situation = "";
        }
    }
    return 0;
}
#endif
