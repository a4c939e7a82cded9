"""Reads a profile from outside and lets through only what is safe to become C code."""

from __future__ import annotations

import os

from ..faults import BadInput
from .build import build
from .checks import check
from .faults import Fault, fault_text
from .model import Choice, Profile, Ratio
from .schema import SCHEMA_FILE, log_header_fault, schema
from .text import MAXIMUM_BYTES, MAXIMUM_VALUES, parse, read

__all__ = [
    "MAXIMUM_BYTES",
    "MAXIMUM_VALUES",
    "SCHEMA_FILE",
    "Choice",
    "Profile",
    "Ratio",
    "load_profile",
    "log_header_fault",
    "schema",
]


def load_profile(path: str | os.PathLike, content: bytes | None = None) -> Profile:
    """Reads and checks the profile at `path`; `content`: what was read from there already.

    Raises BadInput for any fault of it, and where it cannot be read.
    """
    try:
        raw = parse(read(path) if content is None else content)
        check(raw)
    except Fault as fault:
        raise BadInput(fault_text(path, fault)) from None
    return build(raw)
