/* Breakpoints of x86-64, for dispatch_check. */
#ifndef ASTEROPE_BREAKPOINT_H
#define ASTEROPE_BREAKPOINT_H

#include <stdint.h>
#include <ucontext.h>

/* At the first byte of a function, whose page may be written. */
static void put_breakpoint(uintptr_t function) {
    *(volatile unsigned char*)function = 0xCC; /* int3 */
}

/* Where the breakpoint lies that was reached. */
static uintptr_t breakpoint_reached(const ucontext_t* context) {
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP] - 1;
}

#endif
