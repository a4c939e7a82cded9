"""Runs the command asterope-record, with a program whose copies are known."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_errors import finished, python_settings, read_json
from copy_programs import compiled, need_way

COPIES = 20_000

# Copies, says that it has, and goes on until its standard input ends.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words)
{
    static char from[1 << 16], to[1 << 16];
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    for (int i = 0; i < 20000; ++i) copy(to, from, 40000);
    puts("copied");
    fflush(stdout);
    if (count > 1) while (getchar() != EOF) {}
    return count > 2 ? atoi(words[2]) : 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    need_way(folder, "cc")
    return compiled(folder / "program", PROGRAM, "-O1")


@pytest.fixture
def settings(build_dir: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """What Popen and run need to start asterope-record in an empty folder."""
    if not (build_dir / "libasterope_record.so").exists():
        pytest.fail(f"no libasterope_record.so in {build_dir}: build it first")
    command = ("-m", "asterope", "record")

    def of(*arguments: object, **environment: object) -> dict[str, Any]:
        environment = {"ASTEROPE_BUILD_DIR": build_dir, **environment}
        return python_settings(tmp_path, *command, *arguments, **environment)

    return of


@pytest.fixture
def record(settings) -> Callable[..., subprocess.CompletedProcess]:
    return lambda *arguments, **environment: finished(settings(*arguments, **environment))


@pytest.fixture
def start(settings) -> Iterator[Callable[..., subprocess.Popen]]:
    """Starts it, and waits until its program has copied."""
    with ExitStack() as stack:

        def run(*arguments: object) -> subprocess.Popen:
            started = subprocess.Popen(**settings(*arguments), stdin=subprocess.PIPE)
            stack.enter_context(started)
            stack.callback(started.kill)
            assert started.stdout.readline() == "copied\n"
            return started

        yield run


read_recording = partial(read_json, schema="recording")


def finish(process: subprocess.Popen) -> tuple[int, str]:
    """Ends the program's standard input."""
    _, said = process.communicate(timeout=60)
    return process.returncode, said
