"""Sampled calls for the totals, with the number of calls that each stands for.

A call's work is its size + 256. It is drawn with the probability 1 - exp(-w / period), where w is
its work if it had the least size of its class. The distances between draws are exponential, so each
call's draw is independent of all others. A kept sample's weight is the inverse of that probability,
times the drawn calls that it stands for (Horvitz and Thompson).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

COPIES = ("memcpy", "memmove", "mempcpy")

# Work of a call of no bytes.
CALL_WORK = 256

# A copy that took longer than this was interrupted: the slowest memory and page faults take less.
# Its time holds other programs' work. One such timing among a thousand small copies would be most
# of their mean. This also drops a small copy that waits while the kernel zeroes a huge page.
PREEMPTED_SECONDS, SLOWEST_SECONDS_PER_BYTE = 20e-6, 1 / 100e6


@dataclass(frozen=True)
class Module:
    """One executable mapping, from `start` to below `end`. It shows the file from `offset` on."""

    start: int
    end: int
    offset: int
    path: str  # as /proc/PID/maps has it: empty for memory without a file, or "[vdso]"


class Site(NamedTuple):
    """A site: the return address of a call, as an offset in a file."""

    module: str  # the file; empty if the code is in no known file
    offset: int


class Call(NamedTuple):
    """A sampled call. `weight`: the number of calls that it stands for. `ticks`: None if it was not
    timed. They are too many for a small copy: a processor goes on with other instructions
    meanwhile. `seconds`: known once the rate of the ticks is."""

    function: str
    size: int
    site: Site
    weight: float
    ticks: int | None
    seconds: float | None = None

    @property
    def work(self) -> int:
        return self.size + CALL_WORK

    def timed(self, tick_hz: float) -> Call:
        """The call with its seconds, unless it was interrupted. `tick_hz`: ticks of the time stamp
        in a second; 0: not known."""
        if self.ticks is None or not tick_hz:
            return self
        seconds = self.ticks / tick_hz
        most = PREEMPTED_SECONDS + self.size * SLOWEST_SECONDS_PER_BYTE
        return self._replace(seconds=seconds if seconds <= most else None)


class Sites:
    """Finds the file and the offset of an address in a process's code."""

    def __init__(self, modules: Sequence[Module]) -> None:
        self._modules = sorted(modules, key=lambda module: module.start)
        self._starts = [module.start for module in self._modules]

    def of(self, caller: int) -> Site:
        at = bisect_right(self._starts, caller) - 1
        if at >= 0 and caller < self._modules[at].end:
            module = self._modules[at]
            return Site(module.path, caller - module.start + module.offset)
        return Site("", caller)
