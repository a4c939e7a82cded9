"""Copies in two threads at once keep to their own bytes, though they share cache lines: those that
clear lines as well."""

from __future__ import annotations

import pytest
from aarch64_programs import (
    COMPILER,
    KINDS,
    PLAIN,
    SMALL_COPIES,
    WITH_SVE,
    WITHOUT_SVE,
    emulated,
    needs_emulator_and_time,
    one_of,
)
from asterope.spaces.aarch64.pipelines import Tuple
from copy_programs import build_with_routines, failures, render, run

pytestmark = needs_emulator_and_time

ROUNDS = 20_000  # of each thread with each routine


@pytest.mark.parametrize("cpu", [WITH_SVE, WITHOUT_SVE])
def test_concurrent_copies_to_neighbouring_ranges_are_right(tmp_path, cpu):
    clearing = Tuple("Q", "T", "T", "none", 0, 0, tb=1, clear="zva")
    winners = [one_of(*kind, n) for n, kind in enumerate(KINDS) if kind[0] != "MOPS"]
    if cpu == WITHOUT_SVE:
        winners = [t for t in winners if not t.needs] + [clearing]
    smalls = [s for s in SMALL_COPIES.values() if cpu == WITH_SVE or not s.needs]
    routines = {}
    for number, t in enumerate(winners):
        small = smalls[number * len(smalls) // len(winners)]
        path = render([(900, t), (1 << 20, PLAIN)], tmp_path, small, f"kind{number}")
        routines[path] = (32, 64, 128, small.bound, 900)
    program = build_with_routines(routines, tmp_path, "threads_check", COMPILER)
    done = run(*emulated(cpu), program, "--rounds", ROUNDS)
    assert not failures(done.stdout), done.stdout
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ok ") == len(routines)


def test_a_copy_that_writes_back_its_neighbours_byte_is_reported(tmp_path):
    """It is right on its own: only a neighbour can tell. The wait makes it near certain that one
    copies in between."""
    routine = render([(512, PLAIN)], tmp_path, prefix="faulty")
    text = routine.read_text(encoding="ascii")
    restores = "ldrb w9, [x0, x2]; mov w10, #2000; 1: subs w10, w10, #1; b.ne 1b; strb w9, [x0, x2]"
    for name in ("memcpy", "memmove"):
        begin = text.index(f'_BEGIN("faulty_{name}"')
        end = text.index("\n", begin)
        text = f'{text[:end]}\n    "{restores}\\n"{text[end:]}'
    routine.write_text(text, encoding="ascii")
    program = build_with_routines({routine: (512,)}, tmp_path, "threads_check", COMPILER)
    done = run(*emulated(), program, "--rounds", ROUNDS)
    assert done.returncode == 1
    assert done.stdout.startswith("FAIL faulty: byte 0 of ")
