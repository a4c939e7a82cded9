"""One parameter of a copy, an axis of the space, with all facts that other modules need of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Callable, ClassVar

Value = Any  # a word or a whole number


@dataclass(frozen=True)
class Axis:
    """A parameter, its values and its words; `values` begin with the default.

    The values of one axis are all words or all numbers. `needs` gives the CPU features of a value,
    with blanks in between, as /proc/cpuinfo names them.

    The first `paper` values are the paper's. The others belong to the extension axis that profiles
    call `extension`. An axis with a `mark` may be left out of a tuple. Names have its value behind
    the mark, unless it is the default: "TB4". In the comments of a routine, `words` tells such a
    value, and `legend` explains the column.

    A distance, in cache lines, does not make a variant: it is an argument of the copy. The copy has
    it if its axis `stage`, the size of that prefetch stage, is not 0. `argument`: the distance is
    the low (1) or the high half (2) of the copy's fourth argument.

    `implied_by`: each of these features brings the needed ones with it, so a copy that needs one of
    them names it alone.
    """

    field: str
    values: tuple[Value, ...]
    meaning: str
    needs: Callable[[Value], str] = lambda _: ""
    title: str = ""  # of a column
    paper: int = 0  # 0: all
    extension: str = ""
    mark: str | None = None
    words: Callable[[Value], str] = lambda _: ""
    legend: str = ""
    stage: str = ""
    argument: int = 0
    implied_by: str = ""

    @property
    def default(self) -> Value:
        return self.values[0]

    def __post_init__(self) -> None:
        if not self.paper:
            object.__setattr__(self, "paper", len(self.values))

    @property
    def is_distance(self) -> bool:
        return bool(self.stage)

    @property
    def is_number(self) -> bool:
        return isinstance(self.default, int)

    @property
    def column(self) -> str:
        """The title of its column in tables."""
        return self.title or self.field.upper()

    @property
    def width(self) -> int:
        """How wide the column is."""
        return max(len(str(value)) for value in (*self.values, self.column))

    def in_column(self, value: Value) -> str:
        """The value in a column: words to the left, numbers to the right."""
        return f"{value:{self.width}d}" if self.is_number else f"{value:<{self.width}}"

    @property
    def ordered(self) -> list[Value]:
        """The values as a message or a schema lists them: numbers by size."""
        return sorted(self.values) if self.is_number else list(self.values)


class Copy:
    """A copy of any kind: a value on each of the kind's axes.

    `loads`: a set is a copy without loads. `stem`: in C, the names of an operation's functions have
    it behind the prefix.
    """

    AXES: ClassVar[tuple[Axis, ...]]
    loads: ClassVar[bool] = True
    stem: ClassVar[str] = "copy"

    @property
    def name(self) -> str:
        """The copy's name in tables and logs: `masked ZMM up 256`."""
        return " ".join(str(getattr(self, axis.field)) for axis in self.AXES)

    @property
    def symbol(self) -> str:
        """The same as a part of a C identifier: `masked_zmm_up_256`."""
        return self.name.lower().replace(" ", "_")

    @property
    def copies_upwards_only(self) -> bool:
        """Whether it is wrong where the destination begins within the source."""
        return False

    @property
    def needs(self) -> tuple[str, ...]:
        """The CPU features beyond those that all CPUs of the architecture have."""
        needed = [
            (need, axis.implied_by.split())
            for axis in self.AXES
            for need in axis.needs(getattr(self, axis.field)).split()
        ]
        named = {need for need, _ in needed}
        kept = (need for need, implied_by in needed if named.isdisjoint(implied_by))
        return tuple(dict.fromkeys(kept))


@dataclass(frozen=True)
class Space:
    """The copies of a kind: all of the class `Tuple`, unless `rule` says why one with such values
    does not exist. `nesting`: the axes in the order in which ties are broken, the last one fastest.
    `PLAIN`: any CPU runs it, and a profile without such a copy gets it. `by_rule`: axes whose
    values the rule looks at by itself, with the others; all others are looked at alone before it.
    """

    Tuple: Any
    PLAIN: Any
    nesting: tuple[str, ...]
    rule: Callable[..., str | None] = lambda **_: None
    by_rule: tuple[str, ...] = ()

    @property
    def AXES(self) -> tuple[Axis, ...]:
        return self.Tuple.AXES

    @property
    def VALUES(self) -> Mapping[str, tuple[Value, ...]]:
        """By axis."""
        return {one.field: one.values for one in self.AXES}

    def why_not(self, **values: Value) -> str | None:
        """Why the copy does not exist, or None where it does. Missing axes have their default."""
        for one in self.AXES:
            value = values.setdefault(one.field, one.default)
            if one.field not in self.by_rule and value not in one.values:
                return f"{one.field} is none of {' '.join(map(str, one.ordered))}"
        return self.rule(**values)

    def points(self) -> Iterator[Any]:
        """All copies of the space, simplest first."""
        for values in itertools.product(*map(self.VALUES.get, self.nesting)):
            fields = dict(zip(self.nesting, values))
            if self.rule(**fields) is None:
                yield self.Tuple(**fields)


def of_sets(of_copies: Iterable[Axis], field: str, meaning: str) -> Axis:
    """An axis of the copies with other words, for sets: the paper has no sets to go beyond."""
    found = next(one for one in of_copies if one.field == field)
    return replace(found, meaning=meaning, paper=0, extension="")
