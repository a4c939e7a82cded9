"""Finds the processes of a command that go on after its end: no figure counts their time."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from pathlib import Path

from ..faults import one_line
from ..program import Called
from ..record.descendants import programs_running, used_by

_TURN = 0.02  # seconds between two looks
_MOMENT = 0.2  # seconds that other processes of the command have to end after it
# A process that goes on matters if the command took less than this many times its CPU time.
_LITTLE = 10
# With fewer seconds of CPU time the command has only started another process, which matters.
_NOTICED = 0.05


def running_after(program: Called) -> dict[str, float]:
    """Returns the programs of descendants that still run after the command's end. Each comes with
    the CPU time of all of them. They get a moment to end, as processes of a pipeline need one.
    `program`: the command's."""
    deadline = time.monotonic() + _MOMENT
    while True:
        running = programs_running()
        if not running or time.monotonic() > deadline:
            used = [each for pid in running for each in used_by(pid)[1:]]
            seconds = sum(each.seconds for each in used)
            return {Path(program.name_of(name)).name: seconds for name in running.values()}
        time.sleep(_TURN)


def that_matter(outlived_by: Mapping[str, float], cpu_seconds: float) -> set[str]:
    """Returns all of them, or an empty set if the command took far more CPU time. A helper that
    stays, and has done little, does not matter."""
    least = max(_NOTICED, _LITTLE * max(outlived_by.values(), default=0.0))
    return set() if cpu_seconds >= least else set(outlived_by)


def outlived_words(programs: Collection[str]) -> str:
    names = one_line(", ".join(sorted(programs)))[:200]
    return (
        f"still running when the command ended: {names}: prove a command that ends when its work "
        "is done (no daemon)"
    )
