"""Profiles for the tests: a full good one, and others made from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from asterope import spaces
from asterope.workloads import names

_RATIO = {"median": 1.31, "low": 1.29, "high": 1.33}

_WORKLOADS = names("measured")

_PIPELINES: dict[str, dict[str, Any]] = {
    "hot": {"rt": "YMM", "lt": "T", "st": "T", "pt": "none", "ps": 0, "pd": 0, "pw": 8},
    "cold": {"rt": "XMM", "lt": "T", "st": "NT", "pt": "T0", "ps": 4, "pd": 8, "pi": 4},
}

# A best copy for each extension axis.
AXES: dict[str, dict[str, Any]] = {
    "tb": {"rt": "ZMM", "lt": "T", "st": "T", "pt": "T0", "ps": 16, "pd": 8, "tb": 16},
    "pi": _PIPELINES["cold"],
    "pw": _PIPELINES["hot"],
    "pg": {"rt": "YMM", "lt": "T", "st": "T", "pt": "none", "ps": 0, "pd": 0, "pg": 2},
    "dir": {"rt": "XMM", "lt": "T", "st": "T", "pt": "T0", "ps": 6, "pd": 8, "dir": "down"},
    "movdir64b": {"rt": "MOVDIR64B", "lt": "T", "st": "NT", "pt": "T0", "ps": 4, "pd": 8},
}

_PLAINEST = {"rt": "R64", "lt": "T", "st": "T", "pt": "none", "ps": 0, "pd": 0}

_PROOF = {"samples": 59, "rounds": 15, "lead": {"median": 1.02, "low": 0.99, "high": 1.05}}

# All but its choices.
_GOOD: dict[str, Any] = json.loads("""{
    "format": "asterope-profile", "version": 2, "architecture": "x86_64", "complete": true,
    "source": "a test; 100% of it isn't true",
    "machine": {
        "fingerprint": "0123456789abcdef",
        "cpu": {"vendor": "AuthenticAMD", "brand": "AMD Ryzen 7 (TM) @ 3.20GHz, 8-Core/16_T+",
                "family": 25, "model": 17, "stepping": 1, "microcode": "0xa101148",
                "features": ["avx2", "avx512f", "sse4_1"], "invariant_tsc": true},
        "caches": [{"level": 1, "type": "data", "bytes": 32768, "line_bytes": 64, "ways": 8,
                    "shared_by": 1}],
        "cpus": 2, "memory_bytes": 25000000000,
        "memory": {"type": "DDR5", "modules": 8, "speed_mts": 4800, "channels": 8,
                   "edac_channels": 4},
        "page_bytes": 4096, "huge_pages": "madvise",
        "smaller_huge_pages": "64 KiB always", "kernel": "Linux 6.1.0-18-amd64",
        "hypervisor": "KVMKVMKVM", "libc": "glibc 2.36",
        "libc_thresholds": {"x86_non_temporal_threshold": 251658240,
                            "x86_rep_movsb_stop_threshold": 18446744073709551615},
        "governor": ""},
    "search": {
        "tool_version": "0.1.0", "space": "extended",
        "candidates": {"memcpy": 7186, "memset": 147}, "extended_candidates": 1234,
        "axes": ["tb", "pi", "pw", "pg", "dir", "movdir64b", "sensing"],
        "rigor": "standard", "workload": "balanced", "seed": 18446744073709551615, "cpu": 1,
        "started": "2026-11-20T22:15:00Z", "finished": "2026-11-20T22:19:00Z", "seconds": 123.4,
        "time_budget_seconds": 600, "resumed": 1,
        "phases": {"building": 1.5, "verifying": 4, "calibrating": 2.25, "screening": 80,
                   "run-off": 20, "sensing": 10, "rows": 5, "boundaries": 3, "small copies": 2,
                   "overlapping buffers": 0.25, "aliasing buffers": 0, "threads": 1.5,
                   "fresh memory": 2},
        "noise": {"rounds": 5000,
                  "disturbed": {"steal": 31, "preempted": 4, "migrated": 0, "frequency": 1,
                                "clock": 1, "stalled": 2},
                  "repeated": 30, "kept": 3, "provisional": false},
        "trials": 123456,
        "invalid": [{"candidate": "ZMM T NT T0 4 8", "reason": "byte 17 of 200 differs"}],
        "warnings": ["the machine is loaded: 1.5 of 2 CPUs"], "without": ["avx512"],
        "weights": {"memcpy": {"hot": 1, "cold": 0.5, "consume": 0.5, "produce": 0, "fetch": 0,
                               "produce_again": 0, "produce_walk": 0, "produce_copied": 0,
                               "fresh": 0, "fresh_hot": 0, "fresh_read": 0,
                               "fresh_hot_read": 0, "fresh_huge": 0, "fresh_huge_hot": 0,
                               "fresh_huge_read": 0, "fresh_small": 0, "bystander": 0},
                    "memset": {"hot": 0.25, "hot_read": 0.25, "cold": 0.25, "consume": 0.25}},
        "distribution": "fleet", "threads": 4, "references": ["newer"],
        "source_map": "/sys/bus/pci/devices/0000:01:00.0/resource1_wc"},
    "exam": {
        "memcpy": {"cells": 44, "exams": 2,
                   "losses": [{"size": 65536, "workload": "hot",
                               "ratio": {"median": 1.31, "low": 1.29, "high": 1.33}}],
                   "rounds": {"count": 220, "median": 1.1, "slowest": 0.8, "floor": 0.9}},
        "memset": {"cells": 20, "exams": 1, "losses": []}}
}""")


def choice(kind: str, above: int, up_to: int, taken: Any = None, **more: Any) -> dict[str, Any]:
    """One of memcpy's; `taken`: the copy that it takes; `more`: its other fields."""
    columns = {"operation": "memcpy", "kind": kind, "above": above, "up_to": up_to}
    return {**columns, **({"copies": {"taken": taken}} if taken else {}), **more}


