"""Copies that find out where the data is: probes, branches, and when the routine does without.

No test depends on the clock: probes get their time stamps from a table, or a threshold that decides
for them, as no number of ticks is above 4294967295, and each is above 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from asterope.profile import load_profile
from asterope.render import render_candidates, render_routine
from asterope.spaces.probes import MAXIMUM_THRESHOLD, PROBES, Probe, SensingCopy
from asterope.spaces.x86_64.pipelines import Tuple
from asterope.spaces.x86_64.small_copies import PLAIN
from copy_programs import (
    FUNCTIONS,
    REPOSITORY,
    STRICT_C,
    assert_dispatched,
    assert_right,
    build_dispatch_check,
    build_routine_check,
    compiled,
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

WINNER = Tuple("XMM", "T", "T", "none", 0, 0)
HOT = Tuple("R64", "T", "T", "T0", 2, 4)
COLD = Tuple("MM", "T", "NT", "T0", 4, 8)
FETCH = Tuple("REP_MOVSB", "T", "T", "none", 0, 0)

BY_NAME = {probe.name: probe for probe in PROBES}


def sensing_by(probe: Probe, threshold: int) -> SensingCopy:
    return SensingCopy(probe, threshold, HOT, COLD, FETCH if probe.kind == "each" else None)


def always(way: str, probe: Probe = PROBES[1]) -> SensingCopy:
    """The sensing copy that goes on so whatever its probe says."""
    return sensing_by(probe, {"hot": MAXIMUM_THRESHOLD, "cold": 0}[way])


# Plain up to 4 KiB, then always cold, always hot, and plain again.
INTERVALS = [(4096, WINNER), (16384, WINNER), (65536, WINNER), (1 << 20, COLD)]


def sensing_with(probe: Probe) -> dict[int, SensingCopy]:
    return {16384: always("cold", probe), 65536: always("hot", probe)}


SENSING = sensing_with(PROBES[1])


@pytest.fixture(scope="module")
def counts() -> None:
    """For tests that need a time stamp counter as sensing copies do."""
    if not {"constant_tsc", "nonstop_tsc"} <= cpu_features():
        pytest.skip("this CPU has no invariant time stamp counter")


# Takes the place of rdtsc: the next time stamp of the ring that CLOCK points into.
NEXT_STAMP = "\n".join(
    f'"{line}\\n"'
    for line in (
        "mov CLOCK(%rip), %rdx",
        "mov (%rdx), %eax",
        "mov 8(%rdx), %rdx",
        "mov %rdx, CLOCK(%rip)",
    )
)


def with_clock(text: str, clock: str) -> str:
    """C with probes that take their time stamps from a ring."""
    read = '"rdtsc\\n"'
    assert text.count(read) >= 2
    return text.replace(read, NEXT_STAMP.replace("CLOCK", clock))


# --- The candidates -------------------------------------------------------------------------------


def candidates_with(before: str = "", after: str = "") -> str:
    """The candidates without pipelines, each sensing copy with a change of its text."""
    head, probes = render_candidates("x86_64", variants=()).split("\nvoid asterope_sense_", 1)
    assert probes.count(before) >= len(PROBES) / 2
    text = f"{head}\nvoid asterope_sense_{probes.replace(before, after) if before else probes}"
    # Arrays of nothing are no C, and without pipelines one table is empty.
    return re.sub(r"(variants_of_copies\[)\] = \{\s*\};\n", r"\g<1>1];\n", text)


def sensing_check(folder: Path, objects: Path, *change: str, check: str = "sensing_check") -> Path:
    source = folder / "candidates.c"
    text = "extern void *sensing_clock;\n" + with_clock(candidates_with(*change), "sensing_clock")
    source.write_text(text, encoding="ascii")
    program = folder / "sensing_check"
    harness = [compiled(objects, name) for name in (check, "copy_check")]
    include = f"-I{REPOSITORY / 'tuner'}"
    output_of("gcc", *STRICT_C, "-O2", include, source, *harness, "-o", program)
    return program


def test_every_sensing_copy_copies_right(tmp_path, objects):
    done = run(sensing_check(tmp_path, objects))
    lines = done.stdout.splitlines()
    wrong = [line for line in lines if line.startswith("FAIL")]
    assert not wrong, "\n".join(wrong)
    assert done.returncode == 0, done.stderr
    assert [line for line in lines if line.startswith("ok ")] == [f"ok {p.name}" for p in PROBES]


def readings_of(probe: Probe, lines: list[str]) -> list[tuple[list[int], list[int]]]:
    """The pages that each reading touched: of the source, and of the destination."""
    prefix = f"pages {probe.name}:"
    sides = [line[len(prefix) :].split("|") for line in lines if line.startswith(prefix)]
    return [([*map(int, a.split())], [*map(int, b.split())]) for a, b in sides]


def test_every_probe_looks_at_a_new_place_each_time_in_the_middle_of_its_stretches(
    tmp_path, objects
):
    lines = run(sensing_check(tmp_path, objects)).stdout.splitlines()
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
    returns = '"mov %rdi, %rax\\n"'
    return returns, f'{returns} "{instruction}\\n"'


# A change of all sensing copies, and what sensing_check must then say.
FAULTS = {
    "it reads a byte too far": (
        in_front("movzbl (%rsi,%rdx), %r8d"),
        "died of a fault at source byte 4096",
    ),
    "it reads the destination a byte too far": (
        in_front("movzbl (%rdi,%rdx), %r8d"),
        "died of a fault at .* destination byte 4096 ",
    ),
    "it writes a byte too far": (in_front("movb $1, (%rdi,%rdx)"), "stray write"),
    "it begins a byte too late": (in_front("inc %rsi"), "byte 0 is"),
    "it copies too little": (in_front("dec %rdx"), "byte 4095 is"),
    "it returns something else": (("mov %r8, %rax", "mov %r9, %rax"), "returned"),
    "it changes rbx": (in_front("inc %rbx"), "changed rbx"),
    "it uses the red zone": (in_front("mov %rcx, -8(%rsp)"), "wrote below the stack pointer"),
    "it is always cold": (("ja 2f", "jmp 2f"), "went on wrongly with c"),
    "it is never cold": (("ja 2f", ""), "went on wrongly with h"),
    "it has the threshold the other way": (("ja 2f", "jbe 2f"), "went on wrongly"),
    "it hands on the other distance": (("mov 16(%rcx)", "mov 32(%rcx)"), "went on wrongly"),
    "it times nothing": (("sub %r10d, %eax", ""), "went on wrongly"),
}

# The same of those that look at the destination.
FAULTS_OF_EACH = {
    "it never fetches": (("ja 3f", "jmp 3f"), "went on wrongly with c"),
    "it always fetches": (("ja 3f", ""), "went on wrongly with f"),
    "it hands on the other distance": (("mov 48(%rcx)", "mov 32(%rcx)"), "went on wrongly"),
    "it times the source, too": (("mov %eax, %r10d", ""), "went on wrongly"),
    "it writes something else": (
        ("mov %al, (%rdi,%r11)", "movb $77, (%rdi,%r11)"),
        "reading the ticks changed more",
    ),
    "it writes to another place": (
        ("mov %al, (%rdi,%r11)", "mov %al, 1(%rdi,%r11)"),
        "reading the ticks changed more",
    ),
}


def assert_reported(done: CompletedProcess[str], probe: str, message: str) -> None:
    assert done.returncode == 1
    assert re.search(rf"^FAIL {probe}: .*{message}", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize(("change", "message"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_sensing_copy_is_reported(tmp_path, objects, change, message):
    assert_reported(run(sensing_check(tmp_path, objects, *change)), "source 2", message)


@pytest.mark.parametrize(("change", "message"), FAULTS_OF_EACH.values(), ids=FAULTS_OF_EACH)
def test_a_faulty_look_at_the_destination_is_reported(tmp_path, objects, change, message):
    assert_reported(run(sensing_check(tmp_path, objects, *change)), "each 2", message)


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
    first = [i for i, text in enumerate(body) if text == "mov %r8,%rax"]
    return [body[i : i + 2] for i in first]


@pytest.mark.parametrize("compiler", sampled(["gcc -O0", "gcc -O2", "clang -O2"], 3))
def test_every_probe_is_what_was_timed(tmp_path, compiler):
    compiler = compiler.split()
    need("objdump", compiler[0])
    (tmp_path / "candidates.c").write_text(candidates_with(), encoding="ascii")
    target = tmp_path / "candidates.o"
    include = f"-I{REPOSITORY / 'tuner'}"
    output_of(*compiler, include, "-c", tmp_path / "candidates.c", "-o", target)
    candidates = disassemble(target)
    for probe in PROBES:
        routine = render(INTERVALS, tmp_path, None, probe.symbol, None, sensing_with(probe))
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


def test_probes_differ_from_each_other(tmp_path):
    """Were they all the same, the test above would see no difference between them."""
    need("objdump")
    (tmp_path / "candidates.c").write_text(candidates_with(), encoding="ascii")
    include = f"-I{REPOSITORY / 'tuner'}"
    output_of("gcc", include, "-c", tmp_path / "candidates.c", "-o", tmp_path / "candidates.o")
    candidates = disassemble(tmp_path / "candidates.o")
    bodies = {tuple(candidates[f"asterope_ticks_{p.symbol}"].instructions) for p in PROBES}
    assert len(bodies) == len(PROBES)


# --- The routine ----------------------------------------------------------------------------------


SHORT = ("--step", 31, "--other-step", 31, "--last", 300)
ENDS = ("--around", "4096,16384,65536", "--largest", 200000)


@pytest.mark.parametrize("name", BY_NAME)
def test_it_copies_right_with_each_probe(tmp_path, objects, name):
    routine = render(INTERVALS, tmp_path, sensing=sensing_with(BY_NAME[name]))
    assert_right(build_routine_check(routine, objects), *SHORT, *ENDS)


@pytest.mark.parametrize("compiler", sampled(["gcc -O0", "gcc -O3", "clang -O0", "clang -O3"], 4))
def test_it_copies_right_however_compiled(tmp_path, objects, compiler):
    compiler, level = compiler.split()
    need(compiler)
    routine = render(INTERVALS, tmp_path, sensing=sensing_with(PROBES[-1]))
    flags = (*STRICT_C, level)
    assert_right(build_routine_check(routine, objects, compiler, flags), *SHORT, *ENDS)
    assert output_of("nm", "-u", routine.with_suffix(".o")) == ""


def pipelines_taken(
    program: Path, sizes: Sequence[int] = (4000, 4097, 16384, 16385, 65536)
) -> list[str]:
    """The pipelines that go on at these sizes, by default those of INTERVALS, behind the probes."""
    taken = []
    for function in FUNCTIONS:
        command = (program, "--past-sensing", f"asterope_{function}", 65536, *sizes)
        taken.append(output_of(*command).split())
    assert taken[0] == taken[1] == taken[2]
    return [name.replace("asterope_copy_", "") for name in taken[0]]


SENSED = [t.symbol for t in (WINNER, COLD, COLD, HOT, HOT)]
UNSENSED = [WINNER.symbol] * 5


@pytest.mark.parametrize("name", BY_NAME)
def test_ticks_above_the_threshold_mean_cold_and_others_hot(tmp_path, counts, name):
    program = build_dispatch_check(render(INTERVALS, tmp_path, sensing=sensing_with(BY_NAME[name])))
    assert pipelines_taken(program) == SENSED


# A ring of time stamps for the probes of a routine, of two where they read no more.
CLOCK = """
struct time_stamp { unsigned ticks; struct time_stamp *next; };
static struct time_stamp ring[3] = {
    {START, &ring[1]}, {START + SOURCE, &ring[SECOND]}, {START + SOURCE + DESTINATION, ring}};
