"""Reads a recording from outside, and refuses whatever asterope-record would not write."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any, NoReturn

from jsonschema.exceptions import best_match

from ..json_depth import nests_too_deeply
from ..profile.faults import Fault, fault_text
from ..profile.schema import fault_of, validator
from ..profile.text import Kind, decode, parse_with, read, refuse_other_formats, too_deep

SCHEMA_FILE = Path(__file__).resolve().parents[1] / "recording.schema.json"

REMEDY = "run asterope-record again"

RECORDING = Kind(
    noun="recording",
    named="a file",
    described="a recording",
    program="asterope-record",
    format="asterope-recording",
    version=2,
    remedy=REMEDY,
)


class RecordingError(ValueError):
    """A recording that cannot be used. Its text is one line: file, place, what is wrong, remedy."""


def read_recording(path: str | os.PathLike, content: bytes | None = None) -> dict[str, Any]:
    """Reads and checks the recording at `path`; `content`: what was read from there already. Raises
    RecordingError."""
    try:
        content = read(path, RECORDING) if content is None else content
        raw = parse_checked(content, RECORDING, SCHEMA_FILE)
        _check(raw)
        return raw
    except Fault as fault:
        raise RecordingError(fault_text(path, fault)) from None


def parse(content: bytes, kind: Kind) -> Any:
    """Raises Fault."""
    text = decode(content, kind)

    def refuse_constant(word: str) -> NoReturn:
        raise Fault(f"{word} is no number of JSON: {kind.remedy}")

    try:
        value = parse_with(text, kind, parse_constant=refuse_constant)
    except ValueError:  # thousands of digits, from Python 3.11 on
        raise Fault(f"a number of too many digits: {kind.remedy}") from None
    if nests_too_deeply(value):
        raise too_deep(kind)
    return value


def parse_checked(content: bytes, kind: Kind, schema_file: Path) -> Any:
    """As the schema says. Raises Fault."""
    raw = parse(content, kind)
    refuse_other_formats(raw, kind)
    refuse_what_breaks(schema_file, raw, kind.remedy)
    return raw


def refuse_what_breaks(schema_file: Path, raw: Any, remedy: str) -> None:
    """Raises Fault where `raw` is not as the schema says."""
    schema = json.loads(schema_file.read_text(encoding="utf-8"))
    # A limit, because a hostile file can hold a fault in each of its values.
    error = best_match(itertools.islice(validator(schema).iter_errors(raw), 100))
    if error is not None:
        raise fault_of(error, remedy)


def _check(raw: Any) -> None:
    """What the schema cannot say."""
    for i, one in enumerate(raw["calls"]):
        if one["from"] >= one["to"]:
            raise Fault(f"from must be less than to: {REMEDY}", ("calls", i))
