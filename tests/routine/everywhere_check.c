/* Copies and sets, by libc's names, into memory that nobody has touched.
 *
 * Each argument FUNCTION:BYTES prints of how many bytes the pages were prepared, as a library under
 * it counts them in asterope_counted. "overlap" before it: a destination that begins within its
 * source. "halted": the first load from the source faults. It prints how many pages of the
 * destination are there then, or "cannot" where the system prepares none. Exits with 1 where bytes,
 * the result or errno are wrong. */
#define _GNU_SOURCE
#include <errno.h>

#include "harness.h"

enum { ALIGNED = 1 << 16, VALUE = 0x1a5, POPULATE = 23 };

static void* zero(void* to, UNUSED int value, size_t bytes) {
    bzero(to, bytes);
    return to;
}

static const struct way {
    const char* name;
    plain_function copy;
    plain_set_function set;
    int returns_end, value;
} ways[] = {{"memcpy", memcpy, NULL, 0, 0},
            {"memmove", memmove, NULL, 0, 0},
            {"mempcpy", mempcpy, NULL, 1, 0},
            {"memset", NULL, memset, 0, VALUE},
            {"bzero", NULL, zero, 0, 0}};

static unsigned char *source, *target;
static size_t pages; /* of the target */
static size_t resident;

static void on_fault(UNUSED int number, UNUSED siginfo_t* info, UNUSED void* context) {
    static unsigned char state[1 << 16];
    if (mincore(target, pages * PAGE, state) != 0) _exit(1);
    for (size_t i = 0; i < pages; ++i) resident += state[i] & 1;
    if (mprotect(source, PAGE, PROT_READ | PROT_WRITE) != 0) _exit(1);
}

static int prepares_pages(void) {
    unsigned char* page = guarded(PAGE);
    return madvise(page, PAGE, POPULATE) == 0;
}

/* At a multiple of every page size, with room before and behind it. */
static unsigned char* fresh(size_t bytes) {
    const size_t at = (size_t)guarded(bytes + 3 * ALIGNED);
    unsigned char* there = (unsigned char*)((at / ALIGNED + 2) * ALIGNED);
    madvise(there - ALIGNED, bytes + 2 * ALIGNED, MADV_NOHUGEPAGE);
    return there;
}

static int is_wrong(const struct way* way, size_t bytes, size_t distance) {
    unsigned char* end = target + bytes;
    errno = 77;
    void* result =
        way->set ? way->set(target, way->value, bytes) : way->copy(target, source, bytes);
    if (result != (way->returns_end ? end : target) || errno != 77) return 1;
    if (!distance && target[-1]) return 1;
    for (size_t i = 0; i < bytes; ++i) {
        const size_t there = i + 1; /* as source[i] was before */
        if (target[i] != (unsigned char)(way->set ? (size_t)way->value : there * 167 >> 3))
            return 1;
    }
    return *end != 0;
}

int main(int count, char** words) {
    static const long nobody[1];
    const long* counted = dlsym(RTLD_DEFAULT, "asterope_counted");
    const char* situation = "";
    if (!counted) counted = nobody;
    for (int i = 1; i < count; ++i) {
        char* colon = strchr(words[i], ':');
        if (!colon) {
            situation = words[i];
            continue;
        }
        *colon = 0;
        const size_t bytes = (size_t)atol(colon + 1);
        const size_t distance = strcmp(situation, "overlap") == 0 ? bytes / 2 + 1 : 0;
        const struct way* way = ways;
        while (way < ways + COUNT_OF(ways) && strcmp(way->name, words[i])) ++way;
        if (way == ways + COUNT_OF(ways)) errx(2, "no function %s", words[i]);
        source = fresh(bytes + distance);
        target = distance ? source + distance : fresh(bytes);
        pages = bytes / PAGE;
        for (size_t at = 0; at < bytes; ++at) source[at] = (unsigned char)((at + 1) * 167 >> 3);
        if (strcmp(situation, "halted") == 0) {
            handle(SIGSEGV, on_fault);
            if (mprotect(source, PAGE, PROT_NONE) != 0) or_exit(NULL);
        }
        const long before = *counted;
        if (is_wrong(way, bytes, distance)) die(words[i], bytes);
        if (strcmp(situation, "halted") != 0)
            printf("%ld\n", *counted - before);
        else if (prepares_pages())
            printf("%zu\n", resident);
        else
            puts("cannot");
    }
    return 0;
}
