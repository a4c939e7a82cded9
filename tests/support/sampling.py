"""Cases of which scripts/test runs a sample and scripts/test --slow the others."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import pytest


def sampled(
    cases: Iterable[object], one_in: int, name: Callable[[object], str] = str
) -> list[object]:
    """Parameters for pytest: one case in so many is drawn, the same in every run; the others are
    slow."""
    draw = random.Random(1)
    groups = list(cases)
    parameters = []
    for begin in range(0, len(groups), one_in):
        group = groups[begin : begin + one_in]
        drawn = draw.randrange(len(group))
        for index, case in enumerate(group):
            values = case if isinstance(case, tuple) else (case,)
            marks = [] if index == drawn else [pytest.mark.slow]
            parameters.append(pytest.param(*values, id=name(case), marks=marks))
    return parameters
