/* Checks that every candidate of the tuner, pipeline or small copy, copies or sets right, or says
 * why this CPU cannot run it.
 *
 * Usage: candidates_check [--step N] [--other-step N] [--share I,N] [--huge-pages 1]
 *                         [--needs FEATURES]
 *
 *   --step   Thins the grid of sizes and offsets for non-temporal stores, see copy_plan's offsets
 *            (default 1). A check of the bytes they wrote has to wait for the memory.
 *
 *   --other-step  The same for the other stores, for emulators.
 *
 *   --share  Checks every N-th candidate from the I-th on, for N processes side by side. They are
 *            counted in this order: pipelines, small copies, copies for aliasing and for
 *            overlapping buffers, pipelines that set, small sets.
 *
 *   --huge-pages  Checks where upward pipelines store first, see check_huge_pages, and no more.
 *
 *   --needs  Checks those alone that need these CPU features.
 *
 * Prints a line for each candidate, `ok NAME`, `skip NAME: reason` or `FAIL NAME: reason`; exits
 * 1 if one failed. An instruction that the CPU lacks may be emulated, and `ok` says so. The
 * first pipeline of each register, load and store type is copied up to 64 MiB. The other
 * pipelines of the paper are copied up to 1 MiB. Those beyond the paper are copied up to the size
 * of three groups of interleaved pages. */
#define _GNU_SOURCE
#include "copy_check.h"
#include "harness.h"
#include "space/candidates.h"
#include "watched_memory.h"
#include OF_ARCHITECTURE(cpu_features.h)

enum { LINE = 64, SMALL = 1024, LARGE = 1 << 20, LARGEST = 64 << 20 };

/* The CPU features of the candidates to check; NULL: any. */
static const char* wanted_needs;

/* The feature that the candidate needs and that is emulated here, or NULL. */
static const char* emulated;

/* Whether the candidate is to be checked, and the CPU has all of these features, with blanks in
 * between, or runs an emulation; says so where one is missing. */
static bool can_run(const char* name, const char* needs) {
    if (wanted_needs != NULL && strcmp(needs, wanted_needs) != 0) return false;
    char features[64];
    emulated = NULL;
    snprintf(features, sizeof features, "%s", needs);
    for (char* f = strtok(features, " "); f != NULL; f = strtok(NULL, " ")) {
        if (cpu_has(f)) continue;
        if (strcmp(f, EMULATED) == 0) {
            emulated = EMULATED;
            continue;
        }
        printf("skip %s: this CPU lacks %s\n", name, f);
        return false;
    }
    return true;
}

static bool first_of_a_kind(const struct asterope_variant* v) {
    for (const struct asterope_variant* other = asterope_copies.variants; other < v; ++other) {
        if (strcmp(v->rt, other->rt) == 0 && strcmp(v->lt, other->lt) == 0 &&
            strcmp(v->st, other->st) == 0) {
            return false;
        }
    }
    return true;
}

/* The number of the variant's prefetch type among its axis' values, from 1; 0 without
 * prefetches. */
static size_t prefetch_type(const struct asterope_variant* v) {
    const struct asterope_axis* axis = v->space->axes;
    while (strcmp(axis->field, "pt") != 0) ++axis;
    size_t type = 0;
    while (strcmp(axis->words[type], v->pt) != 0) ++type;
    return type;
}

/* The variant's value on an axis with a mark. */
static int value_of(const struct asterope_variant* v, const char* field) {
    for (size_t i = 0; i < v->space->axis_count; ++i) {
        const struct asterope_axis* axis = &v->space->axes[i];
        if (axis->mark && strcmp(axis->field, field) == 0) return v->marked[axis->place];
    }
    copy_check_abort("no such axis");
}

/* Variants beyond the paper have a mark in their names, behind the five words of all. */
static bool in_paper(const struct asterope_variant* v) {
    size_t spaces = 0;
    for (const char* at = v->name; *at != '\0'; ++at) spaces += *at == ' ';
    return spaces == 4;
}

static size_t packed(int prefetch_distance, int write_distance) {
    return (size_t)LINE * (size_t)write_distance << 32 | (size_t)LINE * (size_t)prefetch_distance;
}

enum { SHARING = 3 };

