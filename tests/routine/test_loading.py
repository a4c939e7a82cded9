"""Copies are right at every instruction of what loads a routine, in a handler and in a thread."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from architectures import X86_64, build_preload, sampled
from asterope.spaces.probes import PROBES, SensingCopy
from asterope.spaces.x86_64.pipelines import Tuple
from copy_programs import FUNCTIONS, REPOSITORY, Aliased, Intervals, render, run, shares_json
from dispatch_machines import FLAVOURS, MACHINES, render_profiles, write_profiles
from test_memcpy_mt import SHARES
from test_sensing import need_counter

SSE = [(900, Tuple("XMM", "T", "T", "none", 0, 0)), (1 << 20, Tuple("XMM", "T", "NT", "T0", 4, 8))]
AVX2 = [(900, Tuple("YMM", "T", "T", "none", 0, 0)), (1 << 20, Tuple("YMM", "T", "NT", "T0", 4, 8))]
AVX512 = [(900, Tuple("ZMM", "T", "T", "none", 0, 0)), *AVX2[1:]]
MASKED = X86_64.small["masked ZMM up 256"]

PLAIN = X86_64.small_copies.PLAIN
# The small copies that ask whether the CPU fits: the longest of every shape, register and order.
BY_BOUND = sorted((s for s in X86_64.small.values() if s.needs), key=lambda small: small.bound)
GATED = list({(s.shape, s.rt, s.order): s for s in BY_BOUND}.values())
UNGATED = [PLAIN, X86_64.small["grouped XMM middle 256"], X86_64.small["rep XMM up 256"]]


def need_features(intervals: Intervals, *others: object) -> None:
    """Skips where the routine would take its portable path, or the test cannot step through it."""
    if not X86_64.is_native:
        pytest.skip("a process of x86-64 can step through its own instructions, if it runs here")
    X86_64.cpu_for(*(t for _, t in intervals), *others)


def build(folder: Path, *sources: object, names: str = "asterope_{}", flags: tuple = ()) -> Path:
    """loading_check with these sources, whose functions are named so; -DASTEROPE_THREADS too."""
    lines = []
    for function in FUNCTIONS:
        # libc's memcpy forgives overlap, and so must what has its name
        forgives = function != "memcpy" or names == "{}"
        returns_end = function == "mempcpy"
        lines.append(f"FUNCTION({names.format(function)}, {forgives:d}, {returns_end:d})\n")
    if "-DASTEROPE_THREADS" in flags:
        lines.append(f"THREADED({names.format('memcpy_mt')})\n")
    (folder / "loading.inc").write_text("".join(lines), encoding="ascii")
    more = ("-O2", "-fno-builtin", "-pthread", *flags, *sources, "-Wl,-z,now")
    return X86_64.program(folder, "loading_check", *more)


def assert_right_at_each_step(program: Path, **environment: str) -> None:
    # An environment of the same size: a dispatching routine reads all of it.
    done = run(program, env=environment)
    assert (done.returncode, done.stdout.splitlines()[1:]) == (0, ["ok"]), done.stdout + done.stderr
    numbers = map(int, re.findall(r"\d+", done.stdout.splitlines()[0]))
    steps, steps_in_object, changes, interrupted = numbers
    # Without these nothing was stepped through.
    assert steps >= steps_in_object >= 20, done.stdout
    assert changes >= 1, done.stdout
    over_threads = "THREADED" in (program.parent / "loading.inc").read_text(encoding="ascii")
    assert over_threads or interrupted >= 9, done.stdout


@pytest.mark.parametrize("small", sampled([*UNGATED, *GATED], 5, lambda small: small.symbol))
def test_every_small_copy_is_right_while_its_gates_open(tmp_path, small):
    intervals = AVX512 if "ZMM" in small.name else AVX2
    need_features(intervals, small)
    assert_right_at_each_step(build(tmp_path, render(intervals, tmp_path, small)))


OVER_THREADS = ("-DASTEROPE_THREADS",)
WIDE = next(t for t in X86_64.moves if t.needs)
# A small copy, what the routine has besides, and flags.
GATES = {
    "unoptimized": (MASKED, {}, ("-O0",)),
    "aliasing buffers": (MASKED, {"aliased": Aliased(512, 16384, WIDE)}, ()),
    "threads, no gate of small copies": (PLAIN, {"shares": SHARES}, OVER_THREADS),
    "threads": (MASKED, {"shares": SHARES}, OVER_THREADS),
}


@pytest.mark.parametrize("case", GATES)
def test_copies_are_right_while_gates_open_one_by_one(tmp_path, case):
    small, more, flags = GATES[case]
    need_features(AVX512, small, WIDE)
    routine = render(AVX512, tmp_path, small, **more)
    assert_right_at_each_step(build(tmp_path, routine, flags=flags))


@pytest.mark.parametrize("small", [PLAIN, X86_64.small["grouped YMM up 128"], MASKED], ids=str)
def test_sensing_copies_are_right_while_the_counter_is_looked_at(tmp_path, small):
    need_counter(X86_64)
    intervals = [(16384, SSE[0][1]), (65536, SSE[1][1]), (1 << 20, SSE[0][1])]
    sensing = {65536: SensingCopy(PROBES[0], 200, SSE[0][1], SSE[1][1])}
    need_features(intervals, small)
    routine = render(intervals, tmp_path, small, sensing=sensing)
    text = routine.read_text(encoding="ascii")
    # Single steps take longer than the counter may.
    usable, count = re.subn(r"return least <= \d+;", "return least > 0;", text)
    assert count == 1
    routine.write_text(usable, encoding="ascii")
    assert_right_at_each_step(build(tmp_path, routine))


NAMES = ["haswell", "genoa", "any.sse4", "any.sse2"]


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a file of several profiles."""
    folder = tmp_path_factory.mktemp("several")
    paths = write_profiles(folder, NAMES)
    for path in paths:
        raw = json.loads(path.read_text(encoding="utf-8"))
        raw["choices"] += shares_json(*SHARES)
        path.write_text(json.dumps(raw), encoding="utf-8")
    return render_profiles(folder, paths).parent


