"""The space of small sets: the small copies' shapes, registers and orders of tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from . import small_copies
from .small_copies import BOUNDS, ORDERS, SHAPES, SmallTuple

__all__ = ["AXES", "BOUNDS", "ORDERS", "PLAIN", "SHAPES", "SmallSet", "small_sets", "why_not_small"]

_MEANINGS = {
    "shape": "How up to 64 bytes are set: stepped (a class for every power of two), grouped (few "
    "classes, no branch in each), clamped (16 bytes or more as grouped, fewer as stepped), masked "
    "(one AVX-512 masked store; masked32, masked16: only up to that many bytes), rep (rep stosb up "
    "to 127 bytes).",
    "bound": "In bytes: larger sets take a pipeline.",
}

AXES = tuple(
    replace(axis, meaning=_MEANINGS.get(axis.field, axis.meaning)) for axis in small_copies.AXES
)

# The same combinations exist.
why_not_small = small_copies.why_not_small


@dataclass(frozen=True)
class SmallSet(SmallTuple):
    """One small set: how it takes up to 64 bytes, what carries more, up to which bound."""

    AXES = AXES
    loads: ClassVar[bool] = False

    @property
    def needs(self) -> tuple[str, ...]:
        """The CPU features beyond baseline x86-64, as /proc/cpuinfo names them."""
        if self.rt == "ZMM":  # vpbroadcastb from a general register
            return tuple(sorted({"avx512bw", *super().needs}))
        return super().needs


# What a profile without a small set of its own gets, and one whose search was lost in noise.
PLAIN = SmallSet("stepped", "XMM", "middle", 128)


def small_sets() -> Iterator[SmallSet]:
    """All small sets, simplest first: in this order ties are broken."""
    return small_copies.small_tuples(SmallSet)
