"""The space of pipelines that set: those of copies without a load stage, all bytes the same.

A tuple is (rt, st), named as in the paper's pipelines, and the axes with a mark: transfer block and
prefetch of the destination for write. CLZERO clears a line past every cache; a buffer of another
byte than zero takes XMM registers there.
"""

from __future__ import annotations

from .. import axis, tuples
from ..axis import Axis
from .pipelines import AXES as AXES_OF_COPIES
from .pipelines import VECTORS, needs_of_register

CLEARING = "CLZERO"

# One instruction sets everything.
WHOLE = ("REP_STOSB", "REP_STOSQ")


def _needs(rt: str) -> str:
    # vpbroadcastb from a general register to ZMM
    return {"ZMM": "avx512bw avx512f", CLEARING: "clzero"}.get(rt, needs_of_register(rt))


AXES = (
    Axis(
        "rt",
        (*WHOLE, "R64", *VECTORS, CLEARING),
        "Register type: what carries the byte.",
        needs=_needs,
    ),
    Axis("st", ("T", "NT"), "Store type: T temporal, NT non-temporal."),
    axis.of_sets(
        AXES_OF_COPIES,
        "tb",
        "Transfer block in cache lines: what a turn of the loop sets. Where missing: 2.",
    ),
    axis.of_sets(
        AXES_OF_COPIES,
        "pw",
        "Prefetch of the buffer for write, its distance in cache lines. 0, or missing: none.",
    ),
)

# In which order variants are counted, the last one fastest: ties are broken in this order.
_NESTING = ("pw", "tb", "st", "rt")

Tuple = tuples.classes(__name__, AXES, AXES_OF_COPIES, VECTORS=VECTORS, EDGES=VECTORS, WHOLE=WHOLE)

# Stores alone: any x86-64 CPU runs them. They set where the CPU lacks a feature of the winners, and
# where noise hid the fastest set.
_PLAIN = Tuple("XMM", "T")


def _why_not(rt: str, st: str, tb: int, pw: int) -> str | None:
    if rt in WHOLE and (st, tb, pw) != ("T", 2, 0):
        return f"{rt} is one instruction: it has only st T, tb 2, pw 0"
    if rt == CLEARING and st != "NT":
        return f"{rt} is a non-temporal store: it has only st NT"
    if pw and st != "T":
        return "pw is 0 with st NT, which does not wait for the destination"
    return None


SPACE = tuples.Pipelines(Tuple, _PLAIN, _NESTING, _why_not)
