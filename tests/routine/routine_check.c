/* Checks that a generated routine copies right: asterope_memcpy, _mempcpy, _memmove, and where they
 * are there asterope_memcpy_hot, _cold and _consume; and that its asterope_memset sets right.
 *
 * Usage: routine_check [--step N] [--other-step N] [--last BYTES] [--largest BYTES]
 *                      [--around BYTES,BYTES...] [--huge BYTES,BYTES...] [--whole BYTES]
 *                      [--whole-set BYTES] [--without-state 1]
 *   --step           thins the grid of memcpy, see copy_check_offsets (default 1)
 *   --other-step     thins those of the others, which share memcpy's pipelines (default 1)
 *   --last           ends the grids of sizes and offsets (default 1024)
 *   --largest        doubles the size from 2 KiB up to here (default 1 MiB)
 *   --around         also checks these sizes and their neighbours, a profile's interval ends
 *   --huge           also copies these sizes, beyond what there is memory for
 *   --whole          only copies this size, to as much memory, and looks at every byte of it
 *   --whole-set      the same of memset
 *   --without-state  leaves the state of the CPU unchecked, for emulators that disagree about it
 * Prints `ok NAME` or `FAIL NAME: reason` for each function; exits 1 if one failed. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "asterope_memcpy.h"
#include "copy_check.h"

enum { MOST_SIZES = 256 };

/* Each with a distance, which it ignores. */
#define ENTRY(name)                                                                                \
    static void* call_##name(void* destination, const void* source, size_t bytes,                  \
                             size_t distance) {                                                    \
        (void)distance;                                                                            \
        return asterope_##name(destination, source, bytes);                                        \
    }
/* Entry points by intent, which not every routine has. */
#define INTENT(name)                                                                               \
    __attribute__((weak)) void* asterope_##name(void*, const void*, size_t);                       \
    ENTRY(name)
ENTRY(memcpy)
ENTRY(mempcpy)
ENTRY(memmove)
INTENT(memcpy_hot)
INTENT(memcpy_cold)
INTENT(memcpy_consume)

__attribute__((weak)) void* asterope_memset(void*, int, size_t);
static void* call_memset(void* destination, const void* byte, size_t bytes, size_t distance) {
    (void)distance;
    return asterope_memset(destination, (int)(uintptr_t)byte, bytes);
}

struct sizes {
    size_t count, bytes[MOST_SIZES];
};

static struct options {
    size_t step, other_step, last, largest, whole, whole_set, without_state;
    struct sizes around, huge;
} options = {.step = 1, .other_step = 1, .last = 1024, .largest = 1 << 20};

static struct sizes parse_sizes(const char* text) {
    struct sizes sizes = {0};
    while (*text != '\0' && sizes.count < MOST_SIZES) {
        char* end;
        sizes.bytes[sizes.count++] = strtoull(text, &end, 10);
        text = *end == ',' ? end + 1 : end;
    }
    return sizes;
}

static void parse(int argc, char** argv) {
    const struct {
        const char* name;
        size_t* number;
        struct sizes* sizes;
    } known[] = {
        {"--step", &options.step, NULL},
        {"--other-step", &options.other_step, NULL},
        {"--last", &options.last, NULL},
        {"--largest", &options.largest, NULL},
        {"--whole", &options.whole, NULL},
        {"--without-state", &options.without_state, NULL},
        {"--whole-set", &options.whole_set, NULL},
        {"--around", NULL, &options.around},
        {"--huge", NULL, &options.huge},
    };
    for (int i = 1; i + 1 < argc; i += 2) {
        size_t k = 0;
        while (strcmp(argv[i], known[k].name) != 0) {
            if (++k < sizeof known / sizeof known[0]) continue;
            fprintf(stderr, "routine_check: unknown option %s\n", argv[i]);
            exit(2);
        }
        if (known[k].number) *known[k].number = strtoull(argv[i + 1], NULL, 10);
        if (known[k].sizes) *known[k].sizes = parse_sizes(argv[i + 1]);
    }
}

/* Whether it passed; prints the verdict. */
static bool check(const char* name, copy_function copy, void (*function)(void), size_t step,
                  bool returns_end, bool may_overlap) {
    const struct copy_subject subject = {.name = name, .copy = copy, .returns_end = returns_end};
    bool right = (options.without_state || copy_check_state(&subject, function)) &&
                 copy_check_guards(&subject, 0, options.last) &&
                 copy_check_page_ends(&subject, step < 13 ? 13 : step) &&
                 copy_check_offsets(&subject, 0, options.last, step) &&
                 (!may_overlap || copy_check_overlaps(&subject, step, options.largest)) &&
                 copy_check_doubling(&subject, 2048, options.largest);
    for (size_t i = 0; right && i < options.around.count; ++i) {
        right = copy_check_around(&subject, options.around.bytes[i]);
    }
    if (right) printf("ok %s\n", name);
    fflush(stdout);
    return right;
}

