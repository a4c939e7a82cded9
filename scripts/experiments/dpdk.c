/* DPDK's rte_memcpy as a function. The original is a header, inlined and compiled for the CPU
 * that -march names. It is compiled once for each of its three ways; NAME is the function's
 * name. */
#include <rte_memcpy.h>

void *NAME(void *destination, const void *source, size_t bytes);

void *NAME(void *destination, const void *source, size_t bytes)
{
    return rte_memcpy(destination, source, bytes);
}
