/* Steps through the instructions that load a routine, and copies at each of them: every copy must
 * be right, whichever of the routine's variables are set already.
 *
 * Usage: loading_check
 * loading.inc, which the test writes, lists the functions as FUNCTION(name, forgives, returns_end).
 * They say whether it must copy overlapping buffers right, and whether it returns the byte behind
 * the copy. THREADED(name) is one that may copy over threads.
 *
 * The routine is linked into the program, or in a library that is loaded by LD_PRELOAD.
 *
 * 1. Before any constructor the trap flag is set, so that the processor raises SIGTRAP behind every
 *    instruction, until main is reached. The handler copies all sizes up to LARGEST at each
 *    instruction of the routine's object and wherever the object's variables have changed, else a
 *    few. It records the changes.
 *
 * 2. main steps through copies. A copy begins with the variables as they were before or after some
 *    change. Behind each instruction that reads a variable it goes on with their values after a
 *    later change. So does the copy of a thread while another one runs the constructor.
 *
 * Prints some lines `FAIL ...`, or `N steps, N in the object, N changes, N interrupted copies` and
 * `ok`; exits 1 where something failed. */
#define _GNU_SOURCE
#include <link.h>

#include "harness.h"
#include "x86_64/stops.h"

#define FUNCTION(name, forgives, returns_end) LISTED(name, forgives, returns_end, false)
#define THREADED(name) LISTED(name, false, false, true)

#define LISTED(name, ...) void* name(void*, const void*, size_t);
#include "loading.inc"
#undef LISTED

/* Functions over threads come last. */
static const struct function {
    const char* name;
    plain_function copy;
    bool forgives, returns_end, threaded;
} functions[] = {
#define LISTED(name, ...) {#name, name, __VA_ARGS__},
#include "loading.inc"
};

enum {
    FUNCTIONS = COUNT_OF(functions),
    LARGEST = 1100, /* of all sizes; some are larger */
    OVER_THREADS = 200000,
    MARGIN = 192,    /* So many bytes are looked at on either side of a copy. */
    FAR = 50 * 4096, /* These are whole pages: some buffers alias modulo 4096. */

    FEW = 37,        /* Sizes have this step where no variable can have changed. */
    STEPPED = 32,    /* Behind so many instructions of a copy none reads a variable. */
    MOST_CHANGES = 64,
    MOST_FAULTS = 5
};

/* All that changes lies in memory of its own, so that what else changes is the routine's. */
static struct {
    unsigned char pattern[2 * FAR], buffer[2 * FAR]; /* alike, but for a copy under way */

    struct range {
        uintptr_t begin, end;
    } code[8], variables[8];
    size_t code_count, variables_count;
    uint64_t* seen;   /* the variables' words as they were, one range behind the other */
    bool* of_workers; /* the words that copies over threads change, and their workers at any time */
    struct change {
        uint64_t *word, before, after;
        size_t step; /* that made it */
    } changes[MOST_CHANGES];
    size_t change_count;

    size_t steps, steps_in_object, interrupted;
    bool stop, interrupting;
    size_t copied, reads;        /* Instructions of a copy; of these, reads of variables. */
    size_t switch_at, switch_to; /* Behind so many reads so many changes are made. */
    bool reading, over;          /* The next instruction reads; such a read did not come. */
    struct {
        const char* function;
        size_t step, bytes;
        bool overlapping, interrupted;
    } now; /* the copy under way */
    size_t fault_count;
} * all;

/* --- Copies and what may be wrong with them --- */

/* No copy under test may prepare the test of another. */
static void plain_copy(void* to, const void* from, size_t bytes) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

static void print_fault(const char* what) {
    char line[200];
    const int length =
        snprintf(line, sizeof line, "FAIL %s of %zu bytes%s %s%s %zu of the loading\n",
                 all->now.function, all->now.bytes, all->now.overlapping ? ", overlapping," : "",
                 what, all->now.interrupted ? ", interrupted by step" : " at step", all->now.step);
    if (write(STDOUT_FILENO, line, (size_t)length) < 0) _exit(1);
}

