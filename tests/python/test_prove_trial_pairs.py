"""A trial says right how much a whole program gains: on made-up ones whose truth is known, also of
processes too short for periods."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path
from statistics import fmean, median

import made_up_trials as made_up
import pytest
from asterope.prove.trial import blocks
from asterope.prove.trial.blocks import LIBC, ROUTINE, Block, Observed, Place, Seen, Spent
from asterope.prove.trial.findings import Found, findings
from asterope.prove.trial.statistics import Estimate
from asterope.prove.trial.trial_words import clock_line, sentence, table, what_to_do
from asterope.prove.trial.ways import MAP
from made_up_trials import (
    PLACE,
    WAYS,
    Program,
    assert_near,
    by_experiments,
    observed_of,
    steady,
)


def alone(program: Callable[[float], Program]) -> Callable[[float], dict[Place, Program]]:
    return lambda factor: {PLACE: program(factor)}


def adding(more: Callable[[float, random.Random], float]) -> Callable[[float], Program]:
    """A steady program that does so much more between its calls, whichever way they take."""

    def of(factor: float) -> Program:
        still = steady(factor)
        return lambda way, when, dice: still(way, when, dice) + more(when, dice)

    return of


def true_gain(times: dict[Place, Program], **settings) -> float:
    """By all calls of such a trial under libc, and under the routine. They are known by periods: a
    way that is faster has more of them."""
    observed, dice = observed_of(times, 0, **settings), random.Random(0)

    def seconds(way: str) -> float:
        whole = 0.0
        for place, program in times.items():
            seen = observed.places[place]
            for pair, own in seen.together.items():
                when = pair.number / len(seen.together)
                each = fmean(program(way, when, dice) for _ in range(400))
                calls = sum(block.calls for block in own)
                whole += each * (calls + seen.own_calls / len(seen.together))
        return whole

    return seconds(LIBC) / seconds(ROUTINE) - 1


WHOLE: dict[str, Callable[[float], dict[Place, Program]]] = {
    **{
        one.__name__: alone(one)
        for one in (steady, made_up.drifting, made_up.in_phases, made_up.slower_reader)
    },
    # the second one, where the routine loses, in phases
    "two_places": lambda factor: {
        PLACE: steady(factor),
        Place("/bin/program", 200, "memcpy", 512): made_up.in_phases(1.05),
    },
    # for a tenth of its calls, it does much between them that no copy has to do with
    "starting": alone(adding(lambda when, dice: (when < 0.1) * dice.uniform(0, 20))),
    # such as page faults, which are CPU time, and the routine's as well as libc's
    "few_stalls": alone(adding(lambda _, dice: (dice.random() < 0.02) * dice.expovariate(1 / 5))),
}


def found_of(times: dict[Place, Program], seed: int, **settings) -> Found:
    return findings(observed_of(times, seed, **settings), WAYS)


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize(
    "factor", [0.6, *(pytest.param(one, marks=pytest.mark.slow) for one in (1.0, 1.01))]
)
@by_experiments
def test_the_programs_gain_is_that_of_whole_runs(
    kind: str, factor: float, experiments: int
) -> None:
    times = WHOLE[kind](factor)
    found = [found_of(times, seed).gain for seed in range(experiments)]
    assert_near(found, true_gain(times))


@pytest.mark.parametrize("factor", [0.5, 0.8, 1.0, 1.2])
@pytest.mark.parametrize("beside", [0.0, 2.0])
def test_what_a_program_does_beside_its_copies_counts(factor: float, beside: float) -> None:
    """The saving at a place is a part of the time with libc."""
    observed = observed_of({PLACE: steady(factor)}, 1)
    observed.cpu_seconds += beside * observed.places[PLACE].calls
    found = findings(observed, WAYS)
    gain = (beside + 1) / (beside + factor) - 1
    assert found.gain.value == pytest.approx(gain, rel=0.03, abs=0.004)
    (place,) = found.places
    near = 0.02 if factor == 1 else 0.12
    assert place.share == pytest.approx(1 / (1 + beside), rel=near)
    brings = (1 - factor) / (1 + beside)
    assert place.gained.value == pytest.approx(brings, rel=near, abs=0.01 * (factor == 1))


def test_ways_that_are_tried_but_slow_do_not_count() -> None:
    """The time that they take is the trial's, not the program's."""
    found = found_of({PLACE: made_up.scaled(steady(0.8), made_up.OTHER, 8.0)}, 1)
    assert found.gain.value == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize(("easy", "seconds"), [("easy_others", 0.5), ("easy_libcs", 1.0)])
def test_in_operation_most_of_the_time_was_under_one_way(easy: str, seconds: float) -> None:
    """Nine tenths of the calls go that way, untried; a second more passes until the next one."""
    observed = observed_of({PLACE: steady(0.5)}, 1)
    tried = observed.places[PLACE].calls
    observed.places[PLACE].calls += 9 * tried
    observed.cpu_seconds += tried + 9 * tried * (seconds + 1)
    setattr(observed, easy, 9 * tried * (seconds + 1))
    assert findings(observed, WAYS).gain.value == pytest.approx(2 / 1.5 - 1, abs=0.02)


def with_map(seed: int, factor: float, mapped: float) -> Observed:
    """Half of the pairs together has the library with a map, which takes so many times libc's time.
    One pair of eight is of places by themselves."""
    made = observed_of({PLACE: steady(factor)}, seed)
    of_map = observed_of({PLACE: steady(mapped)}, seed, process="other")
    for together in (of_map.together, of_map.places[PLACE].together):
        for both in together.values():
            both[:] = [replace(one, way=MAP) if one.way == ROUTINE else one for one in both]
    of_map.places[PLACE].cycles = []
    for one, part in ((made, 2 / 7), (of_map, 0.0)):
        seen, calls = one.places[PLACE], round(part * one.places[PLACE].own_calls)
        seen.calls, seen.own_calls = seen.calls - seen.own_calls + calls, calls
        one.cpu_seconds *= (1 + part) / 2
    made.add(of_map)
    return made


@pytest.mark.parametrize(("factor", "mapped"), [(1.0, 1.0), (0.5, 0.4), (0.9, 0.6)])
@by_experiments
def test_a_map_is_judged_beside_libc_and_the_routine(
    factor: float, mapped: float, experiments: int
) -> None:
    made = (with_map(seed, factor, mapped) for seed in range(experiments // 2))
    found = [findings(one, WAYS, MAP) for one in made]
    assert_near([one.gain for one in found], 1 / factor - 1, 0.02)
    assert_near([one.map_gain for one in found], 1 / mapped - 1, 0.02)


@pytest.mark.parametrize(("threads", "told"), [(1, True), (2, False)])
def test_what_one_thread_saves_is_saved_by_the_clock(threads: int, told: bool) -> None:
    """It waits for as long as it works. Of several, others may wait for the rest."""
    observed = observed_of({PLACE: steady(0.5)}, 1)
    observed.wall_seconds, observed.threads = 2 * observed.cpu_seconds, threads
    found = findings(observed, WAYS)
    assert found.wall_gain.value == pytest.approx(1.75 / 1.25 - 1, abs=0.02)
    assert (" faster by the clock (" in clock_line(found, observed)) == told


@by_experiments
def test_the_luck_of_each_process_is_in_the_interval(experiments: int) -> None:
    """Where its memory lies, the routine takes 0.8 of libc's time, or 4 % more or less."""

    def observed(seed: int) -> Observed:
        dice, all_of_them = random.Random(seed), Observed()
        for process in range(8):
            times = {PLACE: steady(0.8 * (1 + 0.04 * dice.gauss(0, 1)))}
            all_of_them.add(observed_of(times, dice.getrandbits(32), 20, process=str(process)))
        return all_of_them

    found = [findings(observed(seed), WAYS).gain for seed in range(experiments)]
    assert_near(found, 0.25)  # by the pairs alone 0.36 of them do


