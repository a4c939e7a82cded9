"""The kinds of copies beside the pipelines: the part of each that all architectures share."""

from __future__ import annotations

from dataclasses import dataclass

from .axis import Axis, Copy

# The least that an overlapping copy takes of buffers that alias modulo 4096, in bytes: up to there
# aliasing costs little.
MINIMUM_OF_ALIASED = 512

ORDER = Axis(
    "order",
    ("middle", "up", "down"),
    "Order of the tests: smallest class first (up), largest first (down), 16 bytes first (middle). "
    "On x86-64 the classes from 64 bytes on go before those, but for middle.",
)


@dataclass(frozen=True)
class Overlapping(Copy):
    """A copy for buffers that overlap or alias: its registers, and the bytes of a turn."""

    rt: str
    block: int

    @property
    def name(self) -> str:
        """How it is written in logs: `overlapping ZMM 256`."""
        return f"overlapping {self.rt} {self.block}"

    @property
    def symbol(self) -> str:
        return f"{self.rt}_{self.block}".lower()


@dataclass(frozen=True)
class Small(Copy):
    """A small copy: its shape up to 64 bytes, its registers, the order of its tests, its bound."""

    shape: str
    rt: str
    order: str
    bound: int

    NESTING = ("bound", "shape", "rt", "order")
