/* DPDK's rte_memcpy as a function: a header in the original, inlined and compiled for the CPU that
 * -march names. Compiled once for each of its three ways; NAME is what this one is called. */
#include <rte_memcpy.h>

void *NAME(void *destination, const void *source, size_t bytes);

void *NAME(void *destination, const void *source, size_t bytes)
{
    return rte_memcpy(destination, source, bytes);
}
