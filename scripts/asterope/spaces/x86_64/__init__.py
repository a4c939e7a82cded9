"""The copies of x86-64: registers, instructions, the CPU features that they need."""

# What texts call it.
TITLE = "x86-64"

# A stepping is a number of so many bits of CPUID.
STEPPING_BITS = 4
