"""Faults that are planted into candidates, to see that candidates_check finds them."""

from __future__ import annotations

from typing import NamedTuple


class Change(NamedTuple):
    """Of a candidate: an instruction to begin with, or what stands there instead of what."""

    candidate: str
    text: str
    instead: str | None = None


# By architecture, in this order: x86-64, AArch64.
PIPELINE = ("XMM T T none 0", "Q T T none 0")
SMALL = ("stepped XMM up 256", "stepped Q up 128")
SMALL_SET = ("set masked ZMM up 256", "set sve Q up 256")  # those of this name without "set"
UP, DOWN = ((f"move {way} xmm 128", f"move {way} q 128") for way in ("upwards", "downwards"))
HAND_ON = "mov x15, x3; mov x16, x4; "  # what AArch64's small copies do to be ready for it

Both = tuple["Change | None", "Change | None"]


def begins(candidates: tuple[str, str], x86_64: str, aarch64: str) -> Both:
    return Change(candidates[0], x86_64), Change(candidates[1], aarch64)


def on_x86_64(candidate: str, *text: str) -> Both:
    return Change(candidate, *text), None


def on_aarch64(candidate: str, *text: str) -> Both:
    return None, Change(candidate, *text)


def on_both(x86_64: tuple[str, str, str], aarch64: tuple[str, str, str]) -> Both:
    return Change(*x86_64), Change(*aarch64)


