"""The space of copies for buffers that overlap, and for those that alias modulo 4096."""

from __future__ import annotations

from functools import partial

from .. import axis, members
from ..axis import Axis
from .registers import VECTORS, needs

AXES = (
    Axis("rt", VECTORS, "Register type.", needs=needs),
    Axis("block", (128, 256), "Bytes that a turn of the loop moves."),
)


class Tuple(members.Overlapping):
    """One such copy."""

    AXES = AXES


# What any x86-64 CPU runs, and a profile without such a copy of its own gets.
PLAIN = Tuple("XMM", 128)


def why_not(**values: axis.Value) -> str | None:
    """Why the copy does not exist, or None where it does."""
    if outside := axis.why_outside(AXES, values):
        return outside
    if (values["rt"], values["block"]) == ("XMM", 256):
        return "16 XMM registers hold a block of 256 bytes, and nothing beside it"
    return None


# All of them, simplest first.
points = partial(axis.points, Tuple, ("block", "rt"), why_not)
