/* Loops over arrays of static storage, or, with -DHEAP, over the same from the heap through a
 * pointer variable: see segments.py. The two differ in how the code gets at the arrays. It uses an
 * address that the linker knows, or a pointer. A store might have changed the pointer, so the
 * compiler may have to load it again. Both lie equally within their pages.
 *
 * Usage: segments. Writes a line a loop: its name and nanoseconds for all of its array. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 2000, SIDE = 32, TRIALS = 9, TRIAL_NS = 200000 };

/* In 32 KiB, so that the loops are timed and not the memory. The gaps keep a store from aliasing
 * (modulo 4096) a load soon after it. */
struct arrays {
    int source[COUNT], target[COUNT];
    char bytes[COUNT], byte_copy[COUNT];
    int left[SIDE][SIDE], gap[16], right[SIDE][SIDE], other_gap[16], product[SIDE][SIDE];
};
#ifdef HEAP
struct arrays *heap_arrays; /* external: any store of a char might be one to it */
#define ARRAY(name) heap_arrays->name
#else
struct arrays static_arrays __attribute__((aligned(4096))) = {.source = {1}};
#define ARRAY(name) static_arrays.name
#endif

static void copy(void) {
    int i;
    for (i = 0; i < COUNT; ++i) ARRAY(target)[i] = ARRAY(source)[i];
}

static void copy_bytes(void) {
    int i;
    for (i = 0; i < COUNT; ++i) ARRAY(byte_copy)[i] = ARRAY(bytes)[i];
}

static void fill(void) {
    int i;
    for (i = 0; i < COUNT; ++i) ARRAY(target)[i] = i;
}

static void fill_bytes(void) {
    int i;
    for (i = 0; i < COUNT; ++i) ARRAY(byte_copy)[i] = (char)i;
}

static void product(void) {
    int i, j, k;
    for (i = 0; i < SIDE; ++i) {
        for (j = 0; j < SIDE; ++j) {
            ARRAY(product)[i][j] = 0;
            for (k = 0; k < SIDE; ++k)
                ARRAY(product)[i][j] += ARRAY(left)[i][k] * ARRAY(right)[k][j];
        }
    }
}

void *asterope_memcpy(void *to, const void *from, size_t bytes);
static volatile size_t byte_count = COUNT; /* unknown to the compiler, which would copy in line */

static void call_memcpy(void) { memcpy(ARRAY(byte_copy), ARRAY(bytes), byte_count); }

static void call_routine(void) { asterope_memcpy(ARRAY(byte_copy), ARRAY(bytes), byte_count); }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double time_runs(void (*volatile loop)(void), long runs) {
    const double begin = now();
    long i;
    for (i = 0; i < runs; ++i) loop();
    return (now() - begin) / (double)runs;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

int main(void) {
    static const struct {
        const char* name;
        void (*run)(void);
    } loops[] = {{"copy", copy},
                 {"copy_bytes", copy_bytes},
                 {"fill", fill},
                 {"fill_bytes", fill_bytes},
                 {"product", product},
                 {"memcpy", call_memcpy},
                 {"routine", call_routine}};
    size_t i, trial;
#ifdef HEAP
    heap_arrays = aligned_alloc(4096, (sizeof *heap_arrays + 4095) / 4096 * 4096);
    if (!heap_arrays) return 1;
#endif
    for (i = 0; i < COUNT; ++i) ARRAY(source)[i] = ARRAY(bytes)[i] = (char)i;
    for (i = 0; i < SIDE * SIDE; ++i)
        ARRAY(left)[i / SIDE][i % SIDE] = ARRAY(right)[i / SIDE][i % SIDE] = (int)i % 7;
    for (i = 0; i < sizeof loops / sizeof *loops; ++i) {
        double ns[TRIALS];
        const double once = time_runs(loops[i].run, 20); /* warms up, too */
        for (trial = 0; trial < TRIALS; ++trial) {
            ns[trial] = time_runs(loops[i].run, (long)(TRIAL_NS / (once + 1)) + 1);
        }
        qsort(ns, TRIALS, sizeof *ns, ascending);
        printf("%s %.3f\n", loops[i].name, ns[TRIALS / 2]);
    }
    memset(ARRAY(byte_copy), -1, COUNT);
    call_routine();
    if (memcmp(ARRAY(byte_copy), ARRAY(bytes), COUNT) == 0) return 0;
    fprintf(stderr, "the routine copies %d bytes wrongly\n", COUNT);
    return 1;
}
