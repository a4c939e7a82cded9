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
    """A tuned function of libc. The tuner's C calls its pipelines `space`, and the macro `function`
    of candidate.j2 writes one of them.

    The header of a routine `says` what its function does; it says more of memcpy.
    """

    name: str
    space: str
    function: str
    says: str = ""


OPERATIONS = (
    Operation(MEMCPY, "copies", "candidate"),
    Operation(
        MEMSET,
        "sets",
        "set_candidate",
        "Sets `bytes` from `destination` on to the byte `value`. Returns `destination`.",
    ),
)

# The operations that have a single function in a routine; memcpy has several.
OTHERS = OPERATIONS[1:]

# The kind of those copies that may begin with a probe, where the operation has probes.
SENSING = "pipelines"

# Entry points may have these kinds of copies of their own.
BY_INTENT = ((MEMCPY, "pipelines"), (MEMCPY, "small"))


@dataclass(frozen=True)
class Kind:
    """A kind of copies of an operation.

    `space`: the name of its copies in each architecture; "": it has no copies. `functions`: the
    tuner's names of their functions (struct asterope_copy), with the macro of candidate.j2 that
    writes each. `least`: the bytes from which on they copy right. `overlap`: whether their buffers
    may overlap. `chosen`: whether profiles have choices of it. `alone`: a profile has one at most.
    `begins`: the size at which the first choice may begin; 0: the first choice has the smallest
    sizes. `step`: a search that leaves out this step has no choice of the kind.
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


_PROBES = {
    "functions": {"copy": "sense", "read": "ticks"},
    "least": probes.MINIMUM_BYTES,
    "chosen": False,
}
_FRESH = {"space": "", "begins": fresh.LEAST_BYTES}

# The kinds of one operation, in the order in which the tuner proves them and logs name their space.
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
    # the probes of copies that sense
    Kind(MEMCPY, "probes", "probes", **_PROBES),
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
    Kind(MEMCPY, "fresh", **_FRESH),
    Kind(MEMSET, "pipelines", "set_pipelines"),
    Kind(MEMSET, "probes", "probes_of_sets", **_PROBES),
    Kind(MEMSET, "small", "small_sets", {"small": "small_set"}, alone=True, step="small copies"),
    Kind(MEMSET, "fresh", **_FRESH),
)


def spaces_of(here: Any) -> Sequence[tuple[Kind, Any]]:
    """Each kind with its copies. `here`: the spaces of an architecture, which need not have all."""
    return [(one, getattr(here, one.space)) for one in KINDS if hasattr(here, one.space)]


def probes_of(here: Any, operation: str) -> Any:
    """The probes of an operation; None: it has none."""
    named = {(one.operation, one.name): space for one, space in spaces_of(here)}
    return named.get((operation, "probes"))


def kinds_of(here: Any) -> Mapping[tuple[str, str], Any]:
    """The copies of each kind that is chosen, by operation and name. Shares and page stages, which
    have no space, are missing."""
    return {(one.operation, one.name): space for one, space in spaces_of(here) if one.chosen}
