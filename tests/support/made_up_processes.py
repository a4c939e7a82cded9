"""Raw processes of programs that are made up, so that the truth about their copies is known."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from asterope.record.calls import CALL_WORK, Call, Module, Sites
from asterope.record.pool import Pool
from asterope.record.raw import RawProcess
from asterope.record.recording import Facts
from recorded_programs import size_class

TICK_HZ = 2e9
PERIOD = 4 << 20
BASE = 0x7F0000000000
LIBRARY = Module(BASE, BASE + 0x100000, 0x1000, "/usr/lib/libmade-up.so.1")


@dataclass(frozen=True)
class Kind:
    """Calls that are alike: each takes `seconds`, give or take `spread` of it."""

    size: int
    calls: int
    seconds: float
    spread: float = 0.0
    function: str = "memcpy"
    site: int = 0x100
    timed: float = 1.0  # share of the samples


def drawn_of(calls: int, probability: float, chance: random.Random) -> int:
    """Binomial."""
    found, at = 0, 0.0
    while probability < 1:
        at += math.floor(math.log(1 - chance.random()) / math.log1p(-probability)) + 1
        if at > calls:
            return found
        found += 1
    return calls


def made_up_process(
    kinds: Sequence[Kind], seed: int = 0, keep: float = 1, cpu_seconds: float = 10, **more: Any
) -> RawProcess:
    """As the recorder samples it. `keep`: share of the drawn samples that its reservoir keeps."""
    chance = random.Random(seed)
    counts: dict[str, Counter[tuple[int, int]]] = {}
    samples: list[Call] = []
    drawn = 0
    for kind in kinds:
        counts.setdefault(kind.function, Counter())[size_class(kind.size)] += kind.calls
        probability = -math.expm1(-(size_class(kind.size)[0] + CALL_WORK) / PERIOD)
        n = drawn_of(kind.calls, probability, chance)
        drawn += n
        for _ in range(n):
            if chance.random() < keep:
                seconds = kind.seconds * (1 + kind.spread * chance.uniform(-1, 1))
                ticks = round(seconds * TICK_HZ) if chance.random() < kind.timed else None
                site, weight = Sites([LIBRARY]).of(BASE + kind.site), 1 / keep / probability
                samples.append(Call(kind.function, kind.size, site, weight, ticks))
    return RawProcess(
        started=1.7e9,
        seconds=cpu_seconds,
        cpu_seconds=cpu_seconds,
        tick_hz=TICK_HZ,
        period=PERIOD,
        modules=[LIBRARY],
        threads=1,
        counts={function: dict(classes) for function, classes in counts.items()},
        drawn=drawn,
        samples=samples,
        **{"pid": 100, "flags": frozenset(), **more},
    )


def pool_of(*processes: RawProcess) -> Pool:
    pool = Pool()
    pool.add(processes)
    return pool


def facts(**fields: object) -> Facts:
    machine = {"cpu": "A processor", "cpus": 4, "libc": "glibc 2.36"}
    given = {"started": 1.7e9, "seconds": 12.0, "cpu_seconds": 10.0, "complete": True, **fields}
    return Facts(["made-up", "--fast"], "/usr/bin/made-up", machine, **given)
