"""The space of pipelines: the tuples that exist, and the CPU features that each needs.

A tuple is (rt, lt, st, pt, ps, pd), named as in Kappes and Anastasiadis, "Asterope", PLOS 2021, and
the axes with a mark. The paper knows x86-64 only: here its part of the space is searched first, and
the axes with a mark around its best. Non-temporal loads and stores are hints on this
architecture (Arm ARM, C3.2.5): they need no alignment, and no barrier behind them.

A line is 64 bytes here, even if those of the CPU's caches are larger.
"""

from __future__ import annotations

from typing import Any

from .. import tuples
from ..axis import Axis

MOPS, SVE = "MOPS", "SVE"
VECTORS = ("Q", SVE)

# As /proc/cpuinfo names them. Every AArch64 CPU has the others.
_NEEDS = {SVE: "sve", MOPS: "mops"}

# DC ZVA is permitted and clears 64 bytes, as DCZID_EL0 says. No name of /proc/cpuinfo's.
CLEARS_LINES = "zva64"

_SIZES = (0, *range(2, 15, 2))
_DISTANCES = tuple(range(0, 31, 2))


def needs_of_register(rt: str) -> str:
    """The CPU feature of a register type; empty for those that every CPU has."""
    return _NEEDS.get(rt, "")


AXES = (
    Axis(
        "rt",
        (MOPS, "X", *VECTORS),
        "Register type: what carries the data. X: pairs of general registers. Q: pairs of 128-bit "
        "registers. SVE: vectors as long as the CPU has them. MOPS: the instructions cpyfp, cpyfm "
        "and cpyfe.",
        needs=needs_of_register,
    ),
    Axis("lt", ("T", "NT"), "Load type: T temporal, NT non-temporal (ldnp, ldnt1b)."),
    Axis("st", ("T", "NT"), "Store type: T temporal, NT non-temporal (stnp, stnt1b)."),
    Axis(
        "pt",
        ("none", "L1KEEP", "L2KEEP", "L3KEEP", "L1STRM"),
        "Prefetch type: the operand of prfm, without the pld before it.",
    ),
    Axis(
        "ps",
        _SIZES,
        "Prefetch size in lines of 64 bytes: what one prefetch stage fetches. 0 only without "
        "prefetch.",
    ),
    Axis(
        "pd",
        _DISTANCES,
        "Prefetch distance in lines of 64 bytes: how far ahead of the load the prefetch stage "
        "runs.",
        stage="ps",
        argument=1,
    ),
    Axis(
        "tb",
        (2, 1, 4, 8),
        "Transfer block: what one load stage and one store stage move, in lines of 64 bytes; of "
        "SVE, in vectors. Where missing: 2.",
        paper=1,
        extension="tb",
        mark="TB",
        words=lambda tb: f"blocks of {tb}",
        legend="transfer block in lines (of SVE in vectors)",
    ),
    tuples.PAGES_INTERLEAVED,
    Axis(
        "pw",
        (0, 2, 4, 8, 16, 32),
        "Prefetch of the destination for write (pstl1keep), its distance in lines of 64 bytes. 0, "
        "or missing: none.",
        paper=1,
        extension="pw",
        mark="PW",
        words=lambda pw: f"pstl1keep {pw} lines ahead",
        legend="distance in lines of the prefetch of the destination for write (0: none)",
        stage="pw",
        argument=2,
    ),
    Axis(
        "clear",
        ("none", "zva"),
        "Whether each line of the destination is cleared by dc zva before it is stored to, so that "
        "it is not read. Where missing: none.",
        needs=lambda clear: "" if clear == "none" else CLEARS_LINES,
        title="CL",
        paper=1,
        extension="clear",
        mark="",
        words=lambda _: "dc zva before the stores",
        legend="how lines are cleared before they are stored to",
    ),
    tuples.DIRECTION,
)

# In which order variants are counted, the last one fastest: ties are broken in this order. A new
# axis goes to the front.
_NESTING = ("dir", "clear", "pi", "pw", "tb", "pt", "ps", "st", "lt", "rt")

# A stretch of 4096 bytes must be whole steps, and a step is at most 8 lines.
_INTERLEAVED_PREFETCH_SIZES = (2, 4, 8)

Tuple = tuples.classes(__name__, AXES, VECTORS=VECTORS, WHOLE=(MOPS,), EDGES=("Q",))

# Loads and stores alone: any AArch64 CPU runs them. They copy where the CPU lacks a feature of the
# winners, and where noise hid the fastest copy.
_PLAIN = Tuple("Q", "T", "T", "none", 0, 0)


def _prefetch_sizes(rt: str, tb: int, pi: int) -> tuple[int, ...]:
    """The prefetch sizes that there are: of registers whose length is known, whole blocks."""
    sizes = _SIZES[1:] if pi == 1 else _INTERLEAVED_PREFETCH_SIZES
    return tuple(ps for ps in sizes if rt == SVE or ps % tb == 0)


def _why_not(rt: str, lt: str, st: str, pt: str, ps: int, pd: int, **marked: Any) -> str | None:
    tb, pi, pw, clear, direction = (marked[one] for one in ("tb", "pi", "pw", "clear", "dir"))
    plain = (pi, clear, direction) == (1, "none", "up")
    if rt == MOPS and pt != "none":
        return f"{rt} is one copy: it has only pt none"
    if rt not in VECTORS and (only := Tuple.only_defaults(marked)):
        return f"{rt} has only {only}"
    if rt == SVE and not plain:
        # Their blocks have no length that is known: neither whole lines nor whole pages of them.
        return f"{rt} has only pi 1, clear none, dir up"
    if rt == SVE and pw and pt == "none":
        return f"with {rt} and pt none, pw is 0"
    if lt == "NT" and not (plain and pw == 0):
        return "with lt NT there is only pi 1, pw 0, clear none, dir up"
    if (pw or clear == "zva") and st != "T":
        return "pw is 0 and clear none with st NT"
    if clear == "zva" and (pi, pw, direction) != (1, 0, "up"):
        return "with clear zva there is only pi 1, pw 0, dir up"
    if pi > 1 and direction != "up":
        return "pages are interleaved only with dir up"
    if pt == "none":
        return None if (ps, pd) == (0, 0) else "without prefetch, ps and pd are 0"
    sizes = _prefetch_sizes(rt, tb, pi)
    if ps not in sizes:
        return f"with rt {rt}, tb {tb} and pi {pi}, ps is one of {' '.join(map(str, sizes))}"
    if pd not in _DISTANCES:
        return "pd is an even number of lines from 0 to 30"
    return None


SPACE = tuples.Pipelines(Tuple, _PLAIN, _NESTING, _why_not, by_rule=("ps", "pd"))
