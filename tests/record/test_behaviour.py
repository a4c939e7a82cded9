"""A program under the recorder does what it does without: it is not seen, and it breaks nothing."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest
from asterope.record.launching import environment_with
from asterope.record.raw import RawProcess
from copy_programs import CHECKERS, need, need_way, output_of
from recorded_programs import ALL, Recorder, copies, said

HERE = Path(__file__).parent
PERIODS = [None, ALL]


# --- Right copies ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def preload_check(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the preload library is checked with, and beside it the library that it loads."""
    folder = tmp_path_factory.mktemp("preload_check")
    flags = ["-std=gnu99", "-O2", "-fno-builtin", CHECKERS / "preload_check.c"]
    output_of("cc", *flags, "-shared", "-fPIC", "-DPLUGIN", "-o", folder / "plugin.so")
    output_of("cc", *flags, "-o", folder / "preload_check", "-pthread", "-ldl")
    return folder / "preload_check"


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("situation", ["copies", "early", "signals", "fork", "threads", "dlopen"])
def test_copies_are_right(
    recorder: Recorder, preload_check: Path, situation: str, period: int | None
) -> None:
    recorder.run(preload_check, situation, preload_check.with_name("plugin.so"), period=period)


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("situation", ["overlapping", "errno", "files"])
def test_a_program_sees_nothing_of_it(
    recorder: Recorder, check: Path, situation: str, period: int | None
) -> None:
    recorder.run(check, situation, period=period)
    assert recorder.only().counts


@pytest.mark.parametrize("period", PERIODS)
def test_a_handler_that_forks_within_a_copy_is_borne(
    recorder: Recorder, check: Path, period: int | None
) -> None:
    recorder.run(check, "fork_in_handler", period=period)
    assert len(recorder.processes()) >= 1


def test_a_fortified_program_ends_as_ever(recorder: Recorder, tmp_path: Path) -> None:
    program = tmp_path / "fortified"
    flags = ["-std=gnu99", "-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-w"]
    output_of("cc", *flags, CHECKERS / "preload_check.c", "-o", program, "-pthread", "-ldl")
    for arguments in (("memcpy", 16), ("memcpy", 17), ("memmove", 32), ("mempcpy", 17)):
        command = [program, *map(str, arguments)]
        plain = subprocess.run(command, capture_output=True, text=True)
        done = recorder.run(*command, code=None)
        assert (done.returncode, done.stdout, done.stderr) == (
            *(plain.returncode, plain.stdout, plain.stderr),
        )


# --- What there is too little of ------------------------------------------------------------------


@pytest.mark.parametrize("largest", [0, 100, 100_000, 1 << 20])
def test_a_limit_on_the_size_of_files_kills_no_program(
    recorder: Recorder, check: Path, largest: int
) -> None:
    """Whose default is a signal that does."""
    limit = (largest, largest)
    recorder.run(
        *(check, "threads", 100, 20),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )
    (path,) = recorder.folder.iterdir()
    if largest < 1 << 20:
        assert path.stat().st_size == 0
        return
    assert path.stat().st_size <= largest
    flags = recorder.only().flags
    assert flags.shared_slots and not flags.full


@pytest.mark.parametrize("kib", [8, 40, 400])
def test_a_full_disk_ends_the_recording_and_not_the_program(
    recorder: Recorder, check: Path, kib: int
) -> None:
    need("mount", "umount")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", recorder.folder],
        capture_output=True,
    )
    if mounted.returncode != 0:
        pytest.skip("only root can mount a small disk")
    try:
        recorder.run(check, "threads", 50, 100, period=ALL)
        recorder.run(check, "mixture", 30_000, period=ALL)
        sizes = sorted(path.stat().st_size for path in recorder.folder.iterdir())
        if kib >= 40:
            assert any(process.flags.full for process in recorder.processes_of_any())
        else:
            assert sizes == [0, 0]
    finally:
        subprocess.run(["umount", recorder.folder], check=True)


def test_a_folder_that_nobody_may_write_to_is_no_fault(recorder: Recorder, check: Path) -> None:
    recorder.folder.rmdir()
    recorder.folder.write_text("a file\n")
    recorder.run(check, "functions")


def test_without_proc_modules_are_unknown_and_counts_right(recorder: Recorder, check: Path) -> None:
    hide = f"mount -t tmpfs none /proc && exec {check} copies 100 5000"
    command = ["unshare", "-m", "sh", "-c", hide]
    if (
        shutil.which("unshare") is None
        or subprocess.run(
            ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/proc"], capture_output=True
        ).returncode
    ):
        pytest.skip("only root can hide /proc")
    recorder.run(*command, period=ALL)
    process = next(p for p in recorder.processes() if p.counts == copies(100, 5000))
    assert process.modules == []
    assert process.drawn == 5000


# --- Programs that restrict themselves ------------------------------------------------------------


