"""Ratios of two ways' times, with intervals: of cycles that have each way once, and of pairs of
periods. All of it is of means, as a program's time is the sum of what its copies take."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, median

from .blocks import Block, Pair

# The longest intervals of a place, which hold interrupts and whatever else is no copy's doing.
LEFT_OUT, _MOST_LEFT_OUT = 0.02, 0.15
_BEYOND_MEASURE = 4.0  # medians
# Of the test that each way has its share of them: what all of a way's calls take more by them, and
# the chance that luck does as much.
_NEGLIGIBLE, _SUSPICIOUS = 0.005, 0.001
# Cycles, or pairs, of which there is an interval: means of fewer are not yet normal.
_FEWEST = 20
# Of pairs: how many times the usual distance from the middle is far, and standard errors of what
# lies beyond.
_FAR, _SURELY = 6.0, 3.0
# Of the program's time, what threads that copy take where they take all of it.
_NEARLY = 0.95
# At so many times the level of the shorter period a pair counts at most.
_HELD_UP = 4.0
# Processes, of which there is an interval.
_FEWEST_PROCESSES = 4


@dataclass(frozen=True)
class Estimate:
    """`value` and the 95 % interval around it; for ratios with logarithms symmetric."""

    value: float
    low: float
    high: float

    def within(self, part: float) -> bool:
        """Whether the interval of a ratio reaches no further than that from it."""
        return self.high / self.value <= 1 + part and self.value / self.low <= 1 + part


# --- Distributions ---


def normal_quantile(chance: float) -> float:
    """Of the standard normal distribution."""
    return NormalDist().inv_cdf(chance)


def t_quantile(chance: float, freedom: int) -> float:
    """Of Student's distribution (Cornish and Fisher's expansion, good to 1 % from 5 degrees on)."""
    z, n = normal_quantile(chance), freedom
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n * n)


# --- The longest intervals ---


Group = Sequence[Block]  # a cycle, or a pair of periods: what shares the program's state


@dataclass(frozen=True)
class Trimming:
    """What is left out of a place's intervals. `scales`: what a way's usually are, of those of all
    ways beside it; `is_fair`: each way has its share of what is left out."""

    limit: float
    scales: Mapping[str, float]
    is_fair: bool
    time_share: float  # of all intervals' time

    def limits(self, group: Group) -> dict[str, float]:
        """In seconds, by way: the longest that are kept."""
        if self.limit == math.inf:
            return {block.way: math.inf for block in group}
        return {way: self.limit * scale * _middle(group) for way, scale in self.scales.items()}


NO_TRIMMING = Trimming(math.inf, {}, True, 0.0)


def _middle(blocks: Iterable[Block]) -> float:
    return median([v for block in blocks for v in block.seconds]) or 1e-12


def trimming(groups: Sequence[Group]) -> Trimming:
    """The longest LEFT_OUT of all intervals, and more where more are beyond all measure, each
    measured by those beside it and by what its way is of these: else phases in which all takes
    longer would be left out, and a way that is slower throughout would lose its longer half."""
    relative: dict[str, list[float]] = {}
    middles = [_middle(group) for group in groups]
    for group, middle in zip(groups, middles):
        for block in group:
            relative.setdefault(block.way, []).append(median(block.seconds) / middle)
    if not relative:
        return NO_TRIMMING
    scales = {way: median(values) or 1e-12 for way, values in relative.items()}
    scaled = [
        (block.way, [v / (scales[block.way] * middle) for v in block.seconds], middle)
        for group, middle in zip(groups, middles)
        for block in group
    ]
    ranked = sorted(v for _, values, _ in scaled for v in values)

    def quantile(part: float) -> float:
        return ranked[min(len(ranked) - 1, int(len(ranked) * part))]

    limit = max(quantile(1 - _MOST_LEFT_OUT), min(quantile(1 - LEFT_OUT), _BEYOND_MEASURE))
    whole = out = 0.0
    for way, values, middle in scaled:
        whole += middle * scales[way] * sum(values)
        out += middle * scales[way] * sum(v for v in values if v > limit)
    excess = {
        way: _excess([values for other, values, _ in scaled if other == way], limit)
        for way in scales
    }
    return Trimming(limit, scales, _is_fair(excess), out / whole if whole else 0.0)


def _excess(blocks: Sequence[Sequence[float]], limit: float) -> tuple[float, float]:
    """What the longest intervals add to a way's mean, as a part of what is usual, and the standard
    error of that: by blocks, as what hits one call hits the next."""
    sums = [sum(v - 1 for v in values if v > limit) for values in blocks]
    count = sum(map(len, blocks))
    mean = sum(sums) / count
    squares = sum((own - mean * len(values)) ** 2 for own, values in zip(sums, blocks))
    return mean, math.sqrt(squares) / count


def _is_fair(excess: Mapping[str, tuple[float, float]]) -> bool:
    """Whether no way's longest intervals hold plainly more time than another's: by so many times
    what chance does, and so much of what its calls take."""
    surely = normal_quantile(1 - _SUSPICIOUS / 2 / max(1, len(excess) ** 2))
    for mean, error in excess.values():
        for other, other_error in excess.values():
            beyond = mean - other
            if beyond > _NEGLIGIBLE and beyond > surely * math.hypot(error, other_error):
                return False
    return True


# --- Cycles: of one place ---


@dataclass(frozen=True)
class _Cell:
    """Means of a block: without the longest intervals, and with them cut to the limit, by which the
    error of the former is known (Tukey and McLaughlin 1963)."""

    seconds: float
    clipped: float
    size: float


def _cell(block: Block, limit: float, part: slice) -> _Cell | None:
    seconds, sizes = block.seconds[part], block.sizes[part]
    kept = [(one, size) for one, size in zip(seconds, sizes) if one <= limit]
    if not kept:
        return None
    return _Cell(
        sum(one for one, _ in kept) / len(kept),
        sum(min(one, limit) for one in seconds) / len(seconds),
        sum(size for _, size in kept) / len(kept),
    )


Cells = Sequence[Mapping[str, _Cell]]


def cells_of(
    cycles: Iterable[Group], trim: Trimming, part: slice = slice(None)
) -> list[dict[str, _Cell]]:
    """`part`: of each block's intervals."""
    cells = []
    for cycle in cycles:
        limits = trim.limits(cycle)
        found = {block.way: _cell(block, limits[block.way], part) for block in cycle}
        cells.append({way: cell for way, cell in found.items() if cell is not None})
    return cells


