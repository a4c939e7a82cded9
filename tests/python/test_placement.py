"""The command asterope-placement: what it makes of timings, its builds, its files, its errors."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import random
import shutil
from pathlib import Path

import pytest
from asterope import generate
from asterope.placement import command, experiment, segments, words
from asterope.placement.experiment import (
    AGAIN,
    CALLED,
    COPIES,
    LEVELS,
    LIBC,
    PLACES,
    ROUTINE,
    Build,
    Trial,
    analyse,
)
from command_errors import exit_code_of, only_line_of
from profile_samples import good_profile

pytestmark = pytest.mark.filterwarnings("error::UserWarning")

BUILDS = [Build(c, level, Path("x"), Path("y")) for c in ("gcc", "clang") for level in LEVELS]
SIZES = (4096, 65536)


def made_up(
    slow_build: dict[int, float] | None = None,
    slow_place: tuple[str, str] = ("heap", "heap"),
    by: float = 1.0,
    rounds: int = 15,
) -> list[Trial]:
    """Timings of a machine with slow phases, and 0.5 % of noise, whose truth is known: builds of
    the routine that take so many times as long, a place in which everybody does."""
    noise = random.Random(7)
    trials = []
    for number, size, source, destination in itertools.product(
        range(rounds), SIZES, PLACES, PLACES
    ):
        phase = 1.4 if number % 5 == 2 else 1.0
        place = by if (source, destination) == slow_place else 1.0
        for build, copy in itertools.product(range(len(BUILDS)), COPIES):
            own = (slow_build or {}).get(build, 1.0) if copy == ROUTINE else 1.0
            ns = size / 50 * phase * place * own * noise.gauss(1, 0.005)
            trials.append(Trial(number, size, source, destination, build, copy, ns))
    return trials


def cell_of(row: dict[str, str]) -> tuple[str, ...]:
    keys = ("size", "source", "destination", "compiler", "level", "copy")
    return tuple(row[key] for key in keys)


# --- What the timings say -------------------------------------------------------------------------


def test_equal_builds_are_found_equal() -> None:
    results = analyse(made_up())
    assert results.different() == []
    low, high = results.spread(ROUTINE)
    assert 0.998 < low <= 1 <= high < 1.002
    assert "does not depend on the compiler and -O" in words.verdict(results, BUILDS)


@pytest.mark.parametrize(
    ("slow", "by", "verdict"),
    [
        (4, 1.05, "depends on the compiler and -O it was compiled with (clang -O0 at 4 KiB, "),
        (7, 0.995, "by at most 1 % (beyond the noise: clang -O3 at 4 KiB, clang -O3 at 64 KiB)"),
    ],
)
def test_a_build_that_differs_is_found_and_weighed(slow: int, by: float, verdict: str) -> None:
    results = analyse(made_up(slow_build={slow: by}))
    assert {build for _, build in results.different()} == {slow}
    assert results.spread(ROUTINE)[by > 1] == pytest.approx(by, abs=0.003)
    assert verdict in words.verdict(results, BUILDS)


def test_a_slower_place_is_found_in_both_copies() -> None:
    results = analyse(made_up(slow_place=("bss", "stack"), by=1.5))
    for copy in (ROUTINE, LIBC):
        ratio, _, source, destination = results.worst_place(copy)
        assert (source, destination) == ("bss", "stack")
        assert ratio == pytest.approx(1.5, rel=0.01)
        assert results.places[copy][4096]["heap", "heap"].median == 1
    assert results.different() == [], "a place is no matter of the builds"
    assert "1.50 x heap to heap" in words.verdict(results, BUILDS)


def test_the_picture_has_every_build_and_the_noise() -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    from asterope.placement import picture

    figure = picture.draw(analyse(made_up(slow_build={4: 1.05}, rounds=5)), BUILDS)
    assert len(figure.axes) >= 2 * len(SIZES)
    content = picture.png(figure)
    assert content.startswith(b"\x89PNG") and len(content) > 5000
    assert content == picture.png(figure)


# --- Loops over arrays in the data segment and on the heap ----------------------------------------

# Of a loop, a build: what the heap takes of the static time, and how the verdict begins.
SEGMENTS = {
    (
        "copy",
        "gcc -O0",
        1.3,
    ): "at -O0 in 1 of 10 cells (1.30: copy, gcc -O0); from -O1",
    ("product", "clang -O2", 0.9): "at -O0 in 0 of 10 cells; from -O1 on in 1 of 30 cells (0.90: ",
    ("fill", "gcc -O3", 1.005): "at -O0 in 0 of 10 cells; from -O1 on in 0 of 30 cells.",
}


@pytest.mark.parametrize(("slow", "expected"), SEGMENTS.items())
def test_a_loop_that_the_heap_makes_slower_is_found(slow: tuple, expected: str) -> None:
    noise = random.Random(3)
    rounds = [
        {
            (build.name, kind, loop): 100
            * (slow[2] if (loop, build.name, kind) == (*slow[:2], segments.HEAP) else 1)
            * noise.gauss(1, 0.001)
            for build, kind, loop in itertools.product(BUILDS, segments.PROGRAMS, segments.LOOPS)
        }
        for _ in range(15)
    ]
    text = segments.words(segments.analyse(rounds))
    assert expected in text.splitlines()[-1]
    assert text.count(" *\n") == (abs(slow[2] - 1) > 0.01)


def test_the_loops_are_built_and_timed(capsys: pytest.CaptureFixture[str]) -> None:
    compilers = experiment.find_compilers()
    assert run("--segments", "--rounds", "1", "--csv", "x") == 2
    assert "--segments writes no file" in capsys.readouterr().err
    assert run("--segments", "--rounds", "1") == 0
    text = capsys.readouterr().out
    for compiler, level, loop in itertools.product(compilers, LEVELS, segments.LOOPS):
        assert f"\n{loop:<11}{compiler} {level}" in text


# --- The whole command ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def routine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("routine")
    profile = folder / "profile.json"
    profile.write_text(json.dumps(good_profile()))
    assert generate.main([str(profile), "-o", str(folder)]) == 0
    return folder / "asterope_memcpy.c"


def run(*arguments: object) -> int:
    return exit_code_of(command.main, *arguments)


def only_line(capsys: pytest.CaptureFixture[str]) -> str:
    return only_line_of("asterope-placement", capsys)


def test_the_command_times_every_cell_and_answers(
    routine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not shutil.which("gcc") and not shutil.which("clang"):
        pytest.skip("no gcc and no clang")
    allowed = os.sched_getaffinity(0)
    cells = tmp_path / "cells.csv"
    assert run(routine, "--sizes", "1,4K", "--rounds", "2", "--csv", cells) == 0
    assert os.sched_getaffinity(0) == allowed
    verdict = capsys.readouterr().out.splitlines()[-1]
    assert verdict.startswith("The routine's speed ") and "Placement: the routine" in verdict
    rows = list(csv.DictReader(io.StringIO(cells.read_text())))
    compilers = experiment.find_compilers()
    axes = (("1", "4096"), PLACES, PLACES, compilers, LEVELS, sorted(COPIES))
    assert sorted(map(cell_of, rows)) == sorted(itertools.product(*axes))
    assert all(float(row["ns"]) > 0 for row in rows)


def test_the_builds_are_as_many_files_of_their_own(routine: Path, tmp_path: Path) -> None:
    compilers = experiment.find_compilers()
    builds = experiment.build_all(routine, compilers, tmp_path)
    assert [b.name for b in builds] == [f"{c} {level}" for c in compilers for level in LEVELS]
    assert len({b.library for b in builds} | {b.again for b in builds}) == 2 * len(builds)
    assert len({b.again.read_bytes() for b in builds}) == 1
    assert len({b.library.read_bytes() for b in builds}) > 1


def test_the_processes_share_the_rounds(routine: Path, tmp_path: Path) -> None:
    compiler = experiment.find_compilers()[0]
    builds = experiment.build_all(routine, [compiler], tmp_path)
    driver = experiment.build_driver(compiler, tmp_path)
    trials = experiment.time_all(driver, builds, [64], rounds=6, seed=1)
    by_round = {n: [t for t in trials if t.round == n] for n in range(6)}
    assert sum(map(len, by_round.values())) == len(trials)
    for own in by_round.values():
        assert len(own) == len(PLACES) ** 2 * len(builds) * len(COPIES)
    first, second = (
        [(t.source, t.destination, t.build, t.copy) for t in by_round[n]] for n in (0, 1)
    )
    assert sorted(first) == sorted(second) and first != second, "shuffled"
    assert {t.copy for t in trials} == {ROUTINE, AGAIN, CALLED, LIBC}


MEMCPY = "#include <stddef.h>\nvoid *asterope_memcpy(void *to, const void *from, size_t n)\n"
WRONG = (
    MEMCPY + "{ for (size_t i = 1; i < n; ++i) ((char *)to)[i] = ((const char *)from)[i];\n"
    "  return to; }"
)
CRASH = MEMCPY + "{ (void)to; (void)from; (void)n; __builtin_trap(); }"


@pytest.mark.parametrize(
    ("text", "expected", "code"),
    [
        ("int x = ;", "error", 2),
        ("int x;", "asterope_memcpy", 1),
        (WRONG, "the routine copies 64 bytes wrongly", 1),
        (CRASH, "signal", 1),
    ],
    ids=["no C", "no such function", "wrong", "crash"],
)
def test_what_is_no_routine_gets_one_line(
    text: str, expected: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.c"
    other.write_text(text + "\n")
    assert run(other, "--sizes", "64", "--rounds", "1") == code
    assert expected in only_line(capsys)


BAD = ["--sizes 0", "--sizes 2M", "--sizes 4K,,8K", "--rounds 0", "--cpu x", "--cpu 65535"]


@pytest.mark.parametrize("arguments", [*BAD, "absent.c"])
def test_bad_arguments_get_one_line(
    arguments: str, routine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*([routine] if arguments in BAD else []), *arguments.split()) == 2
    only_line(capsys)
