"""A profile that passed every check, as the rest of the package sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import spaces
from ..spaces import fresh, probes, threads
from ..spaces.kinds import MEMCPY, kinds_of

# The kinds whose copies are those of other choices, carried out in another way.
_OTHERS = {"threads": threads.Share, "fresh": fresh.PageStage}


@dataclass(frozen=True)
class Ratio:
    """A ratio of times: its median or estimate, and its 95 % interval."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Choice:
    """The copy for the sizes above < bytes <= up_to of an operation, and its figures beside libc.

    `copy`: of the architecture's spaces, as operation and kind say; of threads a Share, of fresh a
    PageStage. Where there is a copy that senses (`sensing`), that is taken and measured, and `copy`
    only without a usable counter. `size` is what was timed. `evidence`: how it did, as the file has
    it; `plain`: of that, what `copy` reached; both empty where the profile does not say.
    """

    operation: str
    kind: str
    intent: str | None
    above: int
    up_to: int
    size: int
    copy: Any
    sensing: probes.SensingCopy | None
    evidence: Mapping[str, Any]

    @property
    def plain(self) -> Mapping[str, Any]:
        return self.evidence.get("plain", {}) if self.sensing else self.evidence

    def timing(self, workload: str) -> Mapping[str, Any]:
        """Times in ns, and ratios."""
        return self.evidence.get("workloads", {}).get(workload, {})

    def rate(self, workload: str, copy: str = "ns") -> float | None:
        """GB/s under a workload: bytes a nanosecond; of libc: `libc_ns`."""
        ns = self.timing(workload).get(copy)
        return self.size / ns if ns else None


@dataclass(frozen=True)
class Profile:
    """A profile that passed every check. `raw` is the whole of it as JSON values.

    `machine` and `search` are empty where the profile lacks them. Else they have the fields that
    the routine's head comment prints, "unknown" where the profile leaves them out. `left_out`:
    sizes in bytes and steps by operation, empty where it is complete, and where it does not say.
    """

    architecture: str
    complete: bool
    left_out: Mapping[str, Mapping[str, Sequence[Any]]]
    source: str | None
    machine: Mapping[str, Any]
    search: Mapping[str, Any]
    choices: Sequence[Choice]
    raw: Mapping[str, Any]

    def of(
        self, kind: str, operation: str = MEMCPY, intent: str | None = None
    ) -> tuple[Choice, ...]:
        """Its choices of that kind, by rising size."""
        wanted = (kind, operation, intent)
        return tuple(one for one in self.choices if (one.kind, one.operation, one.intent) == wanted)

    def the(self, kind: str, operation: str = MEMCPY, intent: str | None = None) -> Choice | None:
        """The one of a kind that has one at most."""
        return next(iter(self.of(kind, operation, intent)), None)

    def has(self, operation: str) -> bool:
        """Whether it was tuned, so that the routine has it."""
        return bool(self.of("pipelines", operation))

    @property
    def intents(self) -> tuple[str, ...]:
        """The workloads for whose callers it has choices of their own."""
        return tuple(dict.fromkeys(one.intent for one in self.choices if one.intent))

    @property
    def entries(self) -> frozenset[str]:
        """The routine's functions for callers who know more: memcpy_cold, memset_fresh."""
        staged = (f"{one.operation}_fresh" for one in self.choices if one.kind == "fresh")
        return frozenset((*(f"{MEMCPY}_{intent}" for intent in self.intents), *staged))


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
