/* A call of libc's memcpy as a program's own code makes it, compiled at each -O beside the routine. */
#include <string.h>

void *placement_call_libc(void *destination, const void *source, size_t bytes)
{
    return memcpy(destination, source, bytes);
}
