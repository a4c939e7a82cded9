/* Checks of a copy function between guard pages and canaries, with every offset and size. */
#define _GNU_SOURCE
#include "copy_check.h"

#include <setjmp.h>

#include "harness.h"

/* One call through `copy_check_call`, which knows these offsets. It gives known values to
 * everything that `function` must leave alone, calls it, and notes the values behind that. In
 * assembly, since a compiler would keep its own values there. */
struct call {
    void (*function)(void);  /* 0 */
    void* destination;       /* 8 */
    const void* source;      /* 16 */
    size_t bytes, distance;  /* 24 32 */
    void (*fifth)(void);     /* 40 */
    const void* returned;    /* 48 */
    uint64_t* stack_pointer; /* 56: before and after */
    uint64_t kept[20];       /* 64: registers, before and after */
    uint64_t control;        /* 224: how numbers are rounded, before and after */

    /* of x86-64: the flags, whether to look at upper vector halves, which parts of the state are in
     * use, and the x87's control, status, tag word, ... */
    uint64_t flags, look_at_halves, in_use, x87[4]; /* 232 240 248 256 */
};
typedef char call_is_laid_out_so[offsetof(struct call, x87) == 256 ? 1 : -1];

__attribute__((visibility("hidden"))) void copy_check_call(struct call* call);

#include OF_ARCHITECTURE(cpu_state.h)

enum { OFFSETS = 64, CANARY = 0xA5, CANARY_BYTES = 128 };

/* --- Buffers --- */

/* Whole pages between two that may not be touched. */
struct area {
    unsigned char* start;
    size_t bytes;
};

/* Two sources, each byte of one the complement of the other's: copied in turn, so that a byte which
 * was not written is always seen. `image` is what `overlap` holds before each overlapping copy. */
static struct area sources[2], destination, overlap, image;
static unsigned char canary[CANARY_BYTES]; /* what stands around a destination */

static struct area map_area(size_t bytes) {
    return (struct area){guarded(bytes), (bytes + PAGE - 1) / PAGE * PAGE};
}

/* --- What is being copied, for messages and signal handlers --- */

static struct {
    const struct copy_subject* subject;
    unsigned char* destination;
    const unsigned char* source;
    size_t bytes, distance;
    bool flip; /* which source and distance come next */
} now;

/* The second argument of a call: the source, or for a set the byte that is to be all over its
 * buffer. */
static const void* argument(void) {
    static const uintptr_t no_part_of_it = 0x5EED1E55DEADBE00u;
    if (!now.subject->sets) return now.source;
    return (const void*)(no_part_of_it | *sources[now.flip].start);
}

void copy_check_byte(unsigned char byte) {
    for (int i = 0; i < 2; ++i) {
        mprotect(sources[i].start, sources[i].bytes, PROT_READ | PROT_WRITE);
        memset(sources[i].start, i ? ~byte : byte, sources[i].bytes);
        mprotect(sources[i].start, sources[i].bytes, PROT_READ);
    }
}

static sigjmp_buf after_signal;
static volatile sig_atomic_t copying;

static int offset_of(const void* pointer) {
    return (int)((uintptr_t)pointer % OFFSETS);
}

static bool fail(const char* what) {
    printf("FAIL %s: %s (%zu bytes, source +%d, destination +%d, distance %zu)\n",
           now.subject->name, what, now.bytes, offset_of(now.source), offset_of(now.destination),
           now.distance);
    return false;
}

void copy_check_abort(const char* reason) {
    copying = 0;
    fail(reason);
    siglongjmp(after_signal, 1);
}

static void on_signal(int number, siginfo_t* info, UNUSED void* context) {
    const unsigned char* at = info->si_addr;
    char text[160];
    if (!copying) { /* a fault of the checker itself */
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    if (number == SIGILL || number == SIGFPE) {
        snprintf(text, sizeof text, "died of %s", number == SIGILL ? "SIGILL" : "SIGFPE");
    } else {
        snprintf(text, sizeof text, "died of a fault at source byte %td, destination byte %td",
                 at - now.source, at - now.destination);
    }
    copy_check_abort(text);
}

void copy_check_start(size_t largest) {
    /* That of -pg would be handled on the stack that is looked at. */
    sigset_t profiling;
    sigemptyset(&profiling);
    sigaddset(&profiling, SIGPROF);
    sigprocmask(SIG_BLOCK, &profiling, NULL);
    if (largest < 32768) largest = 32768; /* some checks copy so much in any case */
    const size_t room = largest + 2 * (CANARY_BYTES + OFFSETS) + PAGE;
    for (int i = 0; i < 2; ++i) {
        sources[i] = map_area(room);
        fill_randomly(sources[i].start, sources[i].bytes, 0);
        for (size_t at = 0; i == 1 && at < sources[1].bytes; ++at) sources[1].start[at] ^= 0xFF;
        mprotect(sources[i].start, sources[i].bytes, PROT_READ);
    }
    destination = map_area(room);
    const size_t twice = (largest < (1 << 20) ? largest : (1 << 20)) * 2 + 8 * PAGE;
    overlap = map_area(twice);
    image = map_area(twice);
    fill_randomly(image.start, image.bytes, 0);
    memcpy(overlap.start, image.start, image.bytes);
    memset(canary, CANARY, CANARY_BYTES);

    static char stack[65536];
    const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternative, NULL);
    const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    for (int i = 0; i < 4; ++i) handle(signals[i], on_signal);
}

