"""The copies of AArch64: registers, instructions, the CPU features that they need."""

from .. import probes
from ..operations import Operation
from . import (
    overlapping_copies,
    pipelines,
    set_pipelines,
    small_copies,
    small_sets,
)

TITLE = "AArch64"

# A stepping is variant << 4 | revision: a number of so many bits.
STEPPING_BITS = 8

MEMCPY = Operation(
    pipelines.Tuple, pipelines.why_not, small_copies.SmallTuple, small_copies.why_not_small
)
MEMSET = Operation(
    set_pipelines.Tuple, set_pipelines.why_not, small_sets.SmallSet, small_sets.why_not_small
)

__all__ = [
    "MEMCPY",
    "MEMSET",
    "STEPPING_BITS",
    "TITLE",
    "overlapping_copies",
    "pipelines",
    "probes",
    "set_pipelines",
    "small_copies",
    "small_sets",
]
