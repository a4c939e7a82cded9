/* The routines that a test rendered under prefixes of their own, as a table.
 *
 * routines.inc, which the test writes, lists them as ROUTINE(prefix, BYTES...): the bytes are sizes
 * at which the routine's code changes, such as the ends of its intervals. */
#ifndef ASTEROPE_RENDERED_ROUTINES_H
#define ASTEROPE_RENDERED_ROUTINES_H

#include "harness.h"

struct rendered_routine {
    const char* name;
    plain_function copy, copy_to_end, move; /* memcpy, mempcpy, memmove */
    plain_set_function set;                 /* memset; NULL: it has none */
    const size_t* sizes;
    size_t size_count;
};

#define ROUTINE(name, ...)                                                                         \
    void* name##_memcpy(void*, const void*, size_t);                                               \
    void* name##_mempcpy(void*, const void*, size_t);                                              \
    void* name##_memmove(void*, const void*, size_t);                                              \
    __attribute__((weak)) void* name##_memset(void*, int, size_t);                                 \
    static const size_t name##_sizes[] = {__VA_ARGS__};
#include "routines.inc"
#undef ROUTINE

static const struct rendered_routine rendered_routines[] = {
#define ROUTINE(name, ...)                                                                         \
    {#name,                                                                                        \
     name##_memcpy,                                                                                \
     name##_mempcpy,                                                                               \
     name##_memmove,                                                                               \
     name##_memset,                                                                                \
     name##_sizes,                                                                                 \
     sizeof name##_sizes / sizeof name##_sizes[0]},
#include "routines.inc"
#undef ROUTINE
};

enum { ROUTINES = COUNT_OF(rendered_routines) };

#endif
