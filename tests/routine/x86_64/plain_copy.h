/* A pipeline of x86-64 that leaves all but its own registers alone, as they must; for
 * sensing_check. */
#ifndef ASTEROPE_PLAIN_COPY_H
#define ASTEROPE_PLAIN_COPY_H

/* What it returns is in rax already. */
__attribute__((naked)) static void plain_copy(void) {
    __asm__("mov %rdx, %rcx\n"
            "rep movsb\n"
            "ret\n");
}

#endif
