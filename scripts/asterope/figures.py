"""Counts, bytes, times and places in code as people read them: few digits, names cut to a width."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from .faults import one_line


def figure_text(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:.3g}" if value < 99.95 else f"{value:.0f}"


def _scaled(value: float, units: Sequence[str], step: int) -> str:
    for unit in units:
        if round(value) < step or unit == units[-1]:
            return f"{figure_text(value)}{unit}"
        value /= step
    raise AssertionError


def count_text(value: float) -> str:
    """1230 -> 1.23k."""
    return _scaled(value, ("", "k", "M", "G", "T"), 1000)


def counted(count: int, one: str, more: str = "") -> str:
    """`more`: the plural, unless that only has an s."""
    return f"{count} {one if count == 1 else more or one + 's'}"


def bytes_text(value: float) -> str:
    return _scaled(value, (" B", " KiB", " MiB", " GiB", " TiB", " PiB"), 1024)


def percent_text(share: float | None) -> str:
    """Two digits: 0.1234 -> 12 %."""
    if share is None:
        return "-"
    return f"{100 * max(share, 0.0001):.2g} %" if share < 0.995 else "100 %"


def duration_text(seconds: float) -> str:
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def place_text(module: str, function: str, offset: int, width: int) -> str:
    """As in "libpng16.so.16 png_read_row". A long part is cut in its middle, to the width."""
    module = PurePosixPath(one_line(module)).name or "code in no file"
    shown = one_line(function) or hex(offset)
    if len(module) + 1 + len(shown) > width:
        module = module if len(module) <= 18 else f"{module[:15]}..."
        rest = width - len(module) - 1
        if len(shown) > rest:  # long names differ at their ends
            kept = rest - 3
            shown = f"{shown[: kept - kept // 2]}...{shown[len(shown) - kept // 2 :]}"
    return f"{module} {shown}"
