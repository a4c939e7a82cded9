"""Reads the results of asterope-bench: every copy in every cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..profile import Ratio

LIBC, ROUTINE = "glibc", "asterope"


@dataclass(frozen=True)
class Timing:
    """One copy in one cell. `ratio`: libc's time over its own, None for libc. `versus`: the
    routine's time over its own, None for the routine. `ns`: from the end of one call to the next
    one's end, in any thread."""

    ns: float
    ratio: Ratio | None
    versus: Ratio | None = None


@dataclass(frozen=True)
class Cell:
    """Copies that were timed together. `size`: in bytes, None if the calls' sizes vary."""

    suite: str
    workload: str
    label: str
    size: int | None
    threads: int
    weighting: str | None
    noise_floor: Ratio
    copies: Mapping[str, Timing]


def cells_of(bench: Mapping[str, Any]) -> list[Cell]:
    """The cells of checked results, as JSON values."""
    return [_cell(result) for result in bench["results"]]


def marked(bench: Mapping[str, Any], mark: str) -> frozenset[str]:
    """The copies that use more than the calling thread (`threaded`), or that are the routine's
    entry points (`ours`)."""
    return frozenset(copy["name"] for copy in bench["copies"] if copy.get(mark))


def _cell(raw: Mapping[str, Any]) -> Cell:
    return Cell(
        suite=raw["suite"],
        workload=raw["workload"],
        label=raw["label"],
        size=raw.get("size") or None,
        threads=raw["threads"],
        weighting=raw.get("weighting"),
        noise_floor=ratio_of(raw["noise_floor"]),
        copies={
            name: Timing(
                timing["ns"], ratio_of(timing.get("ratio")), ratio_of(timing.get("versus"))
            )
            for name, timing in raw["copies"].items()
        },
    )


def ratio_of(raw: Mapping[str, float] | None) -> Ratio | None:
    return Ratio(raw["median"], raw["low"], raw["high"]) if raw else None
