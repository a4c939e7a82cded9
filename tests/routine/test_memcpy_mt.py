"""asterope_memcpy_mt copies right for every caller, and its threads come and go as they should."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from architectures import X86_64, Architecture, each, once
from copy_programs import (
    CHECKERS,
    SHORT,
    Intervals,
    assert_right,
    change,
    output_of,
    render,
    run,
    with_own_calls,
)

# Plain chunks, even shares, a size between for one thread, and chunks that no page divides.
# Above, up to, threads, chunk.
SHARES = [
    (131071, 300000, 2, 65536),
    (300000, 1048576, 3, 0),
    (1048576, 2097152, 1, 0),
    (2097152, 4194304, 4, 100000),
]
THREADED = ("-DASTEROPE_THREADS", "-pthread")


def told(arch: Architecture, creations: int = -1) -> tuple[int, ...]:
    """Arguments of the check: CPUs, how many threads may be started, and an emulator's thread."""
    return (4, creations, int(not arch.is_native))


def tuned(arch: Architecture) -> Intervals:
    """Plain, then past the caches."""
    non_temporal = {"x86_64": ("XMM", "T", "NT", "T0"), "aarch64": ("Q", "T", "NT", "L1KEEP")}
    return [(262144, arch.plain), (4 << 20, arch.pipelines.Tuple(*non_temporal[arch.name], 4, 8))]


def build_check(arch: Architecture, routine: Path, *flags: str, compiler: tuple = ()) -> Path:
    more = (f'-DROUTINE="{routine}"', "-O1", *THREADED, CHECKERS / "copy_check.c", *flags)
    return arch.program(routine.parent, "memcpy_mt_check", *more, compiler=compiler)


check = once(lambda arch, folder: build_check(arch, render(tuned(arch), folder, shares=SHARES)))


def assert_ok(done: subprocess.CompletedProcess[str]) -> None:
    if done.stdout.startswith("skip: "):
        pytest.skip(done.stdout.strip())
    ended = (done.returncode, done.stdout.splitlines()[-1:])
    assert ended == (0, ["ok"]), done.stdout + done.stderr[-4000:]


CHECKS = ["copies", "callers", "help", "sleeper", "held", "faults", "stop"]
# Checks that an emulator cannot make. It makes a process of a child that shares memory. It has
# threads of its own, which a child may find in the midst of something.
NATIVE_CHECKS = ["children", "forks", "namespace"]


@each(lambda arch: CHECKS + NATIVE_CHECKS * arch.is_native)
def test_copies_over_threads_are_right(check, arch, case):
    assert_ok(run(*arch.on(), check(arch), case, *told(arch)))


def build_staged(arch: Architecture, folder: Path, mode: str, stage: str) -> Path:
    """The check of a routine whose calls of the system that prepare pages go through it; `mode`:
    that of huge pages in its profile; `stage`: that of large copies."""
    stages = [(65535, 1 << 20, "populate", 65536), (1 << 20, 4 << 20, stage, 1 << 20)]
    shares = [(131071, 4 << 20, 2 if stage == "advise" else 3, 0)]
    routine = render(tuned(arch), folder, shares=shares, stages=stages, huge_pages=mode)
    flags = ["-Wno-unused-function"] + ["-DSTORES_MAP_HUGE_PAGES=1"] * (stage == "advise")
    return build_check(arch, with_own_calls(routine, "counted_call"), *flags)


staged_check = once(build_staged)


def staged(arch: Architecture) -> dict[str, tuple]:
    """The mode, the stage, the check, and how many threads may be started."""
    of_chunks = ("fresh", "copies", "faults") if arch.is_native else ()
    return {
        **{f"{what} with page stages": ("", "huge", what, -1) for what in ("fresh", *CHECKS)},
        "fresh without threads": ("", "huge", "fresh", 0),
        # one of these two the system has not got
        **{f"fresh under {mode}": (mode, "huge", "fresh", -1) for mode in ("never", "always")},
        # whole huge pages of a chunk are left to its stores
        **{f"{what} with huge pages": ("", "advise", what, -1) for what in of_chunks},
    }


@each(staged)
def test_copies_over_threads_prepare_pages_and_are_right(staged_check, arch, case):
    *stages, what, creations = case
    assert_ok(run(*arch.on(), staged_check(arch, *stages), what, *told(arch, creations)))


@pytest.mark.slow
@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@each(emulated=False)
def test_copies_over_threads_are_clean_under_sanitizers(tmp_path, arch, compiler, sanitizer):
    routine = render(tuned(arch), tmp_path, shares=SHARES)
    program = build_check(arch, routine, f"-fsanitize={sanitizer}", "-g", compiler=(compiler,))
    options = {"UBSAN_OPTIONS": "halt_on_error=1", "TSAN_OPTIONS": "die_after_fork=0"}
    # The leak checker stops in children of a process that has threads.
    environment = {**os.environ, **options, "ASAN_OPTIONS": "detect_leaks=0"}
    checks = ["copies", "callers", "help", "faults"]
    if sanitizer != "thread":  # it does not know children that start threads
        checks += ["children", "forks"]
    for what in checks:
        # A child waits for ever for a lock that a starting thread had, so one thread is started.
        arguments = (4, 1) if what in NATIVE_CHECKS else ()
        assert_ok(run(program, what, *arguments, env=environment))


