"""The copies of x86-64: registers, instructions, the CPU features that they need."""
