"""A profile that passed every check, as the rest of the package sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..spaces import probes, threads


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
class Timed:
    """How a copy did against libc; None and empty where the profile does not say."""

    ratio: float | None
    workloads: Mapping[str, Measurement]


@dataclass(frozen=True)
class Entry(Timed):
    """One pipeline and how it did."""

    tuple: Any  # of the architecture's pipelines of copies, or of sets
    tied: bool | None


@dataclass(frozen=True)
class Sensing(Timed):
    """One sensing copy and how it did; percentiles of its probe's ticks, see the schema."""

    copy: probes.SensingCopy
    cached_ticks: float | None
    uncached_ticks: float | None


@dataclass(frozen=True)
class Proof:
    """What a winner's title rests on; `ties` are names of others that might have won."""

    samples: int
    rounds: int
    lead: Ratio
    ties: Sequence[str]


@dataclass(frozen=True)
class Interval:
    """The transfer sizes above < bytes <= up_to; `size` is the one that was measured.

    Where there is a sensing copy it is taken, and the winner only without a usable counter.
    `proof`: None where the profile does not say.
    """

    above: int
    up_to: int
    size: int
    winner: Entry
    proof: Proof | None
    sensing: Sensing | None
    runners_up: Sequence[Entry]
    noise_floor: Mapping[str, Ratio]


@dataclass(frozen=True)
class SmallEntry:
    """One small copy or set and how it did against libc."""

    tuple: Any  # of the architecture's small copies, or small sets
    ratio: float | None
    tied: bool | None
    workloads: Mapping[str, Measurement]


@dataclass(frozen=True)
class Aliased:
    """The copy for buffers that alias modulo 4096, for above < bytes <= up_to."""

    above: int
    up_to: int
    tuple: Any  # of the architecture's copies for such buffers


@dataclass(frozen=True)
class Overlapping:
    """The copy for buffers that overlap, and how it did against libc."""

    tuple: Any  # of the architecture's copies for such buffers
    ratio: float | None = None


@dataclass(frozen=True)
class LeftOut:
    """What a search did not get to: transfer sizes in bytes, and steps by name."""

    sizes: Sequence[int]
    steps: Sequence[str]


@dataclass(frozen=True)
class Intent:
    """The winners of one workload, for callers who know that it is theirs."""

    workload: str
    intervals: Sequence[Interval]


@dataclass(frozen=True)
class Memset:
    """The winners of memset, each field as a profile's own."""

    intervals: Sequence[Interval]
    small: SmallEntry | None
    left_out: LeftOut | None


@dataclass(frozen=True)
class Profile:
    """A profile that passed every check. `raw` is the whole of it as JSON values.

    `machine` and `search` are empty where the profile has none; where it has them, the fields that
    the routine's head comment prints are there, "unknown" where the profile leaves them out.
    `left_out` is None where it is complete, and where it does not say.
    """

    architecture: str
    complete: bool
    left_out: LeftOut | None
    source: str | None
    machine: Mapping[str, Any]
    search: Mapping[str, Any]
    intervals: Sequence[Interval]
    intents: Mapping[str, Intent]  # by workload
    small: SmallEntry | None
    aliased: Aliased | None
    overlapping: Overlapping | None
    shares: Sequence[threads.Share]  # below the first one, and where there is none: alone
    memset: Memset | None
    raw: Mapping[str, Any]
