"""The space of pipelines: which tuples exist, and what each needs of the CPU.

A tuple is (rt, lt, st, pt, ps, pd) as in Kappes and Anastasiadis, "Asterope", PLOS 2021: register
type, load type, store type, prefetch type, prefetch size and prefetch distance in cache lines; and
beyond the paper the axes with a mark, and the register type MOVDIR64B: a direct store of 64 bytes,
past every cache. All that others must know of an axis is in the table below.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import field, make_dataclass
from typing import Any

from .. import axis
from ..axis import Axis
from .registers import VECTORS
from .registers import needs as needs_of_register

DIRECT = "MOVDIR64B"

# A candidate copies any size from here up; the small copies cover what is below.
MINIMUM_BYTES = 128

AXES = (
    Axis(
        "rt",
        ("REP_MOVSB", "REP_MOVSQ", "R64", "MM", *VECTORS, DIRECT),
        "Register type: what carries the data.",
        needs=lambda rt: "movdir64b" if rt == DIRECT else needs_of_register(rt),
        paper=7,
        extension="movdir64b",
    ),
    Axis(
        "lt",
        ("T", "NT"),
        "Load type: T temporal, NT non-temporal.",
        needs=lambda lt: "sse4_1" if lt == "NT" else "",
    ),
    Axis("st", ("T", "NT"), "Store type: T temporal, NT non-temporal."),
    Axis("pt", ("none", "T0", "T1", "T2", "NTA"), "Prefetch type."),
    Axis(
        "ps",
        (0, *range(2, 15, 2), 16),
        "Prefetch size in cache lines: what one prefetch stage fetches. 0 only without prefetch, "
        "16 only with tb 16.",
    ),
    Axis(
        "pd",
        tuple(range(0, 31, 2)),
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
    Axis(
        "pi",
        (1, 2, 4),
        "Pages interleaved: that many neighbouring stretches of 4096 bytes are copied side by "
        "side. Where missing: 1.",
        paper=1,
        extension="pi",
        mark="PI",
        words=lambda pi: f"{pi} pages interleaved",
        legend="pages interleaved",
    ),
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
    Axis(
        "dir",
        ("up", "down"),
        "Direction of the copy. Where missing: up.",
        title="D",
        paper=1,
        extension="dir",
        mark="",
        words=lambda _: "from the end backward",
        legend="direction",
    ),
)
VALUES = {axis.field: axis.values for axis in AXES}
MARKED = tuple(axis for axis in AXES if axis.mark is not None)

# What of them a variant has: whether there is a stage, not its distance.
_VARIANT_AXES = tuple(axis for axis in AXES if axis.stage in ("", axis.field))

# In which order variants are counted, the last one fastest: ties are broken in this order. A new
# axis goes to the front.
_NESTING = ("dir", "pi", "pw", "tb", "pt", "ps", "st", "lt", "rt")

# A stretch of a page must be whole steps, and none is longer than 16 lines.
_INTERLEAVED_PREFETCH_SIZES = (2, 4, 8)

# Up to here a pipeline copies its first and last 128 bytes and runs no stage (pipeline.j2).
_SHORT_WAY = 256
_LINE, _PAGE = 64, 4096


class _Copy(axis.Copy):
    """What a variant and a tuple have in common."""

    @property
    def name(self) -> str:
        """How it is written in tables and logs: the paper's `ZMM T NT T0 4 8`, for a variant
        `ZMM T NT T0 4`, and behind it what the paper lacks: ` TB4 PI2 PW8 down`. A variant leaves
        the distance open here as well: ` PW`.
        """
        words = []
        for one in self.AXES:
            value = getattr(self, one.field)
            if one.mark is None:
                words.append(str(value))
            elif value != one.default:
                is_open = one.is_distance and isinstance(self, Variant)
                words.append(one.mark if is_open else f"{one.mark}{value}")
        return " ".join(words)

    @property
    def is_rep(self) -> bool:
        """Whether one string instruction does it all."""
        return self.rt.startswith("REP")

    @property
    def extensions(self) -> set[str]:
        """The extension axes on which it lies beyond the paper's space, by their names."""
        extended = [one for one in self.AXES if one.extension]
        return {
            one.extension
            for one in extended
            if getattr(self, one.field) not in one.values[: one.paper]
        }

    @property
    def departures(self) -> int:
        """On how many of the extension axes it lies beyond the paper's space."""
        return len(self.extensions)

    @property
    def marks(self) -> list[int]:
        """Its values on the axes that the paper lacks as numbers: of words, which of them it is."""
        values = [(one, getattr(self, one.field)) for one in MARKED]
        return [value if one.is_number else one.values.index(value) for one, value in values]

    @property
    def is_marked(self) -> bool:
        """Whether it needs more words or columns than the paper's tuples."""
        return any(getattr(self, one.field) != one.default for one in MARKED)

    @property
    def marked_words(self) -> list[str]:
        """Its values on these axes in words, the prefetches first."""
        return [
            one.words(getattr(self, one.field))
            for one in sorted(MARKED, key=lambda one: not one.is_distance)
            if getattr(self, one.field) != one.default
        ]

    @property
    def variant(self) -> Variant:
        """The copy function that the tuner times for it."""
        values = {one.field: getattr(self, one.field) for one in _VARIANT_AXES}
        stages = {one.field: int(values[one.field] > 0) for one in MARKED if one.is_distance}
        return Variant(**{**values, **stages})

    @property
    def acts_above(self) -> int:
        """Bytes above which every parameter but the distances can act on a copy: below, a simpler
        one executes the same instructions. 0: on any copy.
        """
        if self.is_rep:
            return 0
        least = _LINE * self.tb if self.tb > 2 else 0
        interleaved = _PAGE * self.pi if self.pi > 1 else 0
        plain = self.rt in VECTORS and (self.lt, self.st, self.pt) == ("T", "T", "none")
        return max(0 if plain and not self.is_marked else _SHORT_WAY, least, interleaved)


