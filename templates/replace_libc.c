/* The tuned routine under its own and under libc's names, to be linked into a program.
 *
 *     cc -O2 -fno-builtin -c -I FOLDER replace_libc.c
 *     cc app.o replace_libc.o
 *
 * FOLDER holds asterope_memcpy.c and asterope_memcpy.h. Link the object file itself, not a library
 * that holds it. (From an archive, a linker takes it only where memcpy is still wanted.)
 * ASTEROPE_ROUTINE names another file, ASTEROPE_PREFIX its prefix (see libc_names.h). */
#ifndef ASTEROPE_ROUTINE
#define ASTEROPE_ROUTINE "asterope_memcpy.c"
#endif
#undef _FORTIFY_SOURCE /* Its inline memcpy would stand in the way of the aliases. */

/* A file of several profiles would choose by an indirect function, which has to be relocated. libc
 * and other libraries copy earlier than that. */
#define ASTEROPE_NO_IFUNC
#include ASTEROPE_ROUTINE

/* Sanitizers have a memcpy that looks at every byte's state. In their builds that one stays. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_HWADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASTEROPE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(hwaddress_sanitizer) || \
    __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define ASTEROPE_SANITIZED
#endif
#endif
#ifndef ASTEROPE_SANITIZED
#include "libc_names.h"
#endif
