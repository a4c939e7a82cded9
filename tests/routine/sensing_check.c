/* Checks every probe of the tuner: that its sensing copy copies right, by each of its pipelines,
 * and that it looks where it says.
 *
 * Usage: sensing_check
 *
 * The probes read no time stamps but those of the clock here: see test_sensing.py.
 *
 * Prints for each probe `ok NAME` or `FAIL NAME: reason`, behind the lines of print_pages. Exits 1
 * if one failed. */
#define _GNU_SOURCE
#include "probes.h"

/* With how many pipelines the copy of a probe goes on. */
static int ways_of(const struct asterope_copy* probe) {
    return strncmp(probe->name, "both ", 5) == 0   ? 4
           : strncmp(probe->name, "each ", 5) == 0 ? 3
                                                   : 2;
}

/* The ticks of a probe's looks: of the source (of kind `both`: of both sides), of the destination,
 * and of the source alone. */
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

PIPELINE(hot, memcpy(to, from, bytes))
PIPELINE(cold, memcpy(to, from, bytes))
PIPELINE(fetch, memcpy(to, from, bytes))
PIPELINE(produce, memcpy(to, from, bytes))

/* The destination has room for copies that begin at other pages. */
static unsigned char from[PAGE * PAGES], room[2 * PAGE * PAGES] __attribute__((aligned(PAGE)));

