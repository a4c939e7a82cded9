"""Runs the command asterope-record, with a program whose copies are known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from asterope.record import __file__ as RECORD
from copy_programs import need_way, output_of

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
    (folder / "program.c").write_text(PROGRAM)
    output_of("cc", "-O1", folder / "program.c", "-o", folder / "program")
    return folder / "program"


@pytest.fixture
def settings(repository: Path, build_dir: Path, tmp_path: Path) -> dict[str, Any]:
    """What Popen needs to start asterope-record in an empty folder."""
    if not (build_dir / "libasterope_record.so").exists():
        pytest.fail(f"no libasterope_record.so in {build_dir}: build it first")
    (tmp_path / "tmp").mkdir()
    return {
        "cwd": tmp_path,
        "env": {
            **os.environ,
            "PYTHONPATH": str(repository / "scripts"),
            "ASTEROPE_BUILD_DIR": str(build_dir),
            "TMPDIR": str(tmp_path / "tmp"),
        },
        "text": True,
    }


COMMAND = [sys.executable, "-m", "asterope", "record"]


@pytest.fixture
def record(settings: dict[str, Any], tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs it to its end; nothing of the session is left behind then."""

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            **{**settings, "env": {**settings["env"], **environment}},
            capture_output=True,
            timeout=120,
        )
        assert list((tmp_path / "tmp").iterdir()) == []
        return done

    return run


@pytest.fixture
def start(settings: dict[str, Any], tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen]]:
    """Starts it, and waits until its program has copied."""
    started: list[subprocess.Popen] = []

    def run(*arguments: object) -> subprocess.Popen:
        process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            **settings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append(process)
        assert process.stdout.readline() == "copied\n"
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def read_recording(path: Path) -> dict[str, Any]:
    """As its schema says."""
    recording = json.loads(path.read_text())
    schema = Path(RECORD).parents[1] / "recording.schema.json"
    jsonschema.validate(recording, json.loads(schema.read_text()))
    return recording


def finish(process: subprocess.Popen) -> tuple[int, str]:
    """Ends the program's standard input."""
    _, said = process.communicate(timeout=60)
    return process.returncode, said


def wait_for(path: Path) -> dict[str, Any]:
    for _ in range(6000):
        if path.exists():
            return read_recording(path)
        time.sleep(0.01)
    pytest.fail(f"{path} was not written within a minute")
