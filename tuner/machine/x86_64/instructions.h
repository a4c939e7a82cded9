/* Instructions of x86-64 that recorder and tuner need and C lacks: the time stamp, and copies
 * without a relocation. */
#ifndef ASTEROPE_INSTRUCTIONS_H
#define ASTEROPE_INSTRUCTIONS_H

#include <stddef.h>
#include <stdint.h>

/* The time stamp, in no order with the instructions around it. */
static inline uint64_t ticks_now(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

/* The time stamp after all loads before it and before all instructions after it (Intel SDM vol. 2,
 * RDTSC). It does not wait for stores: a copy's last ones may still be on their way to the cache,
 * as they are when the program goes on. */
static inline uint64_t ticks_in_order(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

static inline const char *stack_pointer(void)
{
    const char *at;
    __asm__("mov %%rsp, %0" : "=r"(at));
    return at;
}

/* Whether the sum is negative. In one instruction, so that a signal handler that does the same
 * comes before it or after it. */
static inline int add_is_negative(int64_t *sum, int64_t more)
{
    int is_negative;
    __asm__("addq %2, %1" : "=@ccs"(is_negative), "+m"(*sum) : "re"(more));
    return is_negative;
}

/* These need neither a relocation nor libc. */
static inline void plain_copy_up(void *destination, const void *source, size_t bytes)
{
    __asm__ volatile("rep movsb" : "+D"(destination), "+S"(source), "+c"(bytes) : : "memory");
}

static inline void plain_copy_down(void *destination, const void *source, size_t bytes)
{
    destination = (char *)destination + bytes - 1;
    source = (const char *)source + bytes - 1;
    __asm__ volatile("std\n\trep movsb\n\tcld"
                     : "+D"(destination), "+S"(source), "+c"(bytes)
                     :
                     : "memory", "cc");
}

static inline void plain_fill(void *destination, int value, size_t bytes)
{
    __asm__ volatile("rep stosb" : "+D"(destination), "+c"(bytes) : "a"(value) : "memory");
}

#endif
