/* Runs movdir64b where the CPU lacks it, so that the copies made of it can be checked there too:
 * each, with the addressing modes that the templates use, is decoded and done by the handler of
 * SIGILL, to be installed after copy_check_start, whose handler gets everything else. A destination
 * that is no multiple of 64 bytes fails the check under way: the CPU would refuse it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "copy_check.h"

static struct sigaction otherwise;

/* In the order of the numbers that instructions have for them. */
static const int registers[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                  REG_R12, REG_R13, REG_R14, REG_R15};

/* What an instruction stores where. */
struct direct_store {
    const void* source;
    void* destination;
    int length; /* of the instruction, in bytes; 0: it is another */
};

/* 66 [REX] 0F 38 F8 /r, the source at a register and perhaps a displacement (Intel SDM vol. 2,
 * MOVDIR64B and 2.1.5). No index and nothing relative to the instruction: no template has them. */
static struct direct_store decode(const unsigned char* code, const greg_t* values) {
    static const unsigned char opcode[] = {0x0F, 0x38, 0xF8};
    const struct direct_store none = {NULL, NULL, 0};
    const unsigned char* next = code;
    if (*next++ != 0x66) return none;
    unsigned int rex = 0;
    if ((*next & 0xF0) == 0x40) rex = *next++;
    if (memcmp(next, opcode, sizeof opcode) != 0) return none;
    next += sizeof opcode;
    const unsigned int modrm = *next++, mode = modrm >> 6;
    const unsigned int to = (modrm >> 3 & 7) | (rex & 4) << 1;
    const unsigned int from = (modrm & 7) | (rex & 1) << 3;
    if (mode == 3 || (modrm & 7) == 4 || (mode == 0 && (modrm & 7) == 5)) return none;
    int32_t displacement = 0;
    if (mode == 1) displacement = (int8_t)*next++;
    if (mode == 2) {
        memcpy(&displacement, next, sizeof displacement);
        next += sizeof displacement;
    }
    const struct direct_store found = {
        (const void*)(uintptr_t)(values[registers[from]] + displacement),
        (void*)(uintptr_t)values[registers[to]], (int)(next - code)};
    return found;
}

static void on_illegal_instruction(int number, siginfo_t* info, void* context) {
    greg_t* values = ((ucontext_t*)context)->uc_mcontext.gregs;
    const struct direct_store store =
        decode((const unsigned char*)(uintptr_t)values[REG_RIP], values);
    if (store.length == 0) {
        otherwise.sa_sigaction(number, info, context);
        return;
    }
    if ((uintptr_t)store.destination % 64 != 0) {
        copy_check_abort("movdir64b to what is no multiple of 64");
    }
    memcpy(store.destination, store.source, 64); /* a fault in here is the copy's own */
    values[REG_RIP] += store.length;
}

void movdir64b_emulate(void);
void movdir64b_emulate(void) {
    struct sigaction action = {.sa_sigaction = on_illegal_instruction,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaction(SIGILL, &action, &otherwise);
}
