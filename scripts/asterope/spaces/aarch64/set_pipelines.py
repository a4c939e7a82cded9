"""The space of memset: pipelines without a load stage, all bytes the same.

A tuple is (rt, st), named as in the pipelines of copies, and the axes with a mark: transfer block
and prefetch of the destination for write. ZVA clears line after line with dc zva; a buffer of
another byte than zero takes Q registers there.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from .. import axis, tuples
from ..axis import Axis
from . import pipelines
from .registers import CLEARS_LINES, MOPS, SVE, VECTORS
from .registers import needs as needs_of_register

CLEARING = "ZVA"


AXES = (
    Axis(
        "rt",
        (MOPS, "X", *VECTORS, CLEARING),
        "Register type: what carries the byte.",
        needs=lambda rt: CLEARS_LINES if rt == CLEARING else needs_of_register(rt),
    ),
    Axis("st", ("T", "NT"), "Store type: T temporal, NT non-temporal."),
    axis.of_sets(
        pipelines.AXES,
        "tb",
        "Transfer block: what a turn of the loop sets, in lines of 64 bytes; of SVE, in vectors. "
        "Where missing: 2.",
    ),
    axis.of_sets(
        pipelines.AXES,
        "pw",
        "Prefetch of the buffer for write (pstl1keep), its distance in lines of 64 bytes. 0, or "
        "missing: none.",
    ),
)
MARKED = tuple(axis for axis in AXES if axis.mark is not None)

# In which order variants are counted, the last one fastest: ties are broken in this order.
_NESTING = ("pw", "tb", "st", "rt")

# What the templates ask of a pipeline, and a set has not.
_LACKS = {
    **{"loads": False, "lt": "", "pt": "none", "ps": 0, "pd": 0},
    **{"pi": 1, "clear": "none", "dir": "up"},
}

Variant, Tuple = tuples.classes(
    __name__, AXES, _LACKS, vectors=VECTORS, whole=(MOPS,), edges=("Q",)
)

# Stores and nothing else, on any AArch64 CPU: what sets where the CPU lacks what the winners need,
# and where noise hid which set is the fastest.
PLAIN = Tuple("Q", "T")


def why_not(rt: str, st: str, **marked: Any) -> str | None:
    """Why the tuple does not exist, or None where it does. `marked`: tb, pw."""
    marked = {one.field: marked.get(one.field, one.default) for one in MARKED}
    outside = axis.why_outside(AXES, {"rt": rt, "st": st, **marked})
    if outside:
        return outside
    if rt == MOPS and (marked["tb"], marked["pw"]) != (2, 0):
        return f"{rt} is one set: it has only tb 2, pw 0"
    if rt == CLEARING and (st, marked["pw"]) != ("T", 0):
        return f"{rt} has only st T, pw 0"
    if rt == SVE and marked["pw"]:
        return f"with {rt}, pw is 0"
    if marked["pw"] and st != "T":
        return "pw is 0 with st NT"
    return None


# All variants, simplest first: in this order ties are broken.
variants = partial(tuples.variants, Variant, _NESTING, why_not)

# By its name; None where there is none.
named = partial(tuples.named, Tuple, why_not)
