"""Made-up programs, as a trial sees them: the truth about them is known."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, median

import pytest
from asterope.prove.trial.blocks import (
    LIBC,
    LIBC_AGAIN,
    ROUTINE,
    Block,
    Observed,
    Pair,
    Place,
    Seen,
    Spent,
)
from asterope.prove.trial.statistics import Estimate

PLACE = Place("/bin/program", 100, "memcpy", 4096)
OTHER = "other"
WAYS = [LIBC, LIBC_AGAIN, ROUTINE, OTHER]

# Seconds of a call to the next one, by (way, when from 0 to 1, dice).
Program = Callable[[str, float, random.Random], float]


def like(factor: float) -> Callable[[str], float]:
    """The routine takes so many times libc's time."""
    return lambda way: factor if way == ROUTINE else 1.0


def steady(factor: float) -> Program:
    of = like(factor)
    return lambda way, _, dice: of(way) * (1 + 0.1 * dice.gauss(0, 1))


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
    of = like(factor)
    return lambda way, _, dice: 0.2 + 0.8 * of(way) * (1 + 0.2 * abs(dice.gauss(0, 1)))


PROGRAMS = [steady, heavy_tails, drifting, in_phases, slower_reader]


def cycles_of(program: Program, dice: random.Random, count: int) -> Iterator[list[Block]]:
    for number in range(count):
        cycle = []
        for way in dice.sample(WAYS, len(WAYS)):
            calls = dice.randint(3, 8)
            seconds = [program(way, number / count, dice) for _ in range(calls)]
            cycle.append(Block(way, seconds, [1.0] * calls, calls))
        yield cycle


class _Longest:
    """The bound that 2 % of a place's intervals exceed, as the library follows it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def within(self, intervals: Sequence[float], limit: float) -> float:
        """The time that counts of a period in which that was the limit."""
        for seconds in intervals:
            self.seconds = self.seconds or 4 * seconds
            self.seconds *= 9 / 8 if seconds > self.seconds else 391 / 392
        kept = [seconds for seconds in intervals if seconds <= 1.5 * limit]
        if len(intervals) - len(kept) > 2 + len(intervals) // 8:
            return 0.0
        return sum(kept) / len(kept) * len(intervals)


def _usual_of(times: dict[Place, Program]) -> Callable[[str, float], float]:
    """Seconds of a call at each place, by the way and when: drawn once for all places, as it takes
    longer than the calls of a period."""

    @functools.cache
    def usual(way: str, when: float) -> float:
        dice = random.Random(0)
        return sum(median(one(way, when, dice) for _ in range(9)) for one in times.values())

    return usual


def _calls_of(usual: Callable[[str, float], float], way: str, when: float, calls: int) -> int:
    """At each place, in a period that is as long as so many calls with libc; longer if the routine
    is far slower, so that it has some, too."""
    longest = max(usual(LIBC, when), usual(ROUTINE, when) / 3)
    return round(calls * longest / usual(way, when))


def observed_of(
    times: dict[Place, Program],
    seed: int,
    pairs: int = 60,
    process: str = "one",
    longer: int = 1,
    alone: dict[Place, Program] | None = None,
) -> Observed:
    """A program that goes from place to place, in pairs of periods and between them by itself.
    `longer`: periods, by so many times; `alone`: what it takes by itself, if something else."""
    dice = random.Random(seed)
    observed = Observed(processes=1, threads=1, runs=1)
    usual = _usual_of(times)
    for place, program in times.items():
        seen = observed.places[place] = Seen()
        longest, before = _Longest(), observed.cpu_seconds
        for pair in (Pair(process, number) for number in range(pairs)):
            limit = longest.seconds or math.inf
            for way in dice.sample([LIBC, ROUTINE], 2):
                when = pair.number / pairs
                calls = _calls_of(usual, way, when, longer * dice.randint(20, 60))
                time = [program(way, when, dice) for _ in range(calls)]
                seen.together.setdefault(pair, []).append(Block(way, time[:8], [1.0] * 8, calls))
                within = longest.within(time, limit)
                observed.together.setdefault(pair, []).append(Spent(way, sum(time), within))
                seen.calls += calls
                observed.cpu_seconds += sum(time)
        together = observed.cpu_seconds - before
        seen.cycles += cycles_of((alone or times)[place], dice, pairs)
        intervals = [s for cycle in seen.cycles for block in cycle for s in block.seconds]
        # as long as the periods together; the cycles are a choice of all
        seen.own_calls = round(len(intervals) * together / sum(intervals))
        seen.calls += seen.own_calls
        observed.cpu_seconds += together
    observed.wall_seconds = observed.cpu_seconds
    return observed


EXPERIMENTS = 100
by_experiments = pytest.mark.parametrize(
    "experiments", [40, pytest.param(EXPERIMENTS, marks=pytest.mark.slow)]
)
# Parts of libc's time.
FACTORS = [1.0, pytest.param(1.01, marks=pytest.mark.slow), 1 / 1.8]
share = fmean  # of the true ones


def assert_near(
    found: Sequence[Estimate], truth: float, near: float = 0.012, errors: int = 4
) -> None:
    """The intervals hold the truth in 95 % less so many standard errors, and the middle estimate
    is so near it."""
    held = 0.95 - errors * math.sqrt(0.95 * 0.05 / len(found))
    assert share([one.low <= truth <= one.high for one in found]) > held
    assert median(one.value for one in found) == pytest.approx(truth, abs=near)
