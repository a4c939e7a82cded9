"""From checked JSON values to a Profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import spaces
from ..spaces import fresh, probes, threads
from ..spaces.kinds import kinds_of
from .model import Choice, Profile

# The kinds whose copies are those of other choices, carried out in another way.
_OTHERS = {"threads": threads.Share, "fresh": fresh.PageStage}


def build(raw: Mapping[str, Any]) -> Profile:
    kinds = kinds_of(spaces.of(raw["architecture"]))
    machine, search = raw.get("machine", {}), raw.get("search", {})
    if machine:
        cpu = _filled(machine.get("cpu", {}), "brand", "family", "model", "stepping")
        machine = {**_filled(machine, "libc"), "cpu": cpu}
    if search:
        search = _filled(search, "workload", "rigor", "space", "finished")
    return Profile(
        architecture=raw["architecture"],
        complete=raw["complete"],
        left_out=raw.get("left_out", {}),
        source=raw.get("source"),
        machine=machine,
        search=search,
        choices=tuple(
            _choice(one, kinds.get((one["operation"], one["kind"]))) for one in raw["choices"]
        ),
        raw=raw,
    )


def _filled(raw: Mapping[str, Any], *fields: str) -> dict[str, Any]:
    return {**dict.fromkeys(fields, "unknown"), **raw}


def _choice(raw: Mapping[str, Any], kind: Any) -> Choice:
    """`kind`: None of threads and fresh."""
    copies = raw["copies"]
    senses = "probe" in copies
    make = kind.Tuple if kind else _OTHERS[raw["kind"]]
    return Choice(
        operation=raw["operation"],
        kind=raw["kind"],
        intent=raw.get("intent"),
        above=raw["above"],
        up_to=raw["up_to"],
        size=raw.get("size", raw["up_to"]),
        copy=make(**copies["plain" if senses else "taken"]),
        sensing=_sensing(copies, make) if senses else None,
        evidence=raw.get("evidence", {}),
    )


def _sensing(copies: Mapping[str, Any], make: Any) -> probes.SensingCopy:
    ways = {way: make(**copies[way]) for way in probes.WAYS if way in copies}
    return probes.SensingCopy(probes.Probe(**copies["probe"]), copies["threshold"], **ways)
