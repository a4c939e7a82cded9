"""Which space the copies of each operation and kind are of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The operations, as profiles and options have them.
MEMCPY, MEMSET = "memcpy", "memset"

# Those that may sense, and that are chosen by intent as well.
SENSING = (MEMCPY, "pipelines")


def kinds_of(here: Any) -> Mapping[tuple[str, str], Any]:
    """By operation and name; `here`: the spaces of an architecture. Shares are of none."""
    return {
        (MEMCPY, "pipelines"): here.pipelines,
        (MEMCPY, "small"): here.small_copies,
        (MEMCPY, "overlapping"): here.overlapping_copies,
        (MEMCPY, "aliased"): here.overlapping_copies,
        (MEMSET, "pipelines"): here.set_pipelines,
        (MEMSET, "small"): here.small_sets,
    }
