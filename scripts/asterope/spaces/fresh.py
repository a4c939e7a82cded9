"""How a copy into fresh memory may prepare the pages of its destination."""

from __future__ import annotations

from dataclasses import dataclass

POPULATE, HUGE, ADVISE = "populate", "huge", "advise"
ASKING = (HUGE, ADVISE)  # those that ask for huge pages

# Linux's modes of transparent huge pages. Their first letters tell them apart.
MODES = ("always", "madvise", "never")

# Bytes from which on pages are prepared: below, a system call costs more than it saves.
LEAST_BYTES = 1 << 16

# Bytes of a piece: a page at least, and 64 MiB at most, which no cache holds until it is copied.
LEAST_PIECE, MOST_PIECE = 1 << 12, 1 << 26


@dataclass(frozen=True)
class PageStage:
    """The page stage of a copy.

    `stage`: with none the copy's own stores fault. With populate MADV_POPULATE_WRITE maps the pages
    before the copy gets there. With huge, MADV_HUGEPAGE asks for huge pages before that. With
    advise it asks for them, too. Then a store to the end of each huge page maps it, and only pages
    around these are populated.
    `piece`: the bytes that are prepared, and then copied, at a time; 0 of none.
    """

    stage: str
    piece: int

    @property
    def name(self) -> str:
        return self.stage if self.stage == "none" else f"{self.stage} {self.piece >> 10} KiB"


def why_not(stage: str, piece: int) -> str | None:
    """Why routines cannot have such a page stage; None where they can."""
    if stage == "none":
        return None if piece == 0 else "without a page stage, piece is 0"
    if not LEAST_PIECE <= piece <= MOST_PIECE or piece % LEAST_PIECE:
        return f"a piece has whole pages of {LEAST_PIECE} bytes, up to {MOST_PIECE} bytes"
    return None
