"""Copies in two threads at once keep to their own bytes, though they share cache lines: those that
clear lines as well."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from architectures import Architecture, build_with_routines, each, needs_of
from copy_programs import failures, render, run, with_instruction
from routine_examples import RARE

# Of each thread with each routine: with 18 of them 2 s on two CPUs.
ROUNDS = {True: 400_000, False: 20_000}  # by whether it is native


def render_every_kind(arch: Architecture, folder: Path, cpu: str) -> dict[Path, tuple[int]]:
    """Each kind of pipeline that the CPU can run, each above another small copy."""
    has = arch.features_of(cpu)
    winners = [arch.one_of(*kind, n) for n, kind in enumerate(arch.kinds)]
    winners += [t for _, t in RARE[arch.name].get("cleared lines", [])[-1:]]
    smalls = [small for small in arch.small.values() if needs_of(small) <= has]
    return {
        render([(1 << 20, t)], folder, smalls[n * 11 % len(smalls)], f"kind{n}"): (1 << 20,)
        for n, t in enumerate(winners)
        if needs_of(t) <= has
    }


@each(lambda arch: arch.cpus[:2])
def test_concurrent_copies_to_neighbouring_ranges_are_right(tmp_path, arch, case):
    routines = render_every_kind(arch, tmp_path, case)
    program = build_with_routines(arch, routines, tmp_path, "threads_check")
    done = run(*arch.on(case), program, "--rounds", ROUNDS[arch.is_native])
    assert not failures(done.stdout), done.stdout
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ok ") == len(routines) >= 7


# A copy that restores the byte behind its end is right on its own: only a neighbour can tell. The
# wait makes it near certain that one copies in between.
RESTORES_A_NEIGHBOUR = {
    "x86_64": (
        "mov (%rdi,%rdx), %r8b; mov $200, %ecx; 1: pause; dec %ecx; jnz 1b; mov %r8b, (%rdi,%rdx)"
    ),
    "aarch64": (
        "ldrb w9, [x0, x2]; mov w10, #2000; 1: subs w10, w10, #1; b.ne 1b; strb w9, [x0, x2]"
    ),
}


@each()
def test_a_copy_that_writes_back_its_neighbours_byte_is_reported(tmp_path, arch):
    routine = render([(512, arch.plain)], tmp_path, prefix="faulty")
    with_instruction(routine, RESTORES_A_NEIGHBOUR[arch.name])
    program = build_with_routines(arch, {routine: (512,)}, tmp_path, "threads_check")
    done = run(*arch.on(), program, "--rounds", ROUNDS[arch.is_native])
    if done.returncode == 0 and os.cpu_count() == 1:
        pytest.skip("on one CPU the threads may take turns too seldom")
    assert done.returncode == 1
    assert done.stdout.startswith("FAIL faulty: byte 0 of ")