/* The pipelines that probes must go on with, by how many they have: 2, 3 or 4. */
static const struct {
    unsigned long threshold;
    struct looks looks;
    char goes_on[3];
} cases[] = {
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

/* The looks of a probe that goes on with `which`. */
static int looks_of(const struct asterope_copy* probe, char which) {
    const int ways = ways_of(probe);
    return which == 'h' || ways == 2 ? 1 : which == 'f' || ways == 3 ? 2 : 3;
}

static size_t distance_of(const struct asterope_sensing* sensing, char which) {
    return which == 'h'   ? sensing->hot_distance
           : which == 'c' ? sensing->cold_distance
           : which == 'f' ? sensing->fetch_distance
                          : sensing->produce_distance;
}

static bool goes_on(const struct asterope_copy* probe) {
    static const size_t sizes[] = {LEAST, LEAST + 1, 2 * LEAST - 1, 100001, sizeof from};
    size_t pages = 0; /* a page for each that is produced */
    enum { CASES = COUNT_OF(cases) };
    for (size_t i = 0; i < CASES * COUNT_OF(sizes); ++i) {
        const size_t bytes = sizes[i / CASES], n = i % CASES;
        const struct asterope_sensing sensing = {cases[n].threshold, hot,   11ul << 32 | 7, cold,
                                                 13ul << 32 | 5,     fetch, 17ul << 32 | 3, produce,
                                                 19ul << 32 | 9};
        const struct looks* looks = &cases[n].looks;
        const char which = cases[n].goes_on[ways_of(probe) - 2];
        unsigned char* const to = room + (which == 'p' ? ++pages : 0) * PAGE;
        forget_all();
        for (size_t b = 0; b < bytes; ++b) from[b] = (unsigned char)(b * 7 + b / 256 + i);
        /* from the second size on the 32 bits overflow between the time stamps */
        set_clock(i < CASES ? 12345 : 0xFFFFFFF0u, looks, looks_of(probe, which));
        probe->copy(to, from, bytes, (size_t)&sensing);
        if (!went_on(which, to, from, bytes, distance_of(&sensing, which)) ||
            memcmp(from, to, bytes) != 0) {
            printf("FAIL %s: went on wrongly with %c of %zu bytes after %u, %u and %u ticks\n",
                   probe->name, gone_on.which, bytes, looks->ticks[0], looks->ticks[1],
                   looks->ticks[2]);
            return false;
        }
        set_clock(0xFFFFFFF0u, looks, 2);
        const size_t ticks = probe->read(to, from, bytes);
        const size_t destination = ways_of(probe) > 2 ? looks->ticks[1] : 0;
        if (ticks == (destination << 32 | looks->ticks[0])) continue;
        printf("FAIL %s: read %zx, not %x and %zx\n", probe->name, ticks, looks->ticks[0],
               destination);
        return false;
    }
    return true;
}

/* A destination that stays uncached: the hot pipeline gets a try now and then, see gets_a_try(). */
static bool tries_hot_rarely(const struct asterope_copy* probe) {
    static const struct looks uncached = {{500, 500, 50}};
    const struct asterope_sensing sensing = {100, hot, 0, cold, 0, fetch, 0, produce, 0};
    int tries = 0;
    forget_all();
    set_clock(12345, &uncached, 3);
    for (int times = 0; times < 3200; ++times) {
        probe->copy(room, from, sizeof from, (size_t)&sensing); /* as large as needs each probe */
        const char expected = gets_a_try(times) ? 'h' : 'p';
        tries += gone_on.which == 'h';
        if (gone_on.which == expected) continue;
        printf("FAIL %s: the %d. time at one page went on with %c\n", probe->name, times,
               gone_on.which);
        return false;
    }
    for (unsigned time = 0; time < 32000; ++time) { /* as many times, and ever other pages */
        set_clock(time * 1000003u, &uncached, 3);
        probe->copy(room + time % PAGES * PAGE, from, sizeof from, (size_t)&sensing);
        tries += gone_on.which == 'h';
    }
    if (tries > 18 && tries < 4000) return true;
    printf("FAIL %s: %d tries\n", probe->name, tries);
    return false;
}

#ifdef REMEMBERS_SITES
/* From so many bytes on, a look at a store to the end of a huge page comes first. Where that takes
 * as long as a page fault, it is the only one. */
enum { LARGE = 4 << 20 };

static bool stores_once_first(const struct asterope_copy* probe) {
    static const struct {
        size_t bytes;
        unsigned ticks[1 + LOOKS];
        char goes_on;
        int looks;
    } calls[] = {
        {LARGE, {32 * 101}, 'f', 1},
        {LARGE, {32 * 101 - 1, 100}, 'h', 2},
        {LARGE, {50, 101, 100}, 'f', 3},
        {LARGE + 8191, {50, 101, 101, 100}, 'p', 4},
        {LARGE + 8191, {32 * 101 - 1, 101, 101, 101}, 'c', 4},
        {LARGE - 1, {100}, 'h', 1},
        {LARGE - 1, {32 * 101}, 'f', 1},
    };
    static unsigned char source[LARGE + 8191], destination[LARGE + 8191];
    static const struct asterope_sensing ways = {100, hot, 0, cold, 0, fetch, 0, produce, 0};
    for (size_t i = 0; i < COUNT_OF(calls); ++i) {
        forget_all();
        const struct time_stamp* const first = set_looks(12345, calls[i].ticks, 1 + LOOKS, true);
        source[i] = (unsigned char)~i;
        probe->copy(destination, source, calls[i].bytes, (size_t)&ways);
        const int looks = (int)(sensing_clock - first) / 2;
        if (gone_on.which == calls[i].goes_on && looks == calls[i].looks &&
            memcmp(destination, source, calls[i].bytes) == 0) {
            continue;
        }
        printf("FAIL %s: call %zu went on with %c of %zu bytes after %d looks\n", probe->name, i,
               gone_on.which, calls[i].bytes, looks);
        return false;
    }
    return true;
}

/* What a probe finds again and again, and how many calls go on with that behind each of nine
 * probes. They have no probe. With `cold` and `produce`, they time the destination instead. */
static const struct {
    char which;
    struct looks looks;
    int calls[9];
} recalled[] = {
    {'h', {{100, 500, 500}}, {0, 2, 6, 14, 30, 62, 126, 254, 254}},
    {'f', {{101, 100, 500}}, {0, 2, 6, 14, 30, 30, 30, 30, 30}},
    {'c', {{101, 101, 101}}, {0, 2, 6, 14, 30, 30, 30, 30, 30}},
    {'p', {{101, 101, 100}}, {0, 2, 6, 14, 30, 30, 30, 30, 30}},
};
enum { HOT, FETCH, COLD, PRODUCE };

/* Whether the next call of a site times the destination instead of a probe. */
static bool looks_instead(size_t bytes) {
    for (int *line = asterope_candidate_sites, i = 0; i < SITES; ++i, line += NUMBERS) {
        if (line[0] > 0 && line[2] >= COLD) return bytes < EVERY_CALL_FROM;
    }
    return false;
}

/* A call into `to` at the time `start`, whose probe, if it has one, has these looks. If it times
 * the destination instead, that takes `instead`. The ways have the threshold 100. Returns how many
 * times it looked. */
static __attribute__((noinline)) int looks_at(const struct asterope_copy* probe, unsigned char* to,
                                              size_t bytes, unsigned start, unsigned instead,
                                              const struct looks* looks) {
    static const struct asterope_sensing ways = {100, hot, 0, cold, 0, fetch, 0, produce, 0};
    const unsigned ticks[] = {instead, looks->ticks[0], looks->ticks[1], looks->ticks[2]};
    const int left_out = !looks_instead(bytes);
    const struct time_stamp* const first =
        set_looks(start, ticks + left_out, 1 + LOOKS - left_out, true);
    probe->copy(to, from, bytes, (size_t)&ways);
    return (int)(sensing_clock - first) / 2;
}

/* The same where the destination is cached, or not, as these looks say, and no page is known.
 * Returns whether it had a probe. */
static bool calls_at(const struct asterope_copy* probe, size_t bytes, unsigned start,
                     const struct looks* looks) {
    const bool is_cached = looks->ticks[0] <= 100 || looks->ticks[1] <= 100;
    const int instead = looks_instead(bytes);
    memset(asterope_candidate_produced, 0, sizeof asterope_candidate_produced);
    return looks_at(probe, room, bytes, start, is_cached ? 100 : 101, looks) > instead;
}

/* Whether a call goes on with `which`, and probes if it should. */
static bool calls(const struct asterope_copy* probe, size_t bytes, size_t finds, char which,
                  bool probes) {
    return calls_at(probe, bytes, 12345, &recalled[finds].looks) == probes &&
           gone_on.which == which;
}

/* Other data is found at the first call that is probed, and a destination that is cached now at
 * once. The two calls behind that are probed, too, where the first data is back. */
static bool finds_a_change(const struct asterope_copy* probe, size_t was, size_t is) {
    const char which = recalled[is].which;
    const bool at_once = was >= COLD && is < COLD;
    forget_all();
    for (int i = 0; i < 2; ++i) calls(probe, LEAST, was, recalled[was].which, true);
    bool right = true;
    for (int i = 0; i < (at_once ? 0 : recalled[was].calls[1]); ++i) {
        right = right && calls(probe, LEAST, is, recalled[was].which, false);
    }
    right = right && calls(probe, LEAST, is, which, true);
    for (int i = 0; i < 2; ++i)
        right = right && calls(probe, LEAST, was, recalled[was].which, true);
    return right;
}

/* So it is where the other data falls into a trial. `start` decides which stores it draws. */
static bool finds_a_trial(const struct asterope_copy* probe, unsigned start) {
    bool right = true;
    forget_all();
    believe(0, 0);
    for (int i = 0; i < 2; ++i) right = right && calls(probe, LEAST, HOT, 'h', true);
    for (int i = 0; i < 2; ++i) right = right && calls(probe, LEAST, COLD, 'h', false);
    right = right && calls_at(probe, LEAST, start, &recalled[COLD].looks);
    for (int i = 0; i < 2; ++i) right = right && calls(probe, LEAST, HOT, 'h', true);
    return right;
}

/* A call site whose data stays in the same caches is probed ever more rarely. */
static bool recalls(const struct asterope_copy* probe) {
    for (size_t n = 0; n < COUNT_OF(recalled); ++n) {
        const char which = recalled[n].which;
        bool right = true;
        forget_all();
        for (size_t i = 0; i < COUNT_OF(recalled[n].calls); ++i) {
            right = right && calls(probe, EVERY_CALL_FROM - 1, n, which, true);
            for (int k = 0; k < recalled[n].calls[i]; ++k) {
                right = right && calls(probe, EVERY_CALL_FROM - 1, n, which, false);
                right = right && calls(probe, EVERY_CALL_FROM, n, which, true);
            }
        }
        right = right && calls(probe, EVERY_CALL_FROM - 1, n, which, true);
        for (size_t to = 0; to < COUNT_OF(recalled); ++to) {
            right = right && (to == n || finds_a_change(probe, n, to));
        }
        right = right && (n != 0 || (finds_a_trial(probe, 1) && finds_a_trial(probe, 2)));
        if (right) continue;
        printf("FAIL %s: it recalls %c wrongly\n", probe->name, which);
        return false;
    }
    return true;
}

/* Whether a trial of the stores has begun at a site. */
static bool is_tried(void) {
    for (int i = 0; i < SITES; ++i) {
        if (asterope_candidate_sites[i * NUMBERS + 6] != 0) return true;
    }
    return false;
}

/* A program that copies from a cached source into so many destinations in turn. A destination is
 * cached if its last copy had temporal stores. Beforehand the site's destinations were uncached
 * for long. For so many calls, it then has no trial and goes on with these `stores`, see
 * believe(). Returns whether copies with temporal stores go on at last. */
static bool ends_hot(const struct asterope_copy* probe, unsigned destinations, int calls,
                     int stores) {
    bool is_cached[PAGES] = {false};
    int hot_calls = 0;
    forget_all();
    for (int i = 0; i < 200; ++i) calls_at(probe, LEAST, 12345, &recalled[PRODUCE].looks);
    believe(calls, stores);
    for (unsigned i = 0; i < 40000; ++i) {
        const unsigned k = i % destinations;
        looks_at(probe, room + k * PAGE, LEAST, i * 1000003u, is_cached[k] ? 100 : 101,
                 &recalled[is_cached[k] ? HOT : PRODUCE].looks);
        is_cached[k] = gone_on.which == 'h' || gone_on.which == 'f';
        hot_calls += i >= 39000 && is_cached[k];
    }
    return hot_calls > 950;
}

/* Calls of a site until the next one looks at the destination alone, or for long. */
static void call_until_it_looks(const struct asterope_copy* probe, size_t finds) {
    for (int i = 0; i < 400 && !looks_instead(LEAST); ++i) {
        calls_at(probe, LEAST, 12345, &recalled[finds].looks);
    }
}

/* Stores past the caches evict the destination. So no call goes on with them that has not looked at
 * it, and each loop ends in one state. */
static bool looks_before_it_evicts(const struct asterope_copy* probe) {
    static const struct looks fault = {{32 * 101, 0, 0}};
    enum { LONG = 400, MOST = 30 };
    const char* wrong = NULL;
    for (size_t n = COLD; n <= PRODUCE; ++n) {
        forget_all();
        for (int i = 0; i < LONG; ++i) calls_at(probe, LEAST, 12345, &recalled[n].looks);
        call_until_it_looks(probe, n);
        /* the longest wait for memory, at a page that it does not know */
        memset(asterope_candidate_produced, 0, sizeof asterope_candidate_produced);
        if (looks_at(probe, room, LEAST, 12345, 32 * 101 - 1, &recalled[n].looks) != 1 ||
            gone_on.which != recalled[n].which) {
            wrong = "a long wait";
        }
        call_until_it_looks(probe, n);
        /* an untouched page: the probe sees its fault again, and so does the next call's */
        if (looks_at(probe, room, LEAST, 12345, 32 * 101, &fault) != 2 || gone_on.which != 'f' ||
            looks_instead(LEAST)) {
            wrong = "a fault";
        }
        forget_all();
        believe(LONG, 0);
        int held = 0;
        for (; held < 2 * LONG && !is_tried(); ++held) {
            calls_at(probe, LEAST, 12345, &recalled[n].looks);
        }
        if (held < LONG || held > LONG + MOST + 1) wrong = "the end of a finding";
        forget_all();
        believe(0, 0);
        for (unsigned i = 0; i < 13; ++i) { /* a trial and the call before */
            if (!calls_at(probe, LEAST, i * 1000003u, &recalled[n].looks)) wrong = "a trial";
        }
    }
    int tries = 0; /* of `hot`, behind a look alone */
    forget_all();
    for (int i = 0; i < 200; ++i) {
        const bool alone = looks_instead(LEAST);
        looks_at(probe, room, LEAST, 12345, 101, &recalled[PRODUCE].looks);
        tries += alone && gone_on.which == 'h';
    }
    if (tries < 3) wrong = "a page that it knows";
    for (unsigned destinations = 1; destinations <= PAGES; destinations += 1 + destinations / 2) {
        if (!ends_hot(probe, destinations, NO_TRIAL, 0)) wrong = "destinations in turn";
        if (!ends_hot(probe, destinations, 0, 0)) wrong = "destinations in turn with trials";
        if (!ends_hot(probe, destinations, 256, 1)) wrong = "destinations of a reader in turn";
    }
    if (wrong == NULL) return true;
    printf("FAIL %s: it looks wrongly at %s\n", probe->name, wrong);
    return false;
}

/* Runs so many calls of a program from `now` on. Returns the part that went on with the right
 * stores. */
static double right_part(const struct asterope_copy* probe, const struct program* program,
                         bool is_produced, int calls, unsigned* now) {
    const struct looks looks = {{200, 200, is_produced ? 50 : 200}};
    const char wanted = program->is_kept ? 'f' : is_produced ? 'p' : 'c';
    int right = 0;
    for (int i = 0; i < calls; ++i) {
        calls_at(probe, 2 * LEAST, *now, &looks);
        right += gone_on.which == wanted;
        *now = next_call(program, i, *now);
    }
    return (double)right / calls;
}

/* Each call site gets the stores with which its program goes on sooner. */
static bool heeds_readers(const struct asterope_copy* probe) {
    static const struct program programs[] = {
        {4000, 6000, 0, 0, false},     /* it does not read the copy */
        {6000, 4000, 0, 0, true},      /* it reads the copy */
        {4000, 4050, 0, 0, false},     /* no difference: as searched */
        {4050, 4000, 0, 0, false},     /* too small a difference */
        {4000, 6000, 2, 20000, false}, /* more at each second call */
        {6000, 4000, 2, 20000, true},
        {6000, 4000, 4, 200000, true}, /* much else at each fourth call */
        {40000, 25000, 0, 0, true},    /* it does much else with the stores of `cold` alone */
        {60000, 40000, 0, 0, false},   /* and at each call */
    };
    for (size_t n = 0; n < 2 * COUNT_OF(programs); ++n) {
        unsigned now = 0xFFFF0000u;
        forget_all();
        believe(0, 0);
        right_part(probe, &programs[n / 2], n % 2, 64, &now);
        const double part = right_part(probe, &programs[n / 2], n % 2, 4000, &now);
        if (part > 0.9) continue; /* `produce` gives way to a try of `hot` one time in 32 */
        printf("FAIL %s: program %zu has its stores in %.2f of its calls\n", probe->name, n, part);
        return false;
    }
    static const int changes[] = {0, 1, 0, 1, 8}; /* begins to read, or ends that */
    unsigned now = 0;
    for (size_t i = 0; i < COUNT_OF(changes); ++i) {
        right_part(probe, &programs[changes[i]], false, 8200, &now);
        if (right_part(probe, &programs[changes[i]], false, 500, &now) > 0.9) continue;
        printf("FAIL %s: it heeds no change of the program\n", probe->name);
        return false;
    }
    return true;
}

static bool remembers_right(const struct asterope_copy* probe) {
    return stores_once_first(probe) && recalls(probe) && looks_before_it_evicts(probe) &&
           heeds_readers(probe);
}
#else
static bool remembers_right(UNUSED const struct asterope_copy* probe) {
    return true;
}
#endif

static void* read_then_copy(void* destination, const void* source, size_t bytes,
                            UNUSED size_t distance) {
    return read_then_make(destination, source, source, bytes);
}

static bool check(const struct asterope_copy* probe) {
    const asterope_candidate pipeline = asterope_copies.variants[0].copy;
    static const struct looks looks = {{50, 10, 5}};
    static const char whichs[] = "hcfp";
    /* by these ticks: hot, cold, and fetch and produce where there are these */
    const struct asterope_sensing ways[] = {
        {NEVER, pipeline, 0, pipeline, 0, pipeline, 0, pipeline, 0},
        {0, pipeline, 0, pipeline, 0, pipeline, 0, pipeline, 0},
        {20, pipeline, 0, pipeline, 0, pipeline, 0, pipeline, 0},
        {7, pipeline, 0, pipeline, 0, pipeline, 0, pipeline, 0}};
    print_pages(probe, NULL);
    bool right = goes_on(probe) &&
                 (ways_of(probe) < 4 || (tries_hot_rarely(probe) && remembers_right(probe)));
    set_clock(987654321, &looks, 2);
    right = right && makes_right(probe, read_then_copy, &ways[0], false);
    for (int way = 0; right && way < ways_of(probe); ++way) {
        set_clock(987654321, &looks, looks_of(probe, whichs[way]));
        right = makes_right(probe, NULL, &ways[way], false);
    }
    return right;
}

int main(void) {
    copy_check_start((1 << 20) + 64);
    return check_all_probes(&asterope_copies, check);
}
