/* Return addresses for copies that are measured, and so are calls instead of jumps.
 *
 * The routine remembers by return address which stores serve a call site. From one address in the
 * recorder, it would take all places of the program for one site. Then hot and uncached places
 * would spoil each other's choice, and the trial would tell of a routine that no program has. So
 * places share their addresses by chance at most, as sites do in the routine's own memory. */
#include "trial.h"

/* The number in the empty statement keeps the functions apart: a compiler merges those that do the
 * same. The statement also keeps the call from becoming a jump. */
#define SITE(number)                                                                               \
    static void *from_site_##number(any_function *way, void *destination, const void *source,      \
                                    size_t bytes, int function)                                    \
    {                                                                                              \
        void *result = carry_out(way, destination, source, bytes, function);                       \
        __asm__ volatile("" : "+r"(result) : "i"(number));                                         \
        return result;                                                                             \
    }
#define SITES(from)                                                                                \
    SITE(from##0) SITE(from##1) SITE(from##2) SITE(from##3) SITE(from##4) SITE(from##5)            \
    SITE(from##6) SITE(from##7)
SITES(1)
SITES(2)
SITES(3)
SITES(4)
#define NAMES(from)                                                                                \
    from_site_##from##0, from_site_##from##1, from_site_##from##2, from_site_##from##3,            \
        from_site_##from##4, from_site_##from##5, from_site_##from##6, from_site_##from##7

typedef void *site_call(any_function *, void *, const void *, size_t, int);

void *carry_out_from(size_t place, any_function *way, void *destination, const void *source,
                     size_t bytes, int function)
{
    static site_call *const sites[] = {NAMES(1), NAMES(2), NAMES(3), NAMES(4)};
    return sites[place % (sizeof sites / sizeof *sites)](way, destination, source, bytes, function);
}
