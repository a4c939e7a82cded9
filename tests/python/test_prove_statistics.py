"""asterope-prove's rounds and verdicts, on made-up figures whose truth is known."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import pytest
from asterope.faults import Failure
from asterope.prove.copies import LIBC, LIBC_AGAIN
from asterope.prove.processes import Run
from asterope.prove.rounds import (
    FASTER,
    LEAST_ROUNDS,
    NARROW,
    PATTERN,
    SAME,
    SLOWER,
    UNKNOWN,
    Finding,
    Goal,
    Metric,
    Rounds,
    judge,
    measure,
)
from asterope.prove.run_words import contradictions
from made_up_trials import share

OURS = "ours"
NAMES = [LIBC, LIBC_AGAIN, OURS]
EXPERIMENTS = 300


NOISES: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda dice: dice.gauss(0, 0.02),
    "one-sided": lambda dice: dice.expovariate(1 / 0.02),
    "mostly quiet": lambda dice: (
        dice.gauss(0, 0.01) + (dice.expovariate(10) if dice.random() < 0.15 else 0)
    ),
}


def experiment(noise: str, gain: float, goal: Goal, seed: int) -> tuple[Rounds, Finding]:
    """libc takes 1, ours 1 / gain, on a machine that is half as fast for a while at times."""
    dice = random.Random(seed)
    block = itertools.count()

    def figure(name: str) -> float:
        slow_phase = math.log(2) * ((next(block) // len(NAMES)) // 10 % 2)
        return math.exp(NOISES[noise](dice) + slow_phase) / (gain if name == OURS else 1)

    rounds = Rounds()
    measure(rounds, NAMES, figure, goal, seed)
    return rounds, next(one for one in judge(rounds, NAMES, NARROW) if one.name == OURS)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("goal", [Goal(rounds=15), Goal(until=0.02)], ids=["rounds", "until"])
def test_nineteen_of_twenty_intervals_hold_the_truth(noise, goal: Goal) -> None:
    """They do so, too, where rounds end once the interval is narrow, which picks lucky ones."""
    found = [experiment(noise, 1.1, goal, seed)[1].ratio for seed in range(EXPERIMENTS)]
    assert share([one.low <= 1.1 <= one.high for one in found]) > 0.92
    near = 0.002 if goal.rounds else 0.005  # lucky ones end early
    assert fmean(math.log(one.median) for one in found) == pytest.approx(math.log(1.1), abs=near)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("goal", [Goal(rounds=31), Goal(rounds=61, until=0.001)])
def test_identical_work_raises_few_alarms(noise, goal: Goal) -> None:
    """One in twenty, and few more where each look may end the rounds."""
    verdicts = [experiment(noise, 1, goal, seed)[1].verdict for seed in range(EXPERIMENTS)]
    assert share([one in (FASTER, SLOWER) for one in verdicts]) < (0.13 if goal.until else 0.08)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("direction", "verdict"), [(1, FASTER), (-1, SLOWER)])
def test_an_effect_of_the_size_of_the_noise_is_found(noise, direction: int, verdict: str) -> None:
    """2 %, in 31 rounds."""
    found = [
        experiment(noise, 1.02**direction, Goal(rounds=31), seed)[1].verdict
        for seed in range(EXPERIMENTS)
    ]
    assert share([one == verdict for one in found]) > 0.7
    assert share([one not in (verdict, UNKNOWN, SAME) for one in found]) == 0


def test_rounds_end_as_soon_as_it_is_told_or_each_interval_is_as_narrow_as_asked() -> None:
    plain, little, wide, narrow = (
        experiment("normal", gain, Goal(rounds=500, until=until), 1)[0]
        for gain, until in ((1.3, 0.01), (1.02, 0.001), (1, 0.05), (1, 0.005))
    )
    assert {one.stopped_by for one in (plain, little, wide, narrow)} == {"until"}
    assert len(plain.done) <= 10 < len(little.done) < 200
    assert len(narrow.done) > 2 * len(wide.done)
    assert 0.005 < wide.reach() <= 0.05 and narrow.reach() <= 0.005


def test_what_cannot_be_told_says_how_many_rounds_would() -> None:
    _, finding = experiment("normal", 1.005, Goal(rounds=12), 3)
    assert finding.verdict == UNKNOWN and 10 < finding.more_rounds < 5000


@dataclass
class Clock:
    """Each block takes 10 s."""

    calls: int = 0

    def figure(self, name: str) -> float:
        self.calls += 1  # now faster and now slower
        return (0.5, 2.0)[self.calls % 2] if name == OURS else 1

    def now(self) -> float:
        return 10 * self.calls / len(NAMES)


@pytest.mark.parametrize(("seconds", "done"), [(95, 9), (101, 10), (5, 1)])
def test_no_round_is_begun_that_would_end_too_late(seconds: float, done: int) -> None:
    """The first one is always begun: its time is not known before."""
    clock, rounds = Clock(), Rounds()
    measure(rounds, NAMES, clock.figure, Goal(until=1e-9, seconds=seconds), 1, now=clock.now)
    assert (len(rounds.done), rounds.stopped_by) == (done, "time")


def test_progress_tells_what_is_left() -> None:
    clock, told = Clock(), []
    goal = Goal(rounds=9)
    measure(Rounds(), NAMES, clock.figure, goal, 1, lambda *one: told.append(one), clock.now)
    left = [(done, round(seconds_left)) for done, _, seconds_left in told]
    assert left == [(done, 90 - 10 * done) for done in range(1, 9)]
    assert told[0][1] is None and told[-1][1] > 0


def test_each_block_has_every_copy_once_in_an_order_of_its_seed() -> None:
    def orders(seed: int) -> list[tuple[str, ...]]:
        rounds = Rounds()
        measure(rounds, NAMES, lambda _: 1.0, Goal(rounds=60), seed)
        return [tuple(name for name, _ in block) for block in rounds.done]

    counts = Counter(orders(1))
    assert set(counts) == set(itertools.permutations(NAMES))
    assert min(counts.values()) >= 3
    assert orders(1) == orders(1) != orders(2)


def test_what_interrupts_a_block_leaves_the_whole_ones() -> None:
    calls = itertools.count()

    def figure(_: str) -> float:
        if next(calls) == 7:
            raise KeyboardInterrupt
        return 1.0

    rounds = Rounds()
    with pytest.raises(KeyboardInterrupt):
        measure(rounds, NAMES, figure, Goal(rounds=10), 1)
    assert [len(block) for block in rounds.done] == [3, 3]


def judged(figures: Iterable[Sequence[float]], **more: bool) -> list[Finding]:
    """The findings of rounds in which the copies have these figures."""
    return judge(Rounds(done=[list(zip(NAMES, one)) for one in figures], **more), NAMES, NARROW)


def test_too_few_rounds_say_nothing() -> None:
    for rounds, verdict in ((LEAST_ROUNDS - 1, UNKNOWN), (LEAST_ROUNDS, FASTER)):
        assert judged([(1, 1, 0.5)] * rounds)[2].verdict == verdict


@pytest.mark.parametrize("again", [1.1, 1 / 1.1])
@pytest.mark.parametrize("ours", [1.05, 1 / 1.05, 1.2])
def test_a_floor_that_is_off_1_counts_of_servers_alone(again: float, ours: float) -> None:
    """Two servers of libc differ by 10 % for good: so may any two. Runs have luck each."""
    steps = [1 + 1e-6 * step for step in range(9)]  # as a clock has them
    figures = [(s, again * s * s, ours * s**3) for s in steps]
    assert judged(figures)[2].verdict == (SLOWER if ours > 1 else FASTER)
    of_servers = judged(figures, has_servers=True)[2].verdict
    assert of_servers == (SLOWER if ours > 1.1 else UNKNOWN)


@pytest.mark.parametrize(("ours", "more"), [(0.985, False), (0.97, True)])
def test_more_rounds_tell_of_servers_what_differs_more_than_two_with_libc(ours, more) -> None:
    """The other server with libc is 2 % slower. In few rounds it seems to be up to 4 %."""
    steps = [1 + 0.02 * step for step in (-1, -0.5, 0, 0, 0.5, 1)]
    figures = [(1.0, 1.02 * s, ours * (1 + 1e-4 * n)) for n, s in enumerate(steps)]
    found = judged(figures, has_servers=True)[2]
    assert found.verdict == UNKNOWN and found.ratio.low > 1
    assert (found.more_rounds is not None) == more
    rounds = Rounds(done=[list(zip(NAMES, one)) for one in figures], has_servers=True)
    assert 0 < rounds.reach() < 0.01


def test_medians_that_contradict_the_ratio_are_told() -> None:
    """The machine becomes twice as slow for a while, in which libc has its luckier rounds."""
    libc = [1.0] * 4 + [2.0, 2.2, 2.4, 2.6, 2.8]
    ours = [1.1] * 4 + [2.9, 1.0, 1.0, 1.0, 1.0]
    assert contradictions(judged(zip(libc, libc, ours)), False) == []
    assert len(contradictions(judged([(1, 1, 0.9), (1, 1, 0.9), (0.85, 3, 3.1)] * 2), False)) == 1


def printed(text: str) -> float:
    return Metric(PATTERN, re.compile(r"(\S+)")).of(Run(1.0, 1.0, text))


@pytest.mark.parametrize(
    ("text", "high", "low"),
    [("5", 5.5, 4.5), ("5.0", 5.05, 4.95), ("3e2", 350, 250), ("12.50", 12.505, 12.495)],
)
def test_a_printed_figure_knows_how_far_its_last_digit_reaches(text, high, low) -> None:
    assert math.exp(printed(text).rounding) == pytest.approx(high / low)


def test_figures_that_are_rounded_alike_may_differ_by_their_last_digit() -> None:
    """4.6 and 5.4 are both printed as 5: the ratio may be 0.85."""
    found = judged([[printed("5")] * 3] * 15)
    finding = found[2]
    assert finding.verdict == UNKNOWN
    assert finding.ratio.low < 4.6 / 5.4 and finding.ratio.high > 5.4 / 4.6
    assert finding.at_most > 5.4 / 4.6 - 1
    assert finding.more_rounds is None  # no number of them
    assert (found[1].ratio.low, found[1].ratio.high) == (finding.ratio.low, finding.ratio.high)


@pytest.mark.parametrize("text", ["1e308", "1e-308", "0", "-1", "inf", "nan", "1e51"])
def test_a_figure_without_a_ratio_is_refused(text: str) -> None:
    with pytest.raises(Failure, match="no usable ratio"):
        printed(text)
