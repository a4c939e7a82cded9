/* Checks every probe of the tuner: that its sensing copy copies right, by each of its pipelines,
 * and that it looks where it says.
 *
 * Usage: sensing_check
 * The probes read no time stamps but those of the clock here: see test_sensing.py.
 * Prints for each probe `ok NAME` or `FAIL NAME: reason`, and before it 32 times `pages NAME: ...`:
 * the pages of 64, counted from 0, that one reading of the ticks touches, those of the source, a
 * bar, and those of the destination. Exits 1 if one failed. */
#define _GNU_SOURCE
#include "copy_check.h"
#include "harness.h"
#include "space/candidates.h"

enum { PAGES = 64, LEAST = 4096, READINGS = 32 };
#define NEVER 0xFFFFFFFFul /* no number of ticks is above it */

static bool looks_at_destination(const struct asterope_copy* probe) {
    return strncmp(probe->name, "each ", 5) == 0;
}

/* --- The clock --- */

/* Time stamps, in a ring. Assembly knows this layout. */
struct time_stamp {
    unsigned ticks;
    struct time_stamp* next;
};
extern struct time_stamp* sensing_clock;
struct time_stamp* sensing_clock; /* the next one */

/* Sets the clock so that each call of the probe reads these ticks: both times begin at `start`. */
static void set_clock(const struct asterope_copy* probe, unsigned start, unsigned source,
                      unsigned destination) {
    static struct time_stamp ring[4];
    ring[0] = (struct time_stamp){start, &ring[1]};
    ring[1] =
        (struct time_stamp){start + source, looks_at_destination(probe) ? &ring[2] : &ring[0]};
    ring[2] = (struct time_stamp){start, &ring[3]};
    ring[3] = (struct time_stamp){start + destination, &ring[0]};
    sensing_clock = &ring[0];
}

/* --- Which pipeline goes on, and with what --- */

static struct way {
    char which; /* 'h', 'c' or 'f' */
    unsigned char* destination;
    const unsigned char* source;
    size_t bytes, distance;
} gone_on;

static void* note(char which, void* destination, const void* source, size_t bytes,
                  size_t distance) {
    gone_on = (struct way){which, destination, source, bytes, distance};
    return memcpy(destination, source, bytes);
}

#define PIPELINE(name, which)                                                                      \
    static void* name(void* to, const void* from, size_t bytes, size_t distance) {                 \
        return note(which, to, from, bytes, distance);                                             \
    }
PIPELINE(hot, 'h')
PIPELINE(cold, 'c')
PIPELINE(fetch, 'f')

static unsigned char from[PAGE * PAGES], to[PAGE * PAGES];

/* What a probe of the source alone and one of each side must go on with. */
static const struct {
    unsigned long threshold;
    unsigned source, destination; /* ticks */
    char of_source, of_each;
} cases[] = {
    {100, 99, 500, 'h', 'h'},
    {100, 100, 500, 'h', 'h'},
    {100, 101, 99, 'c', 'f'},
    {100, 101, 100, 'c', 'f'},
    {100, 101, 101, 'c', 'c'},
    {NEVER, 5000, 5000, 'h', 'h'},
    {0, 1, 1, 'c', 'c'},
    {0, 1, 0, 'c', 'f'},
    {0, 0, 1, 'h', 'h'},
    {NEVER - 1, NEVER, NEVER - 1, 'c', 'f'},
};

static bool goes_on(const struct asterope_copy* probe, const char* name) {
    static const size_t sizes[] = {LEAST, LEAST + 1, 2 * LEAST - 1, 100001, sizeof from};
    enum { CASES = COUNT_OF(cases) };
    for (size_t i = 0; i < CASES * COUNT_OF(sizes); ++i) {
        const size_t bytes = sizes[i / CASES], n = i % CASES;
        const struct asterope_sensing sensing = {cases[n].threshold, hot,   11ul << 32 | 7, cold,
                                                 13ul << 32 | 5,     fetch, 17ul << 32 | 3};
        const char which = looks_at_destination(probe) ? cases[n].of_each : cases[n].of_source;
        for (size_t b = 0; b < bytes; ++b) from[b] = (unsigned char)(b * 7 + b / 256 + i);
        /* from the second size on the 32 bits overflow between the time stamps */
        set_clock(probe, i < CASES ? 12345 : 0xFFFFFFF0u, cases[n].source, cases[n].destination);
        probe->copy(to, from, bytes, (size_t)&sensing);
        const bool right = gone_on.which == which &&
                           gone_on.distance == (which == 'h'   ? sensing.hot_distance
                                                : which == 'c' ? sensing.cold_distance
                                                               : sensing.fetch_distance) &&
                           gone_on.destination == to && gone_on.source == from &&
                           gone_on.bytes == bytes && memcmp(from, to, bytes) == 0;
        if (!right) {
            printf("FAIL %s: went on wrongly with %c of %zu bytes after %u and %u ticks\n", name,
                   gone_on.which, bytes, cases[n].source, cases[n].destination);
            return false;
        }
        set_clock(probe, 0xFFFFFFF0u, cases[n].source, cases[n].destination);
        const size_t ticks = probe->read(to, from, bytes);
        const size_t destination = looks_at_destination(probe) ? cases[n].destination : 0;
        if (ticks == (destination << 32 | cases[n].source)) continue;
        printf("FAIL %s: read %zx, not %x and %zx\n", name, ticks, cases[n].source, destination);
        return false;
    }
    return true;
}

