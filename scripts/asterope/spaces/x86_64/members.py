"""The copies of x86-64 beside its pipelines: small copies and sets, overlapping copies."""

from __future__ import annotations

from dataclasses import replace

from .. import members
from ..axis import Axis, Space
from .pipelines import VECTORS, needs_of_register

# Bytes that 16 registers of XMM hold, and 8 of YMM and ZMM. Beyond, a loop is faster. 600 bytes as
# twice 512 had 0.72 of the speed of libc's set (Zen 5). As 16 YMM registers, 260 to 420 bytes had
# 0.66 to 0.82 of that set's speed, and as a copy 0.69 to 0.94 of libc's; loops had 0.95 to 1.2
# (Zen 3).
_MOST_BYTES = {"XMM": 256, "YMM": 256, "YMM16": 256, "MIXED": 512, "ZMM": 512}

# They need registers that AVX-512 adds. YMM16 and MIXED suit copies that are read soon.
# The last word of 64 to 256 cached bytes comes from stores of 32 bytes in half the time that stores
# of 64 take. Copies of such sizes into memory took 0.77 to 0.9 of the time (Emerald Rapids).
_UPPER = ("ZMM", "YMM16", "MIXED")


def _needs(rt: str, more: str = "") -> str:
    return f"{more}avx512f avx512vl" if rt in _UPPER else needs_of_register(rt)


class _SmallCopy(members.Small):
    """One small copy."""

    AXES = (
        Axis(
            "shape",
            ("stepped", "grouped", "clamped", "masked", "masked32", "masked16", "rep"),
            "How up to 64 bytes are copied: stepped (a class for every power of two), grouped (few "
            "classes, no branch in each), clamped (16 bytes or more as grouped, fewer as stepped), "
            "masked (one AVX-512 masked move; masked32, masked16: only up to that many bytes), rep "
            "(rep movsb up to 127 bytes).",
            needs=lambda shape: "avx512bw avx512f avx512vl bmi2" if "masked" in shape else "",
        ),
        Axis(
            "rt",
            (*VECTORS, "YMM16", "MIXED"),
            "The widest register. YMM16: YMM registers from 16 on, which need no vzeroupper. "
            "MIXED: YMM16 up to 128 bytes, ZMM above.",
            needs=_needs,
        ),
        members.ORDER,
        Axis("bound", (128, 256, 512), "In bytes: larger copies take a pipeline."),
    )

    @property
    def masked_bytes(self) -> int:
        """How many bytes one masked move takes; 0 in the other shapes."""
        return {"masked": 64, "masked32": 32, "masked16": 16}.get(self.shape, 0)

    @property
    def copies_upwards_only(self) -> bool:
        """Whether it is wrong where the destination begins within the source: rep movsb is."""
        return self.shape == "rep"


class _SmallSet(_SmallCopy):
    """One small set."""

    _SHAPE, _RT, _ORDER, _BOUND = _SmallCopy.AXES
    AXES = (
        replace(
            _SHAPE,
            meaning="How up to 64 bytes are set: stepped (a class for every power of two), grouped "
            "(few classes, no branch in each), clamped (16 bytes or more as grouped, fewer as "
            "stepped), masked (one AVX-512 masked store; masked32, masked16: only up to that many "
            "bytes), rep (rep stosb up to 127 bytes).",
        ),
        # vpbroadcastb from a general register
        replace(_RT, needs=lambda rt: _needs(rt, "avx512bw ")),
        _ORDER,
        replace(_BOUND, meaning="In bytes: larger sets take a pipeline."),
    )
    loads, stem = False, "set"


def _why_no_small(shape: str, rt: str, order: str, bound: int) -> str | None:
    if shape.startswith("masked") and (rt not in _UPPER or order == "middle"):
        return "the masked shapes have only rt ZMM, YMM16 and MIXED, orders up and down"
    if shape == "rep" and (rt, order) != ("XMM", "up"):
        return "the rep shape has only rt XMM, order up"
    if shape == "clamped" and order != "up":
        return "the clamped shape has only order up"
    if rt in ("YMM16", "MIXED") and (order != "up" or shape == "grouped"):
        return f"{rt} has order up only, and not the grouped shape"
    if (rt, bound) == ("MIXED", 128):
        return "MIXED is YMM16 up to 128 bytes"
    if bound > _MOST_BYTES[rt]:
        return f"{rt} has bounds up to {_MOST_BYTES[rt]} bytes only"
    return None


# The plain ones do as libc does.
small_copies, small_sets = (
    Space(make, make("stepped", "XMM", "middle", 128), members.Small.NESTING, _why_no_small)
    for make in (_SmallCopy, _SmallSet)
)


class _Overlapping(members.Overlapping):
    """A copy for buffers that overlap or alias."""

    AXES = (
        Axis("rt", VECTORS, "Register type.", needs=needs_of_register),
        Axis("block", (128, 256), "Bytes that a turn of the loop moves."),
    )


def _why_no_overlapping(rt: str, block: int) -> str | None:
    if (rt, block) == ("XMM", 256):
        return "16 XMM registers hold a block of 256 bytes, and nothing beside it"
    return None


overlapping_copies = Space(
    _Overlapping, _Overlapping("XMM", 128), ("block", "rt"), _why_no_overlapping
)
