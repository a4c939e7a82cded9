"""What a copy of each operation and kind is: its axes, what makes it of a profile's fields, and why
it may not exist."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from . import probes
from .axis import Axis

# The operations, as profiles and options have them.
MEMCPY, MEMSET = "memcpy", "memset"
OPERATIONS = (MEMCPY, MEMSET)


def _always(**_: Any) -> None:
    return None


@dataclass(frozen=True)
class Kind:
    """The copies of one kind of an operation; `probe`: the axes of the probes of those that sense,
    where there are such."""

    axes: tuple[Axis, ...]
    make: Callable[..., Any]
    why_not: Callable[..., str | None] = _always
    probe: tuple[Axis, ...] = ()


def kinds_of(here: Any) -> Mapping[tuple[str, str], Kind]:
    """By operation and name; `here`: the spaces of an architecture. Shares are of none."""
    moves = Kind(
        here.overlapping_copies.AXES,
        here.overlapping_copies.OverlappingTuple,
        here.overlapping_copies.why_not_overlapping,
    )
    return {
        (MEMCPY, "pipelines"): Kind(
            here.pipelines.AXES, here.MEMCPY.tuple, here.MEMCPY.why_not, probes.AXES
        ),
        (MEMCPY, "small"): Kind(
            here.small_copies.AXES, here.MEMCPY.small, here.MEMCPY.why_not_small
        ),
        (MEMCPY, "overlapping"): moves,
        (MEMCPY, "aliased"): moves,
        (MEMSET, "pipelines"): Kind(
            here.set_pipelines.AXES, here.MEMSET.tuple, here.MEMSET.why_not
        ),
        (MEMSET, "small"): Kind(here.small_sets.AXES, here.MEMSET.small, here.MEMSET.why_not_small),
    }
