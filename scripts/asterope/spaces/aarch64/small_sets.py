"""The space of small sets: the small copies' shapes, registers and orders of tests."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from .. import axis
from . import small_copies

_MEANINGS = {
    "shape": "How up to 64 bytes are set: stepped (a class for every power of two), grouped (few "
    "classes, no branch in each), sve (two predicated vectors, for as many bytes as they hold).",
    "bound": "In bytes: larger sets take a pipeline.",
}

AXES = tuple(
    replace(one, meaning=_MEANINGS.get(one.field, one.meaning)) for one in small_copies.AXES
)

# The same combinations exist.
why_not = small_copies.why_not


class Tuple(small_copies.Tuple):
    """One small set: how it takes up to 64 bytes, what carries them, up to which bound."""

    AXES = AXES
    loads = False


# What a profile without a small set of its own gets, and one whose search was lost in noise.
PLAIN = Tuple("stepped", "Q", "middle", 128)

# All of them, simplest first.
points = partial(axis.points, Tuple, small_copies.NESTING, why_not)
