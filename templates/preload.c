/* libasterope_preload.so: the tuned routine under libc's own names, for LD_PRELOAD.
 *
 * Compiled by asterope-generate --preload, with --places where there is a map of places, or
 *
 *     cc -O2 -fno-builtin -shared -fPIC -I FOLDER preload.c -o libasterope_preload.so
 *
 * FOLDER holds asterope_memcpy.c and asterope_memcpy.h; ASTEROPE_ROUTINE names another file. Only
 * the routine that asterope-generate compiles here asks for places and for ASTEROPE_FRESH.
 *
 * Nothing here needs a relocation or libc before it can run, so calls are safe from a process's
 * first instruction on. For that, and so that a program with a routine of its own keeps it, the
 * routine's own names are hidden: libc's are all that other libraries see. */
#ifndef ASTEROPE_ROUTINE
#define ASTEROPE_ROUTINE "asterope_memcpy.c"
#endif
#ifdef ASTEROPE_PLACES
#define _GNU_SOURCE /* RTLD_NEXT, _dl_find_object */
#else
#define ASTEROPE_PLACES_TEXT ""
#endif
#undef _FORTIFY_SOURCE /* its inline memcpy would stand in the way of the aliases */
/* A file of several profiles would choose by an indirect function, which has to be relocated. */
#define ASTEROPE_NO_IFUNC
#define ASTEROPE_OWN_NAMES_HIDDEN /* those of assembly; the compiler sees to the others */
#pragma GCC visibility push(hidden)
#include ASTEROPE_ROUTINE
#pragma GCC visibility pop

/* glibc's alone: programs of another libc load this too, where their parents have LD_PRELOAD. */
#pragma weak __chk_fail
#include "libc_names.h"
#ifdef ASTEROPE_PLACES
#include "by_place.h"
#endif
#if defined(ASTEROPE_ROUTINE_SENSES) && defined(__linux__)
#include "counter_gate.h"
#endif

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ASTEROPE_FRESH=1: copies and sets from some size on prepare their pages from now on, those that
 * ran before did not. Returns what there is to say about it, or why the routine is not in use. */
static const char *start_preparing(void)
{
    const char *wanted = getenv("ASTEROPE_FRESH");
#ifdef ASTEROPE_ROUTINE_UNFIT
    if (ASTEROPE_ROUTINE_UNFIT) return ", but this CPU cannot run it: portable copies are in use";
#endif
    if (!wanted || strcmp(wanted, "0") == 0) return "";
    if (strcmp(wanted, "1") != 0) return ", ASTEROPE_FRESH is neither 0 nor 1 and taken as 0";
#ifdef ASTEROPE_ROUTINE_PREPARES
    if (ASTEROPE_ROUTINE_PREPARES) {
        __atomic_store_n(&asterope_fresh_is_on, 1, __ATOMIC_RELAXED);
        return ", large ones prepare their pages";
    }
#endif
    return ", ASTEROPE_FRESH=1 does nothing: no page stage can be asked for here";
}

/* ASTEROPE_VERBOSE=1: one line on stderr that the routine is in use. Children say nothing, as their
 * parent may read what they write. */
__attribute__((constructor)) static void start(void)
{
    const char *fresh = start_preparing(), *verbose = getenv("ASTEROPE_VERBOSE");
#ifdef ASTEROPE_ROUTINE_SETS
    static const char hello[] = "asterope: memcpy, memmove, mempcpy, memset and bzero are ";
#else
    static const char hello[] = "asterope: memcpy, memmove and mempcpy are ";
#endif
    static const char places[] = ASTEROPE_PLACES_TEXT;
    if (!verbose || strcmp(verbose, "1") != 0) return;
    unsetenv("ASTEROPE_VERBOSE");
    /* write, not stdio: the program's own streams stay untouched */
    if (write(STDERR_FILENO, hello, sizeof hello - 1) < 0) return;
    if (write(STDERR_FILENO, asterope_tuned_for, strlen(asterope_tuned_for)) < 0) return;
    if (write(STDERR_FILENO, places, sizeof places - 1) < 0) return;
    if (write(STDERR_FILENO, fresh, strlen(fresh)) < 0) return;
    if (write(STDERR_FILENO, "\n", 1) < 0) return;
}
