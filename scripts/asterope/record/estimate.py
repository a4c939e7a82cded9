"""From raw files to estimates: what a program's copies took, where their data was, who reads it."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .bands import COUNT, band_of
from .calls import COPIES, Call, Site, cached_below, calls_of, tick_hz_of
from .raw import FUNCTIONS, BurstCall, RawProcess
from .readers import Readers, Reading, estimate_readers
from .recorder import Calibration
from .small_calls import TimeTrace, scaled_to_a_row
from .survey import (
    Cell,
    Group,
    Interval,
    cells_of,
    groups_of,
    sum_of,
    weights_of,
)

# Of copies up to this size the alignments are counted: what a copy of some vectors makes of a
# misalignment, larger ones do not notice.
ALIGNED_UP_TO = 1 << 10
ALIGNMENTS = tuple(1 << power for power in range(7))

# From here on a destination right behind its source modulo 4096 slows a copy.
ALIASED_FROM = 64

TRACE_BURSTS = 256

PLACES = 10

# Below this many samples a share is no answer.
FEW = 8


@dataclass(frozen=True)
class Situation:
    source_cached: bool
    destination_cached: bool
    calls: float
    time: float


@dataclass(frozen=True)
class Band:
    """What the copies of one size band are like."""

    band: int
    calls: float
    bytes: float
    seconds: Interval | None  # None: nothing could be timed
    situations: Sequence[Situation]  # all four, or none where no call was probed
    fresh: float  # share of the time that went into pages that were not there yet
    probed: int
    timed: int
    read: Reading | None


@dataclass(frozen=True)
class Place:
    """What one call site copies; `share` of the copies' time, None where nothing was timed."""

    site: Site
    function: str  # the one of libc that it calls most
    calls: float
    bytes: float
    share: float | None
    median_size: int
    samples: int
    source_cached: float | None
    destination_cached: float | None
    read_soon: float | None
    serve: str


@dataclass(frozen=True)
class Gaps:
    median: float
    p10: float
    p90: float


@dataclass(frozen=True)
class Estimates:
    """Everything that a recording says of the copies; seconds are of CPU time."""

    counts: Mapping[str, Mapping[tuple[int, int], int]]
    tick_hz: float
    cached_below_ticks: float
    kept: int
    preempted: int
    copy_seconds: Interval | None  # None: nothing could be timed
    bands: Sequence[Band]
    memset_bands: Sequence[Band]
    readers: Readers
    source_alignments: Mapping[int, float]
    destination_alignments: Mapping[int, float]
    aliased: float
    overlapping: float
    gaps: Gaps | None
    trace: Sequence[Sequence[tuple[int, int, int]]]
    places: Sequence[Place]


def estimate(
    processes: Sequence[RawProcess],
    calibration: Calibration,
    time_trace: TimeTrace | None = None,
) -> Estimates:
    """`time_trace`: on the machine that they were recorded on; None: small copies are known less
    exactly."""
    counts = _sum_counts(processes)
    tick_hz = tick_hz_of(processes)
    calls, preempted = calls_of(processes, calibration, tick_hz)
    bursts = [burst for process in processes for burst in process.bursts if burst]
    if time_trace:
        calls = scaled_to_a_row(calls, bursts, tick_hz, time_trace)
    copies = [call for call in calls if call.function in COPIES]
    sets = [call for call in calls if call.function not in COPIES]
    copy_cells = cells_of(_merged(counts, COPIES), copies, _sizes_in(bursts, COPIES))
    set_cells = cells_of(_merged(counts, ("memset",)), sets, _sizes_in(bursts, ("memset",)))
    readers = estimate_readers(processes, calibration, tick_hz)
    timing = _Timing(copy_cells, copies)
    counted = groups_of(copy_cells, copies, by_work=False)
    weighted = weights_of(counted)
    by_source, by_destination = _alignments(weighted)
    return Estimates(
        counts=counts,
        tick_hz=tick_hz,
        cached_below_ticks=cached_below(calibration),
        kept=len(calls),
        preempted=preempted,
        copy_seconds=timing.whole(),
        bands=_bands(copy_cells, copies, timing, readers.by_band),
        memset_bands=_bands(set_cells, sets, _Timing(set_cells, sets), {}),
        readers=readers,
        source_alignments=by_source,
        destination_alignments=by_destination,
        aliased=_share(
            [(call, weight) for call, weight in weighted if call.size >= ALIASED_FROM],
            lambda call: 0 < (call.destination_offset - call.source_offset) % 4096 < 64,
        ),
        overlapping=_share(weighted, lambda call: call.overlap),
        gaps=_gaps(bursts, tick_hz),
        trace=_trace(bursts),
        places=_places(counted, timing, readers.soon_by_site),
    )