/* Checks a pipeline at the sizes that it needs. One of the paper is checked at every size and
 * offset. The others are checked at sizes up to several whole blocks, of which each pair of
 * offsets meets 29 only, spread evenly. They are also checked at the first sizes that have so
 * many whole groups of pages at any offset, with their neighbours. Four variants differ in the
 * type of their prefetches alone (test_candidates.py), which moves nothing: they share the sizes
 * that a pair of offsets meets. */
static bool check_fully(const struct copy_subject* subject, const struct asterope_variant* v,
                        size_t step) {
    const bool paper = in_paper(v);
    const size_t group = (size_t)value_of(v, "pi") * PAGE;
    const size_t groups[] = {group + LINE, 2 * group + LINE, 3 * group + LINE};
    const size_t last = paper ? SMALL : SMALL + 2 * (size_t)value_of(v, "tb") * LINE;
    const size_t thinned = paper ? step : (last - subject->minimum) / 29 | 1;
    const size_t type = prefetch_type(v);
    const struct copy_plan plan = {
        .function = (void (*)(void))v->copy,
        .last = last,
        .offsets = type ? SHARING * thinned : thinned,
        .shifted = type % SHARING * thinned,
        .doubling = 2 * SMALL,
        .largest = !paper               ? 4 * PAGE
                   : first_of_a_kind(v) ? LARGEST
                                        : LARGE,
        .around = groups,
        .around_count = paper ? 0 : COUNT_OF(groups),
        .onto_itself = true,
    };
    return copy_check_all(subject, &plan);
}

/* The same where the emulation takes some 10 us for each line. It checks few sizes, and all
 * offsets only without a prefetch stage, which moves nothing. */
static bool check_emulated(const struct copy_subject* subject, const struct asterope_variant* v) {
    const size_t last = SMALL + (size_t)value_of(v, "tb") * LINE;
    const size_t group = (size_t)value_of(v, "pi") * PAGE + LINE;
    struct copy_subject large = *subject;
    large.minimum = 690; /* of every size at which the CPU's state is looked at up to 700 */
    const struct copy_plan of_large = {.function = (void (*)(void))v->copy};
    const struct copy_plan plans[] = {
        {.last = subject->minimum + 16, .around = &group, .around_count = 1},
        {.first = last - 8, .last = last},
        {.first = last / 2, .last = v->ps ? 0 : last / 2 + 1, .offsets = 1},
    };
    bool right = copy_check(&large, &of_large);
    for (size_t i = 0; i < COUNT_OF(plans); ++i) right = right && copy_check(subject, &plans[i]);
    return right;
}

/* Whether the variant passed; prints the verdict. */
static bool check(const struct asterope_variant* v, size_t non_temporal_step, size_t other_step) {
    const bool writes = value_of(v, "pw") != 0;
    const int farthest = asterope_distances[asterope_distance_count - 1];
    const int farthest_write = asterope_write_distances[asterope_write_distance_count - 1];
    const struct copy_subject subject = {
        .name = v->name,
        .copy = v->copy,
        .distances = {packed(asterope_distances[0], writes ? asterope_write_distances[0] : 0),
                      packed(farthest, writes ? farthest_write : 0)},
        .minimum = 128,
    };
    const size_t step = strcmp(v->st, "NT") == 0 ? non_temporal_step : other_step;
    if (emulated == NULL) return check_fully(&subject, v, step);
    const bool right = check_emulated(&subject, v);
    if (right) printf("ok %s (%s emulated)\n", v->name, emulated);
    return right;
}

/* --- Small copies --- */

static struct {
    asterope_small_candidate copy;
    size_t bound;
    void* destination;
    const void* source;
    size_t bytes, distance;
    bool sets;
    bool handed_on; /* to `large` */
} small;

/* The source of a set is the byte. */
static void* large(void* destination, const void* source, size_t bytes, size_t distance) {
    if (bytes <= small.bound) copy_check_abort("handed on a copy within its bound");
    if (destination != small.destination || source != small.source || bytes != small.bytes ||
        distance != small.distance) {
        copy_check_abort("handed on other arguments than it got");
    }
    small.handed_on = true;
    return small.sets ? memset(destination, (unsigned char)(uintptr_t)source, bytes)
                      : memmove(destination, source, bytes);
}

