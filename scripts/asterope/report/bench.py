"""Reads the results of asterope-bench: every copy in every cell."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema.exceptions import best_match

from ..faults import BadInput
from ..profile import Ratio

FORMAT, VERSION = "asterope-bench", 2
SCHEMA_FILE = Path(__file__).parents[1] / "bench.schema.json"
LIBC, ROUTINE = "glibc", "asterope"


@dataclass(frozen=True)
class Timing:
    """One copy in one cell; `ratio` is libc's time over its own, None for libc itself; `versus` the
    routine's, None for itself and in older results. `ns`: from one call that some thread ends to
    the next."""

    ns: float
    ratio: Ratio | None
    versus: Ratio | None = None


@dataclass(frozen=True)
class Cell:
    """What was timed together. `size` in bytes, None where the calls' sizes vary."""

    suite: str
    workload: str
    label: str
    size: int | None
    threads: int
    weighting: str | None
    noise_floor: Ratio | None
    copies: Mapping[str, Timing]


@dataclass(frozen=True)
class Bench:
    """The results of one run. `copies` and `left_out`: name -> description, reason. `threaded`:
    copies that use more than the calling thread. `ours`: the routine's entry points. `complete`:
    False where the run was stopped. `noise`: as in profiles; empty in older results. `operation`:
    libc's name of the function that was timed."""

    machine: Mapping[str, Any]
    rounds: int | None
    copies: Mapping[str, str]
    threaded: frozenset[str]
    ours: frozenset[str]
    left_out: Sequence[tuple[str, str]]
    complete: bool
    noise: Mapping[str, Any]
    cells: Sequence[Cell]
    operation: str = "memcpy"


def build_bench(raw: Mapping[str, Any], where: str) -> Bench:
    """From JSON values that say they are such results. Raises BadInput."""
    version = raw.get("version")
    if type(version) is not int or version != VERSION:
        raise BadInput(
            f"{where}: version: results of version {json.dumps(version)[:40]}, this program reads "
            f"version {VERSION}: run this version's asterope-bench --json again"
        )
    refuse_what_breaks(SCHEMA_FILE, raw, where, "run asterope-bench --json again")
    return Bench(
        machine=raw["machine"],
        rounds=raw.get("rounds"),
        copies={copy["name"]: copy.get("description", "") for copy in raw["copies"]},
        threaded=frozenset(copy["name"] for copy in raw["copies"] if copy.get("threaded")),
        ours=frozenset(copy["name"] for copy in raw["copies"] if copy.get("ours")),
        complete=raw.get("complete", True),
        noise=raw.get("noise", {}),
        left_out=[(copy["name"], copy["reason"]) for copy in raw.get("left_out", ())],
        cells=[_cell(result) for result in raw["results"]],
        operation=raw.get("operation", "memcpy"),
    )


def refuse_what_breaks(schema_file: Path, raw: Any, where: str, remedy: str) -> None:
    """Raises BadInput for what is not as the schema says, for a number that is none, and for an
    interval whose end lies before its start."""
    schema = json.loads(schema_file.read_text(encoding="utf-8"))
    error = best_match(jsonschema.Draft202012Validator(schema).iter_errors(raw))
    if error is not None:
        place = error.json_path.removeprefix("$.") if hasattr(error, "json_path") else "?"
        shown: str | None = f"{place}: breaks the schema's rule {error.validator}"
    else:
        shown = next(_unsound(raw, ""), None)
    if shown is not None:
        shown = shown if shown.isprintable() else ascii(shown)
        raise BadInput(f"{where}: {shown[:300]}: {remedy}")


def _unsound(value: Any, place: str) -> Iterator[str]:
    """What a schema cannot say, in the order of the file."""
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{place}: {value} is no finite number"
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from _unsound(one, f"{place}[{i}]")
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _unsound(one, f"{place}.{name}" if place else name)
        low, high = value.get("low"), value.get("high")
        if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low > high:
            yield f"{place}: {low} to {high} is no interval"


def _cell(raw: Mapping[str, Any]) -> Cell:
    return Cell(
        suite=raw["suite"],
        workload=raw["workload"],
        label=raw["label"],
        size=raw.get("size") or None,
        threads=raw.get("threads", 1),
        weighting=raw.get("weighting"),
        noise_floor=ratio_of(raw.get("noise_floor")),
        copies={
            name: Timing(
                timing["ns"], ratio_of(timing.get("ratio")), ratio_of(timing.get("versus"))
            )
            for name, timing in raw["copies"].items()
        },
    )


def ratio_of(raw: Mapping[str, float] | None) -> Ratio | None:
    return Ratio(raw["median"], raw["low"], raw["high"]) if raw else None
