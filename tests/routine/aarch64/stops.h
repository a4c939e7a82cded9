/* How a process of AArch64 is stopped by SIGTRAP: at a breakpoint. It cannot step through its own
 * instructions: only a debugger sets that flag. */
#ifndef ASTEROPE_STOPS_H
#define ASTEROPE_STOPS_H

#include <ucontext.h>

#include "../harness.h"

/* At the first instruction of a function, whose page may be written. */
HARNESS void put_breakpoint(uintptr_t function) {
    *(volatile uint32_t*)function = 0xD4200000u; /* brk #0 */
    __builtin___clear_cache((char*)function, (char*)function + 4);
}

/* Where the breakpoint lies that was reached. */
HARNESS uintptr_t breakpoint_reached(const ucontext_t* context) {
    return (uintptr_t)context->uc_mcontext.pc;
}

#define CAN_STEP false

HARNESS void start_stepping(void) {}

HARNESS void stop_stepping(ucontext_t* context) {
    (void)context;
}

HARNESS bool about_to_wait(const ucontext_t* context) {
    (void)context;
    return false;
}

#endif
