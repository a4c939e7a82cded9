/* Random numbers, and how many calls lie between two samples. */
#ifndef ASTEROPE_RECORD_DRAW_H
#define ASTEROPE_RECORD_DRAW_H

#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static inline uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint64_t draw(uint64_t *state) { return mixed(*state += 0x9e3779b97f4a7c15u); }

/* From 0 on, below `end`. */
static inline uint64_t draw_below(uint64_t *state, uint64_t end)
{
    return (uint64_t)((unsigned __int128)draw(state) * end >> 64);
}

/* -log2 of a number drawn evenly from (0, 1), times 2^20. It is computed bit by bit, as libm would
 * have to be loaded. The square of a number from [1, 2) tells the next bit of its logarithm. */
static inline uint64_t draw_logarithm(uint64_t *state)
{
    const uint64_t number = draw(state) | 1;
    const int zeros = __builtin_clzl(number);
    uint64_t x = number << zeros >> 32; /* in units of 2^-31 */
    uint64_t fraction = 0;
    for (int bit = 0; bit < 20; ++bit) {
        x = x * x >> 31;
        const uint64_t set = x >> 32;
        fraction = fraction << 1 | set;
        x >>= set;
    }
    return ((uint64_t)(zeros + 1) << 20) - fraction;
}

/* The number of calls of `work` bytes up to the next sample, that one included. It is geometric,
 * with the chance 1 - exp(-work / period). It is below 2^30, as `period` is at most 2^32 and `work`
 * is 256 or more. */
static inline uint64_t draw_calls(uint64_t *state, uint64_t period, uint64_t work)
{
    const uint64_t scaled = period * 45426 >> 16; /* times ln 2 */
    return (draw_logarithm(state) * scaled / work >> 20) + 1;
}

#endif
