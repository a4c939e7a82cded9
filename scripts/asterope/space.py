"""The parameter space: which tuples exist, and what each needs of the CPU.

A tuple is (rt, lt, st, pt, ps, pd) as in Kappes and Anastasiadis, "Asterope", PLOS 2021: register
type, load type, store type, prefetch type, prefetch size and prefetch distance in cache lines; and
beyond the paper, each with the paper's own value as its default:

- tb: transfer block, the lines that one load stage and one store stage move
- pi: pages interleaved, how many neighbouring 4096-byte stretches are copied side by side
- pw: how many lines ahead of the store `prefetchw` asks for the destination; 0 for not at all
- dir: "up", or "down" for copying backward
- rt MOVDIR64B: a direct store of 64 bytes, past every cache
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

# The paper's.
REGISTER_TYPES = ("REP_MOVSB", "REP_MOVSQ", "R64", "MM", "XMM", "YMM", "ZMM")
ACCESS_TYPES = ("T", "NT")
PREFETCH_TYPES = ("none", "T0", "T1", "T2", "NTA")
PREFETCH_SIZES = tuple(range(2, 15, 2))
PREFETCH_DISTANCES = tuple(range(0, 31, 2))

# The extension axes, each beginning with what the paper has.
DIRECT = "MOVDIR64B"
TRANSFER_BLOCKS = (2, 1, 4, 8, 16)
PAGES_INTERLEAVED = (1, 2, 4)
WRITE_DISTANCES = (0, 2, 4, 8, 16, 32)
DIRECTIONS = ("up", "down")
# A stretch of a page must be whole steps, and none is longer than 16 lines.
INTERLEAVED_PREFETCH_SIZES = (2, 4, 8, 16)

# The register types that have extension axes.
VECTORS = ("XMM", "YMM", "ZMM")

# A candidate copies any size from here up; the small copies cover what is below.
MINIMUM_BYTES = 128


class _Copy:
    """What a variant and a tuple have in common."""

    rt: str
    lt: str
    st: str
    pt: str
    ps: int
    tb: int
    pi: int
    pw: int
    dir: str

    @property
    def _numbers(self) -> tuple[int, ...]:
        """What stands in the name behind the prefetch type."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """How it is written in tables and logs: the paper's `ZMM T NT T0 4 8`, for a variant
        `ZMM T NT T0 4`, and behind it what the paper lacks: ` TB4 PI2 PW8 down`. A variant leaves
        the distance open here as well: ` PW`.
        """
        words = [self.rt, self.lt, self.st, self.pt, *map(str, self._numbers)]
        if self.tb != 2:
            words.append(f"TB{self.tb}")
        if self.pi != 1:
            words.append(f"PI{self.pi}")
        if self.pw:
            words.append("PW" if isinstance(self, Variant) else f"PW{self.pw}")
        if self.dir != "up":
            words.append(self.dir)
        return " ".join(words)

    @property
    def symbol(self) -> str:
        """The same as a part of a C identifier: `zmm_t_nt_t0_4`."""
        return self.name.lower().replace(" ", "_")

    @property
    def is_rep(self) -> bool:
        """Whether one string instruction does it all."""
        return self.rt.startswith("REP")

    @property
    def departures(self) -> int:
        """On how many of the extension axes it lies beyond the paper's space."""
        return sum((self.rt == DIRECT, self.tb != 2, self.pi != 1, self.pw != 0, self.dir != "up"))

    @property
    def needs(self) -> tuple[str, ...]:
        """The CPU features beyond baseline x86-64, as /proc/cpuinfo names them."""
        features = []
        if self.rt == "ZMM":
            features.append("avx512f")
        if self.rt == "YMM":
            features.append("avx2")  # AVX has no 256-bit movntdqa; one for all YMM is simple
        if self.rt == "XMM" and self.lt == "NT":
            features.append("sse4_1")
        if self.rt == DIRECT:
            features.append("movdir64b")
        if self.pw:
            features.append("3dnowprefetch")
        return tuple(features)


@dataclass(frozen=True)
class Variant(_Copy):
    """A tuple without its distances, one copy function of the tuner; `pw` is 1 where it has one."""

    rt: str
    lt: str
    st: str
    pt: str
    ps: int
    tb: int = 2
    pi: int = 1
    pw: int = 0
    dir: str = "up"

    @property
    def _numbers(self) -> tuple[int, ...]:
        return (self.ps,)


