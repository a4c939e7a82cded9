"""A fault in a file of ours: its place, and one line of text."""

from __future__ import annotations

import json
import os
import re

from ..faults import one_line

REMEDY = "correct it or run asterope-tune again"

# The keys (str) and indices (int) that lead to a value from the top.
Place = tuple


class Fault(Exception):
    """Something is wrong with a file, at that place in it."""

    def __init__(self, what: str, place: Place = ()) -> None:
        super().__init__(what)
        self.place = place


def shown(value: object) -> str:
    """A value as a message may show it: one short line of ASCII, also of a long value."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if isinstance(value, str):
        value = value if len(value) <= 32 else value[:32] + "..."
    return json.dumps(value)[:100]


def path_text(place: Place) -> str:
    """`("intervals", 3, "winner")` as `intervals[3].winner`."""
    text = ""
    for step in place:
        if isinstance(step, int):
            text += f"[{step}]"
        elif re.fullmatch(r"[A-Za-z0-9_]{1,64}", step):
            text += f".{step}"
        else:
            text += f"[{shown(step)}]"
    return text.lstrip(".")


def fault_text(path: str | os.PathLike, fault: Fault) -> str:
    """One line: file, place, fault."""
    place = [path_text(fault.place)] if fault.place else []
    return ": ".join([one_line(path), *place, str(fault)])
