/* Checks every probe of the tuner, of copies and of sets. Its sensing copy or set must be right by
 * each of its pipelines, and go on with the one that its ticks tell. It must look where it says.
 *
 * Usage: sensing_check [NAME...]: these probes alone
 *
 * The probes read no time stamps but those of the clock here: see test_sensing.py.
 *
 * Prints for each probe `ok NAME` or `FAIL NAME: reason`, behind the lines of print_pages. Exits 1
 * if one failed. */
#define _GNU_SOURCE
#include "copy_check.h"
#include "harness.h"
#include "space/candidates.h"
#include "watched_memory.h"

#define NEVER 0xFFFFFFFFul /* no number of ticks is above it */

enum { LEAST = 16384, PAGES = 64, READINGS = 32, BYTE = 0x5B };

static bool sets; /* whether these are probes of sets */

/* --- The clock --- */

/* Time stamps, in a ring. Assembly knows this layout. */
struct time_stamp {
    unsigned ticks;
    struct time_stamp* next;
};
extern struct time_stamp* sensing_clock;
struct time_stamp* sensing_clock; /* the next one */

/* The ticks of a probe's looks: of the source (of kind `both`: of both sides), of the destination,
 * and of the source alone. A set's probe looks by its first store, and by its loads. */
enum { LOOKS = 3 };
struct looks {
    unsigned ticks[LOOKS];
};

/* Sets the clock to two time stamps for each of so many looks, which begin at `start` and take
 * these ticks. They come again behind the last one, unless `once`. Returns the first. At 12345 a
 * call draws nothing by chance. */
static struct time_stamp* set_looks(unsigned start, const unsigned* ticks, int count, bool once) {
    static struct time_stamp stamps[2 * (1 + LOOKS) + 1];
    for (int i = 0; i < 2 * count; ++i)
        stamps[i] = (struct time_stamp){start + (i % 2 ? ticks[i / 2] : 0), &stamps[i + 1]};
    if (!once) stamps[2 * count - 1].next = stamps;
    return sensing_clock = stamps;
}

/* Sets it so that each call of a probe has so many of these looks. */
static void set_clock(unsigned start, const struct looks* looks, int count) {
    set_looks(start, looks->ticks, count, false);
}

/* --- What probes remember --- */

/* The table of pages where copies began whose source alone was cached; see templates/names.j2. */
extern size_t asterope_candidate_produced[512];

#ifdef __x86_64__
#define REMEMBERS_SITES
/* What probes said at call sites: a line each; see templates/x86_64/sensing.j2. */
enum { SITES = 512, NUMBERS = 16, EVERY_CALL_FROM = 262144 };
extern int asterope_candidate_sites[SITES * NUMBERS];

/* At all call sites so many calls have no trial. They go on with the first stores (0: those of
 * `cold` and `produce`, in sets of `hot`), or with the others (1). */
static void believe(int calls, int stores) {
    for (int *line = asterope_candidate_sites, i = 0; i < SITES; ++i, line += NUMBERS) {
        line[4] = calls;
        line[10] = stores;
    }
}
#else
#define believe(calls, stores) (void)(stores)
#endif

enum { NO_TRIAL = 1 << 20 };

static void forget_all(void) {
    memset(asterope_candidate_produced, 0, sizeof asterope_candidate_produced);
#ifdef REMEMBERS_SITES
    memset(asterope_candidate_sites, 0, sizeof asterope_candidate_sites);
    believe(NO_TRIAL, 0);
#endif
}

/* --- What goes on behind a probe --- */

/* The pipeline that goes on, and its arguments. */
static struct way {
    char which; /* 'h', 'c', 'f' or 'p' */
    void* destination;
    const void* source; /* of a set: the byte */
    size_t bytes, distance;
} gone_on;

static bool only_told; /* the pipelines make nothing */

static void* make(void* to, const void* from, size_t bytes) {
    return sets ? memset(to, (int)(size_t)from & 255, bytes) : memcpy(to, from, bytes);
}

