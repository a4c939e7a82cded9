"""The commands asterope-bench messages and asterope-bench cache: tables, failures, bad options."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from command_errors import only_error_of, run_command
from copy_programs import shared_library

TWO_SIZES = ("messages", "--sizes", "1M,2M", "--ring", "4M")  # few messages fill the caches
MESSAGES = (*TWO_SIZES, "--rounds", "3")
CACHE = (
    *("cache", "--rounds", "3", "--sizes", "16K", "--blocks", "4K,32K"),
    *("--file", "2M", "--misses", "10"),
)
RATIO = r" +\d+\.\d\d  \(\d+\.\d\d\.\.\d+\.\d\d\)  \(\d+\.\d\d\.\.\d+\.\d\d\)"


def compiled(folder: Path, body: str) -> Path:
    """A library with a routine."""
    text = f"""#include <signal.h>
#include <string.h>
#include <unistd.h>
void *asterope_memcpy(char *to, const char *from, size_t size) {{ {body} }}
void *another(char *to, const char *from, size_t size) {{ return memcpy(to, from, size); }}
"""
    return shared_library(folder / "libroutine.so", text)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("routine"), "return memcpy(to, from, size);")


@pytest.fixture
def bench(build_dir: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs asterope-bench in an empty folder."""

    def run(*arguments: object) -> subprocess.CompletedProcess:
        folder = tmp_path / "empty"
        folder.mkdir(exist_ok=True)
        done = run_command(build_dir / "asterope-bench", *arguments, cwd=folder)
        assert list(folder.iterdir()) == []
        return done

    return run


only_error = partial(only_error_of, "asterope-bench")


# --- messages -------------------------------------------------------------------------------------


def test_messages_are_shown_end_to_end_and_by_step(bench, library: Path) -> None:
    done = bench(*MESSAGES, "--routine", library)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert re.match(r"Messages over shared memory, asterope_memcpy against .*3 paired", lines[0])
    ends = [line for line in lines if " end to end " in line]
    assert [line[:17].rstrip() for line in ends] == ["4 MiB    1 MiB", "4 MiB    2 MiB"]
    for step in ("end to end", "publish", "take", "read"):
        rows = [line for line in lines if f" {step} " in line]
        assert len(rows) == 2
        for row in rows:
            assert re.search(rf" {step} +\d+\.\d +\d+\.\d +\d+\.\d\d{RATIO}$", row), row
    assert re.fullmatch(r"end to end: \d+\.\d\d geometric mean, least \d+\.\d\d", lines[-1])


def test_messages_name_two_functions_where_there_are_two(bench, library: Path) -> None:
    done = bench(*MESSAGES, "--routine", library, "--subscriber-symbol", "another")
    assert done.returncode == 0
    assert "asterope_memcpy and another against" in done.stdout


