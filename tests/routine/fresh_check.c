/* Checks asterope_memcpy_fresh and asterope_memset_fresh. They write the right bytes at all places
 * and with all answers of the system. They leave pages of others untouched.
 *
 * Usage: fresh_check WHAT, one of `checks`, at the end; or
 *        fresh_check mode ASKS [FILE [OWN]]: with these texts in the system's files of the mode of
 *        all huge pages and of those of 2 MiB (without one: it cannot be read), whether huge pages
 *        are asked for, 0 or 1.
 * The routine, ROUTINE, is included, so that its calls of the system can be seen and refused.
 * Prints `ok` or `FAIL: ...`; exits 1 where something failed. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "harness.h"
#include "watched_memory.h"

static long refusal; /* what the system answers instead; 0: it does what it is asked for */
static const char* mode_file; /* NULL: it cannot be opened */
static const char* own_mode;  /* that of pages of 2 MiB alone */
static size_t modes_opened, modes_closed;
static size_t calls, looks, huge_calls, populated, first_page = SIZE_MAX, behind_last;
static size_t populated_to, populated_twice;

enum { MODE_FILE = 1 << 20, OWN_MODE }; /* the numbers of no other files */

/* In place of the routine's own system calls. */
static long seen_call(long number, size_t first, size_t second, size_t third) {
    if (number == SYS_openat && strstr((const char*)second, "transparent_hugepage/enabled")) {
        ++modes_opened;
        return mode_file ? MODE_FILE : -EACCES;
    }
    if (number == SYS_openat && strstr((const char*)second, "hugepages-2048kB/enabled"))
        return own_mode ? OWN_MODE : -ENOENT;
    if (number == SYS_read && (first == MODE_FILE || first == OWN_MODE)) {
        const char* text = first == OWN_MODE ? own_mode : mode_file;
        const size_t bytes = strlen(text) < third ? strlen(text) : third;
        memcpy((void*)second, text, bytes);
        return (long)bytes;
    }
    if (number == SYS_close && first == OWN_MODE) return 0;
    if (number == SYS_close && first == MODE_FILE) {
        ++modes_closed;
        return 0;
    }
    if (number == SYS_madvise) {
        ++calls;
        huge_calls += third == 14;
        if (third == 23) {
            populated += second;
            populated_twice += first < populated_to && second;
            populated_to = first + second;
        }
        if (second && first < first_page) first_page = first;
        if (second && first + second > behind_last) behind_last = first + second;
        if (refusal) return refusal;
    }
    looks += number == SYS_mincore;
    const int before = errno;
    const long result = syscall(number, first, second, third);
    const long answer = result < 0 ? -errno : result;
    errno = before;
    return answer;
}

#pragma GCC diagnostic ignored "-Wunused-function"
#include ROUTINE

enum { LARGEST = 9 << 20 };

static unsigned char* source;
static const size_t sizes[] = {0,       1,       4095,    65535,   65536,         65537,
                               262144,  262145,  1048576, 1052673, (2 << 20) + 1, (4 << 20) + 4095,
                               5000001, 8388609, LARGEST - 8192};

static int is_set(const unsigned char* at, unsigned char value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
        if (at[i] != value) return 0;
    return 1;
}

static void one(unsigned char* to, const unsigned char* from, size_t bytes, int sets) {
    errno = 77;
    void* result = sets ? asterope_memset_fresh(to, 0x1a5, bytes)
                        : asterope_memcpy_fresh(to, from, bytes);
    if (result != to) die("returns another address", bytes);
    if (errno != 77) die("errno changed", bytes);
    if (sets ? !is_set(to, 0xa5, bytes) : memcmp(to, from, bytes) != 0) die("wrong bytes", bytes);
}