def _sum_counts(processes: Iterable[RawProcess]) -> dict[str, dict[tuple[int, int], int]]:
    counts: dict[str, Counter[tuple[int, int]]] = {name: Counter() for name in FUNCTIONS}
    for process in processes:
        for function, classes in process.counts.items():
            counts[function].update(classes)
    return {name: {c: n for c, n in sorted(by.items()) if n} for name, by in counts.items()}


def _merged(
    counts: Mapping[str, Mapping[tuple[int, int], int]], functions: Iterable[str]
) -> dict[tuple[int, int], int]:
    merged: Counter[tuple[int, int]] = Counter()
    for function in functions:
        merged.update(counts[function])
    return dict(merged)


def _sizes_in(bursts: Iterable[Sequence[BurstCall]], functions: Sequence[str]) -> list[int]:
    return [call.size for burst in bursts for call in burst if call.function in functions]


class _Timing:
    """What all calls took: between what is left of the sampled times where other instructions go on
    meanwhile, and the whole of them."""

    def __init__(self, cells: Sequence[Cell], calls: Sequence[Call]) -> None:
        self.timed = [call for call in calls if call.timed]
        self._groups = groups_of(cells, self.timed, by_work=True) if self.timed else []
        self.weighted = weights_of(self._groups)

    def of_band(self, band: int) -> Interval | None:
        if not self.timed:
            return None
        return _between([group for group in self._groups if group.band == band])

    def whole(self) -> Interval | None:
        return _between(self._groups) if self.timed else None


def _between(groups: Sequence[Group]) -> Interval:
    least = sum_of(group.total(lambda call: call.least or 0.0) for group in groups)
    likely = sum_of(group.total(lambda call: call.likely or 0.0) for group in groups)
    most = sum_of(group.total(lambda call: call.seconds or 0.0) for group in groups)
    return Interval(likely.value, least.low, most.high)


def _bands(
    cells: Sequence[Cell],
    calls: Sequence[Call],
    timing: _Timing,
    readings: Mapping[int, Reading],
) -> list[Band]:
    bands = []
    probed = [call for call in calls if call.probed]
    for band in range(COUNT):
        own = [cell for cell in cells if cell.band == band]
        in_band = [call for call in probed if band_of(call.size) == band]
        timed = [call for call in timing.timed if band_of(call.size) == band]
        bands.append(
            Band(
                band=band,
                calls=sum(cell.calls for cell in own),
                bytes=sum(cell.calls * cell.size for cell in own),
                seconds=timing.of_band(band),
                situations=_situations(own, in_band, timed) if own else [],
                fresh=_fresh(own, in_band, timed) if own else 0.0,
                probed=len(in_band),
                timed=len(timed),
                read=readings.get(band),
            )
        )
    return bands


def _situations(
    cells: Sequence[Cell], probed: Sequence[Call], timed: Sequence[Call]
) -> list[Situation]:
    """Shares of calls and of time. Of calls that are probed and timed the times are too short for
    all but large ones, and yet tell the situations apart. The smallest are never both: the time of
    one is then what the others take, with its own wait for the source."""
    if not probed:
        return []
    weighted = _with_seconds(cells, probed, timed)
    shares = {(s, d): [0.0, 0.0] for s in (True, False) for d in (True, False)}
    for call, weight, seconds in weighted:
        share = shares[call.source_cached, call.destination_cached]
        share[0] += weight
        share[1] += weight * seconds
    calls = sum(share[0] for share in shares.values())
    time = sum(share[1] for share in shares.values())
    return [
        Situation(source, destination, share[0] / calls, share[1] / time if time else 0.25)
        for (source, destination), share in shares.items()
    ]


def _fresh(cells: Sequence[Cell], probed: Sequence[Call], timed: Sequence[Call]) -> float:
    weighted = _with_seconds(cells, probed, timed)
    everything = sum(weight * seconds for _, weight, seconds in weighted)
    fresh = sum(weight * seconds for call, weight, seconds in weighted if call.fresh)
    return fresh / everything if everything else 0.0


def _with_seconds(
    cells: Sequence[Cell], probed: Sequence[Call], timed: Sequence[Call]
) -> list[tuple[Call, float, float]]:
    """The probed calls, each with those that it stands for and with its time."""
    rest = max(
        1e-9,
        _mean(timed, lambda call: call.likely) - _mean(probed, lambda call: call.source_seconds),
    )
    return [
        (call, weight, call.likely if call.likely is not None else rest + call.source_seconds)
        for call, weight in weights_of(groups_of(cells, probed, by_work=False))
    ]


def _mean(calls: Sequence[Call], of: Callable[[Call], float]) -> float:
    weight = sum(call.weight for call in calls)
    return sum(call.weight * of(call) for call in calls) / weight if weight else 0.0


def _share(weighted: Sequence[tuple[Call, float]], holds: Callable[[Call], bool]) -> float:
    everything = sum(weight for _, weight in weighted)
    return sum(w for call, w in weighted if holds(call)) / everything if everything else 0.0


