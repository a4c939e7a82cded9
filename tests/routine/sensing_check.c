/* Checks every probe of the tuner: that its sensing copy copies right, by each of its pipelines,
 * and that it looks where it says.
 *
 * Usage: sensing_check
 *
 * The probes read no time stamps but those of the clock here: see test_sensing.py.
 *
 * Prints for each probe `ok NAME` or `FAIL NAME: reason`, and before it 32 times `pages NAME:
 * ...`. These are the pages of 64, counted from 0, that one reading of the ticks touches: those
 * of the source, a bar, and those of the destination. Exits 1 if one failed. */
#define _GNU_SOURCE
#include "copy_check.h"
#include "harness.h"
#include "space/candidates.h"

enum { PAGES = 64, LEAST = 4096, READINGS = 32 };
#define NEVER 0xFFFFFFFFul /* no number of ticks is above it */

static bool looks_at_destination(const struct asterope_copy* probe) {
    return strncmp(probe->name, "each ", 5) == 0;
}

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
    static struct time_stamp ring[] = {{0, &ring[1]}, {0, NULL}, {0, &ring[3]}, {0, ring}};
    const unsigned ticks[] = {0, source, 0, destination};
    for (size_t i = 0; i < COUNT_OF(ring); ++i) ring[i].ticks = start + ticks[i];
    ring[1].next = looks_at_destination(probe) ? &ring[2] : ring;
    sensing_clock = ring;
}

/* The pipeline that goes on, and its arguments. */
static struct way {
    char which; /* 'h', 'c' or 'f' */
    unsigned char* destination;
    const unsigned char* source;
    size_t bytes, distance;
} gone_on;

#define PIPELINE(name)                                                                             \
    static void* name(void* to, const void* from, size_t bytes, size_t distance) {                 \
        gone_on = (struct way){#name[0], to, from, bytes, distance};                               \
        return memcpy(to, from, bytes);                                                            \
    }
PIPELINE(hot)
PIPELINE(cold)
PIPELINE(fetch)

static unsigned char from[PAGE * PAGES], to[PAGE * PAGES];

/* The pipelines that a probe of the source alone and one of each side must go on with. */
static const struct {
    unsigned long threshold;
    unsigned source, destination; /* ticks */
    char of_source, of_each;
} cases[] = {
    {100, 99, 500, 'h', 'h'},  {100, 100, 500, 'h', 'h'},
    {100, 101, 99, 'c', 'f'},  {100, 101, 100, 'c', 'f'},
    {100, 101, 101, 'c', 'c'}, {NEVER, 5000, 5000, 'h', 'h'},
    {0, 1, 1, 'c', 'c'},       {0, 1, 0, 'c', 'f'},
    {0, 0, 1, 'h', 'h'},       {NEVER - 1, NEVER, NEVER - 1, 'c', 'f'},
};

static bool goes_on(const struct asterope_copy* probe) {
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
            printf("FAIL %s: went on wrongly with %c of %zu bytes after %u and %u ticks\n",
                   probe->name, gone_on.which, bytes, cases[n].source, cases[n].destination);
            return false;
        }
        set_clock(probe, 0xFFFFFFF0u, cases[n].source, cases[n].destination);
        const size_t ticks = probe->read(to, from, bytes);
        const size_t destination = looks_at_destination(probe) ? cases[n].destination : 0;
        if (ticks == (destination << 32 | cases[n].source)) continue;
        printf("FAIL %s: read %zx, not %x and %zx\n", probe->name, ticks, cases[n].source,
               destination);
        return false;
    }
    return true;
}

/* The source, and behind it the destination. */
static unsigned char sides[2 * PAGES][PAGE] __attribute__((aligned(PAGE)));
static bool touched[2 * PAGES];

/* Notes the page and lets the access through. */
static void on_fault(UNUSED int number, siginfo_t* info, UNUSED void* context) {
    const size_t page = (size_t)((unsigned char*)info->si_addr - sides[0]) / PAGE;
    if (page >= 2 * PAGES || touched[page]) _exit(3);
    touched[page] = true;
    mprotect(sides[page], PAGE, PROT_READ | PROT_WRITE);
}

static void print_pages(const struct asterope_copy* probe) {
    struct sigaction before;
    sigaction(SIGSEGV, NULL, &before);
    handle(SIGSEGV, on_fault);
    static struct time_stamp drawn_stamps[4 * READINGS];
    for (size_t i = 0; i < COUNT_OF(drawn_stamps); ++i)
        drawn_stamps[i] = (struct time_stamp){(unsigned)random(), &drawn_stamps[i + 1]};
    sensing_clock = drawn_stamps;
    for (int n = 0; n < READINGS; ++n) {
        memset(touched, 0, sizeof touched);
        mprotect(sides, sizeof sides, PROT_NONE);
        probe->read(sides[PAGES], sides[0], PAGE * PAGES);
        printf("pages %s:", probe->name);
        for (int i = 0; i < 2 * PAGES; ++i) {
            if (i == PAGES) printf(" |");
            if (touched[i]) printf(" %d", i % PAGES);
        }
        printf("\n");
    }
    sigaction(SIGSEGV, &before, NULL);
}

static const struct asterope_copy* reading;

/* Its `read` as a copy. In each page that it asks, it may change one byte of the destination to
 * that of the source. It must leave the other bytes as they were. */
static void* read_then_copy(void* destination, const void* source, size_t bytes,
                            UNUSED size_t distance) {
    static unsigned char before[2 * LEAST];
    memcpy(before, destination, bytes);
    reading->read(destination, source, bytes);
    const unsigned char *const to = destination, *const from = source;
    const char* asked = looks_at_destination(reading) ? strchr(reading->name, ' ') : "0";
    size_t changed = 0, wrong = 0;
    for (size_t i = 0; i < bytes; ++i) {
        changed += to[i] != before[i];
        wrong += to[i] != before[i] && to[i] != from[i];
    }
    if (wrong != 0 || changed > strtoull(asked, NULL, 10)) {
        copy_check_abort("reading the ticks changed more than a byte of each page");
    }
    return memcpy(destination, source, bytes);
}

static bool check(const struct asterope_copy* probe) {
    const asterope_candidate pipeline = asterope_copies.variants[0].copy;
    /* by 50 ticks and 10: hot, cold, and fetch where there is that */
    const struct asterope_sensing ways[] = {{NEVER, pipeline, 0, pipeline, 0, pipeline, 0},
                                            {0, pipeline, 0, pipeline, 0, pipeline, 0},
                                            {20, pipeline, 0, pipeline, 0, pipeline, 0}};
    struct copy_subject subject = {
        .name = probe->name,
        .copy = probe->copy,
        .distances = {(size_t)&ways[0], (size_t)&ways[1]},
        .minimum = LEAST,
    };
    struct copy_subject reader = subject;
    reader.copy = read_then_copy;
    reading = probe;
    print_pages(probe);
    bool right = goes_on(probe);
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
        subject.distances[0] = subject.distances[1] = (size_t)&ways[2];
        right = right && copy_check(&subject, &copies);
    }
    if (right) printf("ok %s\n", probe->name);
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
