/* The common part of the checks of probes, of copies and of sets: their clock, what they remember,
 * where they look, what goes on behind them, and what is right at their copies and sets. See
 * test_sensing.py. */
#pragma once

#include "copy_check.h"
#include "harness.h"
#include "space/candidates.h"
#include "watched_memory.h"

#define NEVER 0xFFFFFFFFul /* no number of ticks is above it */

enum { LEAST = 16384 };

/* --- The clock --- */

/* Time stamps, in a ring. Assembly knows this layout. */
struct time_stamp {
    unsigned ticks;
    struct time_stamp* next;
};
extern struct time_stamp* sensing_clock;
struct time_stamp* sensing_clock; /* the next one */

/* --- What probes remember --- */

/* The table of pages where copies began whose source alone was cached; see templates/names.j2. */
extern size_t asterope_candidate_produced[512];

#ifdef __x86_64__
#define REMEMBERS_SITES
/* What probes said at call sites: a line each; see templates/x86_64/sensing.j2. */
enum { SITES = 512, NUMBERS = 16, EVERY_CALL_FROM = 262144 };
extern int asterope_candidate_sites[SITES * NUMBERS];

enum { NO_TRIAL = 1 << 20 };

/* At all call sites so many calls have no trial. They go on with the first stores (0: those of
 * `cold` and `produce`, in sets of `hot`), or with the others (1). */
static void believe(int calls, int stores) {
    for (int *line = asterope_candidate_sites, i = 0; i < SITES; ++i, line += NUMBERS) {
        line[4] = calls;
        line[10] = stores;
    }
}
#endif

/* Whether a call gets a try of the hot pipeline, the so-manieth time that its page is found again:
 * the 1st, 2nd, 4th, ... 32nd, then one in 32. On x86-64 16 are in a row, too, from the 64th of
 * each 1024 on. */
static bool gets_a_try(int times) {
#ifdef REMEMBERS_SITES
    if (times % 1024 / 16 == 4) return true;
#endif
    return times > 0 && (times < 64 ? (times & (times - 1)) == 0 : times % 32 == 0);
}

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

#define PIPELINE(name, made)                                                                       \
    static void* name(void* to, const void* from, size_t bytes, size_t distance) {                 \
        gone_on = (struct way){#name[0], to, from, bytes, distance};                               \
        return made;                                                                               \
    }

static bool went_on(char which, void* to, const void* from, size_t bytes, size_t distance) {
    return gone_on.which == which && gone_on.destination == to && gone_on.source == from &&
           gone_on.bytes == bytes && gone_on.distance == distance;
}

#ifdef REMEMBERS_SITES
/* A program whose destinations, or whose sources, are uncached. A call and what the program does
 * until the next one take so many ticks: with stores past the caches, and with those that keep the
 * destination there. */
struct program {
    unsigned past, kept;
    int every; /* each such call takes `more` ticks; 0: none does */
    unsigned more;
    bool is_kept; /* by the stores that must go on */
};

/* The time at which the program makes its next call, behind its call of this number at `now`. */
static unsigned next_call(const struct program* program, int number, unsigned now) {
    const bool past = gone_on.which == 'c' || gone_on.which == 'p';
    now += (past ? program->past : program->kept) + 7;
    return program->every != 0 && number % program->every == 0 ? now + program->more : now;
}
#endif

/* --- Where a probe looks --- */

enum { PAGES = 64, READINGS = 32 };

/* Lets the probe read its ticks 32 times, each time at a place that it draws from another time
 * stamp. Prints a line each: `pages NAME:` and the pages of 64, counted from 0, that it touched.
 * These are those of the source, a bar, and those of the destination. With `byte` it is a set's
 * probe, which has no source. */
static void print_pages(const struct asterope_copy* probe, const void* byte) {
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
        probe->read(sides[PAGES], byte ? byte : sides[0], PAGE * PAGES);
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

/* Its `read` as a copy or set that makes these bytes. In each page that it asks, it may change one
 * byte of the destination to what is made there. It must leave the other bytes as they were. */
static void* read_then_make(void* destination, const void* source, const unsigned char* made,
                            size_t bytes) {
    static unsigned char before[2 * LEAST];
    const unsigned char* const to = destination;
    const bool asks_source = strncmp(reading->name, "source ", 7) == 0;
    size_t changed = 0, wrong = 0;
    memcpy(before, to, bytes);
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

/* Checks the probe's copy or set that goes on by these ways, or `read_then`, with its `read`. */
static bool makes_right(const struct asterope_copy* probe, copy_function read_then,
                        const struct asterope_sensing* ways, bool sets) {
    const struct copy_subject subject = {.name = probe->name,
                                         .copy = read_then ? read_then : probe->copy,
                                         .distances = {(size_t)ways, (size_t)ways},
                                         .minimum = LEAST,
                                         .sets = sets};
    const struct copy_plan reads = {.last = LEAST + 200};
    const struct copy_plan makes = {.function = (void (*)(void))probe->copy,
                                    .last = LEAST + 200,
                                    .offsets = 31,
                                    .doubling = 2 * LEAST,
                                    .largest = 1 << 20};
    reading = probe;
    return copy_check(&subject, read_then ? &reads : &makes);
}

/* Checks all probes of copies or of sets, and tells which are right. Returns the exit status. */
static int check_all_probes(const struct asterope_space* space,
                            bool (*is_right)(const struct asterope_copy*)) {
    /* All calls come from the middle of 64 KiB of the stack. Each such stretch has call sites of
     * its own. */
    *(volatile char*)__builtin_alloca((size_t)__builtin_frame_address(0) % 65536 + 32768) = 0;
    bool all_right = true;
    for (size_t k = 0; k < space->kind_count; ++k) {
        const struct asterope_kind* const kind = &space->kinds[k];
        for (size_t i = 0; kind->copies->read && i < kind->count; ++i) {
            const bool right = is_right(&kind->copies[i]);
            if (right) printf("ok %s\n", kind->copies[i].name);
            fflush(stdout);
            all_right &= right;
        }
    }
    return all_right ? 0 : 1;
}
