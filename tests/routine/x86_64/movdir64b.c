/* Runs movdir64b where the CPU lacks it, so that the copies made of it can be checked there
 * too. The handler of SIGILL decodes and does each one, with the addressing modes that the
 * templates use. It is installed after copy_check_start, whose handler gets all other signals. A
 * destination that is not a multiple of 64 bytes fails the check under way: the CPU would refuse
 * it. */
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

/* 66 [REX] 0F 38 F8 /r, the source at a register and perhaps a displacement (Intel SDM vol. 2,
 * MOVDIR64B and 2.1.5). No index and nothing relative to the instruction: no template has them. */
static void on_illegal_instruction(int number, siginfo_t* info, void* context) {
    static const unsigned char opcode[] = {0x0F, 0x38, 0xF8};
    greg_t* const values = ((ucontext_t*)context)->uc_mcontext.gregs;
    const unsigned char* at = (const unsigned char*)values[REG_RIP];
    const bool prefixed = *at == 0x66;
    const unsigned rex = (at[1] & 0xF0) == 0x40 ? at[1] : 0;
    at += rex ? 2 : 1;
    const unsigned modrm = at[3], mode = modrm >> 6, base = modrm & 7;
    if (!prefixed || memcmp(at, opcode, sizeof opcode) != 0 || mode == 3 || base == 4 ||
        (mode == 0 && base == 5)) {
        otherwise.sa_sigaction(number, info, context);
        return;
    }
    int32_t displacement = mode == 1 ? (int8_t)at[4] : 0;
    if (mode == 2) memcpy(&displacement, at + 4, sizeof displacement);
    const greg_t from = values[registers[base | (rex & 1) << 3]] + displacement;
    const greg_t to = values[registers[(modrm >> 3 & 7) | (rex & 4) << 1]];
    if (to % 64 != 0) copy_check_abort("movdir64b to an address that is not a multiple of 64");
    memcpy((void*)to, (const void*)from, 64); /* a fault in here is the copy's own */
    values[REG_RIP] = (greg_t)(at + 4 + (mode == 1 ? 1 : mode == 2 ? 4 : 0));
}

void movdir64b_emulate(void) {
    struct sigaction action = {.sa_sigaction = on_illegal_instruction,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaction(SIGILL, &action, &otherwise);
}
