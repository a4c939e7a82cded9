"""Medians, and intervals that assume no distribution: tuner/base/statistics.cpp's, for Python."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

from .profile import Ratio


def sign_interval(values: Sequence[float], confidence: float = 0.95) -> Ratio:
    """Median and its sign-test interval: the narrowest pair of order statistics that encloses the
    true median with at least `confidence`; the extremes where there are too few values for that.
    Raises ValueError where there is none.
    """
    if not values:
        raise ValueError("no values")
    ranked = sorted(values)
    n = len(ranked)
    allowed = (1 - confidence) / 2
    # P(Bin(n, 1/2) <= k), its terms as logarithms: 2^-n is 0 from n = 1075 on.
    log_term = -n * math.log(2)
    below, cut = math.exp(log_term), 0
    while below <= allowed and 2 * (cut + 1) < n:
        cut += 1
        log_term += math.log((n - cut + 1) / cut)
        below += math.exp(log_term)
    if below > allowed and cut > 0:
        cut -= 1
    return Ratio(median(ranked), ranked[cut], ranked[n - 1 - cut])


def ratio_interval(logs: Sequence[float]) -> Ratio:
    """sign_interval() of logarithms of ratios, as ratios."""
    interval = sign_interval(logs)
    return Ratio(*(math.exp(log) for log in (interval.median, interval.low, interval.high)))


def geometric_mean(values: Iterable[float]) -> float:
    """Of values above 0. Raises ValueError where there is none."""
    logs = [math.log(value) for value in values]
    if not logs:
        raise ValueError("no values")
    return math.exp(sum(logs) / len(logs))
