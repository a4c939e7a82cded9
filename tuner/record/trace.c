/* What the calls of a recorded trace take on this machine when nothing waits for memory. */
#include "draw.h"
#include "instructions.h"
#include "median.h"
#include "recorder.h"

#include <dlfcn.h>
#include <sys/mman.h>

enum { LINE = 64, LARGEST = 2048, SIDE = 16 << 10, PASSES = 15, STRANGERS = 30000 };

/* A copy as a recording tells of it: its size, and what its addresses leave over 64. */
struct traced_call {
    uint32_t size, source_mod, destination_mod;
};

struct pass {
    copy_function *copy;
    char *source, *destination;
    const struct traced_call *calls;
    size_t count;
};

/* Ticks of all calls in their order, at places of a first cache's size that are drawn. */
static uint64_t ticks_of_pass(const struct pass *pass, uint64_t seed)
{
    uint64_t place = seed;
    const uint64_t start = ticks_in_order();
    for (size_t i = 0; i < pass->count; ++i) {
        const struct traced_call *call = &pass->calls[i];
        place = place * 6364136223846793005u + 1442695040888963407u;
        const size_t from = (place >> 40) % (SIDE / LINE) * LINE;
        const size_t to = (place >> 52) % (SIDE / LINE) * LINE;
        pass->copy(pass->destination + to + call->destination_mod,
                   pass->source + from + call->source_mod, call->size);
    }
    return ticks_in_order() - start;
}

__attribute__((noinline)) static void *copy_nothing(void *destination, const void *source,
                                                    size_t bytes)
{
    (void)source, (void)bytes;
    __asm__ volatile("");
    return destination;
}

/* Other sizes in between, so that no branch predictor knows the trace by heart when it comes again:
 * a program's own calls do not come again. */
static void make_strange_calls(const struct pass *pass, uint64_t *random)
{
    for (int i = 0; i < STRANGERS; ++i)
        pass->copy(pass->destination, pass->source, (size_t)draw_below(random, LARGEST));
}

/* Mean ticks of a call, without those of the loop around it. Calls of 2 KiB and more are refused.
 * 0: done. Takes some milliseconds for ten thousand calls. */
__attribute__((visibility("default"))) int
asterope_record_time_trace(const struct traced_call *calls, size_t count, double *ticks);
int asterope_record_time_trace(const struct traced_call *calls, size_t count, double *ticks)
{
    for (size_t i = 0; i < count; ++i)
        if (calls[i].size >= LARGEST) return -1;
    const size_t side = SIDE + LARGEST + LINE;
    char *memory = mmap(NULL, 2 * side, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    copy_function *copy;
    *(void **)&copy = dlsym(RTLD_NEXT, "memcpy");
    if (memory == MAP_FAILED) return -1;
    if (!copy || !count) {
        munmap(memory, 2 * side);
        return -1;
    }
    struct pass pass = {copy, memory, memory + side, calls, count};
    struct pass empty = pass;
    empty.copy = copy_nothing;
    uint64_t random = 1;
    uint64_t taken[PASSES], loops[PASSES];
    for (int i = 0; i < PASSES; ++i) {
        make_strange_calls(&pass, &random);
        taken[i] = ticks_of_pass(&pass, draw(&random));
        loops[i] = ticks_of_pass(&empty, draw(&random));
    }
    munmap(memory, 2 * side);
    const double net = (double)median(taken, PASSES) - (double)median(loops, PASSES);
    *ticks = net > 0 ? net / (double)count : 0;
    return 0;
}
