/* The class in which a size is counted: see raw_file.h. */
#ifndef ASTEROPE_RECORD_SIZE_CLASS_H
#define ASTEROPE_RECORD_SIZE_CLASS_H

#include <stddef.h>

/* The class of any size, below RAW_CLASSES; from 2^61 on, some large one. It has no branch, as
 * branch predictors fail at sizes. */
static inline size_t size_class(size_t bytes)
{
    const size_t power = 63 - (size_t)__builtin_clzl(bytes | 8);
    return 8 * power + (8 * bytes >> power) - 24;
}

static inline size_t class_start(size_t number)
{
    if (number < 16) return number;
    const size_t shift = number / 8 - 1;
    return (number - 8 * shift) << shift;
}

#endif
