"""asterope-prove of whole runs: verdicts, files, refusals, early ends, a terminal, and servers."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from asterope.faults import Failure
from asterope.program import find_program
from asterope.prove.copies import LIBC, LIBC_AGAIN, Copy
from asterope.prove.processes import Run
from asterope.prove.rounds import parse_metric
from asterope.prove.runners import Commands
from asterope.record.kernel import Used
from command_errors import (
    alive,
    assert_gone,
    finished,
    on_terminal,
    read_json,
    script,
    wait_until,
)
from copy_programs import shared_library
from prove_command import REGEX, SAY, interrupted_output, only_error, rows_of


def test_each_copy_has_its_verdict_and_the_json_every_run(prove, libraries, tmp_path) -> None:
    """No run has the preload of the caller."""
    file = tmp_path / "prove.json"
    asked = ("--metric", REGEX, "--json", file, "--", "sh", "-c", SAY)
    done = prove(*asked, copies="fast,slow,like", LD_PRELOAD=libraries / "slow.so")
    assert (done.returncode, done.stderr) == (3, "")
    head = done.stdout.splitlines()[0]
    assert "(smaller is better): 6 rounds of 5 copies" in head
    assert "all is told that was asked" in head
    rows = rows_of(done)
    assert list(rows) == [LIBC, LIBC_AGAIN, "fast", "slow", "like"]
    assert rows[LIBC] == "100"
    assert rows[LIBC_AGAIN].endswith("1.000  (1.000..1.000)    (the noise floor)")
    assert re.search(r"^50 +2.000  \(2.000..2.000\) .* faster: 100.0 % \(", rows["fast"])
    assert re.search(r"^120 +0.833  \(0.833..0.833\) .* slower: 16.7 % \(", rows["slow"])
    assert "the same within 0.0 %" in rows["like"]

    found = read_json(file, "prove")
    assert (found["rounds"], found["stopped_by"], len(found["blocks"])) == (6, "until", 6)
    truth = {LIBC: 100, LIBC_AGAIN: 100, "fast": 50, "slow": 120, "like": 100}
    for block in found["blocks"]:
        assert {run["copy"]: run["figure"] for run in block} == truth
    verdicts = [copy["verdict"] for copy in found["copies"]]
    assert verdicts == [None, None, "faster", "slower", "the same"]
    fast = found["copies"][2]
    assert fast["ratio"]["median"] == pytest.approx(2) and fast["figure"] == 50
    assert found["seed"] == 1  # so the order, which is shuffled, is the same in every run


def test_of_a_speed_more_is_better_and_a_library_may_lie_anywhere(prove, libraries, tmp_path):
    """ld.so splits LD_PRELOAD at blanks and colons."""
    library = tmp_path / "with a blank: and a colon" / "fast one.so"
    library.parent.mkdir()
    shutil.copy(libraries / "fast.so", library)
    asked = ("--larger-is-better", "--copies", f"ours={library},{libraries}/slow.so")
    done = prove("--metric", REGEX, *asked, "--", "sh", "-c", SAY, copies="")
    rows = rows_of(done)
    assert (done.returncode, "slower: 50.0 %" in rows["ours"]) == (3, True)
    assert "faster: 20.0 %" in rows["slow"]


@pytest.mark.parametrize("metric", [[], ["--metric", "cpu"]], ids=["wall", "cpu"])
def test_time_is_that_of_children_too(prove, tmp_path: Path, metric: list[str]) -> None:
    """Each run spins in its child, and takes at least that long, however busy this machine is.
    Wall-clock time is compared where nothing else is asked for."""
    file = tmp_path / "prove.json"
    spin = "import resource as r\nwhile r.getrusage(r.RUSAGE_SELF).ru_utime < 0.05: sum(range(999))"
    child = f"{sys.executable} -I -S -c {shlex.quote(spin)}; :"  # else the shell becomes it
    asked = (*metric, "--rounds", "6", "--json", file)
    done = prove(*asked, "--", "sh", "-c", child)
    unknown = "cannot tell yet" in rows_of(done)["fast"]
    assert done.returncode in ((4,) if unknown else (0, 3)) and done.stderr == ""
    assert re.match(r"[\d.]+ s$", rows_of(done)[LIBC])
    found = json.loads(file.read_text())
    assert found["metric"]["kind"] == (metric[-1] if metric else "wall")
    assert found["goal"] == {"rounds": 6, "until": None, "seconds": None}
    assert (found["rounds"], found["stopped_by"]) == (6, "rounds")
    figures = [run["figure"] for block in found["blocks"] for run in block]
    assert len(figures) == 18 and all(0.05 <= figure < 60 for figure in figures)


def test_the_default_library_is_the_one_of_the_build(prove, libraries, tmp_path: Path) -> None:
    one = ("--metric", r"(\d)", "--", "echo", "1")
    other = tmp_path / "other"
    missing = only_error(prove(*one, copies="", ASTEROPE_BUILD_DIR=str(other)), 2)
    assert "build/libasterope_preload.so: no such library: build it with scripts/tune" in missing
    for folder in (other, tmp_path / "build"):  # the command's own; the current folder's
        folder.mkdir()
        for name in ("libasterope_preload.so", "libasterope_record.so"):
            shutil.copy(libraries / "fast.so", folder / name)
        done = prove(*one, copies="", ASTEROPE_BUILD_DIR=str(other))
        assert list(rows_of(done)) == [LIBC, LIBC_AGAIN, "asterope_preload"]
        assert f"{folder}/libasterope_preload.so, preloaded" in done.stdout


def test_folder_is_empty_for_each_run(prove, tmp_path: Path) -> None:
    say = 'ls "$1" | wc -l | sed "s/^/files 1/"; : >"$1/file"; echo "$1" >>folders'
    done = prove("--metric", r"files (\d+)", "--", "sh", "-c", say, "sh", "{folder}")
    assert (done.returncode, rows_of(done)[LIBC]) == (4, "10"), done
    assert "cannot tell yet: from -9." in done.stdout  # no digits that tell, and no point estimate
    folders = (tmp_path / "folders").read_text().splitlines()
    assert len(set(folders)) == len(folders) == 3 * 7


def test_the_runs_of_a_copy_differ_in_the_length_of_their_variables(prove, tmp_path: Path) -> None:
    """Else the place of its buffers, which that may decide, would be the same in all of them."""
    say = f'{SAY}; env | wc -c >>"$t"'
    assert prove("--metric", REGEX, "--", "sh", "-c", say).returncode == 0
    for copy, runs in (("100", 2 * 7), ("50", 7)):
        lengths = (tmp_path / copy).read_text().split()
        assert len(lengths) >= runs and len(set(lengths)) > runs / 2, lengths


TUNABLE = "GLIBC_TUNABLES=glibc.malloc.mmap_threshold"


@pytest.fixture
def tunables() -> None:
    """For tests that need a loader that lists them."""
    if subprocess.run([find_program(["sh"]).loader, "--list-tunables"], stdout=-3).returncode:
        pytest.skip("this libc lists no tunables")


def test_libc_with_tunables_is_a_copy(prove, tunables) -> None:
    say = 'case "$GLIBC_TUNABLES" in *threshold=65536) echo took 50;; *) echo took 100;; esac'
    run = ("--metric", REGEX, "--", "sh", "-c", say)
    done = prove("--copies", f"set={TUNABLE}=65536", *run, copies="")
    assert done.returncode == 0, done
    assert f"set: libc with {TUNABLE}=65536" in done.stdout
    assert rows_of(done)[LIBC] == "100" and "faster: 100.0 %" in rows_of(done)["set"]
    for wrong in ("glibc.cpu.no_such=1", "", "odd"):
        copies = ("--copies", f"set=GLIBC_TUNABLES={wrong}")
        assert "changes nothing" in only_error(prove(*copies, *run, copies=""), 2)


# What each part brings a program that copies into fresh memory.
FRESH = (
    't=100; case "$GLIBC_TUNABLES" in *hugetlb=1*) t=HUGE;; *mmap_threshold=*) t=80;; esac; '
    'case "$LD_PRELOAD" in ?*) t=$((t + ROUTINE));; esac; '
    'case "$ASTEROPE_FRESH" in 1) t=$((t - 30));; esac; '
    'echo "$GLIBC_TUNABLES" >>said; echo took $t'
)


@pytest.fixture
def brings(prove, tunables, tmp_path) -> Callable[..., subprocess.CompletedProcess]:
    def of(huge: int, routine: int, *options: object, **more: object):
        say = FRESH.replace("HUGE", str(huge)).replace("ROUTINE", str(routine))
        asked = ("--metric", REGEX, "--json", tmp_path / "prove.json", "--tunables", *options)
        return prove(*asked, "--", "sh", "-c", say, "all", "its words", **more)

    return of


def test_tunables_are_tried_alone_and_with_the_routine(brings, libraries, tmp_path) -> None:
    """The program's own are kept."""
    done = brings(50, -10, GLIBC_TUNABLES="glibc.malloc.perturb=0")
    rows = rows_of(done)
    assert list(rows) == [
        *(LIBC, LIBC_AGAIN, "fast", "hugetlb", "fast+hugetlb", "keep", "fast+keep"),
    ]
    assert [rows[name].split()[0] for name in rows] == ["100", "100", "90", "50", "40", "80", "70"]
    own = "glibc.malloc.perturb=0"
    both = f"GLIBC_TUNABLES={own}:glibc.malloc.hugetlb=1 LD_PRELOAD={libraries}/fast.so"
    assert f"fast+hugetlb brings most. To have it: {both} sh -c " in done.stdout
    assert done.stdout.endswith("' all 'its words'\n")
    said = set((tmp_path / "said").read_text().splitlines())
    assert own in said and all(one.startswith(own) for one in said) and len(said) == 3
    found = read_json(tmp_path / "prove.json", "prove")
    assert found["most"]["copy"] == "fast+hugetlb" and found["most"]["line"].startswith(both)
    assert (done.returncode, done.stderr) == (0, "")
    for copy in found["copies"]:
        assert copy["minor_faults"] > 50  # of any process
    many = [copy["name"] for copy in found["copies"] if copy["kernel_share"] is not None]
    assert ("With libc the kernel took " in done.stdout) == (LIBC in many)


