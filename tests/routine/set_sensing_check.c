/* Checks every probe of sets. The sets behind it must set right, by either pipeline. Each call site
 * must get the stores that serve its program. The probe must look where it says.
 *
 * Usage: set_sensing_check
 *
 * Prints for each probe `ok NAME` or `FAIL NAME: reason`, behind the lines of print_pages. Exits 1
 * if one failed. */
#define _GNU_SOURCE
#include "probes.h"

enum { BYTE = 0x5B };

/* The pipelines set nothing: sizes are larger than the room. */
static bool only_told;

PIPELINE(hot, only_told ? to : memset(to, (int)(size_t)from & 255, bytes))
PIPELINE(cold, only_told ? to : memset(to, (int)(size_t)from & 255, bytes))

/* Sets of more than ROOM bytes only probe it. */
enum { ROOM = PAGE * PAGES };
static unsigned char room[64 << 20] __attribute__((aligned(PAGE)));
static const void* const value = (const void*)(0xABCD00ul + BYTE); /* bits above it mean nothing */

static bool is_set(const unsigned char* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        if (bytes[i] != BYTE) return false;
    }
    return true;
}

/* Sets the clock so that the next probe's first store is at `start`, and takes so many ticks, and
 * its loads so many. The time stamps come again behind the fourth. */
static struct time_stamp* set_stamps(unsigned start, unsigned store, unsigned loads) {
    static struct time_stamp stamps[4];
    const unsigned at[] = {start, start + store, start + store, start + store + loads};
    for (int i = 0; i < 4; ++i) stamps[i] = (struct time_stamp){at[i], &stamps[(i + 1) % 4]};
    sensing_clock = stamps;
    return stamps;
}

/* The ticks of a probe's first store and of its loads. Then the pipeline that must go on: for a
 * site with the stores of `hot`, and for one with those of `cold`. */
static const struct {
    unsigned long threshold;
    unsigned store, ticks;
    char goes_on[2];
} cases[] = {
    {100, 50, 99, {'h', 'h'}},
    {100, 50, 100, {'h', 'h'}},
    {100, 50, 101, {'h', 'c'}},
    {100, 101, 100, {'h', 'h'}},
    {100, 32 * 101 - 1, 101, {'h', 'c'}}, /* the longest wait for a translation */
    {100, 32 * 101, 101, {'h', 'h'}},     /* a page fault, see templates/names.j2 */
    {100, 32 * 101, 100, {'h', 'h'}},
    {100, 50, 500000, {'h', 'c'}},
    {NEVER, 50, 5000, {'h', 'h'}},
    {0, 31, 1, {'h', 'c'}},
    {0, 0, 0, {'h', 'h'}},
    {NEVER - 1, 50, NEVER, {'h', 'c'}},
};

static bool goes_on(const struct asterope_copy* probe) {
    static const size_t sizes[] = {LEAST, LEAST + 1, 2 * LEAST - 1, 100001, ROOM};
    enum { CASES = COUNT_OF(cases) };
    for (size_t i = 0; i < 2 * CASES * COUNT_OF(sizes); ++i) {
        const size_t bytes = sizes[i / 2 / CASES], n = i / 2 % CASES;
        const struct asterope_sensing sensing = {
            cases[n].threshold, hot, 11ul << 32 | 7, cold, 13ul << 32 | 5, NULL, 0, NULL, 0};
        const char which = cases[n].goes_on[i % 2];
        forget_all();
        believe(NO_TRIAL, i % 2);
        memset(room, ~BYTE, bytes);
        /* from the second size on the 32 bits overflow between the time stamps */
        set_stamps(i < 2 * CASES ? 12345 : 0xFFFFFFE0u, cases[n].store, cases[n].ticks);
        probe->copy(room, value, bytes, (size_t)&sensing);
        const size_t distance = which == 'h' ? sensing.hot_distance : sensing.cold_distance;
        if (!went_on(which, room, value, bytes, distance) || !is_set(room, bytes)) {
            printf("FAIL %s: went on wrongly with %c of %zu bytes after %u and %u ticks\n",
                   probe->name, gone_on.which, bytes, cases[n].store, cases[n].ticks);
            return false;
        }
        set_stamps(0xFFFFFFE0u, cases[n].store, cases[n].ticks);
        const size_t ticks = probe->read(room, value, bytes);
        if (ticks == cases[n].ticks) continue;
        printf("FAIL %s: read %zx, not %x\n", probe->name, ticks, cases[n].ticks);
        return false;
    }
    return true;
}

/* Whether each call finds the table of pages empty. */
static bool forgets_pages = true;

