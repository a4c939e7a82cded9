"""The generated routine copies right: every pipeline, compiler, CPU, size, offset and overlap."""

from __future__ import annotations

import itertools
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path

import pytest
from asterope.profile import load_profile
from asterope.spaces.x86_64 import aliased_copies, overlapping_copies, set_pipelines, small_sets
from asterope.spaces.x86_64.overlapping_copies import OverlappingTuple
from asterope.spaces.x86_64.pipelines import Tuple
from asterope.spaces.x86_64.small_copies import PLAIN, SmallTuple
from asterope.spaces.x86_64.small_sets import SmallSet
from copy_programs import (
    CHECKERS,
    CPUID_BITS,
    FUNCTIONS,
    KINDS,
    REPOSITORY,
    SET_KINDS,
    SMALL_COPIES,
    SMALL_SETS,
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
    compiled,
    copies_taken,
    exported,
    failures,
    instructions,
    lacking_features,
    memory_left,
    need,
    need_features,
    need_way,
    one_of,
    output_of,
    render,
    run,
    with_instruction,
)
from sampling import sampled

REFERENCE = REPOSITORY / "generated" / "reference"
MACHINES = ("opteron-6378", "xeon-gold-5218")


def sixty_intervals() -> Intervals:
    """Ends at odd places, from 128 bytes to 40 MiB, with winners in no order."""
    chance = random.Random(60)
    ends = sorted({128, *(int(200 * 1.23**i) + chance.randrange(50) for i in range(59))})
    return [(end, one_of(*chance.choice(KINDS), chance.randrange(999))) for end in ends]


# Every kind of pipeline in one routine, for the tests in which not the profile varies.
EVERY_KIND = [(512 << i, one_of(*kind, i)) for i, kind in enumerate(KINDS)]

EVERY_SET = Memset(
    [(512 << i, t) for i, t in enumerate(SET_KINDS)], SmallSet("masked", "ZMM", "up", 256)
)

# Of the small copies the one with the most gates: compilers must find these however they compile.
GATED = SmallTuple("masked", "ZMM", "up", 256)
SET = set_pipelines.Tuple
R64, XMM, YMM, ZMM = (Tuple(rt, "T", "T", "none", 0, 0) for rt in ("R64", "XMM", "YMM", "ZMM"))


ALIASED = list(aliased_copies.aliased_tuples())
OVERLAPPING, PLAIN_MOVE = list(overlapping_copies.overlapping_tuples()), overlapping_copies.PLAIN

# Every extension axis, each with the others' values that it can have; but for movdir64b, which few
# CPUs have.
EXTENDED = [
    (400, Tuple("XMM", "T", "T", "none", 0, 0, tb=1)),
    (700, Tuple("YMM", "T", "T", "T0", 4, 8, tb=4, pw=8)),
    (1500, Tuple("ZMM", "T", "T", "none", 0, 0, tb=8, dir="down")),
    (5000, Tuple("XMM", "T", "NT", "T0", 8, 8, dir="down")),
    (20000, Tuple("ZMM", "T", "NT", "T0", 4, 8, pi=2)),
    (70000, Tuple("YMM", "T", "NT", "NTA", 16, 4, tb=16, pi=4)),
    (150000, Tuple("ZMM", "NT", "NT", "T0", 16, 8, tb=16)),
    (1 << 20, Tuple("XMM", "T", "T", "T1", 2, 0, pi=4, pw=32)),
]
DIRECT = [(1 << 20, Tuple("MOVDIR64B", "T", "NT", "T0", 4, 8, pi=2))]

# The same small copy and aliased copy for all, and some of the same pipelines.
INTENTS: dict[str, Intervals] = {
    "hot": [(512, EXTENDED[0][1]), (9000, EXTENDED[2][1])],
    "cold": [(3000, EXTENDED[3][1]), (1 << 20, Tuple("MM", "T", "NT", "T0", 2, 6))],
    "consume": [(1 << 20, R64)],
}

HUGE = [
    (128, Tuple("MM", "T", "NT", "NTA", 2, 0)),
    (4096, Tuple("REP_MOVSQ", "T", "T", "none", 0, 0)),
    (2**31 - 1, XMM),
    (2**31, Tuple("REP_MOVSB", "T", "T", "none", 0, 0)),
    (2**32 + 5, Tuple("XMM", "T", "NT", "T0", 4, 8)),
    (2**40, R64),
]

PROFILES: dict[str, Path | Intervals] = {
    **{machine: REFERENCE / f"{machine}.json" for machine in MACHINES},
    "every kind": EVERY_KIND,
    "sixty intervals": sixty_intervals(),
    "up to 128 bytes only": [(128, Tuple("MM", "T", "NT", "T0", 2, 0))],
    "from 128 to 129 bytes": [
        (128, Tuple("YMM", "T", "NT", "T0", 2, 0)),
        (129, Tuple("R64", "T", "NT", "T0", 2, 0)),
    ],
    "one winner twice": [
        *((128, XMM), (300, Tuple("ZMM", "T", "T", "T0", 2, 6))),
        *((700, XMM), (900, Tuple("ZMM", "T", "T", "T0", 2, 6))),
    ],
    "beyond 2 GiB": HUGE,
    "every extension": EXTENDED,
}


def intervals_of(profile: Path | Intervals) -> Intervals:
    if isinstance(profile, Path):
        return [(one.up_to, one.copy) for one in load_profile(profile).of("pipelines")]
    return profile


SHORT = ("--step", 29, "--other-step", 31, "--largest", 65536)


# --- Profiles -------------------------------------------------------------------------------------


