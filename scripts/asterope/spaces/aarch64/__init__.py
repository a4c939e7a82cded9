"""The copies of AArch64: registers, instructions, the CPU features that they need."""

TITLE = "AArch64"

# A stepping is variant << 4 | revision: a number of so many bits.
STEPPING_BITS = 8
