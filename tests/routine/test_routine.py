"""The generated routine copies right: every pipeline, size, offset and overlap, and each size takes
the copy that the profile says."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from architectures import Architecture, build_dispatch_check, build_with_routines, each
from copy_programs import (
    CHECKERS,
    FUNCTIONS,
    STRICT_C,
    Aliased,
    Intervals,
    Memset,
    assert_dispatched,
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
    sets_of,
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
    for winner in arch.moves:
        # at every distance to 130
        options = ("--step", 31, "--other-step", 1, "--last", 300, "--largest", 70000)
        cases[f"overlapping, {winner.symbol}"] = (one, {"overlapping": winner}, options)
    # whole rounds of 2 and 4 interleaved pages, and a little less and more
    rounds = ("--around", "8192,12288,16384,24576,32768,49152")
    options = (*SHORT, "--last", 600, *rounds)
    cases["every extension, around rounds"] = (EXTENDED[arch.name], {}, options)
    for name, profile in RARE[arch.name].items():
        cases[f"{name}, around rounds"] = (profile, {}, (*SHORT, *rounds))
        cases[f"{name}, to 64 MiB"] = (profile, {}, (*SHORT, "--largest", 64 << 20))
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
    fuzz = (build_with_routines(arch, {routine: (256, 512)}, tmp_path, "copy_fuzz"),)
    for command, functions in ((check, FUNCTIONS), (fuzz, ["asterope_"])):
        done = run(*arch.on(), *command)
        assert done.returncode == 1
        for function, line in itertools.zip_longest(functions, failures(done.stdout)):
            assert re.match(rf"FAIL {function}.*\(259 bytes, ", line), line


# --- Memset ---------------------------------------------------------------------------------------


@each(sets_of)
def test_it_sets_right(tmp_path, objects, arch, case):
    cpu = arch.cpu_for(*copies_of([], case))
    routine = render([(4096, arch.plain)], tmp_path, memset=case)
    ends = around(case.intervals)
    assert_right(*arch.on(cpu), arch.routine_check(routine, objects), *SHORT, *ends, sets=True)


def masked(kind: str) -> Any:
    """Those that would reach into another page."""
    return lambda arch: {
        name: small
        for name, small in getattr(arch, kind).items()
        if getattr(small, "masked_bytes", 0)
    }


def masked_sizes(small: Any) -> range:
    """Order `down` takes 64 bytes without a mask."""
    return range(min(small.masked_bytes, 63 if small.order == "down" else 64) + 1)


@each(masked("small_set"))
def test_a_masked_store_reaches_into_no_other_page(tmp_path, arch, case):
    memset = Memset([(4096, arch.set_pipelines.PLAIN)], case)
    emulator = arch.on(arch.cpu_for(case))
    program = build_dispatch_check(arch, render([(4096, arch.plain)], tmp_path, memset=memset))
    span, sizes = case.masked_bytes, masked_sizes(case)
    for destination in (0, 4096 - span, 4096 - span + 1, 4095):
        where = ("asterope_memset", 8192 + destination, sizes)
        taken = copies_taken(program, *where, *emulator)
        # a size of 0 is not asked for: the gate is the destination's place alone
        crosses = destination > 4096 - span
        assert taken == ["asterope_set_untuned" if crosses else "none"] * len(sizes)


@each(slow=False)
def test_a_routine_without_memset_has_nothing_of_it(tmp_path, arch):
    text = render(every_kind(arch), tmp_path).read_text(encoding="ascii")
    assert not re.search(r"memset|_set_|SETS", text.replace("clang -O0 calls memset for it", ""))


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


# --- Which copy a size takes ----------------------------------------------------------------------


@each(lambda arch: range(8), one_in=8)
def test_small_copies_are_done_in_line_up_to_their_bound(tmp_path, arch, case):
    word = HUGE[arch.name][0][1]
    intervals = [(200, arch.plain), (1000, word)]
    of_cpu = [s for s in list(arch.small.values())[case::8] if arch.cpu_with(s)]
    routines = [render(intervals, tmp_path, small, small.symbol) for small in of_cpu]
    program = build_dispatch_check(arch, *routines)
    for small in of_cpu:
        sizes, emulator = range(small.bound + 130), arch.on(arch.cpu_with(small))
        assert_dispatched(program, small.symbol, intervals, small, sizes, emulator=emulator)


@each(masked("small"))
def test_a_masked_move_reaches_into_no_other_page(tmp_path, arch, case):
    emulator = arch.on(arch.cpu_for(case))
    program = build_dispatch_check(arch, render([(4096, arch.plain)], tmp_path, case))
    sizes = masked_sizes(case)
    last = 4096 - case.masked_bytes  # the last place in a page where the register stays in it
    for function, source, destination in itertools.product(
        FUNCTIONS, (0, last, last + 1, 4095), (128, last, last + 1, 4095)
    ):
        where = (f"asterope_{function}", 8192 + destination - source, sizes)
        taken = copies_taken(program, *where, *emulator, source_at=source)
        # nothing is copied of 0 bytes: a mask of none is slow, too
        crosses = max(source, destination) > last
        assert taken == ["none", *["asterope_untuned" if crosses else "none"] * (len(sizes) - 1)]


def longest_small_copies(arch: Architecture) -> dict[str, Any]:
    """Those that come nearest to the 512 bytes from which on an aliased copy is right."""
    most = max(small.bound for small in arch.small.values())
    return {name: small for name, small in arch.small.items() if small.bound == most}


@each(longest_small_copies)
def test_aliased_buffers_take_their_copy_from_512_bytes_on(tmp_path, arch, case):
    intervals, aliased = [(1 << 20, arch.plain)], Aliased(511, 4096, arch.moves[0])
    emulator = arch.on(arch.cpu_for(case, aliased.tuple))
    program = build_dispatch_check(arch, render(intervals, tmp_path, case, aliased=aliased))
    sizes = range(100, 5000, 3 if arch.is_native else 111)
    assert_dispatched(program, "asterope", intervals, case, sizes, aliased, emulator=emulator)


@each(lambda arch: [None, *arch.moves])
def test_a_buffer_that_is_moved_onto_itself_is_not_written(tmp_path, arch, case):
    emulator, program = arch.on(arch.cpu_for(case)), tmp_path / "self_move"
    routine = render([(4096, arch.plain)], tmp_path, overlapping=case)
    check = CHECKERS / "self_move_check.c"
    output_of(*arch.gcc, *STRICT_C, "-static", f"-I{tmp_path}", check, routine, "-o", program)
    for size in (129, 256, 4096, 100001):
        assert output_of(*emulator, program, size) == "ok\n"


@each(lambda arch: [None, *arch.moves])
def test_overlapping_buffers_take_the_copy_of_their_direction(tmp_path, arch, case):
    emulator = arch.on(arch.cpu_for(case))
    word = INTENTS[arch.name]["consume"][0][1]
    program = build_dispatch_check(arch, render([(4096, word)], tmp_path, overlapping=case))
    symbol = (case or arch.overlapping_copies.PLAIN).symbol
    for function, size in itertools.product(("memmove", "mempcpy"), (129, 1000, 2**20, 2**33)):
        expected = {
            **{near: f"move_downwards_{symbol}" for near in (1, 64, size // 2, size - 1)},
            **{-near: f"move_upwards_{symbol}" for near in (1, 64, size // 2, size - 1)},
            **{far: f"copy_{word.symbol}" for far in (size, size + 1, -size, -size - 1)},
        }
        for distance, copy in expected.items():
            taken = copies_taken(program, f"asterope_{function}", distance, [size], *emulator)
            assert taken == [f"asterope_{copy}"], (function, distance, size)
