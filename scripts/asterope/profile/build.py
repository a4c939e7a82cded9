"""From checked JSON values to a Profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import spaces
from ..spaces import probes, threads
from ..spaces.operations import Operation
from .checks import shares_of
from .model import (
    Aliased,
    Entry,
    Intent,
    Interval,
    LeftOut,
    Measurement,
    Memset,
    Overlapping,
    Profile,
    Proof,
    Ratio,
    Sensing,
    SmallEntry,
)


def build(raw: Mapping[str, Any]) -> Profile:
    here = spaces.of(raw["architecture"])
    machine, search = raw.get("machine", {}), raw.get("search", {})
    if machine:
        cpu = _filled(machine.get("cpu", {}), "brand", "family", "model", "stepping")
        machine = {**_filled(machine, "libc"), "cpu": cpu}
    if search:
        search = _filled(search, "workload", "rigor", "space", "finished")
    return Profile(
        architecture=raw["architecture"],
        complete=raw["complete"],
        left_out=_build_left_out(raw["left_out"]) if "left_out" in raw else None,
        source=raw.get("source"),
        machine=machine,
        search=search,
        intervals=_build_intervals(raw["intervals"], here.MEMCPY),
        intents={
            name: Intent(name, _build_intervals(intent["intervals"], here.MEMCPY))
            for name, intent in raw.get("intents", {}).items()
        },
        small=_build_small(raw["small"]["winner"], here.MEMCPY) if "small" in raw else None,
        aliased=_build_aliased(raw.get("aliased", {}), here.overlapping_copies.OverlappingTuple),
        overlapping=_build_overlapping(
            raw["overlapping"]["winner"], here.overlapping_copies.OverlappingTuple
        )
        if "overlapping" in raw
        else None,
        shares=tuple(threads.Share(**share) for share in shares_of(raw)),
        memset=_build_memset(raw["memset"], here.MEMSET) if "memset" in raw else None,
        raw=raw,
    )


def _build_memset(raw: Mapping[str, Any], operation: Operation) -> Memset:
    return Memset(
        intervals=_build_intervals(raw["intervals"], operation),
        small=_build_small(raw["small"]["winner"], operation) if "small" in raw else None,
        left_out=_build_left_out(raw["left_out"]) if "left_out" in raw else None,
    )


def _filled(raw: Mapping[str, Any], *fields: str) -> dict[str, Any]:
    return {**dict.fromkeys(fields, "unknown"), **raw}


def _build_left_out(raw: Mapping[str, Any]) -> LeftOut:
    return LeftOut(tuple(raw.get("sizes", ())), tuple(raw.get("steps", ())))


def _build_intervals(
    raw: Sequence[Mapping[str, Any]], operation: Operation
) -> tuple[Interval, ...]:
    return tuple(_build_interval(interval, operation) for interval in raw)


def _build_interval(raw: Mapping[str, Any], operation: Operation) -> Interval:
    return Interval(
        above=raw["above"],
        up_to=raw["up_to"],
        size=raw.get("size", raw["up_to"]),
        winner=_build_entry(raw["winner"], operation),
        proof=_build_proof(raw["proof"]) if "proof" in raw else None,
        sensing=_build_sensing(raw["sensing"], operation) if "sensing" in raw else None,
        runners_up=tuple(_build_entry(entry, operation) for entry in raw.get("runners_up", ())),
        noise_floor={name: Ratio(**ratio) for name, ratio in raw.get("noise_floor", {}).items()},
    )


def _build_entry(raw: Mapping[str, Any], operation: Operation) -> Entry:
    return Entry(
        tuple=operation.tuple(**raw["tuple"]),
        ratio=raw.get("ratio"),
        tied=raw.get("tied"),
        workloads=_build_workloads(raw),
    )


def _build_proof(raw: Mapping[str, Any]) -> Proof:
    return Proof(raw["samples"], raw["rounds"], Ratio(**raw["lead"]), tuple(raw["ties"]))


def _build_sensing(raw: Mapping[str, Any], operation: Operation) -> Sensing:
    return Sensing(
        copy=probes.SensingCopy(
            probes.Probe(raw["kind"], raw["lines"]),
            raw["threshold"],
            operation.tuple(**raw["hot"]),
            operation.tuple(**raw["cold"]),
            operation.tuple(**raw["fetch"]) if "fetch" in raw else None,
        ),
        ratio=raw.get("ratio"),
        workloads=_build_workloads(raw),
        cached_ticks=raw.get("cached_ticks"),
        uncached_ticks=raw.get("uncached_ticks"),
    )


def _build_small(raw: Mapping[str, Any], operation: Operation) -> SmallEntry:
    return SmallEntry(
        tuple=operation.small(**raw["tuple"]),
        ratio=raw.get("ratio"),
        tied=raw.get("tied"),
        workloads=_build_workloads(raw),
    )


def _build_aliased(raw: Mapping[str, Any], make: Callable[..., Any]) -> Aliased | None:
    winner = raw.get("winner")
    if winner is None:
        return None
    return Aliased(winner["above"], winner["up_to"], make(**winner["tuple"]))


def _build_overlapping(raw: Mapping[str, Any], make: Callable[..., Any]) -> Overlapping:
    return Overlapping(make(**raw["tuple"]), raw.get("ratio"))


def _build_workloads(raw: Mapping[str, Any]) -> dict[str, Measurement]:
    return {
        name: _build_measurement(measurement)
        for name, measurement in raw.get("workloads", {}).items()
    }


def _build_measurement(raw: Mapping[str, Any]) -> Measurement:
    fields = dict(raw)
    for name in ("ratio", "best_ratio"):
        if name in fields:
            fields[name] = Ratio(**fields[name])
    return Measurement(**fields)