static void* call_small(void* destination, const void* source, size_t bytes, size_t distance) {
    small.destination = destination;
    small.source = source;
    small.bytes = bytes;
    small.distance = distance;
    small.handed_on = false;
    void* returned = small.copy(destination, source, bytes, distance, large);
    if (!small.handed_on && bytes > small.bound) {
        copy_check_abort("kept a copy beyond its bound to itself");
    }
    return returned;
}

static bool begins(const char* name, const char* shape) {
    return strncmp(name, shape, strlen(shape)) == 0;
}

/* A pipeline that any CPU can run; like all of them, it leaves nothing on the stack. */
static void (*plain_pipeline(const struct asterope_space* space))(void) {
    for (size_t i = 0; i < space->variant_count; ++i) {
        const struct asterope_variant* v = &space->variants[i];
        if (*v->needs == '\0') return (void (*)(void))v->copy;
    }
    return NULL;
}

enum { EACH_SIZE = 64 };

/* A small copy, or a small set, of which every size meets every offset. */
static bool check_small(const struct asterope_copy* v, bool sets) {
    const struct copy_subject subject = {
        .name = v->name,
        .copy = call_small,
        .distances = {LINE, 3 * LINE}, /* to see that they are handed on */
        .sets = sets,
        .fifth = plain_pipeline(sets ? &asterope_sets : &asterope_copies),
    };
    /* bytes that a mask leaves out of a register may lie in a guard page */
    const bool masks = begins(v->name, "masked ") || begins(v->name, "sve ");
    const bool may_overlap = !sets && !begins(v->name, "rep "); /* which copies upwards only */
    small.copy = v->small;
    small.sets = sets;
    small.bound = strtoull(strrchr(v->name, ' '), NULL, 10);
    const struct copy_plan plan = {
        .function = (void (*)(void))v->small,
        .last = small.bound + 130,
        .page_ends = masks ? 1 : 13,
        .offsets = sets ? EACH_SIZE : 1,
        .overlaps = may_overlap,
        .largest = small.bound + 130,
    };
    return copy_check_all(&subject, &plan);
}

/* Copies for aliasing and for overlapping buffers, without distances and small sizes.
 * Source and destination begin alike, so half of the offsets make them alias. */
static bool check_large(const struct asterope_copy* v, const struct asterope_kind* kind) {
    const struct copy_subject subject = {.name = v->name, .copy = v->copy, .minimum = kind->least};
    const struct copy_plan plan = {
        .function = (void (*)(void))v->copy,
        .last = kind->overlap ? SMALL : 2 * SMALL,
        .offsets = kind->overlap ? 7 : 3,
        .overlaps = kind->overlap,
        .doubling = 2 * SMALL,
        .largest = LARGE,
    };
    return copy_check_all(&subject, &plan);
}

/* Every size meets every offset: where the source would begin does not matter. */
static bool check_set(const struct asterope_variant* v) {
    const struct copy_subject subject = {
        .name = v->name,
        .copy = v->copy,
        .distances = {packed(0, asterope_write_distances[0]),
                      packed(0, asterope_write_distances[asterope_write_distance_count - 1])},
        .minimum = 128,
        .sets = true,
    };
    const struct copy_plan plan = {
        .function = (void (*)(void))v->copy,
        .last = SMALL + 2 * (size_t)value_of(v, "tb") * LINE,
        .offsets = EACH_SIZE,
        .doubling = 2 * SMALL,
        .largest = LARGE,
    };
    const struct copy_plan once = {.around = &(size_t){LARGEST}, .around_count = 1};
    return copy_check_all(&subject, &plan) && copy_check(&subject, &once);
}

/* --- Huge pages --- */

enum { HUGE = 2 << 20, PAGES = 4, TAIL = 128, LARGEST_BLOCK = 1024, CANARY = 0xA5 };

/* Prints `ends NAME` if the first store to each huge page behind the first one is to its last byte.
 * Where the destination ends before, that store must be to the first byte of the tail. Else prints
 * `begins NAME`. Returns whether all bytes are right. */
