/* libc's own names for the functions of a routine that has been included before.
 *
 * Included by preload.c, which goes under a whole program, and by replace_libc.c, which is linked
 * into one. ASTEROPE_PREFIX is the routine's, `asterope` where it is not defined.
 * ASTEROPE_NAMES_HIDDEN keeps the names inside the library that is being linked.
 *
 * The routine is included, not linked: an alias must stand in the file of its function, and a
 * wrapper would cost a jump in every call. Here memcpy is memmove: programs get away with
 * overlapping memcpy because glibc's forgives it, and so must ours. */
#ifndef ASTEROPE_PREFIX
#define ASTEROPE_PREFIX asterope
#endif
#define ASTEROPE_JOINED(prefix, name) prefix##_##name
#define ASTEROPE_EXPANDED(prefix, name) ASTEROPE_JOINED(prefix, name)
#define ASTEROPE_OWN(name) ASTEROPE_EXPANDED(ASTEROPE_PREFIX, name)
#define ASTEROPE_TEXT(name) #name
#define ASTEROPE_TEXT_OF(name) ASTEROPE_TEXT(name)

#ifdef ASTEROPE_NAMES_HIDDEN
#define ASTEROPE_SEEN visibility("hidden")
#define ASTEROPE_SEEN_BY_ASSEMBLER(name) ".hidden " name "\n"
#else
#define ASTEROPE_SEEN visibility("default")
#define ASTEROPE_SEEN_BY_ASSEMBLER(name) ""
#endif

/* Another name for one of the routine's functions, with these parameters. Where that is assembly by
 * itself and not a function of C, the compiler does not see the definition that an alias must name. */
#ifdef ASTEROPE_ROUTINE_ASSEMBLED
#define ASTEROPE_ALIAS(other, name, parameters) \
    void *other parameters __attribute__((ASTEROPE_SEEN)); \
    __asm__(".globl " #other "\n" ASTEROPE_SEEN_BY_ASSEMBLER(#other) \
            ".set " #other ", " ASTEROPE_TEXT_OF(ASTEROPE_OWN(name)) "\n")
#else
#define ASTEROPE_ALIAS(other, name, parameters) \
    void *other parameters \
        __attribute__((alias(ASTEROPE_TEXT_OF(ASTEROPE_OWN(name))), ASTEROPE_SEEN))
#endif

#include <stdlib.h> /* which libc it is */

/* A statically linked libc copies before there is what the stack protector reads. */
#ifdef __has_attribute
#if __has_attribute(no_stack_protector)
#define ASTEROPE_CHECKED __attribute__((no_stack_protector, no_instrument_function, ASTEROPE_SEEN))
#endif
#endif
#ifndef ASTEROPE_CHECKED
#define ASTEROPE_CHECKED __attribute__((no_instrument_function, ASTEROPE_SEEN))
#endif

ASTEROPE_ALIAS(memcpy, memmove, (void *__restrict to, const void *__restrict from, size_t bytes));
ASTEROPE_ALIAS(memmove, memmove, (void *to, const void *from, size_t bytes));
ASTEROPE_ALIAS(mempcpy, mempcpy, (void *__restrict to, const void *__restrict from, size_t bytes));
ASTEROPE_ALIAS(__mempcpy, mempcpy, (void *__restrict to, const void *__restrict from, size_t bytes));

#ifdef ASTEROPE_ROUTINE_SETS
ASTEROPE_ALIAS(memset, memset, (void *destination, int value, size_t bytes));

ASTEROPE_CHECKED void bzero(void *destination, size_t bytes);

void bzero(void *destination, size_t bytes)
{
    ASTEROPE_OWN(memset)(destination, 0, bytes);
}
#endif

#ifdef __GLIBC__ /* the others have no such functions, nor anything to call in them */

/* What -D_FORTIFY_SOURCE calls: `room` is the size of the destination as the compiler knows it.
 * glibc's __chk_fail ends the program with its usual message. */
void __chk_fail(void) __attribute__((noreturn));
#define ASTEROPE_FORTIFIED(other, name, type) \
    ASTEROPE_CHECKED void *other(void *to, type from, size_t bytes, size_t room); \
    void *other(void *to, type from, size_t bytes, size_t room) \
    { \
        if (bytes > room) __chk_fail(); \
        return ASTEROPE_OWN(name)(to, from, bytes); \
    }
ASTEROPE_FORTIFIED(__memcpy_chk, memmove, const void *)
ASTEROPE_FORTIFIED(__memmove_chk, memmove, const void *)
ASTEROPE_FORTIFIED(__mempcpy_chk, mempcpy, const void *)
#ifdef ASTEROPE_ROUTINE_SETS
ASTEROPE_FORTIFIED(__memset_chk, memset, int)
#endif

#endif
