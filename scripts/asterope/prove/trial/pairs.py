"""The time that the second way (routine or map) saves against the first (libc), from pairs of
periods. Processes that are too short for periods make pairs themselves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from .blocks import LIBC, ROUTINE, Lived, Observed, Pair, Place, Seen, Spent
from .possible import seconds_of_call
from .statistics import MOST_LEFT_OUT, NEGLIGIBLE, Estimate, t_quantile

# The fewest pairs that give an interval, and that make a phase: means of fewer are not yet normal.
FEWEST, FEWEST_OF_PHASE = 20, 10
# The fewest pairs of processes that give an interval. The time of a process is the sum of many, so
# it is near to normal.
FEWEST_PROCESSES = 6
# A pair is far if its difference is six median distances from the median. A sum beyond three
# standard errors is not chance.
_FAR, _SURELY = 6.0, 3.0
# If the judged time exceeds 95 % of the program's, it counts as all. From 75 % on, the interval
# holds both cases: the rest may be the trial's own work.
_NEARLY, _PERHAPS = 0.95, 0.75
# A delay may lengthen one period. So a pair's weight is at most four times that of its shorter
# period.
_HELD_UP = 4.0
# A saving is known to this part of it at best, as phases are few and rough. Pairs too few for a
# phase, as at a program's start, may save nothing or twice as much.
_SAVING_KNOWN = 0.01
# No way takes or saves more than this share of the time.
_MOST = 0.9999
# The fewest processes that give an interval. Processes differ if their variance is this many times
# the one that their pairs tell. Below that, intervals by pairs hold the truth in 93 cases of 100.
_FEWEST_PROCESSES, _DIFFERING = 4, 1.5
# Cutting far pairs makes intervals too narrow: they hold the truth in 93 of 100 cases. So they are
# widened.
_WIDER = 1.1


@dataclass(frozen=True)
class Period:
    """One period of a pair: the copying threads' time under one way, in three measures."""

    seconds: float  # CPU time
    within: float  # the same, with the longest intervals counted as usual ones
    usual: float  # the time of its calls at their places' usual levels


Pairs = Mapping[Pair, tuple[Period, Period]]
Phase = tuple[Pairs, float]


def phases(
    pairs: Pairs, shares: Mapping[Pair, Mapping[Place, float]], usual: Mapping[Place, float]
) -> tuple[list[Phase], float]:
    """Groups the pairs by the place that copied most. Groups too small for a phase share the last
    one; second, their part of the time. A phase's weight is the usual time of its calls in the
    whole program, since its number of pairs is luck. `shares`: by pair and place, the usual time of
    the calls. `usual`: by place, that of the whole program."""
    groups: dict[Place, list[Pair]] = {}
    sums = Counter[Place]()
    for pair in pairs:
        groups.setdefault(max(shares[pair], key=shares[pair].__getitem__), []).append(pair)
        sums.update(shares[pair])

    def time_of(group: Iterable[Pair]) -> float:
        return sum(
            usual[place] * part / sums[place]
            for pair in group
            for place, part in shares[pair].items()
            if sums[place] > 0  # of a process too short to know the rate of its clock
        )

    ranked = sorted(groups.values(), key=len, reverse=True)
    own = [group for group in ranked if len(group) >= FEWEST_OF_PHASE]
    rest = [pair for group in ranked[len(own) :] for pair in group]
    total = time_of(pairs) or 1.0
    few = time_of(rest) / total
    if own and len(rest) < FEWEST_OF_PHASE:
        rest += own.pop()
    scale = sum(usual.values()) / total
    found = [({pair: pairs[pair] for pair in g}, time_of(g) * scale) for g in [*own, rest]]
    return found, few


def levels_of(observed: Observed) -> tuple[dict[Place, float], float]:
    """Returns the usual seconds of a call, by place. Also returns the time of places whose calls
    each fill a period, or that no pair saw: two periods cannot compare them."""
    levels, long = {}, 0.0
    for place, seen in observed.places.items():
        blocks = [block for pair in seen.together.values() for block in pair]
        level = median([fmean(block.seconds) for block in blocks]) if blocks else 0.0
        if not level > 0:  # no pair saw it, or too short processes cannot tell their rates
            long += seconds_of_call(place, seen) * max(0, seen.calls - seen.short_calls)
        elif _fill_periods(seen, level, observed.together):
            long += level * seen.calls
        else:
            levels[place] = level
    return levels, long


