/* Notes where the tuner's pipelines store first in each huge page of a large destination, and
 * checks what they copy and set.
 *
 * Usage: huge_pages_check [--share I,N]: every N-th pipeline from the I-th on
 *
 * Prints a line for each upward pipeline that this CPU can run. It is `ends NAME` if the first
 * store to each huge page behind the first one is to its last byte. Where the destination ends
 * before, that store must be to the first byte of the tail. Else it is `begins NAME`. Prints
 * `FAIL NAME: ...` where bytes are wrong; exits 1 then. */
#define _GNU_SOURCE
#include "harness.h"
#include "space/candidates.h"
#include "watched_memory.h"
#include OF_ARCHITECTURE(cpu_features.h)

enum { HUGE = 2 << 20, PAGES = 4, TAIL = 128, LARGEST_BLOCK = 1024, CANARY = 0xA5 };

/* PAGES huge pages; a source of as many bytes; and what a set must make there. */
static unsigned char *area, *source, *set;

static bool can_run(const char* needs) {
    char features[64];
    snprintf(features, sizeof features, "%s", needs);
    for (char* f = strtok(features, " "); f != NULL; f = strtok(NULL, " ")) {
        if (!cpu_has(f)) return false;
    }
    return true;
}

/* One copy, or with a `value` from 0 on one set, of `bytes` to the area's offset `to`. Returns
 * whether each huge page behind the first one was stored to at its end first. */
static bool ends_first(const struct asterope_variant* v, size_t to, size_t from, size_t bytes,
                       int value, bool* right) {
    unsigned char *const at = area + to, canary[64];
    memset(canary, CANARY, sizeof canary);
    memcpy(at - sizeof canary, canary, sizeof canary);
    memcpy(at + bytes, canary, sizeof canary);
    const void* made = value < 0 ? source + from : memset(set, value, bytes);
    watch(area, HUGE, PAGES, PROT_NONE);
    const void* returned = v->copy(at, value < 0 ? made : (void*)(size_t)value, bytes, 0);
    mprotect(area, PAGES * (size_t)HUGE, PROT_READ | PROT_WRITE);

    if (returned != at || memcmp(at, made, bytes) != 0 ||
        memcmp(at - sizeof canary, canary, sizeof canary) != 0 ||
        memcmp(at + bytes, canary, sizeof canary) != 0) {
        printf("FAIL %s: %zu bytes from %zu to %zu\n", v->name, bytes, from, to);
        *right = false;
    }
    const size_t tail = to + bytes - TAIL;
    bool ends = true;
    for (size_t page = to / HUGE + 1; page * HUGE + LARGEST_BLOCK < tail; ++page) {
        const size_t last = (page + 1) * HUGE - 1;
        ends &= watched.first_access[page] == (last < tail ? last : tail);
    }
    return ends;
}

int main(int argc, char** argv) {
    /* Offset of the destination and of the source, bytes. Blocks of up to 16 lines begin at all
     * lines before a huge page. */
    static const size_t cases[][3] = {
        {64, 3, 2 * (size_t)HUGE},
        {HUGE - 4096 + 16, 16, 2 * (size_t)HUGE + 5000},
        {HUGE - 4096 - 64 * 5 + 1, 0, 2 * (size_t)HUGE + 9000},
        {4096 * 3 + 64 * 7, 64, 3 * (size_t)HUGE + 333},
        {1000, 99, HUGE},
        {2 * (size_t)HUGE - 65, 7, HUGE + 5000},
    };
    size_t share[2] = {0, 1}, number = 0;
    const struct option options[] = {{"--share", share, 2, NULL}};
    read_options(argc, argv, options, COUNT_OF(options));
    unsigned char* const room = guarded((PAGES + 1) * (size_t)HUGE);
    area = (unsigned char*)(((size_t)room + HUGE - 1) / HUGE * HUGE);
    source = guarded(PAGES * (size_t)HUGE);
    set = guarded(PAGES * (size_t)HUGE);
    fill_randomly(source, PAGES * (size_t)HUGE, 1);
    bool right = true;
    for (int sets = 0; sets < 2; ++sets) {
        const struct asterope_space* const space = sets ? &asterope_sets : &asterope_copies;
        for (size_t i = 0; i < space->variant_count; ++i) {
            const struct asterope_variant* const v = &space->variants[i];
            const bool down = strstr(v->name, " down") != NULL; /* begins at the ends anyway */
            if (!can_run(v->needs) || down) continue;
            if (number++ % share[1] != share[0]) continue;
            bool ends = true;
            for (size_t c = 0; c < COUNT_OF(cases); ++c) {
                const int value = sets ? (int)(c * 50) : -1;
                ends &= ends_first(v, cases[c][0], cases[c][1], cases[c][2], value, &right);
            }
            printf("%s %s\n", ends ? "ends" : "begins", v->name);
        }
    }
    return right ? 0 : 1;
}
