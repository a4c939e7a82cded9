"""Finds and describes samples with two modes, with a histogram: a median between two humps tells of
neither."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean, median, pvariance
from typing import NamedTuple

_FEWEST = 20
_APART, _ASHMAN = 1.03, 5.0
_BINS, _BAR = 12, 40


class TwoModes(NamedTuple):
    """The medians of two humps, and the share of values in the higher one."""

    low: float
    high: float
    share: float


def two_modes(values: Sequence[float]) -> TwoModes | None:
    """Finds two modes in values above 0, at least 20: None where they have one, or humps less than
    3 % apart.

    They are split where that explains most of the variance of their logarithms (Otsu, 1979). Both
    parts must hold a tenth at least, and the middle third between must be nearly empty. The parts
    must lie apart by more than five of their standard deviations (Ashman's D; one uniform hump
    split in two has 3.5).
    """
    count = len(values)
    if count < _FEWEST or min(values) <= 0:
        return None
    ranked = sorted(values)
    logs = [math.log(value) for value in ranked]

    def between(split: int) -> float:
        distance = fmean(logs[split:]) - fmean(logs[:split])
        return split * (count - split) * distance**2

    least = -(-count // 10)
    splits = [at for at in range(least, count - least + 1) if ranked[at] > ranked[at - 1]]
    if not splits:
        return None
    split = max(splits, key=between)
    spread = math.sqrt(pvariance(logs[:split]) + pvariance(logs[split:]))
    apart = fmean(logs[split:]) - fmean(logs[:split])
    low, high = ranked[split // 2], ranked[split + (count - split) // 2]
    # equal readings have no spread, but a step of the clock is not a gap between humps
    step = _clock_step(ranked) / low
    if high < _APART * low or math.sqrt(2) * apart <= _ASHMAN * max(spread, step):
        return None
    third = math.log(high / low) / 3
    amid = sum(math.log(low) + third < log < math.log(high) - third for log in logs)
    if 4 * amid > min(split, count - split):
        return None
    return TwoModes(low, high, (count - split) / count)


def _clock_step(ranked: Sequence[float]) -> float:
    """How far it usually is from a value to the next that differs; 0 where none clearly does."""
    steps: list[float] = []
    for before, after in zip(ranked[-2::-1], ranked[:0:-1]):
        step = after - before
        steps += [step] if step > 1e-9 * after else steps[-1:]
    return median(steps) if steps else 0.0


class Histogram(NamedTuple):
    """Bins of one width: where the first begins, and how many values each has."""

    low: float
    width: float
    counts: Sequence[int]


def histogram(values: Sequence[float]) -> Histogram:
    low, high = min(values), max(values)
    width = (high - low) / _BINS or 1.0
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, int((value - low) / width))] += 1
    return Histogram(low, width, counts)


def _bars(values: Sequence[float], text: Callable[[float], str]) -> list[str]:
    """A line a bin: its middle as `text` says it, a bar, and its share."""
    low, width, counts = histogram(values)
    return [
        f"{text(low + (at + 0.5) * width):>10} {'#' * math.ceil(count / max(counts) * _BAR):40} "
        f"{100 * count / len(values):3.0f} %"
        for at, count in enumerate(counts)
    ]


def modes_told(what: str, values: Sequence[float], text: Callable[[float], str]) -> list[str]:
    """A line about the two modes, and the histogram; empty for one mode."""
    modes = two_modes(values)
    if modes is None:
        return []
    return [
        f"{what}: two modes, {text(modes.low)} and {text(modes.high)} "
        f"({100 * modes.share:.0f} %), which a median hides",
        *_bars(values, text),
    ]
