"""The space of small copies: shapes, registers and orders of tests for 0 bytes up to a bound."""

from __future__ import annotations

from functools import partial

from .. import axes, axis, members
from ..axis import Axis

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


class Tuple(members.Small):
    """One small copy."""

    AXES = AXES


# What a profile without a small copy of its own gets, and one whose search was lost in noise: on
# any AArch64 CPU.
PLAIN = Tuple("stepped", "Q", "middle", 128)


def why_not(**values: axis.Value) -> str | None:
    """Why the small copy does not exist, or None where it does."""
    if outside := axis.why_outside(AXES, values):
        return outside
    shape, rt, order = values["shape"], values["rt"], values["order"]
    if shape == "sve" and (rt, order) != ("Q", "up"):
        return "the sve shape has only rt Q, order up"
    if shape == "grouped" and rt != "Q":
        return "the grouped shape has only rt Q"
    return None


# In which order they are counted, the last one fastest: in this order ties are broken.
NESTING = ("bound", "shape", "rt", "order")

# All of them, simplest first.
points = partial(axis.points, Tuple, NESTING, why_not)
