/* Copies by libc's name, and tells whether that is the tuned copy. */
#include "asterope_memcpy.h"
#include <string.h>
#ifdef ASTEROPE_THREADS
#include "mt_memcpy.h"
void *threaded(void *to, const void *from, size_t bytes) { return mt_memcpy_mt(to, from, bytes); }
#endif
typedef void *copy_function(void *, const void *, size_t);
static copy_function *volatile own = memcpy, *volatile tuned = asterope_memmove;
int own_is_tuned(void) { return own == tuned; }
void *copy_of_library(void *to, const void *from, size_t bytes) { return own(to, from, bytes); }
