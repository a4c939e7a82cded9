"""Medians and their sign-test intervals, as tuner/base/statistics.cpp has them."""

import math
from itertools import combinations_with_replacement
from statistics import median

import pytest
from asterope.robust import sign_interval, signed_rank_interval


@pytest.mark.parametrize(
    ("n", "cut"),
    # how many values the 95 % interval leaves out at each end (Conover, table of the sign test)
    [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (12, 2), (15, 3), (25, 7), (51, 18)],
)
def test_the_interval_is_the_narrowest_that_holds_the_median(n, cut):
    found = sign_interval([float(x) for x in reversed(range(n))])
    assert (found.median, found.low, found.high) == ((n - 1) / 2, cut, n - 1 - cut)


def test_thousands_of_values_have_an_interval():
    found = sign_interval([float(x) for x in range(5001)])
    assert found.median == 2500
    assert 2500 - found.low == found.high - 2500 == pytest.approx(0.98 * math.sqrt(5001), abs=2)


@pytest.mark.parametrize(("n", "cut"), [(6, 0), (10, 8), (25, 89), (100, 1955)])
def test_signed_ranks_have_the_tables_critical_values(n, cut):
    """The values are all means of two, or of one with itself; Wilcoxon's two-sided 5 %."""
    values = [math.sin(x * x) for x in range(n)]
    means = sorted((a + b) / 2 for a, b in combinations_with_replacement(values, 2))
    found = signed_rank_interval(values)
    assert found.median == pytest.approx(median(means), abs=1e-9)
    near = 1 if n > 40 else 0  # there it is an approximation
    assert means[cut - near] - 1e-9 <= found.low <= means[cut] + 1e-9
    assert means[-1 - cut] - 1e-9 <= found.high <= means[near - 1 - cut] + 1e-9
