/* Times copies into memory that is mapped anew for each, as malloc maps a large block: by libc's
 * memcpy, by asterope_memcpy and by asterope_memcpy_fresh. They take turns, so that what disturbs
 * one disturbs all.
 *
 *   fresh-memory [LIBRARY.so] [SIZE...]
 *
 * LIBRARY.so has a memcpy that joins in, a newer glibc's, say. A SIZE is like 64K or 32M. The
 * default is all sizes from 64 KiB to 256 MiB for which the machine has memory. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "asterope_memcpy.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    header = 16,          /* bytes of malloc's before a block, so that its first page was touched */
    most_rounds = 31,     /* the 10th to the 22nd hold the median, with 97 % */
    few_rounds = 11,      /* the 2nd to the 10th, with 99 %: copies from `large` on take long */
    large = 64 << 20,
    least_huge = 4 << 20, /* bytes of a block that has a whole huge page in it */
    most_routines = 5
};

typedef void *(*copy)(void *destination, const void *source, size_t bytes);

enum memory { new_memory, huge_pages, used_memory };

static const char *const memories[] = { "new memory", "new huge pages", "memory used before" };

static const char *names[most_routines] = { "libc", "libc", "asterope", "_fresh" };
static copy routines[most_routines] = { memcpy, memcpy, asterope_memcpy, asterope_memcpy_fresh };
static int count = 4;

static const char *source; /* so large that no part of it stays cached until its next turn */
static size_t source_bytes;
static volatile unsigned long sum;

static char *mapped(size_t bytes, enum memory memory)
{
    char *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        perror("fresh-memory: mmap");
        exit(1);
    }
    /* A kernel without huge pages refuses: then there are none. */
    if (memory == huge_pages) madvise(block, bytes, MADV_HUGEPAGE);
    return block;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The seconds of one copy into a block of its own, or into `used`. */