extern struct time_stamp *routine_clock;
struct time_stamp *routine_clock = ring;
"""


@pytest.mark.parametrize(
    ("source", "destination", "way"),
    [
        *[(200, 900, HOT), (201, 200, FETCH), (201, 201, COLD)],
        *[(20, 20, HOT), (900, 20, FETCH), (900, 900, COLD)],
    ],
)
@pytest.mark.parametrize("name", BY_NAME)
def test_each_side_s_ticks_choose_the_pipeline(tmp_path, counts, name, source, destination, way):
    probe = BY_NAME[name]
    sensing = {16384: sensing_by(probe, 200), 65536: sensing_by(probe, 200)}
    routine = render(INTERVALS, tmp_path, sensing=sensing)
    text = with_clock(routine.read_text(encoding="ascii"), "routine_clock")
    routine.write_text(text + CLOCK, encoding="ascii")
    values = {"START": "0xFFFFFF80u", "SOURCE": f"{source}u", "DESTINATION": f"{destination}u"}
    looks_at_destination = probe.kind == "each" and source > 200
    values["SECOND"] = "2" if looks_at_destination else "0"
    flags = [f"-D{key}={value}" for key, value in values.items()]
    program = build_dispatch_check(routine, flags=flags)
    sensed = COLD if way == FETCH and probe.kind == "source" else way
    assert pipelines_taken(program) == [WINNER.symbol] + 4 * [sensed.symbol]


def test_intervals_that_sense_alike_share_one_probe(tmp_path, counts):
    """Also where other pipelines stand in for them without a counter, and not side by side."""
    winners = [(4096, WINNER), (8192, WINNER), (16384, COLD), (32768, HOT), (65536, WINNER)]
    alike = sensing_by(PROBES[0], 0)
    sensing = {8192: alike, 16384: alike, 32768: sensing_by(PROBES[0], 1), 65536: alike}
    routine = render(winners, tmp_path, sensing=sensing)
    text = routine.read_text(encoding="ascii")
    assert len(re.findall(r"^void asterope_sense_", text, re.M)) == 3
    assert text.count("loads from the source, at one place") == 2
    sizes = [4096, 4097, 8193, 16385, 32769, 65536]
    assert_dispatched(
        build_dispatch_check(routine), "asterope", winners, PLAIN, sizes, sensing=sensing
    )
    assert pipelines_taken(build_dispatch_check(routine), sizes) == [
        t.symbol for t in (WINNER, COLD, COLD, COLD, COLD, COLD)
    ]
    routine.write_text(text.replace("_sensing_from = 0;", "_sensing_from = (size_t)-1;"))
    assert pipelines_taken(build_dispatch_check(routine), sizes) == [
        t.symbol for t in (WINNER, WINNER, COLD, HOT, WINNER, WINNER)
    ]


def test_each_size_takes_its_intervals_copy(tmp_path):
    program = build_dispatch_check(render(INTERVALS, tmp_path, sensing=SENSING))
    sizes = [4096, 4097, 16384, 16385, 65536, 65537, 1 << 40]
    assert_dispatched(program, "asterope", INTERVALS, PLAIN, sizes, sensing=SENSING)


def test_neighbours_are_one_only_where_winner_and_sensing_are_equal(tmp_path):
    def senses(sensing: dict[int, SensingCopy], *winners: Tuple) -> tuple[int, int]:
        """How many copies sense, and how often the size is compared on the way to them."""
        ends = (8192, 16384, 32768)
        intervals = [(4096, WINNER), *zip(ends, winners)]
        text = render(intervals, tmp_path, sensing=sensing).read_text(encoding="ascii")
        ladder = text[text.index("asterope_memcpy(") :].split("\n}\n")[0]
        return len(re.findall(r"^void asterope_sense_", text, re.M)), ladder.count("jbe asterope_")

    same = [WINNER] * 3
    cold, hot = always("cold"), always("hot")
    assert senses({}, *same) == (0, 0)
    assert senses({8192: cold, 16384: cold, 32768: cold}, *same) == (1, 1)
    assert senses({8192: cold, 16384: hot, 32768: cold}, *same) == (2, 3)
    assert senses({8192: cold, 16384: cold, 32768: cold}, WINNER, HOT, WINNER) == (2, 3)
    assert senses({8192: cold, 32768: cold}, *same) == (1, 3)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_fresh_destination_takes_no_more_page_faults_than_libc(tmp_path, counts, name):
    """Who looks at a page that nobody has touched gets the page of zeros, and with the first store
    a fault once more."""
    routine = render(INTERVALS, tmp_path, sensing=sensing_with(BY_NAME[name]))
    program = tmp_path / "fresh_check"
    source = REPOSITORY / "tests" / "routine" / "fresh_check.c"
    output_of("gcc", *STRICT_C, "-O2", f"-I{tmp_path}", source, routine, "-o", program)
    sizes = [4097, 16384, 16385, 65536, 65537, 262144]
    lines = [line.split() for line in output_of(program, *sizes).splitlines()]
    assert [int(size) for size, _, _ in lines] == sizes
    for size, ours, libc in lines:
        assert int(libc) >= 32 * (int(size) // 4096), "libc takes no fault for each page"
        assert int(ours) <= int(libc), f"{name}: {ours} faults at {size} bytes, libc {libc}"


# --- Without a counter ----------------------------------------------------------------------------


def test_a_process_that_must_not_read_the_counter_copies_right_without(tmp_path, counts):
    library, program = tmp_path / "library.so", tmp_path / "counter_check"
    routine = render(INTERVALS, tmp_path, sensing=SENSING)
    output_of("gcc", "-fPIC", "-shared", routine, "-o", library)
    source = REPOSITORY / "tests" / "routine" / "counter_check.c"
    output_of("gcc", *STRICT_C, source, "-ldl", "-o", program)
    if output_of(program, library, 10000) == "skip\n":
        pytest.skip("this system cannot forbid to read the time stamp counter")
    assert output_of(program, library, 10000) == "ok\n"
    # Were it not looked at, the process would die:
    text = routine.read_text(encoding="ascii")
    look = "if (result == 0 && mode != 1) return 0;"
    assert text.count(look) == 1
    routine.write_text(text.replace(look, ""), encoding="ascii")
    output_of("gcc", "-fPIC", "-shared", routine, "-o", library)
    assert run(program, library, 10000).returncode < 0


# Stands in for the compiler's header: a CPU that says of its counter what the test does.
OTHER_CPU = """
static int __get_cpuid(unsigned leaf, unsigned *a, unsigned *b, unsigned *c, unsigned *d)
{
    *a = *b = *c = *d = 0;
    if (leaf == 0x80000007u) *d = INVARIANT << 8;
    return leaf <= LAST_LEAF;
}
"""
USABLE = {"INVARIANT": "1u", "LAST_LEAF": "0x80000008u"}
UNUSABLE = {
    "it is not invariant": {"INVARIANT": "0u"},
    "whether it is invariant is not known": {"LAST_LEAF": "0x80000006u"},
}


def build_for_cpu(folder: Path, says: dict[str, str], ticks: int) -> Path:
    """dispatch_check of a routine that finds such a CPU, with readings so many ticks apart."""
    routine = render(INTERVALS, folder, sensing=SENSING)
    text = routine.read_text(encoding="ascii")
    text = text.replace(
        "if (to - from < least)", f"to = from + {ticks};\n        if (to - from < least)"
    )
    routine.write_text(text, encoding="ascii")
    (folder / "cpuid.h").write_text(OTHER_CPU, encoding="ascii")
    flags = [f"-D{name}={value}" for name, value in {**USABLE, **says}.items()]
    return build_dispatch_check(routine, flags=[*flags, f"-I{folder}"])


@pytest.mark.parametrize("says", UNUSABLE.values(), ids=UNUSABLE)
def test_where_the_counter_is_of_no_use_the_winner_is_taken(tmp_path, says):
    assert pipelines_taken(build_for_cpu(tmp_path, says, 30)) == UNSENSED


@pytest.mark.parametrize(("ticks", "taken"), [(1000, SENSED), (1001, UNSENSED)])
def test_a_counter_that_takes_more_than_1000_ticks_to_read_is_of_no_use(
    tmp_path, counts, ticks, taken
):
    assert pipelines_taken(build_for_cpu(tmp_path, {}, ticks)) == taken


def test_a_cpu_that_lacks_what_a_sensing_copy_goes_on_with_takes_the_portable_path(tmp_path):
    """Else it would die of the first cold copy: also of a pipeline that no interval's winner is."""
    need("qemu-x86_64")
    cold = Tuple("ZMM", "T", "NT", "T0", 4, 8)
    sensing = {16384: SensingCopy(PROBES[0], 0, HOT, cold)}
    routine = render(INTERVALS, tmp_path, sensing=sensing)
    program = build_dispatch_check(routine, flags=("-static",))
    emulator = ("qemu-x86_64", "-cpu", "Haswell")
    taken = copies_taken(program, "asterope_memcpy", 2**40, [4000, 5000], *emulator)
    assert taken == ["asterope_untuned"] * 2


