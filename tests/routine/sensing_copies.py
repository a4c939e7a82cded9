"""Routines with sensing copies, and time stamps that a test tells their probes.

No test depends on the clock: probes get their time stamps from a ring, or on x86-64 a threshold
that decides for them, as no number of ticks is above 4294967295, and each is above 0. An emulator's
counter may stand still for the length of a probe, so there even 0 is no such threshold.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from architectures import AARCH64, X86_64, Architecture, each
from asterope.spaces.probes import PROBES, Probe, SensingCopy
from copy_programs import cpu_features

HIGHEST_THRESHOLD = 2**32 - 1
BY_NAME = {probe.name: probe for probe in PROBES}
X, A = X86_64.pipelines.Tuple, AARCH64.pipelines.Tuple
WINNER = X("XMM", "T", "T", "none", 0, 0)
HOT, COLD = X("R64", "T", "T", "T0", 2, 4), X("MM", "T", "NT", "T0", 4, 8)
# The winner, and what goes on where data is hot, cold, or to be fetched.
WAYS = {
    "x86_64": (WINNER, HOT, COLD, X("REP_MOVSB", "T", "T", "none", 0, 0)),
    "aarch64": (
        *(AARCH64.plain, A("X", "T", "T", "L1KEEP", 2, 4), A("Q", "T", "NT", "L1KEEP", 4, 8)),
        A("SVE", "T", "T", "none", 0, 0),
    ),
}
HOT_WAY, COLD_WAY, FETCH_WAY = 1, 2, 3  # of these
of_x86_64 = each(lambda arch: [0] if arch is X86_64 else [])


def sensing_by(probe: Probe, threshold: int, arch: Architecture = X86_64) -> SensingCopy:
    _, hot, cold, fetch = WAYS[arch.name]
    return SensingCopy(probe, threshold, hot, cold, fetch if probe.kind == "each" else None)


def intervals_of(arch: Architecture) -> list[tuple[int, Any]]:
    """Plain up to 4 KiB, then always cold, always hot, and plain again."""
    winner, _, cold, _ = WAYS[arch.name]
    return [(4096, winner), (16384, winner), (65536, winner), (1 << 20, cold)]


def sensing_with(probe: Probe, arch: Architecture = X86_64) -> dict[int, SensingCopy]:
    return {
        16384: sensing_by(probe, 0, arch),
        65536: sensing_by(probe, HIGHEST_THRESHOLD, arch),
    }


INTERVALS, SENSING = intervals_of(X86_64), sensing_with(PROBES[1])


def need_counter(arch: Architecture) -> None:
    """Skips where there is no time stamp counter as sensing copies need it."""
    if arch is X86_64 and not {"constant_tsc", "nonstop_tsc"} <= cpu_features():
        pytest.skip("this CPU has no invariant time stamp counter")


# What reads the counter where a time begins or ends, and what takes the next time stamp of the ring
# that {0} points into.
READ = {
    "x86_64": r'(?<="lfence\\n")\s+"rdtsc\\n"',
    "aarch64": r'(?<="isb\\n"\n    ")mrs x(\d+), cntvct_el0',
}
NEXT_STAMP = {
    "x86_64": (
        r'"mov {0}(%rip), %rdx; mov (%rdx), %eax; mov 8(%rdx), %rdx; mov %rdx, {0}(%rip)\\n"'
    ),
    "aarch64": (
        r"adrp x16, {0}; ldr x17, [x16, :lo12:{0}]; ldr w\1, [x17]; "
        r"ldr x17, [x17, #8]; str x17, [x16, :lo12:{0}]"
    ),
}


def with_clock(arch: Architecture, text: str, clock: str) -> str:
    """C with probes that take their time stamps from a ring."""
    text, count = re.subn(READ[arch.name], NEXT_STAMP[arch.name].format(clock), text)
    assert count >= 2
    return text
