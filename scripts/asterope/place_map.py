"""The map of a program's places: those whose copies take another way than the routine."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import __version__
from .figures import counted
from .profile.faults import Fault, shown
from .profile.schema import read_checked
from .profile.text import Kind
from .render import ENTRIES

LEAST = 512  # bytes: smaller copies are not tried place by place
_MOST = 1 << 23  # that an instruction of AArch64 compares a size with
SCHEMA_FILE = Path(__file__).resolve().parent / "places.schema.json"
WAYS = ("libc", *ENTRIES)

_REMEDY = "correct it or run asterope-prove --write again"
_KIND = Kind(
    noun="map of places",
    program="asterope-prove --write",
    format="asterope-places",
    version=1,
    remedy=_REMEDY,
)


@dataclass(frozen=True)
class MappedPlace:
    """A place as in places.schema.json."""

    module: str
    build_id: str
    offset: int
    caller: str
    function: str
    least: int
    way: str


def text_of(places: Sequence[MappedPlace], command: Sequence[str]) -> str:
    whole = {
        "format": _KIND.format,
        "version": _KIND.version,
        "tool_version": __version__,
        "command": list(command),
        "places": [asdict(place) for place in places],
    }
    return json.dumps(whole, indent=1) + "\n"


def read_places(path: str | os.PathLike, entries: Collection[str] | None) -> list[MappedPlace]:
    """`entries`: the routine's, memcpy_cold and so on; None: any. Raises BadInput: file, place,
    fault, remedy."""
    raw = read_checked(path, _KIND, SCHEMA_FILE, lambda raw: _check(_places_of(raw), entries))
    return _places_of(raw)


def _places_of(raw: Any) -> list[MappedPlace]:
    return [MappedPlace(**one) for one in raw["places"]]


def _check(places: Sequence[MappedPlace], entries: Collection[str] | None) -> None:
    """The checks that the schema cannot express."""
    seen = set()
    for i, place in enumerate(places):
        if place.least & (place.least - 1):
            what = f"{place.least} is no power of two: {_REMEDY}"
            raise Fault(what, ("places", i, "least"))
        if place.way not in WAYS:
            what = f"{shown(place.way)} is none of {', '.join(WAYS)}: {_REMEDY}"
            raise Fault(what, ("places", i, "way"))
        function = f"{'memset' if place.function == 'memset' else 'memcpy'}_{place.way}"
        if entries is not None and place.way != "libc" and function not in entries:
            what = f"the profile has no {function}: {_REMEDY}, with its routine"
            raise Fault(what, ("places", i, "way"))
        key = (place.build_id, place.offset, place.function, place.least)
        if key in seen:
            raise Fault(f"given twice: {_REMEDY}", ("places", i))
        seen.add(key)


def least_of(places: Sequence[MappedPlace]) -> int:
    """The size from which on a routine asks for its way: smaller copies pay nothing."""
    return min((min(place.least, _MOST) for place in places), default=LEAST)


def as_c(places: Sequence[MappedPlace]) -> str:
    """The table that templates/by_place.h includes. Names do not enter it."""
    rows = [
        f'#define ASTEROPE_PLACES_TEXT ", {counted(len(places), "place")} apart"',
        "static const struct asterope_place asterope_places[] = {",
        *(f"    {{{', '.join(map(str, _fields(place)))}}}," for place in places),
        "    {0}};",  # C knows no empty table
    ]
    return "\n".join(rows) + "\n"


def _fields(place: MappedPlace) -> Iterable[object]:
    build = bytes.fromhex(place.build_id)
    kind = "ASTEROPE_SETS" if place.function == "memset" else "ASTEROPE_COPIES"
    yield from (f"{place.offset}u", place.least.bit_length() - 1, kind)
    function = "memset" if place.function == "memset" else "memcpy"
    yield "NULL" if place.way == "libc" else f"(asterope_way *)asterope_{function}_{place.way}"
    yield from (len(build), f"{{{', '.join(map(str, build))}}}")
