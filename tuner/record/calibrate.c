/* What the recorder's own measurements take on this machine, for those who read its files. */
#include "instructions.h"
#include "recorder.h"

#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, READINGS = 301, EMPTY_READINGS = 10000, OUTLIER = 4 };

struct calibration {
    double empty_ticks; /* a mean: the time stamp moves in steps, here and where a copy is timed */
    double cache_ticks, last_cache_ticks, memory_ticks; /* medians */
};

static uint64_t median(uint64_t* values) {
    for (int i = 1; i < READINGS; ++i) {
        for (int j = i; j > 0 && values[j - 1] > values[j]; --j) {
            const uint64_t swapped = values[j];
            values[j] = values[j - 1];
            values[j - 1] = swapped;
        }
    }
    return (double)values[READINGS / 2];
}

static void read_all(const volatile char* start, size_t bytes) {
    for (size_t i = 0; i < bytes; i += LINE) (void)start[i];
}

/* Timing nothing, without what was interrupted. */
static double empty_timing(void) {
    uint64_t values[READINGS];
    for (int i = 0; i < READINGS; ++i) {
        const uint64_t start = ticks_in_order();
        values[i] = ticks_in_order() - start;
    }
    const double largest = OUTLIER * median(values);
    double sum = 0, count = 0;
    for (int i = 0; i < EMPTY_READINGS; ++i) {
        const uint64_t start = ticks_in_order();
        const double ticks = (double)(ticks_in_order() - start);
        if (ticks > largest) continue;
        sum += ticks;
        count += 1;
    }
    return count ? sum / count : largest / OUTLIER;
}

/* In ticks; 0: done. Takes about 0.1 s. */
__attribute__((visibility("default"))) int asterope_record_calibrate(struct calibration* result);
int asterope_record_calibrate(struct calibration* result) {
    const long second_cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    const size_t others = 4 * (size_t)(second_cache > 0 ? second_cache : 1 << 20);
    const size_t lines = (size_t)READINGS * RAW_PAGE;
    char* memory =
        mmap(NULL, lines + others, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    for (size_t i = 0; i < lines + others; i += LINE) memory[i] = 1;

    /* A line of each page, in an order that no prefetcher learns: 37 is prime to READINGS. */
    uint64_t values[READINGS];
    result->empty_ticks = empty_timing();
    for (int i = 0; i < READINGS; ++i) {
        (void)*(volatile char*)memory;
        values[i] = ticks_of_load(memory);
    }
    result->cache_ticks = median(values);
    for (int i = 0; i < READINGS; ++i) read_all(memory + (size_t)i * RAW_PAGE + 7 * LINE, LINE);
    read_all(memory + lines, others);
    for (int i = 0; i < READINGS; ++i)
        values[i] = ticks_of_load(memory + (size_t)(i * 37 % READINGS) * RAW_PAGE + 7 * LINE);
    result->last_cache_ticks = median(values);
    for (int i = 0; i < READINGS; ++i) flush_line(memory + (size_t)i * RAW_PAGE + 21 * LINE);
    for (int i = 0; i < READINGS; ++i)
        values[i] = ticks_of_load(memory + (size_t)(i * 37 % READINGS) * RAW_PAGE + 21 * LINE);
    result->memory_ticks = median(values);
    munmap(memory, lines + others);
    return 0;
}