def intervals_ends(name: str) -> tuple[object, ...]:
    """All sizes and around the ends; of the references with the full grid, to 64 MiB."""
    ends = [str(end) for end, _ in intervals_of(PROFILES[name]) if end <= 64 << 20]
    full = name in MACHINES
    steps = ("--step", 1 if full else 7, "--other-step", 7 if full else 31)
    return (*steps, "--largest", 64 << 20 if full else 4 << 20, "--around", ",".join(ends))


ONE = [(1 << 20, one_of("XMM", "T", "T", 3))]
# What is rendered, and routine_check's options.
RIGHT: dict[str, tuple[Path | Intervals, dict[str, object], tuple[object, ...]]] = {
    **{name: (profile, {}, intervals_ends(name)) for name, profile in PROFILES.items()},
    **{
        f"{' '.join(kind)} {pt}": (
            [(1 << 20, one_of(*kind, i) if pt else Tuple(*kind, "none", 0, 0))],
            *({}, ("--step", 11, "--other-step", 31)),
        )
        for pt in ("", "with prefetch")
        for i, kind in enumerate(KINDS)
        if not (pt and kind[0].startswith("REP"))
    },
    **{
        f"aliasing, {winner.symbol}": (
            *(ONE, {"aliased": Aliased(511, 4096, winner)}),
            ("--step", 5, "--other-step", 31, "--around", "512,4096"),
        )
        for winner in ALIASED
    },
    **{
        f"overlapping, {winner.symbol}": (
            *(ONE, {"overlapping": winner}),  # at every distance to 130
            ("--step", 31, "--other-step", 1, "--last", 300, "--largest", 70000),
        )
        for winner in OVERLAPPING
    },
    # whole rounds of 2 and 4 interleaved pages, and a little less and more
    "every extension, around rounds": (
        *(EXTENDED, {}),
        (*SHORT, "--last", 600, "--around", "8192,12288,16384,24576,32768,49152"),
    ),
    "direct stores": (
        *(DIRECT, {}),
        ("--step", 7, "--other-step", 31, "--around", "8192,16384,20480"),
    ),
}


@pytest.mark.parametrize(("profile", "more", "options"), RIGHT.values(), ids=RIGHT)
def test_it_copies_right(tmp_path, objects, profile, more, options):
    if more or profile is DIRECT:
        need_features(intervals_of(profile), **more)
    assert_right(build_routine_check(render(profile, tmp_path, **more), objects), *options)


# test_loops shows that they are the candidates, which test_candidates checks.
@pytest.mark.parametrize("name", sampled(SMALL_COPIES, 9))
def test_it_copies_right_with_each_small_copy(tmp_path, objects, name):
    small = SMALL_COPIES[name]
    number = list(SMALL_COPIES).index(name)
    intervals = [(1 << 20, one_of(*KINDS[number % len(KINDS)], number))]
    need_features(intervals, small)
    program = build_routine_check(render(intervals, tmp_path, small), objects)
    # Every size with every pair of offsets, and every size at every distance that overlaps.
    assert_right(program, "--last", small.bound + 130, "--largest", small.bound + 130)


# --- Memset ---------------------------------------------------------------------------------------


# Ends at odd places; beyond 2 GiB a number does not fit into a comparison.
SETS = {
    "every kind": EVERY_SET,
    "every kind, in another order": Memset(
        [(int(200 * 2.3**i), t) for i, t in enumerate(reversed(SET_KINDS))],
        SmallSet("stepped", "YMM", "up", 128),
    ),
    "up to 128 bytes only": Memset([(128, SET("CLZERO", "NT"))]),
    "one winner twice": Memset(
        [(200, SET("XMM", "T")), (900, SET("R64", "NT")), (3000, SET("XMM", "T"))]
    ),
    "beyond 2 GiB": Memset(
        [(4096, SET("YMM", "T", 16, 32)), (2**31, SET("REP_STOSB", "T")), (2**40, SET("R64", "T"))]
    ),
}


@pytest.mark.parametrize("memset", SETS.values(), ids=SETS)
def test_it_sets_right(tmp_path, objects, memset):
    need_features(memset=memset)
    program = build_routine_check(render([(4096, XMM)], tmp_path, memset=memset), objects)
    ends = ",".join(str(end) for end, _ in memset.intervals if end <= 64 << 20)
    assert_right(program, *SHORT, "--around", ends, sets=True)


@pytest.mark.parametrize("name", sampled(SMALL_SETS, 9))
def test_it_sets_right_with_each_small_set(tmp_path, objects, name):
    small = SMALL_SETS[name]
    memset = Memset([(1 << 20, SET_KINDS[list(SMALL_SETS).index(name) % len(SET_KINDS)])], small)
    need_features(memset=memset)
    program = build_routine_check(render([(4096, XMM)], tmp_path, memset=memset), objects)
    assert_right(program, *SHORT, "--last", small.bound + 130, sets=True)


@pytest.mark.parametrize("memset", SETS.values(), ids=SETS)
def test_each_size_takes_its_intervals_set(tmp_path, memset):
    need_features(memset=memset)
    program = build_dispatch_check(render([(4096, XMM)], tmp_path, memset=memset))
    ends = {memset.small_set.bound, *(end for end, _ in memset.intervals)}
    sizes = {end + n for end in ends for n in (-1, 0, 1)} | {0, 1, 64, 129, 2 * max(ends), 2**46}
    assert_sets_dispatched(program, "asterope", memset, sizes)


@pytest.mark.parametrize("small", [s for s in SMALL_SETS.values() if s.masked_bytes], ids=str)
def test_a_masked_store_reaches_into_no_other_page(tmp_path, small):
    memset = Memset([(4096, SET("XMM", "T"))], small)
    need_features(memset=memset)
    program = build_dispatch_check(render([(4096, XMM)], tmp_path, memset=memset))
    span = small.masked_bytes
    for destination in (0, 4096 - span, 4096 - span + 1, 4095):
        taken = copies_taken(program, "asterope_memset", 8192 + destination, range(span + 1))
        # nothing is set of 0 bytes: a mask of none is slow, too
        crosses = destination > 4096 - span
        assert taken == ["none", *["asterope_set_untuned" if crosses else "none"] * span]


