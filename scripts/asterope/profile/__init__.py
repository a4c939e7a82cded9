"""Reads a profile from outside. It lets through nothing that is unsafe as a part of C code."""

from __future__ import annotations

import os

from .checks import check
from .model import Choice, Profile, Ratio, build
from .schema import log_header_fault, read_checked, schema
from .text import PROFILE

__all__ = ["Choice", "Profile", "Ratio", "load_profile", "log_header_fault", "schema"]


def load_profile(path: str | os.PathLike, content: bytes | None = None) -> Profile:
    """Reads and checks the profile at `path`. `content`: its bytes, if they were read already.

    Raises BadInput for any fault of it, and if it cannot be read.
    """
    return build(read_checked(path, PROFILE, None, check, content))
