"""What a trial found: how much faster the program is, and which way is best at each place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .blocks import LIBC, LIBC_AGAIN, ROUTINE, Block, Observed, Place, Seen
from .statistics import (
    NO_TRIMMING,
    Estimate,
    Saved,
    Trimming,
    cells_of,
    differs,
    gain,
    mean_of,
    ratio,
    saved,
    trimming,
)

# A place whose calls are followed by less of the program's time does not matter.
MATTERS = 0.01
KNOWN = 0.01
# Confidence of a choice: the best of several ways is flattered by luck, and a place keeps it.
_SURE = 0.99
FEW = 30  # cycles


@dataclass(frozen=True)
class PlaceFound:
    """`ratios`: libc's time over each way's, from a call to the next one of this place. `gained`:
    of the program's CPU time, what the routine saves here (a loss is below 0). `best`: what is
    surely better there than the routine, else the routine; None where nothing is known."""

    place: Place
    calls: int
    cycles: int
    share: float  # of the program's CPU time, from a call to the next one of this place
    ratios: Mapping[str, Estimate] = field(default_factory=dict)
    gained: Estimate | None = None
    best: str | None = None
    saves: float = 0.0  # seconds of a call that the best way surely saves, beside the routine
    left_out: float = 0.0  # of its time, in the longest intervals
    is_steady: bool = True  # False: libc plainly differs from itself here, and nothing is sure
    is_trimmed: bool = True  # False: some way had more of the longest intervals than its share
    left_early: Sequence[str] = ()  # ways that were plainly slower: few calls took them
    drifts: Sequence[str] = ()  # ways whose effect changes with the number of calls in a row

    @property
    def is_known(self) -> bool:
        known = self.ratios.get(ROUTINE)
        return known is not None and known.within(KNOWN)


@dataclass(frozen=True)
class Found:
    gain: Estimate | None  # of the whole program by CPU time: 0.1 for 10 % faster
    wall_gain: Estimate | None  # by the clock, where nothing else kept it from running
    places: Sequence[PlaceFound]  # what brings most first
    seconds: float
    whole_gain: Estimate | None = None  # as gain, with the library that has a map
    has_whole: bool = False

    @property
    def unknown(self) -> list[PlaceFound]:
        """Places that matter and are not known to 1 %, neither by themselves nor by what they mean
        to the program."""
        return [one for one in self.places if one.share >= MATTERS and not _is_settled(one)]

    @property
    def is_known(self) -> bool:
        gains = [self.gain, self.whole_gain] if self.has_whole else [self.gain]
        if any(one is None or one.high - one.low > 2 * KNOWN for one in gains):
            return False
        return self.has_whole or not self.unknown

    @property
    def map_gain(self) -> Estimate | None:
        """How much faster the program is with the map than with the routine alone."""
        one, other = self.whole_gain, self.gain
        if one is None or other is None:
            return None
        value = (1 + one.value) / (1 + other.value) - 1
        reach = math.hypot(one.high - one.low, other.high - other.low) / 2
        return Estimate(value, value - reach, value + reach)

    @property
    def slower(self) -> list[PlaceFound]:
        """Places where the routine surely loses to libc."""
        return [one for one in self.places if _loses(one)]


def _is_settled(one: PlaceFound) -> bool:
    if not one.place.is_own or one.is_known:
        return True
    return one.gained is not None and one.gained.high - one.gained.low <= KNOWN / 2


def _loses(one: PlaceFound) -> bool:
    known = one.ratios.get(ROUTINE)
    return one.is_steady and known is not None and known.high < 1


def findings(observed: Observed, ways: Sequence[str], whole: str | None = None) -> Found:
    """`ways`: libc, libc again, the routine and others. `whole`: one that all places take together
    alone."""
    seconds = max(0.0, observed.cpu_seconds - sum(map(_explored, observed.places.values())))
    together = _together(observed, ROUTINE)
    of_whole = None if whole is None else gain(_together(observed, whole), seconds)
    places = [_of_place(place, seen, seconds, ways) for place, seen in observed.places.items()]
    places.sort(key=_brings, reverse=True)
    explored = observed.cpu_seconds - seconds
    wall = gain(together, observed.wall_seconds - explored)
    of_routine = gain(together, seconds)
    return Found(of_routine, wall, places, seconds, of_whole, whole is not None)


def _brings(one: PlaceFound) -> tuple[float, float]:
    return (abs(one.gained.value) if one.gained else 0.0, one.share)


def _explored(seen: Seen) -> float:
    """Seconds that other ways than libc's and the routine took more than these would have."""
    cells = [
        one
        for one in cells_of(seen.cycles, trimming(seen.cycles))
        if LIBC in one and ROUTINE in one
    ]
    if not cells:
        return 0.0
    alone = sum(one[LIBC].seconds + one[ROUTINE].seconds for one in cells) / (2 * len(cells))
    every = [cell.seconds for one in cells for cell in one.values()]
    return seen.own_calls * (sum(every) / len(every) - alone)


