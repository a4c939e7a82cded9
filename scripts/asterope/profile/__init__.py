"""Reads a profile from outside. It lets through nothing that is unsafe as a part of C code."""

from __future__ import annotations

import os

from ..faults import BadInput
from .checks import check
from .faults import Fault, fault_text
from .model import Choice, Profile, Ratio, build
from .schema import log_header_fault, schema
from .text import parse, read

__all__ = ["Choice", "Profile", "Ratio", "load_profile", "log_header_fault", "schema"]


def load_profile(path: str | os.PathLike, content: bytes | None = None) -> Profile:
    """Reads and checks the profile at `path`. `content`: its bytes, if they were read already.

    Raises BadInput for any fault of it, and if it cannot be read.
    """
    try:
        raw = parse(read(path) if content is None else content)
        check(raw)
    except Fault as fault:
        raise BadInput(fault_text(path, fault)) from None
    return build(raw)
