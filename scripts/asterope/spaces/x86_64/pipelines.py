"""The space of pipelines: the tuples that exist, and the CPU features that each needs.

A tuple is (rt, lt, st, pt, ps, pd) as in Kappes and Anastasiadis, "Asterope", PLOS 2021. These are
register type, load type, store type, prefetch type, prefetch size and prefetch distance in cache
lines. Beyond the paper there are the axes with a mark. There is also the register type MOVDIR64B,
a direct store of 64 bytes past every cache. All facts on an axis are in the table below.
"""

from __future__ import annotations

from typing import Any

from .. import tuples
from ..axis import Axis

VECTORS = ("XMM", "YMM", "ZMM")
DIRECT = "MOVDIR64B"

# One instruction copies everything.
WHOLE = ("REP_MOVSB", "REP_MOVSQ")

# A loop with 256-bit registers needs AVX2: AVX has no 256-bit movntdqa; one for all is simple.
_NEEDS = {"YMM": "avx2", "ZMM": "avx512f", DIRECT: "movdir64b"}

_SIZES = (0, *range(2, 15, 2), 16)
_DISTANCES = tuple(range(0, 31, 2))


def needs_of_register(rt: str) -> str:
    """The CPU feature of a register type; empty for those that every CPU has."""
    return _NEEDS.get(rt, "")


AXES = (
    Axis(
        "rt",
        (*WHOLE, "R64", "MM", *VECTORS, DIRECT),
        "Register type: what carries the data.",
        needs=needs_of_register,
        paper=7,
        extension="movdir64b",
    ),
    # movntdqa has no unaligned form. With lt NT and st T, the source is aligned instead of the
    # destination. With st NT both would have to be aligned; where they are not, loads are plain.
    # Write-combining sources (--source-map) need movntdqa. On write-back memory it is a plain load.
    # The paper's machines copy such memory; their published winners have lt T alone. There lt NT
    # with st T only measures which side is aligned, and with st NT it changes nothing.
    #
    # (Rejected: the aligned side as an axis, 1,215 variants more. It won at no size on Zen 3, 384 B
    # to 64 KiB. With the source aligned, cached copies had 0.77 to 0.96 of the speed. With
    # prefetchw they had 1.01 at 12 to 16 KiB, but a reader took that back. Uncached copies were
    # alike. With neither side aligned both lost as much, unless that saves a loop's turn.)
    Axis(
        "lt",
        ("T", "NT"),
        "Load type: T temporal, NT non-temporal.",
        needs=lambda lt: "sse4_1" if lt == "NT" else "",
        implied_by="avx2 avx512f",
    ),
    Axis("st", ("T", "NT"), "Store type: T temporal, NT non-temporal."),
    Axis("pt", ("none", "T0", "T1", "T2", "NTA"), "Prefetch type."),
    Axis(
        "ps",
        _SIZES,
        "Prefetch size in cache lines: what one prefetch stage fetches. 0 only without prefetch, "
        "16 only with tb 16.",
    ),
    Axis(
        "pd",
        _DISTANCES,
        "Prefetch distance in cache lines: how far ahead of the load the prefetch stage runs.",
        stage="ps",
        argument=1,
    ),
    Axis(
        "tb",
        (2, 1, 4, 8, 16),
        "Transfer block in cache lines: what one load stage and one store stage move. "
        "Where missing: 2.",
        paper=1,
        extension="tb",
        mark="TB",
        words=lambda tb: f"blocks of {tb} line{'s' if tb > 1 else ''}",
        legend="transfer block in lines",
    ),
    tuples.PAGES_INTERLEAVED,
    Axis(
        "pw",
        (0, 2, 4, 8, 16, 32),
        "Prefetch of the destination for write, its distance in cache lines. 0, or missing: none.",
        needs=lambda pw: "3dnowprefetch" if pw else "",
        paper=1,
        extension="pw",
        mark="PW",
        words=lambda pw: f"prefetchw {pw} lines ahead",
        legend="distance in lines of the prefetch of the destination for write (0: none)",
        stage="pw",
        argument=2,
    ),
    # A store to a page that the system has not mapped yet faults. While it waits for the kernel,
    # each store behind it to the same page looks the page up in vain. One byte of the page, stored
    # before the copy gets there, takes the fault while the stores behind it go to mapped pages.
    # 4 MiB into untouched 4 KiB pages, libc's time over the copy's (Zen 4, a virtual machine):
    # XMM to ZMM without a page stage 0.9, one page ahead 1.2, two pages ahead 1.3.
    Axis(
        "pg",
        (0, 1, 2),
        "Page stage: how many pages ahead of the copy a byte of the destination is stored. 0, or "
        "missing: none.",
        paper=1,
        extension="pg",
        mark="PG",
        words=lambda pg: f"a byte stored {pg} page{'s' if pg > 1 else ''} ahead",
        legend="page stage: how many pages ahead a byte is stored (0: none)",
    ),
    tuples.DIRECTION,
)

