/* The CPU features that copies of AArch64 may need. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* Whether DC ZVA is permitted and clears 64 bytes (Arm ARM, DCZID_EL0). */
static bool clears_lines(void) {
    uint64_t how;
    __asm__ volatile("mrs %0, dczid_el0" : "=r"(how));
    return (how & 31) == 4;
}

/* The bits of AT_HWCAP and AT_HWCAP2 are Linux's (arch/arm64/include/uapi/asm/hwcap.h). */
static bool cpu_has(const char* feature) {
    if (strcmp(feature, "sve") == 0) return getauxval(AT_HWCAP) >> 22 & 1;
    if (strcmp(feature, "mops") == 0) return getauxval(AT_HWCAP2) >> 43 & 1;
    if (strcmp(feature, "zva64") == 0) return clears_lines();
    return strcmp(feature, "") == 0;
}

/* A feature that candidates_check emulates where the CPU lacks it, and what does that. */
#define EMULATED ""
#define EMULATE() (void)0
