"""The operations: functions of libc that are tuned, and the spaces of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .x86_64 import pipelines, set_pipelines, small_copies, small_sets


@dataclass(frozen=True)
class Operation:
    """What makes its pipelines and small copies from a profile's fields, and why it may not."""

    tuple: Any
    why_not: Callable[..., str | None]
    small: Any
    why_not_small: Callable[..., str | None]


MEMCPY = Operation(
    pipelines.Tuple, pipelines.why_not, small_copies.SmallTuple, small_copies.why_not_small
)
MEMSET = Operation(
    set_pipelines.Tuple, set_pipelines.why_not, small_sets.SmallSet, small_sets.why_not_small
)
