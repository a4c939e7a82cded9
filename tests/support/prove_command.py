"""asterope-prove on programs that say what they are to have taken: nothing depends on the clock."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_errors import interrupted, only_error_of
from copy_programs import output_of, shared_library

REGEX = r"took ([0-9.]+)"
# What the fake programs take under libc and under the libraries, by the libraries' names.
TOOK = 'case "$LD_PRELOAD" in *fast*) t=50;; *slow*) t=120;; *) t=100;; esac; '
SAY = f"{TOOK} echo first took 7; echo took $t.000"

only_error = partial(only_error_of, "asterope-prove")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of libraries that change nothing: what is tested here is not the routine. Beside
    them what is no library, and a static program."""
    folder = tmp_path_factory.mktemp("libraries")
    for name in ("fast", "slow", "like"):
        shared_library(folder / f"{name}.so", "int unused;\n")
    (folder / "text.so").write_text("no library\n")
    (folder / "static.c").write_text('int main(void) { return !puts("took 3"); }\n')
    output_of("cc", "-static", "-include", "stdio.h", folder / "static.c", "-o", folder / "static")
    return folder


def settings_of(
    repository: Path, folder: Path, *arguments: object, **environment: object
) -> dict[str, Any]:
    """What Popen and run need to start asterope-prove in that folder; temporary files go to its
    tmp."""
    return {
        "args": [sys.executable, "-m", "asterope", "prove", *map(str, arguments)],
        "env": {
            **os.environ,
            "PYTHONPATH": str(repository / "scripts"),
            "TMPDIR": str(folder / "tmp"),
            **{name: str(value) for name, value in environment.items()},
        },
        "cwd": folder,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
    }


def runs(
    settings: Callable[..., dict[str, Any]], folder: Path
) -> Callable[..., subprocess.CompletedProcess]:
    """Runs it with such settings to its end; it leaves nothing behind."""

    def run(*arguments: object, **more: str) -> subprocess.CompletedProcess:
        done = subprocess.run(**settings(*arguments, **more), timeout=300)
        assert list((folder / "tmp").iterdir()) == []
        return done

    return run


def interrupted_output(
    settings: dict[str, Any], ready: Callable[[subprocess.Popen], bool], number: int
) -> str:
    """What it prints on stdout when it gets the signal once it is ready; on stderr it only says
    that."""
    done = interrupted(settings.pop("args"), ready, number, **settings)
    assert (done.returncode, done.stderr) == (130, "asterope-prove: interrupted\n")
    return done.stdout


@pytest.fixture
def command(repository: Path, libraries: Path, tmp_path: Path) -> Callable[..., dict]:
    """Of asterope-prove in an empty folder. Copies are named without their folder."""

    def settings(*arguments: object, copies: str = "fast", **environment: str) -> dict:
        (tmp_path / "tmp").mkdir(exist_ok=True)
        named = ",".join(f"{libraries}/{name}.so" for name in copies.split(",") if name)
        compared = ["--copies", named] if named else ["--runs"]
        return settings_of(repository, tmp_path, *compared, *arguments, **environment)

    return settings


@pytest.fixture
def prove(command, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    return runs(command, tmp_path)


def rows_of(done: subprocess.CompletedProcess) -> dict[str, str]:
    """The table: name -> what follows it."""
    _, _, table = done.stdout.partition("\n\n")
    rows = (re.split(r" {2,}", line, maxsplit=1) for line in table.splitlines()[1:])
    return {row[0]: row[1] for row in rows if len(row) == 2}


# --- Of the trial ---

LIBRARY = """
#include <stddef.h>
static void spin(void) { for (volatile int i = 0; i < SPIN; ++i) { } }
void *asterope_memcpy(void *to, const void *from, size_t bytes);
void *asterope_memcpy_hot(void *to, const void *from, size_t bytes);
void *asterope_memcpy(void *to, const void *from, size_t bytes)
{
    void *target = to;
    spin();
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(from), "+c"(bytes) : : "memory");
    return to;
}
void *asterope_memcpy_hot(void *to, const void *from, size_t bytes)
{
    return asterope_memcpy(to, from, bytes);
}
"""
PROGRAM = """
#include <string.h>
#include <stdlib.h>
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
int main(int count, char **words)
{
    static char from[8192], to[8192];
    for (long i = atol(words[1]); i > 0; --i) copy(to, from, sizeof to);
    return count > 2 ? atoi(words[2]) : 0;
}
"""


@pytest.fixture(scope="session")
def things(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of routines, one of them slow, of a program that copies, and of its static twin."""
    folder = tmp_path_factory.mktemp("things")
    for name, spin in (("slow", 1500), ("like", 0)):
        shared_library(folder / f"{name}.so", LIBRARY.replace("SPIN", str(spin)))
    shared_library(folder / "nothing.so", "int unused;\n")
    source = folder / "program.c"
    source.write_text(PROGRAM)
    flags = ("-O2", "-fno-builtin", "-Wl,--build-id")
    output_of("cc", *flags, source, "-o", folder / "program")
    output_of("cc", "-O2", "-static", source, "-o", folder / "static")
    return folder
