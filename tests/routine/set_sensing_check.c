/* Checks every probe of sets: that its sensing set sets right, goes on with the pipeline that its
 * ticks choose, explores as often as it says, and touches no page but those that it asks.
 *
 * Usage: set_sensing_check
 * The probes read no time stamps but those of the clock here: see test_sensing.py. Prints for each
 * `ok NAME` or `FAIL NAME: reason`. Exits 1 if one failed. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "space/candidates.h"

enum { LEAST = 4096, ROOM = 1 << 16 };

/* Time stamps, in a ring. Assembly knows this layout. */
struct time_stamp {
    unsigned ticks;
    struct time_stamp* next;
};
extern struct time_stamp* sensing_clock;
struct time_stamp* sensing_clock; /* the next one */

static struct time_stamp ring[2];

static void set_clock(unsigned start, unsigned ticks) {
    ring[0] = (struct time_stamp){start, &ring[1]};
    ring[1] = (struct time_stamp){start + ticks, &ring[0]};
    sensing_clock = &ring[0];
}

static struct {
    char which; /* 'h' or 'c' */
    unsigned char* destination;
    unsigned value;
    size_t bytes, distance;
} gone_on;

static void* note(char which, void* destination, const void* value, size_t bytes, size_t distance) {
    gone_on.which = which;
    gone_on.destination = destination;
    gone_on.value = (unsigned)(uintptr_t)value;
    gone_on.bytes = bytes;
    gone_on.distance = distance;
    return memset(destination, (int)(uintptr_t)value, bytes);
}

static void* hot(void* destination, const void* value, size_t bytes, size_t distance) {
    return note('h', destination, value, bytes, distance);
}

static void* cold(void* destination, const void* value, size_t bytes, size_t distance) {
    return note('c', destination, value, bytes, distance);
}

static unsigned char room[ROOM + 128];

/* One set. Returns which pipeline went on, 0 where something is wrong. */
static char set(const struct asterope_copy* probe, unsigned threshold, unsigned start,
                unsigned ticks, size_t bytes, unsigned value) {
    const struct asterope_sensing sensing = {threshold, hot, 11ul << 32 | 7, cold, 13ul << 32 | 5,
                                             NULL,      0};
    unsigned char* to = room + 64;
    memset(room, (unsigned char)~value, sizeof room);
    set_clock(start, ticks);
    gone_on.which = 0;
    void* returned = probe->copy(to, (const void*)(uintptr_t)value, bytes, (size_t)&sensing);
    const size_t distance = gone_on.which == 'h' ? sensing.hot_distance : sensing.cold_distance;
    bool right = returned == to && gone_on.destination == to && gone_on.value == value &&
                 gone_on.bytes == bytes && gone_on.distance == distance;
    for (size_t i = 0; i < sizeof room && right; ++i) {
        const bool inside = i >= 64 && i < 64 + bytes;
        right = room[i] == (unsigned char)(inside ? value : ~value);
    }
    return right ? gone_on.which : 0;
}

/* Reading the ticks changes one byte of each page that it asks, each to the value. */
static bool reads(const struct asterope_copy* probe, size_t lines) {
    memset(room, 0x11, sizeof room);
    set_clock(0xFFFFFFF0u, 1234);
    if (probe->read(room + 64, (const void*)(uintptr_t)0x77, ROOM) != 1234) return false;
    size_t changed = 0;
    for (size_t i = 0; i < sizeof room; ++i) {
        if (room[i] == 0x11) continue;
        if (room[i] != 0x77 || i < 64 + ROOM / lines / 8 || i >= 64 + ROOM) return false;
        ++changed;
    }
    return changed == lines;
}

static const char* fault_of(const struct asterope_copy* probe) {
    const bool explores = strncmp(probe->name, "explore ", 8) == 0;
    static const size_t sizes[] = {LEAST, LEAST + 1, 2 * LEAST - 1, 50001, ROOM};
    int explored = 0, uncached = 0;
    for (unsigned i = 0; i < 4000; ++i) {
        const size_t bytes = sizes[i % 5];
        const unsigned value = 0x5A5A5A00u | i % 256, start = i * 2654435761u + 12345;
        if (set(probe, 100, start, 99 + i % 2, bytes, value) != 'h') return "not hot where cached";
        const char which = set(probe, 100, start, 101 + i % 7, bytes, value);
        if (which == 0) return "wrong where uncached";
        if (which == 'h' && !explores) return "hot where uncached";
        explored += which == 'h';
        ++uncached;
    }
    if (explores && (explored < uncached / 5 || explored > uncached * 3 / 10)) {
        return "explores not once in four";
    }
    if (set(probe, 0xFFFFFFFFu, 7, 5000, LEAST, 1) != 'h') return "above the largest threshold";
    if (!reads(probe, (size_t)(probe->name[strlen(probe->name) - 1] - '0'))) return "reads wrongly";
    return NULL;
}

int main(void) {
    bool right = true;
    for (size_t i = 0; i < asterope_set_probes.count; ++i) {
        const struct asterope_copy* probe = &asterope_set_probes.copies[i];
        const char* fault = fault_of(probe);
        if (fault) right = false;
        printf(fault ? "FAIL %s: %s\n" : "ok %s\n", probe->name, fault);
    }
    return right ? 0 : 1;
}