def test_of_what_is_as_good_the_one_that_needs_least_is_named(brings, libraries) -> None:
    done = brings(50, 0)
    assert (
        "hugetlb brings most. To have it: GLIBC_TUNABLES=glibc.malloc.hugetlb=1 sh" in done.stdout
    )
    slower = brings(120, 30, "--copies", "libc", copies="")  # what --tunables adds may lose
    assert slower.returncode == 0 and "slower: 16.7 % (" in rows_of(slower)["hugetlb"]
    assert "\nkeep brings most. To have it: GLIBC_TUNABLES=glibc.malloc.mmap" in slower.stdout


def test_a_library_that_prepares_pages_is_tried_so(brings, tmp_path, libraries) -> None:
    library = shared_library(tmp_path / "knows.so", 'char name[] = "ASTEROPE_FRESH";\n')
    done = brings(95, 0, "--copies", f"knows={library}", copies="")
    assert "faster: 42.9 % (" in rows_of(done)["knows+fresh"]
    most = f"knows+fresh brings most. To have it: ASTEROPE_FRESH=1 LD_PRELOAD={library} sh -c"
    assert most in done.stdout


def test_settings_that_change_nothing_are_left_out(brings, libraries) -> None:
    done = brings(100, 0, GLIBC_TUNABLES="glibc.malloc.hugetlb=1")
    assert "hugetlb" not in rows_of(done) and "keep" in rows_of(done)
    assert "hugetlb is left out: libc does not know glibc.malloc.hugetlb=1, or has" in done.stderr
    taken = brings(50, 0, "--copies", f"keep={libraries}/fast.so", copies="")
    assert "--tunables: another copy is called keep: rename that" in only_error(taken, 2)