static double seconds(copy function, size_t size, enum memory memory, int cached, char *used)
{
    static size_t turn;
    const char *from = source + turn++ % (source_bytes / size) * size + header;
    char *block = used ? used : mapped(size + header, memory);
    double begin, end;
    size_t i;
    if (cached) {
        for (i = 0; i < size; i += 64) sum += (unsigned char)from[i];
    }
    block[0] = 1;
    begin = now();
    function(block + header, from, size);
    end = now();
    if (block[header] != from[0] || block[header + size - 1] != from[size - 1]) {
        fputs("fresh-memory: a copy differs from its source\n", stderr);
        exit(1);
    }
    if (!used) munmap(block, size + header);
    return end - begin;
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void row(size_t size, enum memory memory, int cached)
{
    const size_t most = ((size_t)4 << 20) / size, calls = most < 1 ? 1 : most > 16 ? 16 : most;
    static double taken[most_routines][most_rounds], ratio[most_routines][most_rounds];
    const int rounds = size < large ? most_rounds : few_rounds;
    const int low = size < large ? 9 : 1, high = rounds - 1 - low;
    char *used = memory == used_memory ? mapped(size + header, memory) : NULL;
    char text[32];
    int order[most_routines] = { 0, 1, 2, 3, 4 }, round, turn, i;
    const int uncounted = memory != used_memory && size >= least_huge;
    size_t call;
    if (used) memset(used, 1, size + header);
    for (round = 0; round < rounds; ++round) {
        /* In an order drawn anew: a copy finds cached what the one before has given back. Huge
         * pages take longer behind a copy that has given back small ones. So the first copy of
         * each does not count: a program mostly copies in one way. */
        for (turn = 0; turn < count; ++turn) {
            const int other = turn + rand() % (count - turn);
            i = order[other];
            order[other] = order[turn];
            order[turn] = i;
            taken[i][round] = 0;
            if (uncounted) seconds(routines[i], size, memory, cached, used);
            for (call = 0; call < calls; ++call) {
                taken[i][round] += seconds(routines[i], size, memory, cached, used) / (double)calls;
            }
        }
        for (i = 0; i < count; ++i) ratio[i][round] = taken[0][round] / taken[i][round];
    }
    if (used) munmap(used, size + header);
    for (i = 0; i < count; ++i) {
        qsort(taken[i], (size_t)rounds, sizeof(double), ascending);
        qsort(ratio[i], (size_t)rounds, sizeof(double), ascending);
    }
    if (size % (1 << 20)) snprintf(text, sizeof text, "%zu KiB", size >> 10);
    else snprintf(text, sizeof text, "%zu MiB", size >> 20);
    printf("%-9s%10.2f", text, (double)size * 1e-9 / taken[0][rounds / 2]);
    for (i = 2; i < count; ++i) printf(" %10.2f", ratio[i][rounds / 2]);
    printf("%13.2f  %.2f..%.2f\n", (double)size * 1e-9 / taken[3][rounds / 2], ratio[1][low],
           ratio[1][high]);
    fflush(stdout);
}

/* `cached`: the source is read before each copy. */
static void table(enum memory memory, int cached, const size_t *sizes, size_t how_many)
{
    char *block = mapped(source_bytes + header, memory);
    size_t i;
    int routine;
    printf("\n%s, source %s\nsize     libc GB/s", memories[memory], cached ? "cached" : "uncached");
    for (routine = 2; routine < count; ++routine) printf(" %10s", names[routine]);
    puts("  _fresh GB/s  libc again");
    for (i = 0; i < source_bytes + header; ++i) block[i] = (char)(i * 31 >> 8);
    source = block;
    for (i = 0; i < how_many; ++i) {
        if (memory == huge_pages && sizes[i] < least_huge) continue;
        row(sizes[i], memory, cached);
    }
    munmap(block, source_bytes + header);
}

/* The bytes of 64K or 32M; 0: not a size. */
static size_t size_of(const char *text)
{
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    const unsigned long unit = *end == 'K' ? 1ul << 10 : *end == 'M' ? 1ul << 20 : 0;
    if (!unit || end[1] || number > 1ul << 18) return 0;
    return number * unit >= 64ul << 10 && number * unit <= 256ul << 20 ? number * unit : 0;
}

static int refused(const char *argument, const char *why)
{
    fprintf(stderr, "fresh-memory: %s: %s\n", argument, why);
    return 2;
}

int main(int arguments, char **argument)
{
    static const char *const usual[] = { "64K", "256K", "1M", "4M", "16M", "32M", "64M", "256M" };
    const size_t room = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    size_t sizes[64], how_many = 0, i;
    const char *const *asked = usual;
    size_t asked_count = sizeof usual / sizeof *usual;
    int first = 1, memory;
    if (arguments > 1 && !size_of(argument[1])) {
        void *library = dlopen(argument[1], RTLD_NOW | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "memcpy") : NULL;
        if (!symbol) return refused(argument[1], "neither a size nor a library with a memcpy");
        memcpy(&routines[count], &symbol, sizeof symbol);
        names[count++] = "library";
        first = 2;
    }
    if (arguments > first) {
        asked = (const char *const *)argument + first;
        asked_count = (size_t)(arguments - first);
    }
    if (asked_count > sizeof sizes / sizeof *sizes) return refused(asked[64], "one size too many");
    source_bytes = (size_t)512 << 20;
    while (source_bytes > room / 2) source_bytes /= 2;
    for (i = 0; i < asked_count; ++i) {
        const size_t size = size_of(asked[i]);
        if (!size) return refused(asked[i], "no size from 64K to 256M");
        if (size <= source_bytes / 2) {
            sizes[how_many++] = size;
        } else {
            fprintf(stderr, "fresh-memory: %s left out: too little memory is free\n", asked[i]);
        }
    }
    printf("libc's time over the others', medians of %d rounds, of %d from 64 MiB on\n",
           most_rounds, few_rounds);
    for (memory = new_memory; memory <= used_memory; ++memory) {
        table((enum memory)memory, 0, sizes, how_many);
        table((enum memory)memory, 1, sizes, how_many);
    }
    return ferror(stdout) != 0;
}
