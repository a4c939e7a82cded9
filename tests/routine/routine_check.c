/* Checks that generated routines copy right: memcpy, mempcpy, memmove, and memcpy_hot, _cold,
 * _consume and _mt where they exist. Their memset must set right. routines.inc, which the test
 * writes, lists them as ROUTINE(prefix, BYTES...): the bytes are sizes at which the routine's code
 * changes, such as the ends of its intervals.
 *
 * Usage: routine_check [--step N] [--other-step N] [--last BYTES] [--largest BYTES]
 *                      [--around BYTES,BYTES...] [--without-state 1] [--count N]
 *
 *   --step           Thins the grid of memcpy, see copy_plan's offsets (default 1).
 *   --other-step     Thins those of the others, which share memcpy's pipelines (default 1).
 *   --last           Ends the grids of sizes and offsets (default 1024).
 *   --largest        Doubles the size from 2 KiB up to here (default 1 MiB).
 *   --around         Also checks these sizes and their neighbours, a profile's interval ends.
 *   --without-state  Leaves the state of the CPU unchecked, for emulators that disagree about it.
 *
 *   --count          Copies at random instead, so many times with each routine. Function, source,
 *                    destination and a size up to --largest are drawn, always the same cases. Sets
 *                    by the guard pages and around the sizes of the routine, too.
 *
 * Memcpy is never given buffers that overlap. Prints `ok NAME` for each function or, at random,
 * each routine, or `FAIL NAME: reason`; exits 1 if one failed. */
#define _GNU_SOURCE
#include "copy_check.h"
#include "harness.h"

enum { MOST_SIZES = 256 };

/* The memset is last: behind it no copy can be checked any more. */
static const struct function {
    const char* name;
    bool returns_end, may_overlap;
} functions[] = {{.name = "memcpy"},     {"mempcpy", true, true}, {"memmove", false, true},
                 {.name = "memcpy_hot"}, {.name = "memcpy_cold"}, {.name = "memcpy_consume"},
                 {.name = "memcpy_mt"},  {.name = "memset"}};
enum { PLAIN = 3, MEMSET = 7, FUNCTIONS = 8 };

struct routine {
    const char* prefix;
    void (*functions[FUNCTIONS])(void); /* NULL: it has none */
    const size_t* sizes;
    size_t size_count;
};

typedef void* copies(void*, const void*, size_t);
typedef void* sets(void*, int, size_t);

#define ROUTINE(p, ...)                                                                            \
    copies p##_memcpy, p##_mempcpy, p##_memmove;                                                   \
    __attribute__((weak)) copies p##_memcpy_hot, p##_memcpy_cold, p##_memcpy_consume,              \
        p##_memcpy_mt;                                                                             \
    __attribute__((weak)) sets p##_memset;                                                         \
    static const size_t p##_sizes[] = {__VA_ARGS__};
#include "routines.inc"
#undef ROUTINE