def test_a_routine_without_memset_has_nothing_of_it(tmp_path):
    text = render(EVERY_KIND, tmp_path).read_text(encoding="ascii")
    assert not re.search(r"memset|_set_|SETS", text.replace("clang -O0 calls memset for it", ""))


# --- Entry points by intent -----------------------------------------------------------------------


@pytest.mark.parametrize("names", [["hot", "cold", "consume"], ["consume"]], ids=" ".join)
def test_it_copies_right_by_each_intent(tmp_path, objects, names):
    intents = {name: INTENTS[name] for name in names}
    routine = render(EVERY_KIND, tmp_path, GATED, intents=intents)
    program = build_routine_check(routine, objects)
    done = run(program, *SHORT, "--around", "512,3000,9000")
    assert failures(done.stdout) == []
    assert done.returncode == 0, done.stderr
    expected = [*FUNCTIONS, *(f"memcpy_{name}" for name in INTENTS if name in names)]
    assert done.stdout.splitlines() == [f"ok {function}" for function in expected]


def test_each_intent_takes_its_own_intervals_winner(tmp_path):
    small, aliased = SmallTuple("stepped", "XMM", "up", 256), Aliased(600, 4096, ALIASED[0])
    need_features([i for name in INTENTS for i in INTENTS[name]])
    winners = [(4096, XMM)]
    routine = render(winners, tmp_path, small, "asterope", aliased, intents=INTENTS)
    program = build_dispatch_check(routine)
    sizes = {e + n for i in INTENTS.values() for e, _ in i for n in (-1, 0, 1)}
    sizes |= {0, 100, 255, 256, 257, 600, 601, 4096, 4097, 2**40}
    assert_dispatched(program, "asterope", winners, small, sizes, aliased)
    for name, intervals in INTENTS.items():
        # where nothing is cached, the copy of aliasing buffers is of no use
        alias = aliased if name == "hot" else None
        function = [f"memcpy_{name}"]
        assert_dispatched(program, "asterope", intervals, small, sizes, alias, functions=function)
        taken = copies_taken(program, f"asterope_memcpy_{name}", 2**46 + 4097, [2000])
        assert (taken == ["asterope_copy_aliased"]) == (name == "hot")


def test_intents_share_the_pipelines_and_are_seen_from_outside(tmp_path):
    winners = [(4096, INTENTS["hot"][0][1]), (1 << 20, INTENTS["cold"][1][1])]
    routine = render(winners, tmp_path, intents=INTENTS)
    text = routine.read_text(encoding="ascii")
    copies = re.findall(r"^void (asterope_copy_\w+)\(void\)$", text, re.MULTILINE)
    assert len(copies) == len({t for i in (winners, *INTENTS.values()) for _, t in i}) == 5
    output_of("gcc", "-fPIC", "-shared", "-O2", routine, "-o", tmp_path / "library.so")
    functions = [*FUNCTIONS, *(f"memcpy_{name}" for name in INTENTS)]
    assert exported(tmp_path / "library.so").keys() == {f"asterope_{name}" for name in functions}


# --- Aliasing buffers -----------------------------------------------------------------------------


# The small copies that come nearest to the 512 bytes from which on an aliased copy is right.
@pytest.mark.parametrize(
    "small", [s for s in SMALL_COPIES.values() if s.bound == 512], ids=lambda s: s.symbol
)
def test_aliased_buffers_take_their_copy_from_512_bytes_on(tmp_path, small):
    intervals = [(1 << 20, XMM)]
    aliased = Aliased(511, 4096, ALIASED[0])
    need_features(intervals, small, aliased)
    program = build_dispatch_check(render(intervals, tmp_path, small, "asterope", aliased))
    sizes = range(100, 5000, 3)
    assert_dispatched(program, "asterope", intervals, small, sizes, aliased)


@pytest.mark.slow
def test_it_copies_more_than_2_gib(tmp_path, objects):
    program = build_routine_check(render(HUGE, tmp_path), objects)
    sizes = (2**31 - 1, 2**31, 2**31 + 1)
    assert_right(program, *SHORT, "--huge", ",".join(str(size) for size in sizes))


@pytest.mark.slow
@pytest.mark.parametrize("st", ["T", "NT"])
def test_it_copies_more_than_4_gib_to_the_last_byte(tmp_path, objects, st):
    left = memory_left()
    if left < 6 << 30:
        pytest.skip(f"needs 6 GiB of memory, and {left / 2**30:.1f} GiB are left")
    winner = Tuple("XMM", "T", st, "T0", 4, 8)
    program = build_routine_check(render([(4096, winner)], tmp_path), objects)
    size = 2**32 + 12345
    assert output_of(program, "--whole", size) == f"ok memcpy of {size} bytes\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "winner", [SET("XMM", "T"), SET("R64", "NT", 8), SET("REP_STOSQ", "T")], ids=str
)
def test_it_sets_more_than_4_gib_to_the_last_byte(tmp_path, objects, winner):
    left = memory_left()
    if left < 6 << 30:
        pytest.skip(f"needs 6 GiB of memory, and {left / 2**30:.1f} GiB are left")
    memset = Memset([(4096, winner)])
    program = build_routine_check(render([(4096, XMM)], tmp_path, memset=memset), objects)
    size = 2**32 + 12345
    assert output_of(program, "--whole-set", size) == f"ok memset of {size} bytes\n"


# --- Which copy a size takes ----------------------------------------------------------------------