#define PIPELINE(name)                                                                             \
    static void* name(void* to, const void* from, size_t bytes, size_t distance) {                 \
        gone_on = (struct way){#name[0], to, from, bytes, distance};                               \
        return only_told ? to : make(to, from, bytes);                                             \
    }
PIPELINE(hot)
PIPELINE(cold)
PIPELINE(fetch)
PIPELINE(produce)

/* What is copied, or set all over; and where to, with room for copies that begin at other pages and
 * for the largest sets. */
static unsigned char from[PAGE * PAGES], room[64 << 20] __attribute__((aligned(PAGE)));

static const void* argument(void) {
    return sets ? (const void*)(0xABCD00ul + BYTE) : from; /* bits above the byte mean nothing */
}

/* With how many pipelines the copy of a probe goes on. */
static int ways_of(const struct asterope_copy* probe) {
    return strncmp(probe->name, "both ", 5) == 0   ? 4
           : strncmp(probe->name, "each ", 5) == 0 ? 3
                                                   : 2;
}

/* The looks of a probe that goes on with `which`. */
static int looks_of(const struct asterope_copy* probe, char which) {
    const int ways = ways_of(probe);
    if (sets) return 2;
    return which == 'h' || ways == 2 ? 1 : which == 'f' || ways == 3 ? 2 : 3;
}

static size_t distance_of(const struct asterope_sensing* sensing, char which) {
    return which == 'h'   ? sensing->hot_distance
           : which == 'c' ? sensing->cold_distance
           : which == 'f' ? sensing->fetch_distance
                          : sensing->produce_distance;
}

/* The pipelines that probes must go on with: of copies, by how many they have, 2, 3 or 4; of sets,
 * at a site with the stores of `hot`, and at one with those of `cold`. */
struct found {
    unsigned long threshold;
    struct looks looks;
    char goes_on[3];
};
static const struct found of_copies[] = {
    {100, {{99, 500, 500}}, {'h', 'h', 'h'}},
    {100, {{100, 500, 500}}, {'h', 'h', 'h'}},
    {100, {{101, 99, 500}}, {'c', 'f', 'f'}},
    {100, {{101, 100, 500}}, {'c', 'f', 'f'}},
    {100, {{101, 101, 101}}, {'c', 'c', 'c'}},
    {100, {{101, 101, 100}}, {'c', 'c', 'p'}},
    {100, {{500, 900, 0}}, {'c', 'c', 'p'}},
    {100, {{32 * 101 - 1, 900, 900}}, {'c', 'c', 'c'}}, /* the longest wait for memory */
    {100, {{32 * 101, 900, 900}}, {'c', 'c', 'f'}},     /* a page fault, see templates/names.j2 */
    {NEVER, {{5000, 5000, 5000}}, {'h', 'h', 'h'}},
    {0, {{1, 1, 1}}, {'c', 'c', 'c'}},
    {0, {{1, 0, 1}}, {'c', 'f', 'f'}},
    {0, {{0, 1, 1}}, {'h', 'h', 'h'}},
    {NEVER - 1, {{NEVER, NEVER - 1, 0}}, {'c', 'f', 'f'}},
    {NEVER - 1, {{NEVER, NEVER, NEVER - 1}}, {'c', 'c', 'p'}},
};
static const struct found of_sets[] = {
    {100, {{50, 99}}, {'h', 'h'}},
    {100, {{50, 100}}, {'h', 'h'}},
    {100, {{50, 101}}, {'h', 'c'}},
    {100, {{101, 100}}, {'h', 'h'}},
    {100, {{32 * 101 - 1, 101}}, {'h', 'c'}}, /* the longest wait for a translation */
    {100, {{32 * 101, 101}}, {'h', 'h'}},     /* a page fault */
    {100, {{32 * 101, 100}}, {'h', 'h'}},
    {100, {{50, 500000}}, {'h', 'c'}},
    {NEVER, {{50, 5000}}, {'h', 'h'}},
    {0, {{31, 1}}, {'h', 'c'}},
    {0, {{0, 0}}, {'h', 'h'}},
    {NEVER - 1, {{50, NEVER}}, {'h', 'c'}},
};

/* One call, and one reading of the ticks. */
static bool goes_on_with(const struct asterope_copy* probe, const struct found* found, char which,
                         size_t bytes, unsigned char* to, unsigned start) {
    const struct asterope_sensing sensing = {found->threshold,
                                             hot,
                                             11ul << 32 | 7,
                                             cold,
                                             13ul << 32 | 5,
                                             fetch,
                                             17ul << 32 | 3,
                                             produce,
                                             19ul << 32 | 9};
    const unsigned* const ticks = found->looks.ticks;
    memset(to, ~BYTE, bytes);
    set_clock(start, &found->looks, looks_of(probe, which));
    probe->copy(to, argument(), bytes, (size_t)&sensing);
    if (gone_on.which != which || gone_on.destination != to || gone_on.source != argument() ||
        gone_on.bytes != bytes || gone_on.distance != distance_of(&sensing, which) ||
        memcmp(from, to, bytes) != 0) {
        printf("FAIL %s: went on wrongly with %c of %zu bytes after %u, %u and %u ticks\n",
               probe->name, gone_on.which, bytes, ticks[0], ticks[1], ticks[2]);
        return false;
    }
    set_clock(0xFFFFFFF0u, &found->looks, 2);
    const size_t read = probe->read(to, argument(), bytes);
    const size_t must_be = sets                 ? ticks[1]
                           : ways_of(probe) > 2 ? (size_t)ticks[1] << 32 | ticks[0]
                                                : ticks[0];
    if (read == must_be) return true;
    printf("FAIL %s: read %zx, not %zx\n", probe->name, read, must_be);
    return false;
}

static bool goes_on(const struct asterope_copy* probe) {
    static const size_t sizes[] = {LEAST, LEAST + 1, 2 * LEAST - 1, 100001, sizeof from};
    const size_t cases = sets ? COUNT_OF(of_sets) : COUNT_OF(of_copies);
    size_t pages = 0; /* a page for each that is produced */
    for (size_t i = 0; i < cases * COUNT_OF(sizes); ++i) {
        const struct found* const found = &(sets ? of_sets : of_copies)[i % cases];
        for (size_t b = 0; b < sizeof from; ++b)
            from[b] = sets ? BYTE : (unsigned char)(b * 7 + b / 256 + i);
        for (int stores = 0; stores <= sets; ++stores) {
            const char which = found->goes_on[sets ? stores : ways_of(probe) - 2];
            unsigned char* const to = room + (which == 'p' ? ++pages : 0) * PAGE;
            forget_all();
            believe(NO_TRIAL, stores);
            /* from the second size on the 32 bits overflow between the time stamps */
            const unsigned start = i < cases ? 12345 : 0xFFFFFFE0u;
            if (!goes_on_with(probe, found, which, sizes[i / cases], to, start)) return false;
        }
    }
    return true;
}

/* Whether a call gets a try of the hot pipeline, the so-manieth time that its page is found again:
 * the 1st, 2nd, 4th, ... 32nd, then one in 32. On x86-64 16 are in a row, too, from the 64th of
 * each 1024 on. */
static bool gets_a_try(int times) {
#ifdef REMEMBERS_SITES
    if (times % 1024 / 16 == 4) return true;
#endif
    return times > 0 && (times < 64 ? (times & (times - 1)) == 0 : times % 32 == 0);
}

/* A destination that stays uncached, where stores past the caches go on: the hot pipeline gets a
 * try now and then. Chance gives one in 32 calls of copies, one in 64 of sets. */
static bool tries_hot_rarely(const struct asterope_copy* probe) {
    static const struct looks of_copy = {{500, 500, 50}}, of_set = {{50, 200}};
    static const struct asterope_sensing sensing = {100, hot, 0, cold, 0, fetch, 0, produce, 0};
    const struct looks* const uncached = sets ? &of_set : &of_copy;
    int tries = 0;
    forget_all();
    believe(NO_TRIAL, sets);
    for (int times = 0; times < 3200; ++times) {
        set_clock(12345, uncached, sets ? 2 : 3);
        probe->copy(room, argument(), sizeof from, (size_t)&sensing); /* which needs each probe */
        if (gone_on.which == (gets_a_try(times) ? 'h' : sets ? 'c' : 'p')) continue;
        printf("FAIL %s: the %d. time at one page went on with %c\n", probe->name, times,
               gone_on.which);
        return false;
    }
    for (unsigned time = 0; time < 32000; ++time) { /* ever at another page that it does not know */
        memset(asterope_candidate_produced, 0, sizeof asterope_candidate_produced);
        set_clock(time * 1000003u, uncached, sets ? 2 : 3);
        probe->copy(room + time % PAGES * PAGE, argument(), sizeof from, (size_t)&sensing);
        tries += gone_on.which == 'h';
    }
    const int expected = sets ? 500 : 1000;
    if (tries > expected * 7 / 10 && tries < expected * 13 / 10) return true;
    printf("FAIL %s: %d tries of hot\n", probe->name, tries);
    return false;
}

#ifdef REMEMBERS_SITES
#include "call_sites.h"
#else
static bool remembers_right(UNUSED const struct asterope_copy* probe) {
    return true;
}
#endif

/* --- Where a probe looks --- */

/* Lets the probe read its ticks 32 times, each time at a place that it draws from another time
 * stamp. Prints a line each: `pages NAME:` and the pages of 64, counted from 0, that it touched.
 * These are those of the source, a bar, and those of the destination. */
static void print_pages(const struct asterope_copy* probe) {
    /* The source, and behind it the destination. */
    static unsigned char sides[2 * PAGES][PAGE] __attribute__((aligned(PAGE)));
    static struct time_stamp drawn_stamps[4 * READINGS + 1];
    struct sigaction before;
    sigaction(SIGSEGV, NULL, &before);
    for (size_t i = 0; i + 1 < COUNT_OF(drawn_stamps); ++i)
        drawn_stamps[i] = (struct time_stamp){(unsigned)random(), &drawn_stamps[i + 1]};
    sensing_clock = drawn_stamps;
    for (int n = 0; n < READINGS; ++n) {
        watch(sides, PAGE, 2 * PAGES, PROT_NONE);
        probe->read(sides[PAGES], sets ? argument() : sides[0], PAGE * PAGES);
        printf("pages %s:", probe->name);
        for (int i = 0; i < 2 * PAGES; ++i) {
            if (i == PAGES) printf(" |");
            if (watched.first_access[i] != SIZE_MAX) printf(" %d", i % PAGES);
        }
        printf("\n");
    }
    sigaction(SIGSEGV, &before, NULL);
}

/* --- What its copies and sets make --- */

static const struct asterope_copy* reading;

/* Its `read` as a copy or set. In each page that it asks, it may change one byte of the destination
 * to what is made there. It must leave the other bytes as they were. */
static void* read_then_make(void* destination, const void* source, size_t bytes,
                            UNUSED size_t distance) {
    static unsigned char before[2 * LEAST], made[2 * LEAST];
    const unsigned char* const to = destination;
    const bool asks_source = strncmp(reading->name, "source ", 7) == 0;
    size_t changed = 0, wrong = 0;
    memcpy(before, to, bytes);
    make(made, source, bytes);
    reading->read(destination, source, bytes);
    for (size_t i = 0; i < bytes; ++i) {
        changed += to[i] != before[i];
        wrong += to[i] != before[i] && to[i] != made[i];
    }
    const char* most = asks_source ? "0" : strchr(reading->name, ' ');
    if (wrong != 0 || changed > strtoull(most, NULL, 10)) {
        copy_check_abort("reading the ticks changed more than a byte of each page");
    }
    return memcpy(destination, made, bytes);
}

/* By its `read`, then by each of its ways, of sets at sites with either stores. */
static bool makes_right(const struct asterope_copy* probe) {
    static const struct looks of_copy = {{50, 10, 5}}, of_set = {{50, 50}};
    static const unsigned long thresholds[] = {NEVER, 0, 20, 7};
    const struct looks* const looks = sets ? &of_set : &of_copy;
    const asterope_candidate p = (sets ? asterope_sets : asterope_copies).variants[0].copy;
    const struct copy_plan reads = {.last = LEAST + 200};
    const struct copy_plan makes = {.function = (void (*)(void))probe->copy,
                                    .last = LEAST + 200,
                                    .offsets = 31,
                                    .doubling = 2 * LEAST,
                                    .largest = 1 << 20};
    struct copy_subject subject = {
        .name = probe->name, .copy = read_then_make, .minimum = LEAST, .sets = sets};
    reading = probe;
    set_clock(987654321, looks, 2);
    bool right = copy_check(&subject, &reads);
    for (int way = 0; right && way < (sets ? 3 : ways_of(probe)); ++way) {
        const struct asterope_sensing ways = {thresholds[way], p, 0, p, 0, p, 0, p, 0};
        subject.copy = probe->copy;
        subject.distances[0] = subject.distances[1] = (size_t)&ways;
        if (sets) believe(NO_TRIAL, way == 2);
        set_clock(987654321, looks, looks_of(probe, "hcfp"[way]));
        right = copy_check(&subject, &makes);
    }
    return right;
}

static bool is_among(const char* name, char** names) {
    while (*names && strcmp(*names, name) != 0) ++names;
    return *names != NULL;
}

/* Checks all probes of an operation, or those of these names, and tells which are right. */
static bool check_all(const struct asterope_space* space, char** names) {
    bool all_right = true;
    for (size_t k = 0; k < space->kind_count; ++k) {
        const struct asterope_kind* const kind = &space->kinds[k];
        for (size_t i = 0; kind->copies->read && i < kind->count; ++i) {
            const struct asterope_copy* const probe = &kind->copies[i];
            if (*names && !is_among(probe->name, names)) continue;
            print_pages(probe);
            const bool heeds = sets || ways_of(probe) == 4;
            bool right = goes_on(probe);
            only_told = true; /* sizes are larger than the source, and there are many calls */
            right = right && (!heeds || (tries_hot_rarely(probe) && remembers_right(probe)));
            only_told = false;
            right = right && makes_right(probe);
            if (right) printf("ok %s\n", probe->name);
            fflush(stdout);
            all_right &= right;
        }
    }
    return all_right;
}

int main(UNUSED int argc, char** argv) {
    /* All calls come from the middle of 64 KiB of the stack. Each such stretch has call sites of
     * its own. */
    *(volatile char*)__builtin_alloca((size_t)__builtin_frame_address(0) % 65536 + 32768) = 0;
    copy_check_start((1 << 20) + 64);
    const bool copies_right = check_all(&asterope_copies, argv + 1);
    sets = true;
    copy_check_byte(BYTE);
    return check_all(&asterope_sets, argv + 1) && copies_right ? 0 : 1;
}
