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
# each call site. (Sets do so at any size.) Up to 1 MiB alone, the search had to choose for larger
# ones. It weighed a producer's gain against a reader's loss, and mostly took temporal stores. (Six
# of twelve programs that copy 1 MiB gained 6 to 25 % by trials; Zen 4.) Copies larger than this are
# too few for trials.
HEEDED_BELOW = 8 << 20