@dataclass(frozen=True)
class Tuple(_Copy):
    """One point of the space."""

    rt: str
    lt: str
    st: str
    pt: str
    ps: int
    pd: int
    tb: int = 2
    pi: int = 1
    pw: int = 0
    dir: str = "up"

    @property
    def _numbers(self) -> tuple[int, ...]:
        return (self.ps, self.pd)

    @property
    def variant(self) -> Variant:
        """The copy function that the tuner times for it."""
        pw = int(self.pw > 0)
        return Variant(self.rt, self.lt, self.st, self.pt, self.ps, self.tb, self.pi, pw, self.dir)


# Loads and stores and nothing else, on any x86-64 CPU, in no situation a cliff: what copies where
# the CPU lacks what the winners need, and where noise hid which copy is the fastest.
PLAIN = Tuple("XMM", "T", "T", "none", 0, 0)


def prefetch_sizes(tb: int, pi: int) -> tuple[int, ...]:
    """The prefetch sizes that a transfer block of `tb` lines can have: whole blocks."""
    if tb == 16:
        return (16,)
    sizes = PREFETCH_SIZES if pi == 1 else INTERLEAVED_PREFETCH_SIZES[:-1]
    return tuple(ps for ps in sizes if ps % tb == 0)


def why_not(
    rt: str,
    lt: str,
    st: str,
    pt: str,
    ps: int,
    pd: int,
    tb: int = 2,
    pi: int = 1,
    pw: int = 0,
    dir: str = "up",
) -> str | None:
    """Why the tuple does not exist, or None where it does."""
    for field, value, domain in (
        ("rt", rt, (*REGISTER_TYPES, DIRECT)),
        ("lt", lt, ACCESS_TYPES),
        ("st", st, ACCESS_TYPES),
        ("pt", pt, PREFETCH_TYPES),
        ("tb", tb, sorted(TRANSFER_BLOCKS)),
        ("pi", pi, PAGES_INTERLEAVED),
        ("pw", pw, WRITE_DISTANCES),
        ("dir", dir, DIRECTIONS),
    ):
        if value not in domain:
            return f"{field} is none of {' '.join(map(str, domain))}"
    if rt.startswith("REP") and (lt, st, pt) != ("T", "T", "none"):
        return f"{rt} is one instruction: it has only lt T, st T, pt none"
    if lt == "NT" and rt in ("R64", "MM"):
        return f"there is no non-temporal load for {rt}"
    return _why_not_extended(rt, lt, st, tb, pi, pw, dir) or _why_no_prefetch(pt, ps, pd, tb, pi)


def _why_not_extended(
    rt: str, lt: str, st: str, tb: int, pi: int, pw: int, direction: str
) -> str | None:
    extended = (tb, pi, pw, direction) != (2, 1, 0, "up")
    if rt not in (*VECTORS, DIRECT) and extended:
        return f"{rt} has only tb 2, pi 1, pw 0, dir up"
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
    return None


def _why_no_prefetch(pt: str, ps: int, pd: int, tb: int, pi: int) -> str | None:
    if pt == "none":
        return None if (ps, pd) == (0, 0) else "without prefetch, ps and pd are 0"
    sizes = prefetch_sizes(tb, pi)
    if ps not in sizes:
        if (tb, pi) == (2, 1):
            return "ps is an even number of cache lines from 2 to 14"
        return f"with tb {tb} and pi {pi}, ps is one of {' '.join(map(str, sizes))}"
    if pd not in PREFETCH_DISTANCES:
        return "pd is an even number of cache lines from 0 to 30"
    return None


def variants() -> Iterator[Variant]:
    """All variants, simplest first: in this order ties are broken. The paper's 466 come first."""
    everything = []
    # pw 2 stands for every distance but 0
    for direction, pi, pw, tb in itertools.product(
        DIRECTIONS, PAGES_INTERLEAVED, WRITE_DISTANCES[:2], TRANSFER_BLOCKS
    ):
        for pt, ps in itertools.product(PREFETCH_TYPES, (0, *PREFETCH_SIZES, 16)):
            for st, lt, rt in itertools.product(
                ACCESS_TYPES, ACCESS_TYPES, (*REGISTER_TYPES, DIRECT)
            ):
                if why_not(rt, lt, st, pt, ps, 0, tb, pi, pw, direction) is None:
                    everything.append(Variant(rt, lt, st, pt, ps, tb, pi, int(pw > 0), direction))
    yield from sorted(everything, key=lambda variant: variant.departures)


def paper_variants() -> list[Variant]:
    """Those of the paper's space."""
    return [variant for variant in variants() if variant.departures == 0]