def mean_of(cells: Cells, way: str) -> float | None:
    """Seconds of a call that goes this way."""
    found = [one[way].seconds for one in cells if way in one]
    return sum(found) / len(found) if found else None


def ratio(cells: Cells, slow: str, fast: str, confidence: float = 0.95) -> Estimate | None:
    """Mean time of the first way over that of the second. Sizes that differ are taken off in
    whichever way leaves less noise: not at all, per byte, or by the slope of time on size."""
    both = [(one[slow], one[fast]) for one in cells if slow in one and fast in one]
    if len(both) < _FEWEST:
        return None
    mean_size = sum(a.size + b.size for a, b in both) / (2 * len(both))
    slope = _slope(both)

    def adjusted(how: int, seconds: float, size: float) -> float:
        if how == 1:
            return seconds / size * mean_size
        return seconds - (slope * (size - mean_size) if how == 2 else 0.0)

    found = []
    for how in range(3 if slope else 1):
        means = [
            sum(adjusted(how, c.seconds, c.size) for c in side) / len(both) for side in zip(*both)
        ]
        clipped = [[adjusted(how, c.clipped, c.size) for c in pair] for pair in both]
        error = _error_of_ratio(clipped)
        if min(means) > 0 and error is not None:
            found.append((error, means[0] / means[1]))
    if not found:
        return None
    error, value = min(found)
    reach = t_quantile((1 + confidence) / 2, len(both) - 1) * error / (1 - LEFT_OUT)
    return Estimate(value, value * math.exp(-reach), value * math.exp(reach))


