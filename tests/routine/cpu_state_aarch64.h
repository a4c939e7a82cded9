/* What a function owes its caller of an AArch64 CPU's state (AAPCS64, 6.1), and the call that looks:
 * a part of copy_check.c. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A copy that died may have left it as it was in its middle. */
static void reset_cpu(void) {
    __asm__ volatile("msr fpcr, xzr");
}

enum { SAVED = 19 };
static const char* const saved_names[SAVED] = {"x19", "x20", "x21", "x22", "x23", "x24", "x25",
                                               "x26", "x27", "x28", "x29", "d8",  "d9",  "d10",
                                               "d11", "d12", "d13", "d14", "d15"};
static const uint64_t ROUND_UP = 1u << 22; /* FPCR: no function may set it back to the default */

#define SENTINEL 0x5AA55AA5C33CC33Cu
#define REGISTER(i) (0x0123456789ABCDEFu ^ (0x1111111111111111u * (i)))

/* One call through `copy_check_call`, which knows these offsets. */
struct call {
    void (*function)(void);          /* 0 */
    void* destination;               /* 8 */
    const void* source;              /* 16 */
    size_t bytes, distance;          /* 24 32 */
    uint64_t registers[SAVED];       /* 40: before and after */
    const void* returned;            /* 192 */
    uint64_t stack_pointer_moved;    /* 200 */
    uint64_t control;                /* 208: FPCR, before and after */
    uint64_t below[16], above[16];   /* 216 344: the stack, before and after */
    void (*fifth)(void);             /* 472 */
    uint64_t look_at_halves;         /* there are none */
};
typedef char call_is_laid_out_so[offsetof(struct call, fifth) == 472 ? 1 : -1];

__attribute__((visibility("hidden"))) void copy_check_call(struct call* call);

/* Calls call->function with everything that it must leave alone at known values, and notes what it
 * has made of them. In assembly, since a compiler would keep its own values there. */
__asm__("    .text\n"
        "    .type copy_check_call, %function\n"
        "    .hidden copy_check_call\n"
        "    .globl copy_check_call\n"
        "copy_check_call:\n"
        "    stp x29, x30, [sp, #-160]!\n"
        "    stp x19, x20, [sp, #16]; stp x21, x22, [sp, #32]; stp x23, x24, [sp, #48]\n"
        "    stp x25, x26, [sp, #64]; stp x27, x28, [sp, #80]; stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]; stp d12, d13, [sp, #128]; stp d14, d15, [sp, #144]\n"
        "    sub sp, sp, #128\n"
        "    adrp x9, copy_check_call_now\n"
        "    str x0, [x9, :lo12:copy_check_call_now]\n"
        "    mov x10, sp\n"
        "    adrp x9, copy_check_call_stack\n"
        "    str x10, [x9, :lo12:copy_check_call_stack]\n"
        "    ldr x9, [x0, #208]\n"
        "    msr fpcr, x9\n"
        "    mov x9, #0\n"
        "2:\n" /* 128 bytes above the stack pointer and 128 below it */
        "    add x11, x0, x9; add x12, sp, x9\n"
        "    ldr x13, [x11, #344]; str x13, [x12]\n"
        "    ldr x13, [x11, #216]; sub x12, x12, #128; str x13, [x12]\n"
        "    add x9, x9, #8; cmp x9, #128\n"
        "    b.ne 2b\n"
        "    ldp x19, x20, [x0, #40]; ldp x21, x22, [x0, #56]; ldp x23, x24, [x0, #72]\n"
        "    ldp x25, x26, [x0, #88]; ldp x27, x28, [x0, #104]; ldr x29, [x0, #120]\n"
        "    ldp d8, d9, [x0, #128]; ldp d10, d11, [x0, #144]\n"
        "    ldp d12, d13, [x0, #160]; ldp d14, d15, [x0, #176]\n"
        "    ldr x9, [x0]; ldp x1, x2, [x0, #16]; ldr x3, [x0, #32]; ldr x4, [x0, #472]\n"
        "    ldr x0, [x0, #8]\n"
        "    blr x9\n"
        "    adrp x9, copy_check_call_now\n"
        "    ldr x9, [x9, :lo12:copy_check_call_now]\n"
        "    str x0, [x9, #192]\n"
        "    stp x19, x20, [x9, #40]; stp x21, x22, [x9, #56]; stp x23, x24, [x9, #72]\n"
        "    stp x25, x26, [x9, #88]; stp x27, x28, [x9, #104]; str x29, [x9, #120]\n"
        "    stp d8, d9, [x9, #128]; stp d10, d11, [x9, #144]\n"
        "    stp d12, d13, [x9, #160]; stp d14, d15, [x9, #176]\n"
        "    adrp x10, copy_check_call_stack\n"
        "    ldr x10, [x10, :lo12:copy_check_call_stack]\n"
        "    mov x11, sp\n"
        "    sub x11, x11, x10\n"
        "    str x11, [x9, #200]\n"
        "    mov sp, x10\n"
        "    mrs x11, fpcr\n"
        "    str x11, [x9, #208]\n"
        "    mov x10, #0\n"
        "4:\n"
        "    add x11, x9, x10; add x12, sp, x10\n"
        "    ldr x13, [x12]; str x13, [x11, #344]\n"
        "    sub x12, x12, #128; ldr x13, [x12]; str x13, [x11, #216]\n"
        "    add x10, x10, #8; cmp x10, #128\n"
        "    b.ne 4b\n"
        "    add sp, sp, #128\n"
        "    ldp x19, x20, [sp, #16]; ldp x21, x22, [sp, #32]; ldp x23, x24, [sp, #48]\n"
        "    ldp x25, x26, [sp, #64]; ldp x27, x28, [sp, #80]; ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]; ldp d12, d13, [sp, #128]; ldp d14, d15, [sp, #144]\n"
        "    ldp x29, x30, [sp], #160\n"
        "    ret\n"
        "    .size copy_check_call, .-copy_check_call\n"
        "    .local copy_check_call_now, copy_check_call_stack\n"
        "    .comm copy_check_call_now, 8, 8\n"
        "    .comm copy_check_call_stack, 8, 8\n");

/* Nothing depends on what is in the upper parts of a vector register. */
bool copy_check_sees_dirty_halves(void) {
    return false;
}

/* What it has left as it must not; NULL: nothing. */
static const char* left_behind(const struct call* call) {
    return call->control != ROUND_UP ? "changed FPCR" : NULL;
}
