"""A profile that passed every check, as the rest of the package sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..spaces.kinds import MEMCPY
from ..spaces.probes import SensingCopy


@dataclass(frozen=True)
class Ratio:
    """libc's time over another's: median and sign-test interval."""

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
    sensing: SensingCopy | None
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

    @property
    def taken(self) -> Any:
        """All that its choice shows in one value: equal for choices that do the same."""
        return self.copy, self.sensing


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

    def the(self, kind: str, operation: str = MEMCPY) -> Choice | None:
        """The one of a kind that has one at most."""
        return next(iter(self.of(kind, operation)), None)

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
        fresh = (f"{one.operation}_fresh" for one in self.choices if one.kind == "fresh")
        return frozenset((*(f"{MEMCPY}_{intent}" for intent in self.intents), *fresh))
