/* Shows which copy a generated routine chooses for a size, without copying anything of that size.
 *
 * Usage: dispatch_check [--past-sensing] {[--source-at OFFSET] FUNCTION DISTANCE BYTES...}...
 *
 * Prints for each size the function that is jumped to, or `none` where the copy is done in line.
 * DISTANCE is how far the destination lies behind the source. Copies in line need it to be less
 * than 64 KiB, either way. The source begins OFFSET bytes (0 to 4095) into a page.
 *
 * dispatch.inc, which the test writes, lists the callable functions as
 * FUNCTION(asterope_memcpy). It lists the targets of jumps as COPY(asterope_copy_...) or as
 * SENSE(asterope_sense_...). A breakpoint at the beginning of each target stops it before it
 * runs. With --past-sensing the latter have none, so that the pipeline is shown that they go on
 * with. Their probes are real, so buffers must be: DISTANCE and BYTES at most 65536. */
#define _GNU_SOURCE
#include <setjmp.h>

#include "harness.h"
#include OF_ARCHITECTURE(stops.h)

enum kind { IS_COPY, SENSES, IS_FUNCTION };

#define COPY(name) TARGET(IS_COPY, void, name, (void))
#define SENSE(name) TARGET(SENSES, void, name, (void))
#define FUNCTION(name) TARGET(IS_FUNCTION, void*, name, (void*, const void*, size_t))

#define TARGET(kind, type, name, parameters) type name parameters;
#include "dispatch.inc"
#undef TARGET

static const struct {
    const char* name;
    void (*start)(void);
    enum kind kind;
} targets[] = {
#define TARGET(kind, type, name, parameters) {#name, (void (*)(void))name, kind},
#include "dispatch.inc"
};

enum { TARGETS = COUNT_OF(targets) };

static sigjmp_buf after_breakpoint;
static uintptr_t reached;

static void on_breakpoint(UNUSED int number, UNUSED siginfo_t* info, void* context) {
    reached = breakpoint_reached(context);
    siglongjmp(after_breakpoint, 1);
}

static void set_breakpoint(void (*function)(void)) {
    const uintptr_t page = (uintptr_t)function / PAGE * PAGE;
    if (mprotect((void*)page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) err(2, "mprotect");
    put_breakpoint((uintptr_t)function);
}

static void show(plain_function function, void* destination, const void* source, size_t bytes) {
    reached = 0;
    if (sigsetjmp(after_breakpoint, 1) == 0) function(destination, source, bytes);
    int i = 0;
    while (i < TARGETS && (uintptr_t)targets[i].start != reached) ++i;
    puts(i < TARGETS ? targets[i].name : "none");
}

static plain_function function_called(const char* name) {
    int i = 0;
    while (i < TARGETS && (targets[i].kind != IS_FUNCTION || strcmp(targets[i].name, name))) ++i;
    if (i == TARGETS) errx(2, "no function %s", name);
    return (plain_function)targets[i].start;
}

int main(int argc, char** argv) {
    static unsigned char room[3 << 16] __attribute__((aligned(PAGE)));
    unsigned char* source = room + (1 << 16);
    const int past_sensing = argc > 1 && strcmp(argv[1], "--past-sensing") == 0;
    for (int i = 0; i < TARGETS; ++i) {
        const bool passes = past_sensing && targets[i].kind == SENSES;
        if (targets[i].kind != IS_FUNCTION && !passes) set_breakpoint(targets[i].start);
    }
    handle(SIGTRAP, on_breakpoint);
    plain_function function = NULL;
    /* as a number: a pointer so far outside of `room` could not be computed as one */
    uintptr_t destination = 0;
    for (int i = 1 + past_sensing; i < argc; ++i) {
        if (strcmp(argv[i], "--source-at") == 0) {
            source = room + (1 << 16) + strtoull(argv[++i], NULL, 10) % PAGE;
        } else if (argv[i][0] < '0' || argv[i][0] > '9') {
            function = function_called(argv[i]);
            destination = (uintptr_t)source + (uintptr_t)strtoll(argv[++i], NULL, 10);
        } else {
            show(function, (void*)destination, source, strtoull(argv[i], NULL, 10));
        }
    }
    return 0;
}
