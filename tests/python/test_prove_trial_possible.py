"""No verdict of a trial is beyond the time that the copies themselves take."""

from __future__ import annotations

from pathlib import Path

import pytest
from asterope.command_line import DONE
from asterope.prove.options import UNTOLD
from asterope.prove.trial.blocks import LIBC, NO_WAY, QUIET, ROUTINE, THREADS_FULL, Observed, Seen
from asterope.prove.trial.findings import Found, findings
from asterope.prove.trial.possible import Possible
from asterope.prove.trial.report import code_of
from asterope.prove.trial.statistics import Estimate
from asterope.prove.trial.trial_words import clock_line, sentence, table, what_to_do
from made_up_trials import PLACE, WAYS, observed_of, steady


def found_of(factor: float, share: float, routine: float = 1.0) -> Found:
    """The findings on a made-up place. From one call to the next, the routine takes `factor` times
    as long as libc. Of libc's time, the part `share` is the copy alone. The routine's copy alone
    takes `routine` times as long as libc's."""
    observed = observed_of({PLACE: steady(factor)}, 1, pairs=100)
    count = observed.places[PLACE].calls
    seconds = share * count  # a call takes one, to the next one
    observed.places[PLACE].measured = {LIBC: (count, seconds), ROUTINE: (count, routine * seconds)}
    return findings(observed, WAYS)


@pytest.mark.parametrize("factor", [0.7, 1.6])
def test_more_than_the_copies_can_bring_is_an_error_of_the_method(factor: float) -> None:
    found = found_of(factor, 0.05)
    assert not found.is_told and code_of(found) == UNTOLD
    why = "the trial shows a larger difference than all of its copies can make"
    assert f"cannot be told: {why}" in sentence(found)
    assert not any(verdict in sentence(found) for verdict in ("faster (", "slower ("))
    advice = what_to_do(found, Observed(), ["true"], Path("x.so"), None)
    assert advice == "Not known: --runs --metric cpu compares whole runs."
    (place,) = found.places
    assert (place.best, place.possible, found.slower) == (None, False, [])
    assert "than its calls can make: it is not sure" in table(found, {})


@pytest.mark.parametrize("limit", [THREADS_FULL, NO_WAY])
def test_where_some_copies_were_not_counted_nothing_bounds_a_difference(limit: str) -> None:
    for factor, told in ((0.5, False), (1.0, True)):
        observed = observed_of({PLACE: steady(factor)}, 1, pairs=3000)
        observed.limits.add(limit)
        found = findings(observed, WAYS)
        assert found.is_told == told
        assert ("not all of its copies were counted" in sentence(found)) != told


@pytest.mark.parametrize("restricted", [0.0, 0.05])
def test_time_in_which_copies_were_not_counted_may_be_all_copies(restricted: float) -> None:
    observed = observed_of({PLACE: steady(1.0)}, 1, pairs=100)
    count, seconds = observed.places[PLACE].calls, observed.cpu_seconds
    observed.places[PLACE].measured = {way: (count, 0.02 * seconds) for way in (LIBC, ROUTINE)}
    observed.restricted, observed.limits = restricted * seconds, {QUIET}
    assert findings(observed, WAYS).possible.share == pytest.approx(0.022 + restricted, abs=0.005)


# The last one is of a program that does nothing else.
CAN = [(0.7, 0.5, 0.4), (1.6, 0.6, 2.0), (7.0, 1.0, 7.0)]


@pytest.mark.parametrize(("factor", "share", "routine"), CAN)
def test_what_they_can_bring_is_told(factor: float, share: float, routine: float) -> None:
    found = found_of(factor, share, routine)
    assert found.is_told and found.places[0].possible
    assert found.gain.low < 1 / factor - 1 < found.gain.high


def test_an_estimate_may_be_beyond_by_luck() -> None:
    """It ends at the bound then."""
    most = Possible(share=0.2, loss=0.4)
    assert most.holds(Estimate(0.26, 0.22, 0.30)) and not most.holds(Estimate(0.3, 0.24, 0.36))
    assert Estimate(0.26, 0.22, 0.30).clipped(*most.gain) == Estimate(0.25, 0.22, 0.25)


def test_of_a_way_that_was_not_measured_the_other_one_is_no_bound() -> None:
    """The routine's copies take next to nothing; libc's may take all of the time."""
    observed = Observed(cpu_seconds=0.001)
    observed.places[PLACE] = Seen(100, measured={ROUTINE: (100, 1e-9)})
    assert not findings(observed, WAYS).is_negligible


def test_a_sure_difference_of_nothing_is_none() -> None:
    found = Found(Estimate(-0.0003, -0.0006, -0.0001))
    assert "is as fast as with libc, within 0.1 %" in sentence(found)
    assert code_of(found) == DONE


def test_copies_that_take_next_to_nothing_need_no_trial() -> None:
    """However few were seen."""
    observed = observed_of({PLACE: steady(1.0)}, 1, pairs=3)
    count = observed.places[PLACE].calls
    observed.places[PLACE].measured = {LIBC: (count, 0.002 * observed.cpu_seconds)}
    found = findings(observed, WAYS)
    assert found.is_told and "is as fast as with libc, within 0." in sentence(found)
    line = clock_line(found, observed)
    assert line.endswith("No way of copying can be felt then.") and "Not judged" not in line
