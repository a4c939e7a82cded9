"""The space of small copies: shapes, registers and orders of tests for 0 bytes up to a bound."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from .. import axes, members
from ..axes import ORDERS
from ..axis import Axis, why_outside

SHAPES = ("stepped", "grouped", "sve")
REGISTERS = ("Q", "X")
BOUNDS = (128, 256)

AXES = (
    Axis(
        "shape",
        SHAPES,
        "How up to 64 bytes are copied: stepped (a class for every power of two), grouped (few "
        "classes, no branch in each), sve (two predicated vectors, for as many bytes as they "
        "hold).",
        needs=lambda shape: "sve" if shape == "sve" else "",
    ),
    Axis("rt", REGISTERS, "What carries 16 to 64 bytes; Q carries more."),
    axes.ORDER,
    Axis("bound", BOUNDS, "In bytes: larger copies take a pipeline."),
)


class SmallTuple(members.Small):
    """One small copy."""

    AXES = AXES


# What a profile without a small copy of its own gets, and one whose search was lost in noise: on
# any AArch64 CPU.
PLAIN = SmallTuple("stepped", "Q", "middle", 128)


def why_not_small(shape: str, rt: str, order: str, bound: int) -> str | None:
    """Why the small copy does not exist, or None where it does."""
    outside = why_outside(AXES, {"shape": shape, "rt": rt, "order": order, "bound": bound})
    if outside:
        return outside
    if shape == "sve" and (rt, order) != ("Q", "up"):
        return "the sve shape has only rt Q, order up"
    if shape == "grouped" and rt != "Q":
        return "the grouped shape has only rt Q"
    return None


def small_tuples(make: type[SmallTuple] = SmallTuple) -> Iterator[SmallTuple]:
    """All small copies, simplest first: in this order ties are broken. `make`: their class."""
    for bound, shape, rt, order in itertools.product(BOUNDS, SHAPES, REGISTERS, ORDERS):
        if why_not_small(shape, rt, order, bound) is None:
            yield make(shape, rt, order, bound)
