/* What candidates_check must know of AArch64. */
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

#endif
