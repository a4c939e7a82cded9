"""Estimates ratios of two ways' times, with intervals, from cycles that have each way once. All of
them are ratios of means, as a program's time is the sum of its copies' times."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, median

from .blocks import Block

# The shares of a place's longest intervals that are left out, usually and at most. They hold
# interrupts and other delays that copies do not cause.
LEFT_OUT, MOST_LEFT_OUT = 0.02, 0.15
_BEYOND_MEASURE = 4.0  # medians
# A way has more than its share of them if they add 0.5 % more to its time than to another's. Luck
# alone must do so with less than 0.1 %.
NEGLIGIBLE, _SUSPICIOUS = 0.005, 0.001
# The fewest cycles that give an interval: means of fewer are not yet normal.
_FEWEST = 20
LITTLE = 0.001  # a smaller gain of the program is not told; one of a place does not earn it a row


@dataclass(frozen=True)
class Estimate:
    """`value` and the 95 % interval around it; a ratio's is symmetric in logarithms."""

    value: float
    low: float
    high: float

    def each(self, change: Callable[[float], float]) -> Estimate:
        return Estimate(change(self.value), change(self.low), change(self.high))

    def clipped(self, low: float, high: float) -> Estimate:
        return self.each(lambda value: max(low, min(high, value)))

    @property
    def reach(self) -> float:
        """How far the interval of a gain reaches from no difference."""
        return max(abs(self.low), abs(self.high))

    @property
    def side(self) -> int:
        """Of a gain, 1: faster, -1: slower; 0: the interval includes 0 or stays below LITTLE."""
        return (self.low > 0) - (self.high < 0) if self.reach >= LITTLE else 0

    def within(self, part: float) -> bool:
        """Whether the interval of a ratio reaches no further than that from it."""
        return self.high / self.value <= 1 + part and self.value / self.low <= 1 + part


# --- Distributions ---


def t_quantile(chance: float, freedom: float) -> float:
    """The quantile of Student's distribution, by Cornish and Fisher's expansion. It is good to 1 %
    from 5 degrees of freedom on."""
    z, n = NormalDist().inv_cdf(chance), freedom
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n * n)


# --- The longest intervals ---

Cycle = Sequence[Block]  # they share the program's state


@dataclass(frozen=True)
class Trimming:
    """Tells the intervals of a place that are left out. `scales`: by way, its usual interval over
    its cycle's usual interval. `is_fair`: each way has its share of those that are left out."""

    limit: float
    scales: Mapping[str, float]
    is_fair: bool
    time_share: float  # of all intervals' time

    def limits(self, cycle: Cycle) -> dict[str, float]:
        """By way, the longest interval that is kept, in seconds."""
        middle, of = _middle(cycle), self.scales
        return {block.way: self.limit * of.get(block.way, 1.0) * middle for block in cycle}


NO_TRIMMING = Trimming(math.inf, {}, True, 0.0)


def _middle(blocks: Iterable[Block]) -> float:
    return median([v for block in blocks for v in block.seconds]) or 1e-12


def trimming(cycles: Sequence[Cycle]) -> Trimming:
    """Leaves out the longest LEFT_OUT of all intervals, and up to MOST_LEFT_OUT if more are beyond
    _BEYOND_MEASURE. An interval is measured by its cycle's usual one and by its way's. Otherwise
    slow phases would be left out, and a slower way would lose its longer half."""
    middles = map(_middle, cycles)
    blocks = [(block, middle) for cycle, middle in zip(cycles, middles) for block in cycle]
    relative: dict[str, list[float]] = {}
    for block, middle in blocks:
        relative.setdefault(block.way, []).append(median(block.seconds) / middle)
    if not relative:
        return NO_TRIMMING
    scales = {way: median(values) or 1e-12 for way, values in relative.items()}
    scaled = [
        (block.way, [v / (scales[block.way] * middle) for v in block.seconds], middle)
        for block, middle in blocks
    ]
    ranked = sorted(v for _, values, _ in scaled for v in values)

    def quantile(part: float) -> float:
        return ranked[min(len(ranked) - 1, int(len(ranked) * part))]

    limit = max(quantile(1 - MOST_LEFT_OUT), min(quantile(1 - LEFT_OUT), _BEYOND_MEASURE))
    total = out = 0.0
    for way, values, middle in scaled:
        total += middle * scales[way] * sum(values)
        out += middle * scales[way] * sum(v for v in values if v > limit)
    excess = {
        way: _excess([values for other, values, _ in scaled if other == way], limit)
        for way in scales
    }
    return Trimming(limit, scales, _is_fair(excess), out / total if total else 0.0)


def _excess(blocks: Sequence[Sequence[float]], limit: float) -> tuple[float, float]:
    """The longest intervals' addition to a way's mean, as a part of the usual time, and its
    standard error. The error is by blocks: a delay of one call often delays the next."""
    sums = [sum(v - 1 for v in values if v > limit) for values in blocks]
    count = sum(map(len, blocks))
    mean = sum(sums) / count
    squares = sum((own - mean * len(values)) ** 2 for own, values in zip(sums, blocks))
    return mean, math.sqrt(squares) / count


def _is_fair(excess: Mapping[str, tuple[float, float]]) -> bool:
    """Whether all ways' longest intervals hold about the same time. A difference counts if it
    exceeds both chance and NEGLIGIBLE."""
    surely = NormalDist().inv_cdf(1 - _SUSPICIOUS / 2 / max(1, len(excess) ** 2))
    return not any(
        one - other > max(NEGLIGIBLE, surely * math.hypot(error, other_error))
        for (one, error), (other, other_error) in itertools.permutations(excess.values(), 2)
    )


# --- Cycles: of one place ---


@dataclass(frozen=True)
class _Cell:
    """The means of a block. `seconds` and `size` leave out the longest intervals. `clipped` cuts
    them to the limit; it gives the error of `seconds` (Tukey and McLaughlin 1963)."""

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
    cycles: Iterable[Cycle], trim: Trimming, part: slice = slice(None)
) -> list[dict[str, _Cell]]:
    """`part`: of each block's intervals."""
    cells = []
    for cycle in cycles:
        limits = trim.limits(cycle)
        found = ((block.way, _cell(block, limits[block.way], part)) for block in cycle)
        cells.append({way: cell for way, cell in found if cell is not None})
    return cells


def mean_of(cells: Cells, way: str) -> float | None:
    """Seconds of a call that goes this way."""
    found = [one[way].seconds for one in cells if way in one]
    return sum(found) / len(found) if found else None


def ratio(
    cells: Cells, first: str, second: str, confidence: float = 0.95, doubt: float = 0.0
) -> Estimate | None:
    """Mean time of the first way over that of the second. Three corrections for different sizes
    compete: not any, per byte, and by the slope of time on size. The one that leaves the least
    noise counts. `doubt`: the interval is wider by that at each end, in logarithms."""
    both = [(one[first], one[second]) for one in cells if first in one and second in one]
    if len(both) < _FEWEST:
        return None
    mean_size = sum(a.size + b.size for a, b in both) / (2 * len(both))
    # the slope of time on size, within cycles
    products = sum((a.seconds - b.seconds) * (a.size - b.size) for a, b in both)
    squares = sum((a.size - b.size) ** 2 for a, b in both)
    slope = products / squares if squares > 0 else 0.0

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
    return Estimate(value, value * math.exp(-reach - doubt), value * math.exp(reach + doubt))


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
