"""The result of a trial: how much faster the program is, and which way is best at each place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from . import blocks, pairs, statistics
from .blocks import LIBC, LIBC_AGAIN, ROUTINE, Block, Observed, Pair, Place, Seen
from .possible import Possible, possible_of
from .statistics import NO_TRIMMING, Cells, Estimate, Trimming, cells_of, mean_of, ratio, trimming

# Each of these keeps the library from counting all copies, for an unknown time.
_UNCOUNTED = {blocks.NO_WAY, blocks.THREADS_FULL, blocks.UNSEEN}
# A place does not matter if its calls themselves take less than this part of the CPU time.
MATTERS = 0.01
MOST_UNJUDGED = 0.1  # of the CPU time: above it, nothing is said of the whole program
SAME = 0.01  # a smaller difference is not noticed
NARROW = 0.01  # no more of the trial is needed for what is known so closely
# With these chances, luck may make a way seem better than the routine, or the routine faster or
# slower than libc: at one place, and at any of the places. The stricter one decides.
_BY_LUCK, _ANY_BY_LUCK = 0.01, 0.05
FEW = 30  # cycles
_DOUBTED = 2.0  # where libc differs from itself, a way has to differ so many times as much
_MUCH_MORE = 10  # a place that needs so many times the trial is not told by a longer one
_MOST_MEANS = 500  # of a place: enough to see whether they have two modes

Shares = Mapping[str, float]  # of the CPU time, by way


@dataclass(frozen=True)
class PlaceFound:
    """`ratios`: libc's time over each way's, from a call to the next one of this place. `gained`:
    the part of the CPU time with libc that the routine saves here (a loss is below 0). `best`: the
    way that is surely better there than the routine, else the routine; None: not known."""

    place: Place
    calls: int
    cycles: int
    share: float  # of the CPU time with libc, from a call to the next one of this place
    ratios: Mapping[str, Estimate] = field(default_factory=dict)
    gained: Estimate | None = None
    best: str | None = None
    saves: float = 0.0  # seconds of a call that the best way surely saves, beside the routine
    left_out: float = 0.0  # of its time, in the longest intervals
    steady: bool = True  # False: libc differs from itself here, and only far more is sure
    trimmed: bool = True  # False: some way had more of the longest intervals than its share
    left_early: Sequence[str] = ()  # ways that were plainly slower: few calls took them
    surely: int = 0  # 1: faster under the routine, sure even if all places are judged; -1: slower
    drifts: Sequence[str] = ()  # ways whose effect changes with the number of calls in a row
    means: Sequence[float] = ()  # seconds of a call under the routine, in some of the blocks
    takes: float | None = None  # part of the CPU time that its calls take themselves, at most
    possible: bool = True  # False: more was found than its calls can bring, and nothing is sure

    @property
    def matters(self) -> bool:
        return self.taken >= MATTERS

    @property
    def taken(self) -> float:
        """The part of the CPU time that its calls take, if that is known; else `share`."""
        return self.share if self.takes is None else self.takes

    @property
    def brings(self) -> Estimate | None:
        """The part of `gained` that is believed."""
        return self.gained if self.possible else None

    @property
    def is_shown(self) -> bool:
        """Whether tables and pictures have it. They leave out places that were tried too seldom or
        do not matter, unless another way or the routine surely makes a difference there."""
        brings = self.gained is None or abs(self.gained.value) >= statistics.LITTLE
        has_other = self.matters and self.best not in (None, ROUTINE)
        sure = self.possible and (has_other or (self.surely != 0 and brings))
        return bool(self.ratios) and (sure or (self.matters and self.cycles >= FEW))

    @property
    def is_known(self) -> bool:
        """Whether its own ratio or the program's gain there is known to 1 %. Small copies are
        judged only all together."""
        of_routine = self.ratios.get(ROUTINE)
        if not self.place.is_own or (of_routine is not None and of_routine.within(NARROW)):
            return True
        return self.gained is not None and self.gained.high - self.gained.low <= 2 * NARROW


@dataclass(frozen=True)
class Found:
    gain: Estimate | None = None  # of the whole program by CPU time: 0.1 for 10 % faster
    places: Sequence[PlaceFound] = ()  # those that bring most come first
    wall_gain: Estimate | None = None  # by the clock, where nothing else kept it from running
    map_gain: Estimate | None = None  # as gain, with the library that has a map
    has_map: bool = False
    unjudged: float = 0.0  # part of the CPU time in calls as long as periods, or seen by no pair
    short: float = 0.0  # part of it in processes that are too short, and too few
    possible: Possible | None = None  # the bounds of all gains; None: not measured
    all_seen: bool = True  # False: most CPU time was in processes without the library
    restricted: float = 0.0  # part of all in processes that restricted their system calls
    untimed: int = 0  # processes that were not tried, for an unknown time
    uncounted: bool = False  # whether copies were not counted, for an unknown time

    @property
    def not_judged(self) -> float:
        """The share of the CPU time that was not judged, for any of these reasons."""
        return self.unjudged + self.short + self.restricted

    @property
    def deciding(self) -> Estimate | None:
        """The gain of the library to take."""
        return self.map_gain if self.has_map and not self.is_map_worse else self.gain

    @property
    def is_map_worse(self) -> bool:
        """Whether the map is not taken, as the routine alone is surely faster."""
        beside = self.gain_over_routine
        return beside is not None and beside.high < 0

    def _holds(self, gain: Estimate | None) -> bool:
        return gain is None or self.possible is None or self.possible.holds(gain)

    @property
    def is_possible(self) -> bool:
        return self._holds(self.deciding)

    @property
    def is_told(self) -> bool:
        """Whether anything can be said of the whole program."""
        return self.why_untold(self.deciding) is None

    def why_untold(self, gain: Estimate | None) -> str | None:
        """Says why this gain of the whole program cannot be told; None: it can."""
        if not self.all_seen:
            return "most of its CPU time was taken by processes without the library"
        if self.untimed:
            many = "a process that restricts" if self.untimed == 1 else "processes that restrict"
            return f"the time of {many} system calls is not known"
        if self.possible is not None and not self._holds(gain):
            return (
                "the trial shows a larger difference than all of its copies can make, as they take "
                f"at most {at_most(self.possible.share)} % of its CPU time"
            )
        if self.not_judged > MOST_UNJUDGED and not self.is_negligible:
            return f"{self.not_judged_words} were not judged"
        if self.uncounted and gain is not None and gain.side:
            return "not all of its copies were counted, so their effect has no known bound"
        if gain is None:
            return "too little of it was seen"
        if gain.low > 0 or gain.high < 0 or gain.reach <= SAME:
            return None
        return f"it is something between {_one_end(gain.low)} and {_one_end(gain.high)}"

    @property
    def not_judged_words(self) -> str:
        parts = [
            f"{what}, {100 * part:.0f} % of its CPU time,"
            for what, part in (
                ("calls as long as the trial's periods", self.unjudged),
                ("processes too short and too few", self.short),
                ("processes that restricted their system calls, or were not seen", self.restricted),
            )
            if part > MATTERS
        ]
        return " and ".join(parts)

    @property
    def is_negligible(self) -> bool:
        """Whether the copies take so little that no way of making them can be felt."""
        return self.possible is not None and Estimate(0.0, *self.possible.gain).reach <= SAME

    @property
    def is_hopeless(self) -> bool:
        """Whether too little was seen to say anything, after many runs."""
        return self.gain is None and self.short <= MOST_UNJUDGED

    @property
    def shown(self) -> list[PlaceFound]:
        """The places for tables and pictures, which have room for the first ones."""
        return [one for one in self.places if one.is_shown]

    @property
    def unjudged_places(self) -> list[PlaceFound]:
        """The places that matter and stand in no table."""
        return [one for one in self.places if one.matters and not one.is_shown]

    @property
    def has_too_few_calls(self) -> bool:
        """Whether much of the CPU time is at places that a trial ten times as long would not tell.
        Each call takes long there, and a process ends before all ways had some."""
        return any(
            one.place.is_own and _MUCH_MORE * one.cycles < FEW and (one.takes or 0) > MOST_UNJUDGED
            for one in self.unjudged_places
        )

    @property
    def is_known(self) -> bool:
        """Whether more of the trial would tell no more."""
        gains = [self.gain, self.map_gain] if self.has_map else [self.gain]
        is_wide = any(one is None or one.high - one.low > 2 * NARROW for one in gains)
        if is_wide or not self.is_told:
            return False
        return self.has_map or all(one.is_known for one in self.places if one.matters)

    @property
    def gain_over_routine(self) -> Estimate | None:
        """How much faster the program is with the map than with the routine alone."""
        one, other = self.map_gain, self.gain
        if one is None or other is None:
            return None
        times = (1 + one.value) / (1 + other.value)
        parts = ((of.high - of.low) / (1 + of.value) for of in (one, other))
        reach = times * math.hypot(*parts) / 2
        return Estimate(times - 1, times - 1 - reach, times - 1 + reach)

    @property
    def slower(self) -> list[PlaceFound]:
        """Places where the routine surely loses to libc."""
        return [one for one in self.shown if one.possible and one.surely < 0]


def at_most(part: float) -> str:
    """In percent, rounded upwards."""
    return f"{max(1, math.ceil(1000 * part - 1e-9)) / 10:.1f}"


def _one_end(gain: float) -> str:
    return f"{100 * abs(gain):.1f} % {'slower' if gain < 0 else 'faster'}"


def findings(observed: Observed, ways: Sequence[str], map_way: str | None = None) -> Found:
    """`ways`: libc, libc again, the routine and others. `map_way`: the one that all places take
    only together."""
    all_cells = {place: _cells(seen.cycles) for place, seen in observed.places.items()}
    explored = sum(_explored(seen, all_cells[place][1]) for place, seen in observed.places.items())
    seconds = max(0.0, observed.cpu_seconds - explored)
    parts = _parts(observed, map_way)
    by_chance = pairs.chance_of_short(observed)
    seconds -= by_chance
    uncounted = bool(observed.limits & _UNCOUNTED)
    possible = {} if uncounted else possible_of(observed, seconds, observed.restricted)
    # Short processes that did not take one way as a whole have too few pairs of periods.
    too_few = {one.name for one in observed.lived if one.is_short and one.way is None}

    def kept(by_pair: Mapping[Pair, list]) -> dict[Pair, list]:
        return {pair: own for pair, own in by_pair.items() if pair.process not in too_few}

    observed = replace(
        observed,
        together=kept(observed.together),
        places={p: replace(s, together=kept(s.together)) for p, s in observed.places.items()},
    )
    levels, long = pairs.levels_of(observed)
    lived = sum(one.seconds for one in observed.lived) or observed.cpu_seconds
    of_copying = seconds - max(0.0, observed.cpu_seconds - lived) - long
    alike = _alike(observed, parts, map_way, explored)
    together, unknown = _together(observed, levels, parts, alike, of_copying)

    def gain_of(way: str, seconds: float) -> Estimate | None:
        """Adds the time that the program's other way (map or routine) has saved, as if libc had run
        then. The time that was not judged may save nothing, or as much as the rest."""
        others = [saved for other, saved in together.items() if saved and other != way]
        seconds += sum(saved.part * saved.seconds for saved in others)
        either = (pairs.gain(together[way], seconds - one) for one in (0.0, long + unknown))
        known = [one for one in either if one is not None]
        if not known:
            return None
        ends = (min(one.low for one in known), max(one.high for one in known))
        return Estimate(known[0].value, *ends)

    count = sum(len(seen.cycles) >= FEW for seen in observed.places.values())
    by_luck = min(_BY_LUCK, _ANY_BY_LUCK / max(1, count))
    part = sum(parts.values())
    places = [
        _of_place(place, seen, all_cells[place], seconds, part, ways, by_luck, possible.get(place))
        for place, seen in observed.places.items()
    ]
    places.sort(
        key=lambda one: (abs(one.brings.value) if one.brings else 0.0, one.share), reverse=True
    )
    unjudged, short = (min(1.0, one / seconds) if seconds > 0 else 0.0 for one in (long, unknown))
    found = Found(
        gain_of(ROUTINE, seconds),
        places,
        wall_gain=gain_of(ROUTINE, observed.wall_seconds - explored - by_chance),
        map_gain=None if map_way is None else gain_of(map_way, seconds),
        has_map=map_way is not None,
        unjudged=unjudged,
        short=short,
        possible=possible.get(None),
        all_seen=blocks.UNSEEN not in observed.limits,
        restricted=observed.restricted / max(1e-9, seconds + observed.restricted),
        untimed=observed.untimed,
        uncounted=uncounted,
    )
    if found.possible is None or not found.is_possible:
        return found  # an impossible gain is not cut, as no verdict uses it
    ends = found.possible.gain
    gains = {"gain": found.gain, "map_gain": found.map_gain, "wall_gain": found.wall_gain}
    if found.is_negligible:  # then a gain that is not known counts as 0
        known = Estimate(0.0, *ends)
        map_gain = (found.map_gain or known) if found.has_map else None
        gains = {"gain": found.gain or known, "map_gain": map_gain, "wall_gain": None}
    return replace(found, **{name: one and one.clipped(*ends) for name, one in gains.items()})


def _parts(observed: Observed, map_way: str | None) -> Shares:
    """Returns shares of the CPU time under the routine and the map, by way; the rest is libc's. In
    some pairs all places go together: by libc in one period, by the routine or the map in the
    other. These are half of the pairs, or seven of eight if a map is judged outside operation. In
    the others each place counts half for libc, half for the routine, see _explored(). So does a
    process that took one way, see pairs.chance_of_short()."""
    seconds = max(observed.cpu_seconds, 1e-9)
    easy = observed.easy_libcs + observed.easy_others
    tried = 1 - easy / seconds
    if map_way is None:
        return {ROUTINE: tried / 2 + observed.easy_others / seconds}
    of_one_way = sum(one.seconds for one in observed.lived if one.way is not None)
    of_map = max(0.0, tried - of_one_way / seconds) * (1 / 8 if easy else 7 / 32)
    return {ROUTINE: tried / 2 - of_map, map_way: of_map + observed.easy_others / seconds}


def _alike(observed: Observed, ways: Shares, map_way: str | None, explored: float) -> Shares:
    """By way, the share of the CPU time in which libc and this way did equally much of the work.
    For the routine, places change their ways by themselves then, or processes are short. See
    pairs.chance_of_short(). The map has no such time."""
    seconds = observed.cpu_seconds
    short = pairs.seconds_of_short(observed)
    easy = observed.easy_libcs + observed.easy_others
    periods = max(0.0, seconds - easy - short)
    by_place = max(0.0, periods * (1 / 2 if map_way is None or easy else 1 / 8) - explored)
    alike = min(1.0, (short + by_place) / max(1e-9, seconds - explored))
    return {way: alike * (way != map_way) for way in ways}


def _together(
    observed: Observed, levels: Mapping[Place, float], parts: Shares, alike: Shares, seconds: float
) -> tuple[dict[str, pairs.Saved | None], float]:
    """Returns the savings by way, from pairs of periods and of short processes. Second, the CPU
    time of short processes that have too few pairs of the last way, which decides. `seconds`: of
    all processes that copy."""
    of_ways = {
        way: (pairs.phases_of(observed, way, levels), pairs.of_short(observed, way))
        for way in parts
    }
    found: dict[str, pairs.Saved | None] = {}
    for way in [*parts] * len(parts):  # again if there are two, as each asks for the other's ratio
        (phases, few), (of_short, unknown) = of_ways[way]
        fewest = pairs.FEWEST if phases else pairs.FEWEST_PROCESSES
        more = 1 + sum(
            one.more_by_libc(parts[other], alike[other])
            for other, one in found.items()
            if one and other != way
        )
        own = (seconds - unknown) * more, parts[way] / more, alike[way] / more
        found[way] = pairs.saved([*phases, *of_short], *own, few, fewest)
        if found[way] is None:  # too few pairs in all: more processes would make more
            unknown = pairs.seconds_of_short(observed)
    return found, unknown


def _cells(cycles: Sequence[Sequence[Block]]) -> tuple[Trimming, Cells]:
    trim = trimming(cycles)
    return trim, cells_of(cycles, trim)


def _explored(seen: Seen, cells: Cells) -> float:
    """The seconds that other ways took beyond those that libc and the routine would have taken."""
    cells = [one for one in cells if LIBC in one and ROUTINE in one]
    if not cells:
        return 0.0
    of_two = sum(one[LIBC].seconds + one[ROUTINE].seconds for one in cells) / (2 * len(cells))
    every = [cell.seconds for one in cells for cell in one.values()]
    return seen.own_calls * (sum(every) / len(every) - of_two)


def _of_place(
    place: Place,
    seen: Seen,
    of_all: tuple[Trimming, Cells],
    seconds: float,
    part: float,
    ways: Sequence[str],
    by_luck: float,
    possible: Possible | None,
) -> PlaceFound:
    """`of_all`: for all cycles. `part`: the share of the program's seconds not under libc."""
    # The slowest ways spoil the caches for the others. The cycles after these have left count, if
    # they are not too few.
    late = [cycle for cycle in seen.cycles if all(block.way not in seen.left for block in cycle)]
    racing = late if FEW <= len(late) < len(seen.cycles) else seen.cycles
    stayed = [way for way in ways if way not in seen.left]
    trim, cells = of_all if racing is seen.cycles else _cells(racing)
    if not trim.is_fair:
        cells = cells_of(racing, NO_TRIMMING)
    found = {w: ratio(cells if w in stayed else of_all[1], LIBC, w) for w in ways if w != LIBC}
    ratios = {way: one for way, one in found.items() if one is not None}
    floor = ratio(cells, LIBC, LIBC_AGAIN, 1 - by_luck)
    steady, doubt = floor is None or floor.low <= 1 <= floor.high, 0.0
    if floor is not None and not steady:
        doubt = _DOUBTED * max(abs(math.log(floor.low)), abs(math.log(floor.high)))
    best, better = _best(cells, stayed, by_luck, doubt) if ROUTINE in ratios else (None, 1.0)
    sure = ratio(cells, LIBC, ROUTINE, 1 - by_luck, doubt)
    level, of_routine = mean_of(cells, LIBC), mean_of(cells, ROUTINE)
    share, gained = 0.0, None
    if level is not None and seconds > 0:
        # Calls that were tried count half under each, see _explored(). The others were under the
        # routine for `part` of the time.
        routine, others = of_routine or level, seen.calls - seen.own_calls
        copying = seen.own_calls * (level + routine) / 2
        copying += others / ((1 - part) / level + part / routine)
        rest = max(0.0, seconds - copying)
        share = seen.calls * level / (seen.calls * level + rest)
        if ROUTINE in ratios:
            gained = ratios[ROUTINE].each(lambda times: share * (1 - 1 / times))
    saves, is_possible = (of_routine or 0.0) * (1 - 1 / better), True
    surely = (sure.low > 1) - (sure.high < 1) if sure else 0
    if possible is not None:  # no place brings more than all of its calls take
        believed = gained and gained.clipped(-possible.loss, possible.share)
        if surely and gained and believed and believed.value != gained.value:
            is_possible, best, saves = False, None, 0.0
        gained = believed
        count, of_calls = seen.measured.get(ROUTINE, (0, 0.0))
        saves = min(saves, of_calls / count) if count else saves
    return PlaceFound(
        *(place, seen.calls, len(seen.cycles), share, ratios, gained, best, saves),
        left_out=trim.time_share,
        steady=steady,
        trimmed=trim.is_fair,
        left_early=[way for way in ratios if way not in stayed],
        surely=surely,
        drifts=_drifting(racing, trim, [way for way in ratios if way in stayed]),
        means=[c[ROUTINE].seconds for c in cells[:: 1 + len(cells) // _MOST_MEANS] if ROUTINE in c],
        takes=possible and possible.share,
        possible=is_possible,
    )


def _best(
    cells: Cells, ways: Sequence[str], by_luck: float, doubt: float
) -> tuple[str | None, float]:
    """The fastest way that is surely better than the routine, and how many times as fast it surely
    is. If libc is better, too, another way must surely beat it. The chance of an error is divided
    among the ways (Bonferroni). `doubt`: see ratio()."""
    others = [way for way in ways if way not in (ROUTINE, LIBC_AGAIN)]
    confidence = 1 - by_luck / max(1, len(others))
    found = {way: ratio(cells, ROUTINE, way, confidence, doubt) for way in others}
    better = {way: one for way, one in found.items() if one is not None and one.low > 1}
    if not better:
        return None if doubt else ROUTINE, 1.0
    best = max(better, key=lambda way: better[way].value)
    if LIBC in better and best != LIBC:
        over_libc = ratio(cells, LIBC, best, confidence, doubt)
        if over_libc is not None and over_libc.low <= 1:
            best = LIBC
    return best, better[best].low


def _drifting(cycles: Sequence[Sequence[Block]], trim: Trimming, ways: Sequence[str]) -> list[str]:
    """The ways whose first calls of a block differ from its later ones: the first ones find the
    state that the way before left behind."""
    if not trim.is_fair:
        return []
    early = cells_of(cycles, trim, slice(0, 2))
    late = cells_of(cycles, trim, slice(2, None))
    found = []
    for way in ways:
        first, then = ratio(early, LIBC, way), ratio(late, LIBC, way)
        changes = first and then and abs(first.value / then.value - 1) > NARROW
        if changes and statistics.differs(first, then):
            found.append(way)
    return found
