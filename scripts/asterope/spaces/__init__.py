"""Which copies and sets exist, in a folder for each architecture.

What all architectures share lies beside these folders. `of` hands out one of them: TITLE is what
texts call it, and its spaces have the same names as all others', each with the copies of a kind:
AXES, what they are made of; Tuple, one of them; PLAIN, the one that any CPU runs; why_not(), why
there is none with such values. Its templates and its part of the tuner have a folder of the same
name.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

ARCHITECTURES = ("x86_64", "aarch64")


@functools.cache
def of(architecture: str) -> Any:
    """The spaces of an architecture; KeyError where there is none of that name."""
    if architecture not in ARCHITECTURES:
        raise KeyError(architecture)
    return importlib.import_module(f".{architecture}", __name__)
