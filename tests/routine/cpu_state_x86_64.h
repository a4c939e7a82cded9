/* What a function owes its caller of an x86-64 CPU's state, and the call that looks: a part of
 * copy_check.c. */
#include <cpuid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A copy that died may have left these as they were in its middle. */
static void reset_cpu(void) {
    const unsigned int mxcsr = 0x1F80;
    __asm__ volatile("cld\n\tfninit\n\tldmxcsr %0" : : "m"(mxcsr));
}

enum { SAVED = 6 };
static const char* const saved_names[SAVED] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};
static const uint64_t ROUND_UP = 0x5F80; /* MXCSR: no function may set it back to the default */

#define SENTINEL 0x5AA55AA5C33CC33Cu
#define REGISTER(i) (0x0123456789ABCDEFu ^ (0x1111111111111111u * (i)))

/* One call through `copy_check_call`, which knows these offsets. */
struct call {
    void (*function)(void);          /* 0 */
    void* destination;               /* 8 */
    const void* source;              /* 16 */
    size_t bytes, distance;          /* 24 32 */
    uint64_t registers[SAVED];       /* 40: before and after */
    const void* returned;            /* 88 */
    uint64_t stack_pointer_moved;    /* 96 */
    uint64_t flags;                  /* 104 */
    uint64_t control;                /* 112: MXCSR, before and after */
    uint64_t look_at_halves, xinuse; /* 120 128 */
    uint64_t below[16], above[16];   /* 136 264: the stack, before and after */
    uint64_t x87[4];                 /* 392: control, status, tag word, ... */
    void (*fifth)(void);             /* 424 */
};
typedef char call_is_laid_out_so[offsetof(struct call, fifth) == 424 ? 1 : -1];

__attribute__((visibility("hidden"))) void copy_check_call(struct call* call);

/* Calls call->function with everything that it must leave alone at known values, and notes what it
 * has made of them. In assembly, since a compiler would keep its own values there. */
__asm__("    .text\n"
        "    .type copy_check_call, @function\n"
        "    .hidden copy_check_call\n"
        "    .globl copy_check_call\n"
        "copy_check_call:\n"
        "    push %rbx; push %rbp; push %r12\n"
        "    push %r13; push %r14; push %r15\n"
        "    sub $136, %rsp\n" /* aligned to 16 for the call */
        "    mov %rdi, copy_check_call_now(%rip)\n"
        "    mov %rsp, copy_check_call_stack(%rip)\n"
        "    mov %rdi, %rax\n"
        "    ldmxcsr 112(%rax)\n"
        "    cmpq $0, 120(%rax)\n"
        "    je 1f\n"
        "    vzeroupper\n"
        "1:\n"
        "    xor %ecx, %ecx\n"
        "2:\n" /* 128 bytes above the stack pointer and 128 below the return address */
        "    mov 136(%rax,%rcx,8), %rdx\n"
        "    mov %rdx, -136(%rsp,%rcx,8)\n"
        "    mov 264(%rax,%rcx,8), %rdx\n"
        "    mov %rdx, (%rsp,%rcx,8)\n"
        "    inc %ecx; cmp $16, %ecx\n"
        "    jne 2b\n"
        "    mov 40(%rax), %rbx; mov 48(%rax), %rbp; mov 56(%rax), %r12\n"
        "    mov 64(%rax), %r13; mov 72(%rax), %r14; mov 80(%rax), %r15\n"
        "    mov 8(%rax), %rdi; mov 16(%rax), %rsi; mov 24(%rax), %rdx\n"
        "    mov 32(%rax), %rcx; mov 424(%rax), %r8\n"
        "    call *(%rax)\n"
        "    mov copy_check_call_now(%rip), %r11\n"
        "    mov %rax, 88(%r11); mov %rbx, 40(%r11); mov %rbp, 48(%r11)\n"
        "    mov %r12, 56(%r11); mov %r13, 64(%r11); mov %r14, 72(%r11)\n"
        "    mov %r15, 80(%r11)\n"
        "    mov %rsp, %rax\n"
        "    sub copy_check_call_stack(%rip), %rax\n"
        "    mov %rax, 96(%r11)\n"
        "    mov copy_check_call_stack(%rip), %rsp\n"
        "    pushfq\n" /* to where the return address was */
        "    pop 104(%r11)\n"
        "    cld\n"
        "    stmxcsr 112(%r11)\n"
        "    fnstenv 392(%r11)\n"
        "    cmpq $0, 120(%r11)\n"
        "    je 3f\n"
        "    mov $1, %ecx\n"
        "    xgetbv\n"
        "    mov %eax, 128(%r11)\n"
        "3:\n"
        "    xor %ecx, %ecx\n"
        "4:\n"
        "    mov -136(%rsp,%rcx,8), %rdx\n"
        "    mov %rdx, 136(%r11,%rcx,8)\n"
        "    mov (%rsp,%rcx,8), %rdx\n"
        "    mov %rdx, 264(%r11,%rcx,8)\n"
        "    inc %ecx; cmp $16, %ecx\n"
        "    jne 4b\n"
        "    add $136, %rsp\n"
        "    pop %r15; pop %r14; pop %r13\n"
        "    pop %r12; pop %rbp; pop %rbx\n"
        "    ret\n"
        "    .size copy_check_call, .-copy_check_call\n"
        "    .local copy_check_call_now, copy_check_call_stack\n"
        "    .comm copy_check_call_now, 8, 8\n"
        "    .comm copy_check_call_stack, 8, 8\n");

/* XGETBV with ECX = 1 tells which parts of the vector state are in use (Intel SDM vol. 1, 13.6);
 * not every CPU and no emulator tracks vzeroupper there, so try. Bit 2: upper halves of YMM. */
bool copy_check_sees_dirty_halves(void) {
    unsigned int eax, ebx, ecx, edx, high, clean, dirty;
    if (!__builtin_cpu_supports("avx")) return false;
    if (!__get_cpuid_count(0xD, 1, &eax, &ebx, &ecx, &edx) || !(eax & 4)) return false;
    __asm__ volatile("vzeroupper\n\txgetbv" : "=a"(clean), "=d"(high) : "c"(1));
    __asm__ volatile("vpcmpeqd %%xmm0, %%xmm0, %%xmm0\n\t"
                     "vinsertf128 $1, %%xmm0, %%ymm0, %%ymm0\n\t"
                     "xgetbv\n\t"
                     "vzeroupper"
                     : "=a"(dirty), "=d"(high)
                     : "c"(1)
                     : "xmm0");
    return !(clean & 4) && (dirty & 4);
}

/* What it has left as it must not; NULL: nothing. */
static const char* left_behind(const struct call* call) {
    if (call->flags & 1u << 10) return "left the direction flag set";
    if (call->control != ROUND_UP) return "changed MXCSR";
    if ((call->x87[1] & 0xFFFF) != 0xFFFF) return "left the x87 stack occupied: no emms";
    if ((call->x87[0] & 0xFFFF) != 0x37F) return "changed the x87 control word";
    if (call->look_at_halves && (call->xinuse & 4)) {
        return "left upper vector halves dirty: no vzeroupper";
    }
    return NULL;
}
