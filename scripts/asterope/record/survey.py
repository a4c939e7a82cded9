"""Totals over all calls from the sampled ones: ratio estimates by size class, with intervals.

How many calls there were of each size class is counted exactly; what they have in common (time,
situation, place) is known of samples. Neighbouring classes of one band join until they have enough
samples, and in such a group the samples are scaled so that they add up to what was counted: to the
calls, or to their work, which goes with time and so leaves little to chance (a ratio estimate;
Cochran, Sampling Techniques, chapter 6).

Intervals come from the delta method, and not from a bootstrap: a group's samples are some dozens,
where both are as good, and the delta method draws no random numbers, so that one recording gives
one answer, in a time that does not matter. They are taken on logarithms, as times are skewed and
never negative, with Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

from .bands import LIMITS, band_of
from .calls import CALL_WORK, Call

# Samples below which size classes of one band are joined.
ENOUGH = 30

# By how much a rate may be off that was taken from another band.
BORROWED_FACTOR = 3.0

# By how much an estimate of two or three samples may be off: copies of one band have that much in
# common.
WIDEST_FACTOR = 10.0

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Cell:
    """A size class, or its part in one band."""

    first: int
    last: int
    calls: float  # exact where the class is not split
    size: float  # mean

    @property
    def band(self) -> int:
        return band_of(self.first)


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


def sum_of(parts: Iterable[Interval]) -> Interval:
    """Of independent estimates: distances to the ends add up as errors do, either side by itself,
    so that what is skewed stays so (Zou and Donner's method of variance estimates recovery)."""
    parts = list(parts)
    value = sum(part.value for part in parts)
    below = math.hypot(*(part.value - part.low for part in parts))
    above = math.hypot(*(part.high - part.value for part in parts))
    return Interval(value, max(0.0, value - below), value + above)


def t_quantile(freedom: int) -> float:
    """Student's, two-sided; from 3 degrees of freedom on by an expansion that is right within 1 %
    (Abramowitz and Stegun, 26.7.5)."""
    if freedom < 3:
        return (12.706, 4.303)[max(0, freedom - 1)]
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    v = freedom
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )


def cells_of(
    counts: Mapping[tuple[int, int], int],
    calls: Sequence[Call],
    other_sizes: Iterable[int] = (),
) -> list[Cell]:
    """The counted classes, cut where a band ends within one. How their calls divide, and what their
    mean size is, the samples tell, or else `other_sizes`, seen in bursts."""
    ends = sorted(counts)
    seen: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for sizes in ([(call.size, call.weight) for call in calls], [(s, 1.0) for s in other_sizes]):
        found: dict[tuple[int, int], list[tuple[int, float]]] = {}
        for size, weight in sizes:
            within = _class_of(size, ends)
            if within is not None:
                found.setdefault(within, []).append((size, weight))
        seen = {**found, **seen}
    cells = []
    for first, end in ends:
        count = counts[first, end]
        if not count:
            continue
        parts = _parts(first, end - 1)
        known = seen.get((first, end), [])
        everything = sum(weight for _, weight in known)
        for low, high in parts:
            inside = [(size, weight) for size, weight in known if low <= size <= high]
            weight = sum(weight for _, weight in inside)
            share = weight / everything if everything else (high - low + 1) / (end - first)
            mean = sum(s * w for s, w in inside) / weight if weight else (low + high) / 2
            if share:
                cells.append(Cell(low, high, count * share, mean))
    return cells


def _class_of(size: int, ends: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        if ends[middle][1] <= size:
            low = middle + 1
        else:
            high = middle
    return ends[low] if low < len(ends) and ends[low][0] <= size else None


def _parts(first: int, last: int) -> list[tuple[int, int]]:
    parts = []
    for limit in LIMITS:
        if first <= limit < last:
            parts.append((first, limit))
            first = limit + 1
    return [*parts, (first, last)]


@dataclass(frozen=True)
class Group:
    """Cells of one band, and the samples that speak for them. `known`: what the samples' `sizes`
    must add up to: of calls their number, of work its sum."""

    band: int
    known: float
    members: Sequence[Call]
    by_work: bool
    borrowed: bool = False  # no sample of this band: those of the nearest one

    def _size(self, call: Call) -> float:
        return call.work if self.by_work else 1.0

    @cached_property
    def scale(self) -> float:
        found = sum(call.weight * self._size(call) for call in self.members)
        return self.known / found if found else 0.0

    def total(self, of: Callable[[Call], float]) -> Interval:
        """The sum over all calls of the group."""
        n = len(self.members)
        if not n or not self.known:
            return Interval(0.0, 0.0, 0.0)
        scale = self.scale
        value = scale * sum(call.weight * of(call) for call in self.members)
        if self.borrowed or n == 1:
            certain = 0.0 if self.borrowed else self.members[0].chance
            return _within(value, math.sqrt(1 - certain) * math.log(BORROWED_FACTOR))
        ratio = value / self.known
        # each draw is independent: a call that was drawn for sure leaves nothing to chance
        spread = sum(
            (1 - call.chance) * (call.weight * (of(call) - ratio * self._size(call))) ** 2
            for call in self.members
        )
        error = scale * math.sqrt(spread * n / (n - 1))
        return _within(value, t_quantile(n - 1) * error / value if value else 0.0)


def _within(value: float, log_error: float) -> Interval:
    factor = min(WIDEST_FACTOR, math.exp(min(50.0, log_error)))
    return Interval(value, value / factor, value * factor)


def groups_of(cells: Sequence[Cell], calls: Sequence[Call], by_work: bool) -> list[Group]:
    """Joins neighbouring cells of a band until each group has enough samples."""
    groups: list[Group] = []
    bands = sorted({cell.band for cell in cells})
    by_band: dict[int, list[Call]] = {}
    for call in calls:
        by_band.setdefault(band_of(call.size), []).append(call)
    for band in bands:
        own = sorted((c for c in cells if c.band == band), key=lambda cell: cell.first)
        members = sorted(by_band.get(band, ()), key=lambda call: call.size)
        borrowed = not members
        if borrowed:
            nearest = [other for other in by_band if by_band[other]]
            if nearest:
                members = by_band[min(nearest, key=lambda other: (abs(other - band), other))]
        if borrowed or len(members) < 2 * ENOUGH:
            known = sum(_known(cell, by_work) for cell in own)
            groups.append(Group(band, known, members, by_work, borrowed))
        else:
            groups += _split(own, members, band, by_work)
    return groups


def _known(cell: Cell, by_work: bool) -> float:
    return cell.calls * (cell.size + CALL_WORK) if by_work else cell.calls


def _split(cells: Sequence[Cell], members: Sequence[Call], band: int, by_work: bool) -> list[Group]:
    """`cells` and `members` by size."""
    groups: list[Group] = []
    known, begin, end = 0.0, 0, 0
    for cell in cells:
        known += _known(cell, by_work)
        while end < len(members) and members[end].size <= cell.last:
            end += 1
        if end - begin >= ENOUGH:
            groups.append(Group(band, known, members[begin:end], by_work))
            known, begin = 0.0, end
    if known or begin < len(members):  # what is left is too little for a group of its own
        last = groups.pop() if groups else Group(band, 0.0, [], by_work)
        rest = [*last.members, *members[begin:]]
        groups.append(Group(band, last.known + known, rest, by_work))
    return groups


def weights_of(groups: Iterable[Group]) -> list[tuple[Call, float]]:
    """Each sample with the calls that it stands for, scaled to what was counted."""
    return [
        (call, call.weight * group.scale)
        for group in groups
        if not group.borrowed
        for call in group.members
    ]
