/* Breakpoints of AArch64, for dispatch_check. */
#ifndef ASTEROPE_BREAKPOINT_H
#define ASTEROPE_BREAKPOINT_H

#include <stdint.h>
#include <ucontext.h>

/* At the first instruction of a function, whose page may be written. */
static void put_breakpoint(uintptr_t function) {
    *(volatile uint32_t*)function = 0xD4200000u; /* brk #0 */
    __builtin___clear_cache((char*)function, (char*)function + 4);
}

/* Where the breakpoint lies that was reached. */
static uintptr_t breakpoint_reached(const ucontext_t* context) {
    return (uintptr_t)context->uc_mcontext.pc;
}

#endif
