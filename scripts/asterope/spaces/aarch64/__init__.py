"""The copies of AArch64: registers, instructions, the CPU features that they need."""

from .. import probes
from ..operations import Operation
from . import (
    aliased_copies,
    overlapping_copies,
    pipelines,
    set_pipelines,
    small_copies,
    small_sets,
)

TITLE = "AArch64"

# What a CPU can be told from another by, in a file with several profiles (dispatch_cpu.j2): the
# implementer has a name of so many characters at most, and a stepping is variant << 4 | revision.
DISPATCH_VENDOR_BYTES = 12
NO_STEPPING = 256

MEMCPY = Operation(
    pipelines.Tuple, pipelines.why_not, small_copies.SmallTuple, small_copies.why_not_small
)
MEMSET = Operation(
    set_pipelines.Tuple, set_pipelines.why_not, small_sets.SmallSet, small_sets.why_not_small
)

__all__ = [
    "DISPATCH_VENDOR_BYTES",
    "MEMCPY",
    "MEMSET",
    "NO_STEPPING",
    "TITLE",
    "aliased_copies",
    "overlapping_copies",
    "pipelines",
    "probes",
    "set_pipelines",
    "small_copies",
    "small_sets",
]