static void note_fault(const char* what) {
    if (all->fault_count++ < MOST_FAULTS) print_fault(what);
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

static void check_at(const struct function* function, size_t bytes, size_t from_at, size_t to_at) {
    const unsigned char *from = all->pattern + from_at, *was = all->pattern + to_at;
    unsigned char *source = all->buffer + from_at, *to = all->buffer + to_at, *behind = to + bytes;
    all->now.function = function->name;
    all->now.bytes = bytes;
    all->now.overlapping = to_at < FAR;
    const void* returned = all->interrupting
                               ? loading_check_stepped(to, source, bytes, function->copy)
                               : function->copy(to, source, bytes);
    if (returned != (function->returns_end ? behind : to)) note_fault("returns another address");
    if (memcmp(to - MARGIN, was - MARGIN, MARGIN)) note_fault("writes in front");
    if (memcmp(behind, was + bytes, MARGIN)) note_fault("writes behind");
    if (memcmp(to, from, bytes)) note_fault("copies wrongly");
    plain_copy(to - MARGIN, was - MARGIN, MARGIN + bytes + MARGIN);
}

static void check_apart(const struct function* function, size_t bytes, size_t salt) {
    const size_t from_at = MARGIN + (bytes * 7 + salt) % 64;
    check_at(function, bytes, from_at, FAR + MARGIN + (bytes * 11 + salt) % 64);
}

static void check(const struct function* function, size_t bytes, size_t salt) {
    static const size_t shifts[] = {1, 7, 8, 16, 31, 33, 63, 64, 100};
    const size_t shift = shifts[(bytes + salt) % COUNT_OF(shifts)], middle = 2 * MARGIN;
    check_apart(function, bytes, salt);
    if (function->forgives) check_at(function, bytes, middle, middle + shift);
    if (function->forgives) check_at(function, bytes, middle, middle - shift);
}

/* Sizes of interrupted copies. At those beyond LARGEST some copies sense. */
static const size_t sizes[] = {0,    1,    3,    4,    8,    10,    15,   16,  17,
                               24,   32,   33,   40,   63,   64,    65,   100, 127,
                               128,  129,  200,  256,  257,  300,   512,  513, LARGEST,
                               2000, 4095, 4096, 4097, 5000, 16384, 17000, 20000, 30000};

static void check_all(size_t bytes, size_t salt) {
    for (size_t i = 0; i < FUNCTIONS; ++i) check(&functions[i], bytes, salt);
}

static void check_sizes(size_t salt) {
    for (size_t bytes = 0; bytes <= LARGEST; ++bytes) check_all(bytes, salt);
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        if (sizes[i] > LARGEST) check_all(sizes[i], salt);
    }
    for (size_t i = 0; i < FUNCTIONS; ++i) {
        if (functions[i].threaded) check(&functions[i], OVER_THREADS, salt);
    }
}

/* --- The object under test and its variables --- */

static bool within(const struct range* ranges, size_t count, uintptr_t address) {
    for (size_t i = 0; i < count; ++i) {
        if (address >= ranges[i].begin && address < ranges[i].end) return true;
    }
    return false;
}

/* Takes the segments of the object that has the first function. */
static int find_object(struct dl_phdr_info* info, UNUSED size_t size, UNUSED void* data) {
    all->code_count = all->variables_count = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
        const struct range range = {begin, begin + segment->p_memsz};
        if (segment->p_type != PT_LOAD) continue;
        if (segment->p_flags & PF_X) all->code[all->code_count++] = range;
        if (segment->p_flags & PF_W) all->variables[all->variables_count++] = range;
    }
    return within(all->code, all->code_count, (uintptr_t)functions[0].copy);
}

static size_t words_of(const struct range* range) {
    return (range->end - range->begin / 8 * 8) / 8;
}

/* Remembers the variables, and which words are no longer what they were. Records what the loading
 * has changed; what changes without `record` are words of the copies. */
static bool look_for_changes(bool record) {
    uint64_t* seen = all->seen;
    bool* of_workers = all->of_workers;
    bool changed = false;
    for (size_t i = 0; i < all->variables_count; ++i) {
        uint64_t* words = (uint64_t*)(all->variables[i].begin / 8 * 8);
        for (size_t w = 0; w < words_of(&all->variables[i]); ++w, ++seen, ++of_workers) {
            const uint64_t is = __atomic_load_n(&words[w], __ATOMIC_RELAXED);
            if (is == *seen || (record && *of_workers)) continue;
            if (!record) {
                *of_workers = true;
            } else {
                if (all->change_count == MOST_CHANGES) _exit(2);
                all->changes[all->change_count++] =
                    (struct change){&words[w], *seen, is, all->steps};
            }
            *seen = is;
            changed = true;
        }
    }
    return changed;
}

/* --- Single steps --- */

static void on_death(int number, UNUSED siginfo_t* info, UNUSED void* context) {
    print_fault(number == SIGSEGV ? "dies of SIGSEGV" : "dies of SIGBUS");
    _exit(1);
}

/* Whether an instruction takes an operand from an address relative to its own: so variables are
 * read. Instructions of AVX are left out: they read none. */