def _fill_periods(seen: Seen, level: float, together: Mapping[Pair, Sequence[Spent]]) -> bool:
    """Whether a single such call is most of a period, in most periods that have any."""
    filled = []
    for pair, blocks in seen.together.items():
        periods = together.get(pair, ())
        for way in {block.way for block in blocks}:
            calls = sum(block.calls for block in blocks if block.way == way)
            length = sum(spent.seconds for spent in periods if spent.way == way)
            # the shortest: others may have waited for the CPU
            shortest = min(min(block.seconds) for block in blocks if block.way == way)
            filled.append(calls == 1 and min(level, shortest) > length / 2)
    return sum(filled) > len(filled) / 2


def phases_of(
    observed: Observed, way: str, levels: Mapping[Place, float]
) -> tuple[Sequence[Phase], float]:
    """Returns the phases of pairs that had libc and this way; see phases()."""
    usual = Counter[tuple[Pair, str]]()
    shares: dict[Pair, Counter[Place]] = {}
    left_out, pairs = set(), {}
    for place, seen in observed.places.items():
        if place not in levels:
            left_out |= seen.together.keys()
            continue
        for pair, blocks in seen.together.items():
            own = shares.setdefault(pair, Counter())
            for block in blocks:
                usual[pair, block.way] += levels[place] * block.calls
                own[place] += levels[place] * block.calls
    for pair, threads in observed.together.items():
        if pair in left_out:
            continue
        both = [
            Period(
                sum(spent.seconds for spent in threads if spent.way == one),
                sum(spent.within for spent in threads if spent.way == one),
                usual[pair, one],
            )
            for one in (LIBC, way)
        ]
        if not all(spent.within > 0 for spent in threads):  # not known, as in a new phase
            both = [replace(one, within=one.seconds) for one in both]
        if all(one.seconds > 0 and one.usual > 0 for one in both):
            pairs[pair] = (both[0], both[1])
    calls = _calls_that_count(observed)
    of_program = {place: calls[place] * level for place, level in levels.items()}
    return phases(pairs, shares, of_program) if pairs else ([], 0.0)


def _calls_that_count(observed: Observed) -> dict[Place, float]:
    """The calls of each place, in processes that have periods. Where calls were timed in groups,
    the first one stands for its group, whose other calls may be of any place. So each place gets
    its share of the counted calls."""
    calls = {place: float(seen.calls - seen.short_calls) for place, seen in observed.places.items()}
    counted = {
        place: sum(block.calls for pair in seen.together.values() for block in pair)
        for place, seen in observed.places.items()
        if any(block.gap > 1 for pair in seen.together.values() for block in pair)
    }
    scale = sum(calls[place] for place in counted) / max(1, sum(counted.values()))
    return {**calls, **{place: scale * count for place, count in counted.items()}}


@dataclass(frozen=True)
class Saved:
    """`seconds`: libc's time for all of the work, less the second way's time for it. `ratio`:
    libc's time over the way's. `part`: the part of the work that the second way did. `few`: the
    part of the saving that may be different, see phases(). `times`: so many times as much may be
    saved. `errors`: by pair of periods, its part of the error."""

    seconds: float
    ratio: float
    part: float
    few: float
    times: float
    errors: Mapping[Pair, float]

    def more_by_libc(self, part: float, alike: float) -> float:
        """The time that libc would have taken more for the second way's work, as a part of all
        time. `part` and `alike`: as of saved()."""
        return (max(0.0, part - alike / 2) + alike / (1 + self.ratio)) * (self.ratio - 1)


