"""Copies that find out where the data is: probes, branches, and when the routine does without.

No test depends on the clock: probes get their time stamps from a ring, or on x86-64 a threshold
that decides for them, as no number of ticks is above 4294967295, and each is above 0. An emulator's
counter may stand still for the length of a probe, so there even 0 is no such threshold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from architectures import AARCH64, X86_64, Architecture, build_dispatch_check, each
from asterope.profile import load_profile
from asterope.render import render_candidates, render_routine
from asterope.spaces.probes import MAXIMUM_THRESHOLD, PROBES, Probe, SensingCopy
from copy_programs import (
    CHECKERS,
    FUNCTIONS,
    REPOSITORY,
    STRICT_C,
    assert_dispatched,
    assert_right,
    copies_taken,
    cpu_features,
    need,
    output_of,
    render,
    run,
)
from disassembly import disassemble
from profile_samples import good_profile
from sampling import sampled

BY_NAME = {probe.name: probe for probe in PROBES}
X, A = X86_64.pipelines.Tuple, AARCH64.pipelines.Tuple
WINNER = X("XMM", "T", "T", "none", 0, 0)
HOT, COLD = X("R64", "T", "T", "T0", 2, 4), X("MM", "T", "NT", "T0", 4, 8)
# The winner, and what goes on where data is hot, cold, or to be fetched.
WAYS = {
    "x86_64": (WINNER, HOT, COLD, X("REP_MOVSB", "T", "T", "none", 0, 0)),
    "aarch64": (
        *(AARCH64.plain, A("X", "T", "T", "L1KEEP", 2, 4), A("Q", "T", "NT", "L1KEEP", 4, 8)),
        A("SVE", "T", "T", "none", 0, 0),
    ),
}
HOT_WAY, COLD_WAY, FETCH_WAY = 1, 2, 3  # of these
of_x86_64 = each(lambda arch: [0] if arch is X86_64 else [])


def sensing_by(probe: Probe, threshold: int, arch: Architecture = X86_64) -> SensingCopy:
    _, hot, cold, fetch = WAYS[arch.name]
    return SensingCopy(probe, threshold, hot, cold, fetch if probe.kind == "each" else None)


def intervals_of(arch: Architecture) -> list[tuple[int, Any]]:
    """Plain up to 4 KiB, then always cold, always hot, and plain again."""
    winner, _, cold, _ = WAYS[arch.name]
    return [(4096, winner), (16384, winner), (65536, winner), (1 << 20, cold)]


def sensing_with(probe: Probe, arch: Architecture = X86_64) -> dict[int, SensingCopy]:
    return {
        16384: sensing_by(probe, 0, arch),
        65536: sensing_by(probe, MAXIMUM_THRESHOLD, arch),
    }


INTERVALS, SENSING = intervals_of(X86_64), sensing_with(PROBES[1])


def need_counter(arch: Architecture) -> None:
    """Skips where there is no time stamp counter as sensing copies need it."""
    if arch is X86_64 and not {"constant_tsc", "nonstop_tsc"} <= cpu_features():
        pytest.skip("this CPU has no invariant time stamp counter")


# What reads the counter, and what takes the next time stamp of the ring that {0} points into.
READ = {"x86_64": re.escape('"rdtsc\\n"'), "aarch64": r"mrs x(\d+), cntvct_el0"}
NEXT_STAMP = {
    "x86_64": (
        r'"mov {0}(%rip), %rdx; mov (%rdx), %eax; mov 8(%rdx), %rdx; mov %rdx, {0}(%rip)\\n"'
    ),
    "aarch64": (
        r"adrp x16, {0}; ldr x17, [x16, :lo12:{0}]; ldr w\1, [x17]; "
        r"ldr x17, [x17, #8]; str x17, [x16, :lo12:{0}]"
    ),
}


def with_clock(arch: Architecture, text: str, clock: str) -> str:
    """C with probes that take their time stamps from a ring."""
    text, count = re.subn(READ[arch.name], NEXT_STAMP[arch.name].format(clock), text)
    assert count >= 2
    return text


# --- The candidates -------------------------------------------------------------------------------


FIRST_PROBE = {
    "x86_64": "\nvoid asterope_sense_",
    "aarch64": 'ASTEROPE_CANDIDATE_BEGIN("asterope_sense_',
}


def candidates_with(arch: Architecture, before: str = "", after: str = "") -> str:
    """The candidates, of the pipelines a plain one, each sensing copy with a change of its text."""
    first = FIRST_PROBE[arch.name]
    head, *probes = render_candidates(arch.name, variants=[arch.plain.variant]).split(first)
    assert sum(before in probe for probe in probes) >= len(PROBES) / 2
    times = -1 if arch is X86_64 else 1
    changed = [probe.replace(before, after, times) if before else probe for probe in probes]
    return first.join([head, *changed])


def sensing_check(arch: Architecture, folder: Path, objects: Path, *change: str) -> Path:
    source, program = folder / "candidates.c", folder / "sensing_check"
    text = with_clock(arch, candidates_with(arch, *change), "sensing_clock")
    source.write_text(f"extern void *sensing_clock;\n{text}", encoding="ascii")
    harness = [arch.compiled(objects, name) for name in ("sensing_check", "copy_check")]
    flags = (*STRICT_C, "-O2", f"-I{REPOSITORY / 'tuner'}", "-static", "-pthread")
    output_of(*arch.gcc, *flags, source, *harness, "-o", program)
    return program


def readings_of(probe: Probe, lines: list[str]) -> list[tuple[list[int], list[int]]]:
    """The pages that each reading touched: of the source, and of the destination."""
    prefix = f"pages {probe.name}:"
    sides = [line[len(prefix) :].split("|") for line in lines if line.startswith(prefix)]
    return [([*map(int, a.split())], [*map(int, b.split())]) for a, b in sides]


@each()
def test_every_sensing_copy_copies_right_and_looks_where_it_should(tmp_path, objects, arch):
    """At a new place each time, in the middle of its stretches."""
    done = run(*arch.on(), sensing_check(arch, tmp_path, objects))
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


WRONGLY, MORE = "went on wrongly", "reading the ticks changed more"
# A change of all sensing copies, the probe whose copy shows it, and what sensing_check must say:
# test_candidates has the faults that are any copy's.
FAULTS = {
    "x86_64": {
        "it is always cold": (("ja 2f", "jmp 2f"), "source 2", f"{WRONGLY} with c"),
        "it is never cold": (("ja 2f", ""), "source 2", f"{WRONGLY} with h"),
        "it has the threshold the other way": (("ja 2f", "jbe 2f"), "source 2", WRONGLY),
        "it hands on the other distance": (("mov 16(%rcx)", "mov 32(%rcx)"), "source 2", WRONGLY),
        "it times nothing": (("sub %r10d, %eax", ""), "source 2", WRONGLY),
        # those that look at the destination
        "it never fetches": (("jbe 4f", ""), "each 2", f"{WRONGLY} with c"),
        "it always fetches": (("jbe 3f", ""), "each 2", f"{WRONGLY} with f"),
        "it is cold on untouched pages": (("jbe 3f", "jmp 3f"), "each 2", f"{WRONGLY} with c"),
        "it hands on fetch's distance": (("mov 48(%rcx)", "mov 32(%rcx)"), "each 2", WRONGLY),
        "it times the source, too": (("mov %eax, %r10d", ""), "each 2", WRONGLY),
        "it writes something else": (
            *(("mov %al, (%rdi,%r11)", "movb $77, (%rdi,%r11)"), "each 2", MORE),
        ),
        "it writes to another place": (
            *(("mov %al, (%rdi,%r11)", "mov %al, 1(%rdi,%r11)"), "each 2", MORE),
        ),
    },
    "aarch64": {
        "it never believes its probe": (("b.hi 2f", "b 2f"), "source 2", f"{WRONGLY} with c"),
        "it always believes its probe": (("b.hi 2f", "nop"), "source 2", f"{WRONGLY} with h"),
        "it never fetches": (("b.ls 4f", "nop"), "each 2", f"{WRONGLY} with c"),
        "it always fetches": (("b.ls 3f", "nop"), "each 2", f"{WRONGLY} with f"),
        "it is cold on untouched pages": (("b.ls 3f", "b 3f"), "each 2", f"{WRONGLY} with c"),
        "it hands on the other distance": (("[x4, #48]", "[x4, #32]"), "each 2", WRONGLY),
        "it times the source, too": (
            *(("sub x12, x12, x13", "sub x12, x12, x9"), "each 2", WRONGLY),
        ),
        "it compares more than 32 bits": (("cmp w12, w15", "cmp x12, x15"), "source 2", WRONGLY),
    },
}


@each(FAULTS)
def test_a_faulty_sensing_copy_is_reported(tmp_path, objects, arch, case):
    change, probe, message = case
    done = run(*arch.on(), sensing_check(arch, tmp_path, objects, *change))
    assert done.returncode == 1
    assert re.search(rf"^FAIL {probe}: .*{message}", done.stdout, re.MULTILINE), done.stdout


# --- What is timed is what ships ------------------------------------------------------------------


def looks(body: list[str]) -> list[list[str]]:
    """What a probe does, one list a side that it looks at.

    A look begins where the call is put aside, or behind the last comparison, and ends in the
    difference of two time stamps. In between, a candidate fetches its argument, a routine's copy
    jumps, and a reader of ticks puts them aside.
    """
    ends = [i for i, text in enumerate(body) if re.fullmatch(r"sub %\w+,%eax", text)]
    starts = [body.index("mov %rax,%r8")]
    starts += [max(i for i in range(e) if body[i] == "mov %r9,%rcx") for e in ends[1:]]
    return [body[start : end + 1] for start, end in zip(starts, ends)]


def goes_on_with(body: list[str]) -> list[list[str]]:
    """The moves that put the registers right for a pipeline, behind each comparison."""
    at = [i for i, text in enumerate(body) if text == "mov %r8,%rax"]
    return [body[i : i + 2] for i in at]


@pytest.mark.parametrize("compiler", sampled(["gcc -O0", "gcc -O2", "clang -O2"], 3))
def test_every_probe_is_what_was_timed(tmp_path, compiler):
    """And differs from the others: were they all the same, this would see no difference."""
    compiler = compiler.split()
    need("objdump", compiler[0])
    source, target = tmp_path / "candidates.c", tmp_path / "candidates.o"
    source.write_text(candidates_with(X86_64), encoding="ascii")
    output_of(*compiler, f"-I{REPOSITORY / 'tuner'}", "-c", source, "-o", target)
    candidates, readers = disassemble(target), set()
    for probe in PROBES:
        routine = render(INTERVALS, tmp_path, prefix=probe.symbol, sensing=sensing_with(probe))
        target = tmp_path / "routine.o"
        output_of(*compiler, "-c", routine, "-o", target)
        functions = disassemble(target)
        body = candidates[f"asterope_sense_{probe.symbol}"].instructions
        timed, puts_right = looks(body), goes_on_with(body)
        assert len(timed) == len(puts_right) == (2 if probe.kind == "each" else 1)
        assert min(len(look) for look in timed) > 8
        for number in (1, 2):
            shipped = functions[f"{probe.symbol}_sense_{number}"]
            assert looks(shipped.instructions) == timed, probe.name
            assert goes_on_with(shipped.instructions) == puts_right, probe.name
            assert shipped.address % 64 == 0
        reader = candidates[f"asterope_ticks_{probe.symbol}"].instructions
        assert reader[-1] == "ret"
        assert looks(reader) == timed, probe.name
        readers.add(tuple(reader))
    assert len(readers) == len(PROBES)


# --- The routine ----------------------------------------------------------------------------------


# Time stamps for the probes of a routine: in C, a ring, and where it begins.
RING = """
struct time_stamp {{ unsigned ticks; struct time_stamp *next; }};
static struct time_stamp ring[] = {{ {stamps} }};
extern struct time_stamp *routine_clock;
__attribute__((used)) struct time_stamp *routine_clock = ring;
"""
# Each is as far behind the one before: no probe takes 0 ticks, or more than MAXIMUM_THRESHOLD.
STEADY = RING.format(stamps=", ".join(f"{{{i}u << 28, &ring[{(i + 1) % 16}]}}" for i in range(16)))
# Three time stamps, or two where a probe reads no more.
TOLD = RING.format(
    stamps="{START, &ring[1]}, {START + SOURCE, &ring[SECOND]}, "
    "{START + SOURCE + DESTINATION, ring}"
)
FREQUENCY = '__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));'


def with_counter(
    arch: Architecture, routine: Path, clock: str = "", hertz: int = 1_000_000_000, ticks: int = 20
) -> Path:
    """The routine with time stamps of a RING, if it is given. On AArch64 it also finds a counter
    that runs so fast, with readings so many ticks apart: the emulator's runs too slow for any
    probe."""
    text = routine.read_text(encoding="ascii")
    if arch is AARCH64:
        compared = "if (to - from < least)"
        assert text.count(FREQUENCY) == text.count(compared) == 1
        text = text.replace(FREQUENCY, f"frequency = {hertz};")
        text = text.replace(compared, f"to = from + {ticks};\n        {compared}")
    if clock:
        text = with_clock(arch, text, "routine_clock") + clock
    routine.write_text(text, encoding="ascii")
    return routine


def pipelines_taken(
    arch: Architecture, program: Path, sizes: Sequence[int] = (4000, 4097, 16384, 16385, 65536)
) -> list[str]:
    """The pipelines that go on at these sizes, by default those of the intervals, behind the
    probes."""
    taken = []
    for function in FUNCTIONS:
        command = (program, "--past-sensing", f"asterope_{function}", 65536, *sizes)
        taken.append(output_of(*arch.on(), *command).split())
    assert taken[0] == taken[1] == taken[2]
    return [name.replace("asterope_copy_", "") for name in taken[0]]


def sensed(arch: Architecture) -> list[str]:
    winner, hot, cold, _ = WAYS[arch.name]
    return [t.symbol for t in (winner, cold, cold, hot, hot)]


def unsensed(arch: Architecture) -> list[str]:
    return [WAYS[arch.name][0].symbol] * 5


SHORT = ("--step", 31, "--other-step", 31, "--last", 300)
ENDS = ("--around", "4096,16384,65536", "--largest", 200000)
OTHERS = ("--step", 31, "--other-step", 31, "--last", 200, "--largest", 32768, "--around", 4096)


@each({name: BY_NAME for name in WAYS})
def test_it_copies_right_with_each_probe(tmp_path, objects, arch, case):
    routine = render(intervals_of(arch), tmp_path, sensing=sensing_with(case, arch))
    program = arch.routine_check(with_counter(arch, routine), objects)
    assert_right(*arch.on(), program, *SHORT, *ENDS)


SIDES = [
    *[(200, 900, HOT_WAY), (201, 200, FETCH_WAY), (201, 201, COLD_WAY)],
    *[(20, 20, HOT_WAY), (900, 20, FETCH_WAY), (900, 900, COLD_WAY)],
]


@pytest.mark.parametrize(("source", "destination", "way"), SIDES)
@pytest.mark.parametrize("threshold", [200, 70000])  # on AArch64 one instruction, and two
@each(lambda arch: {name: BY_NAME[name] for name in ("source 2", "each 4")})
def test_each_side_s_ticks_choose_the_pipeline(
    tmp_path, arch, case, threshold, source, destination, way
):
    need_counter(arch)
    source, destination = (n - 200 + threshold for n in (source, destination))
    sensing = {end: sensing_by(case, threshold, arch) for end in (16384, 65536)}
    routine = with_counter(arch, render(intervals_of(arch), tmp_path, sensing=sensing), TOLD)
    values = {"START": "0xFFFFFF80u", "SOURCE": f"{source}u", "DESTINATION": f"{destination}u"}
    looks_at_destination = case.kind == "each" and source > threshold
    values["SECOND"] = "2" if looks_at_destination else "0"
    flags = [f"-D{key}={value}" for key, value in values.items()]
    program = build_dispatch_check(arch, routine, flags=flags)
    taken = WAYS[arch.name][COLD_WAY if way == FETCH_WAY and case.kind == "source" else way]
    expected = [WAYS[arch.name][0].symbol, *[taken.symbol] * 4]
    assert pipelines_taken(arch, program) == expected


@of_x86_64
def test_intervals_that_sense_alike_share_one_probe(tmp_path, arch, case):
    """Also where other pipelines stand in for them without a counter, and not side by side."""
    need_counter(arch)
    winners = [(4096, WINNER), (8192, WINNER), (16384, COLD), (32768, HOT), (65536, WINNER)]
    alike = sensing_by(PROBES[0], 0)
    sensing = {8192: alike, 16384: alike, 32768: sensing_by(PROBES[0], 1), 65536: alike}
    routine = render(winners, tmp_path, sensing=sensing)
    text = routine.read_text(encoding="ascii")
    assert len(re.findall(r"^void asterope_sense_", text, re.M)) == 3
    assert text.count("loads from the source, at one place") == 2
    sizes = [4096, 4097, 8193, 16385, 32769, 65536]
    program, small = build_dispatch_check(arch, routine), arch.small_copies.PLAIN
    assert_dispatched(program, "asterope", winners, small, sizes, sensing=sensing)
    expected = [t.symbol for t in (WINNER, COLD, COLD, COLD, COLD, COLD)]
    assert pipelines_taken(arch, program, sizes) == expected
    routine.write_text(text.replace("_sensing_from = 0;", "_sensing_from = (size_t)-1;"))
    expected = [t.symbol for t in (WINNER, WINNER, COLD, HOT, WINNER, WINNER)]
    assert pipelines_taken(arch, build_dispatch_check(arch, routine), sizes) == expected


def test_neighbours_are_one_only_where_winner_and_sensing_are_equal(tmp_path):
    def senses(sensing: dict[int, SensingCopy], *winners: Any) -> tuple[int, int]:
        """How many copies sense, and how often the size is compared on the way to them."""
        intervals = [(4096, WINNER), *zip((8192, 16384, 32768), winners)]
        text = render(intervals, tmp_path, sensing=sensing).read_text(encoding="ascii")
        ladder = text[text.index("asterope_memcpy(") :].split("\n}\n")[0]
        return len(re.findall(r"^void asterope_sense_", text, re.M)), ladder.count("jbe asterope_")

    same = [WINNER] * 3
    cold, hot = SENSING[16384], SENSING[65536]
    assert senses({}, *same) == (0, 0)
    assert senses({8192: cold, 16384: cold, 32768: cold}, *same) == (1, 1)
    assert senses({8192: cold, 16384: hot, 32768: cold}, *same) == (2, 3)
    assert senses({8192: cold, 16384: cold, 32768: cold}, WINNER, HOT, WINNER) == (2, 3)
    assert senses({8192: cold, 32768: cold}, *same) == (1, 3)


@pytest.mark.parametrize("name", BY_NAME)
@of_x86_64
def test_a_fresh_destination_takes_no_more_page_faults_than_libc(tmp_path, arch, case, name):
    """Who looks at a page that nobody has touched gets the page of zeros, and with the first store
    a fault once more."""
    need_counter(arch)
    routine = render(INTERVALS, tmp_path, sensing=sensing_with(BY_NAME[name]))
    program, source = tmp_path / "fresh_check", CHECKERS / "fresh_check.c"
    output_of("gcc", *STRICT_C, "-O2", f"-I{tmp_path}", source, routine, "-o", program)
    sizes = [4097, 16384, 16385, 65536, 65537, 262144]
    lines = [line.split() for line in output_of(program, *sizes).splitlines()]
    assert [int(size) for size, _, _ in lines] == sizes
    for size, ours, libc in lines:
        assert int(libc) >= 32 * (int(size) // 4096), "libc takes no fault for each page"
        assert int(ours) <= int(libc), f"{name}: {ours} faults at {size} bytes, libc {libc}"


# --- Without a counter ----------------------------------------------------------------------------


LOOK = "if (result == 0 && mode != 1) return 0;"


@of_x86_64
def test_a_process_that_must_not_read_the_counter_copies_right_without(tmp_path, arch, case):
    need_counter(arch)
    library, program = tmp_path / "library.so", tmp_path / "counter_check"
    routine = render(INTERVALS, tmp_path, sensing=SENSING)
    output_of("gcc", "-fPIC", "-shared", routine, "-o", library)
    output_of("gcc", *STRICT_C, CHECKERS / "counter_check.c", "-ldl", "-o", program)
    if output_of(program, library, 10000) == "skip\n":
        pytest.skip("this system cannot forbid to read the time stamp counter")
    assert output_of(program, library, 10000) == "ok\n"
    # Were it not looked at, the process would die:
    text = routine.read_text(encoding="ascii")
    assert text.count(LOOK) == 1
    routine.write_text(text.replace(LOOK, ""), encoding="ascii")
    output_of("gcc", "-fPIC", "-shared", routine, "-o", library)
    assert run(program, library, 10000).returncode < 0


@each(lambda arch: [] if arch is X86_64 else [0])
def test_a_process_that_may_not_read_the_counter_does_not(tmp_path, arch, case):
    """As the kernel answers prctl; the emulator's always allows it."""
    routine = render(intervals_of(arch), tmp_path, sensing=sensing_with(PROBES[1], arch))
    text = with_counter(arch, routine, STEADY).read_text(encoding="ascii")
    assert text.count(LOOK) == 1
    for result, mode, expected in ((0, 2, unsensed), (0, 1, sensed), (-22, 2, sensed)):
        routine.write_text(text.replace(LOOK, f"result = {result}; mode = {mode}; {LOOK}"))
        taken = pipelines_taken(arch, build_dispatch_check(arch, routine))
        assert taken == expected(arch), (result, mode)


