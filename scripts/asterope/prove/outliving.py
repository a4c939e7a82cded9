"""The processes of a command that go on after it has ended: what they do is in no figure."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from pathlib import Path

from ..faults import one_line
from ..program import Called
from ..record.descendants import programs_running, used_by

_TURN = 0.02  # seconds between two looks
_MOMENT = 0.2  # seconds that other processes of the command have to end after it
_LITTLE = 10  # times: a process that goes on matters unless the command took so much more CPU time
_NOTICED = 0.05  # seconds of CPU time: less is the start of a process


def running_after(program: Called) -> dict[str, float]:
    """The programs of the descendants that run now, though the command has ended, with their CPU
    time. Processes of a pipeline, for example, have a moment to end after it. `program`: the
    command's."""
    deadline = time.monotonic() + _MOMENT
    while True:
        running = programs_running()
        if not running or time.monotonic() > deadline:
            used = [each for pid in running for each in used_by(pid)[1:]]
            seconds = sum(each.seconds for each in used)
            return {Path(program.name_of(name)).name: seconds for name in running.values()}
        time.sleep(_TURN)


def that_matter(outlived_by: Mapping[str, float], cpu_seconds: float) -> set[str]:
    """All of them, or none if the command took far more CPU time: a helper that stays, and has done
    little, does not matter."""
    least = max(_NOTICED, _LITTLE * max(outlived_by.values(), default=0.0))
    return set() if cpu_seconds >= least else set(outlived_by)


def outlived_words(programs: Collection[str]) -> str:
    names = one_line(", ".join(sorted(programs)))[:200]
    return (
        f"still running when the command ended: {names}: prove a command that ends when its work "
        "is done (no daemon)"
    )