def test_what_brings_nothing_is_left(prove) -> None:
    asked = ("--metric", REGEX, "--tunables", "--copies", "libc", "--", "echo", "took 100.00")
    done = prove(*asked, copies="")
    assert done.returncode == 0
    assert "\nLeave it: nothing of this makes the program faster than libc" in done.stdout


@pytest.mark.parametrize("other", ["{}/old", "{}/old new"])
def test_two_builds_are_compared_without_any_library(prove, libraries, tmp_path, other) -> None:
    """One program for the same arguments, or a whole command; static ones, too."""
    file = tmp_path / "prove.json"
    for name, took in (("old", 120), ("new", 100)):
        script(tmp_path / name, f'#!/bin/sh\necho "took ${{LD_PRELOAD}}{took} by $1"\n')
    asked = ("--metric", REGEX, "--json", file, "--against", other.format(tmp_path))
    done = prove(*asked, "--", tmp_path / "new", "new", copies="", LD_PRELOAD=libraries / "slow.so")
    assert (done.returncode, done.stderr) == (0, ""), done
    rows = rows_of(done)
    assert list(rows) == ["other", "other again", "program"]
    assert "better than other." in done.stdout and f"other: {tmp_path}/old new\n" in done.stdout
    assert "faster: 20.0 %" in rows["program"]
    assert read_json(file, "prove")["copies"][2]["verdict"] == "faster"
    swapped = ("--metric", REGEX, "--against", tmp_path / "new", "--", tmp_path / "old")
    assert prove(*swapped, copies="").returncode == 3
    static = ("--rounds", "6", "--against", libraries / "static", "--", libraries / "program")
    assert prove(*static, copies="").returncode in (0, 3, 4)


