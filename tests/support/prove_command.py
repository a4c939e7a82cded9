"""asterope-prove on programs that print made-up times: nothing depends on the clock."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_errors import (
    exit_code_of,
    finished,
    interrupted,
    only_error_of,
    only_line_of,
    python_settings,
)
from copy_programs import compiled, shared_library

REGEX = r"took ([0-9.]+)"
# The times of the fake programs under libc and under the libraries, by the libraries' names.
TOOK = 'case "$LD_PRELOAD" in *fast*) t=50;; *slow*) t=120;; *) t=100;; esac; '
SAY = f"{TOOK} echo first took 7; echo took $t.000"

PROVE = ("-m", "asterope", "prove")
only_error = partial(only_error_of, "asterope-prove")


# A routine that copies right, behind the statements of BEFORE.
ROUTINE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>
void *asterope_memcpy(void *to, const void *from, size_t bytes)
{
    const void *source = from;
    void *target = to;
    BEFORE
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
    return to;
}
void *asterope_memmove(void *to, const void *from, size_t bytes)
{
    volatile unsigned char *target = to;
    const volatile unsigned char *source = from;
    if ((size_t)(target - source) >= bytes) return asterope_memcpy(to, from, bytes);
    while (bytes-- > 0) target[bytes] = source[bytes];
    return to;
}
void *asterope_memset(void *to, int value, size_t bytes)
{
    const void *source = NULL;
    void *target = to;
    BEFORE
    __asm__ volatile("rep stosb" : "+D"(target), "+c"(bytes) : "a"(value) : "memory");
    return to;
}
__typeof__(asterope_memcpy) asterope_memcpy_hot __attribute__((alias("asterope_memcpy")));
"""
SPIN = "for (volatile int i = {}; i > 0; --i) {{ }}"
ROUTINES = {
    "like": "",
    "slow": SPIN.format(1500),
    "rarely": "static int calls; " + SPIN.format("(++calls % 20000 ? 0 : 2000000)"),
    # for record_check itself and no other program
    "strict": """
        Dl_info caller;
        if (!dladdr(__builtin_return_address(0), &caller) ||
            !strstr(caller.dli_fname, "record_check"))
            _exit(9);""",
    # large copies come from another address for each first byte
    "sites": """
        static const void *caller[2];
        if (source && bytes >= 1 << 20) {
            caller[*(const char *)source == 'b'] = __builtin_return_address(0);
            if (caller[0] == caller[1]) _exit(9);
        }""",
}
# Its arguments: the number of copies (20000 by default), the exit code, and `wait`, to wait for the
# end of its input.
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
int main(int count, char **words)
{
    static char from[8192], to[8192];
    for (long i = count > 1 ? atol(words[1]) : 20000; i > 0; --i) copy(to, from, sizeof to);
    puts("took 3");
    fflush(stdout);
    while (count > 3 && getchar() != EOF) {}
    return count > 2 ? atoi(words[2]) : 0;
}
"""


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of preload libraries that change nothing: "fast", and ROUTINES. Beside them lie a
    file that is not a library, a program that copies, and the same, static."""
    folder = tmp_path_factory.mktemp("libraries")
    shared_library(folder / "fast.so", "int unused;\n")
    for name, before in ROUTINES.items():
        shared_library(folder / f"{name}.so", ROUTINE.replace("BEFORE", before))
    (folder / "text.so").write_text("no library\n")
    compiled(folder / "program", PROGRAM, "-O2", "-fno-builtin", "-Wl,--build-id")
    compiled(folder / "static", PROGRAM, "-static")
    return folder


@pytest.fixture(scope="session")
def program(libraries: Path) -> Path:
    return libraries / "program"


def interrupted_output(
    settings: dict[str, Any], ready: Callable[[subprocess.Popen], bool], number: int
) -> str:
    """Its stdout when it gets the signal once it is ready; stderr only tells of the signal."""
    done = interrupted(settings.pop("args"), ready, number, **settings)
    assert (done.returncode, done.stderr) == (130, "asterope-prove: interrupted\n")
    return done.stdout


@pytest.fixture
def command(libraries: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Settings that start asterope-prove in an empty folder. Copies are named without theirs."""

    def settings(*arguments: object, copies: str = "fast", **environment: object) -> dict[str, Any]:
        named = ",".join(f"{libraries}/{name}.so" for name in copies.split(",") if name)
        compared = ["--copies", named] if named else ["--runs"]
        return python_settings(tmp_path, *PROVE, *compared, *arguments, **environment)

    return settings


@pytest.fixture
def prove(command) -> Callable[..., subprocess.CompletedProcess]:
    return lambda *arguments, **more: finished(command(*arguments, **more))


@pytest.fixture
def refused(build_dir: Path, libraries, tmp_path, monkeypatch, capsys) -> Callable[..., str]:
    """Calls asterope-prove in the tests' own process, with {} for the folder of libraries; returns
    the line in which it refuses these words. It neither forks nor becomes another program."""
    from asterope.prove.command import main

    monkeypatch.setattr("asterope.prove.command.supervised", lambda work: work())
    monkeypatch.setattr("asterope.prove.trial.command.explore", None)
    monkeypatch.setenv("ASTEROPE_BUILD_DIR", str(build_dir))
    monkeypatch.chdir(tmp_path)

    def line(*words: str) -> str:
        given = [word.replace("{}", str(libraries)) for word in words]
        assert exit_code_of(main, *given) == 2
        return only_line_of("asterope-prove", capsys)

    return line


def rows_of(done: subprocess.CompletedProcess) -> dict[str, str]:
    """The table: name -> the rest of its row."""
    _, _, table = done.stdout.partition("\n\n")
    rows = (re.split(r" {2,}", line, maxsplit=1) for line in table.splitlines()[1:])
    return {row[0]: row[1] for row in rows if len(row) == 2}
