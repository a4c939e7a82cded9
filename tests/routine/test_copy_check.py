"""The checks of a routine find what is wrong with it; test_candidates has more that they find."""

from __future__ import annotations

import itertools
import re

import pytest
from architectures import X86_64, each
from copy_programs import (
    CHECKERS,
    FUNCTIONS,
    failures,
    output_of,
    render,
    run,
    with_instruction,
)

# An instruction put in front of all three functions, and what routine_check must then say.
FAULTS = {
    "x86_64": {
        "it writes to the source": ("movb $1, (%rsi)", "died of a fault at source byte 0"),
        "it reads a byte too early": (
            "movzbl -1(%rsi), %r8d",
            "died of a fault at source byte -1",
        ),
        "it leaves out the last byte": ("sub $1, %rdx; adc $0, %rdx", "byte 0 is 0x"),
        "it uses what this CPU lacks": ("ud2", "died of SIGILL"),
        "it changes r15": ("inc %r15", "changed r15"),
        "it uses the red zone": ("mov %rcx, -16(%rsp)", "wrote below the stack pointer"),
        "it writes to its caller's stack": ("mov %rcx, 16(%rsp)", "wrote to its caller's stack"),
        "it sets the direction flag": ("std", "left the direction flag set"),
        "it forgets emms": ("movq %rcx, %mm0", "left the x87 stack occupied"),
        "it changes the rounding": (
            "movl $0x1f80, -4(%rsp); ldmxcsr -4(%rsp); movl $0x5aa55aa5, -4(%rsp)",
            "changed MXCSR",
        ),
        "it forgets vzeroupper": (
            "vcmpps $15, %ymm9, %ymm9, %ymm9",  # always true
            "left upper vector halves dirty",
        ),
    },
    "aarch64": {
        "it writes a byte too far": (
            "mov w9, #1; strb w9, [x0, x2]",
            "stray write: byte 0 is 0x01",
        ),
        "it uses what this CPU lacks": ("udf #0", "died of SIGILL"),
    },
}


def need_dirty_halves(folder, objects) -> None:
    asks = folder / "asks.c"
    asks.write_text(
        '#include "copy_check.h"\nint main(void) { return !copy_check_sees_dirty_halves(); }\n',
        encoding="ascii",
    )
    harness = X86_64.compiled(objects, "copy_check")
    output_of(*X86_64.gcc, f"-I{CHECKERS}", asks, harness, "-o", folder / "asks")
    if run(*X86_64.on(), folder / "asks").returncode != 0:
        pytest.skip("this CPU does not tell whether upper vector halves are dirty")


@each(FAULTS)
def test_a_faulty_routine_is_reported(tmp_path, objects, arch, case):
    """With the instruction in front of its functions the routine is found wrong."""
    instruction, message = case
    if "halves" in message:
        need_dirty_halves(tmp_path, objects)
    routine = render([(512, arch.plain)], tmp_path)
    with_instruction(routine, instruction)
    program = arch.routine_check(routine, objects)
    options = ("--step", 29, "--other-step", 31, "--largest", 65536)
    done = run(*arch.on(), program, *options)
    assert done.returncode == 1
    for function, line in itertools.zip_longest(FUNCTIONS, failures(done.stdout)):
        place = r"\(\d+ bytes, source \+\d+, destination \+\d+, distance 0\)"
        assert re.fullmatch(f"FAIL {function}: {message}.*{place}", line)
