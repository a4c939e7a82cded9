"""The operations: functions of libc that are tuned; each architecture says what they are there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Operation:
    """What makes its pipelines and small copies from a profile's fields, and why it may not."""

    tuple: Any
    why_not: Callable[..., str | None]
    small: Any
    why_not_small: Callable[..., str | None]
