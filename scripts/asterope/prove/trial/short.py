"""Judges processes that are too short for periods. Each takes one way as a whole, or tries its
places. Two of different ways, beside each other in time, make a pair: it compares their CPU
times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from .blocks import LIBC, ROUTINE, Lived, Observed, Pair
from .pairs import Period, Phase

# The fewest pairs of processes that give an interval. The time of a process is the sum of many, so
# it is near to normal.
FEWEST_PROCESSES = 6


def seconds_of_short(observed: Observed) -> float:
    return sum(one.seconds for one in observed.lived if one.is_short)


def of_short(observed: Observed, way: str) -> tuple[list[Phase], float]:
    """Returns a phase for each kind of short processes. Second, the CPU time of the kinds that have
    too few pairs."""
    found, unknown = [], 0.0
    for short in _by_kind(observed):
        seconds = sum(one.seconds for one in short)
        pairs = _pairs(short, way)
        if len(pairs) < FEWEST_PROCESSES:
            unknown += seconds
        else:
            usual = next(iter(pairs.values()))[0].usual
            found.append((pairs, len(short) * usual))
    return found, unknown


def chance_of_short(observed: Observed) -> float:
    """The seconds that short processes took beyond those of libc and the routine, if each had half
    of them. A process's way is drawn, so one may have more; and a map's library has some, too."""
    found = 0.0
    for short in _by_kind(observed):
        took = [[_since(one) for one in short if one.way == way] for way in (LIBC, ROUTINE)]
        if all(took):
            drawn = [_since(one) for one in short if one.way is not None]
            found += sum(drawn) - len(drawn) * fmean(map(fmean, took))
    return found


def _by_kind(observed: Observed) -> Iterable[list[Lived]]:
    kinds: dict[int, list[Lived]] = {}
    for one in observed.lived:
        if one.is_short:
            kinds.setdefault(one.kind, []).append(one)
    return kinds.values()


def _since(one: Lived) -> float:
    """Seconds from the trial's start on."""
    return one.seconds if one.cpu_since_start is None else one.cpu_since_start


def _pairs(lived: Iterable[Lived], way: str) -> dict[Pair, tuple[Period, Period]]:
    """Pairs processes that are beside each other in time."""
    ended = [one for one in lived if (one.cpu_since_start or 0) > 0 and one.way in (LIBC, way)]
    ended.sort(key=lambda one: one.started)
    took = [[_since(one) for one in ended if (one.way == LIBC) == is_libcs] for is_libcs in (0, 1)]
    if not all(took):
        return {}
    # The median would not do: it is one way's or the other's.
    usual = fmean(map(fmean, took))
    waiting: list[Lived] = []
    pairs = {}
    for one in ended:
        if not waiting or waiting[0].way == one.way:
            waiting.append(one)
            continue
        both: Sequence[Lived] = sorted((waiting.pop(0), one), key=lambda own: own.way != LIBC)
        periods = [Period(_since(own), _since(own), usual) for own in both]
        pairs[Pair(both[0].name, 0)] = (periods[0], periods[1])
    return pairs
