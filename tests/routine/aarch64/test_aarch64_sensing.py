"""Copies of AArch64 that find out where the data is: probes, branches, and when the routine does
without.

No test depends on the clock: where it matters which way a probe goes, its time stamps come from a
ring. The emulator's counter may stand still for the length of a probe, so even 0 is no threshold
that decides for them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from aarch64_programs import (
    CLANG,
    COMPILER,
    PLAIN,
    cross_compiled,
    emulated,
    needs_emulator_and_time,
)
from asterope.render import render_candidates
from asterope.spaces.aarch64.pipelines import Tuple
from asterope.spaces.probes import (
    MAXIMUM_THRESHOLD,
    PROBES,
    Probe,
    SensingCopy,
)
from copy_programs import (
    FUNCTIONS,
    REPOSITORY,
    STRICT_C,
    assert_right,
    build_dispatch_check,
    build_routine_check,
    need,
    output_of,
    render,
    run,
)

pytestmark = needs_emulator_and_time

HOT = Tuple("X", "T", "T", "L1KEEP", 2, 4)
COLD = Tuple("Q", "T", "NT", "L1KEEP", 4, 8)
FETCH = Tuple("SVE", "T", "T", "none", 0, 0)
BY_NAME = {probe.name: probe for probe in PROBES}


def sensing_by(probe: Probe, threshold: int) -> SensingCopy:
    return SensingCopy(probe, threshold, HOT, COLD, FETCH if probe.kind == "each" else None)


# Plain up to 4 KiB, then always cold, always hot, and plain again.
INTERVALS = [(4096, PLAIN), (16384, PLAIN), (65536, PLAIN), (1 << 20, COLD)]


def sensing_with(probe: Probe) -> dict[int, SensingCopy]:
    return {16384: sensing_by(probe, 0), 65536: sensing_by(probe, MAXIMUM_THRESHOLD)}


def with_clock(text: str, clock: str) -> str:
    """C with probes that take their time stamps from the ring that `clock` points into."""
    next_stamp = (
        rf"adrp x16, {clock}; ldr x17, [x16, :lo12:{clock}]; ldr w\1, [x17]; "
        rf"ldr x17, [x17, #8]; str x17, [x16, :lo12:{clock}]"
    )
    text, count = re.subn(r"mrs x(\d+), cntvct_el0", next_stamp, text)
    assert count >= 2
    return text


# --- The candidates -------------------------------------------------------------------------------


FIRST_PROBE = 'ASTEROPE_CANDIDATE_BEGIN("asterope_sense_'


def candidates_with(before: str = "", after: str = "") -> str:
    """The candidates without pipelines, each sensing copy with a change of its text."""
    head, *probes = render_candidates("aarch64", variants=()).split(FIRST_PROBE)
    assert sum(before in probe for probe in probes) >= len(PROBES) / 2
    changed = [probe.replace(before, after, 1) if before else probe for probe in probes]
    # Arrays of nothing are no C, and without pipelines one table is empty.
    text = re.sub(r"(variants_of_copies\[)\] = \{\s*\};\n", r"\g<1>1];\n", head)
    return FIRST_PROBE.join([text, *changed])


def sensing_check(
    folder: Path, aarch64_objects: Path, *change: str, check: str = "sensing_check"
) -> Path:
    source, program = folder / "candidates.c", folder / check
    text = "extern void *sensing_clock;\n" + with_clock(candidates_with(*change), "sensing_clock")
    source.write_text(text, encoding="ascii")
    checkers = [cross_compiled(aarch64_objects, name) for name in (check, "copy_check")]
    flags = (*STRICT_C, f"-I{REPOSITORY / 'tuner'}", "-static", "-pthread")
    output_of(COMPILER, *flags, source, *checkers, "-o", program)
    return program


def readings_of(probe: Probe, lines: list[str]) -> list[tuple[list[int], list[int]]]:
    """The pages that each reading touched: of the source, and of the destination."""
    prefix = f"pages {probe.name}:"
    sides = [line[len(prefix) :].split("|") for line in lines if line.startswith(prefix)]
    return [([*map(int, a.split())], [*map(int, b.split())]) for a, b in sides]


def test_every_sensing_copy_copies_right_and_looks_where_it_should(tmp_path, aarch64_objects):
    """At a new place each time, in the middle of its stretches."""
    done = run(*emulated(), sensing_check(tmp_path, aarch64_objects))
    lines = done.stdout.splitlines()
    wrong = [line for line in lines if line.startswith("FAIL")]
    assert not wrong, "\n".join(wrong)
    assert done.returncode == 0, done.stderr
    assert [line for line in lines if line.startswith("ok ")] == [f"ok {p.name}" for p in PROBES]
    for probe in PROBES:
        readings = readings_of(probe, lines)
        assert len(readings) == 32
        length = 64 // probe.lines
        for source, destination in readings:
            assert [page // length for page in source] == [*range(probe.lines)]
            assert len({page % length for page in source}) == 1
            assert length // 4 <= source[0] < 3 * length // 4
            assert destination == ([] if probe.kind == "source" else source)
        assert len({source[0] for source, _ in readings}) > 1, probe.name


def in_front(instruction: str) -> tuple[str, str]:
    return "mov x4, x3", f"{instruction}; mov x4, x3"


# A change of all sensing copies, the probe whose copy shows it, and what sensing_check must say.
FAULTS = {
    "it reads a byte too far": (
        *(in_front("ldrb w9, [x1, x2]"), "source 2"),
        "died of a fault at source byte 4096",
    ),
    "it writes a byte too far": (
        *(in_front("mov w9, #1; strb w9, [x0, x2]"), "source 2"),
        "stray write",
    ),
    "it copies too little": (in_front("sub x2, x2, #1"), "source 2", "byte 4095 is"),
    "it changes x20": (in_front("mov x20, #5"), "source 2", "changed x20"),
    "it never believes its probe": (("b.hi 2f", "b 2f"), "source 2", "went on wrongly with c"),
    "it always believes its probe": (("b.hi 2f", "nop"), "source 2", "went on wrongly with h"),
    "it never fetches": (("b.hi 3f", "b 3f"), "each 2", "went on wrongly with c"),
    "it always fetches": (("b.hi 3f", "nop"), "each 2", "went on wrongly with f"),
    "it hands on the other distance": (("[x4, #48]", "[x4, #32]"), "each 2", "went on wrongly"),
    "it times the source, too": (
        ("sub x12, x12, x13", "sub x12, x12, x9"),
        *("each 2", "went on wrongly"),
    ),
    "it compares more than 32 bits": (("cmp w12, w15", "cmp x12, x15"), "source 2", "went on wr"),
}


@pytest.mark.parametrize(("change", "probe", "message"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_sensing_copy_is_reported(tmp_path, aarch64_objects, change, probe, message):
    done = run(*emulated(), sensing_check(tmp_path, aarch64_objects, *change))
    assert done.returncode == 1
    assert re.search(rf"^FAIL {probe}: .*{message}", done.stdout, re.MULTILINE), done.stdout


# --- The routine ----------------------------------------------------------------------------------


FREQUENCY = '__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));'


# Time stamps for the probes of a routine: in C, a ring, and where it begins.
RING = """
struct time_stamp {{ unsigned ticks; struct time_stamp *next; }};
static struct time_stamp ring[] = {{ {stamps} }};
extern struct time_stamp *routine_clock;
__attribute__((used)) struct time_stamp *routine_clock = ring;
"""
# Each is as far behind the one before: no probe takes 0 ticks, or 4294967295.
STEADY = RING.format(stamps=", ".join(f"{{{i}u << 30, &ring[{(i + 1) % 4}]}}" for i in range(4)))


def with_counter(
    routine: Path, hertz: int = 1_000_000_000, ticks: int = 20, clock: str = STEADY
) -> Path:
    """The routine on a machine whose counter runs so fast, with readings so many ticks apart: the
    emulator's runs too slow for any probe. `clock`: a RING, or nothing for the emulator's."""
    text = routine.read_text(encoding="ascii")
    compared = "if (to - from < least)"
    assert text.count(FREQUENCY) == text.count(compared) == 1
    text = text.replace(FREQUENCY, f"frequency = {hertz};")
    text = text.replace(compared, f"to = from + {ticks};\n        {compared}")
    if clock:
        text = with_clock(text, "routine_clock") + clock
    routine.write_text(text, encoding="ascii")
    return routine


def dispatching(routine: Path, *flags: str) -> Path:
    return build_dispatch_check(routine, flags=["-static", *flags], compiler=COMPILER)


def pipelines_taken(
    program: Path, sizes: Sequence[int] = (4000, 4097, 16384, 16385, 65536)
) -> list[str]:
    """The pipelines that go on at these sizes, by default those of INTERVALS, behind the probes."""
    taken = []
    for function in FUNCTIONS:
        command = (program, "--past-sensing", f"asterope_{function}", 65536, *sizes)
        taken.append(output_of(*emulated(), *command).split())
    assert taken[0] == taken[1] == taken[2]
    return [name.replace("asterope_copy_", "") for name in taken[0]]


SENSED = [t.symbol for t in (PLAIN, COLD, COLD, HOT, HOT)]
UNSENSED = [PLAIN.symbol] * 5


@pytest.mark.parametrize("name", BY_NAME)
def test_it_copies_right_with_each_probe(tmp_path, aarch64_objects, name):
    routine = render(INTERVALS, tmp_path, sensing=sensing_with(BY_NAME[name]))
    routine = with_counter(routine, clock="")
    flags = (*STRICT_C, "-O2")
    program = build_routine_check(routine, aarch64_objects, COMPILER, flags, checkers_by=COMPILER)
    options = ("--step", 31, "--other-step", 31, "--last", 300)
    ends = ("--around", "4096,16384,65536", "--largest", 200000)
    assert_right(*emulated(), program, *options, *ends)


@pytest.mark.parametrize("name", BY_NAME)
def test_ticks_above_the_threshold_mean_cold_and_others_hot(tmp_path, name):
    routine = render(INTERVALS, tmp_path, sensing=sensing_with(BY_NAME[name]))
    assert pipelines_taken(dispatching(with_counter(routine))) == SENSED


# Three time stamps, or two where a probe reads no more.
TOLD = RING.format(
    stamps="{START, &ring[1]}, {START + SOURCE, &ring[SECOND]}, "
    "{START + SOURCE + DESTINATION, ring}"
)


@pytest.mark.parametrize(
    ("source", "destination", "way"),
    [
        *[(200, 900, HOT), (201, 200, FETCH), (201, 201, COLD)],
        *[(20, 20, HOT), (900, 20, FETCH), (900, 900, COLD)],
    ],
)
@pytest.mark.parametrize("name", ["source 2", "each 4"])
@pytest.mark.parametrize("threshold", [200, 70000])  # one that takes one instruction, and two
def test_each_side_s_ticks_choose_the_pipeline(tmp_path, name, source, destination, way, threshold):
    probe = BY_NAME[name]
    source, destination = (n - 200 + threshold for n in (source, destination))
    sensing = {end: sensing_by(probe, threshold) for end in (16384, 65536)}
    routine = with_counter(render(INTERVALS, tmp_path, sensing=sensing), clock=TOLD)
    values = {"START": "0xFFFFFF80u", "SOURCE": f"{source}u", "DESTINATION": f"{destination}u"}
    looks_at_destination = probe.kind == "each" and source > threshold
    values["SECOND"] = "2" if looks_at_destination else "0"
    program = dispatching(routine, *(f"-D{key}={value}" for key, value in values.items()))
    sensed = COLD if way == FETCH and probe.kind == "source" else way
    assert pipelines_taken(program) == [PLAIN.symbol] + 4 * [sensed.symbol]


@pytest.mark.parametrize(
    ("hertz", "ticks", "expected"),
    [
        (1_000_000_000, 20, SENSED),
        (1_000_000_000, 250, SENSED),
        (1_000_000_000, 251, UNSENSED),  # something traps it
        (250_000_000, 1, SENSED),
        (249_999_999, 1, UNSENSED),  # a probe of cached memory takes no more than its ticks
        (62_500_000, 1, UNSENSED),
        (24_000_000, 0, UNSENSED),
    ],
)
def test_where_the_counter_is_of_no_use_the_winner_is_taken(tmp_path, hertz, ticks, expected):
    routine = render(INTERVALS, tmp_path, sensing=sensing_with(PROBES[1]))
    assert pipelines_taken(dispatching(with_counter(routine, hertz, ticks))) == expected


def test_a_process_that_may_not_read_the_counter_does_not(tmp_path):
    """As the kernel answers prctl; the emulator's always allows it."""
    routine = with_counter(render(INTERVALS, tmp_path, sensing=sensing_with(PROBES[1])))
    text = routine.read_text(encoding="ascii")
    asked = "if (result == 0 && mode != 1) return 0;"
    assert text.count(asked) == 1
    for result, mode, expected in ((0, 2, UNSENSED), (0, 1, SENSED), (-22, 2, SENSED)):
        told = text.replace(asked, f"result = {result}; mode = {mode}; {asked}")
        routine.write_text(told, encoding="ascii")
        assert pipelines_taken(dispatching(routine)) == expected, (result, mode)


@pytest.mark.parametrize("compiler", [(COMPILER,), CLANG], ids=lambda c: c[0])
def test_it_calls_nothing(tmp_path, compiler):
    need(compiler[0])
    for name in BY_NAME:
        routine = render(INTERVALS, tmp_path, None, "asterope", None, sensing_with(BY_NAME[name]))
        target = tmp_path / "routine.o"
        output_of(*compiler, *STRICT_C, "-O2", "-c", routine, "-o", target)
        undefined = output_of("aarch64-linux-gnu-nm", "-u", target).split()
        assert set(undefined) <= {"U", "getauxval"}, name
