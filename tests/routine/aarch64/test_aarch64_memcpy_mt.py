"""asterope_memcpy_mt of AArch64 copies right, whoever calls it, and calls no copy of libc's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from aarch64_programs import (
    CLANG,
    CLANGXX,
    COMPILER,
    PLAIN,
    WITH_SVE,
    WITHOUT_SVE,
    emulated,
    needs_emulator_and_time,
)
from asterope.profile import load_profile
from asterope.render import render_routine
from asterope.spaces.aarch64.pipelines import Tuple
from copy_programs import CHECKERS, Intervals, need, output_of, profile_json, run

pytestmark = needs_emulator_and_time

# Plain chunks, even shares, a size between for one thread, and chunks that no page divides.
# Above, up to, threads, chunk.
SHARES = [
    (131071, 300000, 2, 65536),
    (300000, 1048576, 3, 0),
    (1048576, 2097152, 1, 0),
    (2097152, 4194304, 4, 100000),
]
INTERVALS = [(262144, PLAIN), (4 << 20, Tuple("Q", "T", "NT", "L1KEEP", 4, 8))]
VECTORS = [(262144, Tuple("SVE", "T", "T", "none", 0, 0))]
# CPUs, how many threads may be started, and that the emulator has one of its own.
TOLD = (4, -1, 1)
THREADED = ("-DASTEROPE_THREADS", "-pthread")


def render_shared(folder: Path, intervals: Intervals = INTERVALS) -> Path:
    """A routine of a profile with these shares."""
    text = profile_json(intervals, shares=SHARES)
    (folder / "profile.json").write_text(text, encoding="utf-8")
    for name, text in render_routine(load_profile(folder / "profile.json")).items():
        (folder / name).write_text(text, encoding="ascii")
    return folder / "asterope_memcpy.c"


def build_check(routine: Path, *flags: str) -> Path:
    program = routine.parent / "memcpy_mt_check"
    source = CHECKERS / "memcpy_mt_check.c"
    paths = (f'-DROUTINE="{routine}"', f"-I{routine.parent}")
    warnings = ("-std=gnu11", "-Wall", "-Wextra", "-Werror")
    output_of(COMPILER, *warnings, "-O1", *THREADED, *flags, *paths, source, "-o", program)
    return program


@pytest.fixture(scope="module")
def check(tmp_path_factory) -> Path:
    return build_check(render_shared(tmp_path_factory.mktemp("shared")))


# Left out: what the emulator cannot show. It makes a process of a child that shares memory
# ("children"), and has threads of its own, which a child may find in the midst of something
# ("fork", "forks", "handler").
CHECKS = ["copies", "callers", "help", "sleeper", "held", "faults", "stop"]


@pytest.mark.parametrize("what", CHECKS)
def test_copies_over_threads_are_right(check, what):
    done = run(*emulated(), check, what, *TOLD)
    if done.stdout.startswith("skip: "):
        pytest.skip(done.stdout.strip())
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["ok"]), (
        done.stdout + done.stderr[-4000:]
    )


@pytest.mark.parametrize("cpu", [WITH_SVE, WITHOUT_SVE])
def test_a_cpu_that_lacks_what_the_copies_need_copies_alone(tmp_path, cpu):
    done = run(*emulated(cpu), build_check(render_shared(tmp_path, VECTORS)), "tasks", *TOLD)
    assert done.stdout.splitlines() == ["1" if cpu == WITHOUT_SVE else "4", "ok"], done.stderr


@pytest.mark.parametrize(
    "compiler",
    [(COMPILER, "-std=c99"), (*CLANG, "-std=c99"), ("aarch64-linux-gnu-g++",), CLANGXX],
    ids=lambda c: c[0],
)
def test_the_pool_compiles_without_a_word_and_calls_no_copy_of_libc(tmp_path, compiler):
    need(compiler[0])
    routine = render_shared(tmp_path)
    target = tmp_path / "routine.o"
    as_cxx = ("-x", "c++", "-std=c++11") if "++" in compiler[0] else ()
    for level in ("-O0", "-O3"):
        flags = (*as_cxx, level, "-Wall", "-Wextra", "-Wpedantic", "-Werror", *THREADED)
        output_of(*compiler, *flags, "-c", routine, "-o", target)
        undefined = output_of("aarch64-linux-gnu-nm", "--undefined-only", target)
        assert "pthread_create" in undefined
        assert not re.findall(r"\b\w*mem(?:cpy|move|set)\w*\b", undefined)


def test_without_the_macro_there_is_no_thread_in_it(tmp_path):
    target = tmp_path / "routine.o"
    output_of(COMPILER, "-std=c99", "-O2", "-c", render_shared(tmp_path), "-o", target)
    symbols = output_of("aarch64-linux-gnu-nm", target)
    assert "pthread" not in symbols
    assert "_mt" not in symbols
