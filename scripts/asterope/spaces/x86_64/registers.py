"""The vector registers of x86-64, and the CPU features that they need."""

VECTORS = ("XMM", "YMM", "ZMM")

# A loop with 256-bit registers needs AVX2: AVX has no 256-bit movntdqa; one for all is simple.
_NEEDS = {"YMM": "avx2", "ZMM": "avx512f"}


def needs(rt: str) -> str:
    """The CPU feature of a register type; empty for those that every CPU has."""
    return _NEEDS.get(rt, "")
