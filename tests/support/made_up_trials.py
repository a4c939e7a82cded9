"""Made-up programs, as a trial sees them: the truth about them is known."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, median

import pytest
from asterope.prove.trial.blocks import LIBC, LIBC_AGAIN, ROUTINE, Block
from asterope.prove.trial.statistics import Estimate

OTHER = "other"
WAYS = [LIBC, LIBC_AGAIN, ROUTINE, OTHER]

# Seconds of a call to the next one, by (way, when from 0 to 1, dice).
Program = Callable[[str, float, random.Random], float]


def like(factor: float) -> Callable[[str], float]:
    """The routine takes so many times libc's time."""
    return lambda way: factor if way == ROUTINE else 1.0


def steady(factor: float) -> Program:
    return lambda way, _, dice: like(factor)(way) * (1 + 0.1 * dice.gauss(0, 1))


def heavy_tails(factor: float) -> Program:
    """One call in a hundred is interrupted, some for long."""
    still = steady(factor)
    return lambda way, when, dice: (
        (dice.paretovariate(1.2) * 10 if dice.random() < 0.01 else 0) + still(way, when, dice)
    )


def drifting(factor: float) -> Program:
    still = steady(factor)
    return lambda way, when, dice: still(way, when, dice) * (1 + 3 * when)


def in_phases(factor: float) -> Program:
    """Ten times as much between two calls, every other while."""
    still = steady(factor)
    return lambda way, when, dice: still(way, when, dice) * (10 if when * 7 % 1 < 0.5 else 1)


def scaled(program: Program, way: str, factor: float) -> Program:
    """One way takes so many times as long."""
    return lambda one, when, dice: (factor if one == way else 1.0) * program(one, when, dice)


def with_stalls(
    program: Program, chance: float, seconds: float, ways: Sequence[str] = WAYS
) -> Program:
    """So often a call of these ways takes so much longer."""
    return lambda way, when, dice: (
        program(way, when, dice) + seconds * (way in ways and dice.random() < chance)
    )


def slower_reader(factor: float) -> Program:
    """The copies take the same, and their readers do not."""
    return lambda way, _, dice: 0.2 + 0.8 * like(factor)(way) * (1 + 0.2 * abs(dice.gauss(0, 1)))


PROGRAMS = [steady, heavy_tails, drifting, in_phases, slower_reader]


def cycles_of(program: Program, dice: random.Random, count: int) -> Iterator[list[Block]]:
    for number in range(count):
        cycle = []
        for way in dice.sample(WAYS, len(WAYS)):
            calls = dice.randint(3, 8)
            seconds = [program(way, number / count, dice) for _ in range(calls)]
            cycle.append(Block(way, seconds, [1.0] * calls, calls))
        yield cycle


EXPERIMENTS = 100
# Parts of libc's time.
FACTORS = [1.0, pytest.param(1.01, marks=pytest.mark.slow), 1 / 1.8]
share = fmean  # of the true ones


def assert_near(
    found: Sequence[Estimate], truth: float, near: float = 0.012, held: float = 0.85
) -> None:
    """So large a share of the intervals holds the truth, and the middle estimate is so near it."""
    assert share([one.low <= truth <= one.high for one in found]) > held
    assert median(one.value for one in found) == pytest.approx(truth, abs=near)