static bool check_huge_pages(const struct asterope_variant* v, bool sets) {
    /* Offset of the destination and of the source, bytes. Blocks of up to 16 lines begin at all
     * lines before a huge page. */
    static const size_t cases[][3] = {
        {64, 3, 2 * (size_t)HUGE},
        {HUGE - 4096 + 16, 16, 2 * (size_t)HUGE + 5000},
        {HUGE - 4096 - 64 * 5 + 1, 0, 2 * (size_t)HUGE + 9000},
        {4096 * 3 + 64 * 7, 64, 3 * (size_t)HUGE + 333},
        {1000, 99, HUGE},
        {2 * (size_t)HUGE - 65, 7, HUGE + 5000},
    };
    static unsigned char area[PAGES * (size_t)HUGE] __attribute__((aligned(HUGE)));
    static unsigned char source[sizeof area], made[sizeof area];
    enum { MARGIN = 64 };
    const bool down = strstr(v->name, " down") != NULL; /* begins at the ends anyway */
    if (down || emulated != NULL) return true;
    bool ends = true, right = true;
    if (source[0] == 0) fill_randomly(source, sizeof source, 1);
    for (size_t c = 0; c < COUNT_OF(cases); ++c) {
        const size_t to = cases[c][0], bytes = cases[c][2], tail = to + bytes - TAIL;
        const unsigned char* const from = sets ? (unsigned char*)(c * 50) : source + cases[c][1];
        unsigned char *const at = area + to, *const front = at - MARGIN;
        memset(made, CANARY, bytes + 2 * MARGIN);
        memcpy(front, made, MARGIN);
        memcpy(at + bytes, made, MARGIN);
        if (sets) memset(made + MARGIN, (int)(c * 50), bytes);
        if (!sets) memcpy(made + MARGIN, from, bytes);
        watch(area, HUGE, PAGES, PROT_NONE);
        right &= v->copy(at, from, bytes, 0) == at;
        mprotect(area, sizeof area, PROT_READ | PROT_WRITE);
        right &= memcmp(front, made, bytes + 2 * MARGIN) == 0;
        for (size_t page = to / HUGE + 1; page * HUGE + LARGEST_BLOCK < tail; ++page) {
            const size_t last = (page + 1) * HUGE - 1;
            ends &= watched.first_access[page] == (last < tail ? last : tail);
        }
    }
    printf("%s %s\n", !right ? "FAIL" : ends ? "ends" : "begins", v->name);
    return right;
}

int main(int argc, char** argv) {
    size_t step = 1, other_step = 1, share[2] = {0, 1}, huge_pages = 0;
    const struct option options[] = {{"--step", &step, 1, NULL},
                                     {"--other-step", &other_step, 1, NULL},
                                     {"--share", share, 2, NULL},
                                     {"--huge-pages", &huge_pages, 1, NULL}};
    if (argc > 2 && strcmp(argv[argc - 2], "--needs") == 0) wanted_needs = argv[argc -= 1], --argc;
    read_options(argc, argv, options, COUNT_OF(options));
    copy_check_start(LARGEST + 64);
    if (!cpu_has(EMULATED)) EMULATE();
    bool right = true;
    size_t number = 0; /* of all that are checked, by which they are shared out */
    for (int sets = 0; sets < 2; ++sets) {
        const struct asterope_space* const space = sets ? &asterope_sets : &asterope_copies;
        for (size_t i = 0; i < space->variant_count; ++i, fflush(stdout)) {
            const struct asterope_variant* const v = &space->variants[i];
            if (number++ % share[1] != share[0] || !can_run(v->name, v->needs)) continue;
            right &= huge_pages ? check_huge_pages(v, sets)
                     : sets     ? check_set(v)
                                : check(v, step, other_step);
        }
        for (size_t k = 0; k < space->kind_count && !huge_pages; ++k) {
            const struct asterope_kind* const kind = &space->kinds[k];
            for (size_t i = 0; !kind->copies->read && i < kind->count; ++i, fflush(stdout)) {
                const struct asterope_copy* const v = &kind->copies[i];
                if (number++ % share[1] != share[0] || !can_run(v->name, v->needs)) continue;
                right &= v->small ? check_small(v, sets) : check_large(v, kind);
            }
        }
    }
    return right ? 0 : 1;
}