of_memset = partial(choice, operation="memset")


def _timed(workloads: Iterable[str], ns: float, **more: Any) -> dict[str, Any]:
    """Evidence: what a copy takes under each of these; `more`: what else is known there."""
    return {
        "workloads": {name: {"ns": ns, "ratio": _RATIO, **more} for name in workloads},
        "noise_floor": {name: _RATIO for name in workloads},
    }


_MIXED = {"tied": True, **_timed(names("measured", "small copies"), 5.1, libc_ns=6.2)}

# Most tests change the first ones: the pipelines for all, then one choice of each other kind, those
# of memset, and those of the intents.
_PLAIN = [
    choice(
        *("pipelines", above, up_to),
        {"rt": "YMM", "lt": "T", "st": "NT", "pt": "T0", "ps": 4, "pd": pd},
        evidence={
            "ratio": 1.31,
            "gb_per_s": up_to / 8,
            "tied": False,
            "workloads": {
                "hot": {"ns": 8},
                "cold": {"ns": 812.0, "libc_ns": 1063.0, "ratio": _RATIO},
            },
            "proof": {**_PROOF, "ties": ["R64 T T none 0 0", "ZMM T T T0 16 8 TB16 PI4 PW32 down"]},
            "runners_up": [{"tuple": _PLAINEST, "ratio": 1.3, "tied": True}],
            "noise_floor": {"hot": _RATIO, "cold": _RATIO},
        },
    )
    for above, up_to, pd in ((0, 128, 0), (128, 256, 8), (256, 512, 8), (512, 1024, 30))
]
# All that a choice can have, beyond what the simple ones above do.
_RICH = choice(
    *("pipelines", 1024, 20000, AXES["tb"]),
    size=16384,
    evidence={
        "ratio": 1.1,
        "gb_per_s": 12.5,
        "runners_up": [{"tuple": fields, "ratio": 1.05} for fields in AXES.values()],
        **_timed(_WORKLOADS, 1310.72, best_ratio=_RATIO, best_reference="newer"),
    },
)
_SHARES = ((524287, 1048576, 2, 0), (1048576, 2097151, 1, 0), (2097151, 8388608, 4, 65536))
_STAGES = (
    (65535, 524287, "populate", 262144),
    (524287, 1048576, "none", 0),
    (1048576, 8388608, "huge", 2097152),
)
_SENSING = {"probe": {"kind": "source", "lines": 4}, "threshold": 300, **_PIPELINES}
_GOOD["choices"] = [
    *_PLAIN,
    _RICH,
    choice(
        *("pipelines", 20000, 1048576),
        copies={**_SENSING, "plain": AXES["tb"]},
        evidence={
            "ratio": 1.41,
            "gb_per_s": 14.5,
            **_timed(_WORKLOADS, 72315.0),
            "plain": {"ratio": 1.1, "gb_per_s": 12.5, "workloads": {"hot": {"ns": 83886.08}}},
            "cached_ticks": 126,
            "uncached_ticks": 364.5,
        },
    ),
    choice(
        *("small", 0, 256, {"shape": "masked", "rt": "ZMM", "order": "up", "bound": 256}),
        evidence={
            **_MIXED,
            "ratio": 1.21,
            "proof": {**_PROOF, "ties": ["grouped YMM middle 256", "masked32 ZMM up 128"]},
            "runners_up": [
                {"tuple": {"shape": "grouped", "rt": "YMM", "order": "middle", "bound": 256}}
            ],
        },
    ),
    choice("aliased", 511, 65536, {"rt": "YMM", "block": 128}, evidence={"ratio": 1.2}),
    choice(
        *("overlapping", 0, 1048576, {"rt": "YMM", "block": 128}),
        evidence={
            "ratio": 1.1,
            "tied": True,
            "runners_up": [{"tuple": {"rt": "ZMM", "block": 256}}],
            **_timed(["overlapping", "overlapping_pages"], 700.5, libc_ns=770.5),
        },
    ),
    *(
        choice(
            *("threads", above, up_to, {"threads": count, "chunk": chunk}),
            evidence={
                "ratio": 1.31,
                "runners_up": [{"tuple": {"threads": 2, "chunk": 262144}, "ratio": 0.9}],
                **_timed(_WORKLOADS, 5.1e5, libc_ns=6.7e5),
            },
        )
        for above, up_to, count, chunk in _SHARES
    ),
    of_memset(
        *("pipelines", 0, 65536, {"rt": "ZMM", "st": "T", "tb": 4, "pw": 8}),
        size=1024,
        evidence={
            "ratio": 1.2,
            "tied": False,
            "proof": {**_PROOF, "ties": ["R64 T TB4", "ZMM T TB16 PW32"]},
            "runners_up": [{"tuple": {"rt": "REP_STOSB", "st": "T"}, "ratio": 1.1, "tied": True}],
            **_timed(["hot"], 8, libc_ns=9),
        },
    ),
    of_memset(
        *("pipelines", 65536, 1048576),
        copies={
            "probe": {"kind": "destination", "lines": 4},
            "threshold": 250,
            "hot": {"rt": "XMM", "st": "T"},
            "cold": {"rt": "YMM", "st": "NT"},
            "plain": {"rt": "XMM", "st": "T"},
        },
        evidence={"ratio": 0.99, "undecided": True, "cached_ticks": 99, "uncached_ticks": 501},
    ),
    of_memset(
        *("small", 0, 128, {"shape": "masked32", "rt": "ZMM", "order": "up", "bound": 128}),
        evidence={
            **_MIXED,
            "ratio": 1.05,
            "proof": {**_PROOF, "ties": ["rep XMM up 256"]},
            "runners_up": [{"tuple": {"shape": "rep", "rt": "XMM", "order": "up", "bound": 256}}],
        },
    ),
    *({**one, "intent": "hot"} for one in _PLAIN),
    *({**one, "intent": "cold"} for one in (*_PLAIN, _RICH)),
    choice("pipelines", 0, 4096, _PIPELINES["hot"], intent="consume"),
    choice(
        *("small", 0, 128, {"shape": "clamped", "rt": "YMM16", "order": "up", "bound": 128}),
        intent="consume",
        evidence={"ratio": 1.31},
    ),
    *(
        make(
            *("fresh", above, up_to, {"stage": stage, "piece": piece}),
            evidence={
                "ratio": 1.31,
                "runners_up": [{"tuple": {"stage": "huge", "piece": 4194304}, "ratio": 1.1}],
                **_timed(_WORKLOADS, 5.1e5, libc_ns=6.7e5),
            },
        )
        for make in (choice, of_memset)
        for above, up_to, stage, piece in _STAGES
    ),
]


