/* The state that a copy must leave as it was on x86-64; copy_check.c includes this. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cpu_features.h"

/* A copy that died may have left these as they were in its middle. */
static void reset_cpu(void) {
    const unsigned int mxcsr = 0x1F80;
    __asm__ volatile("cld\n\tfninit\n\tldmxcsr %0" : : "m"(mxcsr));
}

/* The registers that `kept` of a call has. */
static const char* const kept_names[] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};
enum { RETURNS_BY_STACK = 1 };

__asm__("    .text\n"
        "    .type copy_check_call, @function\n"
        "    .hidden copy_check_call\n"
        "    .globl copy_check_call\n"
        "copy_check_call:\n"
        "    push %rbx; push %rbp; push %r12\n"
        "    push %r13; push %r14; push %r15\n"
        "    mov %rdi, copy_check_call_now(%rip)\n"
        "    mov %rsp, copy_check_call_stack(%rip)\n"
        "    mov %rdi, %rax\n"
        "    ldmxcsr 224(%rax)\n"
        "    cmpq $0, 240(%rax)\n"
        "    je 1f\n"
        "    vzeroupper\n"
        "1:\n"
        "    mov 64(%rax), %rbx; mov 72(%rax), %rbp; mov 80(%rax), %r12\n"
        "    mov 88(%rax), %r13; mov 96(%rax), %r14; mov 104(%rax), %r15\n"
        "    mov 8(%rax), %rdi; mov 16(%rax), %rsi; mov 24(%rax), %rdx\n"
        "    mov 32(%rax), %rcx; mov 40(%rax), %r8\n"
        "    mov 56(%rax), %rsp\n"
        "    call *(%rax)\n"
        "    mov copy_check_call_now(%rip), %r11\n"
        "    mov %rax, 48(%r11); mov %rbx, 64(%r11); mov %rbp, 72(%r11)\n"
        "    mov %r12, 80(%r11); mov %r13, 88(%r11); mov %r14, 96(%r11)\n"
        "    mov %r15, 104(%r11)\n"
        "    mov %rsp, 56(%r11)\n"
        "    mov copy_check_call_stack(%rip), %rsp\n"
        "    pushfq\n"
        "    pop 232(%r11)\n"
        "    cld\n"
        "    stmxcsr 224(%r11)\n"
        "    fnstenv 256(%r11)\n"
        "    cmpq $0, 240(%r11)\n"
        "    je 3f\n"
        "    mov $1, %ecx\n"
        "    xgetbv\n"
        "    mov %eax, 248(%r11)\n"
        "3:\n"
        "    pop %r15; pop %r14; pop %r13\n"
        "    pop %r12; pop %rbp; pop %rbx\n"
        "    ret\n"
        "    .size copy_check_call, .-copy_check_call\n"
        "    .local copy_check_call_now, copy_check_call_stack\n"
        "    .comm copy_check_call_now, 8, 8\n"
        "    .comm copy_check_call_stack, 8, 8\n");

/* No function may set it back to the default. */
static const uint64_t rounding_up = 0x5F80;

/* The change that the call made to the rest of the CPU's state, in words, or NULL. */
static const char* changed_by(const struct call* call) {
    if (call->flags & 1u << 10) return "left the direction flag set";
    if (call->control != rounding_up) return "changed MXCSR";
    if ((call->x87[1] & 0xFFFF) != 0xFFFF) return "left the x87 stack occupied: no emms";
    if ((call->x87[0] & 0xFFFF) != 0x37F) return "changed the x87 control word";
    if (call->look_at_halves && (call->in_use & 4)) {
        return "left upper vector halves dirty: no vzeroupper";
    }
    return NULL;
}
