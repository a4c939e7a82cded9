"""A program under the recorder does what it does without: it is not seen, and it breaks nothing."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
from functools import partial
from pathlib import Path

import pytest
from architectures import HOST, fortified_check
from asterope.record.launching import environment_with
from asterope.record.raw import RawProcess, read_folder
from copy_programs import need, need_way, output_of
from recorded_programs import ALL, Recorder, copies, said

HERE = Path(__file__).parent


@pytest.fixture(params=[None, ALL], ids=["few sampled", "all sampled"])
def period(request) -> int | None:
    return request.param


@pytest.mark.parametrize("situation", ["copies", "early", "signals", "fork", "threads", "dlopen"])
def test_copies_are_right(recorder, checker, situation, period):
    recorder.run(checker, situation, checker.with_name("plugin.so"), period=period)


@pytest.mark.parametrize("situation", ["errno_and_files", "fork_in_handler"])
def test_a_program_sees_nothing_of_it(recorder, check, situation, period):
    """Though some of the recorder's own calls fail."""
    command = (check, "refused", "madvise", errno.EINVAL, check, situation)
    assert recorder.run(*command, period=period).stderr == ""
    processes = [process for process in recorder.processes() if process.counts]
    assert processes and (len(processes) == 1 or situation == "fork_in_handler")


def test_a_fortified_program_ends_as_ever(recorder, tmp_path):
    program = fortified_check(HOST, tmp_path)
    for function, size in (("memcpy", 16), ("memcpy", 17), ("memmove", 32), ("mempcpy", 17)):
        command = [program, function, str(size)]
        plain = subprocess.run(command, capture_output=True, text=True)
        done = recorder.run(*command, code=plain.returncode)
        assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)


@pytest.mark.parametrize("largest", [0, 100, 100_000, 1 << 20])
def test_a_limit_on_the_size_of_files_kills_no_program(recorder, check, largest):
    """Whose default is a signal that does."""
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (largest, largest))
    recorder.run(check, "threads", 100, 20, preexec_fn=limit)
    (path,) = recorder.folder.iterdir()
    if largest < 1 << 20:
        assert path.stat().st_size == 0
    else:
        assert path.stat().st_size <= largest
        flags = recorder.only().flags
        assert "shared_slots" in flags and "full" not in flags


@pytest.mark.parametrize("kib", [40, 400])
def test_a_full_disk_is_told_and_does_not_end_the_program(recorder, check, kib):
    need("mount", "umount")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", recorder.folder]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        recorder.run(check, "threads", 50, 100, period=ALL)
        recorder.run(check, "mixture", 30_000, period=ALL)
        assert any("full" in process.flags for process in read_folder(recorder.folder)[0])
    finally:
        subprocess.run(["umount", recorder.folder], check=True)


def test_without_proc_modules_are_unknown_and_counts_right(recorder, check):
    need("unshare")
    hidden = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if subprocess.run([*hidden, "true"], capture_output=True).returncode:
        pytest.skip("only root can hide /proc")
    recorder.run(*hidden, check, "copies", 100, 5000, period=ALL)
    process = next(p for p in recorder.processes() if p.counts == copies(100, 5000))
    assert (process.modules, process.drawn) == ([], 5000)


def sharer(recorder: Recorder) -> RawProcess:
    return max(read_folder(recorder.folder)[0], key=lambda one: "shared_slots" in one.flags)


@pytest.mark.parametrize("how", ["calls", "calls_directly", "strict"])
def test_a_program_that_gives_up_system_calls_is_only_counted_from_then_on(
    recorder, check, period, how
):
    recorder.run(check, "restricted", how, 1000, period=period)
    process = sharer(recorder)
    assert "quiet" in process.flags
    assert process.counts == copies(16, 2000, 5000, 2000)
    assert process.drawn == 2000 or period != ALL