/* Runs `check` in a place to which a signal handler can return. */
#define SURVIVING(check)                                                                           \
    do {                                                                                           \
        if (sigsetjmp(after_signal, 1) != 0) {                                                     \
            reset_cpu();                                                                           \
            return false;                                                                          \
        }                                                                                          \
        copying = 1;                                                                               \
        const bool right_ = (check);                                                               \
        copying = 0;                                                                               \
        return right_;                                                                             \
    } while (0)

/* --- One copy --- */

static size_t smaller(size_t one, size_t other) {
    return one < other ? one : other;
}

/* Whether these are the same; says which byte is not, the first one `where` bytes into the copy. */
static bool same(const char* what, const unsigned char* is, const unsigned char* must_be,
                 size_t bytes, ptrdiff_t where) {
    if (memcmp(is, must_be, bytes) == 0) return true;
    size_t i = 0;
    while (is[i] == must_be[i]) ++i;
    char text[128];
    snprintf(text, sizeof text, "%s %td is 0x%02x, must be 0x%02x", what, where + (ptrdiff_t)i,
             is[i], must_be[i]);
    return fail(text);
}

static const char stray[] = "stray write: byte";

static bool returned_right(const void* returned) {
    /* not NULL + 0, which is undefined in C */
    const size_t on = now.subject->returns_end && now.bytes > 0 ? now.bytes : 0;
    const void* expected = on ? now.destination + on : now.destination;
    if (returned == expected) return true;
    char text[96];
    snprintf(text, sizeof text, "returned the destination %+td, must be %+td",
             (const unsigned char*)returned - now.destination,
             (const unsigned char*)expected - now.destination);
    return fail(text);
}

/* Copies `bytes` from the next source's `source_at` to the destination's `destination_at`. */
static bool copy_once(size_t destination_at, size_t source_at, size_t bytes) {
    now.flip = !now.flip;
    now.destination = destination.start + destination_at;
    now.source = sources[now.flip].start + source_at;
    now.bytes = bytes;
    /* not in step with the sources: each distance is to meet both */
    now.distance = now.subject->distances[(bytes >> 1 ^ source_at) & 1];

    const size_t front = smaller(CANARY_BYTES, destination_at);
    const size_t back = smaller(CANARY_BYTES, destination.bytes - destination_at - bytes);
    memset(now.destination - front, CANARY, front);
    memset(now.destination + bytes, CANARY, back);
    const void* returned = now.subject->copy(now.destination, argument(), bytes, now.distance);
    return same("byte", now.destination, now.source, bytes, 0) &&
           same(stray, now.destination - front, canary, front, -(ptrdiff_t)front) &&
           same(stray, now.destination + bytes, canary, back, (ptrdiff_t)bytes) &&
           returned_right(returned);
}

/* --- Overlapping buffers --- */

/* Moves within `overlap`, which holds `image`: what must come out is in `image` as well, so no
 * second implementation is needed to compare with. */
static bool move_once(size_t destination_at, size_t source_at, size_t bytes) {
    now.destination = overlap.start + destination_at;
    now.source = overlap.start + source_at;
    now.bytes = bytes;
    const void* returned = now.subject->copy(now.destination, now.source, bytes, now.distance = 0);

    const size_t low = smaller(destination_at, source_at);
    const size_t high = (destination_at < source_at ? source_at : destination_at) + bytes;
    const size_t from = low - smaller(low, CANARY_BYTES);
    const size_t to = smaller(high + CANARY_BYTES, overlap.bytes);
    const size_t behind = destination_at + bytes;
    const unsigned char *is = overlap.start, *was = image.start;
    const bool right = same("byte", is + destination_at, was + source_at, bytes, 0) &&
                       same(stray, is + from, was + from, destination_at - from,
                            (ptrdiff_t)from - (ptrdiff_t)destination_at) &&
                       same(stray, is + behind, was + behind, to - behind, (ptrdiff_t)bytes) &&
                       returned_right(returned);
    if (right) memcpy(now.destination, image.start + destination_at, bytes);
    return right;
}

#include "copy_grids.h"

bool copy_check_move(const struct copy_subject* subject, size_t source_at, ptrdiff_t distance,
                     size_t bytes) {
    now.subject = subject;
    SURVIVING(move_once((size_t)((ptrdiff_t)source_at + distance), source_at, bytes));
}

