/* How a process of AArch64 is stopped by SIGTRAP: at a breakpoint. It cannot step through its own
 * instructions: only a debugger sets that flag. */
#pragma once

#include <ucontext.h>

#include "../harness.h"

/* At the first instruction of a function, whose page may be written. */
HARNESS void put_breakpoint(uintptr_t function) {
    *(volatile uint32_t*)function = 0xD4200000u; /* brk #0 */
    __builtin___clear_cache((char*)function, (char*)function + 4);
}

/* The address of the breakpoint that was reached. */
HARNESS uintptr_t breakpoint_reached(const ucontext_t* context) {
    return (uintptr_t)context->uc_mcontext.pc;
}

#define CAN_STEP false
#define start_stepping() (void)0
#define stop_stepping(context) (void)(context)
#define about_to_wait(context) ((void)(context), false)