@pytest.mark.parametrize("cpu", ["qemu64", "max"])
def test_it_copies_right_on_other_cpus(tmp_path, objects, cpu):
    need("qemu-x86_64")
    routine = render(INTERVALS, tmp_path, sensing=SENSING)
    program = build_routine_check(routine, objects, flags=("-O2", "-static"))
    options = ("--step", 31, "--other-step", 31, "--last", 200, "--largest", 32768)
    assert_right("qemu-x86_64", "-cpu", cpu, program, *options, "--around", 4096)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["source 4", "each 4"])
def test_valgrind_finds_nothing(tmp_path, objects, name):
    need("valgrind")
    routine = render(INTERVALS, tmp_path, sensing=sensing_with(BY_NAME[name]))
    program = build_routine_check(routine, objects)
    options = ("--step", 31, "--other-step", 31, "--last", 200, "--largest", 32768)
    checks = ("--around", 4096, "--without-state", 1)
    assert_right("valgrind", "--quiet", "--error-exitcode=9", program, *options, *checks)


# --- Everything at once ---------------------------------------------------------------------------


def test_a_routine_of_a_full_profile_is_strict_c_and_cpp(tmp_path):
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(good_profile()), encoding="utf-8")
    for name, text in render_routine(load_profile(path)).items():
        (tmp_path / name).write_text(text, encoding="ascii")
    routine = tmp_path / "asterope_memcpy.c"
    for compiler in ("gcc", "clang"):
        need(compiler)
        output_of(compiler, *STRICT_C, "-O2", "-c", routine, "-o", tmp_path / "c.o")
    for compiler in ("g++", "clang++"):
        flags = ("-std=c++11", *STRICT_C[1:], "-x", "c++")
        output_of(compiler, *flags, "-c", routine, "-o", tmp_path / "cpp.o")