def _slope(both: Iterable[tuple[_Cell, _Cell]]) -> float:
    """Of time on size, within cycles."""
    products = squares = 0.0
    for a, b in both:
        products += (a.seconds - b.seconds) * (a.size - b.size)
        squares += (a.size - b.size) ** 2
    return products / squares if squares > 0 else 0.0


def _error_of_ratio(pairs: Sequence[Sequence[float]]) -> float | None:
    """The standard error of the logarithm of the ratio of means, by the pairs' residuals."""
    count = len(pairs)
    first, second = (sum(side) / count for side in zip(*pairs))
    if first <= 0 or second <= 0:
        return None
    squares = sum((a / first - b / second) ** 2 for a, b in pairs)
    return math.sqrt(squares / count / (count - 1))


def differs(one: Estimate, other: Estimate) -> bool:
    """Whether two ratios of independent cycles are not the same, with 99.9 %."""
    error = math.hypot(
        math.log(one.high / one.low) / (2 * 1.96), math.log(other.high / other.low) / (2 * 1.96)
    )
    return abs(math.log(one.value / other.value)) > 3.3 * error


# --- Pairs of periods: all places together ---


@dataclass(frozen=True)
class Period:
    """What a way took during one; what it took but for the longest intervals, which count as usual
    ones there; and what its calls would take at the usual levels of their places."""

    seconds: float
    within: float
    usual: float

    def as_usual(self) -> Period:
        return replace(self, seconds=self.within)


Pairs = Mapping[Pair, tuple[Period, Period]]


@dataclass(frozen=True)
class Saved:
    """Seconds that the second way saves, of all that the program copies. `errors`: by pair of
    periods, what that contributes to the error."""

    seconds: float
    errors: Mapping[Pair, float]


def saved(pairs: Pairs, usual: float, seconds: float, part: float) -> Saved | None:
    """`pairs`: the first way's period and the second's. `usual`: of the whole program, which took
    so many seconds, this part of them under the second way, in threads that copy or do not."""
    if len(pairs) < _FEWEST:
        return None
    beyond = _beyond(pairs)
    if beyond is not None:
        pairs = {pair: tuple(map(Period.as_usual, both)) for pair, both in pairs.items()}
    # Each pair has its own level, whatever the program does then, and both of it share that.
    weights, differences, calls = {}, {}, 0.0
    for pair, (first, second) in pairs.items():
        rates = first.seconds / first.usual, second.seconds / second.usual
        # alike for both ways, as what takes longer has fewer calls in a period
        level, own = sum(rates) / 2, _in_both(first, second)
        differences[pair] = (rates[0] - rates[1]) / level
        # what both took, but where one of them was held up for long between two calls
        weights[pair] = own * min(level, _HELD_UP * min(rates))
        calls += own
    differences, cut = _clipped(differences, weights)
    whole = sum(weights.values())
    difference = sum(weights[pair] * differences[pair] for pair in pairs) / whole
    most = seconds / (1 - difference * (part - 0.5))  # as if half of it were under each
    of_threads = usual * whole / calls
    if of_threads > _NEARLY * most:  # the rest is chance
        of_threads = most
    scale = of_threads / (whole - cut)  # as of Huber's estimator (1964)
    errors = {  # what leaving the pair out moves: a heavy one has pulled the mean to itself
        pair: scale * weight * (differences[pair] - difference) / (1 - weight / whole)
        for pair, weight in weights.items()
    }
    if beyond is not None:  # as chance, it is also what the program's time differs by
        mean = sum(beyond.values()) / len(beyond)
        part_saved = of_threads * difference / seconds
        for pair, own in beyond.items():
            errors[pair] -= part_saved * scale * (own - mean)
    return Saved(of_threads * difference, errors)