# --- What a command may do wrong ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("echo no >&2; echo 'not now' >&2; exit 5", "sh ended with exit code 5: not now"),
        ("kill -SEGV $$", "sh was ended by SIGSEGV"),
        ("echo nothing", "prints nothing that --metric took"),
    ],
)
def test_a_run_that_fails_is_named_with_its_copy(prove, fault: str, said: str) -> None:
    wrong = f'case "$LD_PRELOAD" in *fast*) {fault};; *) echo took 1;; esac'
    message = only_error(prove("--metric", REGEX, "--", "sh", "-c", wrong), 1)
    assert f"under fast: {said}" in message


def test_a_run_that_fails_later_leaves_what_is_known(prove, tmp_path: Path) -> None:
    """Three first runs and seven rounds go well."""
    later = f"echo x >>runs; [ $(wc -l <runs) -le 24 ] || exit 4; {SAY}"
    file = tmp_path / "prove.json"
    asked = ("--rounds", "100", "--json", file, "--metric", REGEX)
    done = prove(*asked, "--", "sh", "-c", later)
    assert "ended with exit code 4" in only_error(done, 1)
    assert "7 rounds of 3 copies" in done.stdout and "; a run failed." in done.stdout
    assert "faster: 100.0 %" in rows_of(done)["fast"]
    assert json.loads(file.read_text())["stopped_by"] == "failure"


@pytest.mark.parametrize("gone", ["2>&-", "| true"])
def test_what_nobody_reads_keeps_no_findings_back(command, tmp_path: Path, gone: str) -> None:
    file = tmp_path / "prove.json"
    its = command("--rounds", "6", "--json", file, "--metric", REGEX, "--", "sh", "-c", SAY)
    line = f"{shlex.join(its.pop('args'))} {gone}"
    done = finished({**its, "args": ["/bin/sh", "-c", line]})
    assert (done.returncode, done.stderr) == (0, ""), done
    assert rows_of(done)["fast"] if done.stdout else gone == "| true"
    assert len(read_json(file, "prove")["blocks"]) == 6


def test_a_name_that_stdout_cannot_show_is_escaped(prove, libraries: Path) -> None:
    named = ("--copies", f"\u00e9={libraries}/fast.so", "--rounds", "6", "--metric", REGEX)
    done = prove(*named, "--", "sh", "-c", SAY, copies="", PYTHONIOENCODING="ascii")
    assert done.returncode == 0 and "\\xe9" in done.stdout, done


def test_a_run_that_hangs_is_ended() -> None:
    commands = Commands(["sleep", "1000"], "sleep", None, False)
    with pytest.raises(Failure, match="under ours: sleep was ended after 1 s without a result"):
        commands.run(Copy("ours"), 1)


def test_too_little_time_is_told(prove) -> None:
    message = only_error(prove("--time-budget", "1s", "--", "sleep", "0.4"), 4)
    assert re.search(r"spent after [0-5] of at least 6 rounds: give more --time-budget", message)