def after_giving_up(
    recorder: Recorder, check: Path, situation: str, how: str, period: int | None
) -> RawProcess:
    """The process that others share the file of, if any do; skips where this machine cannot do
    that."""
    done = recorder.run(check, situation, how, 1000, period=period, code=None)
    if done.returncode == 77:
        pytest.skip(done.stdout or "only root may do that")
    assert done.returncode == 0
    return max(recorder.processes_of_any(), key=lambda one: one.flags.shared_slots)


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("how", ["calls", "calls_directly", "strict"])
def test_a_program_that_gives_up_system_calls_is_only_counted_from_then_on(
    recorder: Recorder, check: Path, period: int | None, how: str
) -> None:
    process = after_giving_up(recorder, check, "restricted", how, period)
    assert process.flags.quiet
    assert process.counts == copies(16, 2000, 5000, 2000)
    if period == ALL:
        assert process.drawn == 2000


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("how", ["calls", "root", "files", "size"])
def test_children_that_can_make_no_file_are_counted_in_their_parent_s(
    recorder: Recorder, check: Path, period: int | None, how: str
) -> None:
    process = after_giving_up(recorder, check, "guest", how, period)
    assert process.flags.shared_slots
    assert process.flags.quiet == (how == "calls")
    if how == "calls":  # the program's child had a file before it gave them up
        assert process.counts == copies(32, 1000, 64, 1000)
    else:
        assert process.counts == copies(16, 2000, 32, 1000, 40, 1000, 64, 1000)
        assert process.children_cpu_seconds > 0


def recorded_without(
    recorder: Recorder, check: Path, refused: dict[str, int], *command: object
) -> RawProcess:
    """A program for which these system calls fail; skips where that cannot be arranged."""
    wrapped: list[object] = [check, *command]
    for name, error in refused.items():
        wrapped = [check, "refused", name, error, *wrapped]
    done = recorder.run(*wrapped, period=ALL, code=None, timeout=120)
    if done.returncode == 77:
        pytest.skip(done.stdout)
    assert done.returncode == 0
    return next(process for process in recorder.processes() if process.counts)


@pytest.mark.parametrize(
    "refused",
    [
        {"madvise": errno.EINVAL},
        {"madvise": errno.EINVAL, "fallocate": errno.EOPNOTSUPP},
    ],
    ids="-".join,
)
@pytest.mark.parametrize("situation", [("halves", 10_000), ("threads", 20, 500)])
def test_older_kernels_and_other_file_systems_do(
    recorder: Recorder, check: Path, refused: dict[str, int], situation: tuple
) -> None:
    process = recorded_without(recorder, check, refused, *situation)
    assert sum(process.counts["memcpy"].values()) == process.drawn == 20_000
    assert not process.flags.full
    assert len(process.samples) > 2_000


def test_where_no_space_can_be_reserved_nothing_is_recorded(
    recorder: Recorder, check: Path
) -> None:
    refused = {"madvise": errno.EFAULT}
    recorder.run(check, "refused", "madvise", refused["madvise"], check, "functions", code=None)
    sizes = sorted(path.stat().st_size for path in recorder.folder.iterdir())
    assert sizes[0] == 0


# --- Tools that look into programs ----------------------------------------------------------------


@pytest.mark.slow
def test_valgrind_finds_nothing_wrong(recorder: Recorder, check: Path) -> None:
    need("valgrind")
    command = ("valgrind", "-q", "--error-exitcode=99", "--trace-children=yes", check)
    for situation in ("functions", "errno", "files"):
        recorder.run(*command, situation, period=ALL, timeout=300)
    assert any(said_something.counts.get("mempcpy") for said_something in recorder.processes())


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_programs_with_address_sanitizer_run(
    recorder: Recorder, tmp_path: Path, compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its library insists on being the first one, which gcc's programs are told to forgive. Its own
    functions come before the recorder's in clang's: little is counted then."""
    need_way(tmp_path, compiler, "-fsanitize=address")
    program = tmp_path / "checked"
    flags = ("-std=gnu11", "-O1", "-fno-builtin", "-fsanitize=address", "-w")
    output_of(compiler, *flags, HERE / "record_check.c", "-o", program, "-pthread", "-ldl")
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    more = {"ASAN_OPTIONS": environment_with(recorder.library, recorder.folder)["ASAN_OPTIONS"]}
    assert more["ASAN_OPTIONS"].startswith("detect_leaks=0:")
    for situation in (("functions",), ("threads", 20, 100), ("children", 100)):
        recorder.run(program, *situation, period=ALL, more=more)


@pytest.mark.slow
def test_a_shell_and_python_do_the_same(recorder: Recorder, tmp_path: Path) -> None:
    script = "for i in 1 2 3 4 5; do echo $i | sed s/./x/ | tr x $i; done; ls / | wc -l"
    plain = output_of("sh", "-c", script)
    for period in PERIODS:
        assert recorder.run("sh", "-c", script, period=period).stdout == plain
    code = "import json, threading; print(json.loads(json.dumps(list(range(9999))))[-1])"
    assert recorder.run("python3", "-c", code, period=ALL).stdout == "9998\n"
    assert len(recorder.processes()) > 20
    assert os.listdir(tmp_path) == ["session"]


def test_a_program_says_the_same_with_it(recorder: Recorder, check: Path) -> None:
    done = recorder.run(check, "functions", period=ALL)
    assert done.stderr == ""
    assert said(done)
