/* libasterope_preload.so: the tuned routine under libc's own names, for LD_PRELOAD.
 *
 * Compiled with -DASTEROPE_ROUTINE="path of asterope_memcpy.c". The routine is included, not linked:
 * an alias must stand in the file of what it names, and a wrapper would cost a jump in every call.
 *
 * memcpy is memmove here: programs get away with overlapping memcpy because glibc's forgives it,
 * and so must ours. Nothing here needs a relocation or libc before it can run, so calls are safe
 * from a process's first instruction on. For that, and so that a program with a routine of its own
 * keeps it, the routine's own names are hidden: libc's are all that other libraries see. */
#undef _FORTIFY_SOURCE /* its inline memcpy would stand in the way of the aliases */
/* A file of several profiles would choose by an indirect function, which has to be relocated. */
#define ASTEROPE_NO_IFUNC
#pragma GCC visibility push(hidden)
#include ASTEROPE_ROUTINE
#pragma GCC visibility pop

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALIAS_OF(name) __attribute__((alias(name), visibility("default")))

void *memcpy(void *__restrict destination, const void *__restrict source, size_t bytes)
    ALIAS_OF("asterope_memmove");
void *memmove(void *destination, const void *source, size_t bytes) ALIAS_OF("asterope_memmove");
void *mempcpy(void *__restrict destination, const void *__restrict source, size_t bytes)
    ALIAS_OF("asterope_mempcpy");
void *__mempcpy(void *__restrict destination, const void *__restrict source, size_t bytes)
    ALIAS_OF("asterope_mempcpy");

/* What -D_FORTIFY_SOURCE calls: `room` is the size of the destination as the compiler knows it.
 * glibc's __chk_fail ends the program with its usual message. */
void __chk_fail(void) __attribute__((noreturn));
void *__memcpy_chk(void *destination, const void *source, size_t bytes, size_t room);
void *__memmove_chk(void *destination, const void *source, size_t bytes, size_t room);
void *__mempcpy_chk(void *destination, const void *source, size_t bytes, size_t room);

void *__memcpy_chk(void *destination, const void *source, size_t bytes, size_t room)
{
    if (bytes > room) __chk_fail();
    return asterope_memmove(destination, source, bytes);
}

void *__memmove_chk(void *destination, const void *source, size_t bytes, size_t room)
{
    if (bytes > room) __chk_fail();
    return asterope_memmove(destination, source, bytes);
}

void *__mempcpy_chk(void *destination, const void *source, size_t bytes, size_t room)
{
    if (bytes > room) __chk_fail();
    return asterope_mempcpy(destination, source, bytes);
}

/* ASTEROPE_VERBOSE=1: one line on stderr that the routine is in use. */
__attribute__((constructor)) static void say_hello(void)
{
    const char *verbose = getenv("ASTEROPE_VERBOSE");
    static const char start[] = "asterope: memcpy, memmove and mempcpy are ";
    if (!verbose || strcmp(verbose, "1") != 0) return;
    /* write, not stdio: the program's own streams are none of our business */
    if (write(STDERR_FILENO, start, sizeof start - 1) < 0) return;
    if (write(STDERR_FILENO, asterope_tuned_for, strlen(asterope_tuned_for)) < 0) return;
    if (write(STDERR_FILENO, "\n", 1) < 0) return;
}