def _together(observed: Observed, way: str) -> list[Saved]:
    """Of each place, in the pairs that had libc and this way."""
    found = []
    for seen in observed.places.values():
        pairs = {
            pair: blocks
            for pair, blocks in seen.together.items()
            if {block.way for block in blocks} <= {LIBC, way}
        }
        trim = trimming(list(pairs.values()))
        one = saved(pairs, seen.calls, LIBC, way, trim if trim.is_fair else NO_TRIMMING)
        found += [] if one is None else [one]
    return found


def _racing(seen: Seen) -> Sequence[Sequence[Block]]:
    """The cycles after the slowest ways have left, which spoil the caches for the others. Where too
    few are left then, all."""
    late = [cycle for cycle in seen.cycles if all(block.way not in seen.left for block in cycle)]
    return late if len(late) >= FEW else seen.cycles


def _of_place(place: Place, seen: Seen, seconds: float, ways: Sequence[str]) -> PlaceFound:
    racing = _racing(seen)
    stayed = [way for way in ways if way not in seen.left]
    trim = trimming(racing)
    cells = cells_of(racing, trim if trim.is_fair else NO_TRIMMING)
    early = cells_of(seen.cycles, trimming(seen.cycles))
    ratios = {}
    for way in ways:
        among = cells if way in stayed else early
        found = ratio(among, LIBC, way) if way != LIBC else None
        if found is not None:
            ratios[way] = found
    floor = ratio(cells, LIBC, LIBC_AGAIN, _SURE)
    is_steady = floor is None or floor.low <= 1 <= floor.high
    best, surely = _best(cells, ratios, stayed) if is_steady else (None, 1.0)
    level, of_routine = mean_of(cells, LIBC), mean_of(cells, ROUTINE)
    share, gained = 0.0, None
    if level is not None and seconds > 0:
        share = seen.calls * level / seconds
        if ROUTINE in ratios:
            parts = (ratios[ROUTINE].value, ratios[ROUTINE].low, ratios[ROUTINE].high)
            gained = Estimate(*(share * (1 - 1 / part) for part in parts))
    return PlaceFound(
        place,
        seen.calls,
        len(seen.cycles),
        min(1.0, share),
        ratios,
        gained,
        best,
        (of_routine or 0.0) * (1 - 1 / surely),
        trim.time_share,
        is_steady,
        trim.is_fair,
        [way for way in ratios if way not in stayed],
        _drifting(racing, trim, [way for way in ratios if way in stayed]),
    )


def _best(
    cells: Sequence, ratios: Mapping[str, Estimate], ways: Sequence[str]
) -> tuple[str | None, float]:
    """The way that is surely better than the routine, of several the fastest; libc where that is
    it. And how many times as fast it surely is. The chance that luck makes one of them so is shared
    among them."""
    if ROUTINE not in ratios:
        return None, 1.0
    others = [way for way in ways if way not in (ROUTINE, LIBC_AGAIN)]
    confidence = 1 - (1 - _SURE) / max(1, len(others))
    better: dict[str, Estimate] = {}
    for way in others:
        found = ratio(cells, ROUTINE, way, confidence)
        if found is not None and found.low > 1:
            better[way] = found
    if not better:
        return ROUTINE, 1.0
    best = max(better, key=lambda way: better[way].value)
    over_libc = ratio(cells, LIBC, best, confidence) if LIBC in better and best != LIBC else None
    if over_libc is not None and over_libc.low <= 1:
        best = LIBC
    return best, better[best].low


def _drifting(cycles: Sequence[Sequence[Block]], trim: Trimming, ways: Sequence[str]) -> list[str]:
    """What a way leaves behind for the next one shows in the first calls of a block."""
    if not trim.is_fair:
        return []
    early = cells_of(cycles, trim, slice(0, 2))
    late = cells_of(cycles, trim, slice(2, None))
    found = []
    for way in ways:
        first, then = ratio(early, LIBC, way), ratio(late, LIBC, way)
        if first and then and differs(first, then) and abs(first.value / then.value - 1) > KNOWN:
            found.append(way)
    return found