def _alignments(
    weighted: Sequence[tuple[Call, float]],
) -> tuple[dict[int, float], dict[int, float]]:
    """By the largest power of two that divides the address, up to 64: shares of the calls."""
    small = [(call, weight) for call, weight in weighted if 0 < call.size <= ALIGNED_UP_TO]

    def by(offset: Callable[[Call], int]) -> dict[int, float]:
        found = dict.fromkeys(ALIGNMENTS, 0.0)
        for call, weight in small:
            found[math.gcd(offset(call), 64)] += weight
        everything = sum(found.values())
        return {at: weight / everything for at, weight in found.items()} if everything else {}

    return by(lambda call: call.source_offset), by(lambda call: call.destination_offset)


def _gaps(bursts: Iterable[Sequence[BurstCall]], tick_hz: float) -> Gaps | None:
    gaps = sorted(
        call.gap_ticks for burst in bursts for call in burst[1:] if call.function in COPIES
    )
    if not gaps or not tick_hz:
        return None
    median, p10, p90 = (gaps[int(q * (len(gaps) - 1))] / tick_hz for q in (0.5, 0.1, 0.9))
    return Gaps(median, p10, p90)


def _trace(bursts: Iterable[Sequence[BurstCall]]) -> list[list[tuple[int, int, int]]]:
    """The copies of some bursts in their order: of too many a choice, the same each time."""
    found = [
        [(c.size, c.source_mod, c.destination_mod) for c in burst if c.function in COPIES]
        for burst in bursts
    ]
    found = [burst for burst in found if burst]
    if len(found) > TRACE_BURSTS:
        chosen = sorted(random.Random(0).sample(range(len(found)), TRACE_BURSTS))
        found = [found[i] for i in chosen]
    return found


def _places(
    counted: Sequence[Group], timing: _Timing, soon_by_site: Mapping[Site, float]
) -> list[Place]:
    """Those that take most of the copies' time; where nothing was timed, that copy most."""
    by_site: dict[Site, list[tuple[Call, float]]] = {}
    for call, weight in weights_of(counted):
        by_site.setdefault(call.site, []).append((call, weight))
    seconds: Counter[Site] = Counter()
    for call, weight in timing.weighted:
        seconds[call.site] += weight * call.likely
    everything = sum(seconds.values())

    def cost(site: Site) -> tuple[float, float, str, int]:
        copied = sum(weight * call.size for call, weight in by_site[site])
        return -seconds[site], -copied, site.module, site.offset

    return [
        _place(
            site,
            by_site[site],
            seconds[site] / everything if everything else None,
            soon_by_site.get(site),
        )
        for site in sorted(by_site, key=cost)[:PLACES]
    ]


def _place(
    site: Site,
    weighted: Sequence[tuple[Call, float]],
    share: float | None,
    read_soon: float | None,
) -> Place:
    calls = sum(weight for _, weight in weighted)
    functions: Counter[str] = Counter()
    for call, weight in weighted:
        functions[call.function] += weight
    probed = [(call, weight) for call, weight in weighted if call.probed]
    known = len(probed) >= FEW
    source = _share(probed, lambda call: call.source_cached) if known else None
    destination = _share(probed, lambda call: call.destination_cached) if known else None
    function = functions.most_common(1)[0][0]
    return Place(
        site=site,
        function=function,
        calls=calls,
        bytes=sum(weight * call.size for call, weight in weighted),
        share=share,
        median_size=_weighted_median([(call.size, weight) for call, weight in weighted]),
        samples=len(weighted),
        source_cached=source,
        destination_cached=destination,
        read_soon=read_soon,
        serve=_serve(function, source, destination, read_soon),
    )


def _weighted_median(values: Iterable[tuple[int, float]]) -> int:
    ranked = sorted(values)
    half = sum(weight for _, weight in ranked) / 2
    for value, weight in ranked:
        half -= weight
        if half <= 0:
            return value
    return ranked[-1][0]


# From which share on a place is clearly one thing, and up to which it clearly is not.
CLEARLY, CLEARLY_NOT = 0.85, 0.15


def _serve(
    function: str, source: float | None, destination: float | None, read_soon: float | None
) -> str:
    """The entry point that a place is best served by: of those for one situation only where that is
    clear."""
    if function != "memcpy":
        return f"asterope_{function}"  # these have no others
    if source is not None and destination is not None:
        if min(source, destination) >= CLEARLY:
            return "asterope_memcpy_hot"
        if max(source, destination) <= CLEARLY_NOT and read_soon is not None:
            if read_soon >= CLEARLY:
                return "asterope_memcpy_consume"
            if read_soon <= CLEARLY_NOT:
                return "asterope_memcpy_cold"
    return "asterope_memcpy"
