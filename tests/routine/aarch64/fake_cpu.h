/* A CPU of AArch64 that the test describes, for nearest_check: `fake` has what getauxval says and
 * what the registers MIDR_EL1 and DCZID_EL0 hold. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/auxv.h>

static struct { unsigned long hwcap, hwcap2, midr, dczid; } fake;

#define getauxval(type) ((type) == AT_HWCAP ? fake.hwcap : (type) == AT_HWCAP2 ? fake.hwcap2 : 0)

/* Takes the numbers, hexadecimal, in the order above; false where they are not there. */
static bool read_fake_cpu(const char* line) {
    return sscanf(line, "%lx %lx %lx %lx", &fake.hwcap, &fake.hwcap2, &fake.midr, &fake.dczid) == 4;
}
