/* Checks that every candidate of the tuner copies right, or says why this CPU cannot run it.
 *
 * Usage: candidates_check [--step N] [--share I/N]
 *   --step   thins the grid of sizes and offsets for non-temporal stores, see copy_check_offsets
 *            (default 1): checking what they wrote has to wait for the memory
 *   --share  checks every N-th variant from the I-th on, for N processes side by side
 * Prints a line for each variant, `ok NAME`, `skip NAME: reason` or `FAIL NAME: reason`; exits 1 if
 * one failed. The first variant of each register, load and store type is copied up to 64 MiB, the
 * others up to 1 MiB. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "candidates.h"
#include "copy_check.h"

enum { LINE = 64, SMALL = 1024, LARGE = 1 << 20, LARGEST = 64 << 20 };

static bool cpu_has(const char* feature) {
    if (strcmp(feature, "avx512f") == 0) return __builtin_cpu_supports("avx512f");
    if (strcmp(feature, "avx2") == 0) return __builtin_cpu_supports("avx2");
    if (strcmp(feature, "sse4_1") == 0) return __builtin_cpu_supports("sse4.1");
    return strcmp(feature, "") == 0;
}

static bool first_of_a_kind(size_t index) {
    const struct asterope_variant* v = &asterope_variants[index];
    for (size_t i = 0; i < index; ++i) {
        const struct asterope_variant* other = &asterope_variants[i];
        if (strcmp(v->rt, other->rt) == 0 && strcmp(v->lt, other->lt) == 0 &&
            strcmp(v->st, other->st) == 0) {
            return false;
        }
    }
    return true;
}

/* Whether the variant passed; prints the verdict. */
static bool check(size_t index, size_t non_temporal_step) {
    const struct asterope_variant* v = &asterope_variants[index];
    char name[64];
    snprintf(name, sizeof name, "%s %s %s %s %d", v->rt, v->lt, v->st, v->pt, v->ps);
    if (!cpu_has(v->needs)) {
        printf("skip %s: this CPU lacks %s\n", name, v->needs);
        return true;
    }
    const struct copy_subject subject = {
        .name = name,
        .copy = v->copy,
        .distances = {LINE * (size_t)asterope_distances[0],
                      LINE * (size_t)asterope_distances[asterope_distance_count - 1]},
        .minimum = 128,
    };
    const size_t step = strcmp(v->st, "NT") == 0 ? non_temporal_step : 1;
    const size_t large = first_of_a_kind(index) ? LARGEST : LARGE;
    const bool right = copy_check_state(&subject, (void (*)(void))v->copy) &&
                       copy_check_guards(&subject, subject.minimum, SMALL) &&
                       copy_check_doubling(&subject, 2 * SMALL, large) &&
                       copy_check_offsets(&subject, subject.minimum, SMALL, step);
    if (right) printf("ok %s\n", name);
    return right;
}

int main(int argc, char** argv) {
    size_t step = 1, from = 0, shares = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--step") == 0) step = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--share") == 0) sscanf(argv[i + 1], "%zu/%zu", &from, &shares);
    }
    copy_check_start(LARGEST + 64);
    bool right = true;
    for (size_t i = from; i < asterope_variant_count; i += shares) {
        right = check(i, step) && right;
        fflush(stdout);
    }
    return right ? 0 : 1;
}
