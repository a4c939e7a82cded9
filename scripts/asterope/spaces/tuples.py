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

from . import axis
from .axis import Axis

# Up to this size a pipeline moves its first and last bytes, which overlap, and runs no stage
# (edges.j2). It takes eight registers, as libc does, or more for 256 bytes.
SHORT_WAY = 256
_SHORT_WAY_ZMM = 512
_LINE, _PAGE = 64, 4096


class _Pipeline(axis.Copy):
    """The base of a variant and of a tuple."""

    MARKED: ClassVar[tuple[Axis, ...]]
    VARIANT: ClassVar[type]  # the class of the tuple's variants; a variant's own class
    VECTORS: ClassVar[tuple[str, ...]]  # register types that are plain loads and stores
    EDGES: ClassVar[tuple[str, ...]]  # register types that move as much as short_way by themselves
    WHOLE: ClassVar[tuple[str, ...]]  # register types of which one instruction copies all

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

    @property
    def is_whole(self) -> bool:
        """Whether one instruction does it all, or a sequence that belongs together."""
        return self.rt in self.WHOLE

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
        """Its values on the axes with a mark as numbers: of words, which of them it is."""
        values = [(one, getattr(self, one.field)) for one in self.MARKED]
        return [value if one.is_number else one.values.index(value) for one, value in values]

    @property
    def is_marked(self) -> bool:
        """Whether it needs more words or columns than the paper's tuples."""
        return any(getattr(self, one.field) != one.default for one in self.MARKED)

    @property
    def marked_words(self) -> list[str]:
        """Its values on these axes in words, the prefetches first."""
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
        """Bytes up to which it runs no stage; a whole one has no short way."""
        return _SHORT_WAY_ZMM if self.rt == "ZMM" else SHORT_WAY

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
    module: str,
    axes: tuple[Axis, ...],
    of_copies: tuple[Axis, ...] = (),
    *,
    vectors: tuple[str, ...],
    whole: tuple[str, ...],
    edges: tuple[str, ...] | None = None,
    stem: str = "copy",
) -> Any:
    """The class Tuple of a space, in `module`, and its VARIANT: frozen, with a field for each axis.

    `of_copies`: the axes that the templates ask for, where the space lacks some of them: it has
    their defaults, and without lt it is one of sets. `vectors`: the register types that are plain
    loads and stores; `whole`: those of which one instruction, or a sequence that belongs together,
    does the whole copy; `edges`: those that move a few bytes by themselves, where others leave that
    to another type; all of `vectors` where it is missing; `stem`: as a Copy has it.
    """
    variant_axes = tuple(one for one in axes if one.stage in ("", one.field))
    own = [one.field for one in axes]
    lacks = {one.field: one.default for one in of_copies if one.field not in own}
    if "lt" not in own:
        lacks |= {"loads": False, "lt": ""}
    marked = tuple(one for one in axes if one.mark is not None)
    shared = {
        "MARKED": marked,
        "VECTORS": vectors,
        "EDGES": vectors if edges is None else edges,
        "WHOLE": whole,
        "stem": stem,
        "__module__": module,
        **lacks,
    }

    def made(name: str, of: tuple[Axis, ...], doc: str) -> Any:
        fields = [
            (one.field, type(one.default))
            if one.mark is None
            else (one.field, type(one.default), field(default=one.default))
            for one in of
        ]
        names = {**shared, "AXES": of, "__doc__": doc}
        return make_dataclass(name, fields, bases=(_Pipeline,), namespace=names, frozen=True)

    variant = made(
        "Variant",
        variant_axes,
        "A tuple without its distances, one function of the tuner; `pw` is 1 where it has one.",
    )
    point = made("Tuple", axes, "One point of the space.")
    variant.VARIANT = point.VARIANT = variant
    return point


@dataclass(frozen=True)
class Pipelines(axis.Space):
    """The pipelines of an operation. `by_rule`: axes whose values the rule looks at by itself, with
    the others; all others are looked at alone before it."""

    by_rule: tuple[str, ...] = ()

    # A candidate does any size from here up; small copies do those below.
    MINIMUM_BYTES: ClassVar[int] = 128

    @property
    def VALUES(self) -> Mapping[str, tuple[Any, ...]]:
        """By axis."""
        return {one.field: one.values for one in self.AXES}

    def why_not(self, **values: Any) -> str | None:
        """Why the tuple does not exist, or None if it does. Missing axes have their default."""
        values = {one.field: one.default for one in self.AXES} | values
        alone = [one for one in self.AXES if one.field not in self.by_rule]
        return axis.why_outside(alone, values) or self.rule(**values)

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
        everything = []
        defaults = {one.field: one.default for one in self.AXES}
        for values in itertools.product(*domains):
            fields = dict(zip(self.nesting, values))
            # Each value is one of its axis: the rule decides alone.
            if self.rule(**{**defaults, **fields}) is None:
                stages = {f: int(v > 0) for f, v in fields.items() if table[f].is_distance}
                everything.append(self.Tuple.VARIANT(**{**fields, **stages}))
        return tuple(sorted(everything, key=lambda variant: variant.departures))
