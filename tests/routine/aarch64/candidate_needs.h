/* What candidates_check must know of AArch64: what the names of candidates tell. */
#ifndef ASTEROPE_CANDIDATE_NEEDS_H
#define ASTEROPE_CANDIDATE_NEEDS_H

#include <stddef.h>

#include "cpu_features.h"

/* Nothing is emulated here. */
static void emulate_what_is_missing(void) {}
static const char* emulation(const char* feature) {
    (void)feature;
    return NULL;
}

/* Whether a small copy leaves bytes of a register out by a mask, which may lie in a guard page. */
static bool masks(const char* small) {
    return strncmp(small, "sve ", 4) == 0;
}

/* Whether a small copy is right where buffers overlap. */
static bool may_overlap(const char* small) {
    (void)small;
    return true;
}

#endif
