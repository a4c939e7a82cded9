"""The copies of AArch64: registers, instructions, the CPU features that they need."""

from ..probes import SPACE as probes
from .members import overlapping_copies, small_copies, small_sets
from .pipelines import SPACE as pipelines
from .set_pipelines import SPACE as set_pipelines

TITLE = "AArch64"

# A stepping is variant << 4 | revision: a number of so many bits.
STEPPING_BITS = 8

HEEDED_BELOW = 0  # not measured yet
