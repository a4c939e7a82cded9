"""Sampled calls for the totals: in seconds, with the number of calls that each stands for.

A call's work is its size + 256. It is drawn with the probability 1 - exp(-work / period). The
distances between draws are exponential, so each call's draw is independent of all others. A kept
sample's weight is the inverse of that probability, times the drawn calls that it stands for
(Horvitz and Thompson).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .raw import Module, RawProcess

COPIES = ("memcpy", "memmove", "mempcpy")

# Work of a call of no bytes.
CALL_WORK = 256

# A copy that took longer than this was interrupted: the slowest memory and page faults take less.
# Its time holds other programs' work. One such timing among a thousand small copies would be most
# of their mean. This also drops a small copy that waits while the kernel zeroes a huge page.
PREEMPTED_SECONDS, SLOWEST_SECONDS_PER_BYTE = 20e-6, 1 / 100e6


@dataclass(frozen=True)
class Site:
    """A site: the return address of a call, as an offset in a file."""

    module: str  # the file; empty if the code is in no known file
    offset: int


@dataclass(frozen=True)
class Call:
    """One sampled call. `seconds`: None if it was not timed, or was interrupted. They are too many
    for a small copy: a processor goes on with other instructions meanwhile."""

    function: str
    size: int
    site: Site
    weight: float
    seconds: float | None

    @property
    def work(self) -> int:
        return self.size + CALL_WORK


@dataclass(frozen=True)
class Drawn:
    """A sample that is kept. `ticks`: None where it was not timed."""

    function: str
    size: int
    site: Site
    weight: float
    ticks: int | None


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


def drawn_of(process: RawProcess) -> Iterator[Drawn]:
    """All kept samples."""
    sites = Sites(process.modules)
    for sample in process.samples:
        chance = -math.expm1(-(sample.size + CALL_WORK) / process.period)
        site, weight = sites.of(sample.caller), sample.stands_for / chance
        yield Drawn(sample.function, sample.size, site, weight, sample.ticks)


def calls_of(drawn: Iterable[Drawn], tick_hz: float) -> Iterator[Call]:
    """`tick_hz`: ticks of the time stamp in a second; 0: not known."""
    for one in drawn:
        seconds = one.ticks / tick_hz if one.ticks is not None and tick_hz else None
        most = PREEMPTED_SECONDS + one.size * SLOWEST_SECONDS_PER_BYTE
        yield Call(
            function=one.function,
            size=one.size,
            site=one.site,
            weight=one.weight,
            seconds=seconds if seconds is None or seconds <= most else None,
        )
