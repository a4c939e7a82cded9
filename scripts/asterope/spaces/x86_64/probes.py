"""The probes of sensing copies: how a copy finds out whether its buffers are cached."""

from __future__ import annotations

from dataclasses import dataclass

from ..axis import Axis, Copy
from . import pipelines

# The least a sensing copy takes, in bytes.
MINIMUM_BYTES = 4096

# Ticks of the time stamp counter; the copy compares 32 bits of them.
MAXIMUM_THRESHOLD = 2**32 - 1

AXES = (
    Axis("kind", ("source", "both", "least", "copy"), "What the probe times."),
    Axis("lines", (2, 4, 8, 16, 64), "How many cache lines it touches."),
)


@dataclass(frozen=True)
class Probe(Copy):
    """What is timed before the copy goes on with one of two pipelines.

    `kind`: source (loads from as many `lines` of the source, spread evenly), both (from half as
    many of either side, each side by itself, and the longer time counts), least (the same, and the
    shorter time counts), copy (the first `lines` lines are copied). More than one wait for memory
    fits into the same time, so that several loads cost hardly more than one.
    """

    kind: str
    lines: int

    AXES = AXES


# Simplest first: in this order ties are broken.
PROBES = tuple(
    Probe(kind, lines)
    for kind, counts in (
        ("source", (2, 4, 8)),
        ("both", (4, 8)),
        ("least", (4, 8)),
        ("copy", (16, 64)),
    )
    for lines in counts
)


def why_not_probe(kind: str, lines: int) -> str | None:
    """Why the probe does not exist, or None where it does."""
    outside = AXES[0].why_not(kind)
    if outside:
        return outside
    lines_of_kind = [str(probe.lines) for probe in PROBES if probe.kind == kind]
    if str(lines) not in lines_of_kind:
        return f"a probe of kind {kind} has {' or '.join(lines_of_kind)} lines"
    return None


@dataclass(frozen=True)
class SensingCopy:
    """One sensing copy: above `threshold` ticks of its probe `cold` goes on, else `hot`."""

    probe: Probe
    threshold: int
    hot: pipelines.Tuple
    cold: pipelines.Tuple