def test_processes_that_are_alike_widen_no_interval() -> None:
    """Four that differ by chance tell their difference badly, and that of their pairs well."""

    def width(seed: int, processes: int) -> float:
        all_of_them = Observed()
        for process in range(processes):
            own, pairs = seed + process, 80 // processes
            all_of_them.add(observed_of({PLACE: steady(0.8)}, own, pairs, process=str(process)))
        gain = findings(all_of_them, WAYS).gain
        return gain.high - gain.low

    widths = [(width(10 * seed, 4), width(10 * seed, 1)) for seed in range(30)]
    assert median(four / one for four, one in widths) < 1.15  # of processes 1.4


@by_experiments
def test_how_much_of_a_phase_is_seen_together_is_luck_and_its_calls_are_known(
    experiments: int,
) -> None:
    """For half of its time the program copies where the routine gains nothing. Then it copies where
    that takes 0.6 of libc's time. One phase has up to twice as many pairs as the other."""

    def observed(seed: int) -> Observed:
        dice = random.Random(seed)
        made, starting = Observed(), Place("/bin/program", 1, "memcpy", 512)
        for place, factor in ((starting, 1.0), (PLACE, 0.6)):
            luck = {"seed": dice.getrandbits(32), "pairs": dice.randint(40, 80)}
            own = observed_of({place: steady(factor)}, process=str(place.least), **luck)
            seen = own.places[place]
            own.cpu_seconds *= 8000 / seen.calls
            seen.calls, seen.own_calls = 8000, 0
            made.add(own)
        return made

    found = [findings(observed(seed), WAYS).gain for seed in range(experiments)]
    assert_near(found, 2 / 1.6 - 1)
    assert median(one.high - one.low for one in found) < 0.03  # as one phase 0.12, and 71 hold it


