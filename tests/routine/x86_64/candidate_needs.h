/* What candidates_check must know of x86-64: which CPU features there are, and what else the names
 * of candidates tell. */
#ifndef ASTEROPE_CANDIDATE_NEEDS_H
#define ASTEROPE_CANDIDATE_NEEDS_H

#include <cpuid.h>
#include <stdbool.h>
#include <string.h>

#include "movdir64b.h"

static bool has_prefetchw(void) {
    unsigned int a, b, c, d;
    return __get_cpuid(0x80000001u, &a, &b, &c, &d) && (c & 1u << 8);
}

static bool has_clzero(void) {
    unsigned int a, b, c, d;
    return __get_cpuid(0x80000008u, &a, &b, &c, &d) && (b & 1u);
}

static bool cpu_has(const char* feature) {
    if (strcmp(feature, "movdir64b") == 0) return true; /* or as if it had it */
    if (strcmp(feature, "3dnowprefetch") == 0) return has_prefetchw();
    if (strcmp(feature, "clzero") == 0) return has_clzero();
    if (strcmp(feature, "avx512f") == 0) return __builtin_cpu_supports("avx512f");
    if (strcmp(feature, "avx512bw") == 0) return __builtin_cpu_supports("avx512bw");
    if (strcmp(feature, "avx512vl") == 0) return __builtin_cpu_supports("avx512vl");
    if (strcmp(feature, "avx2") == 0) return __builtin_cpu_supports("avx2");
    if (strcmp(feature, "bmi2") == 0) return __builtin_cpu_supports("bmi2");
    if (strcmp(feature, "sse4_1") == 0) return __builtin_cpu_supports("sse4.1");
    return strcmp(feature, "") == 0;
}

/* From now on the program runs what `emulation` names, where the CPU does not. */
static void emulate_what_is_missing(void) {
    if (!movdir64b_is_there()) movdir64b_emulate();
}

/* What a pipeline of this register type needs emulated here, or NULL. */
static const char* emulation(const char* rt) {
    return strcmp(rt, "MOVDIR64B") == 0 && !movdir64b_is_there() ? "movdir64b" : NULL;
}

/* Whether a small copy leaves bytes of a register out by a mask, which may lie in a guard page. */
static bool masks(const char* small) {
    return strncmp(small, "masked ", 7) == 0;
}

/* Whether a small copy is right where buffers overlap: rep movsb copies upwards only. */
static bool may_overlap(const char* small) {
    return strncmp(small, "rep ", 4) != 0;
}

#endif
