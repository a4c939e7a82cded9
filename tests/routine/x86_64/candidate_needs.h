/* What candidates_check must know of x86-64: what is emulated. */
#ifndef ASTEROPE_CANDIDATE_NEEDS_H
#define ASTEROPE_CANDIDATE_NEEDS_H

#include <stddef.h>

#include "cpu_features.h"

/* From now on every movdir64b is done by the handler of SIGILL: see movdir64b.c. */
void movdir64b_emulate(void);

/* From now on the program runs what `emulation` names, where the CPU does not. */
static void emulate_what_is_missing(void) {
    if (!cpu_has("movdir64b")) movdir64b_emulate();
}

/* The feature, where it is emulated, or NULL. */
static const char* emulation(const char* feature) {
    return strcmp(feature, "movdir64b") == 0 ? "movdir64b" : NULL;
}

#endif
