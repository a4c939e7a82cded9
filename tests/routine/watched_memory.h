/* Memory that notes where a program begins to access each block of it, and then lets it. */
#pragma once

#include "harness.h"

enum { MOST_BLOCKS = 128 };

static struct {
    unsigned char* start;
    size_t block, count;               /* the bytes of each, and how many there are */
    size_t first_access[MOST_BLOCKS];  /* an offset from the start; SIZE_MAX: not accessed */
} watched;

static void on_access(UNUSED int number, siginfo_t* info, UNUSED void* context) {
    const size_t at = (size_t)((unsigned char*)info->si_addr - watched.start);
    const size_t i = at / watched.block;
    if (i >= watched.count || watched.first_access[i] != SIZE_MAX) _exit(3);
    watched.first_access[i] = at;
    mprotect(watched.start + i * watched.block, watched.block, PROT_READ | PROT_WRITE);
}

/* Watches this memory and no other from now on. A block has these rights up to its first access. */
static void watch(void* start, size_t block, size_t count, int rights) {
    watched.start = start;
    watched.block = block;
    watched.count = count;
    for (size_t i = 0; i < count; ++i) watched.first_access[i] = SIZE_MAX;
    handle(SIGSEGV, on_access);
    mprotect(start, block * count, rights);
}
