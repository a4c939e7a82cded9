"""The base of all operations' pipelines: their names, their marks, their variants.

A tuple has a value on each axis of its space. A variant is a tuple without its distances: one
function of the tuner.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from typing import Any, ClassVar

from .axis import Axis, Copy, Space

_LINE, _PAGE = 64, 4096

# Axes with the same values and the same words on every architecture.
PAGES_INTERLEAVED = Axis(
    "pi",
    (1, 2, 4),
    "Pages interleaved: that many neighbouring stretches of 4096 bytes are copied side by "
    "side. Where missing: 1.",
    paper=1,
    extension="pi",
    mark="PI",
    words=lambda pi: f"{pi} pages interleaved",
    legend="pages interleaved",
)

DIRECTION = Axis(
    "dir",
    ("up", "down"),
    "Direction of the copy. Where missing: up.",
    title="D",
    paper=1,
    extension="dir",
    mark="",
    words=lambda _: "from the end backward",
    legend="direction",
)


class _Pipeline(Copy):
    """The base of a variant and of a tuple."""

    MARKED: ClassVar[tuple[Axis, ...]]
    VARIANT: ClassVar[type]  # the class of the tuple's variants; a variant's own class
    VECTORS: ClassVar[tuple[str, ...]]  # register types that are plain loads and stores
    # Register types that move a few bytes by themselves, where others leave that to another type.
    EDGES: ClassVar[tuple[str, ...]]
    # Register types of which one instruction, or a sequence that belongs together, does it all.
    WHOLE: ClassVar[tuple[str, ...]]

    @property
    def name(self) -> str:
        """Its name in tables and logs: the paper's `ZMM T NT T0 4 8`, for a variant `ZMM T NT T0
        4`. The marked axes follow: ` TB4 PI2 PW8 down`. A variant leaves their distance open, too:
        ` PW`.
        """
        words = []
        for one in self.AXES:
            value = getattr(self, one.field)
            if one.mark is None:
                words.append(str(value))
            elif value != one.default:
                is_open = one.is_distance and isinstance(self, self.VARIANT)
                words.append(one.mark if is_open else f"{one.mark}{value}")
        return " ".join(words)

    @classmethod
    def only_defaults(cls, values: Mapping[str, Any]) -> str:
        """The defaults of the marked axes in words where some of these values differ from them;
        else empty."""
        differ = any(values[one.field] != one.default for one in cls.MARKED)
        return ", ".join(f"{one.field} {one.default}" for one in cls.MARKED) if differ else ""

    @property
    def is_whole(self) -> bool:
        return self.rt in self.WHOLE

    @property
    def departures(self) -> int:
        """On how many of the extension axes it lies beyond the paper's space."""
        values = ((one, getattr(self, one.field)) for one in self.AXES if one.extension)
        return sum(value not in one.values[: one.paper] for one, value in values)

    @property
    def marks(self) -> list[int]:
        """Its values on the axes with a mark as numbers: of words, which of them it is."""
        values = [(one, getattr(self, one.field)) for one in self.MARKED]
        return [value if one.is_number else one.values.index(value) for one, value in values]

    @property
    def marked_words(self) -> list[str]:
        """What the paper's tuples lack: its values on these axes in words, the prefetches first."""
        return [
            one.words(getattr(self, one.field))
            for one in sorted(self.MARKED, key=lambda one: not one.is_distance)
            if getattr(self, one.field) != one.default
        ]

    @property
    def variant(self) -> Any:
        """The function that the tuner times for it."""
        values = {one.field: getattr(self, one.field) for one in self.VARIANT.AXES}
        stages = {one.field: int(values[one.field] > 0) for one in self.MARKED if one.is_distance}
        return self.VARIANT(**{**values, **stages})

    @property
    def short_way(self) -> int:
        """Bytes up to which it moves its first and last ones, which overlap, and runs no stage
        (edges.j2): as much as eight registers, as libc does, or more for 256 bytes. A whole one has
        no short way."""
        return 512 if self.rt == "ZMM" else 256

    @property
    def acts_above(self) -> int:
        """Bytes above which every parameter but the distances can act: below, a simpler one
        executes the same instructions. 0: at any size.
        """
        if self.is_whole:
            return 0
        least = _LINE * self.tb if self.tb > 2 else 0
        interleaved = _PAGE * self.pi if self.pi > 1 else 0
        ahead = _PAGE * getattr(self, "pg", 0)  # not every architecture has a page stage
        others = (one for one in self.AXES if one.field != "rt")
        plain = self.rt in self.EDGES and all(getattr(self, o.field) == o.default for o in others)
        return max(0 if plain else self.short_way, least, interleaved, ahead)


def classes(
    module: str, axes: tuple[Axis, ...], of_copies: tuple[Axis, ...] = (), **facts: Any
) -> Any:
    """The class Tuple of a space, in `module`, and its VARIANT: frozen, with a field for each axis.

    `of_copies`: of a set, the axes that the templates ask for, some of which its space lacks: it
    has their defaults. `facts`: what _Pipeline and Copy declare for the class.
    """
    own = [one.field for one in axes]
    lacks = {one.field: one.default for one in of_copies if one.field not in own}
    if of_copies:
        lacks |= {"loads": False, "lt": "", "stem": "set"}
    marked = tuple(one for one in axes if one.mark is not None)
    shared = {"MARKED": marked, "__module__": module, **lacks, **facts}

    def made(name: str, of: tuple[Axis, ...], doc: str) -> Any:
        fields = []
        for one in of:  # one with a mark may be left out
            default = [] if one.mark is None else [field(default=one.default)]
            fields.append((one.field, type(one.default), *default))
        names = {**shared, "AXES": of, "__doc__": doc}
        return make_dataclass(name, fields, bases=(_Pipeline,), namespace=names, frozen=True)

    variant = made(
        "Variant",
        tuple(one for one in axes if one.stage in ("", one.field)),
        "A tuple without its distances, one function of the tuner; `pw` is 1 where it has one.",
    )
    point = made("Tuple", axes, "One point of the space.")
    variant.VARIANT = point.VARIANT = variant
    return point


@dataclass(frozen=True)
class Pipelines(Space):
    """The pipelines of an operation."""

    # A candidate does any size from here up; small copies do those below.
    MINIMUM_BYTES: ClassVar[int] = 128

    def named(self, name: str) -> Any:
        """The tuple of that `name`; None if it does not exist."""
        words = name.split(" ")
        values = {}
        for one in self.AXES:
            known = {f"{one.mark or ''}{value}": value for value in one.values}
            if words and words[0] in known:
                values[one.field] = known[words.pop(0)]
            elif one.mark is None:
                return None
        if words or self.why_not(**values) is not None:
            return None
        found = self.Tuple(**values)
        return found if found.name == name else None

    @functools.cache  # noqa: B019 (there are as many spaces as operations and architectures)
    def variants(self) -> tuple[Any, ...]:
        """All variants, simplest first. Ties are broken in this order, that of `nesting`; those
        with fewer departures from the paper come first.
        """
        table = {one.field: one for one in self.AXES}
        # of a distance, the first but 0 stands for all of them
        domains = [table[f].values[: 2 if table[f].is_distance else None] for f in self.nesting]
        defaults = {one.field: one.default for one in self.AXES}
        everything = []
        for values in itertools.product(*domains):
            fields = {**defaults, **dict(zip(self.nesting, values))}
            if self.rule(**fields) is None:
                everything.append(self.Tuple(**fields).variant)
        return tuple(sorted(everything, key=lambda variant: variant.departures))
