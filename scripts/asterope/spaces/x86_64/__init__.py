"""The copies of x86-64: registers, instructions, the CPU features that they need."""

from ..probes import SPACE as probes
from .members import overlapping_copies, small_copies, small_sets
from .pipelines import SPACE as pipelines
from .set_pipelines import SPACE as set_pipelines

# What texts call it.
TITLE = "x86-64"

# A stepping is a number of so many bits of CPUID.
STEPPING_BITS = 4

# Whether copies that sense on both sides find out at each call site which stores serve its program.
HEEDS_READERS = True
