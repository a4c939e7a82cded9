"""A trial of processes too short for periods tells the truth about made-up ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from asterope.prove.trial.blocks import LIBC, ROUTINE, SHORT, Lived, Observed, Seen
from asterope.prove.trial.findings import findings
from asterope.prove.trial.trial_words import sentence, what_to_do
from asterope.prove.trial.ways import MAP
from made_up_trials import EXPERIMENTS, PLACE, WAYS, assert_near, steady
from made_up_trials import observed_of as observed_of_pairs


def observed_of(
    seed: int,
    count: int,
    copying: float,
    factor: float,
    each: float = 0.02,
    mapped: float | None = None,
) -> Observed:
    """Processes of 20 ms or `each`, of which that part is copies with libc; the routine takes so
    many times as long. One of five tries its places by themselves. `mapped`: as `factor`, of the
    library with a map; then one of three processes takes that instead."""
    dice = random.Random(seed)
    ways = [LIBC, LIBC, ROUTINE, ROUTINE, None] if mapped is None else [LIBC, ROUTINE, MAP]
    factors = {LIBC: 1.0, ROUTINE: factor, MAP: mapped, None: (1 + factor) / 2}
    observed, seen = Observed(), Seen()
    observed.places[PLACE] = seen
    for number in range(count):
        way = dice.choice(ways)
        copies = each * copying * factors[way]
        seconds = (each * (1 - copying) + copies) * (1 + 0.02 * dice.gauss(0, 1))
        observed.add(Observed(seconds, seconds, processes=1, runs=1))
        observed.lived.append(Lived(str(number), 7, number, seconds, way, seconds))
        measured = {LIBC: (50, each / 2 * copying), ROUTINE: (50, each / 2 * copying * factor)}
        seen.add(Seen(100, short_calls=100, measured=measured))
    return observed


@pytest.mark.parametrize("factor", [1.0, 0.5, 2.0, 8.0])
def test_the_gain_is_that_of_whole_runs(factor: float) -> None:
    """Also where the ways differ so much that the middle process is of one of them."""
    for count in (60, 100):
        made = (observed_of(seed, count, 0.6, factor) for seed in range(EXPERIMENTS))
        gains = [findings(one, WAYS).gain for one in made]
        assert_near([one for one in gains if one], 1 / (0.4 + 0.6 * factor) - 1)
        assert sum(map(bool, gains)) > 0.9 * EXPERIMENTS


@pytest.mark.parametrize(("factor", "mapped"), [(1.0, 1.0), (0.5, 0.4), (0.9, 0.6)])
def test_a_map_is_judged_beside_libc_and_the_routine(factor: float, mapped: float) -> None:
    """A third of the processes takes each."""
    made = [observed_of(seed, 90, 0.6, factor, mapped=mapped) for seed in range(EXPERIMENTS)]
    found = [findings(one, WAYS, MAP) for one in made]
    assert_near([one.gain for one in found], 1 / (0.4 + 0.6 * factor) - 1)
    assert_near([one.whole_gain for one in found], 1 / (0.4 + 0.6 * mapped) - 1)


@pytest.mark.parametrize("count", [6, 11])
def test_of_too_few_processes_nothing_is_said(count: int) -> None:
    """As long as each run adds some, more runs are not hopeless."""
    observed = observed_of(1, count, 0.6, 0.5)
    found = findings(observed, WAYS)
    assert not found.is_told and not found.is_hopeless and found.short == pytest.approx(1)
    assert "processes too short and too few, 100 % of its CPU time, were not" in sentence(found)
    assert "give it more --time, or --runs" in what_to_do(
        found, observed, ["a"], Path("x"), None, is_over=True
    )


def test_a_process_of_another_kind_is_no_partner() -> None:
    """A shell, and its command, which takes ten times as long."""
    observed = observed_of(1, 100, 0.6, 0.5)
    shells = [Lived(f"sh {n}", 8, n, 0.002, [LIBC, ROUTINE][n // 50], 0.002) for n in range(100)]
    observed.lived += shells
    observed.cpu_seconds += sum(one.seconds for one in shells)
    gain = findings(observed, WAYS).gain
    assert gain.value == pytest.approx(2.2 / 1.6 - 1, abs=0.03)


def test_calls_of_short_processes_are_no_calls_of_a_long_one() -> None:
    """It saves half of its time. They save nothing, by as many calls at the same place."""
    observed = observed_of(1, 100, 0.6, 1.0)
    fast = steady(0.5)
    times = {PLACE: lambda way, when, dice: fast(way, when, dice) / 3000}
    long = observed_of_pairs(times, 1)
    long.lived.append(Lived("one", 8, 0, long.cpu_seconds, None, long.cpu_seconds))
    observed.places[PLACE].add(Seen(9900, short_calls=9900))
    short = observed.cpu_seconds
    observed.add(long)
    truth = (long.cpu_seconds / 0.75 + short) / (long.cpu_seconds / 1.5 + short) - 1
    assert findings(observed, WAYS).gain.value == pytest.approx(truth, abs=0.02)


def test_pairs_of_hurried_processes_say_nothing() -> None:
    """Their periods are too short for the caches: each way had the lines that the other one left.
    Here they say that the ways are the same. Whole processes say how much the routine saves."""
    observed = observed_of(1, 40, 0.6, 0.5, each=0.5)
    same = steady(1.0)
    for number in range(10):
        name = f"hurried {number}"
        made = observed_of_pairs({PLACE: lambda *of: same(*of) / 30000}, 1, process=name)
        took = made.cpu_seconds
        made.lived.append(Lived(name, 7, number, took, None, took, noted_short=True))
        made.places[PLACE].short_calls = made.places[PLACE].calls
        assert took > SHORT
        observed.add(made)
    gain = findings(observed, WAYS).gain
    assert gain.low <= 1 / 0.7 - 1 <= gain.high
