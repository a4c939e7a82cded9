/* Checks that a generated routine copies right: asterope_memcpy, _mempcpy, _memmove, and where they
 * are there asterope_memcpy_hot, _cold and _consume; and that its asterope_memset sets right.
 *
 * Usage: routine_check [--step N] [--other-step N] [--last BYTES] [--largest BYTES]
 *                      [--around BYTES,BYTES...] [--huge BYTES,BYTES...]
 *                      [--without-state 1]
 *   --step           thins the grid of memcpy, see copy_check_offsets (default 1)
 *   --other-step     thins those of the others, which share memcpy's pipelines (default 1)
 *   --last           ends the grids of sizes and offsets (default 1024)
 *   --largest        doubles the size from 2 KiB up to here (default 1 MiB)
 *   --around         also checks these sizes and their neighbours, a profile's interval ends
 *   --huge           also copies and sets these sizes, beyond what there is memory for
 *   --without-state  leaves the state of the CPU unchecked, for emulators that disagree about it
 * Prints `ok NAME` or `FAIL NAME: reason` for each function; exits 1 if one failed. */
#define _GNU_SOURCE
#include "asterope_memcpy.h"
#include "copy_check.h"
#include "harness.h"

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

static size_t step = 1, other_step = 1, last = 1024, largest = 1 << 20;
static size_t without_state;
static size_t around[MOST_SIZES], around_count, huge[MOST_SIZES], huge_count;

static const struct option options[] = {
    {.name = "--step", .number = &step},
    {.name = "--other-step", .number = &other_step},
    {.name = "--last", .number = &last},
    {.name = "--largest", .number = &largest},
    {.name = "--without-state", .number = &without_state},
    {.name = "--around", .numbers = around, .count = &around_count, .most = MOST_SIZES},
    {.name = "--huge", .numbers = huge, .count = &huge_count, .most = MOST_SIZES},
};

/* The memset is last: behind it no copy can be checked any more. */
static const struct entry {
    const char* name;
    copy_function copy;
    void (*function)(void); /* NULL: the routine has none */
    const size_t* step;
    bool returns_end, may_overlap;
} entries[] = {
#define OF(name) #name, call_##name, (void (*)(void))asterope_##name
    {OF(memcpy), &step, false, false},
    {OF(mempcpy), &other_step, true, true},
    {OF(memmove), &other_step, false, true},
    {OF(memcpy_hot), &other_step, false, false},
    {OF(memcpy_cold), &other_step, false, false},
    {OF(memcpy_consume), &other_step, false, false},
    {OF(memset), &step, false, false},
};

/* Whether it passed; prints the verdict. */
static bool check(const struct entry* entry) {
    const bool sets = entry->copy == call_memset;
    const struct copy_subject subject = {
        .name = entry->name, .copy = entry->copy, .returns_end = entry->returns_end, .sets = sets};
    const struct copy_plan plan = {
        .function = without_state ? NULL : entry->function,
        .last = last,
        .page_ends = *entry->step < 13 ? 13 : *entry->step,
        .offsets = sets ? 64 : *entry->step, /* a set: every size at every offset */
        .overlaps = entry->may_overlap ? *entry->step : 0,
        .doubling = 2048,
        .largest = largest,
        .around = around,
        .around_count = around_count,
        .unwritten = entry->may_overlap,
    };
    return copy_check_all(&subject, &plan);
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

enum { SOURCE_AT = 17, DESTINATION_AT = 5 };

/* As source and destination repeat alike, all of the copy is right if its last period is. */
static bool check_huge(size_t bytes) {
    enum { BYTE = 0x95 };
    unsigned char* source = or_exit(map_periodic(bytes));
    unsigned char* to = (unsigned char*)or_exit(map_periodic(bytes)) + DESTINATION_AT;
    fill_period(source);
    const unsigned char* from = source + SOURCE_AT;
    bool right = asterope_memcpy(to, from, bytes) == to &&
                 memcmp(to + bytes - PERIOD, from + bytes - PERIOD, PERIOD) == 0;
    if (asterope_memset != NULL) {
        right = right && asterope_memset(to, BYTE, bytes) == to;
        for (size_t i = 1; i <= PERIOD; ++i) right &= to[bytes - i] == BYTE;
    }
    printf("%s %zu bytes\n", right ? "ok" : "FAIL", bytes);
    return right;
}

int main(int argc, char** argv) {
    read_options(argc, argv, options, COUNT_OF(options));
    size_t most = largest;
    for (size_t i = 0; i < around_count; ++i) most = around[i] > most ? around[i] : most;
    copy_check_start(most + 64);
    bool right = true;
    for (size_t i = 0; i < COUNT_OF(entries); ++i) {
        if (entries[i].function) right &= check(&entries[i]);
    }
    for (size_t i = 0; i < huge_count; ++i) right &= check_huge(huge[i]);
    return right ? 0 : 1;
}
