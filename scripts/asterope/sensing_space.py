"""The probes of sensing copies: how a copy finds out whether its buffers are cached."""

from __future__ import annotations

from dataclasses import dataclass

from . import space

# The least a sensing copy takes, in bytes.
MINIMUM_BYTES = 4096

# Ticks of the time stamp counter; the copy compares 32 bits of them.
MAXIMUM_THRESHOLD = 2**32 - 1


@dataclass(frozen=True)
class Probe:
    """What is timed before the copy goes on with one of two pipelines.

    `kind`: source (loads from as many `lines` of the source, spread evenly), both (from half as
    many of either side, each side by itself, and the longer time counts), least (the same, and the
    shorter time counts), copy (the first `lines` lines are copied). More than one wait for memory
    fits into the same time, so that several loads cost hardly more than one.
    """

    kind: str
    lines: int

    @property
    def name(self) -> str:
        """How it is written in tables and logs: `source 4`."""
        return f"{self.kind} {self.lines}"

    @property
    def symbol(self) -> str:
        return f"{self.kind}_{self.lines}"

    @property
    def needs(self) -> tuple[str, ...]:
        """No feature that a search must grant: where there is no counter, a probe dies."""
        return ()


# Simplest first: in this order ties are broken.
PROBES = (
    Probe("source", 2),
    Probe("source", 4),
    Probe("source", 8),
    Probe("both", 4),
    Probe("both", 8),
    Probe("least", 4),
    Probe("least", 8),
    Probe("copy", 16),
    Probe("copy", 64),
)


def why_not_probe(kind: str, lines: int) -> str | None:
    """Why the probe does not exist, or None where it does."""
    lines_of_kind = [str(probe.lines) for probe in PROBES if probe.kind == kind]
    if not lines_of_kind:
        return f"kind is none of {' '.join(dict.fromkeys(probe.kind for probe in PROBES))}"
    if str(lines) not in lines_of_kind:
        return f"a probe of kind {kind} has {' or '.join(lines_of_kind)} lines"
    return None


@dataclass(frozen=True)
class SensingCopy:
    """One sensing copy: above `threshold` ticks of its probe `cold` goes on, else `hot`."""

    probe: Probe
    threshold: int
    hot: space.Tuple
    cold: space.Tuple