# Stands in for the compiler's header: a CPU that says of its counter what the test does.
OTHER_CPU = """
static int __get_cpuid(unsigned leaf, unsigned *a, unsigned *b, unsigned *c, unsigned *d)
{
    *a = *b = *c = *d = 0;
    if (leaf == 0x80000007u) *d = INVARIANT << 8;
    return leaf <= LAST_LEAF;
}
"""
COUNTERS = {
    "x86_64": {
        "not invariant": (0, 0x80000008, 30, unsensed),
        "not known to be invariant": (1, 0x80000006, 30, unsensed),
        "1000 ticks to read": (1, 0x80000008, 1000, sensed),
        "1001 ticks to read": (1, 0x80000008, 1001, unsensed),
    },
    "aarch64": {
        "1 GHz": (1_000_000_000, 20, sensed),
        "250 ns to read": (1_000_000_000, 250, sensed),
        "251 ns, as something traps it": (1_000_000_000, 251, unsensed),
        "250 MHz": (250_000_000, 1, sensed),
        "less": (249_999_999, 1, unsensed),  # a probe of cached memory takes no more than its ticks
        "62.5 MHz": (62_500_000, 1, unsensed),
        "24 MHz": (24_000_000, 0, unsensed),
    },
}


@each(COUNTERS)
def test_where_the_counter_is_of_no_use_the_winner_is_taken(tmp_path, arch, case):
    *says, ticks, expected = case
    routine = render(intervals_of(arch), tmp_path, sensing=sensing_with(PROBES[1], arch))
    flags = []
    if arch is X86_64:
        if expected is sensed:
            need_counter(arch)
        text, compared = routine.read_text(encoding="ascii"), "if (to - from < least)"
        assert text.count(compared) == 1
        text = text.replace(compared, f"to = from + {ticks};\n        {compared}")
        routine.write_text(text, encoding="ascii")
        (tmp_path / "cpuid.h").write_text(OTHER_CPU, encoding="ascii")
        values = zip(("INVARIANT", "LAST_LEAF"), says)
        flags = [*(f"-D{name}={value}u" for name, value in values), f"-I{tmp_path}"]
    else:
        routine = with_counter(arch, routine, STEADY, *says, ticks)
    assert pipelines_taken(arch, build_dispatch_check(arch, routine, flags=flags)) == expected(arch)


