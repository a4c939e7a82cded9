/* The clock of probes in tests, and what they remember: see test_sensing.py. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define NEVER 0xFFFFFFFFul /* no number of ticks is above it */

/* Time stamps, in a ring. Assembly knows this layout. */
struct time_stamp {
    unsigned ticks;
    struct time_stamp* next;
};
extern struct time_stamp* sensing_clock;
struct time_stamp* sensing_clock; /* the next one */

/* The table of pages where copies began whose source alone was cached; see templates/names.j2. */
extern size_t asterope_candidate_produced[512];

#ifdef __x86_64__
#define REMEMBERS_SITES
/* What probes said at call sites: a line each; see templates/x86_64/sensing.j2. */
enum { SITES = 512, NUMBERS = 16, EVERY_CALL_FROM = 262144 };
extern int asterope_candidate_sites[SITES * NUMBERS];

/* In main: all calls come from the middle of 64 KiB of the stack. Each such stretch has call sites
 * of its own. */
#define IN_THE_MIDDLE_OF_A_STRETCH()                                                               \
    *(volatile char*)__builtin_alloca((size_t)__builtin_frame_address(0) % 65536 + 32768) = 0

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

#ifndef REMEMBERS_SITES
#define IN_THE_MIDDLE_OF_A_STRETCH() (void)0
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
