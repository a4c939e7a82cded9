"""The space of small copies: shapes, registers and orders of tests for 0 bytes up to a bound."""

from __future__ import annotations

from functools import partial

from .. import axes, axis, members
from ..axis import Axis
from .registers import VECTORS

SHAPES = ("stepped", "grouped", "clamped", "masked", "masked32", "masked16", "rep")
BOUNDS = (128, 256, 512, 1024)

AXES = (
    Axis(
        "shape",
        SHAPES,
        "How up to 64 bytes are copied: stepped (a class for every power of two), grouped (few "
        "classes, no branch in each), clamped (16 bytes or more as grouped, fewer as stepped), "
        "masked (one AVX-512 masked move; masked32, masked16: only up to that many bytes), rep "
        "(rep movsb up to 127 bytes).",
    ),
    Axis("rt", VECTORS, "The widest register."),
    axes.ORDER,
    Axis("bound", BOUNDS, "In bytes: larger copies take a pipeline."),
)

# Bytes that the registers of a type hold at once; ZMM has registers 16 to 31 alone (stages.j2). A
# set needs one of them only, but with more stores than these a loop is shorter.
_MOST_BYTES = {"XMM": 256, "YMM": 512, "ZMM": 1024}


class Tuple(members.Small):
    """One small copy."""

    AXES = AXES

    @property
    def masked_bytes(self) -> int:
        """How many bytes one masked move takes; 0 in the other shapes."""
        return {"masked": 64, "masked32": 32, "masked16": 16}.get(self.shape, 0)

    @property
    def copies_upwards_only(self) -> bool:
        """Whether it is wrong where the destination begins within the source: rep movsb is."""
        return self.shape == "rep"

    @property
    def needs(self) -> tuple[str, ...]:
        """The CPU features beyond baseline x86-64, as /proc/cpuinfo names them."""
        if self.masked_bytes:
            return ("avx512bw", "avx512f", "avx512vl", "bmi2")
        if self.rt == "ZMM":
            return ("avx512f", "avx512vl")
        return ("avx2",) if self.rt == "YMM" else ()


# What a profile without a small copy of its own gets, and one whose search was lost in noise: as
# libc does it, on any x86-64 CPU.
PLAIN = Tuple("stepped", "XMM", "middle", 128)


def why_not(**values: axis.Value) -> str | None:
    """Why the small copy does not exist, or None where it does."""
    if outside := axis.why_outside(AXES, values):
        return outside
    shape, rt, order, bound = (values[one.field] for one in AXES)
    if shape.startswith("masked") and (rt != "ZMM" or order == "middle"):
        return "the masked shapes have only rt ZMM, orders up and down"
    if shape == "rep" and (rt, order) != ("XMM", "up"):
        return "the rep shape has only rt XMM, order up"
    if shape == "clamped" and order != "up":
        return "the clamped shape has only order up"
    if bound > _MOST_BYTES[rt]:
        return f"{rt} has bounds up to {_MOST_BYTES[rt]} bytes only"
    return None


# In which order they are counted, the last one fastest: in this order ties are broken.
NESTING = ("bound", "shape", "rt", "order")

# All of them, simplest first.
points = partial(axis.points, Tuple, NESTING, why_not)
