"""Runs the command asterope-bench with a routine, and copies of others to compare it with."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from command_errors import only_error_of
from copy_programs import render, shared_library
from profile_samples import choice, profile_of

PLAIN = {"rt": "XMM", "lt": "T", "st": "T", "pt": "none", "ps": 0, "pd": 0}
FEW = ("--rounds", "3", "--sizes", "128,4K")
SIZES = ("--suite", "sizes")
HOT = (*FEW, "--suite", "hot")
TURNS = ("--suite", "states", "--rounds", "3", "--sizes", "4K,16K,8M")
MIXES = [f"mix_{where}{read}" for read in ("", "_read") for where in ("l1", "l2", "l3", "memory")]
PAGE_ENDS = ["page_end", "page_end_read"]
FIXED = ["fixed", "fixed_read", "fixed_walk", "fixed_walk_read"]

only_error = partial(only_error_of, "asterope-bench")
Measured = tuple[subprocess.CompletedProcess, dict]


def routine_of(profile: Path, folder: Path) -> Path:
    return shared_library(folder / "libroutine.so", render(profile, folder).read_text())


@pytest.fixture(scope="module")
def shipped(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    profile = repository / "generated" / "reference" / "xeon-gold-5218.json"
    return routine_of(profile, tmp_path_factory.mktemp("routine"))


def routine_with(folder: Path, body: str) -> Path:
    """A library whose routine copies so."""
    text = f"""#include <string.h>
void *asterope_memcpy(char *to, const char *from, size_t size) {{ {body} }}
"""
    return shared_library(folder / "libroutine.so", text)


@pytest.fixture(scope="session")
def plain_routine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return routine_with(tmp_path_factory.mktemp("plain"), "return memcpy(to, from, size);")


@pytest.fixture
def measured(bench, shipped: Path, tmp_path: Path) -> Callable[..., Measured]:
    """Compares the routine, without a word on stderr; what was printed, and the report."""

    def run(*arguments: object, routine: Path = shipped) -> Measured:
        done = bench("--routine", routine, *arguments, "--json", "report.json")
        assert (done.returncode, done.stderr) == (0, "")
        return done, json.loads((tmp_path / "report.json").read_text())

    return run


@pytest.fixture
def profile_for(tmp_path: Path) -> Callable[[str], tuple[str, str]]:
    """The option of a profile of two choices, which was tuned for that workload."""

    def write(workload: str) -> tuple[str, str]:
        choices = [choice("pipelines", *ends, PLAIN) for ends in ((0, 200), (200, 2048))]
        search = {"workload": workload, "weights": {"memcpy": {workload: 1}}}
        profile = profile_of("x86_64", *choices, search=search)
        (tmp_path / "profile.json").write_text(json.dumps(profile))
        return "--profile", "profile.json"

    return write


def rows_of(done: subprocess.CompletedProcess, title: str) -> list[str]:
    """The lines of a table: after its title, up to the next blank line."""
    assert (done.returncode, done.stderr) == (0, "")
    _, rest = f"\n{done.stdout}".split(f"\n{title} ", maxsplit=1)
    return rest.split("\n\n")[0].splitlines()[1:]


# Copies of others: right ones, and some that commands must refuse.
PEERS = """
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define COPY(name) void *name(void *to, const void *from, size_t size)
COPY(right) { return memcpy(to, from, size); }
COPY(slow) {
    for (size_t i = 0; i < size; ++i) ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}
COPY(too_short) { return memcpy(to, from, size > 4000 ? size - 1 : size); }
COPY(crashes) { if (size > 100) abort(); return memcpy(to, from, size); }
COPY(leaves) { exit(0); return memcpy(to, from, size); }
/* right while they are verified, in 23,000 calls; the file tells that this is over */
#define LATE(name, fault) COPY(name) { \\
    static long calls; \\
    if (++calls == 30000) close(creat("late", 0600)); \\
    if (calls >= 30000) fault; \\
    return memcpy(to, from, size); \\
}
LATE(crashes_late, abort())
LATE(idles_late, return to)
COPY(hangs) { creat("hanging", 0600); for (;;) sleep(1); return to; }
COPY(asterope_memcpy) { return memcpy(to, from, size); }
COPY(asterope_memcpy_hot) { return memcpy(to, from, size); }
COPY(asterope_memcpy_cold) { return memcpy(to, from, size); }
"""


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with copies of all kinds."""
    return shared_library(tmp_path_factory.mktemp("peers") / "libpeers.so", PEERS)


def peer(library: Path, *symbols: str) -> list[str]:
    return [part for symbol in symbols for part in ("--peer", f"{symbol}={library}:{symbol}")]


def assert_in_turn(report: dict, others: str) -> None:
    """Of the sizes of TURNS, the suite times 16 KiB on cached buffers in turn with `others`."""
    turns = [row for row in report["results"] if row["workload"].endswith(" in turn")]
    assert [(row["workload"], row["label"]) for row in turns] == [
        (f"{kind} in turn", f"16 KiB {kind}, {calls} in turn")
        for calls in (1, 8, 17)
        for kind in ("cached", others)
    ]
    for row in turns:
        assert row["copies"]["asterope"]["ns"] > 0
