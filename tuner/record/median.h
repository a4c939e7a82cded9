/* The median of some hundred readings of the time stamp. */
#ifndef ASTEROPE_RECORD_MEDIAN_H
#define ASTEROPE_RECORD_MEDIAN_H

#include <stdint.h>

/* Sorts the values; of an even number the upper one. */
static inline uint64_t median(uint64_t *values, int count)
{
    for (int i = 1; i < count; ++i) {
        for (int j = i; j > 0 && values[j - 1] > values[j]; --j) {
            const uint64_t swapped = values[j];
            values[j] = values[j - 1];
            values[j - 1] = swapped;
        }
    }
    return values[count / 2];
}

#endif
