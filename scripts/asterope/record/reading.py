"""Reads a recording from outside, and refuses whatever asterope-record would not write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..profile.faults import Fault
from ..profile.schema import read_checked
from ..profile.text import Kind

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


def read_recording(path: str | os.PathLike, content: bytes | None = None) -> dict[str, Any]:
    """Reads and checks the recording at `path`; `content`: what was read from there already. Raises
    BadInput."""
    return read_checked(path, RECORDING, SCHEMA_FILE, _check, content)


def _check(raw: Any) -> None:
    """What the schema cannot say."""
    for i, one in enumerate(raw["calls"]):
        if one["from"] >= one["to"]:
            raise Fault(f"from must be less than to: {REMEDY}", ("calls", i))
