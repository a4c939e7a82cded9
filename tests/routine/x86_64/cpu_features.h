/* The CPU features that copies of x86-64 may need. */
#pragma once

#include <cpuid.h>
#include <stdbool.h>
#include <string.h>

/* Whether a bit of ECX or EBX of a leaf is set (Intel SDM vol. 2, CPUID; AMD APM vol. 3, appendix
 * E). */
static bool has_bit(unsigned leaf, char of, unsigned bit) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(leaf, 0, &a, &b, &c, &d) && ((of == 'b' ? b : c) >> bit & 1);
}

/* XGETBV with ECX = 1 tells which parts of the vector state are in use (Intel SDM vol. 1, 13.6);
 * not every CPU and no emulator tracks vzeroupper there, so try. Bit 2: upper halves of YMM. */
static bool sees_upper_halves(void) {
    unsigned int eax, ebx, ecx, edx, high, clean, dirty;
    if (!__builtin_cpu_supports("avx")) return false;
    if (!__get_cpuid_count(0xD, 1, &eax, &ebx, &ecx, &edx) || !(eax & 4)) return false;
    __asm__ volatile("vzeroupper\n\txgetbv" : "=a"(clean), "=d"(high) : "c"(1));
    __asm__ volatile("vpcmpeqd %%xmm0, %%xmm0, %%xmm0\n\t"
                     "vinsertf128 $1, %%xmm0, %%ymm0, %%ymm0\n\t"
                     "xgetbv\n\t"
                     "vzeroupper"
                     : "=a"(dirty), "=d"(high)
                     : "c"(1)
                     : "xmm0");
    return !(clean & 4) && (dirty & 4);
}

static bool cpu_has(const char* feature) {
    if (strcmp(feature, "movdir64b") == 0) return has_bit(7, 'c', 28);
    if (strcmp(feature, "3dnowprefetch") == 0) return has_bit(0x80000001u, 'c', 8);
    if (strcmp(feature, "clzero") == 0) return has_bit(0x80000008u, 'b', 0);
    if (strcmp(feature, "avx512f") == 0) return __builtin_cpu_supports("avx512f");
    if (strcmp(feature, "avx512bw") == 0) return __builtin_cpu_supports("avx512bw");
    if (strcmp(feature, "avx512vl") == 0) return __builtin_cpu_supports("avx512vl");
    if (strcmp(feature, "avx2") == 0) return __builtin_cpu_supports("avx2");
    if (strcmp(feature, "bmi2") == 0) return __builtin_cpu_supports("bmi2");
    if (strcmp(feature, "sse4_1") == 0) return __builtin_cpu_supports("sse4.1");
    if (strcmp(feature, "upper halves") == 0) return sees_upper_halves();
    return strcmp(feature, "") == 0;
}

/* A feature that candidates_check emulates where the CPU lacks it, and what does that. */
#define EMULATED "movdir64b"
#define EMULATE() movdir64b_emulate()
void movdir64b_emulate(void); /* see movdir64b.c */