@pytest.mark.parametrize("name", PROFILES)
def test_each_size_takes_its_intervals_winner(tmp_path, name):
    intervals = intervals_of(PROFILES[name])
    need_features(intervals)
    program = build_dispatch_check(render(PROFILES[name], tmp_path))
    ends = [end for end, _ in intervals]
    sizes = {e + n for e in ends for n in (-1, 0, 1)} | {129, 200, 2 * ends[-1], 2**46}
    assert_dispatched(program, "asterope", intervals, PLAIN, sizes)


@pytest.mark.parametrize("part", sampled(range(8), 8))
def test_small_copies_are_done_in_line_up_to_their_bound(tmp_path, part):
    intervals = [(200, one_of("REP_MOVSB", "T", "T", 0)), (1000, one_of("R64", "T", "NT", 1))]
    part = list(SMALL_COPIES.values())[part::8]
    can_run = [small for small in part if not lacking_features([], small)]
    prefixes = {small.symbol: small for small in can_run}
    routines = [render(intervals, tmp_path, small, p) for p, small in prefixes.items()]
    program = build_dispatch_check(*routines)
    for prefix, small in prefixes.items():
        assert_dispatched(program, prefix, intervals, small, range(small.bound + 130))


@pytest.mark.parametrize("small", [s for s in SMALL_COPIES.values() if s.masked_bytes], ids=str)
def test_a_masked_move_reaches_into_no_other_page(tmp_path, small):
    need_features([], small)
    winner = [(4096, XMM)]
    program = build_dispatch_check(render(winner, tmp_path, small))
    span = small.masked_bytes
    last = 4096 - span  # the last place in a page where the register stays in it
    for function, source, destination in itertools.product(
        FUNCTIONS, (0, last, last + 1, 4095), (128, last, last + 1, 4095)
    ):
        taken = copies_taken(
            program,
            f"asterope_{function}",
            8192 + destination - source,
            range(span + 1),
            source_at=source,
        )
        # nothing is copied of 0 bytes: a mask of none is slow, too
        crosses = max(source, destination) > last
        assert taken == ["none", *["asterope_untuned" if crosses else "none"] * span]