def test_calls_longer_than_periods_gain_nothing_by_what_others_do() -> None:
    """A program sets all of its memory at first, which takes as long as its copies do then."""
    observed = observed_of({PLACE: steady(0.5)}, 1, pairs=200)
    long = observed.places[Place("/bin/program", 300, "memset", 1 << 27)] = Seen(calls=8)
    seconds = observed.cpu_seconds / 8
    for pair in [*observed.together][:4]:
        long.together[pair] = [Block(LIBC, [seconds], [1.0], 1)]
        observed.together[pair][0] = Spent(LIBC, seconds, seconds)
    observed.cpu_seconds *= 2
    found = findings(observed, WAYS)
    assert found.gain.value == pytest.approx(1.75 / 1.25 - 1, abs=0.04)
    assert found.unjudged == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("is_measured", [True, False])
def test_calls_that_no_pair_of_periods_has_seen_were_not_judged(is_measured: bool) -> None:
    """One is half of the program, and longer than all pairs."""
    observed = observed_of({PLACE: steady(0.5)}, 1, pairs=200)
    seconds = observed.cpu_seconds
    sized = Place("/bin/program", 300, "memcpy", 1 << 31)
    long = observed.places[sized] = Seen(calls=1)
    if is_measured:
        calls = observed.places[PLACE].calls
        observed.places[PLACE].measured = {LIBC: (calls, seconds), ROUTINE: (calls, seconds / 2)}
        long.measured = {LIBC: (1, seconds)}
    observed.cpu_seconds += seconds
    found = findings(observed, WAYS)
    assert found.unjudged == pytest.approx(0.5, abs=0.1) if is_measured else found.unjudged > 0
    if is_measured:
        assert not found.is_told and "as long as the trial's periods" in sentence(found)
    long.short_calls = 1  # in a process that is too short to have periods
    assert findings(observed, WAYS).unjudged == 0


def test_a_place_whose_calls_take_no_time_is_no_error() -> None:
    observed = observed_of({PLACE: steady(0.5)}, 1, pairs=200)
    still = observed.places[Place("/bin/program", 300, "memset", 1 << 10)] = Seen(calls=8)
    still.together[min(observed.together)] = [Block(LIBC, [0.0], [1.0], 8)]
    assert findings(observed, WAYS).is_told


