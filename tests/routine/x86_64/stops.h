/* How a process of x86-64 is stopped by SIGTRAP: at a breakpoint, and, with the trap flag set,
 * behind each of its instructions. */
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "../harness.h"

/* At the first byte of a function, whose page may be written. */
HARNESS void put_breakpoint(uintptr_t function) {
    *(volatile unsigned char*)function = 0xCC; /* int3 */
}

/* The address of the breakpoint that was reached. */
HARNESS uintptr_t breakpoint_reached(const ucontext_t* context) {
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP] - 1;
}

#define CAN_STEP true

enum { TRAP_FLAG = 0x100 };

HARNESS void start_stepping(void) {
    __asm__ volatile("lea -128(%%rsp), %%rsp\n" /* leaves the red zone alone */
                     "pushf\n"
                     "orq $0x100, (%%rsp)\n"
                     "popf\n"
                     "lea 128(%%rsp), %%rsp\n"
                     :
                     :
                     : "memory", "cc");
}

/* In the handler of SIGTRAP: no more from here on. */
HARNESS void stop_stepping(ucontext_t* context) {
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

/* Whether the next instruction is the system call by which a thread waits for others. */
HARNESS bool about_to_wait(const ucontext_t* context) {
    const greg_t* registers = context->uc_mcontext.gregs;
    const unsigned char* at = (const unsigned char*)registers[REG_RIP];
    return at[0] == 0x0F && at[1] == 0x05 && registers[REG_RAX] == SYS_futex &&
           (registers[REG_RSI] & FUTEX_CMD_MASK) == FUTEX_WAIT;
}
