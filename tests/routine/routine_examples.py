"""What the tests of the routine render, for each architecture."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from architectures import AARCH64, X86_64, Architecture
from asterope.profile import load_profile
from copy_programs import REPOSITORY, Intervals, Memset

REFERENCE = REPOSITORY / "generated" / "reference"
MACHINES = ("opteron-6378", "xeon-gold-5218")
MIB = 1 << 20

X, A = X86_64.pipelines.Tuple, AARCH64.pipelines.Tuple

# Every extension axis, each with the others' values that it can have; but for movdir64b, which few
# CPUs have, and dc zva, which does not go with SVE.
EXTENDED: dict[str, Intervals] = {
    "x86_64": [
        (400, X("XMM", "T", "T", "none", 0, 0, tb=1)),
        (700, X("YMM", "T", "T", "T0", 4, 8, tb=4, pw=8)),
        (1500, X("ZMM", "T", "T", "none", 0, 0, tb=8, dir="down")),
        (5000, X("XMM", "T", "NT", "T0", 8, 8, dir="down")),
        (20000, X("ZMM", "T", "NT", "T0", 4, 8, pi=2)),
        (70000, X("YMM", "T", "NT", "NTA", 16, 4, tb=16, pi=4)),
        (150000, X("ZMM", "NT", "NT", "T0", 16, 8, tb=16)),
        (MIB, X("XMM", "T", "T", "T1", 2, 0, pi=4, pw=32)),
    ],
    "aarch64": [
        (400, A("Q", "T", "T", "none", 0, 0, tb=1)),
        (700, A("SVE", "T", "T", "L1KEEP", 4, 8, tb=4, pw=8)),
        (1500, A("Q", "T", "T", "none", 0, 0, tb=8, dir="down")),
        (5000, A("Q", "T", "NT", "L1STRM", 8, 8, dir="down")),
        (20000, A("Q", "T", "NT", "L1KEEP", 4, 8, pi=2)),
        (70000, A("Q", "T", "NT", "L3KEEP", 8, 4, tb=8, pi=4)),
        (150000, A("SVE", "NT", "NT", "L2KEEP", 14, 8, tb=8)),
        (MIB, A("Q", "T", "T", "L2KEEP", 2, 0, pi=4, pw=32)),
    ],
}
HUGE: dict[str, Intervals] = {
    "x86_64": [
        (128, X("MM", "T", "NT", "NTA", 2, 0)),
        (4096, X("REP_MOVSQ", "T", "T", "none", 0, 0)),
        (2**31 - 1, X86_64.plain),
        (2**31, X("REP_MOVSB", "T", "T", "none", 0, 0)),
        (2**32 + 5, X("XMM", "T", "NT", "T0", 4, 8)),
        (2**40, X("R64", "T", "T", "none", 0, 0)),
    ],
    "aarch64": [
        (128, A("X", "T", "NT", "L1STRM", 2, 0)),
        (4096, A("SVE", "T", "T", "none", 0, 0)),
        (2**31 - 1, AARCH64.plain),
        (2**31, A("X", "T", "T", "none", 0, 0)),
        (2**32 + 5, A("Q", "T", "NT", "L1KEEP", 4, 8)),
        (2**40, A("X", "T", "NT", "none", 0, 0)),
    ],
}
# What few CPUs have: a CPU must have all of it.
RARE: dict[str, dict[str, Intervals]] = {
    "x86_64": {"direct stores": [(MIB, X("MOVDIR64B", "T", "NT", "T0", 4, 8, pi=2))]},
    "aarch64": {
        "cleared lines": [
            (2000, A("Q", "T", "T", "none", 0, 0, clear="zva")),
            (9000, A("Q", "T", "T", "L1KEEP", 8, 8, tb=8, clear="zva")),
            (MIB, A("Q", "T", "T", "L3KEEP", 2, 6, tb=1, clear="zva")),
        ],
        "MOPS": [
            (512 << i, A("MOPS", lt, st, "none", 0, 0))
            for i, (lt, st) in enumerate((lt, st) for lt in ("T", "NT") for st in ("T", "NT"))
        ],
    },
}
# The same small copy and aliased copy for all, and some of the same pipelines.
INTENTS: dict[str, dict[str, Intervals]] = {
    name: {
        "hot": [(512, extended[0][1]), (9000, extended[2][1])],
        "cold": [(3000, extended[3][1]), (MIB, streamed)],
        "consume": [(MIB, word)],
    }
    for name, extended, streamed, word in (
        (
            *("x86_64", EXTENDED["x86_64"], X("MM", "T", "NT", "T0", 2, 6)),
            X("R64", "T", "T", "none", 0, 0),
        ),
        (
            *("aarch64", EXTENDED["aarch64"], A("X", "T", "NT", "L1KEEP", 2, 6)),
            A("X", "T", "T", "none", 0, 0),
        ),
    )
}
# Of the small copies the one with the most gates, compilers must find these however they compile;
# and the same of sets.
GATED = {
    "x86_64": X86_64.small["masked ZMM up 256"],
    "aarch64": AARCH64.small["sve Q up 256"],
}
GATED_SET = {
    "x86_64": X86_64.small_set["masked ZMM up 256"],
    "aarch64": AARCH64.small_set["sve Q up 256"],
}


def common(arch: Architecture, copies: list[Any]) -> list[Any]:
    """Those that one of its CPUs can run together."""
    return [t for t in copies if "zva64" not in t.needs] if arch is AARCH64 else copies


def every_kind(arch: Architecture) -> Intervals:
    """Every kind of pipeline in one routine, for the tests in which not the profile varies."""
    return [(512 << i, arch.one_of(*kind, i)) for i, kind in enumerate(arch.kinds)]


def every_set(arch: Architecture) -> Memset:
    sets = common(arch, arch.set_kinds)
    return Memset([(512 << i, t) for i, t in enumerate(sets)], GATED_SET[arch.name])


def sixty_intervals(arch: Architecture) -> Intervals:
    """Ends at odd places, from 128 bytes to 40 MiB, with winners in no order."""
    chance = random.Random(60)
    ends = sorted({128, *(int(200 * 1.23**i) + chance.randrange(50) for i in range(59))})
    kinds = arch.kinds
    return [(end, arch.one_of(*chance.choice(kinds), chance.randrange(999))) for end in ends]


def profiles_of(arch: Architecture) -> dict[str, Path | Intervals]:
    references = {machine: REFERENCE / f"{machine}.json" for machine in MACHINES}
    return {
        **(references if arch is X86_64 else {}),
        "every kind": every_kind(arch),
        "sixty intervals": sixty_intervals(arch),
        **RARE[arch.name],
    }


def intervals_of(profile: Path | Intervals) -> Intervals:
    if isinstance(profile, Path):
        return [(one.up_to, one.copy) for one in load_profile(profile).of("pipelines")]
    return profile