size_t copy_check_room(void) {
    return overlap.bytes;
}

/* --- The state of the CPU --- */

#define SENTINEL 0x5AA55AA5C33CC33Cu
#define REGISTER(i) (0x0123456789ABCDEFu ^ (0x1111111111111111u * (i)))

bool copy_check_sees_dirty_halves(void) {
    return cpu_has("upper halves");
}

static bool state_after(struct call* call) {
    enum { WORDS = 17 }; /* looked at above and below the stack pointer */
    static uint64_t stack[1024] __attribute__((aligned(64)));
    uint64_t* const top = stack + COUNT_OF(stack) / 2;
    call->control = rounding_up;
    call->stack_pointer = top;
    for (size_t i = 0; i < COUNT_OF(kept_names); ++i) call->kept[i] = REGISTER(i);
    for (int i = -WORDS; i < WORDS; ++i) top[i] = SENTINEL;
    copy_check_call(call);
    reset_cpu();
    if (!returned_right(call->returned)) return false;
    for (size_t i = 0; i < COUNT_OF(kept_names); ++i) {
        if (call->kept[i] == REGISTER(i)) continue;
        char text[16];
        snprintf(text, sizeof text, "changed %s", kept_names[i]);
        return fail(text);
    }
    const char* changed = changed_by(call);
    if (changed != NULL) return fail(changed);
    if (call->stack_pointer != top) return fail("moved the stack pointer");
    for (int i = -WORDS; i < WORDS; ++i) {
        if (top[i] == SENTINEL || (i == -1 && RETURNS_BY_STACK)) continue;
        return fail(i < 0 ? "wrote below the stack pointer" : "wrote to its caller's stack");
    }
    return same("byte", now.destination, now.source, now.bytes, 0);
}

static bool state(void (*function)(void)) {
    enum { EVERY_SIZE_TO = 700 }; /* all branches of the small copies */
    static const size_t sizes[] = {900, 1024, 2000, 4096, 9001, 20000};
    static const unsigned char places[][2] = {{0, 0}, {0, 1}, {1, 0}, {17, 49}, {48, 16}, {63, 63}};
    const bool look_at_halves = copy_check_sees_dirty_halves();
    for (size_t i = 0; i <= EVERY_SIZE_TO + COUNT_OF(sizes); ++i) {
        const size_t bytes = i <= EVERY_SIZE_TO ? i : sizes[i - EVERY_SIZE_TO - 1];
        if (bytes < now.subject->minimum) continue;
        for (size_t p = 0; p < COUNT_OF(places); ++p) {
            now.flip = !now.flip;
            now.destination = destination.start + CANARY_BYTES + places[p][0];
            now.source = sources[now.flip].start + CANARY_BYTES + places[p][1];
            now.bytes = bytes;
            now.distance = now.subject->distances[p & 1];
            struct call call = {.function = function,
                                .destination = now.destination,
                                .source = argument(),
                                .bytes = now.bytes,
                                .distance = now.distance,
                                .fifth = now.subject->fifth,
                                .look_at_halves = look_at_halves};
            if (!state_after(&call)) return false;
        }
    }
    return true;
}

static bool goes_by(const struct copy_plan* plan) {
    const size_t first = plan->first ? plan->first : now.subject->minimum;
    if (plan->function && !state(plan->function)) return false;
    if (!guards(first, plan->last)) return false;
    if (plan->page_ends && !page_ends(plan->page_ends)) return false;
    if (plan->offsets && !offsets(first, plan->last, plan->offsets, plan->shifted)) return false;
    if (plan->overlaps && !overlaps(plan->overlaps, plan->largest)) return false;
    for (size_t size = plan->doubling; size && size <= plan->largest; size *= 2) {
        if (!around(size)) return false;
    }
    for (size_t i = 0; i < plan->around_count; ++i) {
        if (!around(plan->around[i])) return false;
    }
    return (!plan->onto_itself || onto_itself()) && (!plan->unwritten || unwritten());
}

bool copy_check(const struct copy_subject* subject, const struct copy_plan* plan) {
    now.subject = subject;
    /* a failed check leaves it as it was */
    if (plan->overlaps) memcpy(overlap.start, image.start, image.bytes);
    SURVIVING(goes_by(plan));
}

bool copy_check_all(const struct copy_subject* subject, const struct copy_plan* plan) {
    static const unsigned char bytes[] = {0x00, 0x80, 0x6B};
    bool right = true;
    for (size_t i = 0; right && i < (subject->sets ? COUNT_OF(bytes) : 1); ++i) {
        if (subject->sets) copy_check_byte(bytes[i]);
        right = copy_check(subject, plan);
    }
    if (right) printf("ok %s\n", subject->name);
    fflush(stdout);
    return right;
}