/* Each byte with its complement. A set of zeros may take other ways than that of another byte. */
static bool check_memset(void) {
    static const unsigned char bytes[] = {0x00, 0x80, 0x6B};
    const struct copy_subject subject = {.name = "memset", .copy = call_memset, .sets = true};
    bool right = true;
    for (size_t i = 0; right && i < sizeof bytes; ++i) {
        copy_check_byte(bytes[i]);
        right = (options.without_state ||
                 copy_check_state(&subject, (void (*)(void))asterope_memset)) &&
                copy_check_guards(&subject, 0, options.last) &&
                copy_check_page_ends(&subject, options.step < 13 ? 13 : options.step) &&
                /* every size at every offset */
                copy_check_offsets(&subject, 0, options.last, 64) &&
                copy_check_doubling(&subject, 2048, options.largest);
        for (size_t k = 0; right && k < options.around.count; ++k) {
            right = copy_check_around(&subject, options.around.bytes[k]);
        }
    }
    if (right) printf("ok memset\n");
    fflush(stdout);
    return right;
}

/* --- Sizes beyond the memory there is --- */

enum { PERIOD = 64 << 20 };

/* `bytes` bytes of addresses that show the same PERIOD bytes of memory again and again. */
static unsigned char* map_periodic(size_t bytes) {
    const int file = memfd_create("routine_check", 0);
    if (file < 0 || ftruncate(file, PERIOD) != 0) return NULL;
    bytes = (bytes / PERIOD + 2) * PERIOD;
    unsigned char* start =
        mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return NULL;
    for (size_t at = 0; at < bytes; at += PERIOD) {
        if (mmap(start + at, PERIOD, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
            MAP_FAILED) {
            return NULL;
        }
    }
    close(file);
    return start;
}

static void fill_period(unsigned char* start) {
    uint32_t word = 1;
    for (size_t i = 0; i < PERIOD; i += 4) {
        word = word * 1664525u + 1013904223u;
        memcpy(start + i, &word, 4);
    }
}

static void* or_exit(void* memory) {
    if (memory != NULL && memory != MAP_FAILED) return memory;
    perror("routine_check: mmap");
    exit(2);
}

enum { SOURCE_AT = 17, DESTINATION_AT = 5 };

/* As source and destination repeat alike, all of the copy is right if its last period is. */
static bool check_huge(size_t bytes) {
    unsigned char* source = or_exit(map_periodic(bytes));
    unsigned char* to = (unsigned char*)or_exit(map_periodic(bytes)) + DESTINATION_AT;
    fill_period(source);
    const unsigned char* from = source + SOURCE_AT;
    const bool right = asterope_memcpy(to, from, bytes) == to &&
                       memcmp(to + bytes - PERIOD, from + bytes - PERIOD, PERIOD) == 0;
    printf("%s memcpy of %zu bytes\n", right ? "ok" : "FAIL", bytes);
    return right;
}

/* Fresh memory, whose bytes are all 0: one that was not written is seen, and so are strays. */
static unsigned char* map_fresh(size_t room) {
    unsigned char* start = or_exit(mmap(NULL, room, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    madvise(start, room, MADV_HUGEPAGE); /* half the time, where there are some */
    return start;
}

static bool check_whole_set(size_t bytes) {
    enum { BYTE = 0x95 };
    const size_t room = bytes + (2 << 20);
    unsigned char* start = map_fresh(room);
    unsigned char* to = start + (1 << 20) + DESTINATION_AT;
    bool right = asterope_memset(to, BYTE, bytes) == to;
    for (unsigned char* b = start; b < to; ++b) right &= *b == 0;
    for (unsigned char* b = to; b < to + bytes; ++b) right &= *b == BYTE;
    for (unsigned char* b = to + bytes; b < start + room; ++b) right &= *b == 0;
    printf("%s memset of %zu bytes\n", right ? "ok" : "FAIL", bytes);
    return right;
}

static bool check_whole(size_t bytes) {
    unsigned char* source = or_exit(map_periodic(bytes));
    fill_period(source);
    const size_t room = bytes + (2 << 20);
    unsigned char* start = map_fresh(room);
    unsigned char* to = start + (1 << 20) + DESTINATION_AT;
    const unsigned char* from = source + SOURCE_AT;
    bool right = asterope_memcpy(to, from, bytes) == to && memcmp(to, from, bytes) == 0;
    for (unsigned char* b = start; b < to; ++b) right &= *b == 0;
    for (unsigned char* b = to + bytes; b < start + room; ++b) right &= *b == 0;
    printf("%s memcpy of %zu bytes\n", right ? "ok" : "FAIL", bytes);
    return right;
}

int main(int argc, char** argv) {
    parse(argc, argv);
    if (options.whole > 0) return check_whole(options.whole) ? 0 : 1;
    if (options.whole_set > 0) return check_whole_set(options.whole_set) ? 0 : 1;
    size_t largest = options.largest;
    for (size_t i = 0; i < options.around.count; ++i) {
        if (options.around.bytes[i] > largest) largest = options.around.bytes[i];
    }
    copy_check_start(largest + 64);
    bool right = true;
#define CHECK(name, step, returns_end, may_overlap)                                                \
    right &= check(#name, call_##name, (void (*)(void))asterope_##name, options.step, returns_end, \
                   may_overlap)
    CHECK(memcpy, step, false, false);
    CHECK(mempcpy, other_step, true, true);
    CHECK(memmove, other_step, false, true);
    if (asterope_memcpy_hot) CHECK(memcpy_hot, other_step, false, false);
    if (asterope_memcpy_cold) CHECK(memcpy_cold, other_step, false, false);
    if (asterope_memcpy_consume) CHECK(memcpy_consume, other_step, false, false);
    if (asterope_memset) right &= check_memset(); /* last: no copy can be checked any more */
    for (size_t i = 0; i < options.huge.count; ++i) right &= check_huge(options.huge.bytes[i]);
    return right ? 0 : 1;
}
