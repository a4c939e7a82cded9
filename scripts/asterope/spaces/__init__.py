"""Which copies and sets exist, in a folder for each architecture.

The modules beside these folders serve all architectures. `of` returns one architecture; texts call
it by its TITLE. Its spaces have the same names as those of the others. Each space has the copies of
one kind: AXES are the parameters of a copy, Tuple is the class of the copies, and any CPU runs the
copy PLAIN. why_not() says why a copy with certain values does not exist. The templates and the
tuner have a folder of the architecture's name, too.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

ARCHITECTURES = ("x86_64", "aarch64")


@functools.cache
def of(architecture: str) -> Any:
    """The spaces of an architecture. Raises KeyError for an unknown name."""
    if architecture not in ARCHITECTURES:
        raise KeyError(architecture)
    return importlib.import_module(f".{architecture}", __name__)
