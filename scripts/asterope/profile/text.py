"""From a file of ours to JSON values. Refuses values that neither profiles nor others may hold."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..text_file import open_to_read
from .faults import REMEDY, Fault, Place, shown

# A profile has some 3,000 values, the largest that the schema allows in earnest some 100,000.
MAXIMUM_BYTES = 16 << 20

MAXIMUM_VALUES = 200_000

# Arrays and objects that lie in one another, the same for C++: no file of ours has so many.
MAXIMUM_DEPTH = 16


@dataclass(frozen=True)
class Kind:
    """A kind of JSON file, in the words of the messages about it."""

    noun: str  # "profile"
    program: str  # that writes it
    format: str
    version: int
    remedy: str
    named: str = "one"  # instead of another file: "a profile"
    remake: str = "make it anew"  # of one of an older version
    holds_names: bool = True  # of files and programs, which are any text; False: all is ASCII
    most_values: int = 5_000_000


PROFILE = Kind(
    noun="profile",
    named="a profile",
    program="asterope-tune",
    format="asterope-profile",
    version=2,
    remedy=REMEDY,
    remake="tune again with asterope-tune",
    holds_names=False,
    most_values=MAXIMUM_VALUES,
)


def read(path: str | os.PathLike, kind: Kind) -> bytes:
    try:
        with open_to_read(path) as file:
            return file.read(MAXIMUM_BYTES + 1)
    except OSError as error:
        raise Fault(
            f"cannot read it: {error.strerror}: name {kind.named} that {kind.program} wrote"
        ) from None


def _decode(content: bytes, kind: Kind) -> str:
    if len(content) > MAXIMUM_BYTES:
        raise Fault(
            f"larger than {MAXIMUM_BYTES >> 20} MiB, so no {kind.noun}: "
            f"name a file that {kind.program} wrote"
        )
    if not content.strip():
        raise Fault(f"the file is empty: run {kind.program} again")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Fault(
            f"not text in UTF-8 (byte {error.start}): name {kind.named} that {kind.program} wrote"
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
    # _refuse_unsound(), whose message names that place.
    return int(digits) if len(digits) <= 20 else math.inf


def parse(content: bytes, kind: Kind) -> Any:
    """A sound file that says it is of that kind; its content is not checked. Raises Fault."""
    try:
        raw = json.loads(_decode(content, kind), object_pairs_hook=_object, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise Fault(
            f"line {error.lineno}, column {error.colno}: not JSON ({error.msg}): "
            f"the file is damaged or cut short: run {kind.program} again"
        ) from None
    except RecursionError:
        raise _too_deep(kind) from None
    _refuse_unsound(raw, kind)
    _refuse_other_formats(raw, kind)
    return raw


def _too_deep(kind: Kind, place: Place = ()) -> Fault:
    return Fault(f"nested too deeply to be a {kind.noun}: {kind.remedy}", place)


def _refuse_other_formats(raw: Any, kind: Kind) -> None:
    """Reports plainly a fault that the schema would report as one of many."""
    if not isinstance(raw, dict):
        raise Fault(f"{shown(raw)} where a JSON object is expected: {kind.remedy}")
    if raw.get("format") != kind.format:
        raise Fault(
            f'not a {kind.noun} ("format" must be "{kind.format}"): '
            f"name a file that {kind.program} wrote",
            ("format",),
        )
    version = raw.get("version")
    if type(version) is int and version > kind.version:
        raise Fault(
            f"made by a newer asterope: {kind.noun} version {version}, this one reads "
            f"{kind.version}: upgrade asterope",
            ("version",),
        )
    if type(version) is int and 0 < version < kind.version:
        raise Fault(
            f"{kind.noun} version {version}, of an older asterope; this one reads {kind.version}: "
            f"{kind.remake}",
            ("version",),
        )


def _values(value: Any, place: Place = ()) -> Iterator[tuple[Any, Place]]:
    """The value and all that it holds, in the order of the file, with their places."""
    yield value, place
    if isinstance(value, (Object, list)):
        for key, one in value.items() if isinstance(value, Object) else enumerate(value):
            yield from _values(one, (*place, key))


def _refuse_unsound(raw: Any, kind: Kind) -> None:
    """Refuses faults that the schema cannot see, and values that no such file may hold."""
    for number, (value, place) in enumerate(_values(raw)):
        if number == kind.most_values:
            raise Fault(f"more than {number} values, so no {kind.noun}: {kind.remedy}")
        if len(place) == MAXIMUM_DEPTH and isinstance(value, (Object, list)):
            raise _too_deep(kind, place[:3])
        if isinstance(value, float) and not math.isfinite(value):
            raise Fault(f"not a finite number of a sane size: {kind.remedy}", place)
        if isinstance(value, str):
            _refuse_odd_text(value, place, kind)
        if isinstance(value, Object):
            if value.repeated is not None:
                raise Fault(f"given twice: {kind.remedy}", (*place, value.repeated))
            for key in value:
                _refuse_odd_text(key, (*place, key), kind)


def _refuse_odd_text(text: str, place: Place, kind: Kind) -> None:
    # The schema's patterns say so too, but Python's `$` lets a final newline pass.
    if not kind.holds_names and not (text.isascii() and text.isprintable()):
        raise Fault(f"{shown(text)} is not all printable ASCII: {kind.remedy}", place)
