"""From a file to JSON values, and what no JSON of a profile may hold."""

from __future__ import annotations

import json
import math
import os
from typing import Any

from ..json_depth import MAXIMUM_DEPTH
from ..text_file import open_to_read
from .faults import REMEDY, Fault, Place, shown

# A profile has some 3,000 values, the largest that the schema allows in earnest some 100,000.
MAXIMUM_BYTES = 16 << 20

MAXIMUM_VALUES = 200_000


def read(path: str | os.PathLike) -> bytes:
    try:
        with open_to_read(path) as file:
            return file.read(MAXIMUM_BYTES + 1)
    except OSError as error:
        raise Fault(
            f"cannot read it: {error.strerror}: name a profile that asterope-tune wrote"
        ) from None


def decode(content: bytes) -> str:
    if len(content) > MAXIMUM_BYTES:
        raise Fault(
            f"larger than {MAXIMUM_BYTES >> 20} MiB, so no profile: "
            "name a file that asterope-tune wrote"
        )
    if not content.strip():
        raise Fault("the file is empty: run asterope-tune again")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Fault(
            f"not text in UTF-8 (byte {error.start}): name a profile that asterope-tune wrote"
        ) from None


class Object(dict):
    """A JSON object that remembers a key it was given twice, which a plain dict would hide."""

    repeated: str | None = None


def _object(pairs: list[tuple[str, Any]]) -> Object:
    result = Object()
    for key, value in pairs:
        if key in result and result.repeated is None:
            result.repeated = key
        result[key] = value
    return result


def _integer(digits: str) -> int | float:
    # int() is slow and may refuse on thousands of digits. Infinity keeps the value's place for
    # refuse_unsound, which can say where it stands.
    return int(digits) if len(digits) <= 20 else math.inf


def parse(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise Fault(
            f"line {error.lineno}, column {error.colno}: not JSON ({error.msg}): "
            "the file is damaged or cut short: run asterope-tune again"
        ) from None
    except RecursionError:
        raise Fault(f"nested too deeply to be a profile: {REMEDY}") from None


def refuse_unsound(raw: Any) -> None:
    """Refuses what the schema cannot see, and what no field of any profile may hold."""
    pending: list[tuple[Any, Place]] = [(raw, ())]
    values = 1
    while pending:
        value, place = pending.pop()
        if len(place) == MAXIMUM_DEPTH and isinstance(value, (Object, list)):
            raise Fault(f"nested too deeply to be a profile: {REMEDY}", place[:3])
        if isinstance(value, float) and not math.isfinite(value):
            raise Fault(f"not a finite number of a sane size: {REMEDY}", place)
        if isinstance(value, str):
            _refuse_odd_text(value, place)
        if isinstance(value, (Object, list)):
            values += len(value)
            if values > MAXIMUM_VALUES:
                raise Fault(f"more than {MAXIMUM_VALUES} values, so no profile: {REMEDY}")
        if isinstance(value, Object):
            if value.repeated is not None:
                raise Fault(f"given twice: {REMEDY}", (*place, value.repeated))
            for key in value:
                _refuse_odd_text(key, (*place, key))
            # Reversed, so that faults are found in the order of the file.
            pending.extend((value[key], (*place, key)) for key in reversed(list(value)))
        elif isinstance(value, list):
            pending.extend((value[i], (*place, i)) for i in reversed(range(len(value))))


def _refuse_odd_text(text: str, place: Place) -> None:
    # The schema's patterns say so too, but Python's `$` lets a final newline pass.
    if not (text.isascii() and text.isprintable()):
        raise Fault(f"{shown(text)} is not all printable ASCII: {REMEDY}", place)
