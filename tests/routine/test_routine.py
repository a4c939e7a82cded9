"""The generated routine copies right: every kind of pipeline, size, offset and overlap."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from architectures import Architecture, build_copy_fuzz, build_dispatch_check, each
from copy_programs import (
    FUNCTIONS,
    Aliased,
    Intervals,
    Memset,
    assert_right,
    copies_taken,
    failures,
    output_of,
    render,
    run,
    with_instruction,
)
from routine_examples import (
    EXTENDED,
    GATED,
    HUGE,
    INTENTS,
    MACHINES,
    RARE,
    every_kind,
    every_set,
    intervals_of,
    profiles_of,
)

SHORT = ("--step", 29, "--other-step", 31, "--largest", 65536)


def copies_of(intervals: Intervals, memset: Memset | None = None, **more: Any) -> list[Any]:
    """All that a routine is made of."""
    sets = [memset.small, *(t for _, t in memset.intervals)] if memset else []
    others = [copy.tuple if isinstance(copy, Aliased) else copy for copy in more.values()]
    return [*(t for _, t in intervals), *others, *sets]


# --- Profiles -------------------------------------------------------------------------------------


def around(intervals: Intervals) -> tuple[str, str]:
    return "--around", ",".join(str(end) for end, _ in intervals if end <= 64 << 20)


def right(arch: Architecture) -> dict[str, tuple[Path | Intervals, dict[str, Any], tuple]]:
    """What is rendered, and routine_check's options: fewer sizes where all is emulated."""
    cases: dict[str, tuple[Path | Intervals, dict[str, Any], tuple]] = {}
    for name, profile in profiles_of(arch).items():
        full = name in MACHINES
        steps = ("--step", 1 if full else 7, "--other-step", 7 if full else 31)
        options = (*steps, "--largest", 64 << 20 if full else 4 << 20)
        ends = around(intervals_of(profile))
        cases[name] = (profile, {}, (*(options if arch.is_native else SHORT), *ends))
    one = [(1 << 20, arch.one_of(arch.plain.rt, "T", "T", 3))]
    for winner in arch.moves:
        options = ("--step", 5 if arch.is_native else 15, "--other-step", 31)
        aliased = {"aliased": Aliased(511, 4096, winner)}
        cases[f"aliasing, {winner.symbol}"] = (one, aliased, (*options, "--around", "512,4096"))
        # at every distance to 130
        options = ("--step", 31, "--other-step", 1, "--last", 300, "--largest", 70000)
        cases[f"overlapping, {winner.symbol}"] = (one, {"overlapping": winner}, options)
    # whole rounds of 2 and 4 interleaved pages, and a little less and more
    rounds = ("--around", "8192,12288,16384,24576,32768,49152")
    options = (*SHORT, "--last", 600, *rounds)
    cases["every extension, around rounds"] = (EXTENDED[arch.name], {}, options)
    for name, profile in RARE[arch.name].items():
        options = (*SHORT, *rounds, "--largest", 64 << 20)
        cases[f"{name}, around rounds and to 64 MiB"] = (profile, {}, options)
    return cases


@each(right)
def test_it_copies_right(tmp_path, objects, arch, case):
    profile, more, options = case
    copies = copies_of(intervals_of(profile), **more)
    alone = len({*copies}) <= 2 or profile in RARE[arch.name].values()
    # where no CPU has all that many copies need, this tests the portable path
    cpu = arch.cpu_for(*copies) if alone else arch.cpu_with(*copies) or arch.cpus[0]
    program = arch.routine_check(render(profile, tmp_path, **more), objects)
    assert_right(*arch.on(cpu), program, *options)


@each(lambda arch: arch.cpus)
def test_it_copies_and_sets_right_on_every_cpu(tmp_path, objects, arch, case):
    """Whatever the CPU lacks of what the profile needs, and however long its vectors are."""
    memset = every_set(arch)
    routine = render(every_kind(arch), tmp_path, GATED[arch.name], memset=memset)
    assert_right(*arch.on(case), arch.routine_check(routine, objects), *SHORT, sets=True)


# Of one size the last byte is left out.
LACKS_A_BYTE = {
    "x86_64": "cmp $259, %rdx; jne 1f; dec %rdx; 1:",
    "aarch64": "cmp x2, #259; b.ne 1f; sub x2, x2, #1; 1:",
}


@each()
def test_a_fault_of_one_size_is_reported(tmp_path, objects, arch):
    """By both programs that check routines; test_candidates has more that they would find."""
    small = next(small for small in arch.small.values() if small.bound == 256 and not small.needs)
    routine = render([(512, arch.plain)], tmp_path, small)
    with_instruction(routine, LACKS_A_BYTE[arch.name])
    check = (arch.routine_check(routine, objects), *SHORT)
    fuzz = (build_copy_fuzz(arch, {routine: (256, 512)}, tmp_path),)
    for command, functions in ((check, FUNCTIONS), (fuzz, ["asterope_"])):
        done = run(*arch.on(), *command)
        assert done.returncode == 1
        for function, line in itertools.zip_longest(functions, failures(done.stdout)):
            assert re.match(rf"FAIL {function}.*\(259 bytes, ", line), line


