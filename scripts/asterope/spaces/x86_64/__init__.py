"""The copies of x86-64: registers, instructions, the CPU features that they need."""

from ..probes import SPACE as probes
from ..probes import SPACE_OF_SETS as probes_of_sets
from .members import overlapping_copies, small_copies, small_sets
from .pipelines import SPACE as pipelines
from .set_pipelines import SPACE as set_pipelines

# What texts call it.
TITLE = "x86-64"

# A stepping is a number of so many bits of CPUID.
STEPPING_BITS = 4

# Below so many bytes, copies that sense on both sides find out which stores serve the program of
# each call site. (Sets do so at any size.) Larger copies are too few for that, and gain by stores
# past the caches though they are read. (4 MiB had 1.2 of libc's speed with such stores, and 1.1
# without; Emerald Rapids.)
HEEDED_BELOW = 1 << 20
