"""The space of copies for buffers that overlap."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

REGISTER_TYPES = ("XMM", "YMM", "ZMM")
BLOCKS = (128, 256)


@dataclass(frozen=True)
class OverlappingTuple:
    """One such copy: what carries the data, and how many bytes a turn of its loop moves."""

    rt: str
    block: int

    @property
    def name(self) -> str:
        """How it is written in logs: `overlapping ZMM 256`."""
        return f"overlapping {self.rt} {self.block}"

    @property
    def symbol(self) -> str:
        return f"{self.rt}_{self.block}".lower()

    @property
    def needs(self) -> tuple[str, ...]:
        """The CPU features beyond baseline x86-64, as /proc/cpuinfo names them."""
        return {"XMM": (), "YMM": ("avx2",), "ZMM": ("avx512f",)}[self.rt]


# What any x86-64 CPU runs, and a profile without such a copy of its own gets.
PLAIN = OverlappingTuple("XMM", 128)


def why_not_overlapping(rt: str, block: int) -> str | None:
    """Why the copy does not exist, or None where it does."""
    if rt not in REGISTER_TYPES:
        return f"rt is none of {' '.join(REGISTER_TYPES)}"
    if block not in BLOCKS:
        return "block is 128 or 256 bytes"
    if (rt, block) == ("XMM", 256):
        return "16 XMM registers hold a block of 256 bytes, and nothing beside it"
    return None


def overlapping_tuples() -> Iterator[OverlappingTuple]:
    """All of them, simplest first."""
    for block, rt in itertools.product(BLOCKS, REGISTER_TYPES):
        if why_not_overlapping(rt, block) is None:
            yield OverlappingTuple(rt, block)
