"""Reads the results of asterope-bench: every copy in every cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True)
class Bench:
    """The results of one run. `copies` and `left_out`: name -> description, reason. `threaded`:
    copies that use more than the calling thread. `ours`: the routine's entry points. `complete`:
    False where the run was stopped. `noise`: as in profiles. `operation`: libc's name of the
    function that was timed."""

    machine: Mapping[str, Any]
    rounds: int
    copies: Mapping[str, str]
    threaded: frozenset[str]
    ours: frozenset[str]
    left_out: Sequence[tuple[str, str]]
    complete: bool
    noise: Mapping[str, Any]
    cells: Sequence[Cell]
    operation: str


def build_bench(raw: Mapping[str, Any]) -> Bench:
    """Makes the results of checked JSON values."""
    return Bench(
        machine=raw["machine"],
        rounds=raw["rounds"],
        copies={copy["name"]: copy["description"] for copy in raw["copies"]},
        threaded=frozenset(copy["name"] for copy in raw["copies"] if copy.get("threaded")),
        ours=frozenset(copy["name"] for copy in raw["copies"] if copy.get("ours")),
        complete=raw["complete"],
        noise=raw["noise"],
        left_out=[(copy["name"], copy["reason"]) for copy in raw["left_out"]],
        cells=[_cell(result) for result in raw["results"]],
        operation=raw["operation"],
    )


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