FIFTEEN = ",".join(f"a{n}={{}}/fast.so" for n in range(15))
# Words of the command, {} standing for the folder of libraries; the message.
BAD = {
    "no command": ("--rounds 6", "COMMAND"),
    "a static command": ("-- {}/static", "is linked statically"),
    "five rounds": ("--rounds 5 -- true", "from 6 to 10000"),
    "until nothing": ("--until 0% -- true", "write 1%"),
    "metric without a group": ("--metric took.* -- true", "in parentheses"),
    "metric that is not a pattern": ("--metric took( -- true", "--metric took("),
    "an empty metric": ("--metric '' -- true", "is neither wall nor cpu"),
    "empty copies": ("--copies '' -- true", "--copies"),
    "larger time": ("--larger-is-better -- true", "less wall time is better"),
    "library that is missing": ("--copies missing.so -- true", "missing.so: no such"),
    "library that is not one": ("--copies {}/text.so -- true", "cannot be preloa"),
    "only libc": ("--copies libc -- true", "nothing to compare"),
    "one name twice": ("--copies a={}/fast.so,a={}/fast.so -- true", "another copy is called a"),
    "fifteen copies": (f"--copies {FIFTEEN} -- true", "more than 14 copies"),
    "a port without a client": ("-- echo {port}", "name its client with --client"),
    "a port of a build": ("--against 'echo {port}' -- true", "name its client with --client"),
    "nearly a placeholder": ("-- echo {sock}", "{sock}: did you mean {socket}?"),
    "a client that is missing": ("--client no-such -- true", "no-such: no such command"),
    "a client's CPU time": ("--metric cpu --client a -- true", "--metric cpu"),
    "builds and tunables": ("--against true --tunables -- true", "compares two"),
    "builds and libraries": ("--against true --copies {}/fast.so -- true", "without any"),
    "a build that is missing": ("--against no-such -- true", "--against: no-such: no such"),
    "CPU that is not there": ("--cpu 9999 -- true", "9999 is not there"),
    "CPUs backwards": ("--cpu 0,1-0 -- true", "1-0 is backwards: write 0-1"),
}


@pytest.mark.parametrize(("words", "part"), BAD.values(), ids=BAD)
def test_bad_arguments_are_refused_in_one_line(refused, words: str, part: str) -> None:
    given = shlex.split(words)
    copies = () if {"--copies", "--against"} & set(given) else ("--copies", "{}/fast.so")
    message = refused(*copies, *given)
    assert part in message
    assert len(message) < 400


@pytest.mark.parametrize(
    "words",
    ["--rounds 6 --copies libc,l.so --json l.so", "--routine l.so --json l.so"]
    + [f"--routine l.so --copy a=copy.so {option} copy.so" for option in ("--json", "--write")],
)
def test_a_library_is_not_written_over(refused, libraries, tmp_path, words: str) -> None:
    like = (libraries / "like.so").read_bytes()
    for name in ("l.so", "copy.so"):
        (tmp_path / name).write_bytes(like)
    *_, option, file = words.split()
    line = refused(*words.split(), "--", "true")
    assert f"{file}: is the library, and would be lost: choose another {option}" in line
    assert (tmp_path / file).read_bytes() == like


def test_the_last_match_counts_and_is_a_number() -> None:
    metric = parse_metric(r"^took (\S+)", False)
    assert metric.of(Run(1, Used(1), "took 1\nhas took 5\ntook 2.5e-3\n")) == 0.0025
    with pytest.raises(Failure, match="is not a number"):
        parse_metric(r"took( \d)?", False).of(Run(1, Used(1), "took\n"))


def test_the_command_may_have_options_and_dashes_of_its_own(prove) -> None:
    asked = ("--metric", REGEX, "--", "sh", "-c", "echo took $#0", "sh")
    assert rows_of(prove(*asked, "-x", "--rounds", "--"))[LIBC] == "30"


# --- Interrupts and terminals ---------------------------------------------------------------------


def children_of(process: subprocess.Popen) -> list[int]:
    of = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(pid) for pid in of.read_text().split()]