# --- Memset ---------------------------------------------------------------------------------------


def masked(arch: Architecture) -> dict[str, Any]:
    """Small copies and small sets that would reach into another page."""
    kinds = (("memcpy", arch.small), ("memset", arch.small_set))
    return {
        f"{name} {small.name}": (name, small)
        for name, all_of_kind in kinds
        for small in all_of_kind.values()
        if getattr(small, "masked_bytes", 0)
    }


@each(masked)
def test_a_mask_reaches_into_no_other_page(tmp_path, arch, case):
    kind, small = case
    sets, emulator = kind == "memset", arch.on(arch.cpu_for(small))
    memset = Memset([(4096, arch.set_pipelines.PLAIN)], small) if sets else None
    routine = render([(4096, arch.plain)], tmp_path, None if sets else small, memset=memset)
    program = build_dispatch_check(arch, routine)
    # order `down` takes 64 bytes without a mask
    sizes = range(min(small.masked_bytes, 63 if small.order == "down" else 64) + 1)
    last = 4096 - small.masked_bytes  # the last place in a page where the register stays in it
    for function, source, destination in itertools.product(
        ["memset"] if sets else FUNCTIONS,
        [0] if sets else [0, last, last + 1, 4095],
        (128, last, last + 1, 4095),
    ):
        where = (f"asterope_{function}", 8192 + destination - source, sizes)
        taken = copies_taken(program, *where, *emulator, source_at=source)
        untuned = "asterope_set_untuned" if sets else "asterope_untuned"
        expected = [untuned if max(source, destination) > last else "none"] * len(sizes)
        # nothing is copied of 0 bytes: a mask of none is slow, too; a set asks for its place alone
        assert taken == (expected if sets else ["none", *expected[1:]])


# --- Entry points by intent -----------------------------------------------------------------------


@pytest.mark.parametrize("names", [["hot", "cold", "consume"], ["consume"]], ids=" ".join)
@each()
def test_it_copies_right_by_each_intent(tmp_path, objects, arch, names):
    intents = {name: INTENTS[arch.name][name] for name in names}
    routine = render(every_kind(arch), tmp_path, GATED[arch.name], intents=intents)
    program = arch.routine_check(routine, objects)
    done = run(*arch.on(), program, *SHORT, "--around", "512,3000,9000")
    assert failures(done.stdout) == []
    assert done.returncode == 0, done.stderr
    expected = [*FUNCTIONS, *(f"memcpy_{name}" for name in names)]
    assert done.stdout.splitlines() == [f"ok {function}" for function in expected]


@each(slow=False)
def test_intents_share_the_pipelines_and_are_seen_from_outside(tmp_path, arch):
    intents = INTENTS[arch.name]
    winners = [(4096, intents["hot"][0][1]), (1 << 20, intents["cold"][1][1])]
    routine = render(winners, tmp_path, intents=intents)
    output_of(*arch.gcc, "-fPIC", "-shared", "-O2", routine, "-o", tmp_path / "library.so")
    functions = [*FUNCTIONS, *(f"memcpy_{name}" for name in intents)]
    assert arch.exported(tmp_path / "library.so") == {f"asterope_{name}" for name in functions}
    symbols = output_of(arch.nm, tmp_path / "library.so")
    copies = set(re.findall(r" (asterope_copy_\w+)$", symbols, re.MULTILINE))
    tuples = {t for intervals in (winners, *intents.values()) for _, t in intervals}
    assert copies == {f"asterope_copy_{t.symbol}" for t in tuples}


# --- Much memory ----------------------------------------------------------------------------------


def huge_copies(arch: Architecture) -> dict[str, tuple[Intervals, Memset | None]]:
    """Winners of copies, and what sets."""
    near = arch.pipelines.VALUES["pt"][1]
    copies = [arch.pipelines.Tuple(arch.plain.rt, "T", st, near, 4, 8) for st in ("T", "NT")]
    sets = {t.rt: t for t in arch.set_kinds if "zva64" not in t.needs and "clzero" not in t.needs}
    plain = [(4096, arch.plain)]
    return {
        "every interval": (HUGE[arch.name], None),
        **{f"memcpy {t.name}": ([(4096, t)], None) for t in copies},
        **{f"memset {t.name}": (plain, Memset([(4096, t)])) for t in sets.values()},
    }


@pytest.mark.slow
@each(huge_copies, emulated=False)
def test_it_copies_and_sets_more_than_4_gib(tmp_path, objects, arch, case):
    intervals, memset = case
    arch.cpu_for(*copies_of(intervals, memset))
    program = arch.routine_check(render(intervals, tmp_path, memset=memset), objects)
    sizes = (2**31 - 1, 2**31, 2**31 + 1, 2**32 + 12345)
    options = (*SHORT, "--huge", ",".join(map(str, sizes)))
    assert_right(program, *options, sets=bool(memset))
