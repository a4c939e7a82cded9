"""asterope-bench messages, cache and locality: their tables, failures, bad options."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from bench_command import only_error, routine_with
from command_errors import assert_gone, interrupted

TWO_SIZES = ("messages", "--sizes", "1M,2M", "--ring", "4M")  # few messages fill the caches
MESSAGES = (*TWO_SIZES, "--rounds", "3")
CACHE = ("cache", "--rounds", "3", *["--sizes", "16K", "--blocks", "4K,32K", "--file", "2M"])
SYSTEM = ("8K", ".", "4", "128", "1", "4", "2")
LOCALITY = ("locality", "--rounds", "3")
RATIO = r" +\d+\.\d\d  \(\d+\.\d\d\.\.\d+\.\d\d\)  \(\d+\.\d\d\.\.\d+\.\d\d\)"


def lines_of(done: subprocess.CompletedProcess) -> list[str]:
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


WRONG = "return memcpy(to, from, size > 9 ? size - 1 : size);"
CRASH = """
    static int calls; /* fewer while it is checked */
    if (size == %d && ++calls > %d) __builtin_trap();
    return memcpy(to, from, size);"""
APPS = {MESSAGES: (1 << 20, 60), CACHE: (4096, 250), (*LOCALITY, *SYSTEM): (128, 250)}


@pytest.mark.parametrize(
    "command, broken",
    [*((app, CRASH % when) for app, when in APPS.items()),
     *((one, WRONG) for one in (*APPS, ("--rounds", "3")))],
)  # fmt: skip
def test_a_routine_that_copies_wrongly_or_crashes_is_named(bench, tmp_path, command, broken):
    message = only_error(bench(*command, "--routine", routine_with(tmp_path, broken)), 1)
    if broken is WRONG:
        assert "the routine asterope_memcpy copies wrong: wrong byte 9 of 10 " in message
    else:
        assert message.startswith("asterope-bench: asterope (asterope_memcpy of ")
        assert " ended the run: the process died: " in message


def test_messages_go_between_two_cpus_and_are_shown_by_step(bench, plain_routine):
    first, *others = sorted(os.sched_getaffinity(0))
    done = bench(*MESSAGES, "--routine", plain_routine, "--cpu", first)
    lines = lines_of(done)
    to = str(others[-1]) if others else f"{first} as well"
    assert f"publisher on CPU {first},\nsubscriber on CPU {to}" in done.stdout
    assert re.match(r"Messages over shared memory, asterope_memcpy against .*3 paired", lines[0])
    ends = [line for line in lines if " end to end " in line]
    assert [line[:17].rstrip() for line in ends] == ["4 MiB    1 MiB", "4 MiB    2 MiB"]
    for step in ("end to end", "publish", "take", "read"):
        rows = [line for line in lines if f" {step} " in line]
        assert len(rows) == 2
        for row in rows:
            assert re.search(rf" {step} +\d+\.\d +\d+\.\d +\d+\.\d\d{RATIO}$", row), row
    assert re.fullmatch(r"end to end: geometric mean \d+\.\d\d, least \d+\.\d\d", lines[-1])


def test_an_interrupt_ends_all_three(build_dir, plain_routine):
    """More rounds than anybody waits for, publisher and subscriber running."""
    children: list[str] = []

    def ready(process: subprocess.Popen) -> bool:
        line = [str(process.pid)]
        for _ in range(2):
            line += Path(f"/proc/{line[-1]}/task/{line[-1]}/children").read_text().split()[:1]
        children[:] = line[1:]
        return len(children) == 2

    many = (*TWO_SIZES, "--rounds", "100000", "--routine", plain_routine)
    done = interrupted([build_dir / "asterope-bench", *many], ready)
    assert (done.returncode, done.stderr) == (130, "asterope-bench: interrupted\n")
    assert_gone(children)


def test_reads_are_shown_alone_and_with_their_use(bench, plain_routine):
    lines = lines_of(bench(*CACHE, "--routine", plain_routine))
    assert lines[0].startswith("Sequential reads of a cached file of 2 MiB, 5 % of its blocks")
    rows = [line for line in lines if re.match(r"\d+ KiB ", line)]
    assert [row[:27].split() for row in rows] == [
        [block, "KiB", "16", "KiB", *use.split()]
        for block in ("4", "32")
        for use in ("read", "and used")
    ]
    for row in rows:
        assert re.search(rf" +\d+\.\d +\d+\.\d +\d+\.\d\d{RATIO}$", row), row
    assert lines[-2].startswith("read: ")
    assert lines[-1].startswith("read and used: ")


def test_locality_shows_both_steps_of_libcs_copy_the_routine_and_move(bench, plain_routine):
    lines = lines_of(bench(*LOCALITY, "--routine", plain_routine, *SYSTEM))
    assert lines[0].startswith("asterope_memcpy and move against the copy of ")
    assert "3 paired rounds" in lines[0]
    assert "elemSize 128, churnCount 1, accessCount 4" in lines[1]
    parameters, libc, routine, move, floor = lines[-1].split("|")
    assert parameters.split() == ["8", "KiB", "16", "4", "2"]
    assert re.fullmatch(r"( +\d+\.\d{3}){2} ", libc)
    for cells in (routine, move):
        assert re.fullmatch(r"( +\d+){3} \(\d+\.\.\d+\) +", cells)
    assert re.fullmatch(r" \(\d+\.\.\d+\)", floor)


def test_a_preset_has_the_papers_rows(bench, plain_routine):
    system = ("--preset", "2", "8K", *".....", "1")
    lines = lines_of(bench(*LOCALITY, "--routine", plain_routine, *system))
    assert "P2329, test 2," in lines[0]
    rows = [line.split() for line in lines if line.startswith("     8 KiB ")]
    assert [row[3:5] for row in rows] == [[n, "1"] for n in ("4", "8", "16", "32")]
    pairs = (("move", "libc's copy"), ("move", "asterope_memcpy"),
             ("asterope_memcpy", "libc's copy"))  # fmt: skip
    for line, (loser, winner) in zip(lines[-3:], pairs):
        assert line.startswith(f"{loser} loses to {winner} in ") and " of 4 rows" in line
