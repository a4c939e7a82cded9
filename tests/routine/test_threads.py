"""Copies in two threads at once keep to their own bytes, though they share cache lines."""

from __future__ import annotations

import os

import pytest
from asterope.spaces.x86_64.pipelines import Tuple
from copy_programs import (
    build_with_routines,
    failures,
    render,
    render_every_kind,
    run,
    with_instruction,
)

ROUNDS = 400_000  # of each thread with each of the 18 routines: 2 s on two CPUs


def test_concurrent_copies_to_neighbouring_ranges_are_right(tmp_path):
    routines = render_every_kind(tmp_path)
    program = build_with_routines(routines, tmp_path, "threads_check")
    done = run(program, "--rounds", ROUNDS)
    assert not failures(done.stdout), done.stdout
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ok ") == len(routines) == 18


# A copy that restores the byte behind its end is right on its own: only a neighbour can tell. The
# wait makes it near certain that one copies in between.
RESTORES_A_NEIGHBOUR = (
    "mov (%rdi,%rdx), %r8b; mov $200, %ecx; 1: pause; dec %ecx; jnz 1b; mov %r8b, (%rdi,%rdx)"
)


def test_a_copy_that_writes_back_its_neighbours_byte_is_reported(tmp_path):
    routine = render([(512, Tuple("XMM", "T", "T", "none", 0, 0))], tmp_path, prefix="faulty")
    with_instruction(routine, RESTORES_A_NEIGHBOUR)
    program = build_with_routines({routine: (512,)}, tmp_path, "threads_check")
    done = run(program, "--rounds", ROUNDS)
    if done.returncode == 0 and os.cpu_count() == 1:
        pytest.skip("on one CPU the threads may take turns too seldom")
    assert done.returncode == 1
    assert done.stdout.startswith("FAIL faulty: byte 0 of ")
