"""asterope_memcpy_mt copies right, whoever calls it, and its threads come and go as they should."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from asterope.profile import load_profile
from asterope.render import render_routine
from asterope.spaces.x86_64.pipelines import Tuple
from asterope.spaces.x86_64.small_copies import SmallTuple
from copy_programs import CHECKERS, STRICT_C, Intervals, cpu_features, output_of, profile_json, run

# Plain chunks, even shares, a size between for one thread, and chunks that no page divides.
# Above, up to, threads, chunk.
SHARES = [
    (131071, 300000, 2, 65536),
    (300000, 1048576, 3, 0),
    (1048576, 2097152, 1, 0),
    (2097152, 4194304, 4, 100000),
]
PLAIN = Tuple("XMM", "T", "T", "none", 0, 0)
NON_TEMPORAL = Tuple("XMM", "T", "NT", "T0", 4, 8)
INTERVALS = [(262144, PLAIN), (4 << 20, NON_TEMPORAL)]

THREADED = ("-DASTEROPE_THREADS", "-pthread")


def render_shared(
    folder: Path,
    shares: list[dict[str, int]] | None,
    intervals: Intervals = INTERVALS,
    small: SmallTuple | None = None,
) -> Path:
    """A routine of a profile with these shares; none: without the section."""
    folder.mkdir(exist_ok=True)
    text = profile_json(intervals, small, shares=shares or ())
    (folder / "profile.json").write_text(text, encoding="utf-8")
    for name, text in render_routine(load_profile(folder / "profile.json")).items():
        (folder / name).write_text(text, encoding="ascii")
    return folder / "asterope_memcpy.c"


def build_check(routine: Path, compiler: str = "gcc", *flags: str) -> Path:
    program = routine.parent / "memcpy_mt_check"
    source = CHECKERS / "memcpy_mt_check.c"
    paths = (f'-DROUTINE="{routine}"', f"-I{routine.parent}")
    warnings = ("-std=gnu11", "-Wall", "-Wextra", "-Werror")
    output_of(compiler, *warnings, "-O1", *THREADED, *flags, *paths, source, "-o", program)
    return program


@pytest.fixture(scope="module")
def check(tmp_path_factory) -> Path:
    return build_check(render_shared(tmp_path_factory.mktemp("shared"), SHARES))


def assert_ok(done: subprocess.CompletedProcess[str]) -> None:
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["ok"]), (
        done.stdout + done.stderr[-4000:]
    )


CHECKS = ["copies", "callers", "help", "fork", "children", "forks", "sleeper", "namespace"]
CHECKS += ["handler", "held", "faults", "stop"]


@pytest.mark.parametrize("what", CHECKS)
def test_copies_over_threads_are_right(check, what):
    done = run(check, what)
    if done.stdout.startswith("skip: "):
        pytest.skip(done.stdout.strip())
    assert_ok(done)


@pytest.mark.slow
@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_copies_over_threads_are_clean_under_sanitizers(tmp_path, compiler, sanitizer):
    routine = render_shared(tmp_path, SHARES)
    program = build_check(routine, compiler, f"-fsanitize={sanitizer}", "-g")
    options = {"UBSAN_OPTIONS": "halt_on_error=1", "TSAN_OPTIONS": "die_after_fork=0"}
    # The leak checker stops in children of a process that has threads.
    environment = {**os.environ, **options, "ASAN_OPTIONS": "detect_leaks=0"}
    checks = ["copies", "callers", "help", "handler", "faults"]
    if sanitizer != "thread":  # it does not know children that start threads
        checks += ["fork", "children", "forks"]
    for what in checks:
        done = run(program, what, env=environment)
        # Before LLVM 18 (pull request 75290), whose runtime gcc has as well, the address sanitizer
        # may stop in a child of a process that has threads: seldom, and never every time.
        for _ in range(2):
            if "address" in sanitizer and done.stdout.startswith("FAIL: a child hangs"):
                done = run(program, what, env=environment)
        assert_ok(done)


@pytest.mark.parametrize("compiler", ["gcc", "clang", "g++", "clang++"])
def test_the_pool_compiles_without_a_word(tmp_path, compiler):
    routine = render_shared(tmp_path, SHARES)
    standard = ["-x", "c++", "-std=c++11"] if "++" in compiler else ["-std=c99"]
    for level in ("-O0", "-O1", "-O2", "-O3"):
        flags = [*standard, level, "-Wall", "-Wextra", "-Wpedantic", "-Werror", *THREADED]
        output_of(compiler, *flags, "-c", routine, "-o", tmp_path / "routine.o")


def threads_of(check: Path, *arguments: object, **options: object) -> int:
    done = run(check, "tasks", *arguments, **options)
    assert_ok(done)
    return int(done.stdout.splitlines()[0])


def test_there_are_no_more_threads_than_cpus_or_than_the_profile_wants_or_can_be_started(check):
    assert [threads_of(check, cpus) for cpus in (1, 2, 3, 64)] == [1, 2, 3, 4]
    assert [threads_of(check, 4, creations) for creations in (0, 1, 2)] == [1, 2, 3]
    cpu = min(os.sched_getaffinity(0))
    assert threads_of(check, 0, preexec_fn=lambda: os.sched_setaffinity(0, {cpu})) == 1


@pytest.mark.parametrize("shares", [None, [], [{**SHARES[0], "threads": 1}]])
def test_a_profile_without_shares_makes_a_copy_without_threads(tmp_path, shares):
    routine = render_shared(tmp_path, shares)
    program, source = tmp_path / "program", tmp_path / "program.c"
    source.write_text(
        '#include "asterope_memcpy.h"\n#include <string.h>\n'
        "static char from[500000] = {1, 2, 3}, to[500000];\n"
        "int main(void) { return asterope_memcpy_mt(to, from, sizeof to) != to"
        " || memcmp(from, to, sizeof to) != 0; }\n",
        encoding="ascii",
    )
    output_of("gcc", *STRICT_C, *THREADED, source, routine, "-o", program)
    assert run(program).returncode == 0
    assert "pthread_create" not in routine.read_text(encoding="ascii")


def test_without_the_macro_there_is_no_thread_in_it(tmp_path):
    routine = render_shared(tmp_path, SHARES)
    output_of("gcc", *STRICT_C, "-O2", "-c", routine, "-o", tmp_path / "routine.o")
    undefined = output_of("nm", "--undefined-only", tmp_path / "routine.o")
    assert set(undefined.split()) <= {"U", "_GLOBAL_OFFSET_TABLE_"}
    assert "_mt" not in output_of("nm", "--defined-only", tmp_path / "routine.o")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_the_pool_calls_no_copy_of_libc(tmp_path, compiler, level):
    routine = render_shared(tmp_path, SHARES)
    output_of(compiler, "-std=c99", level, *THREADED, "-c", routine, "-o", tmp_path / "routine.o")
    undefined = output_of("nm", "--undefined-only", tmp_path / "routine.o")
    assert not re.findall(r"\b\w*mem(?:cpy|move|set)\w*\b", undefined)


def test_the_size_of_the_whole_decides_which_copy_its_chunks_take(tmp_path):
    """300 KB in chunks of 64 KiB take the copy for 300 KB."""
    shares = [{"above": 131071, "up_to": 4 << 20, "threads": 2, "chunk": 65536}]
    text = render_shared(tmp_path, shares).read_text(encoding="ascii")
    table = text[text.index("} copies[] = {") : text.index("} shares[] = {")]
    found = re.findall(r"\{(\S+), asterope_copy_(\w+)\}", table)
    assert found == [("262144", PLAIN.symbol), ("(size_t)-1", NON_TEMPORAL.symbol)]


def test_a_library_is_closed_with_its_threads(tmp_path):
    routine = render_shared(tmp_path, SHARES)
    library, program = tmp_path / "library.so", tmp_path / "closing_check"
    output_of("gcc", *STRICT_C, *THREADED, "-O2", "-fPIC", "-shared", routine, "-o", library)
    source = CHECKERS / "closing_check.c"
    output_of("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", source, "-o", program, "-ldl")
    done = run(program, library)
    assert_ok(done)
    wanted = min(3, len(os.sched_getaffinity(0)))
    assert done.stdout.splitlines()[0] == f"{wanted} threads"


@pytest.mark.skipif("avx512f" not in cpu_features(), reason="needs AVX-512 to be told apart")
def test_a_cpu_that_lacks_what_the_copies_need_copies_alone(tmp_path):
    tuned = [(262144, Tuple("ZMM", "T", "T", "none", 0, 0))]
    routine = render_shared(tmp_path, SHARES, tuned)
    text = routine.read_text(encoding="ascii")
    refused = text.replace("if (!asterope_cpu_fits())", "if (asterope_cpu_fits())")
    assert refused != text
    routine.write_text(refused, encoding="ascii")
    assert threads_of(build_check(routine), 4) == 1
