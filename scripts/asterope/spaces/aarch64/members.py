"""The copies of AArch64 beside its pipelines: small copies and sets, overlapping copies."""

from __future__ import annotations

from dataclasses import replace

from .. import members
from ..axis import Axis, Space


class _SmallCopy(members.Small):
    """One small copy."""

    AXES = (
        Axis(
            "shape",
            ("stepped", "grouped", "sve"),
            "How up to 64 bytes are copied: stepped (a class for every power of two), grouped (few "
            "classes, no branch in each), sve (two predicated vectors, for as many bytes as they "
            "hold).",
            needs=lambda shape: "sve" if shape == "sve" else "",
        ),
        Axis("rt", ("Q", "X"), "What carries 16 to 64 bytes; Q carries more."),
        members.ORDER,
        Axis("bound", (128, 256), "In bytes: larger copies take a pipeline."),
    )


class _SmallSet(_SmallCopy):
    """One small set."""

    _SHAPE, *_OTHERS, _BOUND = _SmallCopy.AXES
    AXES = (
        replace(
            _SHAPE,
            meaning="How up to 64 bytes are set: stepped (a class for every power of two), grouped "
            "(few classes, no branch in each), sve (two predicated vectors, for as many bytes as "
            "they hold).",
        ),
        *_OTHERS,
        replace(_BOUND, meaning="In bytes: larger sets take a pipeline."),
    )
    loads, stem = False, "set"


def _why_no_small(shape: str, rt: str, order: str, bound: int) -> str | None:
    if shape == "sve" and (rt, order) != ("Q", "up"):
        return "the sve shape has only rt Q, order up"
    if shape == "grouped" and rt != "Q":
        return "the grouped shape has only rt Q"
    return None


small_copies, small_sets = (
    Space(make, make("stepped", "Q", "middle", 128), members.Small.NESTING, _why_no_small)
    for make in (_SmallCopy, _SmallSet)
)


class _Overlapping(members.Overlapping):
    """A copy for buffers that overlap or alias."""

    AXES = (
        Axis("rt", ("Q",), "Register type."),
        Axis("block", (128, 64), "Bytes that a turn of the loop moves."),
    )


overlapping_copies = Space(_Overlapping, _Overlapping("Q", 128), ("block", "rt"))
