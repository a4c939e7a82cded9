"""Cases of which scripts/test runs a sample and scripts/test --slow the others."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import pytest


def sampled(cases: Iterable[object], one_in: int, name: Callable[[object], str] = str) -> list:
    """Parameters for pytest: one case in so many is drawn, the same in every run; the others are
    slow."""
    draw, cases = random.Random(1), list(cases)
    parameters = []
    for begin in range(0, len(cases), one_in):
        group = cases[begin : begin + one_in]
        drawn = draw.randrange(len(group))
        for index, case in enumerate(group):
            marks = [pytest.mark.slow] * (index != drawn)
            parameters.append(pytest.param(case, id=name(case), marks=marks))
    return parameters
