"""Adds the copies of --tunables: settings of glibc's malloc that save page faults, alone and with
each library. It also finds the copy that brings most."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..faults import BadInput
from .copies import TUNABLES, Copy, are_known, check_count
from .rounds import Rounds
from .verdicts import FASTER, Finding, is_surely_better

# Bytes: glibc gives larger blocks back at once, and free memory at the heap's end beyond that.
_KEPT = 1 << 30
# Blocks lie in huge pages, where 512 faults become one. Or freed blocks are kept: their pages have
# been touched, and cost no further fault.
_OFFERS = {
    "hugetlb": "glibc.malloc.hugetlb=1",
    "keep": f"glibc.malloc.mmap_threshold={_KEPT}:glibc.malloc.trim_threshold={_KEPT}",
}
# With this variable of 1, a preload library that knows it prepares the pages of its destinations.
_FRESH = "ASTEROPE_FRESH"


def with_offers(copies: Sequence[Copy], loader: Path) -> tuple[list[Copy], list[str]]:
    """Returns these and the added ones, and a line for each setting that changes nothing. The
    program's own GLIBC_TUNABLES stay: of two values libc takes the last. Raises BadInput."""
    own = os.environ.get(TUNABLES)
    libraries = [copy for copy in copies if copy.library is not None]
    added, lines = [], []
    for name, setting in _OFFERS.items():
        tunables = {TUNABLES: f"{own}:{setting}" if own else setting}
        offer = Copy(name, None, tunables, is_offer=True)
        if are_known(offer, loader):
            added.append(offer)
            added += [
                Copy(f"{one.name}+{name}", one.library, tunables, is_offer=True)
                for one in libraries
            ]
        else:
            lines.append(f"{name} is left out: libc does not know {setting}, or has it already.")
    added += [
        Copy(f"{one.name}+fresh", one.library, {_FRESH: "1"}, is_offer=True)
        for one in libraries
        if one.library is not None and _FRESH.encode() in one.library.read_bytes()
    ]
    taken = {copy.name for copy in copies} & {copy.name for copy in added}
    if taken:
        raise BadInput(f"--tunables: another copy is called {min(taken)}: rename that")
    check_count(len(copies) + len(added))
    return [*copies, *added], lines


def best_of(copies: Sequence[Copy], rounds: Rounds, findings: Sequence[Finding]) -> Copy | None:
    """The copy that makes the program fastest; of several that are as good, the one with the fewest
    settings. None: no copy surely makes the program faster than libc alone."""
    gains = {
        one.name: one.ratio.median
        for one in findings
        if one.verdict == FASTER and one.ratio is not None
    }
    faster = [copy for copy in copies if copy.name in gains]
    if not faster:
        return None
    fastest = max(faster, key=lambda copy: gains[copy.name])
    as_good = [
        copy
        for copy in faster
        if copy == fastest or not is_surely_better(rounds, fastest.name, copy.name)
    ]
    return min(as_good, key=lambda copy: (copy.parts, -gains[copy.name]))