def test_messages_go_between_the_cpus_that_were_named(bench, library: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    one = ("--cpu", cpu, "--subscriber-cpu", cpu)
    done = bench(*MESSAGES, "--routine", library, *one, "--past-page", "16")
    assert done.returncode == 0
    assert f"publisher on CPU {cpu},\nsubscriber on CPU {cpu} as well" in done.stdout


def test_a_message_that_arrives_changed_fails(bench, tmp_path: Path) -> None:
    short = compiled(tmp_path, "return memcpy(to, from, size - 1);")
    message = only_error(bench(*MESSAGES, "--routine", short), 1)
    assert "a message arrived changed: asterope_memcpy copies wrongly" in message


def test_a_process_that_dies_in_a_copy_is_named(bench, tmp_path: Path) -> None:
    body = "static int calls; if (++calls == 20) raise(SIGSEGV); return memcpy(to, from, size);"
    crashing = compiled(tmp_path, body)
    message = only_error(bench(*MESSAGES, "--routine", crashing), 1)
    assert "er was ended by signal 11" in message
    assert "in a turn of asterope_memcpy" in message


def status_of(pid: str) -> list[str]:
    """State, parent and so on, as /proc/PID/stat has them behind the name."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["X", "0"]


def children_of(parent: int) -> list[int]:
    """In the order in which they were started."""
    pids = [path.name for path in Path("/proc").iterdir() if path.name.isdecimal()]
    return sorted(int(pid) for pid in pids if status_of(pid)[1] == str(parent))


@pytest.fixture
def endless(build_dir: Path, library: Path):
    """asterope-bench messages with more rounds than anybody waits for, both processes running."""
    command = [build_dir / "asterope-bench", *TWO_SIZES, "--rounds", "100000"]
    command += ["--routine", library]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([str(part) for part in command], **pipes)
    try:
        for _ in range(3000):  # for how long to wait, not for what comes out
            if len(children_of(process.pid)) == 2:
                break
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.communicate()


def gone(pid: int) -> bool:
    """Dead and, where nobody has waited for it yet, as good as gone."""
    return status_of(str(pid))[0] in "ZX"


@pytest.mark.parametrize(("which", "role"), [(0, "subscriber"), (1, "publisher")])
def test_a_process_that_is_killed_is_noticed(endless, which: int, role: str) -> None:
    children = children_of(endless.pid)
    os.kill(children[which], signal.SIGKILL)
    _, said = endless.communicate(timeout=60)
    assert endless.returncode == 1
    assert said.splitlines() == [said.strip()]
    assert f"the {role} was ended by signal 9" in said
    assert all(gone(child) for child in children)


def test_an_interrupt_ends_all_three(endless) -> None:
    children = children_of(endless.pid)
    endless.send_signal(signal.SIGINT)
    _, said = endless.communicate(timeout=60)
    assert (endless.returncode, said) == (130, "asterope-bench: interrupted\n")
    assert all(gone(child) for child in children)


# --- cache ----------------------------------------------------------------------------------------


def test_reads_are_shown_alone_and_with_their_use(bench, library: Path) -> None:
    done = bench(*CACHE, "--routine", library)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Sequential reads of a cached file of 2 MiB, 10 % of its blocks")
    rows = [line for line in lines if re.match(r"\d+ KiB ", line)]
    assert [" ".join(row.split()[:5]).rstrip("0123456789.") for row in rows] == [
        "4 KiB 16 KiB read",
        "4 KiB 16 KiB and",
        "32 KiB 16 KiB read",
        "32 KiB 16 KiB and",
    ]
    for row in rows:
        assert re.search(rf" +\d+\.\d +\d+\.\d +\d+\.\d\d{RATIO}$", row), row
    assert lines[-2].startswith("read: ")
    assert lines[-1].startswith("read and used: ")


def test_a_read_that_brings_other_data_fails(bench, tmp_path: Path) -> None:
    short = compiled(tmp_path, "return memcpy(to, from, size - 1);")
    assert "a copy is wrong" in only_error(bench(*CACHE, "--routine", short), 1)


# --- bad options ----------------------------------------------------------------------------------

# Command -> options that it refuses, and what is said.
BAD = {
    "messages": [
        (["--rounds", "2"], "--rounds"),
        (["--sizes", ","], "size"),
        (["--sizes", "0"], "0"),
        (["--sizes", "1001"], "1001 B is no whole number"),
        (["--ring", "1M"], "no room for a message"),
        (["--ring", "1048576G"], "may be taken"),
        (["--cpu", "9999"], "9999"),
        (["--subscriber-cpu", "9999"], "CPU 9999"),
        (["--past-page", "3"], "multiple of 8"),
        (["--past-page", "4096"], "--past-page"),
        (["--symbol", "none_such"], "none_such"),
        (["--subscriber-symbol", "none_such"], "none_such"),
        (["--suite", "mix"], "--suite"),  # an option of the tables
    ],
    "cache": [
        (["--rounds", "2"], "--rounds"),
        (["--blocks", "12K"], "12 KiB is no power of two"),
        (["--sizes", "256"], "256 B is less than"),
        (["--file", "1000K"], "no multiple of 1 MiB"),
        (["--file", "1048576G"], "may be taken"),
        (["--misses", "51"], "--misses"),
        (["--past-page", "12"], "multiple of 8"),
        (["--symbol", "none_such"], "none_such"),
        (["--cpu", "9999"], "9999"),
    ],
}


@pytest.mark.parametrize("command", BAD)
def test_bad_arguments_are_refused_in_one_line(bench, library: Path, command: str) -> None:
    for arguments, part in BAD[command]:
        message = only_error(bench(command, *arguments, "--routine", library), 2)
        assert part in message, arguments
        assert len(message) < 300


@pytest.mark.parametrize("command", ["messages", "cache"])
def test_help_says_what_is_timed_and_options_before_the_command_are_refused(
    bench, command: str
) -> None:
    done = bench(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "--past-page" in done.stdout
    message = only_error(bench("--rounds", "5", command), 2)
    assert f"--rounds stands before '{command}'" in message
