/* The state that a copy must leave as it was on AArch64 (AAPCS64, 6.1 and 6.4); copy_check.c
 * includes this. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cpu_features.h"

/* A copy that died may have left this as it was in its middle. */
static void reset_cpu(void) {
    __asm__ volatile("msr fpcr, xzr");
}

/* The registers that `kept` of a call has; of the vectors the low halves. */
enum { RETURNS_BY_STACK = 0 };
static const char* const kept_names[] = {"x18", "x19", "x20", "x21", "x22", "x23", "x24",
                                         "x25", "x26", "x27", "x28", "x29", "d8",  "d9",
                                         "d10", "d11", "d12", "d13", "d14", "d15"};

__asm__("    .text\n"
        "    .type copy_check_call, %function\n"
        "    .hidden copy_check_call\n"
        "    .globl copy_check_call\n"
        "copy_check_call:\n"
        "    hint #34\n" /* bti c */
        "    stp x29, x30, [sp, #-160]!\n"
        "    stp x19, x20, [sp, #16]; stp x21, x22, [sp, #32]; stp x23, x24, [sp, #48]\n"
        "    stp x25, x26, [sp, #64]; stp x27, x28, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]; stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]; stp d14, d15, [sp, #144]\n"
        "    adrp x9, copy_check_call_now\n"
        "    str x0, [x9, :lo12:copy_check_call_now]\n"
        "    adrp x9, copy_check_call_stack\n"
        "    mov x10, sp\n"
        "    str x10, [x9, :lo12:copy_check_call_stack]\n"
        "    mov x9, x0\n"
        "    ldr x10, [x9, #224]\n"
        "    msr fpcr, x10\n"
        "    ldp x18, x19, [x9, #64]; ldp x20, x21, [x9, #80]; ldp x22, x23, [x9, #96]\n"
        "    ldp x24, x25, [x9, #112]; ldp x26, x27, [x9, #128]; ldp x28, x29, [x9, #144]\n"
        "    ldp d8, d9, [x9, #160]; ldp d10, d11, [x9, #176]\n"
        "    ldp d12, d13, [x9, #192]; ldp d14, d15, [x9, #208]\n"
        "    ldp x0, x1, [x9, #8]; ldp x2, x3, [x9, #24]; ldr x4, [x9, #40]\n"
        "    ldr x16, [x9, #56]\n"
        "    mov sp, x16\n"
        "    ldr x16, [x9]\n"
        "    blr x16\n"
        "    adrp x9, copy_check_call_now\n"
        "    ldr x9, [x9, :lo12:copy_check_call_now]\n"
        "    str x0, [x9, #48]\n"
        "    stp x18, x19, [x9, #64]; stp x20, x21, [x9, #80]; stp x22, x23, [x9, #96]\n"
        "    stp x24, x25, [x9, #112]; stp x26, x27, [x9, #128]; stp x28, x29, [x9, #144]\n"
        "    stp d8, d9, [x9, #160]; stp d10, d11, [x9, #176]\n"
        "    stp d12, d13, [x9, #192]; stp d14, d15, [x9, #208]\n"
        "    mrs x10, fpcr\n"
        "    str x10, [x9, #224]\n"
        "    adrp x10, copy_check_call_stack\n"
        "    ldr x10, [x10, :lo12:copy_check_call_stack]\n"
        "    mov x11, sp\n"
        "    str x11, [x9, #56]\n"
        "    mov sp, x10\n"
        "    ldp x19, x20, [sp, #16]; ldp x21, x22, [sp, #32]; ldp x23, x24, [sp, #48]\n"
        "    ldp x25, x26, [sp, #64]; ldp x27, x28, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]; ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]; ldp d14, d15, [sp, #144]\n"
        "    ldp x29, x30, [sp], #160\n"
        "    ret\n"
        "    .size copy_check_call, .-copy_check_call\n"
        "    .local copy_check_call_now, copy_check_call_stack\n"
        "    .comm copy_check_call_now, 8, 8\n"
        "    .comm copy_check_call_stack, 8, 8\n");

/* No function may set it back to the default. */
static const uint64_t rounding_up = 1u << 22;

/* The change that the call made to the rest of the CPU's state, in words, or NULL. */
static const char* changed_by(const struct call* call) {
    return call->control == rounding_up ? NULL : "changed FPCR";
}