@pytest.mark.parametrize("winner", [None, *OVERLAPPING], ids=str)
def test_overlapping_buffers_take_the_copy_of_their_direction(tmp_path, winner):
    need_features([], overlapping=winner)
    intervals = [(4096, Tuple("MM", "T", "T", "none", 0, 0))]
    program = build_dispatch_check(render(intervals, tmp_path, overlapping=winner))
    symbol = (winner or PLAIN_MOVE).symbol

    def taken(function: str, distance: int, size: int) -> str:
        return copies_taken(program, f"asterope_{function}", distance, [size])[0]

    for function, size in itertools.product(("memmove", "mempcpy"), (129, 1000, 2**20, 2**33)):
        for near in (1, 64, size // 2, size - 1):
            assert taken(function, near, size) == f"asterope_move_downwards_{symbol}"
            assert taken(function, -near, size) == f"asterope_move_upwards_{symbol}"
        for far in (size, size + 1, -size, -size - 1):
            assert taken(function, far, size) == "asterope_copy_mm_t_t_none_0_0"


# --- Compilers ------------------------------------------------------------------------------------

# The copies are the same instructions whatever the compiler (test_every_compiler_makes...), so each
# compiler and flag has to show only that the C around them works: constructor, dispatch, linking.
COMPILERS = ("gcc", "clang")
LEVELS = {
    f"{cc} {level}": (cc, (*STRICT_C, level))
    for cc in COMPILERS
    for level in ("-O0", "-O1", "-O2", "-O3")
}
# The compiler's own additions to functions, of which none may get into these.
ADDITIONS = {
    f"{cc} {flags}": (cc, (*STRICT_C, *flags.split()))
    for cc in COMPILERS
    for flags in (
        *("-O2 -fcf-protection=full", "-O2 -fstack-clash-protection", "-O2 -fstack-protector-all"),
        *("-O2 --coverage", "-O2 -fprofile-generate", "-O2 -fno-builtin", "-O2 -ffreestanding"),
        *("-O2 -static", "-O2 -fPIE", "-O2 -mcmodel=large", "-O2 -fno-asynchronous-unwind-tables"),
        *("-O2 -fomit-frame-pointer -march=x86-64-v3", "-O2 -ffunction-sections -fdata-sections"),
        *("-O0 -fno-omit-frame-pointer -g", "-O2 -pg", "-O2 -finstrument-functions"),
    )
}
LINK_FLAGS = {"-x": "-xnone", "-fPIE": "-pie", "-ffunction-sections": "-Wl,--gc-sections"}
CXX = {
    f"{cxx} {standard} {level}": (cxx, (f"-std={standard}", *STRICT, "-x", "c++", level))
    for cxx in ("g++", "clang++")
    for standard in ("c++11", "c++20")
    for level in ("-O0", "-O3")
}


def compilations(cases: dict[str, tuple], fast: Callable[[str], bool]) -> list[object]:
    """Parameters of pytest; what is not fast is slow."""
    return [
        pytest.param(*case, id=name, marks=[] if fast(name) else [pytest.mark.slow])
        for name, case in cases.items()
    ]


@pytest.mark.parametrize(
    ("compiler", "flags"),
    compilations(
        {**LEVELS, **ADDITIONS, **CXX},
        lambda name: (
            name.endswith(("++20 -O3", "-static")) or (name in LEVELS and name[-1] in "03")
        ),
    ),
)
def test_it_copies_right_however_compiled(tmp_path, objects, compiler, flags):
    need(compiler)
    link_flags = [option for flag, option in LINK_FLAGS.items() if flag in flags]
    routine = render(EVERY_KIND, tmp_path, GATED, memset=EVERY_SET)
    program = build_routine_check(routine, objects, compiler, flags, link_flags)
    assert_right(program, *SHORT, cwd=tmp_path)  # -pg and others leave files there


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", ["-flto", "-fsanitize=address,undefined -fno-sanitize-recover"])
def test_it_copies_right_where_all_is_compiled_so(tmp_path, compiler, flags):
    need_way(tmp_path, compiler, *flags.split())
    program = tmp_path / "routine_check"
    sources = (CHECKERS / "routine_check.c", CHECKERS / "copy_check.c")
    sources = (render(EVERY_KIND, tmp_path, GATED, memset=EVERY_SET), *sources)
    includes = (f"-I{CHECKERS}", f"-I{tmp_path}")
    output_of(compiler, *STRICT_C, "-O2", *flags.split(), *includes, *sources, "-o", program)
    # The checker takes faults for itself.
    assert_right(program, *SHORT, env={"ASAN_OPTIONS": "handle_segv=0:handle_sigill=0"})


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_it_copies_right_as_a_shared_library(tmp_path, objects, compiler):
    need(compiler)
    routine = render(EVERY_KIND, tmp_path, GATED, memset=EVERY_SET)
    library = tmp_path / "libasterope_memcpy.so"
    flags = (*STRICT_C, "-O2", "-fPIC", "-shared", "-Wl,-z,defs", "-Wl,-z,text")
    output_of(compiler, *flags, routine, "-o", library)
    build_routine_check(routine, objects)  # for the checkers' objects
    program = tmp_path / "with_library"
    checkers = (objects / "routine_check.o", objects / "copy_check.o")
    output_of(compiler, *checkers, library, f"-Wl,-rpath,{tmp_path}", "-o", program)
    assert_right(program, *SHORT)


# --- Object code ----------------------------------------------------------------------------------


def shared_library(folder: Path, compiler: str, *flags: str) -> Path:
    """The routine as a library: linked, so that all jumps are resolved."""
    routine = render(EVERY_KIND, folder, GATED, overlapping=OVERLAPPING[-1], memset=EVERY_SET)
    library = folder / "library.so"
    output_of(compiler, "-fPIC", "-shared", *flags, routine, "-o", library, cwd=folder)
    return library


@pytest.fixture(scope="module")
def expected_code(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    need("objdump")
    code = instructions(shared_library(tmp_path_factory.mktemp("code"), "gcc", "-O2"))
    # untuned, and the moves of it and of its own; memset's untuned
    assert len(code) == len(FUNCTIONS) + len(KINDS) + 5 + 1 + len(SET_KINDS) + 1
    assert all(body[-1].startswith(("ret", "jmp")) for body in code.values())
    return code


# Further additions, which need a library of the compiler's to run.
INSTRUMENTED = {
    f"{compiler} {flag}": (compiler, ("-O2", flag))
    for compiler, flag in (
        ("gcc", "-fsanitize-coverage=trace-pc"),
        ("gcc", "-fsanitize=thread"),
        ("clang", "-fsanitize=thread"),
    )
}


@pytest.mark.parametrize(
    ("compiler", "flags"),
    compilations({**LEVELS, **CXX, **ADDITIONS, **INSTRUMENTED}, lambda name: name in LEVELS),
)
def test_every_compiler_makes_the_same_instructions(tmp_path, expected_code, compiler, flags):
    need(compiler)
    flags = [flag for flag in flags if flag != "-static"]
    code = instructions(shared_library(tmp_path, compiler, *flags))
    for name in expected_code:  # one at a time: a difference of dictionaries is no readable one
        assert code[name] == expected_code[name], name
    assert code.keys() == expected_code.keys()


def test_the_copies_call_nothing_and_leave_the_stack_alone(expected_code):
    for name, body in expected_code.items():
        for instruction in body:
            assert not re.search(
                r"\b(call|push|pop|enter|leave|syscall)|%[re]?sp\b", instruction
            ), f"{name}: {instruction}"
            target = re.search(r"^j\w+ <(\S+)>", instruction)
            if target and not re.fullmatch(r"[+-]\d+", target[1]):
                assert target[1] in expected_code, f"{name}: {instruction}"


def test_overlapping_buffers_are_never_copied_by_rep(tmp_path):
    need("objdump")
    rep = SmallTuple("rep", "XMM", "up", 256)
    routine = render([(4096, XMM)], tmp_path, rep)
    output_of("gcc", "-fPIC", "-shared", routine, "-o", tmp_path / "library.so")
    code = instructions(tmp_path / "library.so")
    with_rep = {name for name, body in code.items() if any("rep " in line for line in body)}
    assert with_rep == {"asterope_memcpy"}


@pytest.mark.parametrize("position", ["-fPIC", "-fPIE", "-fno-pic"])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_object_needs_no_symbol_from_elsewhere(tmp_path, compiler, level, position):
    need(compiler, "nm")
    routine = render(EVERY_KIND, tmp_path, GATED, memset=EVERY_SET)
    target = routine.with_suffix(".o")
    output_of(compiler, *STRICT_C, level, position, "-c", routine, "-o", target)
    assert output_of("nm", "-u", target) == ""


def test_only_the_functions_are_seen_from_outside(tmp_path):
    library = shared_library(tmp_path, "gcc", "-O2")
    functions = (*FUNCTIONS, "memset")
    assert exported(library).keys() == {f"asterope_{function}" for function in functions}


# --- Other CPUs -----------------------------------------------------------------------------------


# A pipeline, a small copy and one for overlapping buffers for each of the register types.
NEED = {
    "ZMM": (Tuple("ZMM", "T", "NT", "T0", 4, 8), GATED, OverlappingTuple("ZMM", 256)),
    "YMM": (
        *(Tuple("YMM", "NT", "T", "T0", 4, 8), SmallTuple("grouped", "YMM", "up", 512)),
        OverlappingTuple("YMM", 256),
    ),
    "XMM": (
        *(Tuple("XMM", "NT", "NT", "T0", 4, 8), SmallTuple("stepped", "XMM", "down", 256)),
        PLAIN_MOVE,
    ),
    "MM": (Tuple("MM", "T", "NT", "T0", 4, 8), SmallTuple("rep", "XMM", "up", 256), PLAIN_MOVE),
}
# Its memset, which asks nothing more of a CPU.
SETS_OF = {
    "ZMM": Memset([(4096, SET("ZMM", "T", 4))], SmallSet("masked", "ZMM", "up", 256)),
    "YMM": Memset([(4096, SET("YMM", "NT"))], SmallSet("grouped", "YMM", "up", 512)),
    "XMM": Memset([(4096, SET("XMM", "NT"))], SmallSet("stepped", "XMM", "down", 256)),
    "MM": Memset([(4096, SET("R64", "T"))], SmallSet("rep", "XMM", "up", 256)),
}
# What runs tuned on each of QEMU's CPUs; the rest takes the portable path.
CPUS = {
    "qemu64": {"MM"},  # neither SSE4.1 nor AVX
    "Opteron_G1": {"MM"},
    "Nehalem": {"MM", "XMM"},
    "SandyBridge": {"MM", "XMM"},  # AVX without AVX2
    "Haswell": {"MM", "XMM", "YMM"},
    "max": {"MM", "XMM", "YMM"},  # QEMU has no AVX-512 yet
    "max,-avx2": {"MM", "XMM"},
    "max,-xsave": {"MM", "XMM"},  # AVX2 is there, but not saved by the system
}


def needed(rt: str, folder: Path) -> Path:
    """The routine of a register type."""
    winner, small, overlapping = NEED[rt]
    return render([(4096, winner)], folder, small, overlapping=overlapping, memset=SETS_OF[rt])


@pytest.fixture(scope="module")
def static_programs(
    tmp_path_factory: pytest.TempPathFactory, objects: Path
) -> dict[str, tuple[Path, Path]]:
    """routine_check and dispatch_check for each register type."""
    programs = {}
    for rt in NEED:
        routine = needed(rt, tmp_path_factory.mktemp(rt))
        programs[rt] = (
            build_routine_check(routine, objects, "gcc", ("-O2", "-static")),
            build_dispatch_check(routine, flags=("-static",)),
        )
    return programs


def expected_path(rt: str, tuned: bool) -> str:
    return f"asterope_copy_{NEED[rt][0].symbol}" if tuned else "asterope_untuned"


@pytest.mark.parametrize("rt", NEED)
@pytest.mark.parametrize("cpu", CPUS)
def test_a_cpu_that_lacks_something_takes_the_portable_path(static_programs, cpu, rt):
    need("qemu-x86_64")
    emulator = ("qemu-x86_64", "-cpu", cpu)
    _, dispatch_check = static_programs[rt]
    tuned = rt in CPUS[cpu]
    path = expected_path(rt, tuned)
    move = f"asterope_move_downwards_{NEED[rt][2].symbol}" if tuned else path
    sizes = [513, 2**20]  # above all bounds
    for function, distance in itertools.product(FUNCTIONS, (2**40, 8)):
        if (function, distance) != ("memcpy", 8):
            taken = copies_taken(dispatch_check, f"asterope_{function}", distance, sizes, *emulator)
            assert taken == [move if distance == 8 else path] * 2
    # a gate of what it needs itself: MM's and XMM's need nothing
    tuned |= not lacking_features([], memset=SETS_OF[rt], has=frozenset())
    path = f"asterope_set_{SETS_OF[rt].intervals[0][1].symbol}" if tuned else "asterope_set_untuned"
    assert copies_taken(dispatch_check, "asterope_memset", 0, sizes, *emulator) == [path] * 2


@pytest.mark.parametrize("rt", NEED)
@pytest.mark.parametrize("cpu", ["qemu64", "max"])
def test_it_copies_right_on_other_cpus(static_programs, cpu, rt):
    need("qemu-x86_64")
    routine_check, _ = static_programs[rt]
    emulator = ("qemu-x86_64", "-cpu", cpu)
    options = ("--step", 31, "--other-step", 31, "--largest", 8192)
    assert_right(*emulator, routine_check, *options, sets=True)


# From which size on each small copy needs more than any x86-64 CPU has.
NEEDS_FROM = {
    SmallTuple("masked", "ZMM", "up", 512): 0,
    SmallTuple("stepped", "ZMM", "middle", 128): 33,
    SmallTuple("stepped", "YMM", "up", 512): 33,
    SmallTuple("grouped", "ZMM", "down", 256): 64,
    SmallTuple("grouped", "YMM", "middle", 256): 64,
    SmallTuple("stepped", "XMM", "up", 256): 257,
    SmallTuple("rep", "XMM", "up", 256): 257,
}


def as_if_lacking(routine: Path) -> None:
    """Makes it one that has looked at the CPU and found it unfit."""
    text = routine.read_text(encoding="ascii")
    look = "if (!asterope_cpu_fits()) return;"
    assert text.count(look) == 1
    text = text.replace(look, "if (asterope_cpu_fits() < 2) return;")
    routine.write_text(text, encoding="ascii")


@pytest.mark.parametrize("small", sampled(NEEDS_FROM, 4, lambda small: small.name))
def test_the_portable_path_copies_right_at_all_sizes(tmp_path, objects, small):
    routine = render([(4096, Tuple("ZMM", "T", "NT", "T0", 4, 8))], tmp_path, small)
    as_if_lacking(routine)
    dispatch_check = build_dispatch_check(routine)
    sizes = range(700)
    for function in FUNCTIONS:
        first = 129 if small.shape == "rep" and function != "memcpy" else NEEDS_FROM[small]
        taken = copies_taken(dispatch_check, f"asterope_{function}", 4096, sizes)
        assert taken == [("none" if n < first else "asterope_untuned") for n in sizes]
    assert_right(build_routine_check(routine, objects), "--step", 3, "--other-step", 7)


@pytest.mark.parametrize("small", sampled(NEEDS_FROM, 4, lambda small: small.name))
def test_the_portable_path_sets_right_at_all_sizes(tmp_path, objects, small):
    memset = Memset([(4096, SET("CLZERO", "NT"))], SmallSet(*astuple(small)))
    routine = render([(4096, XMM)], tmp_path, memset=memset)
    as_if_lacking(routine)
    program = build_dispatch_check(routine)
    taken = copies_taken(program, "asterope_memset", 4096, range(700))
    first = NEEDS_FROM[small]
    assert taken == [("none" if n < first else "asterope_set_untuned") for n in range(700)]
    # memcpy needs nothing that a CPU may lack
    taken = copies_taken(program, "asterope_memcpy", 2**40, [129, 2**20])
    assert taken == [f"asterope_copy_{XMM.symbol}"] * 2
    assert_right(build_routine_check(routine, objects), *SHORT, sets=True)


OTHER_CPU = """
static int __get_cpuid(unsigned leaf, unsigned *a, unsigned *b, unsigned *c, unsigned *d)
{
    *a = *b = *d = 0;
    *c = leaf == 1 ? leaf1_c : extended_c;
    if (leaf == 0x80000008u) *b = extended8_b;
    return leaf == 1 || leaf == 0x80000001u || leaf == 0x80000008u;
}
static int __get_cpuid_count(unsigned leaf, unsigned subleaf, unsigned *a, unsigned *b, unsigned *c,
                             unsigned *d)
{
    *a = *d = 0;
    *b = leaf7_b;
    *c = leaf7_c;
    return has_leaf_7 && leaf == 7 && subleaf == 0;
}
"""
# Intel SDM vol. 1, 13.3: what the system saves of SSE, AVX and AVX-512 in XCR0.
SAVED = {"xmm": 2, "ymm": 4, "k": 0x20, "zmm 0-15": 0x40, "zmm 16-31": 0x80}
LOOKED_FOR = {
    *("sse4_1", "osxsave", "avx2", "bmi2", "avx512f", "avx512bw", "avx512vl", "movdir64b"),
    *("3dnowprefetch", "clzero", *SAVED, "leaf 7"),
}
AVX = {"avx2", "osxsave", "xmm", "ymm", "leaf 7"}
AVX_512 = {"avx512f", "osxsave", *SAVED, "leaf 7"}

# The winner above the small copy, the small copy, all that a CPU must have for both, and the copy
# for overlapping buffers where it is not the plain one.
CPU_NEEDS = {
    "nothing": (R64, PLAIN, set()),
    "a ZMM move": (R64, PLAIN, AVX_512, OverlappingTuple("ZMM", 128)),
    "a YMM move": (R64, PLAIN, AVX, OverlappingTuple("YMM", 128)),
    "a ZMM pipeline": (ZMM, PLAIN, AVX_512),
    "a YMM pipeline": (YMM, PLAIN, AVX),
    "an XMM pipeline": (Tuple("XMM", "NT", "T", "none", 0, 0), PLAIN, {"sse4_1"}),
    "a pipeline of direct stores": (DIRECT[0][1], PLAIN, {"movdir64b", "leaf 7"}),
    "prefetch for write": (*(Tuple("XMM", "T", "T", "none", 0, 0, pw=8), PLAIN), {"3dnowprefetch"}),
    "a masked small copy": (R64, GATED, {*AVX_512, "avx512bw", "avx512vl", "bmi2"}),
    "a ZMM small copy": (*(R64, SmallTuple("stepped", "ZMM", "up", 256)), {*AVX_512, "avx512vl"}),
    "a YMM small copy": (R64, SmallTuple("grouped", "YMM", "up", 256), AVX),
}


def build_for_cpu(folder: Path, routine: Path, has: set[str]) -> Path:
    """dispatch_check of the routine as it is on a CPU with those features."""
    shutil.copytree(routine.parent, folder)
    (folder / "cpuid.h").write_text(OTHER_CPU, encoding="ascii")
    text = routine.read_text(encoding="ascii")
    if "cpuid.h" in text:
        saved = sum(bit for name, bit in SAVED.items() if name in has)
        assert text.count('("xgetbv"') == 1
        text = text.replace('("xgetbv"', f'("mov ${saved + 1}, %%eax; xor %%edx, %%edx"')
    (folder / routine.name).write_text(text, encoding="ascii")
    registers = dict.fromkeys(("leaf1_c", "leaf7_b", "leaf7_c", "extended_c", "extended8_b"), 0)
    for register, bit in (CPUID_BITS[name] for name in has & CPUID_BITS.keys()):
        registers[register] |= 1 << bit
    flags = [f"-D{register}={bits}u" for register, bits in registers.items()]
    flags.append(f"-Dhas_leaf_7={int('leaf 7' in has)}")
    return build_dispatch_check(folder / routine.name, flags=flags)


@pytest.mark.slow
@pytest.mark.parametrize("case", CPU_NEEDS.values(), ids=CPU_NEEDS)
def test_each_feature_is_looked_for(tmp_path, case):
    winner, small, needs, *moves = case
    routine = render([(4096, winner)], tmp_path / "routine", small, overlapping=(*moves, None)[0])
    without = [None, *sorted(LOOKED_FOR)]
    for number, feature in enumerate(without):
        program = build_for_cpu(tmp_path / str(number), routine, LOOKED_FOR - {feature})
        expected = "asterope_untuned" if feature in needs else f"asterope_copy_{winner.symbol}"
        for function in FUNCTIONS:
            taken = copies_taken(program, f"asterope_{function}", 2**40, [small.bound + 1, 2**20])
            assert taken == [expected] * 2, f"{function} without {feature}"


# The same of memset.
SET_NEEDS = {
    "nothing": (SET("R64", "T"), small_sets.PLAIN, set()),
    "a ZMM set": (SET("ZMM", "T"), small_sets.PLAIN, {*AVX_512, "avx512bw"}),
    "a YMM set": (SET("YMM", "NT"), small_sets.PLAIN, AVX),
    "clzero": (SET("CLZERO", "NT"), small_sets.PLAIN, {"clzero"}),
    "prefetch for write": (SET("XMM", "T", 2, 8), small_sets.PLAIN, {"3dnowprefetch"}),
    "a masked small set": (
        *(SET("R64", "T"), SmallSet("masked", "ZMM", "up", 256)),
        {*AVX_512, "avx512bw", "avx512vl", "bmi2"},
    ),
    "a ZMM small set": (
        *(SET("R64", "T"), SmallSet("stepped", "ZMM", "up", 256)),
        {*AVX_512, "avx512bw", "avx512vl"},
    ),
    "a YMM small set": (SET("R64", "T"), SmallSet("grouped", "YMM", "up", 256), AVX),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", SET_NEEDS.values(), ids=SET_NEEDS)
def test_each_feature_that_a_set_needs_is_looked_for(tmp_path, case):
    winner, small, needs = case
    memset = Memset([(4096, winner)], small)
    routine = render([(4096, R64)], tmp_path / "routine", memset=memset)
    for number, feature in enumerate([None, *sorted(LOOKED_FOR)]):
        program = build_for_cpu(tmp_path / str(number), routine, LOOKED_FOR - {feature})
        lacks = feature in needs
        expected = "asterope_set_untuned" if lacks else f"asterope_set_{winner.symbol}"
        taken = copies_taken(program, "asterope_memset", 0, [small.bound + 1, 2**20])
        assert taken == [expected] * 2, f"without {feature}"


@pytest.mark.slow
@pytest.mark.parametrize("rt", NEED)
def test_valgrind_finds_nothing(tmp_path, objects, rt):
    need("valgrind")
    program = build_routine_check(needed(rt, tmp_path), objects)
    # The state of the CPU is looked at from below the stack pointer, where valgrind allows nothing.
    options = ("--step", 31, "--other-step", 31, "--largest", 4096, "--without-state", 1)
    assert_right("valgrind", "--quiet", "--error-exitcode=9", program, *options, sets=True)


# --- The checks find what is wrong ----------------------------------------------------------------

# An instruction put in front of all three functions, and what routine_check must then say.
FAULTS = {
    "it writes a byte too far": ("movb $1, (%rdi,%rdx)", "stray write: byte 0 is 0x01"),
    "it writes a byte too early": (
        "movb $1, -1(%rdi)",
        "died of a fault at source byte .*, destination byte -1 ",
    ),
    "it writes to the source": ("movb $1, (%rsi)", "died of a fault at source byte 0,"),
    "it reads a byte too far": ("movzbl (%rsi,%rdx), %r8d", "died of a fault at source byte 0,"),
    "it reads a byte too early": ("movzbl -1(%rsi), %r8d", "died of a fault at source byte -1,"),
    "it is one byte off": ("inc %rsi", "byte 0 is 0x"),
    "it leaves out the last byte": ("sub $1, %rdx; adc $0, %rdx", "byte 0 is 0x"),
    "it uses what this CPU lacks": ("ud2", "died of SIGILL"),
    "it changes rbx": ("inc %rbx", "changed rbx"),
    "it changes r15": ("inc %r15", "changed r15"),
    "it uses the red zone": ("mov %rcx, -16(%rsp)", "wrote below the stack pointer"),
    "it writes to its caller's stack": ("mov %rcx, 16(%rsp)", "wrote to its caller's stack"),
    "it sets the direction flag": ("std", "left the direction flag set"),
    "it forgets emms": ("movq %rcx, %mm0", "left the x87 stack occupied"),
    "it changes the rounding": (
        "movl $0x1f80, -4(%rsp); ldmxcsr -4(%rsp); movl $0x5aa55aa5, -4(%rsp)",
        "changed MXCSR",
    ),
}


def assert_reported(folder: Path, objects: Path, instruction: str, message: str) -> None:
    """With the instruction in front of its functions the routine is found wrong."""
    routine = render([(512, XMM)], folder)
    with_instruction(routine, instruction)
    done = run(build_routine_check(routine, objects), *SHORT)
    assert done.returncode == 1
    for function, line in itertools.zip_longest(FUNCTIONS, failures(done.stdout)):
        place = r"\(\d+ bytes, source \+\d+, destination \+\d+, distance 0\)"
        assert re.fullmatch(f"FAIL {function}: {message}.*{place}", line)


@pytest.mark.parametrize(("instruction", "message"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_routine_is_reported(tmp_path, objects, instruction, message):
    assert_reported(tmp_path, objects, instruction, message)


def test_a_routine_that_forgets_vzeroupper_is_reported(tmp_path, objects):
    asks = tmp_path / "asks.c"
    asks.write_text(
        '#include "copy_check.h"\nint main(void) { return !copy_check_sees_dirty_halves(); }\n',
        encoding="ascii",
    )
    harness = compiled(objects, "copy_check")
    output_of("gcc", f"-I{CHECKERS}", asks, harness, "-o", tmp_path / "asks")
    if run(tmp_path / "asks").returncode != 0:
        pytest.skip("this CPU does not tell whether upper vector halves are dirty")
    all_ones = "vcmpps $15, %ymm9, %ymm9, %ymm9"  # always true
    assert_reported(tmp_path, objects, all_ones, "left upper vector halves dirty")
