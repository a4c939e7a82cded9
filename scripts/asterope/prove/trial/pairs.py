"""The saving of the second way at all places together, by pairs of periods."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .blocks import Pair, Place
from .statistics import MOST_LEFT_OUT, NEGLIGIBLE, Estimate, t_quantile

# Pairs of which there is an interval, and of a phase: means of fewer are not yet normal.
_FEWEST, FEWEST_OF_PHASE = 20, 10
# How many times the usual distance from the middle is far, and standard errors of what lies beyond.
_FAR, _SURELY = 6.0, 3.0
# Of the program's time, what threads that copy take where they take all of it.
_NEARLY = 0.95
# At so many times the level of the shorter period a pair counts at most.
_HELD_UP = 4.0
# Processes of which there is an interval, and how many times the variance that their pairs tell
# they have where they differ: with less, intervals by pairs hold the truth 93 times of 100, too.
_FEWEST_PROCESSES, _DIFFERING = 4, 1.5
# So much wider than by the pairs' errors alone: those intervals hold the truth 93 times of 100, as
# what is far was cut before.
_WIDER = 1.1


@dataclass(frozen=True)
class Period:
    """What a way took during one; what it took but for the longest intervals, which count as usual
    ones there; and what its calls would take at the usual levels of their places."""

    seconds: float
    within: float
    usual: float


Pairs = Mapping[Pair, tuple[Period, Period]]


Phase = tuple[Pairs, float]


def phases(
    pairs: Pairs, shares: Mapping[Pair, Mapping[Place, float]], usual: Mapping[Place, float]
) -> list[Phase]:
    """Pairs in which the program copied mostly at one place, and what all calls like theirs usually
    take in the program. `shares`: of the places, what their calls usually take in a pair; `usual`:
    in the program. How many pairs a phase has is luck, and how many calls is known."""
    groups: dict[Place, list[Pair]] = {}
    sums = Counter[Place]()
    for pair in pairs:
        groups.setdefault(max(shares[pair], key=shares[pair].__getitem__), []).append(pair)
        sums.update(shares[pair])
    ranked = sorted(groups.values(), key=len, reverse=True)
    own = [group for group in ranked if len(group) >= FEWEST_OF_PHASE]
    rest = [pair for group in ranked[len(own) :] for pair in group]
    if own and len(rest) < FEWEST_OF_PHASE:
        rest += own.pop()
    ranked = [*own, rest]
    of_phases = [
        sum(
            usual[place] * part / sums[place]
            for pair in group
            for place, part in shares[pair].items()
            if sums[place] > 0  # of a process too short to know the rate of its clock
        )
        for group in ranked
    ]
    scale = sum(usual.values()) / (sum(of_phases) or 1.0)
    return [
        ({pair: pairs[pair] for pair in group}, own * scale)
        for group, own in zip(ranked, of_phases)
    ]


@dataclass(frozen=True)
class Saved:
    """Seconds that the second way saves, of all that the program copies. `errors`: by pair of
    periods, what that contributes to the error."""

    seconds: float
    errors: Mapping[Pair, float]


def saved(
    phases: Sequence[Phase], seconds: float, part: float, fewest: int = _FEWEST
) -> Saved | None:
    """`seconds`: of the whole program, this part of them under the second way, in threads that copy
    or do not. Fewer pairs give no interval."""
    pairs = {pair: both for own, _ in phases for pair, both in own.items()}
    if len(pairs) < fewest:
        return None
    beyond = _beyond(pairs)
    found = [_of_phase(*phase, as_usual=beyond is not None) for phase in phases]
    copying, difference = (sum(one[i] for one in found) for i in range(2))
    most = seconds / (1 - difference / copying * (part - 0.5))  # as if half of it were under each
    scale = most / copying if copying > _NEARLY * most else 1.0  # the rest is chance
    errors = {}
    for _, _, own_scale, own_errors in found:
        mean = sum(beyond[pair] for pair in own_errors) / len(own_errors) if beyond else 0.0
        for pair, error in own_errors.items():
            errors[pair] = scale * error
            if beyond:  # as chance, it is also what the program's time differs by
                part_saved = scale * difference / seconds
                errors[pair] -= part_saved * scale * own_scale * (beyond[pair] - mean)
    return Saved(scale * difference, errors)


def _of_phase(
    pairs: Pairs, usual: float, as_usual: bool
) -> tuple[float, float, float, dict[Pair, float]]:
    """Seconds of its calls in the whole program, those saved, what a pair's count for in these, and
    by pair what it contributes to their error."""
    # Each pair has its own level, whatever the program does then, and both of it share that.
    weights, differences, calls = {}, {}, 0.0
    for pair, (first, second) in pairs.items():
        rates = [(one.within if as_usual else one.seconds) / one.usual for one in (first, second)]
        # alike for both ways, as what takes longer has fewer calls in a period
        level, own = sum(rates) / 2, _in_both(first, second)
        differences[pair] = (rates[0] - rates[1]) / level
        # what both took, but where one of them was held up for long between two calls
        weights[pair] = own * min(level, _HELD_UP * min(rates))
        calls += own
    differences, cut = _clipped(differences, weights)
    whole = sum(weights.values())
    difference = sum(weights[pair] * differences[pair] for pair in weights) / whole
    of_threads = usual * whole / calls
    scale = of_threads / (whole - cut)  # as of Huber's estimator (1964)
    errors = {  # what leaving the pair out moves: a heavy one has pulled the mean to itself
        pair: scale * weight * (differences[pair] - difference) / (1 - weight / whole)
        for pair, weight in weights.items()
    }
    return of_threads, of_threads * difference, scale, errors


def _in_both(first: Period, second: Period) -> float:
    """What both have: a difference is known no better than by the shorter of them."""
    return 2 / (1 / first.usual + 1 / second.usual)


def _beyond(pairs: Pairs) -> Mapping[Pair, float] | None:
    """By pair, what the longest intervals have beyond usual ones; None where that is much of the
    time, or where either way plainly has more of it: else it is chance, which blurs what both take.
    A period has some times what is usual there at most: no way of a copy makes a phase longer in
    which the program hardly copies."""
    within, beyond, differences = 0.0, {}, []
    for pair, (first, second) in pairs.items():
        own = _in_both(first, second)
        rates = [one.within / one.usual for one in (first, second)]
        more = [
            max(0.0, min(one.seconds / one.usual - rate, _HELD_UP * rate))
            for one, rate in zip((first, second), rates)
        ]
        within += own * sum(rates) / 2
        beyond[pair] = own * sum(more) / 2
        differences.append(own * (more[0] - more[1]) / 2)
    out = sum(beyond.values())
    if out > MOST_LEFT_OUT * (within + out):
        return None
    plainly = max(NEGLIGIBLE * (within + out), _SURELY * math.hypot(*differences))
    return beyond if abs(sum(differences)) < plainly else None


def _clipped(
    differences: Mapping[Pair, float], weights: Mapping[Pair, float]
) -> tuple[Mapping[Pair, float], float]:
    """Those far from most are of pairs whose periods did something else each, in one direction as
    often as in the other, as the order is drawn. Where that is not so, they are the ways' doing.
    And the weight of those that were cut to what is far."""
    middle = _weighted_median((one, weights[pair]) for pair, one in differences.items())
    reach = _FAR * _weighted_median(
        (abs(one - middle), weights[pair]) for pair, one in differences.items()
    )
    kept = {pair: max(middle - reach, min(middle + reach, d)) for pair, d in differences.items()}
    cut = {pair: weights[pair] * (d - kept[pair]) for pair, d in differences.items()}
    if abs(sum(cut.values())) > _SURELY * math.hypot(*cut.values()):
        return differences, 0.0
    return kept, sum(weights[pair] for pair, one in cut.items() if one)


def _weighted_median(values: Iterable[tuple[float, float]]) -> float:
    ranked = sorted(values)
    left = sum(weight for _, weight in ranked) / 2
    for value, weight in ranked:
        left -= weight
        if left <= 0:
            return value
    return ranked[-1][0]


def gain(found: Saved | None, seconds: float, part: float) -> Estimate | None:
    """How much faster a program that ran so long is under the second way than under the first,
    0.1 for 10 %; of its time so much was under the second, and the rest under the first."""
    if found is None or seconds <= 0:
        return None
    by_pairs = _reach(found.errors.values(), len(found.errors))
    reach = _WIDER * max(by_pairs, _reach_of_processes(found.errors))

    def faster(by: float) -> float:
        by = max(-0.95 * seconds / part, min(0.95 * seconds / (1 - part), by))
        return (seconds + part * by) / (seconds - (1 - part) * by) - 1

    return Estimate(*map(faster, (found.seconds, found.seconds - reach, found.seconds + reach)))


def _reach(errors: Collection[float], count: float) -> float:
    """The factor of the 95 % interval of so many independent errors."""
    return t_quantile(0.975, count - 1) * math.hypot(*errors)


def _reach_of_processes(errors: Mapping[Pair, float]) -> float:
    """As if all pairs of a process had the same error: where its memory lies may be its luck. 0
    where processes do not differ by plainly more than their pairs do, where they are too few, or
    where fewer count, as pairs are of one of them for the most part."""
    sums, pairs = Counter[str](), Counter[str]()
    for pair, error in errors.items():
        sums[pair.process] += error
        pairs[pair.process] += 1
    count = len(errors) ** 2 / sum(number**2 for number in pairs.values())
    if count < _FEWEST_PROCESSES:
        return 0.0
    spread = math.sqrt(count / (count - 1))
    if (spread * math.hypot(*sums.values())) ** 2 < _DIFFERING * math.hypot(*errors.values()) ** 2:
        return 0.0
    return spread * _reach(sums.values(), count)