def threads_of(check: Path, *arguments: object, **options: object) -> int:
    done = run(check, "tasks", *arguments, **options)
    assert_ok(done)
    return int(done.stdout.splitlines()[0])


@each(emulated=False)
def test_there_are_no_more_threads_than_cpus_or_than_are_wanted_or_can_be_started(check, arch):
    assert [threads_of(check(arch), cpus) for cpus in (1, 2, 3, 64)] == [1, 2, 3, 4]
    assert [threads_of(check(arch), 4, creations) for creations in (0, 1, 2)] == [1, 2, 3]
    cpu = min(os.sched_getaffinity(0))
    confined = {"preexec_fn": lambda: os.sched_setaffinity(0, {cpu})}
    assert threads_of(check(arch), 0, **confined) == 1


@pytest.mark.parametrize("shares", [[], [(131071, 300000, 1, 65536)]])
@each()
def test_a_profile_without_shares_makes_a_copy_without_threads(tmp_path, objects, arch, shares):
    routine = render(tuned(arch), tmp_path, shares=shares)
    program = arch.routine_check(routine, objects, *arch.gcc, "-O2", *THREADED)
    options = (*SHORT, "--around", "200000,300000", "--without-state", 1)
    assert_right(*arch.on(), program, *options, intents=["mt"])
    assert "pthread_create" not in routine.read_text(encoding="ascii")


def test_the_size_of_the_whole_decides_which_copy_its_chunks_take(tmp_path):
    """300 KB in chunks of 64 KiB take the copy for 300 KB."""
    routine = render(tuned(X86_64), tmp_path, shares=[(131071, 4 << 20, 2, 65536)])
    text = routine.read_text(encoding="ascii")
    table = text[text.index("} copies[] = {") : text.index("} shares[] = {")]
    found = re.findall(r"\{(\S+), asterope_copy_(\w+)\}", table)
    symbols = [t.symbol for _, t in tuned(X86_64)]
    assert found == list(zip(("262144", "(size_t)-1"), symbols))


# Opens the library, copies with its threads, and closes it, again and again: the threads must be
# gone before their code is. So must children that no handler of fork is called in, and that have
# none of the threads. Prints how many threads there were.
CLOSES = """
import ctypes, os, sys, time
from _ctypes import dlclose
threads = lambda: len(os.listdir("/proc/self/task"))
fork, most, path = ctypes.CDLL(None).syscall, 0, sys.argv[1]
SYS_clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
for i in range(200):
    library, to = ctypes.CDLL(path), ctypes.create_string_buffer(1000000)
    for _ in range(1 + i % 3):
        library.asterope_memcpy_mt(to, bytes([i]) * 1000000, ctypes.c_size_t(1000000))
    assert to.raw == bytes([i]) * 1000000
    most = max(most, threads())
    child = -1 if i % 4 else fork(SYS_clone, 17, 0, 0, 0, 0)
    dlclose(library._handle)
    assert child <= 0 or os.waitpid(child, 0)[1] == 0
    tries = 0
    while threads() > 1 and tries < 10000:  # one that was joined may stand in /proc for a moment
        time.sleep(0.001)
        tries += 1
    assert threads() == 1
    try:
        ctypes.CDLL(path, os.RTLD_NOLOAD | os.RTLD_NOW)
        sys.exit("the library is not closed")
    except OSError:
        pass
    if child == 0:
        os._exit(0)
print(most)
"""


@each(emulated=False)
def test_a_library_is_closed_with_its_threads(tmp_path, arch):
    routine, library = render(tuned(arch), tmp_path, shares=SHARES), tmp_path / "library.so"
    output_of("gcc", *THREADED, "-O2", "-fPIC", "-shared", routine, "-o", library)
    most = int(output_of(sys.executable, "-c", CLOSES, library))
    assert most == min(3, len(os.sched_getaffinity(0)))


@each()
def test_a_cpu_that_lacks_what_the_copies_need_copies_alone(tmp_path, arch):
    vectors = {"x86_64": "ZMM", "aarch64": "SVE"}[arch.name]
    t = arch.pipelines.Tuple(vectors, "T", "T", "none", 0, 0)
    cpu = arch.cpu_for(t)
    routine = render([(262144, t)], tmp_path, shares=SHARES)
    for threads in "41":
        done = run(*arch.on(cpu), build_check(arch, routine), "tasks", *told(arch))
        assert done.stdout.splitlines() == [threads, "ok"], done.stderr
        if threads == "4":
            change(routine, {"if (!asterope_cpu_fits())": "if (asterope_cpu_fits())"})