/* A call at the time `start`, whose probe, if it has one, takes so many ticks. The ways have the
 * threshold 100. Returns whether it had a probe. */
static __attribute__((noinline)) bool sets_at(const struct asterope_copy* probe, size_t bytes,
                                              unsigned start, unsigned ticks) {
    static const struct asterope_sensing ways = {100, hot, 0, cold, 0, NULL, 0, NULL, 0};
    struct time_stamp* const first = set_stamps(start, 50, ticks);
    first[3].next = NULL; /* so that the clock shows whether there was a probe */
    if (forgets_pages) memset(asterope_candidate_produced, 0, sizeof asterope_candidate_produced);
    probe->copy(room, value, bytes, (size_t)&ways);
    return sensing_clock != first;
}

/* A call site whose destinations stay cached is probed ever more rarely. Where they are uncached it
 * is probed at each call, or, while `hot` goes on by a finding, at one call of 15. */
static bool recalls(const struct asterope_copy* probe) {
    static const int unprobed[] = {0, 2, 6, 14, 30, 62, 126, 254, 254};
    bool right = true;
    forget_all();
    for (size_t i = 0; i < COUNT_OF(unprobed); ++i) {
        right = right && sets_at(probe, EVERY_CALL_FROM - 1, 0, 100) && gone_on.which == 'h';
        for (int k = 0; k < unprobed[i]; ++k) {
            right = right && !sets_at(probe, EVERY_CALL_FROM - 1, 0, 200) && gone_on.which == 'h';
            right = right && sets_at(probe, EVERY_CALL_FROM, 0, 100);
        }
    }
    believe(NO_TRIAL, 1);
    for (int i = 0; i < 100; ++i) {
        right = right && sets_at(probe, EVERY_CALL_FROM - 1, 0, 200) && gone_on.which == 'c';
    }
    believe(NO_TRIAL, 0);
    for (int i = 0; i < 150; ++i) {
        const bool probes = sets_at(probe, EVERY_CALL_FROM - 1, 0, 200);
        right = right && probes == (i % 15 == 0) && gone_on.which == 'h';
    }
    if (!right) printf("FAIL %s: it recalls wrongly\n", probe->name);
    return right;
}

/* Runs so many calls of a program from `now` on. Returns the part that went on with the right
 * stores. */
static double right_part(const struct asterope_copy* probe, const struct program* program,
                         size_t bytes, int calls, unsigned* now) {
    int right = 0;
    for (int i = 0; i < calls; ++i) {
        sets_at(probe, bytes, *now, 200);
        right += gone_on.which == (program->is_kept ? 'h' : 'c');
        *now = next_call(program, i, *now);
    }
    return (double)right / calls;
}

/* Each call site gets the stores with which its program goes on sooner. */
static bool heeds_readers(const struct asterope_copy* probe) {
    static const struct program programs[] = {
        {4000, 6000, 0, 0, false},     /* it leaves the set alone */
        {6000, 4000, 0, 0, true},      /* it writes there next */
        {4000, 4050, 0, 0, true},      /* too small a difference */
        {4000, 6000, 2, 20000, false}, /* more at each second call */
        {6000, 4000, 2, 20000, true},
        {25000, 40000, 0, 0, false},  /* it does much else with the stores of `hot` alone */
        {400000, 600000, 0, 0, true}, /* much else at each call */
    };
    static const size_t sizes[] = {2 * LEAST, ROOM};
    for (size_t n = 0; n < 2 * COUNT_OF(programs); ++n) {
        unsigned now = 0xFFFF0000u;
        forget_all();
        believe(0, 0);
        right_part(probe, &programs[n / 2], sizes[n % 2], 64, &now);
        const double part = right_part(probe, &programs[n / 2], sizes[n % 2], 4000, &now);
        if (part > 0.9) continue;
        printf("FAIL %s: program %zu has its stores in %.2f of its calls\n", probe->name, n, part);
        return false;
    }
    return true;
}

/* A site that never sets two uncached destinations in a row knows no time, and keeps to `hot`. */
static bool keeps_to_hot_without_a_time(const struct asterope_copy* probe) {
    forget_all();
    believe(0, 0);
    for (unsigned time = 0; time < 1000; ++time) {
        sets_at(probe, EVERY_CALL_FROM, time * 1000003u, time % 2 ? 50 : 200);
        if (gone_on.which == 'h') continue;
        printf("FAIL %s: it stores past the caches without a time\n", probe->name);
        return false;
    }
    return true;
}

/* Where the stores of `cold` go on, `hot` has a try now and then. Chance gives one in 64 calls. The
 * table of pages gives others, see gets_a_try(). */