static bool reads_variable(const unsigned char* instruction) {
    while (*instruction == 0x66 || *instruction == 0xF2 || *instruction == 0xF3) ++instruction;
    if (*instruction >> 4 == 4) ++instruction; /* REX */
    if (*instruction == 0x0F) ++instruction;
    const unsigned char opcode = instruction[0], operands = instruction[1];
    const bool has_operands = opcode < 0x40 ? opcode % 8 < 4 : opcode >= 0x80 && opcode != 0xE8;
    return has_operands && (operands & 0xC7) == 0x05;
}

/* A step of a copy. Whether to go on with single steps. */
static bool interrupt_copy(uintptr_t at) {
    all->reads += all->reading;
    if (all->reads == all->switch_at) {
        for (size_t i = 0; i < all->switch_to; ++i) *all->changes[i].word = all->changes[i].after;
        ++all->interrupted;
        return false;
    }
    all->over = at == (uintptr_t)loading_check_returned || ++all->copied > STEPPED;
    all->reading = !all->over && reads_variable((const unsigned char*)at);
    return !all->over;
}

static void on_step(UNUSED int number, UNUSED siginfo_t* info, void* context) {
    const uintptr_t at = (uintptr_t)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
    if (all->interrupting) {
        if (!interrupt_copy(at)) stop_stepping(context);
    } else if (all->stop) {
        stop_stepping(context);
    } else {
        const bool in_object = within(all->code, all->code_count, at);
        all->now.step = ++all->steps;
        all->steps_in_object += in_object;
        if (look_for_changes(true) || in_object) {
            check_sizes(all->steps);
            look_for_changes(false); /* those of the copies, where they use threads */
        } else {
            for (size_t bytes = all->steps % FEW; bytes <= LARGEST; bytes += FEW)
                check_all(bytes, all->steps);
        }
    }
}

static void* memory(size_t bytes) {
    return or_exit(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void begin(void) {
    const stack_t stack = {.ss_sp = memory(1 << 20), .ss_size = 1 << 20};
    size_t words = 0;
    all = memory(sizeof *all);
    for (size_t i = 0; i < sizeof all->pattern; ++i)
        all->buffer[i] = all->pattern[i] = (unsigned char)(i * 131 + i / 256 * 17);
    if (!dl_iterate_phdr(find_object, NULL)) _exit(2);
    for (size_t i = 0; i < all->variables_count; ++i) words += words_of(&all->variables[i]);
    all->seen = memory((words + 1) * 8);
    all->of_workers = memory(words + 1);
    look_for_changes(false);
    memset(all->of_workers, 0, words); /* they had all yet to be seen */
    sigaltstack(&stack, NULL);
    handle(SIGSEGV, on_death);
    handle(SIGBUS, on_death);
    handle(SIGTRAP, on_step);
    start_stepping();
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = begin;

/* --- Copies that are interrupted --- */

static void set_variables(size_t changes) {
    for (size_t i = all->change_count; i-- > changes;)
        *all->changes[i].word = all->changes[i].before;
    for (size_t i = 0; i < changes; ++i) *all->changes[i].word = all->changes[i].after;
}

/* A copy that begins after `from` changes of the variables and ends after `to` of them. */
static void interrupt_copies(const struct function* function, size_t bytes, size_t from,
                             size_t to) {
    all->switch_to = to;
    all->over = false;
    all->now.step = all->changes[to - 1].step;
    for (all->switch_at = 1; !all->over; ++all->switch_at) {
        set_variables(from);
        all->copied = all->reads = all->reading = 0;
        check_apart(function, bytes, all->switch_at);
    }
}

static void step_through_copies(void) {
    const size_t last = all->change_count;
    all->interrupting = all->now.interrupted = true;
    for (size_t from = 0; from < last; ++from) {
        for (size_t to = from + 1; to <= last; ++to) {
            /* of many changes the neighbours and the outermost */
            if (last > 6 && from != 0 && to != from + 1 && to != last) continue;
            for (size_t i = 0; i < FUNCTIONS; ++i) {
                for (size_t size = 0; size < COUNT_OF(sizes); ++size)
                    interrupt_copies(&functions[i], sizes[size], from, to);
            }
        }
    }
    set_variables(last);
    all->interrupting = false;
}

int main(void) {
    all->stop = true;
    __asm__ volatile("nop" : : : "memory"); /* traps, and then it is over */
    /* With threads other variables change than those that the constructor sets. */
    if (!functions[FUNCTIONS - 1].threaded) step_through_copies();
    printf("%zu steps, %zu in the object, %zu changes, %zu interrupted copies\n", all->steps,
           all->steps_in_object, all->change_count, all->interrupted);
    fflush(stdout);
    if (all->fault_count == 0) puts("ok");
    return all->fault_count != 0;
}
