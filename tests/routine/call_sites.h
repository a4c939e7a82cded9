/* Part of sensing_check.c: what the probes of x86-64 remember of call sites, and which stores these
 * get. The ways have the threshold 100. */
#pragma once

/* --- One call --- */

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
    {'h', {{50, 100}}, {0, 2, 6, 14, 30, 62, 126, 254, 254}},
};
enum { HOT, FETCH, COLD, PRODUCE, CACHED_SET, FINDINGS = CACHED_SET };

static const struct looks uncached_set = {{50, 200}};

/* Whether the next call of a site times the destination instead of a probe. */
static bool looks_instead(size_t bytes) {
    for (int *line = asterope_candidate_sites, i = 0; i < SITES; ++i, line += NUMBERS) {
        if (line[0] > 0 && line[2] >= COLD) return bytes < EVERY_CALL_FROM;
    }
    return false;
}

/* A call into `to` at the time `start`, whose probe, if it has one, has these looks. If it times
 * the destination instead, that takes `instead`. Returns how many times it looked. */
static __attribute__((noinline)) int looks_at(const struct asterope_copy* probe, unsigned char* to,
                                              size_t bytes, unsigned start, unsigned instead,
                                              const struct looks* looks) {
    static const struct asterope_sensing ways = {100, hot, 0, cold, 0, fetch, 0, produce, 0};
    const unsigned ticks[] = {instead, looks->ticks[0], looks->ticks[1], looks->ticks[2]};
    const int left_out = !looks_instead(bytes);
    const struct time_stamp* const first =
        set_looks(start, ticks + left_out, 1 + LOOKS - left_out, true);
    probe->copy(to, argument(), bytes, (size_t)&ways);
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

/* --- What is found again --- */

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

/* Where the destinations of a set's site are uncached, each call is probed, or, while `hot` goes on
 * by a finding, one call of 15. */
static bool recalls_uncached_sets(const struct asterope_copy* probe) {
    bool right = true;
    believe(NO_TRIAL, 1);
    for (int i = 0; i < 100; ++i) {
        right = right && calls_at(probe, EVERY_CALL_FROM - 1, 12345, &uncached_set) &&
                gone_on.which == 'c';
    }
    believe(NO_TRIAL, 0);
    for (int i = 0; i < 150; ++i) {
        const bool probes = calls_at(probe, EVERY_CALL_FROM - 1, 12345, &uncached_set);
        right = right && probes == (i % 15 == 0) && gone_on.which == 'h';
    }
    return right;
}

/* A call site whose data stays in the same caches is probed ever more rarely. */
static bool recalls(const struct asterope_copy* probe) {
    for (size_t n = sets ? CACHED_SET : 0; n < (sets ? COUNT_OF(recalled) : FINDINGS); ++n) {
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
        right = right && (sets || calls(probe, EVERY_CALL_FROM - 1, n, which, true));
        for (size_t to = 0; to < FINDINGS && !sets; ++to) {
            right = right && (to == n || finds_a_change(probe, n, to));
        }
        right = right && (n != HOT || (finds_a_trial(probe, 1) && finds_a_trial(probe, 2)));
        right = right && (!sets || recalls_uncached_sets(probe));
        if (right) continue;
        printf("FAIL %s: it recalls %c wrongly\n", probe->name, which);
        return false;
    }
    return true;
}

/* --- Looks at destinations, of copies --- */

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
    static unsigned char source[LARGE + 8191];
    static const struct asterope_sensing ways = {100, hot, 0, cold, 0, fetch, 0, produce, 0};
    only_told = false;
    for (size_t i = 0; i < COUNT_OF(calls); ++i) {
        forget_all();
        const struct time_stamp* const first = set_looks(12345, calls[i].ticks, 1 + LOOKS, true);
        source[i] = (unsigned char)~i;
        probe->copy(room, source, calls[i].bytes, (size_t)&ways);
        const int looks = (int)(sensing_clock - first) / 2;
        if (gone_on.which == calls[i].goes_on && looks == calls[i].looks &&
            memcmp(room, source, calls[i].bytes) == 0) {
            continue;
        }
        printf("FAIL %s: call %zu went on with %c of %zu bytes after %d looks\n", probe->name, i,
               gone_on.which, calls[i].bytes, looks);
        return false;
    }
    only_told = true;
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

/* --- The stores that serve the program --- */

/* A program whose destinations, or whose sources, are uncached. A call and what the program does
 * until the next one take so many ticks: with stores past the caches, and with those that keep the
 * destination there. */
static const struct program {
    unsigned past, kept;
    int every; /* each such call takes `more` ticks; 0: none does */
    unsigned more;
    char goes_on; /* 'p', 'k'; 's': as searched, a copy past the caches and a set not */
} programs[] = {
    {4000, 6000, 0, 0, 'p'},      /* it does not read the copy */
    {6000, 4000, 0, 0, 'k'},      /* it reads the copy */
    {4000, 4050, 0, 0, 's'},      /* too small a difference */
    {4050, 4000, 0, 0, 's'},      /* the same */
    {4000, 6000, 2, 20000, 'p'},  /* more at each second call */
    {6000, 4000, 2, 20000, 'k'},  /* the same */
    {6000, 4000, 4, 200000, 'k'}, /* much else at each fourth call */
    {40000, 25000, 0, 0, 'k'},    /* much else with the stores of `cold` alone */
    {25000, 40000, 0, 0, 'p'},    /* or with the others alone */
    {600000, 400000, 0, 0, 's'},  /* or at each call */
    {400000, 600000, 0, 0, 's'},  /* the same */
    {40000, 60000, 0, 0, 'p'},    /* a large set */
};
enum { LARGE_SETS = COUNT_OF(programs) - 1 };

/* Runs so many calls of a program from `now` on. Returns the part that went on with the right
 * stores. */
static double right_part(const struct asterope_copy* probe, const struct program* program,
                         bool is_produced, size_t bytes, int calls, unsigned* now) {
    const struct looks copied = {{200, 200, is_produced ? 50 : 200}};
    const bool is_kept = program->goes_on == 's' ? sets : program->goes_on == 'k';
    const char wanted = is_kept ? (sets ? 'h' : 'f') : is_produced ? 'p' : 'c';
    int right = 0;
    for (int i = 0; i < calls; ++i) {
        calls_at(probe, bytes, *now, sets ? &uncached_set : &copied);
        right += gone_on.which == wanted;
        const bool past = gone_on.which == 'c' || gone_on.which == 'p';
        *now += (past ? program->past : program->kept) + 7;
        if (program->every != 0 && i % program->every == 0) *now += program->more;
    }
    return (double)right / calls;
}

/* Each call site gets the stores with which its program goes on sooner: of copies into cached and
 * uncached memory, of sets of two sizes. */
static bool heeds_readers(const struct asterope_copy* probe) {
    for (size_t n = 0; n < 2 * LARGE_SETS; ++n) {
        const struct program* const program = &programs[n / 2];
        const bool is_produced = !sets && n % 2;
        const size_t bytes = sets && n % 2 ? sizeof from : 2 * LEAST;
        unsigned now = 0xFFFF0000u;
        forget_all();
        believe(0, 0);
        right_part(probe, program, is_produced, bytes, 64, &now);
        const double part = right_part(probe, program, is_produced, bytes, 4000, &now);
        if (part > 0.9) continue; /* `produce` gives way to a try of `hot` one time in 32 */
        printf("FAIL %s: program %zu has its stores in %.2f of its calls\n", probe->name, n, part);
        return false;
    }
    static const int changes[] = {0, 1, 0, 1, 9}; /* begins to read, or ends that */
    unsigned now = 0;
    for (size_t i = 0; i < COUNT_OF(changes); ++i) {
        right_part(probe, &programs[changes[i]], false, 2 * LEAST, 8200, &now);
        if (right_part(probe, &programs[changes[i]], false, 2 * LEAST, 500, &now) > 0.9) continue;
        printf("FAIL %s: it heeds no change of the program\n", probe->name);
        return false;
    }
    return true;
}

/* A site that never sets two uncached destinations in a row knows no time, and keeps to `hot`. */
static bool keeps_to_hot_without_a_time(const struct asterope_copy* probe) {
    forget_all();
    believe(0, 0);
    for (unsigned time = 0; time < 1000; ++time) {
        calls_at(probe, EVERY_CALL_FROM, time * 1000003u,
                 time % 2 ? &recalled[CACHED_SET].looks : &uncached_set);
        if (gone_on.which == 'h') continue;
        printf("FAIL %s: it stores past the caches without a time\n", probe->name);
        return false;
    }
    return true;
}

/* A finding holds for at most so many bytes, but for 256 calls at least. */
static bool believes_large_sets_for_less(const struct asterope_copy* probe) {
    static const struct {
        size_t bytes;
        int calls;
    } cases[] = {{EVERY_CALL_FROM, 4096}, {1 << 20, 1024}, {4 << 20, 256}, {64 << 20, 256}};
    for (size_t n = 0; n < COUNT_OF(cases); ++n) {
        unsigned now = 0;
        int most = 0;
        forget_all();
        believe(0, 0);
        for (int i = 0; i < 12000; ++i) {
            right_part(probe, &programs[LARGE_SETS], false, cases[n].bytes, 1, &now);
            for (int line = 0; line < SITES; ++line) {
                const int left = asterope_candidate_sites[line * NUMBERS + 4];
                if (left > most) most = left;
            }
        }
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
    for (int begin = 0; begin < 4; ++begin) {
        unsigned now = 0;
        bool cached = begin % 2;
        int right = 0;
        forget_all();
        believe(begin < 2 ? 0 : 4096, 1);
        for (int i = 0; i < 1024; ++i) {
            looks_at(probe, room, EVERY_CALL_FROM, now, 0,
                     cached ? &recalled[CACHED_SET].looks : &uncached_set);
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

static bool remembers_right(const struct asterope_copy* probe) {
    if (!sets) {
        return stores_once_first(probe) && recalls(probe) && looks_before_it_evicts(probe) &&
               heeds_readers(probe);
    }
    return recalls(probe) && heeds_readers(probe) && keeps_to_hot_without_a_time(probe) &&
           believes_large_sets_for_less(probe) && ends_in_one_state(probe);
}
