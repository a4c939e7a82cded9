"""The routine of AArch64 copies right: every pipeline, compiler, CPU, size, offset and overlap."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from aarch64_programs import (
    CLANG,
    CLANGXX,
    COMPILER,
    CPUS,
    EMULATOR,
    KINDS,
    PLAIN,
    SET,
    SET_KINDS,
    SMALL_COPIES,
    SMALL_SETS,
    WITH_SVE,
    WITHOUT_SVE,
    emulated,
    features_of,
    need_features,
    needs_emulator_and_time,
    needs_of,
    one_of,
)
from asterope.spaces.aarch64 import aliased_copies, overlapping_copies
from asterope.spaces.aarch64.pipelines import Tuple
from copy_programs import (
    FUNCTIONS,
    STRICT,
    STRICT_C,
    Aliased,
    Intervals,
    Memset,
    assert_dispatched,
    assert_right,
    assert_sets_dispatched,
    build_dispatch_check,
    build_routine_check,
    copies_taken,
    failures,
    need,
    output_of,
    render,
    run,
)
from sampling import sampled

pytestmark = needs_emulator_and_time

SHORT = ("--step", 29, "--other-step", 31, "--largest", 65536)


def cpu_for(*copies: object) -> str:
    """An emulated CPU that has what the copies need; skips where there is none."""
    needs = needs_of(*copies)
    cpu = WITHOUT_SVE if "zva64" in needs else WITH_SVE
    need_features(cpu, *needs)
    return cpu


def built(routine: Path, aarch64_objects: Path, *compiler: str) -> Path:
    """routine_check with the routine compiled so: `compiler` and its flags."""
    command, *flags = compiler or (COMPILER, "-O2", *STRICT_C)
    linker = (COMPILER,) if command.startswith("clang") else ()
    return build_routine_check(
        routine, aarch64_objects, command, flags, checkers_by=COMPILER, linked_by=linker
    )


# --- Profiles -------------------------------------------------------------------------------------


def of_kinds(*registers: str) -> Intervals:
    """Every kind of these registers, one an interval."""
    kinds = [kind for kind in KINDS if kind[0] in registers]
    return [(512 << i, one_of(*kind, i)) for i, kind in enumerate(kinds)]


def sixty_intervals() -> Intervals:
    """Ends at odd places, from 128 bytes to 40 MiB, with winners in no order."""
    chance = random.Random(60)
    kinds = [kind for kind in KINDS if kind[0] != "MOPS"]
    ends = sorted({128, *(int(200 * 1.23**i) + chance.randrange(50) for i in range(59))})
    return [(end, one_of(*chance.choice(kinds), chance.randrange(999))) for end in ends]


EVERY_KIND = of_kinds("X", "Q", "SVE")
EVERY_SET = Memset(
    [(512 << i, t) for i, t in enumerate(t for t in SET_KINDS if t.rt in ("X", "Q", "SVE"))],
    SMALL_SETS["sve Q up 256"],
)

# Every extension axis, each with the others' values that it can have; but for dc zva.
EXTENDED = [
    (400, Tuple("Q", "T", "T", "none", 0, 0, tb=1)),
    (700, Tuple("SVE", "T", "T", "L1KEEP", 4, 8, tb=4, pw=8)),
    (1500, Tuple("Q", "T", "T", "none", 0, 0, tb=8, dir="down")),
    (5000, Tuple("Q", "T", "NT", "L1STRM", 8, 8, dir="down")),
    (20000, Tuple("Q", "T", "NT", "L1KEEP", 4, 8, pi=2)),
    (70000, Tuple("Q", "T", "NT", "L3KEEP", 8, 4, tb=8, pi=4)),
    (150000, Tuple("SVE", "NT", "NT", "L2KEEP", 14, 8, tb=8)),
    (1 << 20, Tuple("Q", "T", "T", "L2KEEP", 2, 0, pi=4, pw=32)),
]
CLEARING = [
    (2000, Tuple("Q", "T", "T", "none", 0, 0, clear="zva")),
    (9000, Tuple("Q", "T", "T", "L1KEEP", 8, 8, tb=8, clear="zva")),
    (1 << 20, Tuple("Q", "T", "T", "L3KEEP", 2, 6, tb=1, clear="zva")),
]
HUGE = [
    (128, Tuple("X", "T", "NT", "L1STRM", 2, 0)),
    (4096, Tuple("SVE", "T", "T", "none", 0, 0)),
    (2**31 - 1, PLAIN),
    (2**31, Tuple("X", "T", "T", "none", 0, 0)),
    (2**32 + 5, Tuple("Q", "T", "NT", "L1KEEP", 4, 8)),
    (2**40, Tuple("X", "T", "NT", "none", 0, 0)),
]
PROFILES: dict[str, Intervals] = {
    "every kind": EVERY_KIND,
    "sixty intervals": sixty_intervals(),
    "up to 128 bytes only": [(128, Tuple("X", "T", "NT", "L1KEEP", 2, 0))],
    "from 128 to 129 bytes": [
        (128, Tuple("SVE", "T", "NT", "L1KEEP", 2, 0)),
        (129, Tuple("X", "T", "NT", "L1KEEP", 2, 0)),
    ],
    "one winner twice": [
        *((128, PLAIN), (300, Tuple("SVE", "T", "T", "L1KEEP", 2, 6))),
        *((700, PLAIN), (900, Tuple("SVE", "T", "T", "L1KEEP", 2, 6))),
    ],
    "beyond 2 GiB": HUGE,
    "every extension": EXTENDED,
    "cleared lines": CLEARING,
}


def ends_of(intervals: Intervals) -> str:
    return ",".join(str(end) for end, _ in intervals if end <= 4 << 20)


ALIASED = list(aliased_copies.aliased_tuples())
ONE = [(1 << 20, one_of("Q", "T", "T", 3))]
# What is rendered, and routine_check's options.
RIGHT: dict[str, tuple[Intervals, dict[str, object], tuple[object, ...]]] = {
    **{
        name: (intervals, {}, (*SHORT, "--around", ends_of(intervals)))
        for name, intervals in PROFILES.items()
    },
    **{
        f"{' '.join(kind)} {pt}": (
            [(1 << 20, one_of(*kind, i) if pt else Tuple(*kind, "none", 0, 0))],
            *({}, SHORT),
        )
        for pt in ("", "with prefetch")
        for i, kind in enumerate(KINDS)
        if not (pt and kind[0] == "MOPS")
    },
    **{
        f"aliasing, {winner.symbol}": (
            *(ONE, {"aliased": Aliased(511, 4096, winner)}),
            ("--step", 15, "--other-step", 31, "--around", "512,4096"),
        )
        for winner in ALIASED
    },
    **{
        f"overlapping, {winner.symbol}": (
            *(ONE, {"overlapping": winner}),  # at every distance to 130
            ("--step", 31, "--other-step", 1, "--last", 300, "--largest", 70000),
        )
        for winner in overlapping_copies.overlapping_tuples()
    },
    # whole rounds of 2 and 4 interleaved pages, and a little less and more
    "every extension, around rounds": (
        *(EXTENDED, {}),
        (*SHORT, "--last", 600, "--around", "8192,12288,16384,24576,32768,49152"),
    ),
}


@pytest.mark.parametrize("name", sampled(RIGHT, 5))
def test_it_copies_right(tmp_path, aarch64_objects, name):
    profile, more, options = RIGHT[name]
    cpu = cpu_for(*(t for _, t in profile))
    program = built(render(profile, tmp_path, **more), aarch64_objects)
    assert_right(*emulated(cpu), program, *options)


@pytest.mark.slow
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("name", ["every kind", "cleared lines"])
def test_it_copies_right_to_64_mib(tmp_path, aarch64_objects, name, cpu):
    program = built(render(PROFILES[name], tmp_path), aarch64_objects)
    options = ("--step", 7, "--other-step", 31, "--largest", 64 << 20)
    assert_right(*emulated(cpu), program, *options)


# test_aarch64_loops shows that they are the candidates, which test_aarch64_candidates checks.
@pytest.mark.parametrize("name", sampled(SMALL_COPIES, 6))
def test_it_copies_right_with_each_small_copy(tmp_path, aarch64_objects, name):
    small = SMALL_COPIES[name]
    intervals = [(1 << 20, one_of("Q", "T", "T", list(SMALL_COPIES).index(name)))]
    program = built(render(intervals, tmp_path, small), aarch64_objects)
    last = small.bound + 130
    options = ("--step", 5, "--other-step", 11, "--last", last, "--largest", last)
    assert_right(*emulated(cpu_for(small)), program, *options)


@pytest.mark.parametrize("cpu", CPUS)
def test_it_copies_and_sets_right_on_every_cpu(tmp_path, aarch64_objects, cpu):
    """Whatever the CPU lacks of what the profile needs, and however long its vectors are."""
    small, memset = SMALL_COPIES["sve Q up 256"], EVERY_SET
    program = built(render(EVERY_KIND, tmp_path, small, memset=memset), aarch64_objects)
    assert_right(*emulated(cpu), program, *SHORT, sets=True)


# --- Memset ---------------------------------------------------------------------------------------


# Ends at odd places; beyond 2 GiB a number does not fit into a comparison.
SETS = {
    "every kind": EVERY_SET,
    "cleared lines": Memset([(4096, SET("ZVA", "T", 4)), (1 << 20, SET("ZVA", "T", 1))]),
    "MOPS": Memset([(4096, SET("MOPS", "T")), (1 << 20, SET("MOPS", "NT"))]),
    "up to 128 bytes only": Memset([(128, SET("X", "NT"))]),
    "one winner twice": Memset(
        [(200, SET("Q", "T")), (900, SET("X", "NT")), (3000, SET("Q", "T"))]
    ),
    "beyond 2 GiB": Memset(
        [(4096, SET("Q", "T", 8, 32)), (2**31, SET("SVE", "T")), (2**40, SET("X", "T"))]
    ),
}


def cpu_for_sets(memset: Memset) -> str:
    return cpu_for(memset.small or PLAIN, *(t for _, t in memset.intervals))


@pytest.mark.parametrize("memset", SETS.values(), ids=SETS)
def test_it_sets_right(tmp_path, aarch64_objects, memset):
    cpu = cpu_for_sets(memset)
    program = built(render([(4096, PLAIN)], tmp_path, memset=memset), aarch64_objects)
    ends = ",".join(str(end) for end, _ in memset.intervals if end <= 4 << 20)
    assert_right(*emulated(cpu), program, *SHORT, "--around", ends, sets=True)


@pytest.mark.parametrize("name", sampled(SMALL_SETS, 6))
def test_it_sets_right_with_each_small_set(tmp_path, aarch64_objects, name):
    memset = Memset([(1 << 20, SET("Q", "T"))], SMALL_SETS[name])
    cpu = cpu_for_sets(memset)
    program = built(render([(4096, PLAIN)], tmp_path, memset=memset), aarch64_objects)
    options = (*SHORT, "--last", SMALL_SETS[name].bound + 130)
    assert_right(*emulated(cpu), program, *options, sets=True)


@pytest.mark.parametrize("memset", SETS.values(), ids=SETS)
def test_each_size_takes_its_intervals_set(tmp_path, memset):
    emulator = emulated(cpu_for_sets(memset))
    program = dispatching(render([(4096, PLAIN)], tmp_path, memset=memset))
    bound = memset.small.bound if memset.small else 128
    ends = {bound, *(end for end, _ in memset.intervals)}
    sizes = {end + n for end in ends for n in (-1, 0, 1)} | {0, 1, 64, 129, 2 * max(ends), 2**46}
    assert_sets_dispatched(program, "asterope", memset, sizes, emulator)


# --- Which copy a size takes ----------------------------------------------------------------------


def dispatching(*routines: Path) -> Path:
    """dispatch_check with the routines, which the emulator needs no libraries for."""
    return build_dispatch_check(*routines, flags=["-static"], compiler=COMPILER)


@pytest.mark.parametrize("name", PROFILES)
def test_each_size_takes_its_intervals_winner(tmp_path, name):
    intervals = PROFILES[name]
    emulator = emulated(cpu_for(*(t for _, t in intervals)))
    small = SMALL_COPIES["stepped Q middle 128"]
    program = dispatching(render(intervals, tmp_path, small))
    ends = {128, *(end for end, _ in intervals)}
    sizes = {end + n for end in ends for n in (-1, 0, 1)} | {0, 1, 64, 129, 2 * max(ends), 2**46}
    assert_dispatched(program, "asterope", intervals, small, sizes, emulator=emulator)


@pytest.mark.parametrize("bound", [128, 256])
def test_aliased_buffers_take_their_copy(tmp_path, bound):
    intervals = [(3000, PLAIN), (1 << 20, EXTENDED[3][1])]
    small = SMALL_COPIES[f"grouped Q up {bound}"]
    aliased = Aliased(600, 4096, ALIASED[0])
    program = dispatching(render(intervals, tmp_path, small, "asterope", aliased))
    sizes = {*range(100, 5000, 333), 600, 601, 3000, 3001, 4096, 4097}
    emulator = emulated()
    assert_dispatched(program, "asterope", intervals, small, sizes, aliased, emulator=emulator)


INTENTS: dict[str, Intervals] = {
    "hot": [(512, EXTENDED[0][1]), (9000, EXTENDED[2][1])],
    "cold": [(3000, EXTENDED[3][1]), (1 << 20, Tuple("X", "T", "NT", "L1KEEP", 2, 6))],
    "consume": [(1 << 20, Tuple("X", "T", "T", "none", 0, 0))],
}


def test_each_intent_takes_its_own_intervals_winner_and_copies_right(tmp_path, aarch64_objects):
    small = SMALL_COPIES["stepped Q up 256"]
    routine = render([(4096, PLAIN)], tmp_path, small, intents=INTENTS)
    done = run(*emulated(), built(routine, aarch64_objects), *SHORT, "--around", "512,3000,9000")
    assert failures(done.stdout) == []
    functions = [*FUNCTIONS, *(f"memcpy_{name}" for name in INTENTS)]
    assert done.stdout.splitlines() == [f"ok {function}" for function in functions], done.stderr
    program = dispatching(routine)
    sizes = {end + n for i in INTENTS.values() for end, _ in i for n in (-1, 0, 1)}
    sizes |= {0, 100, 255, 256, 257, 2**40}
    for name, intervals in INTENTS.items():
        assert_dispatched(
            *(program, "asterope", intervals, small, sizes),
            functions=[f"memcpy_{name}"],
            emulator=emulated(),
        )


# --- A CPU that lacks what the profile needs ------------------------------------------------------


LACKING = {
    "a pipeline of vectors": ([(1 << 20, Tuple("SVE", "T", "T", "none", 0, 0))], {}),
    "cleared lines": (CLEARING, {}),
    "MOPS": ([(1 << 20, Tuple("MOPS", "T", "T", "none", 0, 0))], {}),
    "a small copy": ([(1 << 20, PLAIN)], {"small": SMALL_COPIES["sve Q up 128"]}),
}


@pytest.mark.parametrize("name", LACKING)
def test_a_cpu_that_lacks_what_the_profile_needs_takes_the_portable_path(
    tmp_path, aarch64_objects, name
):
    intervals, more = LACKING[name]
    needs = needs_of(*(t for _, t in intervals), *more.values())
    cpu = next((cpu for cpu in CPUS if not needs <= features_of(cpu)), None)
    routine = render(intervals, tmp_path, **more)
    assert_right(*emulated(cpu), built(routine, aarch64_objects), *SHORT)
    program = dispatching(routine)
    # where the small copy needs nothing, it goes first
    sizes = [*range(0 if more else 129, 600, 7), 4096, 1 << 20, 2**46]
    for function in FUNCTIONS:
        taken = copies_taken(program, f"asterope_{function}", 2**47, sizes, *emulated(cpu))
        assert taken == ["asterope_untuned"] * len(sizes), function


# --- Compilers and their flags --------------------------------------------------------------------


GXX = "aarch64-linux-gnu-g++"
BUILDS: dict[str, tuple[str, ...]] = {
    **{f"gcc -O{level}": (COMPILER, *STRICT_C, f"-O{level}") for level in "0123s"},
    **{f"clang -O{level}": (*CLANG, *STRICT_C, f"-O{level}") for level in "0123s"},
    "gcc, C11": (COMPILER, "-std=c11", *STRICT, "-O2"),
    "g++": (GXX, *STRICT, "-O2"),
    "clang++": (*CLANGXX, *STRICT, "-Wno-deprecated", "-O2"),
    "gcc -flto": (COMPILER, *STRICT_C, "-O2", "-flto"),
    "gcc -flto, in parts": (COMPILER, *STRICT_C, "-O2", "-flto", "-flto-partition=max"),
    "gcc, protected branches": (COMPILER, *STRICT_C, "-O2", "-mbranch-protection=standard"),
    "clang, protected branches": (*CLANG, *STRICT_C, "-O2", "-mbranch-protection=standard"),
    "gcc -static": (COMPILER, *STRICT_C, "-O2", "-static"),
    "gcc -static-pie": (COMPILER, *STRICT_C, "-O2", "-static-pie", "-fPIE"),
    "gcc -no-pie": (COMPILER, *STRICT_C, "-O2", "-no-pie", "-fno-pic"),
    "gcc, sections": (
        *(COMPILER, *STRICT_C, "-O2", "-ffunction-sections", "-fdata-sections"),
        "-Wl,--gc-sections",
    ),
    "gcc, a newer CPU": (COMPILER, *STRICT_C, "-O3", "-march=armv8.5-a+sve2"),
    "gcc, an older CPU": (COMPILER, *STRICT_C, "-O3", "-mcpu=cortex-a53"),
    "gcc, undefined behaviour": (
        *(COMPILER, *STRICT_C, "-O1", "-fsanitize=undefined"),
        "-fno-sanitize-recover=all",
    ),
    "gcc, addresses": (COMPILER, *STRICT_C, "-O1", "-fsanitize=address"),
    "gcc, instrumented": (COMPILER, *STRICT_C, "-O2", "-finstrument-functions"),
    "gcc, stack protector": (
        *(COMPILER, *STRICT_C, "-O2", "-fstack-protector-all"),
        "-fstack-clash-protection",
    ),
}
DAILY = ("gcc -O0", "clang -O2", "g++", "gcc, protected branches", "gcc -flto, in parts")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in DAILY)) for name in BUILDS],
)
def test_it_copies_right_however_it_is_compiled(tmp_path, aarch64_objects, monkeypatch, name):
    compiler = BUILDS[name]
    need(compiler[0])
    # The checker has guard pages to run into, and an emulated process cannot be traced for leaks.
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0:handle_segv=0")
    if compiler[0] == COMPILER:
        need_runnable(tmp_path, compiler)
    small, memset = SMALL_COPIES["sve Q up 256"], EVERY_SET
    program = built(render(EVERY_KIND, tmp_path, small, memset=memset), aarch64_objects, *compiler)
    assert_right(*emulated(), program, *SHORT, sets=True)


def need_runnable(folder: Path, compiler: tuple[str, ...]) -> None:
    """Skips where this compiler makes no program that the emulator runs."""
    source, program = folder / "empty.c", folder / "empty"
    source.write_text("int main(void) { return 0; }\n", encoding="ascii")
    made = run(*compiler, source, "-o", program, cwd=folder)
    if made.returncode != 0:
        pytest.skip(f"{' '.join(compiler)} makes no program: {made.stderr.strip()[-200:]}")
    done = run(*emulated(), program, cwd=folder)
    if done.returncode != 0:
        pytest.skip(f"{EMULATOR} does not run it: {done.stderr.strip()[-200:]}")


# --- What the object has --------------------------------------------------------------------------


def undefined(library: Path) -> set[str]:
    names = output_of("aarch64-linux-gnu-nm", "--undefined-only", library).split()
    return {name for name in names if len(name) > 1}


@pytest.mark.parametrize("level", "02")
def test_it_calls_nothing_but_what_tells_what_the_cpu_has(tmp_path, level):
    for name, intervals, expected in (
        ("plain", [(4096, PLAIN)], set()),
        ("gated", EVERY_KIND, {"getauxval"}),
    ):
        routine = render(intervals, tmp_path / name)
        target = tmp_path / f"{name}.o"
        output_of(COMPILER, *STRICT_C, f"-O{level}", "-c", routine, "-o", target)
        assert undefined(target) == expected, name


def test_a_library_shows_the_functions_alone(tmp_path):
    memset = Memset([(4096, SET("SVE", "T"))], SMALL_SETS["sve Q up 256"])
    routine = render(EVERY_KIND, tmp_path, memset=memset)
    library = tmp_path / "library.so"
    output_of(COMPILER, *STRICT_C, "-fPIC", "-shared", "-O2", routine, "-o", library)
    listing = output_of("aarch64-linux-gnu-nm", "-D", "--defined-only", library)
    shown = set(re.findall(r"^\w+ T (\w+)$", listing, re.MULTILINE))
    assert shown == {f"asterope_{name}" for name in (*FUNCTIONS, "memset")}
    # nothing is patched when it is loaded: what has no text relocations may be shared
    assert "TEXTREL" not in output_of("aarch64-linux-gnu-readelf", "-d", library)


def test_its_stack_needs_not_be_executable(tmp_path):
    routine = render(EVERY_KIND, tmp_path)
    program = tmp_path / "library.so"
    output_of(COMPILER, "-fPIC", "-shared", "-O2", routine, "-o", program)
    headers = output_of("aarch64-linux-gnu-readelf", "-lW", program)
    assert re.search(r"GNU_STACK.* RW +0x", headers)
