/* The common parts of the check programs: options, memory between guard pages, random numbers,
 * handlers of signals, and functions of libraries. _GNU_SOURCE must be defined. */
#pragma once

#include <dlfcn.h>
#include <err.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))
#define HARNESS static inline UNUSED
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

enum { PAGE = 4096 };

/* The header about the architecture that a program is compiled for:
 * #include OF_ARCHITECTURE(header.h). The formatter would take the slash for a division. */
/* clang-format off */
#define IN_QUOTES(path) #path
#if defined(__aarch64__)
#define OF_ARCHITECTURE(header) IN_QUOTES(aarch64/header)
#elif defined(__x86_64__)
#define OF_ARCHITECTURE(header) IN_QUOTES(x86_64/header)
#endif
/* clang-format on */

/* libc's functions and those under test are called so. */
typedef void* (*plain_function)(void* destination, const void* source, size_t bytes);
typedef void* (*plain_set_function)(void* destination, int value, size_t bytes);

/* An option of a number, or of up to `most` with commas in between. */
struct option {
    const char* name;
    size_t *numbers, most, *count; /* `count`: the number of them, or NULL to ignore it */
};

/* Reads "--name value" pairs; exits 2 at an unknown option. */
HARNESS void read_options(int argc, char** argv, const struct option* options, size_t count) {
    for (int i = 1; i < argc; i += 2) {
        const struct option *o = options, *const end = options + count;
        while (o < end && strcmp(argv[i], o->name) != 0) ++o;
        if (o == end || i + 1 == argc) errx(2, "no option %s: see the head of its source", argv[i]);
        size_t n = 0;
        for (char* text = argv[i + 1]; *text != '\0' && n < o->most; text += *text == ',')
            o->numbers[n++] = strtoull(text, &text, 10);
        if (o->count) *o->count = n;
    }
}

HARNESS void* or_exit(void* memory) {
    if (memory == NULL || memory == MAP_FAILED) err(2, "no memory");
    return memory;
}

/* At least `bytes`, whole pages, between two pages that may not be touched. */
HARNESS unsigned char* guarded(size_t bytes) {
    bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    unsigned char* start = or_exit(mmap(NULL, bytes + 2 * PAGE, PROT_NONE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (mprotect(start + PAGE, bytes, PROT_READ | PROT_WRITE) != 0) or_exit(NULL);
    return start + PAGE;
}

/* Gives that memory back. */
HARNESS void release(unsigned char* memory, size_t bytes) {
    munmap(memory - PAGE, (bytes + PAGE - 1) / PAGE * PAGE + 2 * PAGE);
}

/* Whole words that depend on the position, of which no shift equals another: splitmix64. */
HARNESS void fill_randomly(unsigned char* memory, size_t bytes, uint64_t state) {
    for (size_t at = 0; at + 8 <= bytes; at += 8) {
        uint64_t z = ++state * 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        z ^= z >> 31;
        memcpy(memory + at, &z, 8);
    }
}

HARNESS __attribute__((noreturn)) void die(const char* what, size_t number) {
    printf("FAIL: %s: %zu\n", what, number);
    fflush(stdout);
    _exit(1);
}

/* A check that the command line names. */
struct check {
    const char* name;
    void (*run)(void);
};

/* Runs the one of these checks that has the name, and prints `ok`. */
HARNESS void run_check(const char* name, const struct check* checks, size_t count) {
    while (count > 0 && strcmp(checks[count - 1].name, name) != 0) --count;
    if (count == 0) errx(2, "no check %s: see the head of its source", name);
    checks[count - 1].run();
    puts("ok");
}

/* Has the signal handled so, on the alternative stack where there is one. */
HARNESS void handle(int number, void (*handler)(int, siginfo_t*, void*)) {
    const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(number, &action, NULL);
}

/* A function of a library, which is opened for it; exits 1 where it is not there. */
HARNESS void* function_of(const char* path, const char* name, void** library) {
    void* const opened = *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void* const function = opened ? dlsym(opened, name) : NULL;
    if (!function) die(dlerror(), 0);
    return function;
}
