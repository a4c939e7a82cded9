"""The kinds of copies of each operation: one table, which profiles, schema, checks and candidates
loop over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import fresh, members, probes, threads

# The operations, as profiles and options have them.
MEMCPY, MEMSET = "memcpy", "memset"


@dataclass(frozen=True)
class Operation:
    """What the tuner's C has of one: its `space` of copies, and the `function` that is one.

    Of its function in routines, what their header `says`; memcpy's says more. `mapped`: places of a
    program's calls may choose its way (--places). `libc`: what libc has that does as much, where
    that has another name.
    """

    name: str
    space: str
    function: str
    says: str = ""
    mapped: bool = True
    libc: str = ""


OPERATIONS = (
    Operation(MEMCPY, "copies", "candidate"),
    Operation(
        MEMSET,
        "sets",
        "set_candidate",
        "Sets `bytes` from `destination` on to the byte `value`. Returns `destination`.",
    ),
)

# Those of which routines have a function that is all of it; of memcpy they have several.
OTHERS = OPERATIONS[1:]

# Those that may sense, and that are chosen by intent as well.
SENSING = (MEMCPY, "pipelines")


@dataclass(frozen=True)
class Kind:
    """A kind of copies of an operation.

    `space`: what each architecture calls its copies; "": they are none. `functions`: what the tuner
    calls their functions (struct asterope_copy), and the macro of candidate.j2 that writes each.
    `least`: the bytes from which on they do right. `overlap`: whether their buffers may. `chosen`:
    whether profiles have choices of it, and `alone`: one at most. `begins`: the bytes with which
    the first of these may begin; 0: they begin with none. `step`: a search that leaves it out has
    no choice of the kind.
    """

    operation: str
    name: str
    space: str
    functions: Mapping[str, str] = field(default_factory=dict)
    least: int = 0
    overlap: bool = False
    chosen: bool = True
    alone: bool = False
    begins: int = 0
    step: str = ""


# Of one operation in the order in which the tuner proves them right, and logs name their space.
KINDS = (
    # large copies
    Kind(MEMCPY, "pipelines", "pipelines"),
    # from 0 bytes up to a bound
    Kind(MEMCPY, "small", "small_copies", {"small": "small"}, alone=True, step="small copies"),
    # the destination 0 to 255 bytes past the source modulo 4096
    Kind(
        MEMCPY,
        "aliased",
        "overlapping_copies",
        {"copy": "aliased"},
        least=members.MINIMUM_OF_ALIASED,
        alone=True,
        begins=members.MINIMUM_OF_ALIASED,
    ),
    # what copies that sense begin with
    Kind(
        MEMCPY,
        "probes",
        "probes",
        {"copy": "sense", "read": "ticks"},
        least=probes.MINIMUM_BYTES,
        chosen=False,
    ),
    # between buffers that overlap
    Kind(
        MEMCPY,
        "overlapping",
        "overlapping_copies",
        {"copy": "overlapping"},
        least=128,
        overlap=True,
        alone=True,
        step="overlapping buffers",
    ),
    # how a copy is shared, as asterope_memcpy_mt does
    Kind(MEMCPY, "threads", "", begins=2 * threads.LEAST_CHUNK),
    # how the pages of the destination are prepared, as asterope_memcpy_fresh does
    Kind(MEMCPY, "fresh", "", begins=fresh.LEAST_BYTES),
    Kind(MEMSET, "pipelines", "set_pipelines"),
    Kind(MEMSET, "small", "small_sets", {"small": "small_set"}, alone=True, step="small copies"),
    Kind(MEMSET, "fresh", "", begins=fresh.LEAST_BYTES),
)


def spaces_of(here: Any) -> Sequence[tuple[Kind, Any]]:
    """Each kind with its copies. `here`: the spaces of an architecture, which need not have all."""
    return [(one, getattr(here, one.space)) for one in KINDS if hasattr(here, one.space)]


def kinds_of(here: Any) -> Mapping[tuple[str, str], Any]:
    """The copies of each kind that is chosen, by operation and name. Shares and page stages, which
    have no space, are missing."""
    return {(one.operation, one.name): space for one, space in spaces_of(here) if one.chosen}