def of(profile: Mapping[str, Any], kind: str = "pipelines", **columns: str) -> list[dict[str, Any]]:
    """The profile's choices of a kind, of memcpy and no intent unless `columns` say otherwise."""
    wanted = {"operation": "memcpy", "intent": None, **columns, "kind": kind}
    return [one for one in profile["choices"] if all(one.get(k) == v for k, v in wanted.items())]


def without(profile: dict[str, Any], *kinds: str, operation: str = "memcpy") -> dict[str, Any]:
    """The profile, changed: without its choices of these kinds."""
    gone = [(operation, kind) for kind in kinds]
    kept = [one for one in profile["choices"] if (one["operation"], one["kind"]) not in gone]
    profile["choices"] = kept
    return profile


def taking(profile: dict[str, Any], *choices: dict[str, Any]) -> dict[str, Any]:
    """The profile, changed: with these in the place of all that have the same columns."""

    def columns(one: Mapping[str, Any]) -> tuple[str | None, ...]:
        return (one["operation"], one["kind"], one.get("intent"))

    replaced = {columns(one) for one in choices}
    kept = [one for one in profile["choices"] if columns(one) not in replaced]
    profile["choices"] = [*kept, *choices]
    return profile


_TEXT = json.dumps(_GOOD)


def good_profile() -> dict[str, Any]:
    """A profile with every field of the format; a fresh copy, to be changed at will."""
    return json.loads(_TEXT)


