"""Two modes are found if a sample has two, and only then. The samples are made up."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from asterope.modes import modes_told, two_modes

ONE_HUMP: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda r: math.exp(r.gauss(0, 0.01)),
    "uniform": lambda r: r.uniform(1, 2),
    "a long tail": lambda r: 1 + r.expovariate(5),
    "steps of a clock": lambda r: round(10 + r.gauss(0, 0.6)),
}


def sample(count: int, share=0.0, apart=1.0, draw="normal", seed=5) -> list[float]:
    source = random.Random(seed)
    return [ONE_HUMP[draw](source) * (apart if at < share * count else 1) for at in range(count)]


@pytest.mark.parametrize("count", [21, 100, 1000])
def test_two_modes_are_found_with_their_medians_and_one_hump_is_left_alone(count):
    for share in (0.15, 0.5, 0.85):
        low, high, found = two_modes(sample(count, share, 1.3))
        assert (low, high) == (pytest.approx(1, rel=0.02), pytest.approx(1.3, rel=0.02))
        assert found == pytest.approx(share, abs=1.001 / count)
    for draw in ONE_HUMP:
        assert two_modes(sample(count, draw=draw)) is None, draw
    assert two_modes(sample(count, 0.5, 1.02)) is None, "too close"
    assert two_modes(sample(count, 0.04, 1.3)) is None, "too rare"


def test_few_values_equal_ones_and_zeros_have_no_modes():
    steps = [20.0] * 20 + [29.9] * 33 + [30.3] * 33 + [40.1] * 14  # of a clock
    rounded = [0.3] * 15 + [0.1 + 0.2] * 15
    for values in (sample(19, 0.5, 1.3), steps, rounded, [3.0] * 50, [0.0] * 50):
        assert two_modes(values) is None, values


def test_false_alarms_are_rare():
    assert sum(two_modes(sample(31, seed=seed)) is not None for seed in range(300)) <= 3


def test_they_are_drawn_as_two_humps():
    lines = modes_told("libc", sample(100, 0.5, 2), "{:.2f} s".format)
    assert lines[0].startswith("libc: two modes, 1.00 s and 2.00 s (50 %)")
    assert len(lines) == 13 and "#" in lines[1] and "#" in lines[-1] and "#" not in lines[6]
    assert modes_told("libc", sample(100), "{:.2f} s".format) == []
