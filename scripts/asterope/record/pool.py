"""Adds up the recordings of any number of processes. The sum grows with the kinds of their copies,
and not with their number."""

from __future__ import annotations

import dataclasses
import math
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from .calls import Call
from .raw import RawProcess

# If more samples than this are kept, half of them go. Each of the rest stands for twice as many.
MOST_SAMPLES = 1 << 15

_MOST_CLOCKS = 1 << 14


@dataclass
class Pool:
    """`others`: the processes' findings on their programs and other libraries: see RawProcess."""

    processes: int = 0
    threads: int = 0
    drawn: int = 0
    period: int = 0
    cpu_seconds: float = 0.0
    # By function and size class: see RawProcess.
    counts: Counter[tuple[str, tuple[int, int]]] = field(default_factory=Counter)
    samples: list[Call] = field(default_factory=list)
    flags: Counter[str] = field(default_factory=Counter)
    clocks: tuple[float, float] = (0.0, 0.0)  # of the process seen longest: seconds, ticks a second
    others: Counter[tuple[str, str]] = field(default_factory=Counter)  # what, and the file
    # By process id, seconds known of those that ended without a note, with their children's.
    _unnoted: dict[int, float] = field(default_factory=dict)
    # By process id, each clock when it was last seen, as an exec goes on with it.
    _last: dict[int, float] = field(default_factory=dict)
    _chance: random.Random = field(default_factory=lambda: random.Random(1))

    @property
    def tick_hz(self) -> float:
        """Ticks a second; 0: no process was seen long enough."""
        return self.clocks[1]

    @property
    def unnoted(self) -> int:
        """Processes that ended without noting their CPU time: `cpu_seconds` may lack some of it."""
        return len(self._unnoted)

    def copy(self) -> Pool:
        """A copy that can be added to."""
        own = {one.name: copy(getattr(self, one.name)) for one in dataclasses.fields(self)}
        return dataclasses.replace(self, **own)

    def add(
        self,
        processes: Sequence[RawProcess],
        known: Mapping[int, float] = MappingProxyType({}),
        to_the_end: Collection[int] = (),
        gone_on: Collection[int] = (),
        have_ended: bool = True,
    ) -> None:
        """Adds processes, the first started first. `known`: by process id, CPU seconds that were
        seen after the process's own last note. `to_the_end`: those whose known seconds are final.
        `gone_on`: those that have become another program, which is not recorded."""
        if len(self._last) > _MOST_CLOCKS:
            self._last = {p: s for p, s in self._last.items() if Path(f"/proc/{p}").exists()}
        for process, seconds in zip(processes, own_cpu_seconds(processes, known, self._last)):
            self.processes += 1
            self.threads += process.threads
            self.drawn += process.drawn
            self.period = max(self.period, process.period)
            self.cpu_seconds += seconds + process.children_cpu_seconds
            self._unnoted.pop(process.pid, None)
            if have_ended and not (process.has_ended or process.pid in to_the_end):
                known_of = self._last[process.pid] + process.waited_seconds
                self._unnoted[process.pid] = math.inf if process.pid in gone_on else known_of
            for function, classes in process.counts.items():
                self.counts.update({(function, one): calls for one, calls in classes.items()})
            self.samples += process.samples
            self.flags.update(process.flags)
            if process.tick_hz > 0:
                self.clocks = max(self.clocks, (process.seconds, process.tick_hz))
            self.others.update(process.others)
            while len(self.samples) > MOST_SAMPLES:
                self._chance.shuffle(self.samples)
                del self.samples[len(self.samples) // 2 :]
                self.samples = [one._replace(weight=2 * one.weight) for one in self.samples]
        for process in processes:
            self._account_for(process.waited_for)

    def _account_for(self, waited_for: Mapping[int, float]) -> None:
        """Adds the time that a parent knows of a child that did not note it. It holds the time of
        the child's own children, too."""
        for pid in self._unnoted.keys() & waited_for.keys():
            if self._unnoted[pid] < math.inf:
                self.cpu_seconds += max(0.0, waited_for[pid] - self._unnoted.pop(pid))


def own_cpu_seconds(
    processes: Sequence[RawProcess], known: Mapping[int, float], last: dict[int, float]
) -> list[float]:
    """The CPU time that each process adds to its clock, as an exec goes on with that clock.
    `processes`: the first started first. `known`: as in Pool.add(). `last`: each clock before."""
    seconds, newest = [], {process.pid: process for process in processes}
    for process in processes:
        before = last.get(process.pid, 0.0)
        if process.cpu_before < before and process.cpu_seconds:  # 0: the clock was never noted
            before = 0.0  # the kernel gave the number to another process
        seen = known.get(process.pid, 0.0) if process is newest[process.pid] else 0.0
        last[process.pid] = max(before, process.cpu_seconds, seen)
        seconds.append(last[process.pid] - before)
    return seconds
