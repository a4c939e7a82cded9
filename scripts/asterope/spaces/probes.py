"""The probes of sensing copies and sets: how they find out whether their buffers are cached."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .axis import Axis, Copy, Space

# The least a sensing copy takes, in bytes.
MINIMUM_BYTES = 16384

# The pipelines that it chooses among, by what it finds; and the fields that a profile must have.
WAYS = ("hot", "produce", "fetch", "cold")
ROLES = ("threshold", "hot", "cold", "plain")

_LINES = Axis("lines", (2, 4), "How many cache lines of a side it loads from.")


@dataclass(frozen=True)
class Probe(Copy):
    """The timed loads before the copy goes on with one of its pipelines.

    `kind`: source loads from as many `lines` of the source, spread evenly. each does the same, and
    where these take long, loads as many from the destination. both loads as many from each side at
    once, and where these take long, from each side alone. More than one wait for memory fits into
    the same time, so that several loads cost hardly more than one.
    """

    kind: str
    lines: int

    AXES = (
        Axis("kind", ("source", "each", "both"), "Which sides of the copy the probe times."),
        _LINES,
    )


# (Rejected: 8 lines, which take a tenth longer than 4 where they are uncached and told no case
# apart that 4 did not.)
SPACE = Space(Probe, Probe("source", 2), ("kind", "lines"))
PROBES = tuple(SPACE.points())


@dataclass(frozen=True)
class ProbeOfSets(Probe):
    """The timed loads before a set. destination loads from as many `lines` of it.

    Where these take long, the stores that serve the program at the set's call site go on.
    """

    AXES = (Axis("kind", ("destination",), "The side of the set that the probe times."), _LINES)


SPACE_OF_SETS = Space(ProbeOfSets, ProbeOfSets("destination", 2), ("kind", "lines"))
PROBES_OF_SETS = tuple(SPACE_OF_SETS.points())

# The ways that a probe of each kind can find.
FOUND = {
    "source": ("hot", "cold"),
    "each": ("hot", "fetch", "cold"),
    "both": WAYS,
    "destination": ("hot", "cold"),
}

# Copies with a probe of these kinds remember call sites. Where the destination is uncached, they
# try the stores of several ways, and keep to those that serve the program.
HEEDING = ("both", "destination")


def why_not_sensing(kind: str, ways: Iterable[str]) -> str | None:
    """Why a probe of this kind does not go on with these of `WAYS`, or None where it does."""
    for way in WAYS:
        goes = way in FOUND[kind]
        if (way in ways) != goes:
            return f"a probe of kind {kind} {'goes' if goes else 'never goes'} on with {way}"
    return None


@dataclass(frozen=True)
class SensingCopy:
    """A copy that goes on with one of two to four pipelines, by the ticks of its probe.

    A side is cached where its ticks are not above `threshold`. A cached source has `hot`; else a
    cached destination has `fetch`, with probes of kind `each` and `both`; else it is `cold`. With
    `both`, a cached source and an uncached destination have `produce`. None: it has no such way. A
    set has a destination alone: where that is cached it has `hot`, else `hot` or `cold`.
    """

    probe: Probe
    threshold: int
    hot: Any
    cold: Any
    fetch: Any = None
    produce: Any = None

    @property
    def pipelines(self) -> tuple[tuple[str, Any], ...]:
        """All that it may go on with, each behind its way."""
        return tuple((way, getattr(self, way)) for way in FOUND[self.probe.kind])

    @property
    def heeds(self) -> bool:
        """Whether it remembers call sites."""
        return self.probe.kind in HEEDING

    @property
    def all_pipelines(self) -> tuple[Any, ...]:
        """The same without the ways."""
        return tuple(pipeline for _, pipeline in self.pipelines)
