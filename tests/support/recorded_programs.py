"""The programs of the recorder's tests. Builds them, runs them under it or under asterope-record,
and reads the files that these leave."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from architectures import HOST, preload_check
from asterope.record.raw import RawProcess, read_folder
from command_errors import finished, python_settings, read_json
from copy_programs import output_of

ALL = 1  # each call sampled
HERE = Path(__file__).parents[1] / "record"
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fno-builtin")


@dataclass(frozen=True)
class Recorder:
    """The library, and where it records to."""

    library: Path
    folder: Path

    def variables(self, period: int | None = None, seed: int | None = None) -> dict[str, str]:
        """That have a program recorded; `period` in bytes of work, None: the default."""
        ours = {"LD_PRELOAD": self.library, "ASTEROPE_RECORD": self.folder}
        ours |= {"ASTEROPE_RECORD_PERIOD": period, "ASTEROPE_RECORD_SEED": seed}
        return {name: str(value) for name, value in ours.items() if value is not None}

    def environment(self, **which: int | None) -> dict[str, str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("ASTEROPE_", "LD_"))}
        return {**clean, **self.variables(**which)}

    def run(
        self,
        *command: object,
        period: int | None = None,
        seed: int | None = None,
        more: Mapping[str, str] | None = None,
        code: int = 0,
        **settings: object,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program under the recorder; `code`: what it must end with, unless it says that
        this machine cannot do that."""
        done = subprocess.run(
            [str(part) for part in command],
            **{"capture_output": True, "text": True, "timeout": 60, **settings},
            env={**self.environment(period=period, seed=seed), **(more or {})},
        )
        if done.returncode == 77:
            pytest.skip(done.stdout or "only root may do that")
        assert done.returncode == code, done
        return done

    def processes(self) -> list[RawProcess]:
        processes, faults = read_folder(self.folder)
        assert faults == []
        return processes

    def only(self) -> RawProcess:
        (process,) = self.processes()
        return process


def size_class(size: int) -> tuple[int, int]:
    """Each size up to 15, then 8 classes a doubling."""
    if size < 16:
        return size, size + 1
    width = 1 << (size.bit_length() - 4)
    return size // width * width, size // width * width + width


def counted(calls: Iterable[tuple[str, int, int]]) -> dict[str, dict[tuple[int, int], int]]:
    """The counts of (function, size, calls), as RawProcess.counts has them."""
    sums: dict[str, Counter] = {}
    for function, size, number in calls:
        if number:
            sums.setdefault(function, Counter())[size_class(size)] += number
    return {function: dict(of_function) for function, of_function in sums.items()}


def said(done: subprocess.CompletedProcess[str]) -> dict[str, dict[tuple[int, int], int]]:
    """The calls that record_check tells of itself."""
    lines = [line.split() for line in done.stdout.splitlines()]
    return counted((function, int(size), int(calls)) for function, size, calls in lines)


def copies(*sizes_and_calls: int) -> dict[str, dict[tuple[int, int], int]]:
    """The counts of so many calls of memcpy: size, calls, another size, its calls."""
    pairs = zip(sizes_and_calls[::2], sizes_and_calls[1::2])
    return counted(("memcpy", size, calls) for size, calls in pairs)


@pytest.fixture(scope="session")
def library(build_dir: Path) -> Path:
    return build_dir / "libasterope_record.so"


@pytest.fixture
def recorder(library: Path, tmp_path: Path) -> Recorder:
    folder = tmp_path / "session"
    folder.mkdir()
    return Recorder(library, folder)


@pytest.fixture(scope="session")
def check(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """record_check, and beside it the library that it loads."""
    folder = tmp_path_factory.mktemp("record_check")
    output_of("cc", *FLAGS, "-shared", "-fPIC", HERE / "plugin.c", "-o", folder / "plugin.so")
    source, program = HERE / "record_check.c", folder / "record_check"
    output_of("cc", *FLAGS, source, "-o", program, "-pthread", "-ldl")
    return program


@pytest.fixture(scope="session")
def own_mmap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with functions of its own in libc's place, which copy."""
    program = tmp_path_factory.mktemp("own_mmap") / "own_mmap"
    output_of("cc", *FLAGS, "-rdynamic", HERE / "own_mmap.c", "-o", program)
    return program


@pytest.fixture(scope="session")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that checks a library put under programs."""
    return preload_check(HOST, tmp_path_factory.mktemp("preload_check"))


COPIES = 20_000
SAID = "took 3\n"  # by the program, when it has copied
read_recording = partial(read_json, schema="recording")


def copies_in(recording: dict[str, Any]) -> int:
    """The calls of memcpy from 8 KiB on, as the programs make them."""
    return sum(
        c["calls"] for c in recording["calls"] if (c["function"], c["from"]) == ("memcpy", 8192)
    )


@pytest.fixture
def settings(build_dir: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Arguments of Popen and run that start asterope-record in an empty folder."""
    command = ("-m", "asterope", "record")

    def of(*arguments: object, **environment: object) -> dict[str, Any]:
        environment = {"ASTEROPE_BUILD_DIR": build_dir, **environment}
        return python_settings(tmp_path, *command, *arguments, **environment)

    return of


@pytest.fixture
def record(settings) -> Callable[..., subprocess.CompletedProcess]:
    return lambda *arguments, **environment: finished(settings(*arguments, **environment))


@pytest.fixture
def start(settings, program: Path) -> Iterator[Callable[..., subprocess.Popen]]:
    """Starts it, and waits until its program has copied."""
    with ExitStack() as stack:

        def run(*options: object, code: int = 0) -> subprocess.Popen:
            its = settings(*options, "--", program, COPIES, code, "wait")
            started = stack.enter_context(subprocess.Popen(**its, stdin=subprocess.PIPE))
            stack.callback(started.kill)
            assert started.stdout.readline() == SAID
            return started

        yield run


def finish(process: subprocess.Popen) -> tuple[int, str]:
    """Ends the program's standard input."""
    _, said = process.communicate(timeout=60)
    return process.returncode, said