# In which order variants are counted, the last one fastest: ties are broken in this order. A new
# axis goes to the front.
_NESTING = ("pg", "dir", "pi", "pw", "tb", "pt", "ps", "st", "lt", "rt")

# A stretch of 4096 bytes must be whole steps, and a step is at most 16 lines.
_INTERLEAVED_PREFETCH_SIZES = (2, 4, 8)

Tuple = tuples.classes(__name__, AXES, VECTORS=VECTORS, EDGES=VECTORS, WHOLE=WHOLE)

# Loads and stores alone: any x86-64 CPU runs them, and they are never far behind. They copy where
# the CPU lacks a feature of the winners, and where noise hid the fastest copy.
_PLAIN = Tuple("XMM", "T", "T", "none", 0, 0)


def _prefetch_sizes(tb: int, pi: int) -> tuple[int, ...]:
    """The prefetch sizes that a transfer block of `tb` lines can have: whole blocks."""
    if tb == 16:
        return (16,)
    sizes = _SIZES[1:-1] if pi == 1 else _INTERLEAVED_PREFETCH_SIZES
    return tuple(ps for ps in sizes if ps % tb == 0)


def _why_not(rt: str, lt: str, st: str, pt: str, ps: int, pd: int, **marked: Any) -> str | None:
    tb, pi, pw, direction = (marked[field] for field in ("tb", "pi", "pw", "dir"))
    if rt in WHOLE and (lt, st, pt) != ("T", "T", "none"):
        return f"{rt} is one instruction: it has only lt T, st T, pt none"
    if lt == "NT" and rt in ("R64", "MM"):
        return f"there is no non-temporal load for {rt}"
    if rt not in (*VECTORS, DIRECT) and (only := Tuple.only_defaults(marked)):
        return f"{rt} has only {only}"
    if rt == DIRECT and (lt, st) != ("T", "NT"):
        return f"{rt} is a non-temporal store: it has only lt T, st NT"
    if rt == DIRECT and direction != "up":
        return f"{rt} has only dir up"
    if lt == "NT" and (pi, pw, direction) != (1, 0, "up"):
        return "with lt NT there is only pi 1, pw 0, dir up"
    if pw and st != "T":
        return "pw is 0 with st NT, which does not wait for the destination"
    if pi > 1 and direction != "up":
        return "pages are interleaved only with dir up"
    if marked["pg"] and (lt, pt, pi, pw) != ("T", "none", 1, 0):
        return "with a page stage there is only lt T, pt none, pi 1, pw 0"
    if pt == "none":
        return None if (ps, pd) == (0, 0) else "without prefetch, ps and pd are 0"
    sizes = _prefetch_sizes(tb, pi)
    if ps not in sizes and (tb, pi) == (2, 1):
        return "ps is an even number of cache lines from 2 to 14"
    if ps not in sizes:
        return f"with tb {tb} and pi {pi}, ps is one of {' '.join(map(str, sizes))}"
    if pd not in _DISTANCES:
        return "pd is an even number of cache lines from 0 to 30"
    return None


SPACE = tuples.Pipelines(Tuple, _PLAIN, _NESTING, _why_not, by_rule=("ps", "pd"))
