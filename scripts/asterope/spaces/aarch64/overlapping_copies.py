"""The space of copies for buffers that overlap, and for those that alias modulo 4096."""

from __future__ import annotations

from collections.abc import Iterator

from .. import members
from ..axis import Axis, why_outside

BLOCKS = (128, 64)

AXES = (
    Axis("rt", ("Q",), "Register type."),
    Axis("block", BLOCKS, "Bytes that a turn of the loop moves."),
)


class OverlappingTuple(members.Overlapping):
    """One such copy."""

    AXES = AXES


# What any AArch64 CPU runs, and a profile without such a copy of its own gets.
PLAIN = OverlappingTuple("Q", 128)


def why_not_overlapping(rt: str, block: int) -> str | None:
    """Why the copy does not exist, or None where it does."""
    return why_outside(AXES, {"rt": rt, "block": block})


def overlapping_tuples() -> Iterator[OverlappingTuple]:
    """All of them, simplest first."""
    for block in BLOCKS:
        yield OverlappingTuple("Q", block)
