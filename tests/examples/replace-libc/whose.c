/* Says whether the program's memcpy is asterope's or libc's. */
#include "asterope_memcpy.h" /* for the comparison alone: a program needs no change */

#include <stdio.h>
#include <string.h>

/* volatile: else the compiler may answer what it believes of a function called memcpy */
static void *(*volatile programs_memcpy)(void *, const void *, size_t) = memcpy;
static void *(*volatile tuned_memmove)(void *, const void *, size_t) = asterope_memmove;

int main(void)
{
    const int tuned = programs_memcpy == tuned_memmove; /* memcpy forgives overlap, as libc's does */
    printf("memcpy is %s\n", tuned ? "asterope's" : "libc's");
    return !tuned;
}