def test_periods_in_which_the_program_did_something_else_blur_nothing() -> None:
    """As while it starts: the time between its calls then has nothing to do with them."""
    observed, dice = observed_of({PLACE: steady(0.8)}, 1, pairs=200), random.Random(1)
    for pair, both in observed.together.items():
        if pair.number < 10:
            times = [one.seconds * dice.uniform(0.2, 5) for one in both]
            both[:] = [Spent(one.way, time, time) for one, time in zip(both, times)]
    gain = findings(observed, WAYS).gain
    assert gain.value == pytest.approx(0.25, abs=0.03) and gain.high - gain.low < 0.04


@by_experiments
def test_interruptions_that_hit_both_ways_blur_nothing(experiments: int) -> None:
    """One call in 100 takes 10 times as long: a tenth of all, and most of the noise."""
    times = {PLACE: made_up.with_stalls(steady(0.9), 0.01, 9)}
    found = [found_of(times, seed).gain for seed in range(experiments)]
    assert_near(found, (1 + 0.09) / (0.9 + 0.09) - 1)
    assert median(one.high - one.low for one in found) < 0.05 / 2  # with them 0.05 to 0.06


@pytest.mark.parametrize(("stall", "longer"), [(3, 1), (10, 2), (50, 10)])
def test_long_stalls_of_the_routine_alone_count_in_its_gain(stall: float, longer: int) -> None:
    """It is 5 % faster, but for one call in a hundred. No stall is as long as a period."""
    times = {PLACE: made_up.with_stalls(steady(0.95), 0.01, stall, [ROUTINE])}
    found = [found_of(times, seed, pairs=300 // longer, longer=longer).gain for seed in range(20)]
    truth = true_gain(times, pairs=300 // longer, longer=longer)
    assert_near(found, truth, 0.015)


def test_long_phases_between_copies_are_no_chance_where_they_are_much() -> None:
    """The routine leaves the caches so that the work after each 100th copy takes half as long
    again. That is not left out, as it is half of the program's time."""

    def seconds(way: str, when: float, dice: random.Random) -> float:
        phase = 100 * (1.5 if way == ROUTINE else 1.0) * (dice.random() < 0.01)
        return steady(0.9)(way, when, dice) + phase

    gains = [found_of({PLACE: seconds}, seed, pairs=300).gain for seed in range(10)]
    assert median(one.value for one in gains) == pytest.approx(2 / 2.4 - 1, abs=0.05)


def test_places_come_by_what_they_bring_and_know_their_best_way() -> None:
    many, few, loser = (Place("/bin/p", number, "memcpy", 4096) for number in (1, 2, 3))
    times = {
        few: lambda way, when, dice: steady(0.9)(way, when, dice) / 50,
        many: made_up.scaled(steady(0.9), made_up.OTHER, 0.5),
        loser: steady(1.05),
    }
    found = found_of(times, 3)
    assert [one.place for one in found.places] == [many, loser, few]
    assert [one.best for one in found.places] == [made_up.OTHER, LIBC, ROUTINE]
    assert [one.place for one in found.slower] == [loser]
    assert found.places[0].gained.value > 0 > found.places[1].gained.value


def test_where_libc_differs_from_itself_nothing_is_sure() -> None:
    found = found_of({PLACE: made_up.scaled(steady(1.3), blocks.LIBC_AGAIN, 1.2)}, 1)
    assert (found.places[0].steady, found.places[0].best, found.slower) == (False, None, [])


def test_where_libc_hardly_differs_from_itself_a_great_difference_is_sure() -> None:
    """It always seems to do so at one place of a hundred, by luck."""
    found = found_of({PLACE: made_up.scaled(steady(8.0), blocks.LIBC_AGAIN, 1.2)}, 1)
    (place,) = found.places
    assert (place.steady, place.best, found.slower) == (False, LIBC, [place])
    assert sentence(found).endswith("; it is slower than libc at 1 place.")
    assert "libc differs from itself here" in table(found, {})


def test_a_slower_program_whose_places_are_not_is_not_said_to_have_no_slower_one() -> None:
    found = found_of({PLACE: made_up.scaled(steady(1.3), blocks.LIBC_AGAIN, 1.2)}, 1)
    assert found.gain.high < 0 and not found.slower
    assert sentence(found).endswith("; the slower places are not known.")
    assert "libc differs from itself here" in table(found, {})
    nowhere = replace(found, places=[])
    assert sentence(nowhere).endswith(
        "; each place takes less than 1 % of the time, and is not judged."
    )


@pytest.mark.parametrize("factor", [1 / 10, 10.0, 60.0])
def test_ways_that_differ_much_are_no_ways_that_are_held_up(factor: float) -> None:
    found = [found_of({PLACE: steady(factor)}, seed).gain for seed in range(25)]
    times = [Estimate(*(1 + part for part in astuple(one))) for one in found]
    assert_near(times, 1 / factor, 0.02 / factor)


def test_a_place_of_two_modes_shows_them() -> None:
    """Phases, in which ten times as much passes between two calls: a mean is of neither."""
    assert "under the routine: two modes, " in table(
        found_of({PLACE: made_up.in_phases(1.0)}, 1), {}
    )
    assert "two modes" not in table(found_of({PLACE: steady(1.0)}, 1), {})


def test_of_many_places_luck_makes_none_slower() -> None:
    places = {Place("/bin/p", number, "memcpy", 4096): steady(1.0) for number in range(30)}
    assert sum(bool(found_of(places, seed, pairs=30).slower) for seed in range(10)) <= 2


def test_luck_chooses_no_way() -> None:
    """Ways that are all alike are not written down as better than the routine."""
    best = [found_of({PLACE: steady(1.0)}, seed).places[0].best for seed in range(50)]
    assert made_up.share([one == ROUTINE for one in best]) >= 0.96


def test_a_way_that_throws_out_others_data_is_seen_when_all_go_together() -> None:
    """At its own place it is faster; the next place, whose data it threw out, pays more. There, its
    way is drawn by itself, and so nothing is seen of it."""
    first, second = Place("/bin/p", 1, "memcpy", 4096), Place("/bin/p", 2, "memcpy", 4096)
    alone = {first: steady(0.9), second: steady(1.0)}
    found = found_of({**alone, second: steady(1.4)}, 5, pairs=200, alone=alone)
    assert (found.places[0].place, found.places[0].best) == (first, ROUTINE)
    assert found.places[0].ratios[ROUTINE].low > 1
    assert found.gain.high < 0


def test_a_program_that_hardly_copies_has_no_gain_that_is_known() -> None:
    assert found_of({PLACE: steady(0.5)}, 1, pairs=3).gain is None
    assert findings(Observed(), WAYS).gain is None


def test_pairs_of_two_threads_are_one_unit() -> None:
    """A disturbance of a period hits both threads: they do not make twice as many periods."""

    def width(threads: int, seed: int) -> float:
        observed = observed_of({PLACE: steady(0.8)}, seed)
        for together in (observed.together, observed.places[PLACE].together):
            for own in together.values():
                own *= threads
        gain = findings(observed, WAYS).gain
        return gain.high - gain.low

    widths = [(width(1, seed), width(2, seed)) for seed in range(10)]
    assert median(two / one for one, two in widths) == pytest.approx(1, rel=0.1)


# --- Processes too short for periods ---


def short_ones(
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
        observed.lived.append(blocks.Lived(str(number), 7, number, seconds, way, seconds))
        measured = {LIBC: (50, each / 2 * copying), ROUTINE: (50, each / 2 * copying * factor)}
        seen.add(Seen(100, short_calls=100, measured=measured))
    return observed


@pytest.mark.parametrize("factor", [1.0, 0.5, 2.0, 8.0])
@by_experiments
def test_the_gain_of_short_processes_is_that_of_whole_runs(factor: float, experiments: int) -> None:
    """Also where the ways differ so much that the middle process is of one of them."""
    for count in (60, 100):
        made = (short_ones(seed, count, 0.6, factor) for seed in range(experiments))
        gains = [findings(one, WAYS).gain for one in made]
        assert_near([one for one in gains if one], 1 / (0.4 + 0.6 * factor) - 1)
        assert sum(map(bool, gains)) > 0.9 * experiments


@pytest.mark.parametrize(("factor", "mapped"), [(1.0, 1.0), (0.5, 0.4), (0.9, 0.6)])
@by_experiments
def test_a_map_of_short_processes_is_judged_beside_libc_and_the_routine(
    factor: float, mapped: float, experiments: int
) -> None:
    """A third of the processes takes each."""
    made = [short_ones(seed, 90, 0.6, factor, mapped=mapped) for seed in range(experiments)]
    found = [findings(one, WAYS, MAP) for one in made]
    assert_near([one.gain for one in found], 1 / (0.4 + 0.6 * factor) - 1)
    assert_near([one.map_gain for one in found], 1 / (0.4 + 0.6 * mapped) - 1)


@pytest.mark.parametrize("count", [6, 11])
def test_of_too_few_processes_nothing_is_said(count: int) -> None:
    """As long as each run adds some, more runs are not hopeless."""
    observed = short_ones(1, count, 0.6, 0.5)
    found = findings(observed, WAYS)
    assert not found.is_told and not found.is_hopeless and found.short == pytest.approx(1)
    assert "processes too short and too few, 100 % of its CPU time, were not" in sentence(found)
    assert "give it more --time, or --runs" in what_to_do(
        found, observed, ["a"], Path("x"), None, is_over=True, unseen=None
    )


def test_a_process_of_another_kind_is_no_partner() -> None:
    """A shell, and its command, which takes ten times as long."""
    observed = short_ones(1, 100, 0.6, 0.5)
    shells = [
        blocks.Lived(f"sh {n}", 8, n, 0.002, [LIBC, ROUTINE][n // 50], 0.002) for n in range(100)
    ]
    observed.lived += shells
    observed.cpu_seconds += sum(one.seconds for one in shells)
    gain = findings(observed, WAYS).gain
    assert gain.value == pytest.approx(2.2 / 1.6 - 1, abs=0.03)


def test_calls_of_short_processes_are_no_calls_of_a_long_one() -> None:
    """It saves half of its time. They save nothing, by as many calls at the same place."""
    observed = short_ones(1, 100, 0.6, 1.0)
    fast = steady(0.5)
    times = {PLACE: lambda way, when, dice: fast(way, when, dice) / 3000}
    long = observed_of(times, 1)
    long.lived.append(blocks.Lived("one", 8, 0, long.cpu_seconds, None, long.cpu_seconds))
    observed.places[PLACE].add(Seen(9900, short_calls=9900))
    short = observed.cpu_seconds
    observed.add(long)
    truth = (long.cpu_seconds / 0.75 + short) / (long.cpu_seconds / 1.5 + short) - 1
    assert findings(observed, WAYS).gain.value == pytest.approx(truth, abs=0.02)


def test_pairs_of_hurried_processes_say_nothing() -> None:
    """Their periods are too short for the caches: each way had the lines that the other one left.
    Here they say that the ways are the same. Whole processes say how much the routine saves."""
    observed = short_ones(1, 40, 0.6, 0.5, each=0.5)
    same = steady(1.0)
    for number in range(10):
        name = f"hurried {number}"
        made = observed_of({PLACE: lambda *of: same(*of) / 30000}, 1, process=name)
        took = made.cpu_seconds
        made.lived.append(blocks.Lived(name, 7, number, took, None, took, noted_short=True))
        made.places[PLACE].short_calls = made.places[PLACE].calls
        assert took > blocks.SHORT
        observed.add(made)
    gain = findings(observed, WAYS).gain
    assert gain.low <= 1 / 0.7 - 1 <= gain.high