# What is changed, and what candidates_check must then say. What a wrong prefetch does nobody can
# see: test_loops looks at it.
FAULTS: dict[str, tuple[Both, str]] = {
    "it writes a byte too far": (
        begins(PIPELINE, "movb $1, (%rdi,%rdx)", "mov w9, #1; strb w9, [x0, x2]"),
        "stray write: byte 128 is 0x01",
    ),
    "it reads a byte too far": (
        begins(PIPELINE, "movzbl (%rsi,%rdx), %r8d", "ldrb w9, [x1, x2]"),
        "died of a fault at source byte 128",
    ),
    "it begins a byte too late": (
        begins(PIPELINE, "inc %rsi", "add x1, x1, #1"),
        "byte 0 is 0x.*(128 bytes",
    ),
    "it reads a byte of none": (
        begins(SMALL, "movzbl (%rsi), %r9d", "ldrb w9, [x1]"),
        "died of a fault at source byte 0.*(0 bytes",
    ),
    "it writes before it reads all": (
        begins(
            SMALL,
            "test %rdx, %rdx; je 1f; mov (%rsi), %r9b; mov %r9b, (%rdi); 1:",
            "cbz x2, 1f; ldrb w9, [x1]; strb w9, [x0]; 1:",
        ),
        "byte 1 is 0x.*(2 bytes",
    ),
    "it gives up early": (
        begins(SMALL, "cmp $256, %rdx; jae 257f", f"{HAND_ON} cmp x2, #128; b.hs 129f"),
        "handed on a copy within its bound",
    ),
    "it hands on another size": (
        begins(
            SMALL,
            "cmp $256, %rdx; jbe 1f; inc %rdx; jmp 257f; 1:",
            f"{HAND_ON} cmp x2, #128; b.ls 1f; add x2, x2, #1; b 129f; 1:",
        ),
        "handed on other arguments than it got",
    ),
    "it changes rbx": (on_x86_64(SMALL[0], "inc %rbx"), "changed rbx.*(0 bytes"),
    **{
        f"it changes {register}": (on_aarch64(SMALL[1], text), f"changed {register}.*(0 bytes")
        for register, text in (
            *(("x18", "add x18, x18, #1"), ("x19", "add x19, x19, #1"), ("x29", "mov x29, sp")),
            *(("d8", "movi v8.16b, #0"), ("d15", "movi v15.16b, #0")),
        )
    },
    "it changes how numbers are rounded": (on_aarch64(SMALL[1], "msr fpcr, xzr"), "changed FPCR"),
    "it writes below the stack": (
        on_aarch64(SMALL[1], "str x2, [sp, #-8]"),
        "wrote below the stack pointer",
    ),
    "it writes to its caller's stack": (
        on_aarch64(SMALL[1], "str x2, [sp]"),
        "wrote to its caller's stack",
    ),
    "it moves the stack pointer": (
        on_aarch64(SMALL[1], "sub sp, sp, #16"),
        "moved the stack pointer",
    ),
    "it returns another pointer": (
        on_aarch64(PIPELINE[1], "mov x0, x3", "mov x0, x1"),
        "returned the destin",
    ),
    "a block begins where it does not fit": (
        on_both(
            ("XMM T T none 0 TB4", "lea -127(%r8), %r11", "lea -63(%r8), %r11"),
            ("Q T T none 0 TB4", "sub x8, x6, #127", "sub x8, x6, #63"),
        ),
        "stray write: byte",
    ),
    "a block moves on too far": (
        on_both(
            ("ZMM NT NT T0 16 TB16", "add $1024, %rdi", "add $1088, %rdi"),
            ("Q T NT L1KEEP 8 TB8", "add x0, x0, #512", "add x0, x0, #576"),
        ),
        "byte ",
    ),
    "the second stage repeats the first": (
        on_both(
            ("YMM T T none 0 TB16", "vmovdqu 512(%rsi), %ymm0", "vmovdqu (%rsi), %ymm0"),
            ("Q T T none 0 TB8", "ldp q0, q1, [x1, #256]", "ldp q0, q1, [x1]"),
        ),
        "byte ",
    ),
    "a block of one line skips one": (
        on_both(
            ("XMM T NT none 0 TB1", 'add $64, %rdi\\n"\n    "cmp', "add $128, %rdi; cmp"),
            (
                *("Q T NT none 0 TB1", 'add x0, x0, #64\\n"\n    "cmp x0, x6'),
                "add x0, x0, #128; cmp x0, x6",
            ),
        ),
        "byte ",
    ),
    "a block of general registers moves on too far": (
        on_aarch64("X T T none 0", "add x0, x0, #128", "add x0, x0, #144"),
        "byte ",
    ),
    "a block of vectors begins where it does not fit": (
        on_aarch64("SVE T T none 0", "cntb x8, all, mul #2", "cntb x8"),
        "",
    ),
    "the last vector is stored whole": (
        on_aarch64("SVE T NT none 0", "st1b {z0.b}, p0, [x0, x7]", "str z0, [x0]"),
        "",
    ),
    "what is left of the vectors is left out": (
        on_aarch64("SVE NT T none 0", "b.first 7b", "nop"),
        "byte ",
    ),
    "a group of pages begins where it does not fit": (
        on_both(
            ("XMM T T none 0 PI2", "lea -8063(%r8), %rdx", "lea -8000(%r8), %rdx"),
            ("Q T T none 0 PI2", "movz x2, #8063", "movz x2, #8000"),
        ),
        "stray write: byte",
    ),
    "a group of pages is not skipped over": (
        on_both(
            ("ZMM T NT T0 4 PI4", "add $12288, %rdi", "add $12224, %rdi"),
            ("Q T T none 0 PI4", "add x0, x0, #12288", "add x0, x0, #8192"),
        ),
        "byte ",
    ),
    "the third page is copied from the second": (
        on_x86_64("YMM T NT none 0 PI4", "vmovdqu 8224(%rsi)", "vmovdqu 4128(%rsi)"),
        "byte ",
    ),
    "the distance of prefetchw lands in a register that is in use": (
        on_x86_64("XMM T T none 0 TB4 PW", "shr $32, %r10", "shr $32, %r10; mov %r10, %rdx"),
        "",
    ),
    "backward it goes on below the beginning": (
        on_both(
            ("XMM T T none 0 down", "lea 128(%rdi), %r8", "lea 64(%rdi), %r8"),
            ("Q T T none 0 down", "add x6, x0, #128", "add x6, x0, #64"),
        ),
        "",
    ),
    "backward a large block begins where it does not fit": (
        on_both(
            ("YMM T T none 0 TB8 down", "lea 383(%r8), %r11", "lea 319(%r8), %r11"),
            ("Q T T none 0 TB8 down", "add x8, x6, #383", "add x8, x6, #319"),
        ),
        "stray write: byte -",
    ),
    "a direct store goes to the next line": (
        on_x86_64("MOVDIR64B T NT none 0", "lea 64(%rdi), %r10", "lea 128(%rdi), %r10"),
        "byte ",
    ),
    "a direct store is not aligned": (
        on_x86_64("MOVDIR64B T NT none 0 TB1", "and $-64, %rdi", "and $-32, %rdi"),
        "",
    ),
    "a block of a move begins where it does not fit": (
        on_both(
            (UP[0], "lea -64(%r8), %r9", "lea (%r8), %r9"),
            (UP[1], "sub x7, x6, #64", "mov x7, x6"),
        ),
        "stray write: byte",
    ),
    "a set takes more than the low byte": (
        on_both(
            ("ZMM T", "vpbroadcastb %esi, %zmm16", "vpbroadcastw %esi, %zmm16"),
            ("Q T", "dup v0.16b, w1", "dup v0.8h, w1"),
        ),
        "byte ",
    ),
    "a set begins a byte too late": (
        on_x86_64("REP_STOSB T", "mov %rdx, %rcx", "inc %rdi; mov %rdx, %rcx"),
        "byte ",
    ),
    "a line too many is cleared": (
        on_both(
            ("CLZERO NT TB4", "lea -127(%r8), %r11", "lea (%r8), %r11"),
            ("Q T T none 0 zva", "add x17, x0, #64", "add x17, x0, #128"),
        ),
        "stray write: byte",
    ),
    "another byte than zero is cleared": (
        on_both(
            ("CLZERO NT", "test %sil, %sil", "xor %r11d, %r11d"),
            ("ZVA T", "tst w1, #255", "cmp xzr, xzr"),
        ),
        "byte ",
    ),
    "a set returns where it ended": (
        on_both(("REP_STOSQ T", "mov %r9, %rax", "mov %rdi, %rax"), ("X NT", "mov x0, x3", "nop")),
        "returned",
    ),
    "a small set forgets the mask": (
        on_both(
            (SMALL_SET[0], "vmovdqu8 %zmm16, (%rax){%k1}", "vmovdqu8 %zmm16, (%rax)"),
            (SMALL_SET[1], "whilelo p0.b, xzr, x2", "ptrue p0.b"),
        ),
        "stray write",
    ),
    "a small set hands on another byte": (
        (
            Change(SMALL_SET[0], "ja 257f", "jbe 1f; inc %esi; jmp 257f; 1:"),
            Change(SMALL_SET[1], f"{HAND_ON} cmp x2, #256; b.ls 1f; add w1, w1, #1; b 257f; 1:"),
        ),
        "byte 0 is 0x.*(257 bytes",
    ),
    "what a move has left over stays behind": (
        on_both((UP[0], "jae 3f", "jmp 3f"), (UP[1], "b.hs 3f", "b 3f")),
        "byte ",
    ),
    "the first bytes are loaded too late": (
        on_x86_64(
            *(UP[0], "movdqu %xmm8, (%r10)", "movdqu (%r10,%rsi), %xmm8; movdqu %xmm8, (%r10)"),
        ),
        "byte 0 is 0x",
    ),
    "a downward block goes on below the beginning": (
        on_both(
            (DOWN[0], "lea 64(%r8), %r9", "lea (%r8), %r9"),
            (DOWN[1], "add x7, x6, #64", "mov x7, x6"),
        ),
        "",
    ),
    "a downward block is stored before it is loaded": (
        on_x86_64(
            *(DOWN[0], "movdqu -16(%rcx,%rsi), %xmm7"),
            "movdqu -128(%rcx,%rsi), %xmm0; movdqa %xmm0, -128(%rcx); movdqu -16(%rcx,%rsi), %xmm7",
        ),
        "byte ",
    ),
}
