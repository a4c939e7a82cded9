"""Raw processes of programs that are made up, so that the truth about their copies is known."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from asterope.record.calls import CALL_WORK, UNWARMED_FROM, cached_below
from asterope.record.facts import Facts, Machine
from asterope.record.raw import BurstCall, Flags, Module, RawProcess, Sample, Watch
from asterope.record.recorder import Calibration

TICK_HZ = 2e9
PERIOD = 4 << 20
CALIBRATION = Calibration(empty_ticks=50, cache_ticks=60, last_cache_ticks=110, memory_ticks=500)
NO_FLAGS = Flags(
    full=False, shared_slots=False, modules_full=False, quiet=False, watch_errno=0, cut_short=False
)
BASE = 0x7F0000000000
LIBRARY = Module(BASE, BASE + 0x100000, 0x1000, "/usr/lib/libmade-up.so.1")


@dataclass(frozen=True)
class Kind:
    """Calls that are alike. `seconds`: of one call, drawn anew for each; its mean is `mean`."""

    size: int
    calls: int
    mean: float
    seconds: Callable[[random.Random], float] | None = None
    function: str = "memcpy"
    site: int = 0x100
    source_cached: float = 1.0  # share of the calls
    destination_cached: float = 1.0
    fresh: float = 0.0  # share of the calls whose destination's page is not there yet
    source_offset: int = 0
    destination_offset: int = 0
    overlap: bool = False

    def time(self, chance: random.Random) -> float:
        return self.mean if self.seconds is None else self.seconds(chance)


def size_class(size: int) -> tuple[int, int]:
    """Exact up to 15, 8 a doubling above, as the recorder counts."""
    if size < 16:
        return size, size + 1
    step = 1 << (size.bit_length() - 4)
    first = size - size % step
    return first, first + step


def drawn_of(calls: int, probability: float, chance: random.Random) -> int:
    """Binomial."""
    found, at = 0, 0.0
    while probability < 1:
        at += math.floor(math.log(1 - chance.random()) / math.log1p(-probability)) + 1
        if at > calls:
            return found
        found += 1
    return calls


def true_seconds(kinds: Sequence[Kind], process: RawProcess) -> float:
    """What all copies of a made-up process took: the timed ones what they took, the others what
    they take in the mean, or, where there are few, what chance gives them."""
    chance = random.Random(len(process.samples))
    seconds = 0.0
    for kind in kinds:
        timed = [
            (sample.copy_ticks - CALIBRATION.empty_ticks) / process.tick_hz
            for sample in process.samples
            if sample.copy_ticks is not None
            and (sample.size, sample.caller) == (kind.size, BASE + kind.site)
        ]
        others = kind.calls - len(timed)
        many = others > 10_000
        seconds += sum(timed) + (
            others * kind.mean if many else sum(kind.time(chance) for _ in range(others))
        )
    return seconds


def made_up_process(
    kinds: Sequence[Kind],
    seed: int = 0,
    keep: float = 1.0,
    pid: int = 100,
    cpu_seconds: float = 10.0,
    watches: Sequence[Watch] = (),
    bursts: Sequence[list[BurstCall]] = (),
    flags: Flags = NO_FLAGS,
    tick_hz: float = TICK_HZ,
) -> RawProcess:
    """As the recorder samples it. `keep`: share of the drawn samples that its reservoir keeps."""
    chance = random.Random(seed)
    counts: dict[str, Counter[tuple[int, int]]] = {}
    samples: list[Sample] = []
    drawn = 0
    for kind in kinds:
        counts.setdefault(kind.function, Counter())[size_class(kind.size)] += kind.calls
        probability = -math.expm1(-(kind.size + CALL_WORK) / PERIOD)
        n = drawn_of(kind.calls, probability, chance)
        drawn += n
        for _ in range(n):
            if chance.random() < keep:
                samples.append(_sample(kind, chance, 1 / keep))
    return RawProcess(
        pid=pid,
        executable="/usr/bin/made-up",
        started=1.7e9,
        seconds=cpu_seconds,
        cpu_seconds=cpu_seconds,
        tick_hz=tick_hz,
        period=PERIOD,
        flags=flags,
        modules=[LIBRARY],
        threads=1,
        counts={function: dict(classes) for function, classes in counts.items()},
        drawn=drawn,
        samples=samples,
        bursts=list(bursts),
        watches=list(watches),
    )


def _sample(kind: Kind, chance: random.Random, stands_for: float) -> Sample:
    """Half of all but the large ones are not probed, and small ones that are have no time."""
    probed = kind.size >= UNWARMED_FROM or chance.random() < 0.5
    timed = kind.size >= 2048 or not probed
    fresh = chance.random() < kind.fresh
    copies = kind.function != "memset"

    def probe(share_cached: float) -> int:
        near = cached_below(CALIBRATION)
        times = chance.uniform(0, 0.9) if chance.random() < share_cached else chance.uniform(1.1, 4)
        return CALIBRATION.empty_ticks + round(near * times)

    return Sample(
        function=kind.function,
        size=kind.size,
        caller=BASE + kind.site,
        source_offset=kind.source_offset,
        destination_offset=kind.destination_offset,
        overlap=kind.overlap,
        copy_ticks=CALIBRATION.empty_ticks + round(kind.time(chance) * TICK_HZ) if timed else None,
        source_ticks=probe(kind.source_cached) if probed and copies else None,
        destination_ticks=probe(kind.destination_cached) if probed and not fresh else None,
        destination_resident=not fresh if probed else None,
        monotonic_ns=0,
        stands_for=stands_for,
    )


def watch(size: int, outcome: str, after_ns: int | None = None, site: int = 0x100) -> Watch:
    return Watch(
        size=size,
        caller=BASE + site,
        copy_ticks=CALIBRATION.empty_ticks + 1000,
        outcome=outcome,
        after_ns=after_ns,
        same_thread=None if after_ns is None else True,
        bytes_after=None,
    )


def burst_call(
    size: int, source: int = 1, destination: int = 2, gap_ticks: int = 2000, **fields: object
) -> BurstCall:
    """`source` and `destination`: pages."""
    given = {
        "function": "memcpy",
        "size": size,
        "source_mod": 0,
        "destination_mod": 0,
        "source_page": source,
        "destination_page": destination,
        "gap_ticks": gap_ticks,
    }
    return BurstCall(**{**given, **fields})


def facts(**fields: object) -> Facts:
    given = {
        "command": ["made-up", "--fast"],
        "executable": "/usr/bin/made-up",
        "machine": Machine("A processor", 4, "glibc 2.36"),
        "calibration": CALIBRATION,
        "started": 1.7e9,
        "seconds": 12.0,
        "cpu_seconds": 10.0,
        "complete": True,
    }
    return Facts(**{**given, **fields})
