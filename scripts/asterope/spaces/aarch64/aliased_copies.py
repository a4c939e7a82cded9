"""The space of copies for buffers that alias modulo 4096."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from .. import axes, members
from ..axis import Axis

AXES = (
    axes.KIND,
    Axis("rt", ("Q",), "Register type."),
)

# The least an aliased copy takes, in bytes.
MINIMUM_BYTES = 512


class AliasedTuple(members.Aliased):
    """One such copy."""

    AXES = AXES


def aliased_tuples() -> Iterator[AliasedTuple]:
    """All of them, simplest first."""
    for values in itertools.product(*(axis.values for axis in AXES)):
        yield AliasedTuple(*values)
