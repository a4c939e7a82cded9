"""The probes of sensing copies: how they find out whether their buffers are cached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .axis import Axis, Copy, Space

# The least a sensing copy takes, in bytes.
MINIMUM_BYTES = 4096

# What it goes on with, by what it finds; and what a profile must have of one besides.
WAYS = ("hot", "cold", "fetch")
ROLES = ("threshold", "hot", "cold", "plain")

AXES = (
    Axis("kind", ("source", "each"), "Which sides of the copy the probe times."),
    Axis("lines", (2, 4), "How many cache lines of a side it loads from."),
)


@dataclass(frozen=True)
class Probe(Copy):
    """What is timed before the copy goes on with one of its pipelines.

    `kind`: source (loads from as many `lines` of the source, spread evenly), each (the same, and
    where these take long, as many from the destination). More than one wait for memory fits into
    the same time, so that several loads cost hardly more than one.
    """

    kind: str
    lines: int

    AXES = AXES


# (Rejected: 8 lines, which take a tenth longer than 4 where they are uncached and told no case
# apart that 4 did not.)
SPACE = Space(Probe, Probe("source", 2), ("kind", "lines"), lambda **_: None)
PROBES = tuple(SPACE.points())


def why_not_sensing(kind: str, has_fetch: bool) -> str | None:
    """Why there is no such sensing copy, or None where there is."""
    if has_fetch != (kind == "each"):
        return f"a probe of kind {kind} {'goes' if kind == 'each' else 'never goes'} on with fetch"
    return None


@dataclass(frozen=True)
class SensingCopy:
    """A copy that goes on with one of two or three pipelines, by the ticks of its probe.

    Where the source's are not above `threshold` that is `hot`; else, with a probe of kind `each`
    and where the destination's are not above it, `fetch`; else `cold`. `fetch`: None for others.
    """

    probe: Probe
    threshold: int
    hot: Any
    cold: Any
    fetch: Any = None

    @property
    def all_pipelines(self) -> tuple[Any, ...]:
        """All that it may go on with."""
        return (self.hot, self.cold) if self.fetch is None else (self.hot, self.cold, self.fetch)
