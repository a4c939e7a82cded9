"""What all applications have in common: processes under a preload library, driven side by side."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

PR_SET_PDEATHSIG = 1
PATIENCE = 60.0  # seconds that a program may take for one answer


class BadInput(Exception):
    """What was asked for cannot be done: one line, exit code 2."""


class Failure(Exception):
    """The machine or a program fails: one line, exit code 1."""


class Side(Protocol):
    """A running program, with or without the library."""

    pid: int

    def close(self) -> None:
        """Ends it."""


@dataclass(frozen=True)
class Cell:
    """One thing to time."""

    label: str
    seconds: Callable[[Side], float]
    """Does it for a while on a side, and returns the seconds that it took for each unit."""


@dataclass(frozen=True)
class Application:
    """A program that is timed."""

    name: str
    unit: str  # what the times are for: "a request"
    programs: Sequence[str]
    package: str  # Debian's, which has them
    cells: Sequence[Cell]
    start: Callable[[Path, Place], Side]
    rounds: int  # so many take about half a minute

    def missing(self) -> str | None:
        """Which of its programs is not installed."""
        return next((program for program in self.programs if not shutil.which(program)), None)


@dataclass(frozen=True)
class Place:
    """Where and with what a program runs."""

    library: Path | None
    cpu: int
    driver_cpu: int  # of what asks it: another one, where there is one

    def environment(self) -> dict[str, str]:
        variables = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        if self.library:
            variables["LD_PRELOAD"] = str(self.library)
        return variables

    def enter(self) -> None:
        """For preexec_fn: onto the CPU, and to end when the process that started it ends."""
        os.sched_setaffinity(0, {self.cpu})
        die_with_parent()

    def enter_as_driver(self) -> None:
        """The same for the process that asks, which never has the library."""
        os.sched_setaffinity(0, {self.driver_cpu})
        die_with_parent()

    def check(self, pid: int, name: str) -> None:
        """Raises Failure where the process does not have the library, which ld.so would only
        mention."""
        if self.library and str(self.library) not in Path(f"/proc/{pid}/maps").read_text():
            raise Failure(
                f"{name} runs without {self.library.name}: the library could not be loaded, or "
                "the program is linked statically or privileged"
            )


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def how_it_ended(code: int) -> str:
    """Of a process's return code: "was ended by SIGKILL", "ended with exit code 1"."""
    return (
        f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    )
