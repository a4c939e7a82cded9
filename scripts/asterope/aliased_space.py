"""The space of copies for buffers that alias modulo 4096."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

KINDS = ("wide", "backward")
REGISTER_TYPES = ("XMM", "YMM", "ZMM")

# The least an aliased copy takes, in bytes.
MINIMUM_BYTES = 512


@dataclass(frozen=True)
class AliasedTuple:
    """One such copy: wider groups of loads first, or from the end backward."""

    kind: str
    rt: str

    @property
    def name(self) -> str:
        """How it is written in logs: `backward YMM`."""
        return f"{self.kind} {self.rt}"

    @property
    def symbol(self) -> str:
        return f"{self.kind}_{self.rt}".lower()

    @property
    def needs(self) -> tuple[str, ...]:
        """The CPU features beyond baseline x86-64, as /proc/cpuinfo names them."""
        return {"XMM": (), "YMM": ("avx2",), "ZMM": ("avx512f",)}[self.rt]


def aliased_tuples() -> Iterator[AliasedTuple]:
    """All of them, simplest first."""
    for kind, rt in itertools.product(KINDS, REGISTER_TYPES):
        yield AliasedTuple(kind, rt)
