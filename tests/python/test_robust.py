"""The interval of differences of pairs, by signed ranks."""

import math
from itertools import combinations_with_replacement
from statistics import median

import pytest
from asterope.robust import signed_rank_interval


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
