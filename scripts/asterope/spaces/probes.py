"""The probes of sensing copies: how they find out whether their buffers are cached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .axis import Axis, Copy, Space

# The least a sensing copy takes, in bytes.
MINIMUM_BYTES = 4096

# The loads from the destination that take so many times the threshold, or longer, met pages that
# nobody had touched. The kernel clears these in the cache, so that they are as good as cached. With
# a threshold of 209 ticks: two loads past all caches and the TLB 468, of a hundred one above 1,400;
# two page faults 12,000 (Zen 5, a virtual machine; 4 KiB pages).
FAULT = 10

# Ticks of the counter that the templates read; the copy compares 32 bits of them.
MAXIMUM_THRESHOLD = (2**32 - 1) // FAULT

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
    FAULT = FAULT

    @staticmethod
    def least_fault(threshold: int) -> int:
        """The least ticks that tell untouched pages; with the threshold 0 none do."""
        return FAULT * threshold or 2**32


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
    and where the destination's are not above it, or FAULT times that or more, `fetch`; else `cold`.
    `fetch`: None for others.
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
