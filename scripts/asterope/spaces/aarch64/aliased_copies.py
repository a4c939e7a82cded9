"""The space of copies for buffers that alias modulo 4096."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from ..axis import Axis, Copy

AXES = (
    Axis(
        "kind",
        ("wide", "backward"),
        "wide: more loads before the first store. backward: from the end.",
    ),
    Axis("rt", ("Q",), "Register type."),
)

# The least an aliased copy takes, in bytes.
MINIMUM_BYTES = 512


@dataclass(frozen=True)
class AliasedTuple(Copy):
    """One such copy: wider groups of loads first, or from the end backward."""

    kind: str
    rt: str

    AXES = AXES


def aliased_tuples() -> Iterator[AliasedTuple]:
    """All of them, simplest first."""
    for values in itertools.product(*(axis.values for axis in AXES)):
        yield AliasedTuple(*values)