# --- Other CPUs, and everything at once -----------------------------------------------------------


def test_a_cpu_that_lacks_what_a_sensing_copy_goes_on_with_takes_the_portable_path(tmp_path):
    """Else it would die of the first cold copy: also of a pipeline that no interval's winner is."""
    need("qemu-x86_64")
    sensing = {16384: SensingCopy(PROBES[0], 0, HOT, X("ZMM", "T", "NT", "T0", 4, 8))}
    program = build_dispatch_check(X86_64, render(INTERVALS, tmp_path, sensing=sensing))
    emulator = ("qemu-x86_64", "-cpu", "Haswell")
    taken = copies_taken(program, "asterope_memcpy", 2**40, [4000, 5000], *emulator)
    assert taken == ["asterope_untuned"] * 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["source 4", "each 4"])
def test_valgrind_finds_nothing(tmp_path, objects, name):
    need("valgrind")
    routine = render(INTERVALS, tmp_path, sensing=sensing_with(BY_NAME[name]))
    program = X86_64.routine_check(routine, objects)
    valgrind = ("valgrind", "--quiet", "--error-exitcode=9")
    assert_right(*valgrind, program, *OTHERS, "--without-state", 1)


def test_sets_look_at_nothing_before_they_choose():
    content = json.dumps(good_profile()).encode()
    text = render_routine(load_profile("p.json", content))["asterope_memcpy.c"]
    functions = re.findall(r"\n(?:\S+ )*void \*?(\w+)\([^{;]*\)\n\{(.*?)\n\}", text, re.S)
    senses = {name for name, body in functions if "rdtsc" in body}
    assert senses
    assert any("memset" in name for name, _ in functions)
    assert not [name for name in senses if re.search(r"_set_|memset", name)]
