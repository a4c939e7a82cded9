/* What the recorder's own measurements take on this machine, for those who read its files. */
#include "draw.h"
#include "instructions.h"
#include "median.h"
#include "recorder.h"

#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, READINGS = 301, EMPTY_READINGS = 10000, OUTLIER = 4 };

struct calibration {
    double empty_ticks; /* a mean: the time stamp moves in steps, here and where a copy is timed */
    double cache_ticks, last_cache_ticks, memory_ticks; /* medians */
};

/* Timing nothing, without what was interrupted. */
static double empty_timing(void)
{
    uint64_t values[READINGS];
    for (int i = 0; i < READINGS; ++i) {
        const uint64_t start = ticks_in_order();
        values[i] = ticks_in_order() - start;
    }
    const double largest = OUTLIER * (double)median(values, READINGS);
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

/* A load of one line of each page, in an order that no prefetcher learns. */
static double load_of_each_page(const char *memory, size_t line)
{
    uint64_t values[READINGS], random = ticks_now();
    uint16_t order[READINGS];
    for (int i = 0; i < READINGS; ++i) {
        const uint64_t other = draw_below(&random, (uint64_t)i + 1);
        order[i] = order[other];
        order[other] = (uint16_t)i;
    }
    for (int i = 0; i < READINGS; ++i)
        values[i] = ticks_of_load(memory + (size_t)order[i] * RAW_PAGE + line);
    return (double)median(values, READINGS);
}

/* 0: done. Takes about 0.1 s. */
__attribute__((visibility("default"))) int asterope_record_calibrate(struct calibration *result);
int asterope_record_calibrate(struct calibration *result)
{
    const long second_cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    const size_t others = 4 * (size_t)(second_cache > 0 ? second_cache : 1 << 20);
    const size_t pages = (size_t)READINGS * RAW_PAGE;
    char *memory =
        mmap(NULL, pages + others, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    for (size_t i = 0; i < pages + others; i += LINE) memory[i] = 1;

    result->empty_ticks = empty_timing();
    uint64_t values[READINGS];
    for (int i = 0; i < READINGS; ++i) values[i] = ticks_of_load(memory);
    result->cache_ticks = (double)median(values, READINGS);

    const size_t evicted = 7 * LINE, flushed = 21 * LINE;
    for (size_t i = 0; i < pages; i += RAW_PAGE) (void)*(volatile char *)(memory + i + evicted);
    for (size_t i = 0; i < others; i += LINE) (void)*(volatile char *)(memory + pages + i);
    result->last_cache_ticks = load_of_each_page(memory, evicted);

    for (size_t i = 0; i < pages; i += RAW_PAGE) flush_line(memory + i + flushed);
    result->memory_ticks = load_of_each_page(memory, flushed);
    munmap(memory, pages + others);
    return 0;
}
