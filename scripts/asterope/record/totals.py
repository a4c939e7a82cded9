"""Makes totals of a pool: calls and bytes by size and by place, and their seconds at most."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .calls import CALL_WORK, COPIES, Call, Site
from .pool import Pool
from .raw import FUNCTIONS

# The first sizes of the size bands. Each band ends before the next one, and the last has no end.
BANDS = (0, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20)

# No buffer has so many bytes. A call with such a size, -1 say, crashes.
IMPOSSIBLE = 1 << 47

# Sizes below this are listed one by one: a tuning run draws small copies from them.
SMALL = 4096

PLACES = 10

# Below this many timed calls their mean says nothing.
FEW = 8

# The most seconds for a call, and for each of its bytes, if its data was never in a cache.
SLOWEST_CALL, SLOWEST_BYTE = 400e-9, 1e-9

Classes = Mapping[tuple[int, int], int]  # calls by from <= size < to


@dataclass(frozen=True)
class Total:
    """`seconds`: the most that the calls took; None: too few were timed. `timed`: the number of
    timed ones."""

    calls: float
    bytes: float
    seconds: float | None
    timed: int = 0

    @property
    def slowest(self) -> float:
        """Seconds that the calls cannot exceed, even if they were not timed."""
        return SLOWEST_CALL * self.calls + SLOWEST_BYTE * self.bytes


@dataclass(frozen=True)
class Place:
    """The copies or sets of one call site."""

    site: Site
    function: str  # libc's
    total: Total
    median_size: int
    samples: int


@dataclass(frozen=True)
class Totals:
    """Everything that a recording says of the copies; seconds are of CPU time."""

    counts: Mapping[str, Classes]
    samples: int
    copies: Total
    sets: Total
    bands: Sequence[Total]  # of the copies
    sizes: Mapping[int, float]  # calls by size, of small copies
    places: Sequence[Place]
    impossible: int = 0  # calls that were left out for their size


def totals_of(pool: Pool) -> Totals:
    counts: dict[str, dict[tuple[int, int], int]] = {name: {} for name in FUNCTIONS}
    impossible = 0
    for (function, of_class), number in sorted(pool.counts.items()):
        if of_class[0] >= IMPOSSIBLE:
            impossible += number
        elif number:
            counts[function][of_class] = number
    calls = [call.timed(pool.tick_hz) for call in pool.samples if call.size < IMPOSSIBLE]
    copies = [call for call in calls if call.function in COPIES]
    sets = [call for call in calls if call.function not in COPIES]
    merged: Counter[tuple[int, int]] = Counter()
    for function in COPIES:
        merged.update(counts[function])
    sizes = _sizes(merged, copies)
    bands = [
        _total(
            {size: n for size, n in sizes.items() if _band_of(size) == band},
            [call for call in copies if _band_of(call.size) == band],
        )
        for band in range(len(BANDS))
    ]
    return Totals(
        counts=counts,
        samples=len(calls),
        copies=_total(sizes, copies),
        sets=_total(_sizes(counts["memset"], sets), sets),
        bands=bands,
        sizes={size: n for size, n in sorted(sizes.items()) if size < SMALL},
        places=_places(calls),
        impossible=impossible,
    )


def _band_of(size: int) -> int:
    return bisect_right(BANDS, size) - 1


def _sizes(classes: Classes, samples: Sequence[Call]) -> dict[int, float]:
    """The counted calls by size. A class has the sizes of its samples, or else its middle size."""
    sampled = _weights(samples)
    ordered = sorted(sampled)
    sizes: dict[int, float] = {}
    for (first, end), calls in classes.items():
        within = ordered[bisect_left(ordered, first) : bisect_left(ordered, end)]
        known = sum(sampled[size] for size in within)
        for size in within:
            sizes[size] = calls * sampled[size] / known
        if not within:
            sizes[(first + end - 1) // 2] = calls
    return sizes


def _weights(samples: Iterable[Call]) -> Mapping[int, float]:
    """The calls that the samples stand for, by size."""
    sizes: Counter[int] = Counter()
    for call in samples:
        sizes[call.size] += call.weight
    return sizes


def _total(sizes: Mapping[int, float], samples: Iterable[Call]) -> Total:
    """Of the calls by size, and their samples.

    The most that all calls took: the timed samples' seconds for each byte of work, and two standard
    errors, times the work of all. That is a ratio estimate (Cochran, Sampling Techniques, chapter
    6)."""
    calls, copied = sum(sizes.values()), sum(size * n for size, n in sizes.items())
    timed = [(call.weight * call.work, call.weight * call.seconds)
             for call in samples if call.seconds is not None]  # fmt: skip
    if len(timed) < FEW:
        return Total(calls, copied, None, len(timed))
    work = sum(of_call for of_call, _ in timed)
    rate = sum(seconds for _, seconds in timed) / work
    error = math.hypot(*(seconds - rate * of_call for of_call, seconds in timed)) / work
    most = (rate + 2 * error) * (copied + CALL_WORK * calls)
    return Total(calls, copied, most, len(timed))


def _places(calls: Iterable[Call]) -> list[Place]:
    """The sites with the most timed seconds; without any, those that copy most."""
    by_site: dict[tuple[Site, str], list[Call]] = {}
    for call in calls:
        by_site.setdefault((call.site, call.function), []).append(call)
    places = []
    for (site, function), own in by_site.items():
        sizes = _weights(own)
        total = _total(sizes, own)
        seconds = sum(call.weight * (call.seconds or 0.0) for call in own)
        place = Place(site, function, total, _median_size(sizes), len(own))
        places.append(((-seconds, -total.bytes, site), place))
    return [place for _, place in sorted(places, key=lambda one: one[0])[:PLACES]]


def _median_size(sizes: Mapping[int, float]) -> int:
    half = sum(sizes.values()) / 2
    for size in sorted(sizes):
        half -= sizes[size]
        if half <= 0:
            return size
    return max(sizes)
