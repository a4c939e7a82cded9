/* Part of loading_check.c: the copies that are made at each step, and what may be wrong. */
#ifndef ASTEROPE_LOADING_COPIES_H
#define ASTEROPE_LOADING_COPIES_H

/* --- Copies and what may be wrong with them --- */

/* No copy under test may prepare the test of another. */
static void plain_copy(void* to, const void* from, size_t bytes) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

static void note_fault(const char* what) {
    all->now.what = what;
    if (all->fault_count < MOST_FAULTS) all->faults[all->fault_count] = all->now;
    ++all->fault_count;
}

/* Calls the function with these arguments, and with the trap flag; see step_through_copies. */
void* loading_check_stepped(void* to, const void* from, size_t bytes, plain_function copy);
extern const char loading_check_returned[];
__asm__("    .text\n"
        "    .globl loading_check_stepped, loading_check_returned\n"
        "    .hidden loading_check_stepped, loading_check_returned\n"
        "loading_check_stepped:\n"
        "    push %rbx\n"
        "    mov %rcx, %rbx\n"
        "    pushf\n"
        "    orq $0x100, (%rsp)\n"
        "    popf\n"
        "    call *%rbx\n"
        "loading_check_returned:\n"
        "    pop %rbx\n"
        "    ret\n");

static void* call(const struct function* function, void* to, const void* from, size_t bytes) {
    if (!all->interrupting) return function->copy(to, from, bytes);
    return loading_check_stepped(to, from, bytes, function->copy);
}

static void check_apart(const struct function* function, size_t bytes, size_t salt) {
    const unsigned char* from = all->pattern + (bytes * 7 + salt) % MARGIN;
    unsigned char* to = all->to + MARGIN + (bytes * 11 + salt) % MARGIN;
    memset(to - MARGIN, CANARY, MARGIN + bytes + MARGIN);
    all->now.distance = 0;
    const void* returned = call(function, to, from, bytes);
    if (returned != to + (function->returns_end ? bytes : 0)) note_fault("returns another address");
    if (memcmp(to - MARGIN, all->canary, MARGIN)) note_fault("writes in front");
    if (memcmp(to + bytes, all->canary, MARGIN)) note_fault("writes behind");
    if (memcmp(to, from, bytes)) note_fault("copies wrongly");
}

/* Within one buffer, the destination `distance` bytes behind the source. */
static void check_overlapping(const struct function* function, size_t bytes, long distance) {
    const size_t from_at = MARGIN + SHIFTED, to_at = from_at + (size_t)distance;
    unsigned char* to = all->to + to_at;
    plain_copy(all->to, all->pattern, bytes + 2 * (MARGIN + SHIFTED));
    all->now.distance = distance;
    const void* returned = call(function, to, all->to + from_at, bytes);
    if (returned != to + (function->returns_end ? bytes : 0)) note_fault("returns another address");
    if (memcmp(all->to, all->pattern, to_at)) note_fault("writes in front");
    if (memcmp(to + bytes, all->pattern + to_at + bytes, MARGIN)) note_fault("writes behind");
    if (memcmp(to, all->pattern + from_at, bytes)) note_fault("copies wrongly");
}

static void check(const struct function* function, size_t bytes, size_t salt) {
    static const long shifts[] = {1, 7, 8, 16, 31, 33, 63, 64, 100};
    const long shift = shifts[(bytes + salt) % COUNT_OF(shifts)];
    all->now.function = function->name;
    all->now.bytes = bytes;
    check_apart(function, bytes, salt);
    if (!function->forgives) return;
    check_overlapping(function, bytes, shift);
    check_overlapping(function, bytes, -shift);
}

static void check_large(const struct function* function, size_t salt) {
    all->now.function = function->name;
    all->now.bytes = OVER_THREADS;
    memset(all->large_from, (int)salt, OVER_THREADS);
    if (function->copy(all->large_to, all->large_from, OVER_THREADS) != all->large_to) {
        note_fault("returns another address");
    }
    if (memcmp(all->large_to, all->large_from, OVER_THREADS)) note_fault("copies wrongly");
}

/* Some of these sizes are sensed. */
static const size_t beyond[] = {2000, 4095, 4096, 4097, 5000, 16384, BEYOND};
enum { BEYONDS = COUNT_OF(beyond) };

static void check_all(size_t bytes, size_t salt) {
    for (size_t i = 0; i < FUNCTIONS; ++i) check(&functions[i], bytes, salt);
}

static void check_few_sizes(size_t salt) {
    for (size_t bytes = salt % FEW; bytes <= LARGEST; bytes += FEW) check_all(bytes, salt);
}

static void check_sizes(size_t salt) {
    for (size_t bytes = 0; bytes <= LARGEST; ++bytes) check_all(bytes, salt);
    for (size_t i = 0; i < BEYONDS; ++i) check_all(beyond[i], salt);
    for (size_t i = 0; i < FUNCTIONS; ++i) {
        if (functions[i].threaded) check_large(&functions[i], salt);
    }
}

#endif
