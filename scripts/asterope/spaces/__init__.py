"""Which copies and sets exist: a file for each kind, in a folder for each architecture.

Here is chosen which architecture's copies all others see; its templates and its part of the tuner
have a folder of the same name.
"""

from . import threads
from .x86_64 import (
    aliased_copies,
    overlapping_copies,
    pipelines,
    probes,
    set_pipelines,
    small_copies,
    small_sets,
)

ARCHITECTURE = "x86_64"

__all__ = [
    "ARCHITECTURE",
    "aliased_copies",
    "overlapping_copies",
    "pipelines",
    "probes",
    "set_pipelines",
    "small_copies",
    "small_sets",
    "threads",
]