/* Behind the first guard page, then before the second one, each side of the copy by itself. */
static void at_guard_pages(int sets) {
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        const size_t bytes = sizes[i], room = (bytes + PAGE - 1) / PAGE * PAGE + PAGE;
        for (size_t offset = 0; offset < 64; offset += 21) {
            unsigned char* to = guarded(room);
            one(to + offset, source + (63 - offset), bytes, sets);
            if (!is_set(to, 0, offset) || !is_set(to + offset + bytes, 0, room - offset - bytes))
                die("wrote outside", bytes);
            release(to, room);
            to = guarded(room);
            one(to + room - bytes - offset, source, bytes, sets);
            release(to, room);
        }
    }
}

static void copies(void) { at_guard_pages(0); }
static void sets(void) { at_guard_pages(1); }

static size_t resident(unsigned char* from, size_t pages) {
    unsigned char state[64];
    size_t count = 0;
    if (mincore(from, pages * PAGE, state) != 0) or_exit(NULL);
    for (size_t i = 0; i < pages; ++i) count += state[i] & 1;
    return count;
}

/* Advice is for the pages that the destination owns whole, and its neighbours stay untouched. */
static void pages(void) {
    enum { BYTES = 1 << 20, ROOM = BYTES + 64 * PAGE };
    unsigned char* memory = guarded(ROOM);
    madvise(memory, ROOM, MADV_NOHUGEPAGE);
    unsigned char* to = memory + 32 * PAGE + 16;
    one(to, source, BYTES, 0);
    if (calls == 0) die("no advice", 0);
    if (first_page < (size_t)to) die("others' pages before it", first_page);
    if (behind_last > (size_t)to + BYTES) die("others' pages behind it", behind_last);
    if (resident(memory, 32) || resident(memory + 32 * PAGE + BYTES + PAGE, 31))
        die("touched pages of others", 0);
}

static void refused(void) {
    static const long refusals[] = {-ENOSYS, -EPERM, -EINVAL, -ENOMEM, -EFAULT, -EAGAIN};
    for (size_t i = 0; i < COUNT_OF(refusals); ++i) {
        refusal = refusals[i];
        memset(&asterope_fresh_system, 0, sizeof asterope_fresh_system);
        const int is_learned = i < 3;
        for (int turn = 0; turn < 3; ++turn) {
            unsigned char* to = guarded(LARGEST);
            const size_t before = calls;
            one(to + 16, source, LARGEST - 8192, 0);
            if (turn == 2 && is_learned != (calls == before)) die("asked again, or not", i);
            release(to, LARGEST);
        }
    }
}

/* Pages of memory that was used before are left alone. It is the page in the middle that tells, not
 * the first one, which malloc has touched. */
static void used(void) {
    enum { BYTES = 1 << 20, ROOM = BYTES + 2 * PAGE };
    for (size_t offset = 16; offset < 2 * PAGE; offset += PAGE - 17) {
        for (int is_used = 0; is_used < 2; ++is_used) {
            unsigned char* to = guarded(ROOM) + offset;
            memset(is_used ? to + BYTES / 2 - 65536 : to, 1, is_used ? 2 * 65536 : 1);
            calls = looks = 0;
            one(to, source, BYTES, 0);
            if (looks != 1 || (calls == 0) != is_used) die("asked for pages, or not", offset);
            for (int turn = 0; turn < 20; ++turn) one(to, source, BYTES, 0);
            if (looks != 3 - (size_t)is_used) die("asks too often, or too seldom", looks);
            calls = 0;
            for (int turn = 0; turn < 16; ++turn) {
                madvise(to - offset, ROOM, MADV_DONTNEED);
                one(to, source, BYTES, 0);
            }
            if (calls == 0) die("missed that the pages were given back", offset);
        }
    }
}

