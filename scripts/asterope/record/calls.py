"""Sampled calls as the totals want them: in seconds, with the calls that each stands for.

A call is drawn with the probability 1 - exp(-work / period), its work being size + 256. The
distances between draws are exponential, so each call's draw is independent of all others. The
inverse of that probability, times the drawn calls that a kept sample stands for, is its weight
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

# A copy that took so much longer than the slowest memory and page faults explain was interrupted.
# Its time holds other programs' work, and one such timing among a thousand small copies would be
# most of their mean. With them goes what zeroing a huge page takes, where a small copy is the first
# to touch it.
PREEMPTED_SECONDS, SLOWEST_SECONDS_PER_BYTE = 20e-6, 1 / 100e6


@dataclass(frozen=True)
class Site:
    """A place in the program's code: the return address of a call, as bytes into a file."""

    module: str  # the file; empty where the code is in no file that is known
    offset: int


@dataclass(frozen=True)
class Call:
    """One sampled call. `seconds`: as if nothing else had run meanwhile, which out-of-order
    execution makes too much for small copies; None where it was not timed."""

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
    """Where in its files a process's code lies."""

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
    """`tick_hz`: 0 where it is not known."""
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
