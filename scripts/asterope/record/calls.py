"""Sampled calls as the estimates want them: in seconds, with the calls that each stands for.

A call is drawn with the probability 1 - exp(-work / period), its work being size + 256: the
distances between draws are exponential, so each call's draw is independent of all others. The
inverse of that probability, times the drawn calls that a kept sample stands for, is its weight
(Horvitz and Thompson).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .raw import Module, RawProcess, Sample
from .recorder import Calibration

COPIES = ("memcpy", "memmove", "mempcpy")

# Bytes of a copy that a probe of one line does not make faster by more than 2 %.
UNWARMED_FROM = 1 << 18

# Work of a call of no bytes.
CALL_WORK = 256

# What out-of-order execution hides of a copy at most: some 400 instructions that do not wait for
# it, at 3 a cycle and 3 to 4 GHz. A timing that is serialised hides none of it. Copies that take
# less may be free: in a loop that waits for its own arithmetic, 2,000 bytes in a first cache took
# less than a nanosecond, and 14 where they were timed.
HIDDEN_SECONDS = 40e-9

# A copy that took so much longer than the slowest memory and page faults explain was interrupted:
# what others did on the CPU in between is no time of its own, and one such timing among a thousand
# small copies would be most of their mean. With them goes what zeroing a huge page takes, where a
# small copy is the first to touch it.
PREEMPTED_SECONDS, SLOWEST_SECONDS_PER_BYTE = 20e-6, 1 / 100e6


@dataclass(frozen=True)
class Site:
    """A place in the program's code: the return address of a call, as bytes into a file."""

    module: str  # the file; empty where the code is in no file that is known
    offset: int


@dataclass(frozen=True)
class Call:
    """One sampled call. `chance`: that it was drawn and kept. The times are without what timing
    takes, None where it was not timed: `seconds` as if nothing else had run meanwhile, `least` what
    is left where the processor went on with other instructions during the copy, `likely` in
    between."""

    function: str
    size: int
    site: Site
    source_offset: int
    destination_offset: int
    overlap: bool
    weight: float
    chance: float
    seconds: float | None
    likely: float | None
    least: float | None
    fresh: bool  # the destination's page was not there yet
    probed: bool
    source_cached: bool  # False where it was not probed
    destination_cached: bool
    source_seconds: float  # of the probe; 0 where it was not probed

    @property
    def work(self) -> int:
        return self.size + CALL_WORK

    @property
    def timed(self) -> bool:
        """Whether its time is what the program's other calls take, too: a probe warms all but large
        copies."""
        return self.seconds is not None and (not self.probed or self.size >= UNWARMED_FROM)


def tick_hz_of(processes: Iterable[RawProcess]) -> float:
    """Of the process that was seen longest: all have one clock. 0: none was seen long enough."""
    known = [(process.seconds, process.tick_hz) for process in processes if process.tick_hz > 0]
    return max(known)[1] if known else 0.0


def cached_below(calibration: Calibration) -> float:
    """Ticks of a load, those of timing taken off, below which its line was in a cache: the
    geometric mean of what the last cache and memory take."""
    near = max(1, calibration.last_cache_ticks - calibration.empty_ticks)
    far = max(near, calibration.memory_ticks - calibration.empty_ticks)
    return math.sqrt(near * far)


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


def calls_of(
    processes: Iterable[RawProcess], calibration: Calibration, tick_hz: float
) -> tuple[list[Call], int]:
    """All kept samples, and how many timings were left out because the copy was preempted."""
    calls, preempted = [], 0
    threshold = cached_below(calibration)
    for process in processes:
        sites = Sites(process.modules)
        for sample in process.samples:
            drawn = -math.expm1(-(sample.size + CALL_WORK) / process.period)
            seconds = _seconds(sample.copy_ticks, calibration.empty_ticks, tick_hz)
            if seconds is not None and seconds > PREEMPTED_SECONDS + (
                sample.size * SLOWEST_SECONDS_PER_BYTE
            ):
                seconds, preempted = None, preempted + 1
            least = None if seconds is None else _least(seconds)
            probed, source_cached, destination_cached = _situation(
                sample, calibration.empty_ticks + threshold
            )
            calls.append(
                Call(
                    function=sample.function,
                    size=sample.size,
                    site=sites.of(sample.caller),
                    source_offset=sample.source_offset,
                    destination_offset=sample.destination_offset,
                    overlap=sample.overlap,
                    weight=sample.stands_for / drawn,
                    chance=drawn / sample.stands_for,
                    seconds=seconds,
                    likely=None if least is None else (seconds + least) / 2,
                    least=least,
                    fresh=sample.destination_resident is False,
                    probed=probed,
                    source_cached=source_cached,
                    destination_cached=destination_cached,
                    source_seconds=_seconds(sample.source_ticks, calibration.empty_ticks, tick_hz)
                    or 0.0,
                )
            )
    return calls, preempted


def _seconds(ticks: int | None, overhead: int, tick_hz: float) -> float | None:
    if ticks is None or not tick_hz:
        return None
    return max(0, ticks - overhead) / tick_hz


def _least(seconds: float) -> float:
    return max(0.0, seconds - HIDDEN_SECONDS)


def _situation(sample: Sample, cached_below_ticks: float) -> tuple[bool, bool, bool]:
    """Whether it is known where the data was; whether source and destination were cached. A page
    that is not there yet is not probed, and in no cache."""
    fresh = sample.destination_resident is False
    source, destination = sample.source_ticks, sample.destination_ticks
    if sample.function not in COPIES:  # there is no source
        source = 0 if destination is not None or fresh else None
    if source is None or (destination is None and not fresh):
        return False, False, False
    cached = destination is not None and destination < cached_below_ticks
    return True, source < cached_below_ticks, cached
