"""Judges processes that are too short for periods. Each takes one way as a whole; two of them make
a pair, which compares their CPU times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from .blocks import LIBC, Lived, Observed, Pair
from .pairs import Period, Phase

# The fewest pairs of processes that give an interval. The time of a process is the sum of many, so
# it is near to normal.
FEWEST_PROCESSES = 6


def short_processes(observed: Observed) -> set[str]:
    """The names of short processes that did not take one way as a whole: their pairs of periods are
    too few."""
    return {one.name for one in observed.lived if one.is_short and one.way is None}


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


def chance_of_short(observed: Observed, parts: Mapping[str, float]) -> float:
    """The seconds that chance added to short processes. A process's way is drawn, so a way may have
    more or fewer of them than its part. `parts`: of ways but libc."""
    found, wanted = 0.0, {LIBC: 1 - sum(parts.values()), **parts}
    for short in _by_kind(observed):
        took = {way: [_since(one) for one in short if one.way == way] for way in wanted}
        if all(took.values()):
            count = sum(map(len, took.values()))
            usual = sum(part * fmean(took[way]) for way, part in wanted.items())
            found += sum(map(sum, took.values())) - count * usual
    return found


def _by_kind(observed: Observed) -> Iterable[list[Lived]]:
    kinds: dict[int, list[Lived]] = {}
    for one in observed.lived:
        if one.is_short:
            kinds.setdefault(one.kind, []).append(one)
    return kinds.values()


def _since(one: Lived) -> float:
    """Seconds from the trial's start on."""
    return one.seconds if one.alone is None else one.alone


def _pairs(lived: Iterable[Lived], way: str) -> dict[Pair, tuple[Period, Period]]:
    """Pairs processes that are beside each other in time."""
    ended = [one for one in lived if one.alone and one.alone > 0 and one.way in (LIBC, way)]
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