def saved(
    phases: Sequence[Phase],
    seconds: float,
    part: float,
    alike: float,
    few: float,
    fewest: int,
) -> Saved | None:
    """`seconds`: the CPU time of all threads of processes that copy, `part` of it under the second
    way. `alike`: the part of it in which the ways did equally much. `few`: see phases(). None if
    there are fewer than `fewest` pairs."""
    pairs = {pair: both for own, _ in phases for pair, both in own.items()}
    if len(pairs) < fewest:
        return None
    beyond = _beyond(pairs)
    found = [_of_phase(*phase, as_usual=beyond is not None) for phase in phases]
    copying, difference = (sum(one[i] for one in found) for i in range(2))
    more = max(-_MOST, min(_MOST, difference / copying / 2))
    ratio = (1 + more) / (1 - more)
    # the work of each way, in seconds of libc: in the time that is alike, and in the rest
    of_both = alike / (1 + 1 / ratio)
    first, second = max(0.0, 1 - part - alike / 2), max(0.0, part - alike / 2) * ratio
    part = (second + of_both) / (first + second + 2 * of_both)
    most = seconds / (1 - difference / copying * (part - 0.5))  # as if half of it were under each
    scale = most / copying if copying > _NEARLY * most else 1.0  # the rest is chance
    out = sum(own * beyond[pair] for _, _, own, of in found for pair in of) if beyond else 0.0
    seen = copying + out
    times = most / seen if _PERHAPS * most < seen <= _NEARLY * most else 1.0
    errors = {}
    for _, _, own_scale, own_errors in found:
        mean = sum(beyond[pair] for pair in own_errors) / len(own_errors) if beyond else 0.0
        for pair, error in own_errors.items():
            errors[pair] = scale * error
            if beyond:  # as it is chance, the program's time differs by it, too
                part_saved = scale * difference / seconds
                errors[pair] -= part_saved * scale * own_scale * (beyond[pair] - mean)
    return Saved(scale * difference, ratio, part, few, times, errors)


def _of_phase(
    pairs: Pairs, usual: float, as_usual: bool
) -> tuple[float, float, float, dict[Pair, float]]:
    """Returns four figures: the seconds of its calls in the whole program; the seconds saved; the
    factor from a pair's seconds to these; by pair, its part of their error."""
    weights, differences = {}, {}
    # alike for both ways, as a slower one has fewer calls in a period
    calls = {pair: _in_both(*both) for pair, both in pairs.items()}
    rates = {
        pair: [(one.within if as_usual else one.seconds) / one.usual for one in both]
        for pair, both in pairs.items()
    }
    times = _weighted_median((second / first, calls[p]) for p, (first, second) in rates.items())
    for pair, (first, second) in rates.items():
        level = (first + second) / 2  # of both periods, as the program does the same work in them
        differences[pair] = (first - second) / level
        # the time of both; less if one was held up for long between two calls
        likely = min(first * (1 + times), second * (1 + 1 / times)) / 2
        weights[pair] = calls[pair] * min(level, _HELD_UP * likely)
    differences, cut = _clipped(differences, weights)
    total = sum(weights.values())
    difference = sum(weights[pair] * differences[pair] for pair in weights) / total
    of_threads = usual * total / sum(calls.values())
    scale = of_threads / (total - cut)  # as of Huber's estimator (1964)
    errors = {  # the change without the pair: a heavy one has pulled the mean to itself
        pair: scale * weight * (differences[pair] - difference) / (1 - weight / total)
        for pair, weight in weights.items()
    }
    return of_threads, of_threads * difference, scale, errors


def _in_both(first: Period, second: Period) -> float:
    """The harmonic mean of their usual seconds, as the shorter one limits the knowledge of a
    difference."""
    return 2 / (1 / first.usual + 1 / second.usual)


def _beyond(pairs: Pairs) -> Mapping[Pair, float] | None:
    """By pair, the time by which the longest intervals exceed usual ones. None if that is much of
    the time, or if one way plainly has more of it. Otherwise it is chance, which blurs the times of
    both ways. A period's excess is cut at four times its usual time: if the program hardly copies,
    the excess is not the copies'."""
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
    """Returns the differences with far ones cut, and the weight of the latter. The periods of a far
    one did different work. As the order is drawn, both directions are equally likely. If one
    direction prevails, the ways cause it, and all differences stay."""
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


