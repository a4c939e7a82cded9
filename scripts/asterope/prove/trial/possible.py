"""The most that a routine can save or cost: no more than the copies themselves take, and what reads
their results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from .blocks import LIBC, ROUTINE, Observed, Place, Seen
from .statistics import Estimate

# A mean of so many calls is no more than that above what is true, nearly always: their times differ
# by as much as they take.
_DEVIATIONS = 2.0
# What a reader of a copy pays at most where the routine leaves it elsewhere, in times of the copy.
_READER = 2.0
# What a slower routine costs more, in times of what its calls that were measured did: a processor
# does other work beside them, and some of the CPU time is the trial's.
_SLOWER = 1.25
# Of calls that were not measured: seconds of a byte, and of a call.
_SLOW_BYTE, _SLOW_CALL = 1e-9, 1e-7
_FEWEST = 20  # measured calls, of which a mean is known


@dataclass(frozen=True)
class Possible:
    """Shares of the CPU time that a program takes with libc. `share`: the most that the calls take;
    `loss`: the most that the routine costs more there."""

    share: float
    loss: float

    @property
    def gain(self) -> tuple[float, float]:
        """How much faster the program is, at least and at most: 0.1 for 10 %."""
        most = 1 / (1 - self.share) - 1 if self.share < 1 else math.inf
        return 1 / (1 + self.loss) - 1, most

    def holds(self, gain: Estimate) -> bool:
        """Whether an interval that tells something is of something that can be, but for luck: where
        the truth is at an end of that, one estimate of six is further beyond."""
        low, high = self.gain
        if gain.low > 0 or gain.high < 0:
            return (gain.value + gain.low) / 2 <= high and (gain.value + gain.high) / 2 >= low
        return True

    def part_of(self, gain: Estimate) -> Estimate:
        return clipped(gain, *self.gain)

    def saved(self, gained: Estimate) -> Estimate:
        """The share of the CPU time that the routine saves at a place."""
        return clipped(gained, -self.loss, self.share)


def clipped(one: Estimate, low: float, high: float) -> Estimate:
    return Estimate(*(max(low, min(high, value)) for value in (one.value, one.low, one.high)))


@dataclass(frozen=True)
class _Calls:
    """Of one place: what a call takes by libc, and by the routine, as is known and at most."""

    calls: int
    seconds: Mapping[str, float]
    most: Mapping[str, float]


def _calls_of(place: Place, seen: Seen) -> _Calls:
    means, most = {}, {}
    for way, (count, seconds) in seen.measured.items():
        if count >= _FEWEST:
            means[way] = seconds / count
            most[way] = means[way] * (1 + _DEVIATIONS / math.sqrt(count))
    slow = 2 * max(place.least, 256) * _SLOW_BYTE + _SLOW_CALL
    for way in (LIBC, ROUTINE):  # the other one's is no bound: it may be the faster one
        means.setdefault(way, slow)
        most.setdefault(way, slow)
    return _Calls(seen.calls, means, most)


def possible_of(observed: Observed, seconds: float) -> dict[Place | None, Possible]:
    """By place, and of all together (None); empty where nothing was measured. `seconds`: of the
    program, half of its calls by each way."""
    if not any(seen.measured for seen in observed.places.values()) or seconds <= 0:
        return {}
    found = {place: _calls_of(place, seen) for place, seen in observed.places.items()}
    libcs = sum(one.calls * one.seconds[LIBC] for one in found.values())
    more = sum(one.calls * one.seconds[ROUTINE] for one in found.values()) - libcs
    # Of ways that differ much the slower one may have had far fewer calls.
    with_libc = max(libcs, seconds - more / 2)
    parts = {place: _possible(one, with_libc) for place, one in found.items()}
    share = min(1.0, sum(one.share for one in parts.values()))
    return {**parts, None: Possible(share, sum(one.loss for one in parts.values()))}


def _possible(one: _Calls, seconds: float) -> Possible:
    libc, routine = (one.calls * one.most[way] / seconds for way in (LIBC, ROUTINE))
    return Possible(min(1.0, libc), _SLOWER * max(0.0, routine - libc) + _READER * min(1.0, libc))
