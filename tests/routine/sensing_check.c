/* Checks every probe of the tuner: that its sensing copy copies right, either way, and that it
 * looks where it says.
 *
 * Usage: sensing_check
 * Prints for each probe `ok NAME` or `FAIL NAME: reason`, and before it 32 times `pages NAME: ...`:
 * the pages of 64, counted from 0, that one reading of the ticks touches, those of the source, a
 * bar, and those of the destination. Exits 1 if one failed. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "copy_check.h"
#include "space/candidates.h"

enum { PAGE = 4096, PAGES = 64, LEAST = 4096, READINGS = 32 };
#define NEVER 0xFFFFFFFFul /* no number of ticks is above it; every one is above 0 */

/* A pipeline that leaves all but its own registers alone, as they must. */
__attribute__((naked)) static void by_rep(void) {
    __asm__("mov %rdx, %rcx\n"
            "rep movsb\n"
            "ret\n");
}

/* --- Which pipeline goes on, and with what ------------------------------------------------------
 */

static struct {
    char which; /* 'h' or 'c' */
    unsigned char* destination;
    const unsigned char* source;
    size_t bytes, distance;
} gone_on;

static void* note(char which, void* destination, const void* source, size_t bytes,
                  size_t distance) {
    gone_on.which = which;
    gone_on.destination = destination;
    gone_on.source = source;
    gone_on.bytes = bytes;
    gone_on.distance = distance;
    return memcpy(destination, source, bytes);
}

static void* hot(void* destination, const void* source, size_t bytes, size_t distance) {
    return note('h', destination, source, bytes, distance);
}

static void* cold(void* destination, const void* source, size_t bytes, size_t distance) {
    return note('c', destination, source, bytes, distance);
}

static unsigned char from[PAGE * PAGES], to[PAGE * PAGES];

/* Of a probe called "copy 16", say. */
static bool is_copy(const struct asterope_copy* probe) {
    return strncmp(probe->name, "copy ", 5) == 0;
}

static size_t lines_of(const struct asterope_copy* probe) {
    return strtoull(strchr(probe->name, ' '), NULL, 10);
}

static bool goes_on(const struct asterope_copy* probe, const char* name) {
    static const size_t sizes[] = {LEAST, LEAST + 1, 2 * LEAST - 1, 100001, sizeof from};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; ++i) {
        const struct asterope_sensing sensing = {i % 2 ? 0 : NEVER, hot, 11ul << 32 | 7, cold,
                                                 13ul << 32 | 5};
        const size_t bytes = sizes[i / 2];
        for (size_t b = 0; b < bytes; ++b) from[b] = (unsigned char)(b * 7 + b / 256 + i);
        probe->copy(to, from, bytes, (size_t)&sensing);
        const size_t done = (size_t)(gone_on.destination - to);
        const bool right =
            gone_on.which == (i % 2 ? 'c' : 'h') &&
            gone_on.distance == (i % 2 ? sensing.cold_distance : sensing.hot_distance) &&
            (size_t)(gone_on.source - from) == done && gone_on.bytes == bytes - done &&
            gone_on.bytes >= 128 && is_copy(probe) == (done > 0) && memcmp(from, to, bytes) == 0;
        if (right) continue;
        printf("FAIL %s: went on wrongly with %c after %zu of %zu bytes\n", name, gone_on.which,
               done, bytes);
        return false;
    }
    return true;
}

/* --- Where it looks -----------------------------------------------------------------------------
 */

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
    sides.source =
        mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sides.destination = sides.source + PAGE * PAGES;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, before;
    sigaction(SIGSEGV, &action, &before);
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
 * its lines, or one in each page of the destination that it asks. */
static size_t most_changed(const struct asterope_copy* probe) {
    if (is_copy(probe)) return 64 * lines_of(probe);
    return strncmp(probe->name, "source ", 7) == 0 ? 0 : lines_of(probe) / 2;
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
        copy_check_abort("reading the ticks changed something else than its lines");
    }
    if (is_copy(reading) && memcmp(to, from, most_changed(reading)) != 0) {
        copy_check_abort("reading the ticks has not copied its lines");
    }
    return memcpy(destination, source, bytes);
}

static bool check(const struct asterope_copy* probe) {
    const char* name = probe->name;
    const asterope_candidate pipeline = (asterope_candidate)by_rep;
    const struct asterope_sensing always[] = {{NEVER, pipeline, 0, pipeline, 0},
                                              {0, pipeline, 0, pipeline, 0}};
    const struct copy_subject subject = {
        .name = name,
        .copy = probe->copy,
        .distances = {(size_t)&always[0], (size_t)&always[1]},
        .minimum = LEAST,
    };
    const struct copy_subject reader = {.name = name, .copy = read_then_copy, .minimum = LEAST};
    reading = probe;
    print_pages(probe, name);
    const bool right = copy_check_state(&subject, (void (*)(void))probe->copy) &&
                       goes_on(probe, name) && copy_check_guards(&subject, LEAST, LEAST + 200) &&
                       copy_check_guards(&reader, LEAST, LEAST + 200) &&
                       copy_check_doubling(&subject, 2 * LEAST, 1 << 20) &&
                       copy_check_offsets(&subject, LEAST, LEAST + 64, 31);
    if (right) printf("ok %s\n", name);
    fflush(stdout);
    return right;
}

int main(void) {
    copy_check_start((1 << 20) + 64);
    bool right = true;
    for (size_t i = 0; i < asterope_probes.count; ++i) right &= check(&asterope_probes.copies[i]);
    return right ? 0 : 1;
}
