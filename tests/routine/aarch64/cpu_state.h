/* What a copy owes its caller on AArch64, besides what it copies (AAPCS64, 6.1 and 6.4);
 * copy_check.c includes it. */
#ifndef ASTEROPE_CPU_STATE_H
#define ASTEROPE_CPU_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A copy that died may have left this as it was in its middle. */
static void reset_cpu(void) {
    __asm__ volatile("msr fpcr, xzr");
}

#define REGISTER(i) (0x0123456789ABCDEFu ^ (0x1111111111111111u * (i)))

/* One call through `copy_check_call`, which knows these offsets. */
struct call {
    void (*function)(void);        /* 0 */
    void* destination;             /* 8 */
    const void* source;            /* 16 */
    size_t bytes, distance;        /* 24 32 */
    void (*fifth)(void);           /* 40 */
    const void* returned;          /* 48 */
    uint64_t stack_pointer_moved;  /* 56 */
    uint64_t fpcr;                 /* 64: before and after */
    uint64_t padding;              /* 72 */
    uint64_t registers[12];        /* 80: x18 to x29, before and after */
    uint64_t vectors[8];           /* 176: the low halves of v8 to v15, before and after */
    uint64_t below[16], above[16]; /* 240 368: the stack, before and after */
};
typedef char call_is_laid_out_so[offsetof(struct call, above) == 368 ? 1 : -1];

__attribute__((visibility("hidden"))) void copy_check_call(struct call* call);

/* Calls call->function with everything that it must leave alone at known values, and notes what it
 * has made of them. In assembly, since a compiler would keep its own values there. */
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
        "    sub sp, sp, #128\n"
        "    adrp x9, copy_check_call_now\n"
        "    str x0, [x9, :lo12:copy_check_call_now]\n"
        "    adrp x9, copy_check_call_stack\n"
        "    mov x10, sp\n"
        "    str x10, [x9, :lo12:copy_check_call_stack]\n"
        "    mov x9, x0\n"
        "    add x10, x9, #240\n"
        "    sub x11, sp, #128\n"
        "    mov x12, #32\n"
        "1:\n" /* 128 bytes below the stack pointer and 128 above it, which lie side by side */
        "    ldr x13, [x10], #8\n"
        "    str x13, [x11], #8\n"
        "    subs x12, x12, #1\n"
        "    b.ne 1b\n"
        "    ldr x10, [x9, #64]\n"
        "    msr fpcr, x10\n"
        "    ldp x18, x19, [x9, #80]; ldp x20, x21, [x9, #96]; ldp x22, x23, [x9, #112]\n"
        "    ldp x24, x25, [x9, #128]; ldp x26, x27, [x9, #144]; ldp x28, x29, [x9, #160]\n"
        "    ldp d8, d9, [x9, #176]; ldp d10, d11, [x9, #192]\n"
        "    ldp d12, d13, [x9, #208]; ldp d14, d15, [x9, #224]\n"
        "    ldp x0, x1, [x9, #8]; ldp x2, x3, [x9, #24]; ldr x4, [x9, #40]\n"
        "    ldr x16, [x9]\n"
        "    blr x16\n"
        "    adrp x9, copy_check_call_now\n"
        "    ldr x9, [x9, :lo12:copy_check_call_now]\n"
        "    str x0, [x9, #48]\n"
        "    stp x18, x19, [x9, #80]; stp x20, x21, [x9, #96]; stp x22, x23, [x9, #112]\n"
        "    stp x24, x25, [x9, #128]; stp x26, x27, [x9, #144]; stp x28, x29, [x9, #160]\n"
        "    stp d8, d9, [x9, #176]; stp d10, d11, [x9, #192]\n"
        "    stp d12, d13, [x9, #208]; stp d14, d15, [x9, #224]\n"
        "    mrs x10, fpcr\n"
        "    str x10, [x9, #64]\n"
        "    adrp x10, copy_check_call_stack\n"
        "    ldr x10, [x10, :lo12:copy_check_call_stack]\n"
        "    mov x11, sp\n"
        "    sub x11, x11, x10\n"
        "    str x11, [x9, #56]\n"
        "    mov sp, x10\n"
        "    add x10, x9, #240\n"
        "    sub x11, sp, #128\n"
        "    mov x12, #32\n"
        "2:\n"
        "    ldr x13, [x11], #8\n"
        "    str x13, [x10], #8\n"
        "    subs x12, x12, #1\n"
        "    b.ne 2b\n"
        "    add sp, sp, #128\n"
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

/* Vectors have no halves here whose state slows down other code. */
bool copy_check_sees_dirty_halves(void) {
    return false;
}

/* No function may set it back to the default. */
static const uint64_t fpcr_rounding_up = 1u << 22;

/* Fills in what of the call the architecture alone knows. */
static void prepare_call(struct call* call) {
    call->fpcr = fpcr_rounding_up;
    for (size_t i = 0; i < 12; ++i) call->registers[i] = REGISTER(i);
    for (size_t i = 0; i < 8; ++i) call->vectors[i] = REGISTER(16 + i);
}

/* What the call has changed of the CPU's state, in words, or NULL. */
static const char* changed_by(const struct call* call) {
    static const char* const names[] = {
        "changed x18", "changed x19", "changed x20", "changed x21", "changed x22", "changed x23",
        "changed x24", "changed x25", "changed x26", "changed x27", "changed x28", "changed x29",
    };
    static const char* const vectors[] = {
        "changed d8",  "changed d9",  "changed d10", "changed d11",
        "changed d12", "changed d13", "changed d14", "changed d15",
    };
    for (size_t i = 0; i < 12; ++i) {
        if (call->registers[i] != REGISTER(i)) return names[i];
    }
    for (size_t i = 0; i < 8; ++i) {
        if (call->vectors[i] != REGISTER(16 + i)) return vectors[i];
    }
    if (call->fpcr != fpcr_rounding_up) return "changed FPCR";
    return NULL;
}

#endif
