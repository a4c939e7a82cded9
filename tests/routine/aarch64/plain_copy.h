/* A pipeline of AArch64 that leaves all but its own registers alone, as they must; for
 * sensing_check. */
#ifndef ASTEROPE_PLAIN_COPY_H
#define ASTEROPE_PLAIN_COPY_H

__attribute__((visibility("hidden"))) void plain_copy(void);

/* Returns x0, and copies eight bytes at a time while there are as many. */
__asm__("    .text\n"
        "    .type plain_copy, %function\n"
        "    .hidden plain_copy\n"
        "    .globl plain_copy\n"
        "plain_copy:\n"
        "    hint #34\n" /* bti c */
        "    mov x9, x0\n"
        "1:\n"
        "    cmp x2, #8\n"
        "    b.lo 2f\n"
        "    ldr x10, [x1], #8\n"
        "    str x10, [x9], #8\n"
        "    sub x2, x2, #8\n"
        "    b 1b\n"
        "2:\n"
        "    cbz x2, 3f\n"
        "    ldrb w10, [x1], #1\n"
        "    strb w10, [x9], #1\n"
        "    sub x2, x2, #1\n"
        "    b 2b\n"
        "3:\n"
        "    ret\n"
        "    .size plain_copy, .-plain_copy\n");

#endif