static const struct routine routines[] = {
#define OF(p, name) (void (*)(void)) p##_##name
#define ROUTINE(p, ...)                                                                            \
    {#p,                                                                                           \
     {OF(p, memcpy), OF(p, mempcpy), OF(p, memmove), OF(p, memcpy_hot), OF(p, memcpy_cold),        \
      OF(p, memcpy_consume), OF(p, memcpy_mt), OF(p, memset)},                                     \
     p##_sizes,                                                                                    \
     COUNT_OF(p##_sizes)},
#include "routines.inc"
};

static size_t step = 1, other_step = 1, last = 1024, largest = 1 << 20;
static size_t without_state, count;
static size_t around[MOST_SIZES], around_count;

static const struct option options[] = {
    {"--step", &step, 1, NULL},
    {"--other-step", &other_step, 1, NULL},
    {"--last", &last, 1, NULL},
    {"--largest", &largest, 1, NULL},
    {"--without-state", &without_state, 1, NULL},
    {"--count", &count, 1, NULL},
    {"--around", around, MOST_SIZES, &around_count},
};

static void (*called)(void);

static void* call(void* destination, const void* source, size_t bytes, UNUSED size_t distance) {
    return ((plain_function)called)(destination, source, bytes);
}

static void* call_set(void* destination, const void* byte, size_t bytes, UNUSED size_t distance) {
    return ((plain_set_function)called)(destination, (int)(uintptr_t)byte, bytes);
}

/* The one function that is called from now on. */
static struct copy_subject subject_of(const struct routine* routine, size_t function) {
    static char name[128];
    snprintf(name, sizeof name, "%s_%s", routine->prefix, functions[function].name);
    called = routine->functions[function];
    return (struct copy_subject){.name = name,
                                 .copy = function == MEMSET ? call_set : call,
                                 .returns_end = functions[function].returns_end,
                                 .sets = function == MEMSET};
}

/* Whether it passed; prints the verdict. */
static bool check(const struct routine* routine, size_t function) {
    const struct copy_subject subject = subject_of(routine, function);
    const size_t thinned = function == 0 || subject.sets ? step : other_step;
    const bool may_overlap = functions[function].may_overlap;
    const struct copy_plan plan = {
        .function = without_state ? NULL : called,
        .last = last,
        .page_ends = thinned < 13 ? 13 : thinned,
        .offsets = subject.sets ? 64 : thinned, /* a set: every size at every offset */
        .overlaps = may_overlap ? thinned : 0,
        .doubling = 2048,
        .largest = largest,
        .around = around,
        .around_count = around_count,
        .unwritten = may_overlap,
    };
    return copy_check_all(&subject, &plan);
}

/* At random; both ends included. */
static ptrdiff_t between(ptrdiff_t low, ptrdiff_t high) {
    return low + random() % (high - low + 1);
}

/* Mostly small, as real calls are, and often near a size at which the code changes. */
static ptrdiff_t random_size(const struct routine* routine) {
    const long kind = random() % 4;
    const ptrdiff_t most = (ptrdiff_t)largest;
    if (kind == 0) return between(0, 64);
    if (kind == 1) return between(0, 700);
    if (kind == 2) {
        const ptrdiff_t size = (ptrdiff_t)routine->sizes[(size_t)random() % routine->size_count];
        const ptrdiff_t near = random() % 2 ? 3 : 130;
        if (size + 130 <= most) return between(size - (near < size ? near : 0), size + near);
    }
    /* as many of 100 bytes as of 10000 */
    ptrdiff_t limit = 128;
    while (limit < most && random() % 8 != 0) limit *= 2;
    return between(0, limit < most ? limit : most);
}

/* Whether a case was copied right; what is wrong has been printed otherwise. */
static bool copies_right(const struct routine* routine) {
    const size_t function = (size_t)random() % PLAIN;
    const ptrdiff_t bytes = random_size(routine);
    ptrdiff_t distance;
    switch (function == 0 ? 0 : random() % 4) {
    case 0: /* apart: near, within two pages, or a little more than whole pages */
        distance = bytes + between(0, random() % 2 ? 64 : 8192);
        if (random() % 2) distance = (distance + 4095) / 4096 * 4096 + between(0, 64);
        break;
    case 1:
        distance = between(0, 130);
        break;
    default:
        distance = between(0, bytes + 64);
    }
    if (random() % 2) distance = -distance;

    /* each of source and destination is the one that ends at a guard page now and then */
    const ptrdiff_t span = bytes + (distance < 0 ? -distance : distance);
    const ptrdiff_t slack = (ptrdiff_t)copy_check_room() - span;
    const long place = random() % 4;
    const ptrdiff_t low = place == 0   ? between(0, 64)
                          : place == 1 ? slack - between(0, 64)
                                       : between(0, slack < 8192 ? slack : 8192);
    const struct copy_subject subject = subject_of(routine, function);
    const ptrdiff_t source_at = distance < 0 ? low - distance : low;
    return copy_check_move(&subject, (size_t)source_at, distance, (size_t)bytes);
}

static bool sets_right(const struct routine* routine) {
    const struct copy_subject subject = subject_of(routine, MEMSET);
    const struct copy_plan plan = {
        .last = 1100, .around = routine->sizes, .around_count = routine->size_count};
    for (int byte = 0; byte < 0x81; byte += 0x80) {
        copy_check_byte((unsigned char)byte);
        if (!copy_check(&subject, &plan)) return false;
    }
    return true;
}

static bool right_at_random(const struct routine* routine) {
    srandom(1); /* so that a routine's cases do not depend on the others */
    if (routine->functions[MEMSET] && !sets_right(routine)) return false;
    for (size_t i = 0; i < count; ++i) {
        if (!copies_right(routine)) return false;
    }
    printf("ok %s\n", routine->prefix);
    return true;
}

int main(int argc, char** argv) {
    read_options(argc, argv, options, COUNT_OF(options));
    size_t most = largest;
    for (size_t i = 0; i < around_count; ++i) most = around[i] > most ? around[i] : most;
    copy_check_start(most + 64);
    bool right = true;
    for (size_t i = 0; i < COUNT_OF(routines); ++i, fflush(stdout)) {
        if (count) right &= right_at_random(&routines[i]);
        for (size_t f = 0; f < FUNCTIONS && !count; ++f) {
            if (routines[i].functions[f]) right &= check(&routines[i], f);
        }
    }
    return right ? 0 : 1;
}
