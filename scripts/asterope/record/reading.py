"""Reads a recording from outside, and refuses whatever asterope-record would not write."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any, NoReturn

from jsonschema.exceptions import best_match

from ..json_depth import nests_too_deeply
from ..one_line import one_line
from ..profile.faults import Fault, path_text, shown
from ..profile.schema import fault_of, validator
from ..text_file import open_to_read
from .bands import band_ends

FORMAT, VERSION = "asterope-recording", 1
SCHEMA_FILE = Path(__file__).resolve().parents[1] / "recording.schema.json"

# The largest that the schema allows in earnest is some 2 MiB.
MAXIMUM_BYTES = 16 << 20

REMEDY = "run asterope-record again"


class RecordingError(ValueError):
    """A recording that cannot be used. Its text is one line: file, place, what is wrong, remedy."""


def read_recording(path: str | os.PathLike, content: bytes | None = None) -> dict[str, Any]:
    """Reads and checks the recording at `path`; `content`: what was read from there already. Raises
    RecordingError."""
    try:
        raw = _parse(_read(path) if content is None else content)
        _check(raw)
        return raw
    except Fault as fault:
        parts = [one_line(path), *([path_text(fault.place)] if fault.place else [])]
        raise RecordingError(": ".join([*parts, str(fault)])) from None


def _read(path: str | os.PathLike) -> bytes:
    try:
        with open_to_read(path) as file:
            return file.read(MAXIMUM_BYTES + 1)
    except OSError as error:
        raise Fault(
            f"cannot read it: {error.strerror}: name a file that asterope-record wrote"
        ) from None


def _parse(content: bytes) -> Any:
    if len(content) > MAXIMUM_BYTES:
        raise Fault(
            f"larger than {MAXIMUM_BYTES >> 20} MiB, so no recording: name a file that "
            "asterope-record wrote"
        )
    if not content.strip():
        raise Fault(f"the file is empty: {REMEDY}")
    try:
        value = json.loads(content.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise Fault(
            f"not text in UTF-8 (byte {error.start}): name a file that asterope-record wrote"
        ) from None
    except json.JSONDecodeError as error:
        raise Fault(
            f"line {error.lineno}, column {error.colno}: not JSON ({error.msg}): the file is "
            f"damaged or cut short: {REMEDY}"
        ) from None
    except RecursionError:
        raise Fault(f"nested too deeply to be a recording: {REMEDY}") from None
    except ValueError:  # thousands of digits, from Python 3.11 on
        raise Fault(f"a number of too many digits: {REMEDY}") from None
    if nests_too_deeply(value):
        raise Fault(f"nested too deeply to be a recording: {REMEDY}")
    return value


def _refuse_constant(word: str) -> NoReturn:
    raise Fault(f"{word} is no number of JSON: {REMEDY}")


def _check(raw: Any) -> None:
    if not isinstance(raw, dict):
        raise Fault(f"{shown(raw)} where a JSON object is expected: {REMEDY}")
    if raw.get("format") != FORMAT:
        raise Fault(
            f'not a recording ("format" must be "{FORMAT}"): name a file that asterope-record '
            "wrote",
            ("format",),
        )
    version = raw.get("version")
    if type(version) is int and version > VERSION:
        raise Fault(
            f"made by a newer asterope: recording version {version}, this one reads {VERSION}: "
            "upgrade asterope",
            ("version",),
        )
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    # A limit, because a hostile file can hold a fault in each of its values.
    error = best_match(itertools.islice(validator(schema).iter_errors(raw), 100))
    if error is not None:
        raise fault_of(error, REMEDY)
    for field in ("bands", "memset_bands"):
        for i, band in enumerate(raw[field]):
            if (band["above"], band["up_to"]) != band_ends(i):
                raise Fault(f"its bands are not those of a recording: {REMEDY}", (field, i))
            _check_interval(band["seconds"], (field, i, "seconds"))
    for field in ("copy_seconds", "share"):
        _check_interval(raw[field], (field,))
    for i, one in enumerate(raw["calls"]):
        if one["from"] >= one["to"]:
            raise Fault(f"from must be less than to: {REMEDY}", ("calls", i))


def _check_interval(interval: Any, place: tuple) -> None:
    if interval is not None and not interval["low"] <= interval["value"] <= interval["high"]:
        raise Fault(f"must have low <= value <= high: {REMEDY}", place)
