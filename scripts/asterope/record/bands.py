"""The size bands of a recording: what its tables go by."""

from __future__ import annotations

from bisect import bisect_left

# A band is above one of them, up to the next; the first has calls of 0 bytes, too, the last no end.
LIMITS = (64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20)
COUNT = len(LIMITS) + 1


def band_of(size: int) -> int:
    return bisect_left(LIMITS, size)


def band_ends(band: int) -> tuple[int, int | None]:
    """Above what its sizes are, and up to what: None for the last band."""
    return (LIMITS[band - 1] if band else 0), (LIMITS[band] if band < len(LIMITS) else None)
