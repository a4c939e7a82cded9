"""The space of memset: pipelines without a load stage, all bytes the same.

A tuple is (rt, st), named as in the pipelines of copies, and the axes with a mark: transfer block
and prefetch of the destination for write. ZVA clears line after line with dc zva; a buffer of
another byte than zero takes Q registers there.
"""

from __future__ import annotations

from .. import axis, tuples
from ..axis import Axis
from .pipelines import AXES as AXES_OF_COPIES
from .pipelines import CLEARS_LINES, MOPS, SVE, VECTORS, needs_of_register

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
        AXES_OF_COPIES,
        "tb",
        "Transfer block: what a turn of the loop sets, in lines of 64 bytes; of SVE, in vectors. "
        "Where missing: 2.",
    ),
    axis.of_sets(
        AXES_OF_COPIES,
        "pw",
        "Prefetch of the buffer for write (pstl1keep), its distance in lines of 64 bytes. 0, or "
        "missing: none.",
    ),
)

# In which order variants are counted, the last one fastest: ties are broken in this order.
_NESTING = ("pw", "tb", "st", "rt")

Tuple = tuples.classes(__name__, AXES, AXES_OF_COPIES, VECTORS=VECTORS, WHOLE=(MOPS,), EDGES=("Q",))

# Stores alone: any AArch64 CPU runs them. They set where the CPU lacks a feature of the winners,
# and where noise hid the fastest set.
_PLAIN = Tuple("Q", "T")


def _why_not(rt: str, st: str, tb: int, pw: int) -> str | None:
    if rt == MOPS and (tb, pw) != (2, 0):
        return f"{rt} is one set: it has only tb 2, pw 0"
    if rt == CLEARING and (st, pw) != ("T", 0):
        return f"{rt} has only st T, pw 0"
    if rt == SVE and pw:
        return f"with {rt}, pw is 0"
    if pw and st != "T":
        return "pw is 0 with st NT"
    return None


SPACE = tuples.Pipelines(Tuple, _PLAIN, _NESTING, _why_not)