def _class(name: str, axes: tuple[Axis, ...], doc: str) -> type:
    """A frozen dataclass with a field for each axis; the marked ones have their defaults."""
    fields = [
        (one.field, type(one.default))
        if one.mark is None
        else (one.field, type(one.default), field(default=one.default))
        for one in axes
    ]
    names = {"AXES": axes, "__doc__": doc, "__module__": __name__}
    return make_dataclass(name, fields, bases=(_Copy,), namespace=names, frozen=True)


Variant: Any = _class(
    "Variant",
    _VARIANT_AXES,
    "A tuple without its distances, one copy function of the tuner; `pw` is 1 where it has one.",
)
Tuple: Any = _class("Tuple", AXES, "One point of the space.")


# Loads and stores and nothing else, on any x86-64 CPU, in no situation a cliff: what copies where
# the CPU lacks what the winners need, and where noise hid which copy is the fastest.
PLAIN = Tuple("XMM", "T", "T", "none", 0, 0)


def named(name: str) -> Tuple | None:
    """The tuple that Tuple.name writes so; None where there is none."""
    words = name.split(" ")
    values = {}
    for one in AXES:
        known = {f"{one.mark or ''}{value}": value for value in one.values}
        if words and words[0] in known:
            values[one.field] = known[words.pop(0)]
        elif one.mark is None:
            return None
    if words or why_not(**values) is not None:
        return None
    found = Tuple(**values)
    return found if found.name == name else None


def prefetch_sizes(tb: int, pi: int) -> tuple[int, ...]:
    """The prefetch sizes that a transfer block of `tb` lines can have: whole blocks."""
    if tb == 16:
        return (16,)
    sizes = VALUES["ps"][1:-1] if pi == 1 else _INTERLEAVED_PREFETCH_SIZES
    return tuple(ps for ps in sizes if ps % tb == 0)


def why_not(rt: str, lt: str, st: str, pt: str, ps: int, pd: int, **marked: Any) -> str | None:
    """Why the tuple does not exist, or None where it does. `marked`: tb, pi, pw, dir."""
    marked = {one.field: marked.get(one.field, one.default) for one in MARKED}
    values = {"rt": rt, "lt": lt, "st": st, "pt": pt, **marked}
    outside = axis.why_outside((one for one in AXES if one.field in values), values)
    if outside:
        return outside
    if rt.startswith("REP") and (lt, st, pt) != ("T", "T", "none"):
        return f"{rt} is one instruction: it has only lt T, st T, pt none"
    if lt == "NT" and rt in ("R64", "MM"):
        return f"there is no non-temporal load for {rt}"
    if rt not in (*VECTORS, DIRECT) and any(marked[one.field] != one.default for one in MARKED):
        only = ", ".join(f"{one.field} {one.default}" for one in MARKED)
        return f"{rt} has only {only}"
    return _why_not_marked(rt, lt, st, **marked) or _why_no_prefetch(
        pt, ps, pd, marked["tb"], marked["pi"]
    )


def _why_not_marked(
    rt: str, lt: str, st: str, *, pi: int, pw: int, dir: str, **_: Any
) -> str | None:
    if rt == DIRECT and (lt, st) != ("T", "NT"):
        return f"{rt} is a non-temporal store: it has only lt T, st NT"
    if rt == DIRECT and dir != "up":
        return f"{rt} has only dir up"
    if lt == "NT" and (pi, pw, dir) != (1, 0, "up"):
        return "with lt NT there is only pi 1, pw 0, dir up"
    if pw and st != "T":
        return "pw is 0 with st NT, which does not wait for the destination"
    if pi > 1 and dir != "up":
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
    if pd not in VALUES["pd"]:
        return "pd is an even number of cache lines from 0 to 30"
    return None


def variants() -> Iterator[Variant]:
    """All variants, simplest first: in this order ties are broken. The paper's 466 come first."""
    table = {one.field: one for one in _VARIANT_AXES}
    # of a distance, the first but 0 stands for all of them
    domains = [table[f].values[: 2 if table[f].is_distance else None] for f in _NESTING]
    everything = []
    for values in itertools.product(*domains):
        fields = dict(zip(_NESTING, values))
        if why_not(pd=0, **fields) is None:
            stages = {f: int(v > 0) for f, v in fields.items() if table[f].is_distance}
            everything.append(Variant(**{**fields, **stages}))
    yield from sorted(everything, key=lambda variant: variant.departures)


def paper_variants() -> list[Variant]:
    """Those of the paper's space."""
    return [variant for variant in variants() if variant.departures == 0]