def gain(found: Saved | None, seconds: float) -> Estimate | None:
    """How much faster a program is under the second way than under the first, 0.1 for 10 %. It ran
    for `seconds`."""
    if found is None or seconds <= 0:
        return None
    part = max(1e-9, min(1 - 1e-9, found.part))
    by_pairs = _reach(found.errors.values(), len(found.errors))
    reach = _WIDER * max(by_pairs, _reach_of_processes(found.errors))
    reach += (_SAVING_KNOWN + found.few) * abs(found.seconds)

    def faster(by: float) -> float:
        by = max(-_MOST * seconds / part, min(_MOST * seconds / (1 - part), by))
        return (seconds + part * by) / (seconds - (1 - part) * by) - 1

    ends = sorted((found.seconds, found.seconds * found.times))
    return Estimate(*map(faster, (found.seconds, ends[0] - reach, ends[1] + reach)))


def _reach(errors: Collection[float], count: float) -> float:
    """Half the width of the 95 % interval of a sum of so many independent errors. If a few
    make most of it, they tell its size as badly as so few alone would (Satterthwaite 1946)."""
    squares, fourth = (sum(error**power for error in errors) for power in (2, 4))
    freedom = min(count, 3 * squares**2 / fourth) - 1 if fourth else count - 1
    return t_quantile(0.975, freedom) * math.sqrt(squares)


def _reach_of_processes(errors: Mapping[Pair, float]) -> float:
    """The reach if all pairs of a process share one error, as the addresses of its memory are luck.
    0 if processes do not differ plainly more than their pairs do. Also 0 if they are too few, or if
    most pairs are of too few of them."""
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


# --- Short processes ---
# Each takes one way as a whole, or tries its places. Two of different ways, beside each other in
# time, make a pair: it compares their CPU times.


def seconds_of_short(observed: Observed) -> float:
    return sum(one.seconds for one in observed.lived if one.is_short)


def of_short(observed: Observed, way: str) -> tuple[list[Phase], float]:
    """Returns a phase for each kind of short processes. Second, the CPU time of the kinds that have
    too few pairs."""
    found, unknown = [], 0.0
    for short in _by_kind(observed):
        seconds = sum(one.seconds for one in short)
        pairs = _pairs(short, way)
        if len(pairs) < FEWEST_PROCESSES:
            unknown += seconds
        else:
            usual = next(iter(pairs.values()))[0].usual
            found.append((pairs, len(short) * usual))
    return found, unknown


def chance_of_short(observed: Observed) -> float:
    """The seconds that short processes took beyond an even draw of libc and the routine. Ways are
    drawn, so one has more of them by luck; and a map's library has some, too."""
    found = 0.0
    for short in _by_kind(observed):
        took = [[_since(one) for one in short if one.way == way] for way in (LIBC, ROUTINE)]
        if all(took):
            drawn = [_since(one) for one in short if one.way is not None]
            found += sum(drawn) - len(drawn) * fmean(map(fmean, took))
    return found


def _by_kind(observed: Observed) -> Iterable[list[Lived]]:
    kinds: dict[int, list[Lived]] = {}
    for one in observed.lived:
        if one.is_short:
            kinds.setdefault(one.kind, []).append(one)
    return kinds.values()


def _since(one: Lived) -> float:
    """Seconds from the trial's start on."""
    return one.seconds if one.cpu_since_start is None else one.cpu_since_start


def _pairs(lived: Iterable[Lived], way: str) -> dict[Pair, tuple[Period, Period]]:
    """Pairs processes that are beside each other in time."""
    ended = [one for one in lived if (one.cpu_since_start or 0) > 0 and one.way in (LIBC, way)]
    ended.sort(key=lambda one: one.started)
    took = [[_since(one) for one in ended if (one.way == LIBC) == is_libcs] for is_libcs in (0, 1)]
    if not all(took):
        return {}
    # A median of both ways would be a value of one of them.
    usual = fmean(map(fmean, took))
    waiting: list[Lived] = []
    pairs = {}
    for one in ended:
        if not waiting or waiting[0].way == one.way:
            waiting.append(one)
            continue
        both: Sequence[Lived] = sorted((waiting.pop(0), one), key=lambda own: own.way != LIBC)
        periods = [Period(_since(own), _since(own), usual) for own in both]
        pairs[Pair(both[0].name, 0)] = (periods[0], periods[1])
    return pairs
