"""The space of copies for buffers that overlap, and for those that alias modulo 4096."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from .. import members
from ..axis import Axis
from .registers import VECTORS, needs

BLOCKS = (128, 256)

AXES = (
    Axis("rt", VECTORS, "Register type.", needs=needs),
    Axis("block", BLOCKS, "Bytes that a turn of the loop moves."),
)


class OverlappingTuple(members.Overlapping):
    """One such copy."""

    AXES = AXES


# What any x86-64 CPU runs, and a profile without such a copy of its own gets.
PLAIN = OverlappingTuple("XMM", 128)


def why_not_overlapping(rt: str, block: int) -> str | None:
    """Why the copy does not exist, or None where it does."""
    if rt not in VECTORS:
        return f"rt is none of {' '.join(VECTORS)}"
    if block not in BLOCKS:
        return "block is 128 or 256 bytes"
    if (rt, block) == ("XMM", 256):
        return "16 XMM registers hold a block of 256 bytes, and nothing beside it"
    return None


def overlapping_tuples() -> Iterator[OverlappingTuple]:
    """All of them, simplest first."""
    for block, rt in itertools.product(BLOCKS, VECTORS):
        if why_not_overlapping(rt, block) is None:
            yield OverlappingTuple(rt, block)
