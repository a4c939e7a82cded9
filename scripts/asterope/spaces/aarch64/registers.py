"""The registers and instructions that carry data on AArch64, and the CPU features that they need.

X: pairs of general registers, 16 bytes a pair. Q: pairs of 128-bit registers, 32 bytes a pair. SVE:
vectors of the CPU's own length. MOPS: the instructions that copy or set any number of bytes.
"""

MOPS = "MOPS"
SVE = "SVE"
VECTORS = ("Q", SVE)

# As /proc/cpuinfo names them. Every AArch64 CPU has the others.
_NEEDS = {SVE: "sve", MOPS: "mops"}

# DC ZVA is permitted and clears 64 bytes, as DCZID_EL0 says. No name of /proc/cpuinfo's.
CLEARS_LINES = "zva64"


def needs(rt: str) -> str:
    """The CPU feature of a register type; empty for those that every CPU has."""
    return _NEEDS.get(rt, "")