static bool tries_hot_rarely(const struct asterope_copy* probe) {
    int tries = 0;
    forget_all();
    believe(NO_TRIAL, 1);
    forgets_pages = false;
    for (int times = 0; times < 500; ++times) {
        sets_at(probe, EVERY_CALL_FROM, 0, 200);
        const char expected = gets_a_try(times) ? 'h' : 'c';
        if (gone_on.which == expected) continue;
        printf("FAIL %s: the %d. time at one page went on with %c\n", probe->name, times,
               gone_on.which);
        return false;
    }
    forgets_pages = true;
    for (unsigned time = 0; time < 64000; ++time) {
        sets_at(probe, EVERY_CALL_FROM, time * 1000003u, 200);
        tries += gone_on.which == 'h';
    }
    if (tries > 700 && tries < 1300) return true;
    printf("FAIL %s: %d tries of hot\n", probe->name, tries);
    return false;
}

/* A finding holds for at most so many bytes, but for 256 calls at least. */
static bool believes_large_sets_for_less(const struct asterope_copy* probe) {
    static const struct program leaves_it_alone = {40000, 60000, 0, 0, false};
    static const struct {
        size_t bytes;
        int calls;
    } cases[] = {{EVERY_CALL_FROM, 4096}, {1 << 20, 1024}, {4 << 20, 256}, {64 << 20, 256}};
    for (size_t n = 0; n < COUNT_OF(cases); ++n) {
        unsigned now = 0;
        int most = 0;
        forget_all();
        believe(0, 0);
        only_told = true;
        for (int i = 0; i < 12000; ++i) {
            right_part(probe, &leaves_it_alone, cases[n].bytes, 1, &now);
            for (int line = 0; line < SITES; ++line) {
                const int left = asterope_candidate_sites[line * NUMBERS + 4];
                if (left > most) most = left;
            }
        }
        only_told = false;
        if (most >= cases[n].calls - 2 && most <= cases[n].calls) continue;
        printf("FAIL %s: a finding at %zu bytes holds for %d calls\n", probe->name, cases[n].bytes,
               most);
        return false;
    }
    return true;
}

/* A buffer that is set again and again is cached, unless the last set stored past the caches.
 * Wherever the loop begins, it ends with the stores of `hot`. */
static bool ends_in_one_state(const struct asterope_copy* probe) {
    forgets_pages = false;
    for (int begin = 0; begin < 4; ++begin) {
        unsigned now = 0;
        bool cached = begin % 2;
        int right = 0;
        forget_all();
        believe(begin < 2 ? 0 : 4096, 1);
        for (int i = 0; i < 1024; ++i) {
            sets_at(probe, EVERY_CALL_FROM, now, cached ? 50 : 200);
            now += gone_on.which == 'c' ? 30000 : cached ? 9000 : 60000;
            cached = gone_on.which == 'h';
            right += i >= 64 && cached;
        }
        if (right == 1024 - 64) continue;
        printf("FAIL %s: from state %d on, %d sets of a buffer evict it\n", probe->name, begin,
               1024 - 64 - right);
        return false;
    }
    return true;
}

static void* read_then_set(void* destination, const void* byte, size_t bytes,
                           UNUSED size_t distance) {
    static unsigned char made[2 * LEAST];
    memset(made, (int)(size_t)byte & 255, bytes);
    return read_then_make(destination, byte, made, bytes);
}

static bool check(const struct asterope_copy* probe) {
    const asterope_candidate pipeline = asterope_sets.variants[0].copy;
    /* by these ticks: hot, and what the site has */
    const struct asterope_sensing ways[] = {{NEVER, pipeline, 0, pipeline, 0, NULL, 0, NULL, 0},
                                            {20, pipeline, 0, pipeline, 0, NULL, 0, NULL, 0}};
    print_pages(probe, value);
    forgets_pages = true;
    bool right = goes_on(probe) && recalls(probe) && heeds_readers(probe) &&
                 keeps_to_hot_without_a_time(probe) && tries_hot_rarely(probe) &&
                 believes_large_sets_for_less(probe) && ends_in_one_state(probe);
    set_stamps(987654321, 50, 50);
    right = right && makes_right(probe, read_then_set, &ways[0], true);
    for (int way = 0; right && way < 3; ++way) {
        believe(NO_TRIAL, way == 2);
        right = makes_right(probe, NULL, &ways[way != 0], true);
    }
    return right;
}

int main(void) {
    copy_check_start((1 << 20) + 64);
    copy_check_byte(BYTE);
    return check_all_probes(&asterope_sets, check);
}