@pytest.mark.parametrize("how", ["mode", "filter", "threads", "privileges"])
def test_a_probe_of_what_the_kernel_knows_restricts_nothing(recorder, check, period, how):
    recorder.run(check, "probed", how, 1000, period=period)
    process = recorder.only()
    assert "quiet" not in process.flags
    assert process.counts == copies(16, 1000, 5000, 1000)
    assert process.drawn == 2000 or period != ALL


def test_functions_of_the_program_that_copy_are_not_those_of_the_recorder(recorder, own_mmap):
    recorder.run(own_mmap, 1000, period=ALL)
    process = recorder.only()
    assert process.counts["memcpy"][(4608, 5120)] == 1000
    assert process.drawn >= 1000
    assert process.seconds > 0  # its clock goes on


def test_a_handler_on_the_smallest_stack_is_counted(recorder, check, period):
    done = recorder.run(check, "small_stack", 500, period=period)
    assert recorder.only().counts == said(done)


def test_children_of_musl_run_and_are_counted(recorder, tmp_path):
    need("musl-gcc")
    program = tmp_path / "own_mmap"
    output_of("musl-gcc", "-O1", "-fno-builtin", "-w", HERE / "own_mmap.c", "-o", program)
    recorder.run("sh", "-c", f"{program} 1000; exit $?")
    assert any(one.counts.get("memcpy", {}).get((4608, 5120)) for one in recorder.processes())


@pytest.mark.parametrize("how", ["calls", "root", "files", "size"])
def test_children_that_can_make_no_file_are_counted_in_their_parent_s(recorder, check, period, how):
    recorder.run(check, "guest", how, 1000, period=period)
    process = sharer(recorder)
    assert "shared_slots" in process.flags
    assert ("quiet" in process.flags) == (how == "calls")
    if how == "calls":  # the program's child had a file before it gave them up
        assert process.counts == copies(32, 1000, 64, 1000)
    else:
        assert process.counts == copies(16, 2000, 32, 1000, 40, 1000, 64, 1000)
        assert process.children_cpu_seconds > 0


@pytest.mark.parametrize("refused", ["madvise", "madvise fallocate"])
@pytest.mark.parametrize("situation", [("halves", 10_000), ("threads", 20, 500)])
def test_older_kernels_and_other_file_systems_do(recorder, check, refused, situation):
    command = [check, *situation]
    for name in refused.split():
        error = {"madvise": errno.EINVAL, "fallocate": errno.EOPNOTSUPP}[name]
        command = [check, "refused", name, error, *command]
    recorder.run(*command, period=ALL, timeout=120)
    process = next(process for process in recorder.processes() if process.counts)
    assert sum(process.counts["memcpy"].values()) == process.drawn == 20_000
    assert "full" not in process.flags
    assert len(process.samples) > 2_000


def test_where_no_space_can_be_reserved_nothing_is_recorded(recorder, check):
    recorder.run(check, "refused", "madvise", errno.EFAULT, check, "functions")
    assert min(path.stat().st_size for path in recorder.folder.iterdir()) == 0


@pytest.mark.slow
def test_valgrind_finds_nothing_wrong(recorder, check):
    need("valgrind")
    command = ("valgrind", "-q", "--error-exitcode=99", "--trace-children=yes", check)
    for situation in ("functions", "errno_and_files"):
        recorder.run(*command, situation, period=ALL, timeout=300)
    assert any(process.counts.get("mempcpy") for process in recorder.processes())


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_programs_with_address_sanitizer_run(recorder, tmp_path, compiler, monkeypatch):
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
def test_a_shell_and_python_do_the_same(recorder, period, tmp_path):
    script = "for i in 1 2 3 4 5; do echo $i | sed s/./x/ | tr x $i; done; ls / | wc -l"
    assert recorder.run("sh", "-c", script, period=period).stdout == output_of("sh", "-c", script)
    code = "import json, threading; print(json.loads(json.dumps(list(range(9999))))[-1])"
    assert recorder.run("python3", "-c", code, period=period).stdout == "9998\n"
    assert len(recorder.processes()) > 10
    assert os.listdir(tmp_path) == ["session"]