/* --- Where it looks --- */

static struct {
    unsigned char *source, *destination; /* PAGES each, the one behind the other */
    bool touched[2 * PAGES];
} sides;

/* Notes the page and lets the access through. */
static void on_fault(int number, siginfo_t* info, void* context) {
    (void)number;
    (void)context;
    const size_t page = (size_t)((unsigned char*)info->si_addr - sides.source) / PAGE;
    if (page >= 2 * PAGES || sides.touched[page]) _exit(3);
    sides.touched[page] = true;
    mprotect(sides.source + page * PAGE, PAGE, PROT_READ | PROT_WRITE);
}

static void print_pages(const struct asterope_copy* probe, const char* name) {
    const size_t room = (size_t)2 * PAGE * PAGES;
    sides.source = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sides.destination = sides.source + PAGE * PAGES;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, before;
    sigaction(SIGSEGV, &action, &before);
    static struct time_stamp drawn_stamps[4 * READINGS];
    unsigned drawn = 2463534242u;
    for (size_t i = 0; i < COUNT_OF(drawn_stamps); ++i) {
        drawn = drawn * 1664525 + 1013904223;
        drawn_stamps[i] = (struct time_stamp){drawn, &drawn_stamps[i + 1]};
    }
    sensing_clock = drawn_stamps;
    for (int reading_number = 0; reading_number < READINGS; ++reading_number) {
        memset(sides.touched, 0, sizeof sides.touched);
        mprotect(sides.source, room, PROT_NONE);
        probe->read(sides.destination, sides.source, PAGE * PAGES);
        printf("pages %s:", name);
        for (int i = 0; i < 2 * PAGES; ++i) {
            if (i == PAGES) printf(" |");
            if (sides.touched[i]) printf(" %d", i % PAGES);
        }
        printf("\n");
    }
    sigaction(SIGSEGV, &before, NULL);
    munmap(sides.source, room);
}

/* How many bytes of the destination reading the ticks may change, each to what it is in the source:
 * one in each page of the destination that it asks. */
static size_t most_changed(const struct asterope_copy* probe) {
    return looks_at_destination(probe) ? strtoull(strchr(probe->name, ' '), NULL, 10) : 0;
}

/* `read` as a copy, to see that what it has not copied is as it was. */
static const struct asterope_copy* reading;

static void* read_then_copy(void* destination, const void* source, size_t bytes, size_t distance) {
    (void)distance;
    static unsigned char before[2 * LEAST];
    memcpy(before, destination, bytes);
    reading->read(destination, source, bytes);
    const unsigned char *const to = destination, *const from = source;
    size_t changed = 0, wrong = 0;
    for (size_t i = 0; i < bytes; ++i) {
        changed += to[i] != before[i];
        wrong += to[i] != before[i] && to[i] != from[i];
    }
    if (wrong != 0 || changed > most_changed(reading)) {
        copy_check_abort("reading the ticks changed more than a byte of each page");
    }
    return memcpy(destination, source, bytes);
}

static bool check(const struct asterope_copy* probe) {
    const char* name = probe->name;
    const asterope_candidate pipeline = asterope_copies.variants[0].copy;
    /* by 50 ticks and 10: hot, cold, and fetch where there is that */
    const struct asterope_sensing ways[] = {{NEVER, pipeline, 0, pipeline, 0, pipeline, 0},
                                            {0, pipeline, 0, pipeline, 0, pipeline, 0},
                                            {20, pipeline, 0, pipeline, 0, pipeline, 0}};
    const struct copy_subject subject = {
        .name = name,
        .copy = probe->copy,
        .distances = {(size_t)&ways[0], (size_t)&ways[1]},
        .minimum = LEAST,
    };
    struct copy_subject fetching = subject;
    fetching.distances[0] = fetching.distances[1] = (size_t)&ways[2];
    const struct copy_subject reader = {.name = name, .copy = read_then_copy, .minimum = LEAST};
    reading = probe;
    print_pages(probe, name);
    set_clock(probe, 987654321, 50, 10);
    bool right = goes_on(probe, name);
    set_clock(probe, 987654321, 50, 10);
    const struct copy_plan reads = {.last = LEAST + 200};
    const struct copy_plan copies = {.function = (void (*)(void))probe->copy,
                                     .last = LEAST + 200,
                                     .offsets = 31,
                                     .doubling = 2 * LEAST,
                                     .largest = 1 << 20};
    right = right && copy_check(&subject, &copies) && copy_check(&reader, &reads);
    if (looks_at_destination(probe)) {
        set_clock(probe, 987654321, 50, 10); /* the hot way has taken only two of three */
        right = right && copy_check(&fetching, &copies);
    }
    if (right) printf("ok %s\n", name);
    fflush(stdout);
    return right;
}

int main(void) {
    copy_check_start((1 << 20) + 64);
    bool right = true;
    for (size_t k = 0; k < asterope_copies.kind_count; ++k) {
        const struct asterope_kind* const kind = &asterope_copies.kinds[k];
        for (size_t i = 0; kind->copies->read && i < kind->count; ++i) {
            right &= check(&kind->copies[i]);
        }
    }
    return right ? 0 : 1;
}
