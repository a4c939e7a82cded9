"""Copies at random, of each kind of pipeline and small copy; a case that fails can be repeated.

More cases than the suite has time for: ASTEROPE_FUZZ_SEED=2 ASTEROPE_FUZZ_COUNT=10000000
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from architectures import X86_64, Architecture, each, render_every_kind
from copy_programs import (
    REPOSITORY,
    build_with_routines,
    failures,
    render,
    run,
    with_instruction,
)

SEED = os.environ.get("ASTEROPE_FUZZ_SEED", "1")
COUNT = os.environ.get("ASTEROPE_FUZZ_COUNT", "50000")


@each()
def test_random_copies_are_right(tmp_path, arch):
    routines = dict(render_every_kind(arch, tmp_path))
    for machine in ("opteron-6378", "xeon-gold-5218") if arch is X86_64 else ():
        profile = REPOSITORY / "generated" / "reference" / f"{machine}.json"
        prefix = machine.replace("-", "_")
        routines[render(profile, tmp_path, prefix=prefix)] = (128, 256, 8192, 32768)
    program = build_with_routines(routines, tmp_path, "copy_fuzz", *arch.gcc)
    done = run(*arch.on(), program, "--seed", SEED, "--count", COUNT)
    assert not failures(done.stdout), done.stdout
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ok ") == len(routines) >= 10


def faulty(arch: Architecture, folder: Path, instruction: str) -> Path:
    """copy_fuzz of one routine with an instruction in front of its functions."""
    small = next(small for small in arch.small.values() if small.bound == 256 and not small.needs)
    routine = render([(512, arch.plain)], folder, small, "faulty")
    with_instruction(routine, instruction)
    return build_with_routines({routine: (256, 512)}, folder, "copy_fuzz", *arch.gcc)


# What is wrong with a copy, and what copy_fuzz must find.
FAULTS = {
    "x86_64": {
        "one size lacks a byte": ("cmp $259, %rdx; jne 1f; dec %rdx; 1:", "259 bytes"),
        "a move begins at the wrong end": (
            *("cmp $200, %rdx; jb 1f; mov (%rsi), %r8b; mov %r8b, (%rdi); 1:", "byte"),
        ),
    },
    "aarch64": {
        "one size lacks a byte": ("cmp x2, #259; b.ne 1f; sub x2, x2, #1; 1:", "259 bytes"),
        "a move begins at the wrong end": (
            *("cmp x2, #200; b.lo 1f; ldrb w9, [x1]; strb w9, [x0]; 1:", "byte"),
        ),
    },
}


@each(FAULTS)
def test_a_failing_case_is_printed_and_can_be_repeated(tmp_path, arch, case):
    instruction, message = case
    program = faulty(arch, tmp_path, instruction)
    done = run(*arch.on(), program)
    assert done.returncode == 1
    found = re.fullmatch(r"(FAIL faulty_.*)\n +repeat with (--case .*)\n", done.stdout)
    assert found, done.stdout
    assert message in found[1]
    again = run(*arch.on(), program, *found[2].split())
    assert again.returncode == 1
    assert again.stdout == done.stdout


@each()
def test_a_seed_stands_for_its_cases(tmp_path, arch):
    program = faulty(arch, tmp_path, FAULTS[arch.name]["one size lacks a byte"][0])
    outputs = [run(*arch.on(), program, "--seed", seed).stdout for seed in (1, 1, 2)]
    assert outputs[0] == outputs[1] != outputs[2]
