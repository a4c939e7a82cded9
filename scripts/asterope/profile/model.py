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
class Measurement:
    """One copy at one size under one workload. Times in ns."""

    ns: float | None = None
    libc_ns: float | None = None
    ratio: Ratio | None = None
    best_ratio: Ratio | None = None
    best_reference: str | None = None


@dataclass(frozen=True)
class Proof:
    """What a winner's title rests on; `ties` are names of others that might have won."""

    samples: int
    rounds: int
    lead: Ratio
    ties: Sequence[str]


@dataclass(frozen=True)
class Choice:
    """What does the sizes above < bytes <= up_to of an operation, and how it did against libc.

    `copy`: of the architecture's spaces, as operation and kind say; of threads a Share. Where there
    is a copy that senses (`sensing`), that is taken and measured, and `copy` only without a usable
    counter; `plain_ratio` and `plain_gb_per_s` are what it reached then. `size` is what
    was timed; ratio, proof and the rest are None or empty where the profile does not say.
    """

    operation: str
    kind: str
    intent: str | None
    above: int
    up_to: int
    size: int
    copy: Any
    sensing: SensingCopy | None = None
    ratio: float | None = None
    plain_ratio: float | None = None
    workloads: Mapping[str, Measurement] = ()
    gb_per_s: float | None = None
    plain_gb_per_s: float | None = None
    proof: Proof | None = None
    noise_floor: Mapping[str, Ratio] = ()

    def rate(self, workload: str) -> float | None:
        """GB/s under a workload: bytes a nanosecond."""
        timing = self.workloads.get(workload) if self.workloads else None
        return self.size / timing.ns if timing and timing.ns else None

    @property
    def taken(self) -> Any:
        """All that its choice shows in one value: equal for choices that do the same."""
        return self.copy, self.sensing


@dataclass(frozen=True)
class LeftOut:
    """What a search did not get to: transfer sizes in bytes, and steps by name."""

    sizes: Sequence[int]
    steps: Sequence[str]


@dataclass(frozen=True)
class Profile:
    """A profile that passed every check. `raw` is the whole of it as JSON values.

    `machine` and `search` are empty where the profile has none; where it has them, the fields that
    the routine's head comment prints are there, "unknown" where the profile leaves them out.
    `left_out`, by operation, is empty where it is complete, and where it does not say.
    """

    architecture: str
    complete: bool
    left_out: Mapping[str, LeftOut]
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
