"""The routines that the tests render, for each architecture."""

from __future__ import annotations

from typing import Any

from architectures import ARCHITECTURES, Architecture
from asterope.spaces.probes import PROBES, SensingCopy
from copy_programs import REPOSITORY, Aliased, Intervals, Memset

REFERENCE = REPOSITORY / "generated" / "reference"
REFERENCES = ("example-routine", "opteron-6378", "xeon-gold-5218")
MIB = 1 << 20

# The small copy with the most gates, which compilers must find however they compile, and the small
# set with the most.
_GATE = {"x86_64": "masked ZMM up 256", "aarch64": "sve Q up 256"}
GATED = {name: ARCHITECTURES[name].small[gate] for name, gate in _GATE.items()}
GATED_SET = {name: ARCHITECTURES[name].small_set[gate] for name, gate in _GATE.items()}


def every_kind(arch: Architecture) -> Intervals:
    """Every kind of pipeline in one routine, for the tests in which not the profile varies."""
    return [(512 << i, arch.one_of(*kind, i)) for i, kind in enumerate(arch.kinds)]


def every_set(arch: Architecture) -> Memset:
    """All that its first CPU has of them: one that it lacks, and all of the routine would take the
    portable path."""
    sets = [t for t in arch.set_kinds if {*t.needs} <= arch.features_of(arch.cpus[0])]
    return Memset([(512 << i, t) for i, t in enumerate(sets)], GATED_SET[arch.name])


def intents_of(arch: Architecture) -> dict[str, Intervals]:
    """Each with pipelines of others."""
    first, second, third = [t for _, t in every_kind(arch) if not t.needs][:3]
    return {
        "hot": [(512, first), (9000, second)],
        "cold": [(3000, second), (MIB, third)],
        "consume": [(MIB, first)],
    }


def everything(arch: Architecture) -> dict[str, Any]:
    """All that a routine can have but threads, to be rendered."""
    cold = intents_of(arch)["cold"][0][1]
    return {
        **{"profile": every_kind(arch), "small": GATED[arch.name], "memset": every_set(arch)},
        **{"aliased": Aliased(511, 4096, arch.moves[0]), "overlapping": arch.moves[-1]},
        "intents": intents_of(arch),
        # one without a look at the CPU in the place of the one with the most
        "small_by_intent": {"cold": arch.small_copies.PLAIN},
        "sensing": {32768: SensingCopy(PROBES[0], 200, arch.plain, cold)},
    }
