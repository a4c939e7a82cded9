"""Bounds the time that a routine can save or cost: by the time of the copies themselves, and of the
readers of their results."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .blocks import LIBC, ROUTINE, Observed, Place, Seen
from .statistics import Estimate

# The true mean is rarely above the measured one times 1 + this / sqrt(calls). For the times of
# calls differ by about as much as they take.
_DEVIATIONS = 2.0
# A reader pays at most this many times the copy's time if the routine leaves the copy elsewhere.
_READER = 2.0
# A slower routine costs at most this many times the loss of its measured calls. The measured loss
# may be too low, as calls overlap with other work and the trial takes CPU time.
_SLOWER = 1.25
# Calls that were not measured count with these seconds for a byte, and for a call.
_SLOW_BYTE, _SLOW_CALL = 1e-9, 1e-7
_FEWEST = 20  # measured calls that give a mean


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
        """Whether the gain can be real. An interval that includes 0 always can. The value of
        any other may lie beyond the bound by half of its reach. If the truth lies at the bound, one
        estimate of six lies further beyond by luck."""
        low, high = self.gain
        if gain.low > 0 or gain.high < 0:
            return (gain.value + gain.low) / 2 <= high and (gain.value + gain.high) / 2 >= low
        return True


def _seconds(place: Place, seen: Seen, way: str) -> tuple[float, float]:
    """The seconds of all calls of the place if they go that way, by the measured mean. Second, the
    most that they truly are."""
    count, seconds = seen.measured.get(way, (0, 0.0))
    if count < _FEWEST:  # the other way's mean bounds nothing: it may be the faster way
        return seen.calls * _slow(place), seen.calls * _slow(place)
    mean = seconds / count
    return seen.calls * mean, seen.calls * (mean * (1 + _DEVIATIONS / math.sqrt(count)))


def _slow(place: Place) -> float:
    return 2 * max(place.least, 256) * _SLOW_BYTE + _SLOW_CALL


def seconds_of_call(place: Place, seen: Seen) -> float:
    """The mean of the measured calls; without any, the most that a slow call takes."""
    count = sum(count for count, _ in seen.measured.values())
    if count:
        return sum(seconds for _, seconds in seen.measured.values()) / count
    return _slow(place)


def possible_of(
    observed: Observed, seconds: float, uncounted: float
) -> dict[Place | None, Possible]:
    """Returns the bounds by place, and of all together (None); empty if nothing was measured.
    `seconds`: of the program, half of its calls by each way. `uncounted`: seconds beside
    them, in which copies were not counted. All of that time may be copies."""
    if not any(seen.measured for seen in observed.places.values()) or seconds <= 0:
        return {}
    libcs, routines = (
        sum(_seconds(place, seen, way)[0] for place, seen in observed.places.items())
        for way in (LIBC, ROUTINE)
    )
    # If the ways differ much, the slower one may have had far fewer calls.
    with_libc = max(libcs, seconds - (routines - libcs) / 2)
    parts = {}
    for place, seen in observed.places.items():
        libc, routine = (_seconds(place, seen, way)[1] / with_libc for way in (LIBC, ROUTINE))
        loss = _SLOWER * max(0.0, routine - libc) + _READER * min(1.0, libc)
        parts[place] = Possible(min(1.0, libc), loss)
    unknown = uncounted / seconds
    share = min(1.0, sum(one.share for one in parts.values()) + unknown)
    loss = sum(one.loss for one in parts.values()) + _READER * unknown
    return {**parts, None: Possible(share, loss)}