def test_an_interrupt_prints_what_is_known_and_ends_the_command(command, tmp_path) -> None:
    """Eight rounds, then one run that would go on for ever, with a child that would, too."""
    hang = f"echo x >>runs; [ $(wc -l <runs) -gt 27 ] && {{ echo $$ >pid; sleep 1000; }}; {SAY}"
    asked = ("--rounds", "1000", "--metric", REGEX, "--json", "out.json")
    children: list[int] = []

    def it_hangs(process: subprocess.Popen) -> bool:
        children[:] = children_of(process)
        return (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != ""

    stdout = interrupted_output(command(*asked, "--", "sh", "-c", hang), it_hangs, signal.SIGTERM)
    assert "8 rounds of 3 copies" in stdout and "; interrupted." in stdout
    assert "faster: 100.0 %" in stdout
    assert json.loads((tmp_path / "out.json").read_text())["stopped_by"] == "interrupt"
    assert children and not any(map(alive, children))
    assert list((tmp_path / "tmp").iterdir()) == []


# Leaves a process that is in no group of its, tells its folder, and goes on for ever itself.
LEAVES = "setsid sleep 1000 & echo $! $$ {folder} >said; sleep 1000"


@pytest.mark.parametrize(
    "kill",
    [
        lambda process: process.kill(),
        lambda process: os.kill(*children_of(process), signal.SIGKILL),
        lambda process: os.killpg(process.pid, signal.SIGKILL),
        lambda process: process.send_signal(signal.SIGHUP),
    ],
    ids=["SIGKILL", "SIGKILL of its child", "SIGKILL of its group", "SIGHUP"],
)
def test_however_it_ends_it_leaves_neither_processes_nor_files(command, tmp_path, kill) -> None:
    process = subprocess.Popen(**command("--", "sh", "-c", LEAVES), start_new_session=True)
    said = tmp_path / "said"
    try:
        wait_until(lambda: said.exists() and said.read_text().endswith("\n"), "it runs")
        kill(process)
    finally:
        _, stderr = process.communicate(timeout=120)
    *pids, folder = said.read_text().split()
    assert_gone(pids)
    assert Path(folder).is_relative_to(tmp_path / "tmp")
    wait_until(lambda: not list((tmp_path / "tmp").iterdir()), "its folder is gone")
    assert re.fullmatch("asterope-prove: (interrupted|was ended by SIGKILL)\n", stderr)


def test_what_left_the_group_of_a_run_ends_with_the_run(prove, tmp_path: Path) -> None:
    """Each run looks whether that of the one before it still lives."""
    look = "[ -e pid ] && kill -0 $(cat pid) 2>>killed && echo lives >>alive; "
    leave = "(setsid sh -c 'echo $$ >pid; exec sleep 1000' &); while ! [ -s pid ]; do :; done; "
    run = f"{look}rm -f pid; {leave}{SAY}"
    done = prove("--metric", REGEX, "--rounds", "6", "--", "sh", "-c", run)
    assert done.returncode == 0, done
    assert not (tmp_path / "alive").exists() and (tmp_path / "killed").exists()
    assert not alive(int((tmp_path / "pid").read_text()))


def test_the_end_is_seen_though_the_end_of_children_was_ignored(command) -> None:
    """As after trap '' CHLD in a shell."""
    its = command("--rounds", "6", "--metric", REGEX, "--", "sh", "-c", SAY)
    ignored = partial(signal.signal, signal.SIGCHLD, signal.SIG_IGN)
    assert finished({**its, "preexec_fn": ignored}).returncode == 0


@pytest.mark.parametrize("metric", ["wall", "cpu"])
def test_work_that_goes_on_after_the_command_is_not_timed(prove, tmp_path, metric: str) -> None:
    """Neither with libraries nor of two builds; see the test above for a figure that is printed."""
    leaves = ("sh", "-c", "setsid sleep 1000 & echo $! >>pids")
    asked = ("--metric", metric, "--rounds", "6")
    for more, copies in ((), "fast"), (("--against", shlex.join(leaves)), ""):
        said = only_error(prove(*asked, *more, "--", *leaves, copies=copies), 1)
        assert said.startswith("asterope-prove: still running when the command ended: "), said
        assert said.endswith(": prove a command that ends when its work is done (no daemon)")
    assert_gone((tmp_path / "pids").read_text().split())


def test_progress_is_shown_on_a_terminal_only(command, tmp_path: Path) -> None:
    its = command("--rounds", "8", "--metric", REGEX, "--", "sh", "-c", SAY)
    line = f"{shlex.join(its['args'])} >out"
    code, said = on_terminal(["/bin/sh", "-c", line], cwd=tmp_path, env=its["env"])
    assert code == 0 and "first run 1 of 3, which is not counted: libc" in said
    assert re.search(r"round 7, known to 0\.0 %, about \d+ s left", said)
    assert said.endswith("\r\033[K")
    assert "round 7" not in (tmp_path / "out").read_text()


# --- Servers --------------------------------------------------------------------------------------

# The beginning of both: an address, and a socket for it.
ENDPOINT = """
import os, socket, sys
unix = not sys.argv[1].isdecimal()
address = sys.argv[1] if unix else ("127.0.0.1", int(sys.argv[1]))
endpoint = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
"""
# Tells each client the library under which it runs, and its process id. If the library's name is
# also among its arguments, it ends then.
SERVER = """
endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
endpoint.bind(address)
endpoint.listen()
preload = os.environ.get("LD_PRELOAD", "")
while True:
    connection, _ = endpoint.accept()
    took = 50 if "fast" in preload else 100
    try:
        connection.sendall(f"took {took} in process {os.getpid()}".encode())
    except OSError:  # it only looked whether somebody listens, and is gone
        continue
    finally:
        connection.close()
    if any(name in preload for name in sys.argv[2:]):
        sys.exit("cannot go on")
"""
CLIENT = """
assert "LD_PRELOAD" not in os.environ
endpoint.connect(address)
said = endpoint.recv(1000).decode()
print(said)
open("said", "a").write(said + chr(10))
"""


@pytest.fixture
def parties(tmp_path: Path) -> Callable[[str], list[str]]:
    """The arguments for a server and its client."""
    (tmp_path / "server.py").write_text(ENDPOINT + SERVER)
    (tmp_path / "client.py").write_text(ENDPOINT + CLIENT)
    client, server = f"{sys.executable} client.py ", f"{sys.executable} server.py "
    return lambda where: ["--client", client + where, "--", *(server + where).split()]


@pytest.mark.parametrize("where", ["{port}", "{socket}", "{folder}/s"])
def test_a_server_of_each_copy_stays_and_is_asked(prove, parties, tmp_path, where: str) -> None:
    done = prove("--metric", REGEX, *parties(where))
    assert (done.returncode, done.stderr) == (0, "")
    assert rows_of(done)[LIBC] == "100" and "faster: 100.0 %" in rows_of(done)["fast"]
    asked = re.findall(r"process (\d+)\n", (tmp_path / "said").read_text())
    assert (len(set(asked)), len(asked)) == (3, 3 * 7)
    assert not any(map(alive, asked))


SERVES = f"{sys.executable} server.py {{port}}"
# Server, client and message, where one of the two goes wrong; "" stands for a good one.
WRONG = {
    "a server that ends": (f"{SERVES} fast", "", "under fast: .*exit code 1: cannot go on"),
    "no server": ("sh -c 'echo no room >&2; exit 3' sh {port}", "", "under libc: sh .*3: no room"),
    "no library": (f"env -i {SERVES}", "", "under fast: env .*without fast.so: its environment"),
    "a client": ("", "sh -c 'echo cannot ask >&2; exit 2'", "under libc: sh .*2: cannot ask"),
}


@pytest.mark.parametrize(("server", "client", "said"), WRONG.values(), ids=WRONG)
def test_a_party_that_goes_wrong_is_named(prove, parties, server, client, said: str) -> None:
    _, good_client, _, *good_server = parties("{port}")
    asked = ("--client", client or good_client, "--", *(shlex.split(server) or good_server))
    assert re.search(said, only_error(prove("--metric", REGEX, *asked), 1))


def test_a_client_may_be_static(prove, libraries: Path) -> None:
    server = (sys.executable, "-c", "import time; time.sleep(1000)")
    done = prove("--metric", REGEX, "--client", libraries / "static", "--", *server)
    assert (done.returncode, rows_of(done)[LIBC]) == (4, "3"), done


def test_a_deep_folder_for_temporary_files_leaves_no_room_for_a_socket(prove, parties, tmp_path):
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    message = only_error(prove(*parties("{socket}"), TMPDIR=str(deep)), 1)
    assert "too long for a socket's path: set TMPDIR to a short one" in message
