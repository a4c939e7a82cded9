/* What the checks of sensing copies and of sets that sense have alike: all of their probes, the
 * pages and the bytes that these touch. */
#pragma once

#include "copy_check.h"
#include "harness.h"
#include "sensing_clock.h"
#include "space/candidates.h"

enum { LEAST = 16384, PAGES = 64, READINGS = 32 };

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

/* Lets the probe read its ticks 32 times, each time at a place that it draws from another time
 * stamp. Prints a line each: `pages NAME:` and the pages of 64, counted from 0, that it touched.
 * These are those of the source, a bar, and those of the destination. With `byte` it is a set's
 * probe, whose line has the destination alone. */
static void print_pages(const struct asterope_copy* probe, const void* byte) {
    struct sigaction before;
    static struct time_stamp drawn_stamps[4 * READINGS + 1];
    sigaction(SIGSEGV, NULL, &before);
    handle(SIGSEGV, on_fault);
    for (size_t i = 0; i + 1 < COUNT_OF(drawn_stamps); ++i)
        drawn_stamps[i] = (struct time_stamp){(unsigned)random(), &drawn_stamps[i + 1]};
    sensing_clock = drawn_stamps;
    for (int n = 0; n < READINGS; ++n) {
        memset(touched, 0, sizeof touched);
        mprotect(sides, sizeof sides, PROT_NONE);
        probe->read(sides[PAGES], byte ? byte : sides[0], PAGE * PAGES);
        printf("pages %s:", probe->name);
        for (int i = byte ? PAGES : 0; i < 2 * PAGES; ++i) {
            if (i == PAGES && !byte) printf(" |");
            if (touched[i]) printf(" %d", i % PAGES);
        }
        printf("\n");
    }
    sigaction(SIGSEGV, &before, NULL);
}

/* Lets the probe read its ticks. In each page that it asks, it may change one byte of the
 * destination to that of the source; a set's probe, to the byte that is `source`. It must leave the
 * other bytes as they were. */
static void read_ticks(const struct asterope_copy* probe, unsigned char* to, const void* source,
                       size_t bytes, bool sets) {
    static unsigned char before[2 * LEAST];
    const unsigned char* const from = source;
    const bool asks = strncmp(probe->name, "source ", 7) != 0;
    size_t changed = 0, wrong = 0;
    memcpy(before, to, bytes);
    probe->read(to, source, bytes);
    for (size_t i = 0; i < bytes; ++i) {
        const unsigned char wanted = sets ? (unsigned char)(size_t)source : from[i];
        changed += to[i] != before[i];
        wrong += to[i] != before[i] && to[i] != wanted;
    }
    if (wrong != 0 || changed > (asks ? strtoull(strchr(probe->name, ' '), NULL, 10) : 0)) {
        copy_check_abort("reading the ticks changed more than a byte of each page");
    }
}

/* Whether all probes of a space pass the check. */
static bool check_probes(const struct asterope_space* space,
                         bool (*check)(const struct asterope_copy* probe)) {
    bool right = true;
    for (size_t k = 0; k < space->kind_count; ++k) {
        const struct asterope_kind* const kind = &space->kinds[k];
        for (size_t i = 0; kind->copies->read && i < kind->count; ++i) {
            right &= check(&kind->copies[i]);
        }
    }
    return right;
}
