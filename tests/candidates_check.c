/* Checks that every candidate of the tuner, pipeline or small copy, copies right, or says why this
 * CPU cannot run it.
 *
 * Usage: candidates_check [--step N] [--share I/N]
 *   --step   thins the grid of sizes and offsets for non-temporal stores, see copy_check_offsets
 *            (default 1): checking what they wrote has to wait for the memory
 *   --share  checks every N-th candidate from the I-th on, for N processes side by side; the small
 *            copies count on from the pipelines, those for aliasing buffers from there
 * Prints a line for each candidate, `ok NAME`, `skip NAME: reason` or `FAIL NAME: reason`; exits 1
 * if one failed. The first pipeline of each register, load and store type is copied up to 64 MiB,
 * the others up to 1 MiB. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "candidates.h"
#include "copy_check.h"

enum { LINE = 64, SMALL = 1024, LARGE = 1 << 20, LARGEST = 64 << 20 };

static bool cpu_has(const char* feature) {
    if (strcmp(feature, "avx512f") == 0) return __builtin_cpu_supports("avx512f");
    if (strcmp(feature, "avx512bw") == 0) return __builtin_cpu_supports("avx512bw");
    if (strcmp(feature, "avx512vl") == 0) return __builtin_cpu_supports("avx512vl");
    if (strcmp(feature, "avx2") == 0) return __builtin_cpu_supports("avx2");
    if (strcmp(feature, "bmi2") == 0) return __builtin_cpu_supports("bmi2");
    if (strcmp(feature, "sse4_1") == 0) return __builtin_cpu_supports("sse4.1");
    return strcmp(feature, "") == 0;
}

/* The same for several, blanks in between; says so where one is missing. */
static bool can_run(const char* name, const char* needs) {
    char features[64];
    snprintf(features, sizeof features, "%s", needs);
    for (char* f = strtok(features, " "); f != NULL; f = strtok(NULL, " ")) {
        if (cpu_has(f)) continue;
        printf("skip %s: this CPU lacks %s\n", name, f);
        return false;
    }
    return true;
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
    if (!can_run(name, v->needs)) return true;
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

/* --- Small copies -------------------------------------------------------------------------------
 */

static struct {
    asterope_small_candidate copy;
    size_t bound;
    void* destination;
    const void* source;
    size_t bytes, distance;
    bool handed_on; /* to `large` */
} small;

static void* large(void* destination, const void* source, size_t bytes, size_t distance) {
    if (bytes <= small.bound) copy_check_abort("handed on a copy within its bound");
    if (destination != small.destination || source != small.source || bytes != small.bytes ||
        distance != small.distance) {
        copy_check_abort("handed on other arguments than it got");
    }
    small.handed_on = true;
    return memmove(destination, source, bytes);
}

static void* call_small(void* destination, const void* source, size_t bytes, size_t distance) {
    small.destination = destination;
    small.source = source;
    small.bytes = bytes;
    small.distance = distance;
    small.handed_on = false;
    void* returned = small.copy(destination, source, bytes, distance, large);
    if (!small.handed_on && bytes > small.bound) {
        copy_check_abort("kept a copy beyond its bound to itself");
    }
    return returned;
}

/* A pipeline that any CPU can run; like all of them, it leaves nothing on the stack. */
static void (*plain_pipeline(void))(void) {
    for (size_t i = 0; i < asterope_variant_count; ++i) {
        const struct asterope_variant* v = &asterope_variants[i];
        if (strcmp(v->rt, "XMM") == 0 && strcmp(v->needs, "") == 0) {
            return (void (*)(void))v->copy;
        }
    }
    return NULL;
}

static bool check_small(size_t index) {
    const struct asterope_small_variant* v = &asterope_small_variants[index];
    char name[64];
    snprintf(name, sizeof name, "%s %s %s %d", v->shape, v->rt, v->order, v->bound);
    if (!can_run(name, v->needs)) return true;
    const struct copy_subject subject = {
        .name = name,
        .copy = call_small,
        .distances = {LINE, 3 * LINE}, /* to see that they are handed on */
        .fifth = plain_pipeline(),
    };
    const bool masked = strncmp(v->shape, "masked", 6) == 0;
    const bool moves = strcmp(v->shape, "rep") != 0; /* which copies upwards only */
    const size_t last = (size_t)v->bound + 130;
    small.copy = v->copy;
    small.bound = (size_t)v->bound;
    const bool right = copy_check_state(&subject, (void (*)(void))v->copy) &&
                       copy_check_guards(&subject, 0, last) &&
                       copy_check_page_ends(&subject, masked ? 1 : 13) &&
                       copy_check_offsets(&subject, 0, last, 1) &&
                       (!moves || copy_check_overlaps(&subject, 1, last));
    if (right) printf("ok %s\n", name);
    return right;
}

/* --- Copies for aliasing buffers ---------------------------------------------------------------- */

static bool check_aliased(size_t index) {
    const struct asterope_aliased_variant* v = &asterope_aliased_variants[index];
    char name[64];
    snprintf(name, sizeof name, "aliased %s %s", v->kind, v->rt);
    if (!can_run(name, v->needs)) return true;
    const struct copy_subject subject = {.name = name, .copy = v->copy, .minimum = 512};
    /* source and destination begin alike, so half of the offsets make them alias */
    const bool right = copy_check_state(&subject, (void (*)(void))v->copy) &&
                       copy_check_guards(&subject, subject.minimum, 2 * SMALL) &&
                       copy_check_doubling(&subject, 2 * SMALL, LARGE) &&
                       copy_check_offsets(&subject, subject.minimum, 2 * SMALL, 3);
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
    const size_t pipelines = asterope_variant_count;
    const size_t aliased = pipelines + asterope_small_variant_count;
    for (size_t i = from; i < aliased + asterope_aliased_variant_count; i += shares) {
        right = (i < pipelines ? check(i, step)
                 : i < aliased ? check_small(i - pipelines)
                               : check_aliased(i - aliased)) &&
                right;
        fflush(stdout);
    }
    return right ? 0 : 1;
}
