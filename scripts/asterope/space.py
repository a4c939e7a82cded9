"""The paper's parameter space: which tuples exist, and what each needs of the CPU.

A tuple is (rt, lt, st, pt, ps, pd) as in Kappes and Anastasiadis, "Asterope", PLOS 2021: register
type, load type, store type, prefetch type, prefetch size and prefetch distance in cache lines.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import astuple, dataclass

REGISTER_TYPES = ("REP_MOVSB", "REP_MOVSQ", "R64", "MM", "XMM", "YMM", "ZMM")
ACCESS_TYPES = ("T", "NT")
PREFETCH_TYPES = ("none", "T0", "T1", "T2", "NTA")
PREFETCH_SIZES = tuple(range(2, 15, 2))
PREFETCH_DISTANCES = tuple(range(0, 31, 2))

# A candidate copies any size from here up; the small copies cover what is below.
MINIMUM_BYTES = 128


@dataclass(frozen=True)
class Variant:
    """A tuple without its prefetch distance: one copy function of the tuner."""

    rt: str
    lt: str
    st: str
    pt: str
    ps: int

    @property
    def name(self) -> str:
        """How the tuple is written in tables and logs: `ZMM T NT T0 4`."""
        return " ".join(str(field) for field in astuple(self))

    @property
    def symbol(self) -> str:
        """The same as a part of a C identifier: `zmm_t_nt_t0_4`."""
        return self.name.lower().replace(" ", "_")

    @property
    def is_rep(self) -> bool:
        """Whether one string instruction does it all."""
        return self.rt.startswith("REP")

    @property
    def needs(self) -> str:
        """The CPU feature beyond baseline x86-64, as /proc/cpuinfo names it, or ""."""
        if self.rt == "ZMM":
            return "avx512f"
        if self.rt == "YMM":
            return "avx2"  # AVX has no 256-bit movntdqa; one check for all YMM keeps it simple
        if self.rt == "XMM" and self.lt == "NT":
            return "sse4_1"
        return ""


@dataclass(frozen=True)
class Tuple(Variant):
    """One point of the space: a variant at one prefetch distance."""

    pd: int


def why_not(rt: str, lt: str, st: str, pt: str, ps: int, pd: int) -> str | None:
    """Why the tuple does not exist, or None where it does."""
    for field, value, domain in (
        ("rt", rt, REGISTER_TYPES),
        ("lt", lt, ACCESS_TYPES),
        ("st", st, ACCESS_TYPES),
        ("pt", pt, PREFETCH_TYPES),
    ):
        if value not in domain:
            return f"{field} is none of {' '.join(domain)}"
    if rt.startswith("REP") and (lt, st, pt) != ("T", "T", "none"):
        return f"{rt} is one instruction: it has only lt T, st T, pt none"
    if lt == "NT" and rt in ("R64", "MM"):
        return f"there is no non-temporal load for {rt}"
    if pt == "none":
        return None if (ps, pd) == (0, 0) else "without prefetch, ps and pd are 0"
    if ps not in PREFETCH_SIZES:
        return "ps is an even number of cache lines from 2 to 14"
    if pd not in PREFETCH_DISTANCES:
        return "pd is an even number of cache lines from 0 to 30"
    return None


def variants() -> Iterator[Variant]:
    """All variants, simplest first: in this order ties are broken."""
    for pt, ps in itertools.product(PREFETCH_TYPES, (0, *PREFETCH_SIZES)):
        for st, lt, rt in itertools.product(ACCESS_TYPES, ACCESS_TYPES, REGISTER_TYPES):
            if why_not(rt, lt, st, pt, ps, 0) is None:
                yield Variant(rt, lt, st, pt, ps)