def profile_of(architecture: str, *choices: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A complete one that has nothing but these choices, and `more`."""
    head = {"format": "asterope-profile", "version": 2, "architecture": architecture}
    return {**head, "complete": True, **more, "choices": [*choices]}


def plain_profile(architecture: str) -> dict[str, Any]:
    """One of any architecture: at all sizes what any CPU of it runs."""
    here, largest = spaces.of(architecture), 1 << 20
    small, small_set = here.small_copies.PLAIN, here.small_sets.PLAIN
    return profile_of(
        architecture,
        choice("pipelines", 0, largest, asdict(here.pipelines.PLAIN)),
        choice("small", 0, small.bound, asdict(small)),
        choice("overlapping", 0, largest, asdict(here.overlapping_copies.PLAIN)),
        of_memset("pipelines", 0, largest, asdict(here.set_pipelines.PLAIN)),
        of_memset("small", 0, small_set.bound, asdict(small_set)),
    )


def merged_profile() -> dict[str, Any]:
    """The good one, as it is where it was merged from several: it has what that adds."""
    profile = good_profile()
    told = ("rigor", "seed", "started", "finished", "trials")
    source = {
        "name": "node 1.trials",
        **{field: profile["search"][field] for field in told},
        "machine": profile["machine"],
    }
    profile["merged"] = {"from": "machines", "sources": [source, {**source, "seed": 2}]}
    profile["choices"][0]["evidence"]["of_best"] = {"mean": 0.99, "worst": 0.97}
    return profile


def incomplete_profile() -> dict[str, Any]:
    """The good one after the time was up early. Its machine has two NUMA nodes, two kinds of cores
    and a coarse counter: the profile has the fields that these add."""
    profile = without(good_profile(), "small", "overlapping")
    steps = ["boundaries", "small copies", "overlapping buffers"]
    steps += ["aliasing buffers", "sensing", "threads"]
    profile["complete"] = False
    profile["left_out"] = {"memcpy": {"sizes": [8192, 2097152], "steps": steps}}
    profile["machine"]["cpu"]["kinds"] = [
        {"brand": "Cortex-A55 r1p0", "cpus": "0-3,6"},
        {"brand": "Cortex-A76 r3p0", "cpus": "4-5"},
    ]
    profile["search"]["axes"] = [*AXES]
    profile["search"]["no_sensing"] = "the counter moves in steps of 40 ns, and probes need 4"
    profile["search"]["memory_nodes"] = "1 of 2"
    return profile


# Every command's words on provisional_profile(), as the file has them.
DOUBT = (
    "12 % of the rounds stayed disturbed, however often they were repeated (seen: steal 31, "
    "preempted 504), and noise hid the fastest copy of 2 choices"
)


def provisional_profile() -> dict[str, Any]:
    """The good one, as it is where the machine was too busy: it has what that adds."""
    profile = good_profile()
    noise = {"rounds": 5000, "repeated": 1000, "kept": 480, "provisional": True}
    disturbed = {"preempted": 504, "steal": 31}
    profile["search"]["noise"] = {**noise, "disturbed": disturbed, "reason": DOUBT}
    for one in (profile["choices"][0], *of(profile, "small")):
        one["evidence"]["undecided"] = True
    return profile
