"""Processes that are too short for periods: each takes one way as a whole, and is one of a pair by
its CPU time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from .blocks import LIBC, Lived, Observed, Pair
from .pairs import FEWEST_OF_PHASE, Period, Phase

SHORT = 0.3  # seconds of CPU time: some hundred periods


def short_processes(observed: Observed) -> set[str]:
    """The names of short processes that did not take one way as a whole: their pairs of periods are
    too few."""
    return {one.name for one in observed.lived if one.seconds < SHORT and one.way is None}


def _is_short(one: Lived) -> bool:
    return one.seconds < SHORT or one.way is not None


def seconds_of_short(observed: Observed) -> float:
    return sum(one.seconds for one in observed.lived if _is_short(one))


def of_short(observed: Observed, way: str) -> tuple[list[Phase], float]:
    """A phase for each kind of short processes, and the CPU time of those of which there are too
    few pairs."""
    kinds: dict[int, list[Lived]] = {}
    for one in observed.lived:
        kinds.setdefault(one.kind, []).append(one)
    found, unknown = [], 0.0
    for lived in kinds.values():
        short = [one for one in lived if _is_short(one)]
        seconds = sum(one.seconds for one in short)
        pairs = _pairs(short, way)
        if len(pairs) < FEWEST_OF_PHASE:
            unknown += seconds
        else:
            found.append((pairs, sum(_since(one) for one in short)))
    return found, unknown


def _since(one: Lived) -> float:
    """Seconds from the trial's start on."""
    return one.seconds if one.alone is None else one.alone


def _pairs(lived: Iterable[Lived], way: str) -> dict[Pair, tuple[Period, Period]]:
    """Of processes beside each other in time."""
    ended = [one for one in lived if one.alone and one.alone > 0 and one.way in (LIBC, way)]
    ended.sort(key=lambda one: one.started)
    # Not the median, which is one way's or the other's.
    usual = fmean(map(_since, ended)) if ended else 0.0
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
