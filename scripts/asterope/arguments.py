"""Values of options: lengths of time, as tuner/base/duration_text.hpp reads them, whole numbers,
names of files."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

_UNITS = {"s": 1, "m": 60, "h": 3600}
_MOST = 365 * 24 * 3600


def duration(text: str) -> float:
    """ "90s", "10m", "1.5h" in seconds. Raises argparse.ArgumentTypeError for anything else."""
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([smh])", text)
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not 0 < seconds <= _MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: write 90s, 10m or 1.5h")
    return seconds


def file_name(text: str) -> str:
    """Raises argparse.ArgumentTypeError for an empty one, as of a variable that is not set: to a
    path, that is the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """The reader of a value. It raises argparse.ArgumentTypeError for a bad one."""

    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"'{text[:40]}' is no whole number from {least} to {most}"
            )
        return int(text)

    return read
