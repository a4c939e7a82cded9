"""A trial's figures are right: on made-up programs whose truth is known."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from statistics import median

import made_up_trials as made_up
import pytest
from asterope.prove.trial import statistics
from asterope.prove.trial.blocks import LIBC, LIBC_AGAIN, ROUTINE, Block
from asterope.prove.trial.statistics import NO_TRIMMING, Estimate, cells_of, ratio, trimming
from made_up_trials import (
    EXPERIMENTS,
    PROGRAMS,
    WAYS,
    Program,
    assert_near,
    cycles_of,
    share,
    steady,
)


def estimates(program: Program, seed: int, count: int, *ways: str) -> list[Estimate]:
    """How much faster than libc each of these ways is, by one run."""
    cycles = list(cycles_of(program, random.Random(seed), count))
    trim = trimming(cycles)
    cells = cells_of(cycles, trim if trim.is_fair else NO_TRIMMING)
    found = [ratio(cells, LIBC, way) for way in ways]
    assert None not in found
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("factor", made_up.FACTORS)
def test_nineteen_of_twenty_intervals_hold_the_truth(program, factor: float) -> None:
    truth = 1 / factor
    if program is made_up.slower_reader:
        mean = 1 + 0.2 * math.sqrt(2 / math.pi)
        truth = (0.2 + 0.8 * mean) / (0.2 + 0.8 * factor * mean)
    ways = (ROUTINE, LIBC_AGAIN)
    runs = (estimates(program(factor), seed, 60, *ways) for seed in range(EXPERIMENTS))
    for true_one, found in zip((truth, 1.0), zip(*runs)):
        assert_near(found, true_one, 0.008, errors=3)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_one_percent_is_seen(program) -> None:
    """Some thousand calls a way are enough, beside all else that the program does."""
    found = [estimates(program(1.01), seed, 1500, ROUTINE)[0] for seed in range(3)]
    assert share([one.high < 1 for one in found]) >= 0.6
    assert share([one.low > 1 for one in found]) == 0


def test_trimming_takes_a_slower_way_no_more_than_its_share() -> None:
    """A way that is slower throughout has as many intervals among the longest as others have."""
    cycles = list(cycles_of(steady(3.0), random.Random(1), 500))
    trim = trimming(cycles)
    assert trim.is_fair
    for way in WAYS:
        own = [
            seconds > trim.limits(cycle)[way]
            for cycle in cycles
            for block in cycle
            if block.way == way
            for seconds in block.seconds
        ]
        assert share(own) == pytest.approx(statistics.LEFT_OUT, abs=0.015)


def test_a_way_whose_cost_is_a_rare_long_stall_does_not_win_by_it() -> None:
    """It is 5 % faster, but for one call in a hundred, which takes twenty times as long."""
    program = made_up.with_stalls(steady(0.95), 0.01, 19, [ROUTINE])
    assert not trimming(list(cycles_of(program, random.Random(2), 1500))).is_fair
    assert estimates(program, 2, 1500, ROUTINE)[0].value < 0.95


def test_stalls_that_hit_all_ways_alike_are_fair() -> None:
    made = (
        list(cycles_of(made_up.heavy_tails(0.8), random.Random(seed), 100)) for seed in range(50)
    )
    assert share([trimming(cycles).is_fair for cycles in made]) >= 0.94


@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_sizes_that_differ_are_taken_off(slope: float) -> None:
    """Time that goes by the byte, and time that does not: each is known as well as the other."""

    def cycles(seed: int, sizes: bool) -> Iterator[list[Block]]:
        dice = random.Random(seed)
        for _ in range(200):
            cycle = []
            for way in dice.sample(WAYS, len(WAYS)):
                size = dice.uniform(1, 2)
                time = (
                    made_up.like(0.9)(way)
                    * (1 + slope * 9 * (size - 1))
                    * (1 + 0.02 * dice.gauss(0, 1))
                )
                cycle.append(Block(way, [time] * 4, [size if sizes else 1.0] * 4, 4))
            yield cycle

    def reach(seed: int, sizes: bool) -> float:
        found = ratio(cells_of(cycles(seed, sizes), NO_TRIMMING), LIBC, ROUTINE)
        assert found.value == pytest.approx(1 / 0.9, rel=0.2 if slope and not sizes else 0.02)
        return math.log(found.high / found.low)

    known, unknown = (median(reach(seed, sizes) for seed in range(20)) for sizes in (True, False))
    assert known < unknown / 3 if slope else known == pytest.approx(unknown, rel=0.05)


def test_too_few_cycles_say_nothing() -> None:
    cells = cells_of(cycles_of(steady(1), random.Random(1), 5), NO_TRIMMING)
    assert ratio(cells, LIBC, ROUTINE) is None


@pytest.mark.parametrize(
    ("chance", "freedom", "value"), [(0.975, 5, 2.571), (0.975, 30, 2.042), (0.995, 10, 3.169)]
)
def test_quantiles_of_student_are_those_of_tables(chance, freedom, value) -> None:
    assert statistics.t_quantile(chance, freedom) == pytest.approx(value, rel=0.01)
