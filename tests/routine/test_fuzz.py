"""Copies at random, of each kind of pipeline and small copy; a case that fails can be repeated.

More cases than the suite has time for: ASTEROPE_FUZZ_SEED=2 ASTEROPE_FUZZ_COUNT=10000000
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from asterope.spaces.x86_64.pipelines import Tuple
from asterope.spaces.x86_64.small_copies import SmallTuple
from copy_programs import (
    REPOSITORY,
    build_with_routines,
    failures,
    render,
    render_every_kind,
    run,
    with_instruction,
)

SEED = os.environ.get("ASTEROPE_FUZZ_SEED", "1")
COUNT = os.environ.get("ASTEROPE_FUZZ_COUNT", "50000")


def test_random_copies_are_right(tmp_path):
    routines = dict(render_every_kind(tmp_path))
    for number, machine in enumerate(("opteron-6378", "xeon-gold-5218")):
        profile = REPOSITORY / "generated" / "reference" / f"{machine}.json"
        routines[render(profile, tmp_path, prefix=f"paper{number}")] = (128, 256, 8192, 32768)
    program = build_with_routines(routines, tmp_path, "copy_fuzz")
    done = run(program, "--seed", SEED, "--count", COUNT)
    assert not failures(done.stdout), done.stdout
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ok ") == len(routines) == 20


def faulty(folder: Path, instruction: str) -> Path:
    """copy_fuzz of one routine with an instruction in front of its functions."""
    small = SmallTuple("stepped", "XMM", "up", 256)
    routine = render([(512, Tuple("XMM", "T", "T", "none", 0, 0))], folder, small, "faulty")
    with_instruction(routine, instruction)
    return build_with_routines({routine: (256, 512)}, folder, "copy_fuzz")


# What is wrong with a copy, and what copy_fuzz must find.
FAULTS = {
    "one size lacks a byte": ("cmp $259, %rdx; jne 1f; dec %rdx; 1:", "259 bytes"),
    "a move begins at the wrong end": (
        "cmp $200, %rdx; jb 1f; mov (%rsi), %r8b; mov %r8b, (%rdi); 1:",
        "byte",
    ),
    "it writes behind the end": ("movb $0, (%rdi,%rdx)", "stray write"),
    "it reads in front of the source": ("mov -1(%rsi), %r8b", "died of a fault at source byte -1"),
}


@pytest.mark.parametrize(("instruction", "message"), FAULTS.values(), ids=FAULTS)
def test_a_failing_case_is_printed_and_can_be_repeated(tmp_path, instruction, message):
    program = faulty(tmp_path, instruction)
    done = run(program)
    assert done.returncode == 1
    found = re.fullmatch(r"(FAIL faulty_.*)\n +repeat with (--case .*)\n", done.stdout)
    assert found, done.stdout
    assert message in found[1]
    again = run(program, *found[2].split())
    assert again.returncode == 1
    assert again.stdout == done.stdout


def test_a_seed_stands_for_its_cases(tmp_path):
    program = faulty(tmp_path, "cmp $259, %rdx; jne 1f; dec %rdx; 1:")
    outputs = [run(program, "--seed", seed).stdout for seed in (1, 1, 2)]
    assert outputs[0] == outputs[1] != outputs[2]


def test_a_case_outside_of_the_memory_is_refused(tmp_path):
    program = faulty(tmp_path, "nop")
    assert run(program, "--case", "faulty_memmove", 100, -100, 7).stdout == "ok\n"
    for case in (
        ("faulty_memmove", 100, -101, 7),
        ("faulty_memmove", 0, 4 << 20, 7),
        ("faulty_memmove", 0, 0, 1 << 40),
        ("memmove", 0, 0, 7),
    ):
        assert run(program, "--case", *case).returncode == 2
