"""Programs that are made up, so that the truth about what a trial sees of them is known."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from statistics import median

import pytest
from asterope.prove.trial.blocks import LIBC, LIBC_AGAIN, ROUTINE, Block, Pair, Place
from asterope.prove.trial.statistics import Estimate

OTHER = "other"
WAYS = [LIBC, LIBC_AGAIN, ROUTINE, OTHER]
PLACE = Place("/bin/program", 100, "memcpy", 4096)

# Seconds of a call to the next one, by (way, when from 0 to 1, dice).
Program = Callable[[str, float, random.Random], float]


def like(factor: float) -> Callable[[str], float]:
    """By what the routine's time differs from libc's."""
    return lambda way: factor if way == ROUTINE else 1.0


def steady(factor: float) -> Program:
    own = like(factor)
    return lambda way, _, dice: own(way) * (1 + 0.1 * dice.gauss(0, 1))


def heavy_tails(factor: float) -> Program:
    """One call in a hundred is interrupted, some for long."""

    def seconds(way: str, _: float, dice: random.Random) -> float:
        tail = dice.paretovariate(1.2) * 10 if dice.random() < 0.01 else 0.0
        return like(factor)(way) * (1 + 0.1 * dice.gauss(0, 1)) + tail

    return seconds


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
    """The copies take the same: what reads them does not."""
    return lambda way, _, dice: 0.2 + 0.8 * like(factor)(way) * (1 + 0.2 * abs(dice.gauss(0, 1)))


PROGRAMS = [steady, heavy_tails, drifting, in_phases, slower_reader]


def cycles_of(
    program: Program, dice: random.Random, count: int, ways: Sequence[str] = WAYS
) -> Iterator[list[Block]]:
    for number in range(count):
        cycle = []
        for way in dice.sample(list(ways), len(ways)):
            calls = dice.randint(3, 8)
            seconds = [program(way, number / count, dice) for _ in range(calls)]
            cycle.append(Block(way, seconds, [1.0] * calls, calls))
        yield cycle


# --- Whole programs ---


class Longest:
    """What 2 % of a place's intervals are beyond, as the library follows it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def within(self, intervals: Sequence[float], limit: float) -> float:
        """Of a period in which that was the limit."""
        for seconds in intervals:
            self.seconds = self.seconds or 4 * seconds
            self.seconds *= 9 / 8 if seconds > self.seconds else 391 / 392
        kept = [seconds for seconds in intervals if seconds <= 1.5 * limit]
        if len(intervals) - len(kept) > 2 + len(intervals) // 8:
            return 0.0
        return sum(kept) / len(kept) * len(intervals)


def two_places(factor: float) -> dict[Place, Program]:
    """The second one, where the routine loses, in phases."""
    return {PLACE: steady(factor), Place("/bin/program", 200, "memcpy", 512): in_phases(1.05)}


def starting(factor: float) -> dict[Place, Program]:
    """For a tenth of its calls, the program does much between them that no copy has to do with."""

    def seconds(way: str, when: float, dice: random.Random) -> float:
        return steady(factor)(way, when, dice) + (when < 0.1) * dice.uniform(0, 20)

    return {PLACE: seconds}


def few_stalls(factor: float) -> dict[Place, Program]:
    """Such as page faults, which are CPU time, and the routine's as well as libc's."""

    def seconds(way: str, when: float, dice: random.Random) -> float:
        return steady(factor)(way, when, dice) + (dice.random() < 0.02) * dice.expovariate(1 / 5)

    return {PLACE: seconds}


def alone(program: Callable[[float], Program]) -> Callable[[float], dict[Place, Program]]:
    return lambda factor: {PLACE: program(factor)}


def true_gain(times: dict[Place, Program]) -> float:
    """By all calls under libc, and under the routine, with the same luck."""

    def seconds(way: str) -> float:
        dice, calls = random.Random(0), range(20_000)
        return sum(one(way, i / len(calls), dice) for one in times.values() for i in calls)

    return seconds(LIBC) / seconds(ROUTINE) - 1


WHOLE = {
    **{one.__name__: alone(one) for one in (steady, drifting, in_phases, slower_reader)},
    **{one.__name__: one for one in (two_places, starting, few_stalls)},
}


def period(way: str, seconds: float, within: float | None = None) -> Block:
    """Of a thread, in a pair."""
    return Block(way, [seconds, seconds if within is None else within], [1.0] * 2, 1)


def pairs_of(count: int, process: str = "one") -> list[Pair]:
    return [Pair(process, number) for number in range(count)]


# --- How estimates are judged ---------------------------------------------------------------------

EXPERIMENTS = 100
# Of libc's time.
FACTORS = [1.0, pytest.param(1.01, marks=pytest.mark.slow), 1 / 1.8]


def share(of: Sequence[bool]) -> float:
    return sum(of) / len(of)


def assert_near(found: Sequence[Estimate], truth: float, near: float, held: float) -> None:
    """So large a share of the intervals holds the truth, and the middle estimate is so near it."""
    assert share([one.low <= truth <= one.high for one in found]) > held
    assert median(one.value for one in found) == pytest.approx(truth, abs=near)
