/* Instructions of AArch64 that recorder and tuner need and C lacks: the counter, and copies
 * without a relocation. */
#ifndef ASTEROPE_INSTRUCTIONS_H
#define ASTEROPE_INSTRUCTIONS_H

#include <stddef.h>
#include <stdint.h>

/* The virtual counter, in no order with the instructions around it. Its ticks are 1 to 52 ns. */
static inline uint64_t ticks_now(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

/* Reads the counter after all loads before it and before all instructions after it (Arm ARM,
 * D11.2.2). It does not wait for stores. A copy's last ones may still be on their way to the
 * cache, as they are when the program goes on. */
static inline uint64_t ticks_in_order(void)
{
    uint64_t ticks;
    __asm__ volatile("dsb ishld\n\tisb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
}

static inline const char *stack_pointer(void)
{
    const char *at;
    __asm__("mov %0, sp" : "=r"(at));
    return at;
}

/* Whether the sum is negative. A signal between the load and the store takes the exclusive
 * monitor away, and the addition begins again: a handler that does the same comes before it. The
 * oldest CPUs lack ldadd, so it is not used. */
static inline int add_is_negative(int64_t *sum, int64_t more)
{
    int64_t result;
    uint32_t interrupted;
    __asm__ volatile("1:\n\t"
                     "ldxr %0, %2\n\t"
                     "add %0, %0, %3\n\t"
                     "stxr %w1, %0, %2\n\t"
                     "cbnz %w1, 1b"
                     : "=&r"(result), "=&r"(interrupted), "+Q"(*sum)
                     : "r"(more));
    return result < 0;
}

/* These need neither a relocation nor libc: the empty assembly keeps compilers from making a call
 * of memcpy or memset of the loop. */
static inline void plain_copy_up(void *destination, const void *source, size_t bytes)
{
    char *to = (char *)destination;
    const char *from = (const char *)source;
    for (size_t i = 0; i < bytes; ++i) {
        to[i] = from[i];
        __asm__ volatile("" : : : "memory");
    }
}

static inline void plain_copy_down(void *destination, const void *source, size_t bytes)
{
    char *to = (char *)destination;
    const char *from = (const char *)source;
    while (bytes--) {
        to[bytes] = from[bytes];
        __asm__ volatile("" : : : "memory");
    }
}

static inline void plain_fill(void *destination, int value, size_t bytes)
{
    char *to = (char *)destination;
    for (size_t i = 0; i < bytes; ++i) {
        to[i] = (char)value;
        __asm__ volatile("" : : : "memory");
    }
}

#endif
