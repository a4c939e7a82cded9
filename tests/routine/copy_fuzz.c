/* Copies at random with the rendered routines: which function, from where, to where, how much.
 * Sets, of those that have memset, at places by the guard pages and around the sizes of the
 * routine. routines.inc, which the test writes, lists them as ROUTINE(prefix, BYTES...): the bytes are
 * sizes at which the routine's code changes, such as the ends of its intervals.
 *
 * Usage: copy_fuzz [--seed N] [--count N] [--largest BYTES]
 *   --seed     chooses the cases (default 1): the same seed, the same cases
 *   --count    of cases for each routine (default 10000)
 *   --largest  copy (default 64 KiB, at most 1 MiB)
 * Memcpy is never given buffers that overlap. Prints `ok PREFIX` for each routine or, once for each
 * at most, `FAIL NAME: reason`; exits 1 if one failed. */
#define _GNU_SOURCE
#include "copy_check.h"
#include "harness.h"

enum { FUNCTIONS = 3, MOST = 1 << 20 };

static const char* const function_names[FUNCTIONS] = {"memcpy", "mempcpy", "memmove"};

struct rendered_routine {
    const char* name;
    plain_function functions[FUNCTIONS];
    plain_set_function set; /* memset; NULL: it has none */
    const size_t* sizes;
    size_t size_count;
};

#define ROUTINE(name, ...)                                                                         \
    void* name##_memcpy(void*, const void*, size_t);                                               \
    void* name##_mempcpy(void*, const void*, size_t);                                              \
    void* name##_memmove(void*, const void*, size_t);                                              \
    __attribute__((weak)) void* name##_memset(void*, int, size_t);                                 \
    static const size_t name##_sizes[] = {__VA_ARGS__};
#include "routines.inc"
#undef ROUTINE

static const struct rendered_routine rendered_routines[] = {
#define ROUTINE(name, ...)                                                                         \
    {#name,                                                                                        \
     {name##_memcpy, name##_mempcpy, name##_memmove},                                              \
     name##_memset,                                                                                \
     name##_sizes,                                                                                 \
     COUNT_OF(name##_sizes)},
#include "routines.inc"
};

static size_t seed = 1, count = 10000, largest = 65536;
static uint64_t chance_state;

static uint64_t chance(void) {
    return next_random(&chance_state);
}

/* Both ends included. */
static ptrdiff_t between(ptrdiff_t low, ptrdiff_t high) {
    return low + (ptrdiff_t)(chance() % (uint64_t)(high - low + 1));
}

/* --- One case --- */

struct fuzz_case {
    const struct rendered_routine* routine;
    int function; /* an index of function_names */
    ptrdiff_t source_at, distance;
    size_t bytes;
};

static plain_function called;

static void* call(void* destination, const void* source, size_t bytes, size_t distance) {
    (void)distance;
    return called(destination, source, bytes);
}

/* Whether it copied right; what is wrong has been printed otherwise. */
static bool copies_right(const struct fuzz_case* c) {
    char name[128];
    snprintf(name, sizeof name, "%s_%s", c->routine->name, function_names[c->function]);
    called = c->routine->functions[c->function];
    const struct copy_subject subject = {
        .name = name, .copy = call, .returns_end = c->function == 1};
    return copy_check_move(&subject, (size_t)c->source_at, c->distance, c->bytes);
}

/* Mostly small, as real calls are, and often near a size at which the code changes. */
static size_t random_size(const struct rendered_routine* routine) {
    const uint64_t kind = chance() % 4;
    if (kind == 0) return (size_t)between(0, 64);
    if (kind == 1) return (size_t)between(0, 700);
    if (kind == 2) {
        const size_t size = routine->sizes[chance() % routine->size_count];
        if (size + 130 <= largest) {
            const ptrdiff_t near = chance() % 2 ? 3 : 130;
            return (size_t)between((ptrdiff_t)size - (near < (ptrdiff_t)size ? near : 0),
                                   (ptrdiff_t)size + near);
        }
    }
    /* as many of 100 bytes as of 10000 */
    size_t limit = 128;
    while (limit < largest && chance() % 8 != 0) limit *= 2;
    return (size_t)between(0, (ptrdiff_t)(limit < largest ? limit : largest));
}

static struct fuzz_case random_case(const struct rendered_routine* routine) {
    struct fuzz_case c = {.routine = routine, .function = (int)(chance() % FUNCTIONS)};
    c.bytes = random_size(routine);
    const ptrdiff_t bytes = (ptrdiff_t)c.bytes;
    switch (c.function == 0 ? 0 : chance() % 4) {
    case 0: /* apart: near, within two pages, or a little more than whole pages */
        c.distance = bytes + between(0, chance() % 2 ? 64 : 8192);
        if (chance() % 2) c.distance = (c.distance + 4095) / 4096 * 4096 + between(0, 64);
        break;
    case 1:
        c.distance = between(0, 130);
        break;
    default:
        c.distance = between(0, bytes + 64);
    }
    if (chance() % 2) c.distance = -c.distance;

    /* each of source and destination is the one that ends at a guard page now and then */
    const ptrdiff_t span = bytes + (c.distance < 0 ? -c.distance : c.distance);
    const ptrdiff_t slack = (ptrdiff_t)copy_check_room() - span;
    const uint64_t place = chance() % 4;
    const ptrdiff_t low = place == 0   ? between(0, 64)
                          : place == 1 ? slack - between(0, 64)
                                       : between(0, slack < 8192 ? slack : 8192);
    c.source_at = c.distance < 0 ? low - c.distance : low;
    return c;
}

static plain_set_function called_set;

static void* call_set(void* destination, const void* byte, size_t bytes, size_t distance) {
    (void)distance;
    return called_set(destination, (int)(uintptr_t)byte, bytes);
}

static bool sets_right(const struct rendered_routine* routine) {
    char name[128];
    snprintf(name, sizeof name, "%s_memset", routine->name);
    const struct copy_subject subject = {.name = name, .copy = call_set, .sets = true};
    called_set = routine->set;
    for (int byte = 0; byte < 0x81; byte += 0x80) {
        copy_check_byte((unsigned char)byte);
        if (!copy_check_guards(&subject, 0, 1100)) return false;
        for (size_t i = 0; i < routine->size_count; ++i) {
            if (!copy_check_around(&subject, routine->sizes[i])) return false;
        }
    }
    return true;
}

static bool fuzz(const struct rendered_routine* routine) {
    if (routine->set && !sets_right(routine)) return false;
    for (size_t i = 0; i < count; ++i) {
        const struct fuzz_case c = random_case(routine);
        if (!copies_right(&c)) return false;
    }
    printf("ok %s\n", routine->name);
    return true;
}

int main(int argc, char** argv) {
    copy_check_start(MOST);
    const struct option options[] = {{.name = "--seed", .number = &seed},
                                     {.name = "--count", .number = &count},
                                     {.name = "--largest", .number = &largest}};
    read_options(argc, argv, options, COUNT_OF(options));
    if (largest > MOST) largest = MOST;
    bool right = true;
    for (size_t i = 0; i < COUNT_OF(rendered_routines); ++i) {
        /* So that a routine's cases do not depend on the others. Mixed, as the state is a counter:
         * seed 2 would go on in the cases of seed 1 after its first draw. */
        chance_state = mixed(seed);
        right &= fuzz(&rendered_routines[i]);
        fflush(stdout);
    }
    return right ? 0 : 1;
}
