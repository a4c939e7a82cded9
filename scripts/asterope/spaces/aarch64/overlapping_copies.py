"""The space of copies for buffers that overlap, and for those that alias modulo 4096."""

from __future__ import annotations

from functools import partial

from .. import axis, members
from ..axis import Axis

AXES = (
    Axis("rt", ("Q",), "Register type."),
    Axis("block", (128, 64), "Bytes that a turn of the loop moves."),
)


class Tuple(members.Overlapping):
    """One such copy."""

    AXES = AXES


# What any AArch64 CPU runs, and a profile without such a copy of its own gets.
PLAIN = Tuple("Q", 128)


def why_not(**values: axis.Value) -> str | None:
    """Why the copy does not exist, or None where it does."""
    return axis.why_outside(AXES, values)


# All of them, simplest first.
points = partial(axis.points, Tuple, ("block", "rt"), why_not)
