/* Which pages a probe touches, for the checks of sensing copies and of sets that sense. */
#pragma once

#include "harness.h"
#include "sensing_clock.h"
#include "space/candidates.h"

enum { PAGES = 64, READINGS = 32 };

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
