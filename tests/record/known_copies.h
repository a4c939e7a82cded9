/* Copies and sets of record_check's program that are known exactly, each of which is looked at. */
#pragma once

#include "../routine/harness.h"

void* __memcpy_chk(void*, const void*, size_t, size_t);
void* __memmove_chk(void*, const void*, size_t, size_t);
void* __mempcpy_chk(void*, const void*, size_t, size_t);
void* __memset_chk(void*, int, size_t, size_t);

/* Through these the compiler can neither inline nor foresee a call. */
typedef void* copy_function(void*, const void*, size_t);
static copy_function* volatile copy = memcpy;
static copy_function* volatile move = memmove;
static copy_function* volatile copy_to_end = mempcpy;
static void* (*volatile set)(void*, int, size_t) = memset;

#define LARGEST (1 << 20)
static unsigned char from[LARGEST + 64], to[LARGEST + 64];
static size_t scale = 1;

static void fail(const char* what) {
    if (write(2, what, strlen(what)) < 0) _exit(3);
    _exit(1);
}

/* A byte of each 61 and the last. */
static void look(const unsigned char* at, size_t bytes, int value) {
    for (size_t i = 0; i < bytes; i += i + 64 < bytes ? 61 : 1)
        if (at[i] != (unsigned char)value) fail("a copy is wrong");
}

/* Copies of all sizes come from one place of the program. */
__attribute__((noinline)) static void copy_into(unsigned char* target, size_t bytes) {
    if (bytes) target[0] = target[bytes - 1] = 0xff;
    if (copy(target, from, bytes) != target) fail("a result is wrong");
    if (bytes && (target[0] || target[bytes - 1])) fail("a copy is wrong");
}

static void copies(size_t bytes, long calls) {
    while (calls-- > 0) copy_into(to, bytes);
}

/* TIMES as many calls of each. */
static void functions(long times) {
    static const size_t sizes[] = {0,  1,  2,  7,   8,   15,   16,   17,    31,     32,
                                   33, 63, 64, 100, 255, 1000, 4096, 70000, LARGEST};
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        const size_t bytes = sizes[i];
        const long calls = (long)(i * 37 % 50) * times;
        for (long call = 0; call < calls; ++call) {
            const int value = (int)call % 99;
            if (set(from, 256 + value, bytes) != from) fail("a result is wrong");
            look(from, bytes, value);
            const void* const results[] = {
                copy(to, from, bytes),
                __memcpy_chk(to, from, bytes, bytes),
                move(to, from, bytes),
                __memmove_chk(to, from, bytes, bytes),
                (char*)copy_to_end(to, from, bytes) - bytes,
                (char*)__mempcpy_chk(to, from, bytes, bytes) - bytes,
            };
            look(to, bytes, value);
            for (size_t k = 0; k < COUNT_OF(results); ++k)
                if (results[k] != to) fail("a result is wrong");
            if (__memset_chk(to, 'x', bytes, bytes) != to) fail("a result is wrong");
            look(to, bytes, 'x');
        }
        printf("memcpy %zu %ld\nmemmove %zu %ld\nmempcpy %zu %ld\nmemset %zu %ld\n", bytes,
               2 * calls, bytes, 2 * calls, bytes, 2 * calls, bytes, 2 * calls);
    }
}
