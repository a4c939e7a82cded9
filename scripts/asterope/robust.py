"""The interval of differences of pairs, by signed ranks."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

from .profile import Ratio


def signed_rank_interval(values: Sequence[float], confidence: float = 0.95) -> Ratio:
    """Hodges and Lehmann's estimate and its interval by Wilcoxon's signed ranks. It is the centre
    of a symmetric distribution: differences of pairs in which both are hit alike have one. Too
    few values give the extremes. Raises ValueError without values."""
    if not values:
        raise ValueError("no values")
    ranked = sorted(values)
    pairs = len(ranked) * (len(ranked) + 1) // 2
    cut = _least_rank_sum(len(ranked), (1 - confidence) / 2)
    middle = (_mean_of_pair(ranked, (pairs - 1) // 2) + _mean_of_pair(ranked, pairs // 2)) / 2
    return Ratio(middle, _mean_of_pair(ranked, cut), _mean_of_pair(ranked, pairs - 1 - cut))


@lru_cache
def _least_rank_sum(n: int, allowed: float) -> int:
    """The largest c for which a rank sum of c or less has that chance at most; else 0."""
    if n > 40:
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        z = NormalDist().inv_cdf(1 - allowed)
        return max(0, int(n * (n + 1) / 4 - z * spread))
    ways = [1]  # to have each sum
    for rank in range(1, n + 1):
        longer = ways + [0] * rank
        for at, count in enumerate(ways):
            longer[at + rank] += count
        ways = longer
    below, cut = ways[0], 0
    while below <= allowed * 2**n:
        cut += 1
        below += ways[cut]
    return max(0, cut - 1)


def _mean_of_pair(ranked: Sequence[float], number: int) -> float:
    """Of the means of all pairs, each value with itself too, in rising order: the one with this
    number, from 0."""
    n = len(ranked)
    low, high = ranked[0], ranked[-1]
    begins, ends = list(range(n)), [n] * n  # of each value's partners, itself among them
    while sum(ends) - sum(begins) > 2 * n:
        middle = low + (high - low) / 2
        if middle in (low, high):
            return high
        found = [bisect_right(ranked, 2 * middle - one, at) for at, one in enumerate(ranked)]
        if sum(found) - n * (n - 1) // 2 > number:
            high, ends = middle, found
        else:
            low, begins = middle, found
    left = [one + ranked[at] for one, i, j in zip(ranked, begins, ends) for at in range(i, j)]
    return sorted(left)[number - sum(begins) + n * (n - 1) // 2] / 2
