"""How a copy may be shared among threads."""

from __future__ import annotations

from dataclasses import dataclass

# Threads of one copy, the caller included; bytes of the smallest chunk that is worth handing over.
MOST_THREADS = 64
LEAST_CHUNK = 1 << 16


@dataclass(frozen=True)
class Share:
    """How a copy is shared.

    `threads`: at most so many, the caller included; 1: the caller copies alone. `chunk`: bytes that
    one of them copies at a time; 0: an even share for each.
    """

    threads: int
    chunk: int