def _in_both(first: Period, second: Period) -> float:
    """What both have: a difference is known no better than by the shorter of them."""
    return 2 / (1 / first.usual + 1 / second.usual)


def _beyond(pairs: Pairs) -> Mapping[Pair, float] | None:
    """By pair, what the longest intervals have beyond usual ones; None where that is much of the
    time, or where either way plainly has more of it: else it is chance, which blurs what both take.
    A period has some times what is usual there at most: no way of a copy makes a phase longer in
    which the program hardly copies."""
    within, beyond, differences = 0.0, {}, []
    for pair, (first, second) in pairs.items():
        own = _in_both(first, second)
        rates = [one.within / one.usual for one in (first, second)]
        more = [
            max(0.0, min(one.seconds / one.usual - rate, _HELD_UP * rate))
            for one, rate in zip((first, second), rates)
        ]
        within += own * sum(rates) / 2
        beyond[pair] = own * sum(more) / 2
        differences.append(own * (more[0] - more[1]) / 2)
    out = sum(beyond.values())
    if out > _MOST_LEFT_OUT * (within + out):
        return None
    plainly = max(_NEGLIGIBLE * (within + out), _SURELY * math.hypot(*differences))
    return beyond if abs(sum(differences)) < plainly else None


def _clipped(
    differences: Mapping[Pair, float], weights: Mapping[Pair, float]
) -> tuple[Mapping[Pair, float], float]:
    """Those far from most are of pairs whose periods did something else each, in one direction as
    often as in the other, as the order is drawn. Where that is not so, they are the ways' doing.
    And the weight of those that were cut to what is far."""
    middle = _weighted_median((one, weights[pair]) for pair, one in differences.items())
    reach = _FAR * _weighted_median(
        (abs(one - middle), weights[pair]) for pair, one in differences.items()
    )
    kept = {pair: max(middle - reach, min(middle + reach, d)) for pair, d in differences.items()}
    cut = {pair: weights[pair] * (d - kept[pair]) for pair, d in differences.items()}
    if abs(sum(cut.values())) > _SURELY * math.hypot(*cut.values()):
        return differences, 0.0
    return kept, sum(weights[pair] for pair, one in cut.items() if one)


def _weighted_median(values: Iterable[tuple[float, float]]) -> float:
    ranked = sorted(values)
    left = sum(weight for _, weight in ranked) / 2
    for value, weight in ranked:
        left -= weight
        if left <= 0:
            return value
    return ranked[-1][0]


def gain(found: Saved | None, seconds: float, part: float) -> Estimate | None:
    """How much faster a program that ran so long is under the second way than under the first,
    0.1 for 10 %; of its time so much was under the second, and the rest under the first."""
    if found is None or seconds <= 0:
        return None
    reach = max(_reach(found.errors.values(), len(found.errors)), _reach_of_processes(found.errors))

    def faster(by: float) -> float:
        by = max(-0.95 * seconds / part, min(0.95 * seconds / (1 - part), by))
        return (seconds + part * by) / (seconds - (1 - part) * by) - 1

    return Estimate(*map(faster, (found.seconds, found.seconds - reach, found.seconds + reach)))


def _reach(errors: Collection[float], count: float) -> float:
    """Of the 95 % interval, of so many independent errors."""
    return t_quantile(0.975, count - 1) * math.hypot(*errors)


def _reach_of_processes(errors: Mapping[Pair, float]) -> float:
    """As if all pairs of a process had the same error: where its memory lies is its luck. 0 where
    these are too few processes, or fewer count, as pairs are of one of them for the most part."""
    sums, pairs = Counter[str](), Counter[str]()
    for pair, error in errors.items():
        sums[pair.process] += error
        pairs[pair.process] += 1
    count = len(errors) ** 2 / sum(number**2 for number in pairs.values())
    if count < _FEWEST_PROCESSES:
        return 0.0
    return math.sqrt(count / (count - 1)) * _reach(sums.values(), count)