@pytest.mark.parametrize("name", ["haswell", "genoa"])
@pytest.mark.parametrize("flags", [(), ("-DASTEROPE_NO_IFUNC",)], ids=["ifunc", "variable"])
@pytest.mark.parametrize("more", [(), OVER_THREADS], ids=["alone", "threads"])
def test_copies_are_right_while_a_profile_is_chosen(several, flags, more, name):
    flavour = FLAVOURS[MACHINES["x86_64"][name][-1]]
    need_features([(4096, flavour.winner)], flavour.small)
    program = build(several, several / "asterope_memcpy.c", flags=(*flags, *more))
    assert_right_at_each_step(program, ASTEROPE_PROFILE=name)


@pytest.fixture(params=["one profile", "several"])
def routine(request, tmp_path: Path) -> tuple[Path, Mapping[str, str]]:
    """A routine, and the environment that has its masked small copy taken."""
    need_features(AVX512, MASKED)
    if request.param == "one profile":
        return render(AVX512, tmp_path, MASKED), {}
    return render_profiles(tmp_path, write_profiles(tmp_path, NAMES)), {"ASTEROPE_PROFILE": "genoa"}


def test_copies_in_libc_s_place_are_right_while_gates_open(tmp_path, routine):
    path, environment = routine
    source = REPOSITORY / "templates" / "replace_libc.c"
    program = build(tmp_path, source, names="{}", flags=(f'-DASTEROPE_ROUTINE="{path}"',))
    assert_right_at_each_step(program, **environment)


def test_copies_of_the_preload_library_are_right_while_it_is_loaded(tmp_path, routine):
    path, environment = routine
    program, preloaded = build(tmp_path, names="{}"), tmp_path / "preload.so"
    build_preload(X86_64, path, preloaded)
    assert_right_at_each_step(program, LD_PRELOAD=str(preloaded), **environment)