/* Shared memory, of no file and of one, at first new and then used. */
static void kinds(void) {
    enum { BYTES = 5 << 20 };
    unsigned char* shared = or_exit(mmap(NULL, BYTES + PAGE, PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    one(shared + 16, source, BYTES, 0);
    one(shared + 17, source + 1, BYTES, 0);
    const int file = memfd_create("fresh", 0);
    if (file < 0 || ftruncate(file, BYTES + PAGE) != 0) or_exit(NULL);
    unsigned char* mapped =
        or_exit(mmap(NULL, BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    one(mapped + 5, source, BYTES, 0);
    one(mapped + 5, source, BYTES, 1);
}

/* A page that may not be written faults in the copy, as with any memcpy: a handler may mend it. */
static void faulting(void) {
    enum { BYTES = 3 << 20 };
    unsigned char* to = guarded(BYTES);
    watch(to + 300 * PAGE, PAGE, 1, PROT_READ);
    one(to, source, BYTES, 0);
    if (watched.first_access[0] == SIZE_MAX) die("no fault", 0);
}

static void* copy_often(void* place) {
    for (int turn = 0; turn < 20; ++turn) {
        unsigned char* to = guarded(5 << 20);
        asterope_memcpy_fresh(to + 16, source, (5 << 20) - 16);
        if (memcmp(to + 16, source, (5 << 20) - 16) != 0) die("wrong in a thread", (size_t)turn);
        release(to, 5 << 20);
    }
    return place;
}

static void threads(void) {
    pthread_t others[4];
    for (size_t i = 0; i < 4; ++i) pthread_create(&others[i], NULL, copy_often, NULL);
    for (size_t i = 0; i < 4; ++i) pthread_join(others[i], NULL);
}

/* A process with many mappings is asked for no more: each flag splits one. */
static void crowded(void) {
    enum { BYTES = 8 << 20 };
    unsigned char* to = guarded(BYTES);
    one(to, source, BYTES, 0);
    if (huge_calls != 1) die("no huge pages asked for", huge_calls);
    for (size_t i = 0; i < 20000; ++i) {
        const int rights = i % 2 ? PROT_READ : PROT_NONE;
        if (mmap(NULL, PAGE, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) break;
    }
    asterope_fresh_system.advised = 0; /* it counts them now */
    one(guarded(BYTES), source, BYTES, 0);
    if (huge_calls != 1) die("huge pages asked for", huge_calls);
}

/* Whole huge pages that were asked for are left to the stores. All other pages are populated. */
static void advised(void) {
    enum { BYTES = 8 << 20, HUGE = 2 << 20 };
    for (int sets = 0; sets < 2; ++sets) {
        unsigned char* to = guarded(BYTES);
        const size_t begin = ((size_t)to + HUGE - 1) / HUGE * HUGE;
        const size_t end = ((size_t)to + BYTES) / HUGE * HUGE;
        populated = huge_calls = 0;
        one(to, source, BYTES, sets);
        if (huge_calls != 1) die("no huge pages asked for", huge_calls);
        if (populated != BYTES - (end - begin)) die("populated", populated);
        release(to, BYTES);
    }
}

/* The first store to each whole huge page of the destination is to its last byte. To the others it
 * is the copy's own. */
static void ends(void) {
    enum { HUGE = 2 << 20, FROM = 12345, BYTES = 3 * HUGE };
    unsigned char* const room = guarded(5 * HUGE);
    unsigned char* const area = (unsigned char*)(((size_t)room + HUGE - 1) & -(size_t)HUGE);
    const size_t* const first = watched.first_access;
    for (int sets = 0; sets < 2; ++sets) {
        watch(area, HUGE, 4, PROT_NONE);
        asterope_fresh_system.is_crowded = 0;
        if (sets) {
            asterope_memset_fresh(area + FROM, 7, BYTES);
        } else {
            asterope_memcpy_fresh(area + FROM, source, BYTES);
        }
        if (first[0] != FROM) die("first huge page", first[0]);
        for (size_t page = 1; page < 3; ++page) {
            if (first[page] != (page + 1) * HUGE - 1) die("huge page", first[page]);
        }
        if (sets ? !is_set(area + FROM, 7, BYTES) : memcmp(area + FROM, source, BYTES) != 0) {
            die("wrong bytes", (size_t)sets);
        }
    }
}

/* The calls of a copy into fresh memory. */
static size_t calls_of(size_t bytes, int sets) {
    const size_t room = (bytes + PAGE - 1) / PAGE * PAGE + PAGE;
    unsigned char* to = guarded(room);
    calls = huge_calls = 0;
    one(to + 16, source, bytes, sets);
    release(to, room);
    return calls;
}

/* The mode is looked at once, by the first copy that might ask for huge pages. Under another one
 * the pages are populated, by the smaller pieces of the sizes below. */
static void mode(int asks) {
    enum { POPULATES = 1 << 20, IS_HUGE = (4 << 20) + 4095 };
    for (int sets = 0; sets < 2; ++sets) {
        calls_of(POPULATES, sets);
        unsigned char* used = or_exit(malloc(IS_HUGE));
        memset(used, 1, IS_HUGE);
        one(used, source, IS_HUGE, sets);
        free(used);
    }
    if (modes_opened != 0) die("looked at the mode in vain", modes_opened);
    for (int turn = 0; turn < 6; ++turn) {
        const size_t pieces = calls_of(IS_HUGE, turn % 2);
        if (huge_calls != (size_t)asks) die("huge pages asked for, or not", huge_calls);
        if (asks ? pieces > 6 : pieces < 60) die("pieces", pieces);
    }
    const size_t looks_wanted = !own_mode || strstr(own_mode, "[inherit]");
    const char* chosen = looks_wanted ? mode_file : own_mode;
    const int stores_map = asks || (chosen && strstr(chosen, "[always]"));
    for (int sets = 0; sets < 2; ++sets) { /* another stage, which populates no huge page */
        enum { ADVISED = 8 << 20 };
        populated = 0;
        calls_of(ADVISED, sets);
        if (huge_calls != (size_t)asks) die("large: huge pages asked for, or not", huge_calls);
        if (stores_map ? populated > ADVISED - (4 << 20) : populated < ADVISED - (1 << 18))
            die("populated under this mode", populated);
    }
    if (modes_opened != looks_wanted || modes_closed != (looks_wanted && mode_file))
        die("looks", modes_opened);
}

/* A page that lies in two pieces is populated with the first. */
static void once(void) {
    enum { ROOM = 33 * PAGE };
    for (size_t bytes = 65536; bytes <= LARGEST / 2; bytes *= 2) {
        unsigned char* to = guarded(bytes + ROOM);
        for (size_t offset = 16; offset < ROOM; offset += 5 * PAGE) {
            madvise(to, bytes + ROOM, MADV_DONTNEED);
            memset(&asterope_fresh_system, 0, sizeof asterope_fresh_system);
            populated = populated_to = 0;
            one(to + offset, source, bytes, 0);
            if (populated > bytes || populated_twice) die("populated twice, of", bytes);
        }
        release(to, bytes + ROOM);
    }
}

static const struct check checks[] = {
    {"copies", copies},     {"sets", sets},       {"pages", pages},       {"refused", refused},
    {"kinds", kinds},       {"used", used},       {"faulting", faulting}, {"advised", advised},
    {"once", once},         {"ends", ends},       {"threads", threads},   {"crowded", crowded}};

int main(int argc, char** argv) {
    source = or_exit(malloc(LARGEST + 64));
    fill_randomly(source, LARGEST + 64, 1);
    if (argc > 2 && strcmp(argv[1], "mode") == 0) {
        mode_file = argv[3]; /* NULL without one */
        own_mode = argc > 4 ? argv[4] : NULL;
        mode(argv[2][0] == '1');
        puts("ok");
    } else {
        run_check(argc > 1 ? argv[1] : "", checks, COUNT_OF(checks));
    }
    return 0;
}
