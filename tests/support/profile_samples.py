"""Profiles for the tests: a full good one, and hostile ones made from it by one change each."""

from __future__ import annotations

import json
from typing import Any, Callable

_RATIO = {"median": 1.31, "low": 1.29, "high": 1.33}

_WORKLOADS = ("hot", "hot_read", "cold", "consume", "produce", "fetch")

_PIPELINES: dict[str, dict[str, Any]] = {
    "hot": {"rt": "YMM", "lt": "T", "st": "T", "pt": "none", "ps": 0, "pd": 0, "pw": 8},
    "cold": {"rt": "XMM", "lt": "T", "st": "NT", "pt": "T0", "ps": 4, "pd": 8, "pi": 4},
}

# A best copy for each extension axis.
_AXES: dict[str, dict[str, Any]] = {
    "tb": {"rt": "ZMM", "lt": "T", "st": "T", "pt": "T0", "ps": 16, "pd": 8, "tb": 16},
    "pi": _PIPELINES["cold"],
    "pw": _PIPELINES["hot"],
    "dir": {"rt": "XMM", "lt": "T", "st": "T", "pt": "T0", "ps": 6, "pd": 8, "dir": "down"},
    "movdir64b": {"rt": "MOVDIR64B", "lt": "T", "st": "NT", "pt": "T0", "ps": 4, "pd": 8},
}

_MIXES = (
    "mix_l1",
    "mix_l2",
    "mix_l3",
    "mix_l1_read",
    "mix_l2_read",
    "mix_l3_read",
    "fixed",
    "fixed_read",
    "page_end",
    "page_end_read",
)

_PROOF = {"samples": 59, "rounds": 15, "lead": {"median": 1.02, "low": 0.99, "high": 1.05}}

_GOOD: dict[str, Any] = {
    "format": "asterope-profile",
    "version": 1,
    "architecture": "x86_64",
    "complete": True,
    "source": "a test; 100% of it isn't true",
    "machine": {
        "fingerprint": "0123456789abcdef",
        "cpu": {
            "vendor": "AuthenticAMD",
            "brand": "AMD Ryzen 7 (TM) @ 3.20GHz, 8-Core/16_T+",
            "family": 25,
            "model": 17,
            "stepping": 1,
            "microcode": "0xa101148",
            "features": ["avx2", "avx512f", "sse4_1"],
            "invariant_tsc": True,
        },
        "caches": [
            {
                "level": 1,
                "type": "data",
                "bytes": 32768,
                "line_bytes": 64,
                "ways": 8,
                "shared_by": 1,
            }
        ],
        "cpus": 2,
        "memory_bytes": 25000000000,
        "memory": {
            "type": "DDR5",
            "modules": 8,
            "speed_mts": 4800,
            "channels": 8,
            "edac_channels": 4,
        },
        "page_bytes": 4096,
        "huge_pages": "madvise",
        "kernel": "Linux 6.1.0-18-amd64",
        "hypervisor": "KVMKVMKVM",
        "libc": "glibc 2.36",
        "libc_thresholds": {
            "x86_non_temporal_threshold": 251658240,
            "x86_rep_movsb_stop_threshold": 18446744073709551615,
        },
        "governor": "",
    },
    "search": {
        "tool_version": "0.1.0",
        "space": "extended",
        "candidates": 7186,
        "extended_candidates": 1234,
        "axes": [*_AXES, "sensing"],
        "rigor": "standard",
        "workload": "balanced",
        "seed": 18446744073709551615,
        "cpu": 1,
        "started": "2026-11-20T22:15:00Z",
        "finished": "2026-11-20T22:19:00Z",
        "seconds": 123.4,
        "time_budget_seconds": 600,
        "resumed": 1,
        "phases": {
            "building": 1.5,
            "verifying": 4,
            "calibrating": 2.25,
            "screening": 80,
            "run-off": 20,
            "sensing": 10,
            "boundaries": 3,
            "small copies": 2,
            "overlapping buffers": 0.25,
            "aliasing buffers": 0,
            "threads": 1.5,
        },
        "noise": {
            "rounds": 5000,
            "disturbed": {
                "steal": 31,
                "preempted": 4,
                "migrated": 0,
                "frequency": 1,
                "clock": 1,
                "stalled": 2,
            },
            "repeated": 30,
            "kept": 3,
            "provisional": False,
        },
        "trials": 123456,
        "invalid": [{"candidate": "ZMM T NT T0 4 8", "reason": "byte 17 of 200 differs"}],
        "warnings": ["the machine is loaded: 1.5 of 2 CPUs"],
        "without": ["avx512"],
        "weights": {"hot": 1, "cold": 0.5, "consume": 0.5, "produce": 0, "fetch": 0},
        "source_map": "/sys/bus/pci/devices/0000:01:00.0/resource1_wc",
    },
    "small": {
        "distribution": "fleet",
        "objective": "balanced",
        "winner": {
            "tuple": {"shape": "masked", "rt": "ZMM", "order": "up", "bound": 256},
            "ratio": 1.21,
            "tied": True,
            "workloads": {
                name: {"ns": 5.1, "libc_ns": 6.2, "ratio": _RATIO, "rounds": 30} for name in _MIXES
            },
        },
        "proof": {**_PROOF, "ties": ["grouped YMM middle 512", "masked32 ZMM up 128"]},
        "runners_up": [
            {"tuple": {"shape": "grouped", "rt": "YMM", "order": "middle", "bound": 512}}
        ],
        "noise_floor": {name: _RATIO for name in _MIXES},
    },
    "aliased": {
        "winner": {"above": 511, "up_to": 65536, "tuple": {"kind": "backward", "rt": "YMM"}},
        "sizes": [
            {
                "size": 4096,
                "pipeline": _RATIO,
                "best": {"kind": "backward", "rt": "YMM"},
                "best_ratio": _RATIO,
                "gains": [{"tuple": {"kind": "backward", "rt": "YMM"}, "gain": 1.3}],
            }
        ],
    },
    "overlapping": {
        "winner": {
            "tuple": {"rt": "YMM", "block": 128},
            "ratio": 1.1,
            "tied": True,
            "workloads": {
                "overlapping": {"ns": 700.5, "libc_ns": 770.5, "ratio": _RATIO, "rounds": 15}
            },
        },
        "runners_up": [{"tuple": {"rt": "ZMM", "block": 256}}],
        "noise_floor": {"overlapping": _RATIO},
    },
    "threads": {
        "most": 4,
        "intervals": [
            {"above": 524287, "up_to": 1048576, "threads": 2, "chunk": 0},
            {"above": 1048576, "up_to": 2097151, "threads": 1, "chunk": 0},
            {"above": 2097151, "up_to": 8388608, "threads": 4, "chunk": 65536},
        ],
        "results": [
            {
                "size": size,
                "threads": 2,
                "chunk": 262144,
                "taken": size > 524287,
                "ratio": 1.31,
                "workloads": {
                    name: {"ns": 5.1e5, "alone_ns": 6.7e5, "ratio": _RATIO, "rounds": 15}
                    for name in _WORKLOADS
                },
                "noise_floor": {name: _RATIO for name in _WORKLOADS},
            }
            for size in (262144, 524288, 1048576)
        ],
    },
    "intervals": [
        {
            "above": above,
            "up_to": up_to,
            "winner": {
                "tuple": {"rt": "YMM", "lt": "T", "st": "NT", "pt": "T0", "ps": 4, "pd": pd},
                "ratio": 1.31,
                "tied": False,
                "workloads": {
                    "hot": {"ns": 8, "gb_per_s": 40.0},
                    "cold": {
                        "ns": 812.0,
                        "gb_per_s": 10.0,
                        "libc_ns": 1063.0,
                        "ratio": _RATIO,
                        "rounds": 15,
                    },
                },
            },
            "proof": {**_PROOF, "ties": ["R64 T T none 0 0", "ZMM T T T0 16 8 TB16 PI4 PW32 down"]},
            "runners_up": [
                {
                    "tuple": {"rt": "R64", "lt": "T", "st": "T", "pt": "none", "ps": 0, "pd": 0},
                    "ratio": 1.3,
                    "tied": True,
                }
            ],
            "noise_floor": {"hot": _RATIO, "cold": _RATIO},
        }
        for above, up_to, pd in ((0, 128, 0), (128, 256, 8), (256, 512, 8), (512, 1024, 30))
    ],
}

# All that an interval can have, beyond what the simple ones above do.
_GOOD["intervals"] += [
    {
        "above": 1024,
        "up_to": 20000,
        "size": 16384,
        "winner": {
            "tuple": _AXES["tb"],
            "ratio": 1.1,
            "workloads": {name: {"gb_per_s": 12.5, "ratio": _RATIO} for name in _WORKLOADS},
        },
        "axes": {
            "hot": {axis: {"tuple": fields, "ratio": 1.05} for axis, fields in _AXES.items()},
            "produce": {
                "paper": {"tuple": {**_AXES["dir"], "dir": "up"}, "ratio": 1.04},
                "dir": {"tuple": _AXES["dir"], "ratio": 0.95},
            },
        },
        "noise_floor": {name: _RATIO for name in _WORKLOADS},
    },
    {
        "above": 20000,
        "up_to": 1048576,
        "winner": {
            "tuple": _AXES["tb"],
            "ratio": 1.1,
            "workloads": {"hot": {"gb_per_s": 12.5}},
        },
        "sensing": {
            "kind": "source",
            "lines": 4,
            "threshold": 300,
            **_PIPELINES,
            "ratio": 1.41,
            "workloads": {name: {"gb_per_s": 14.5, "ratio": _RATIO} for name in _WORKLOADS},
            "cached_ticks": 126,
            "uncached_ticks": 364.5,
        },
    },
]
_GOOD["intents"] = {
    "hot": {"intervals": _GOOD["intervals"][:4]},
    "cold": {"intervals": _GOOD["intervals"][:5]},
    "consume": {"intervals": [{"above": 0, "up_to": 4096, "winner": {"tuple": _PIPELINES["hot"]}}]},
}


_TEXT = json.dumps(_GOOD)


def good_profile() -> dict[str, Any]:
    """A profile with every field of the format; a fresh copy, to be changed at will."""
    return json.loads(_TEXT)


def merged_profile() -> dict[str, Any]:
    """The good one, as it is where it was merged from several: it has what that adds."""
    profile = good_profile()
    told = ("rigor", "seed", "started", "finished", "trials")
    source = {
        "name": "node 1.json",
        "shard": 1,
        **{field: profile["search"][field] for field in told},
        "machine": profile["machine"],
    }
    profile["merged"] = {"from": "shards", "sources": [source, {**source, "shard": 2}]}
    profile["intervals"][0]["of_best"] = {"mean": 0.99, "worst": 0.97}
    return profile


def shard_profile() -> dict[str, Any]:
    """The incomplete one, as it is where it is one share of a search: it has what that adds."""
    profile = incomplete_profile()
    profile["shard"] = {
        "index": 2,
        "count": 3,
        "sizes": [4096],
        "all_sizes": [128, 4096, 8192],
        "search": "0123456789abcdef",
    }
    return profile


def incomplete_profile() -> dict[str, Any]:
    """The good one, as it is where the time was up early: it has what that adds."""
    profile = good_profile()
    del profile["small"], profile["overlapping"]
    profile["complete"] = False
    profile["left_out"] = {
        "sizes": [8192, 2097152],
        "steps": [
            *("boundaries", "small copies", "overlapping buffers"),
            *("aliasing buffers", "sensing", "threads"),
        ],
    }
    return profile


# What every command says of provisional_profile().
DOUBT = (
    "12 % of the rounds stayed disturbed, however often they were repeated (seen: steal 31, "
    "preempted 504), and 2 winners are the plain copy, as noise hid better ones"
)


def provisional_profile() -> dict[str, Any]:
    """The good one, as it is where the machine was too busy: it has what that adds."""
    profile = good_profile()
    noise = {"rounds": 5000, "repeated": 1000, "kept": 480, "provisional": True}
    profile["search"]["noise"] = {**noise, "disturbed": {"preempted": 504, "steal": 31}}
    profile["intervals"][0]["undecided"] = profile["small"]["undecided"] = True
    profile["aliased"]["sizes"][0]["undecided"] = True
    return profile


def _left_out(*path_and_value: Any) -> str:
    """The incomplete profile, changed."""
    *path, last, value = path_and_value
    profile = incomplete_profile()
    at = profile
    for step in path:
        at = at[step]
    at[last] = value
    return json.dumps(profile)


def _changed(*path_and_value: Any) -> str:
    *path, last, value = path_and_value
    profile = good_profile()
    at = profile
    for step in path:
        at = at[step]
    at[last] = value
    return json.dumps(profile)


def _without(*path: Any) -> str:
    profile = good_profile()
    at = profile
    for step in path[:-1]:
        at = at[step]
    del at[path[-1]]
    return json.dumps(profile)


def _edited(edit: Callable[[list[Any]], object]) -> str:
    profile = good_profile()
    edit(profile["intervals"])
    return json.dumps(profile)


def _literal(before: str, after: str) -> str:
    """The good profile's text, changed where JSON's writer would not write such a thing."""
    text = json.dumps(good_profile())
    assert before in text
    return text.replace(before, after, 1)


_WINNER = ("intervals", 3, "winner")
_TUPLE = (*_WINNER, "tuple")
_SMALL = ("small", "winner", "tuple")
_PS = "intervals[3].winner.tuple.ps"
_SENSING = ("intervals", 5, "sensing")
_HOT = ("intents", "hot", "intervals")
_NS = (*_WINNER, "workloads", "cold", "ns")
_TIES = ("intervals", 3, "proof", "ties")
_SMALL_TIES = ("small", "proof", "ties")

# What is no name of a pipeline, though some come near.
_NO_NAMES = (
    "",
    "ZMM",
    "ZMM T NT T0 4",
    "ZMM T NT T0 4 8 ",
    " ZMM T NT T0 4 8",
    "ZMM  T NT T0 4 8",
    "zmm T NT T0 4 8",
    "ZMM T NT T3 4 8",
    "ZMM T NT T0 -4 8",
    "ZMM T NT T0 400 8",
    "ZMM T NT T0 4 8 up",
    "ZMM T NT T0 4 8 PI4 TB4",
    "XYZ T NT T0 4 8",
    "masked ZMM up 256",
    "libc",
)

# What some field could carry to end a C comment or string, or to mean something to a template.
BREAKOUTS = {
    "comment end": "*/ int main(void) { return 1; } /*",
    "line comment end": "x\nint main(void) { return 1; }",
    "final newline": "x\n",
    "carriage return": "x\rint y;",
    "vertical tab": "x\x0bint y;",
    "backslash newline": "x\\\nint y;",
    "final backslash": "x\\",
    "trigraph backslash": "x??/",
    "double quote": '" int y; "',
    "jinja expression": "{{ 7*7 }}",
    "jinja without asterisk": "{{ config }}",
    "jinja statement": "{% include 'x' %}",
    "jinja comment": "{# x #}",
    "nul": "x\x00y",
    "escape sequence": "\x1b[31mred",
    "not ASCII": "caf\u00e9",
    "line separator": "x\u2028y",
    "lone surrogate": "x\ud800",
}

# Each place where a profile holds text, as the steps to it and as messages write it.
TEXT_PLACES = {
    "source": ("source",),
    "machine.cpu.brand": ("machine", "cpu", "brand"),
    "machine.libc": ("machine", "libc"),
    "machine.fingerprint": ("machine", "fingerprint"),
    "machine.cpu.features[1]": ("machine", "cpu", "features", 1),
    "search.finished": ("search", "finished"),
    "search.tool_version": ("search", "tool_version"),
    "search.workload": ("search", "workload"),
    "search.source_map": ("search", "source_map"),
    "search.warnings[0]": ("search", "warnings", 0),
    "search.without[0]": ("search", "without", 0),
    "small.distribution": ("small", "distribution"),
    "small.winner.tuple.shape": ("small", "winner", "tuple", "shape"),
    "intervals[3].proof.ties[0]": (*_TIES, 0),
    "small.proof.ties[1]": (*_SMALL_TIES, 1),
    "search.invalid[0].reason": ("search", "invalid", 0, "reason"),
    "intervals[3].winner.tuple.rt": (*_TUPLE, "rt"),
}

# Name -> (the file's content, what the message must hold: the place and what is wrong).
HOSTILE: dict[str, tuple[bytes | str, tuple[str, ...]]] = {
    # Not a profile at all
    "empty file": ("", ("empty",)),
    "blank file": (" \n\t\n", ("empty",)),
    "binary": (b"\x7fELF\x02\x01\x01\x00\xff\xfe", ("UTF-8",)),
    "UTF-16": (_TEXT.encode("utf-16"), ("UTF-8",)),
    "two byte order marks": (b"\xef\xbb\xbf" * 2 + _TEXT.encode(), ("line 1, column 1",)),
    "not JSON": ("#!/bin/sh\n", ("line 1, column 1", "not JSON")),
    "truncated": (_TEXT[:-40], ("line 1, column", "cut short")),
    "truncated inside a string": (_TEXT[:30], ("line 1, column", "cut short")),
    "two documents": (_TEXT + _TEXT, ("line 1, column", "not JSON")),
    "raw newline in a string": (_literal("a test", "a\ntest"), ("line 1, column", "not JSON")),
    "array": ("[]", ("an array where a JSON object",)),
    "null": ("null", ("null where a JSON object",)),
    "string": ('"*/ %s"', ('"*/ %s" where a JSON object',)),
    "number": ("1", ("1 where a JSON object",)),
    "other JSON": ('{"name": "x"}', ("format", "not an Asterope profile")),
    "wrong format": (_changed("format", "x"), ("format", "not an Asterope profile")),
    "larger than 16 MiB": (_TEXT + " " * (16 << 20), ("larger than 16 MiB",)),
    "nested deeply": ("[" * 100_000, ("nested too deeply",)),
    "nested deeply but closed": (
        _changed("source", json.loads("[" * 100 + "]" * 100)),
        ("source", "nested too deeply"),
    ),
    "too many values": ("[" + "0," * 300_000 + "0]", ("more than 200000 values",)),
    # Versions
    "newer version": (
        _changed("version", 2),
        ("version", "made by a newer asterope: profile version 2, this one reads 1", "upgrade"),
    ),
    "newer version with new fields": (
        json.dumps({"format": "asterope-profile", "version": 3, "new": {}}),
        ("version", "made by a newer asterope: profile version 3"),
    ),
    "version 0": (_changed("version", 0), ("version", "0 where 1 is expected")),
    "version 1.0": (_changed("version", 1.0), ("version", "1.0 where an integer")),
    "version true": (_changed("version", True), ("version", "true where")),
    "version text": (_changed("version", "1"), ("version", '"1" where')),
    "other architecture": (_changed("architecture", "aarch64"), ("architecture", '"aarch64"')),
    # Fields
    "unknown field": (_changed("extra", 1), ("extra", "unknown field")),
    "unknown field in a tuple": (
        _changed(*_TUPLE, "block", 4),
        ("intervals[3].winner.tuple.block", "unknown field"),
    ),
    "unknown field with a hostile name": (
        _changed("machine", "*/ int main(){} /*", 1),
        ('machine["*/ int main(){} /*"]', "unknown field"),
    ),
    "unknown field with a newline": (_changed("a\nb", 1), (r'["a\nb"]', "printable ASCII")),
    "unknown field with a long name": (_changed("x" * 9999, 1), ("xxx...", "unknown field")),
    "unknown threshold name": (
        _changed("machine", "libc_thresholds", "X*/", 1),
        ('machine.libc_thresholds["X*/"]', "unknown field"),
    ),
    "missing intervals": (_without("intervals"), ("intervals", "missing")),
    "missing format": (_without("format"), ("format", "not an Asterope profile")),
    "missing version": (_without("version"), ("version", "missing")),
    "missing complete": (_without("complete"), ("complete", "missing")),
    "missing winner": (_without(*_WINNER), ("intervals[3].winner", "missing")),
    "missing pd": (_without(*_TUPLE, "pd"), ("intervals[3].winner.tuple.pd", "missing")),
    "repeated field": (
        _literal('"up_to": 512', '"up_to": 512, "up_to": 100'),
        ("intervals[2].up_to", "given twice"),
    ),
    "repeated field at the top": (
        _literal('"version": 1,', '"version": 1, "version": 1,'),
        ("version", "given twice"),
    ),
    # Types
    "complete as a number": (_changed("complete", 1), ("complete", "1 where a boolean")),
    "machine as an array": (_changed("machine", []), ("machine", "an array where an object")),
    "intervals as an object": (
        _changed("intervals", {}),
        ("intervals", "an object where an array"),
    ),
    "interval as null": (_changed("intervals", 1, None), ("intervals[1]", "null where an object")),
    "winner as text": (_changed(*_WINNER, "x"), ("intervals[3].winner", '"x" where an object')),
    "ps as a float": (_changed(*_TUPLE, "ps", 8.0), (_PS, "8.0 where an integer")),
    "ps as text": (_changed(*_TUPLE, "ps", "8"), (_PS, '"8"')),
    "ps as a boolean": (_changed(*_TUPLE, "ps", False), (_PS, "false")),
    "up_to as a float": (
        _changed("intervals", 3, "up_to", 1024.0),
        ("intervals[3].up_to", "1024.0 where an integer"),
    ),
    "above as a boolean": (
        _changed("intervals", 0, "above", False),
        ("intervals[0].above", "false where an integer"),
    ),
    "ns as a boolean": (
        _changed(*_NS, True),
        ("intervals[3].winner.workloads.cold.ns", "true where a number"),
    ),
    "source as a number": (_changed("source", 7), ("source", "7 where a string")),
    # Numbers
    "NaN": (
        _changed(*_NS, float("nan")),
        ("intervals[3].winner.workloads.cold.ns", "not a finite number"),
    ),
    "Infinity": (_changed("search", "seconds", float("inf")), ("search.seconds", "not a finite")),
    "-Infinity": (_changed("search", "seconds", -float("inf")), ("search.seconds", "not a finite")),
    "1e999": (_literal("123.4", "1e999"), ("search.seconds", "not a finite number")),
    "an integer of 5,000 digits": (
        _literal('"cpus": 2', '"cpus": ' + "9" * 5000),
        ("machine.cpus", "not a finite number"),
    ),
    "a negative integer of 5,000 digits": (
        _literal('"cpus": 2', '"cpus": -' + "9" * 5000),
        ("machine.cpus", "not a finite number"),
    ),
    "negative time": (
        _changed(*_NS, -1),
        ("intervals[3].winner.workloads.cold.ns", "-1 is less than 0"),
    ),
    "enormous ratio": (
        _changed(*_WINNER, "ratio", 1e300),
        ("intervals[3].winner.ratio", "1e+300 is more than"),
    ),
    "seed beyond 64 bits": (_changed("search", "seed", 2**64), ("search.seed", "is more than")),
    # Intervals
    "no intervals": (_changed("intervals", []), ("intervals", "minItems")),
    "too many intervals": (
        _edited(lambda intervals: intervals.extend(intervals[:1] * 300)),
        ("intervals", "maxItems 256"),
    ),
    "first interval above 1": (
        _changed("intervals", 0, "above", 1),
        ("intervals[0].above", "1 leaves a gap: expected 0"),
    ),
    "gap": (
        _changed("intervals", 2, "above", 300),
        ("intervals[2].above", "300 leaves a gap: expected 256"),
    ),
    "overlap": (
        _changed("intervals", 2, "above", 255),
        ("intervals[2].above", "255 overlaps or is out of order: expected 256"),
    ),
    "unsorted": (
        _edited(lambda intervals: intervals.reverse()),
        ("intervals[0].above", "20000 leaves a gap"),
    ),
    "interval twice": (
        _edited(lambda intervals: intervals.insert(1, intervals[1])),
        ("intervals[2].above", "expected 256"),
    ),
    "empty interval": (
        _changed("intervals", 3, "up_to", 512),
        ("intervals[3].up_to", "512 is not beyond"),
    ),
    "interval that runs backwards": (
        _changed("intervals", 3, "up_to", 511),
        ("intervals[3].up_to", "511 is not beyond"),
    ),
    "up_to below 128": (
        _changed("intervals", 0, "up_to", 127),
        ("intervals[0].up_to", "127 is less than 128"),
    ),
    "up_to beyond 2^40": (
        _changed("intervals", 3, "up_to", 2**40 + 1),
        ("intervals[3].up_to", "is more than"),
    ),
    # Tuples
    "unknown register type": (
        _changed(*_TUPLE, "rt", "TMM"),
        ("intervals[3].winner.tuple.rt", "TMM"),
    ),
    "lower-case register type": (_changed(*_TUPLE, "rt", "ymm"), ("tuple.rt", '"ymm" is none of')),
    "lt as an array": (_changed(*_TUPLE, "lt", ["T"]), ("tuple.lt", "an array is none of")),
    "odd ps": (_changed(*_TUPLE, "ps", 3), (_PS, "3 is none of 0, 2")),
    "negative ps": (_changed(*_TUPLE, "ps", -2), (_PS, "-2 is none of")),
    "ps 16 with a block of 2 lines": (
        _changed(*_TUPLE, "ps", 16),
        ("intervals[3].winner.tuple", "no such copy"),
    ),
    "ps 18": (_changed(*_TUPLE, "ps", 18), (_PS, "18 is none of")),
    "odd pd": (
        _changed(*_TUPLE, "pd", 7),
        ("intervals[3].winner.tuple.pd", "7 is no multiple of 2"),
    ),
    "pd 32": (_changed(*_TUPLE, "pd", 32), ("intervals[3].winner.tuple.pd", "32 is more than 30")),
    "prefetch of no size": (
        _changed(*_TUPLE, "ps", 0),
        ("intervals[3].winner.tuple", "no such copy"),
    ),
    "distance without prefetch": (
        _changed(*_TUPLE, {"rt": "XMM", "lt": "T", "st": "T", "pt": "none", "ps": 0, "pd": 2}),
        ("intervals[3].winner.tuple", "no such copy"),
    ),
    "non-temporal load of MM": (
        _changed(*_TUPLE, {"rt": "MM", "lt": "NT", "st": "T", "pt": "T0", "ps": 2, "pd": 0}),
        ("intervals[3].winner.tuple", "no such copy"),
    ),
    "prefetch with rep movsb": (
        _changed(*_TUPLE, {"rt": "REP_MOVSB", "lt": "T", "st": "T", "pt": "T0", "ps": 2, "pd": 0}),
        ("intervals[3].winner.tuple", "no such copy"),
    ),
    "runner-up that does not exist": (
        _changed("intervals", 1, "runners_up", 0, "tuple", "lt", "NT"),
        ("intervals[1].runners_up[0].tuple", "no such copy"),
    ),
    # Extension axes
    "odd transfer block": (_changed(*_TUPLE, "tb", 3), ("tuple.tb", "3 is none of")),
    "transfer block as a float": (_changed(*_TUPLE, "tb", 4.0), ("tuple.tb", "4.0 where")),
    "8 pages interleaved": (_changed(*_TUPLE, "pi", 8), ("tuple.pi", "8 is none of")),
    "prefetchw from 1 line": (_changed(*_TUPLE, "pw", 1), ("tuple.pw", "1 is none of")),
    "sideways": (_changed(*_TUPLE, "dir", "sideways"), ("tuple.dir", '"sideways" is none of')),
    "prefetchw with non-temporal stores": (
        _changed(*_TUPLE, "pw", 8),
        ("intervals[3].winner.tuple", "no such copy"),
    ),
    "pages interleaved from the end": (
        _changed(*_TUPLE, {**_PIPELINES["cold"], "dir": "down"}),
        ("intervals[3].winner.tuple", "no such copy"),
    ),
    "movdir64b that is temporal": (
        _changed(*_TUPLE, {**_AXES["movdir64b"], "st": "T"}),
        ("intervals[3].winner.tuple", "no such copy"),
    ),
    "unknown axis": (
        _changed("intervals", 4, "axes", "hot", "pd", {"tuple": _AXES["tb"]}),
        ("intervals[4].axes.hot.pd", "unknown field"),
    ),
    "axes of an unknown workload": (
        _changed("intervals", 4, "axes", "hot_read", {"tb": {"tuple": _AXES["tb"]}}),
        ("intervals[4].axes.hot_read", "unknown field"),
    ),
    "axes of no workload": (
        _changed("intervals", 4, "axes", {"tb": {"tuple": _AXES["tb"], "ratio": 1.05}}),
        ("intervals[4].axes.tb", "unknown field"),
    ),
    "best of the paper that uses an axis": (
        _changed("intervals", 4, "axes", "produce", "paper", "tuple", _AXES["dir"]),
        ("intervals[4].axes.produce.paper.tuple", "it uses dir, not none"),
    ),
    "best of an axis that does not exist": (
        _changed("intervals", 4, "axes", "hot", "tb", "tuple", "ps", 4),
        ("intervals[4].axes.hot.tb.tuple", "no such copy"),
    ),
    "best of an axis that uses another": (
        _changed("intervals", 4, "axes", "hot", "tb", "tuple", _AXES["pi"]),
        ("intervals[4].axes.hot.tb.tuple", "it uses pi, not tb alone"),
    ),
    "best of an axis that uses none": (
        _changed("intervals", 4, "axes", "hot", "pw", "tuple", "pw", 0),
        ("intervals[4].axes.hot.pw.tuple", "it uses none, not pw alone"),
    ),
    "size below its interval": (
        _changed("intervals", 4, "size", 1024),
        ("intervals[4].size", "1024 is not above 1024"),
    ),
    "size beyond its interval": (
        _changed("intervals", 4, "size", 20001),
        ("intervals[4].size", "20001 is not above 1024 and up to 20000"),
    ),
    # Sensing copies
    "sensing as an array": (_changed(*_SENSING, []), ("intervals[5].sensing", "an array where")),
    "sensing without a threshold": (
        _without(*_SENSING, "threshold"),
        ("intervals[5].sensing.threshold", "missing"),
    ),
    "sensing without a cold pipeline": (
        _without(*_SENSING, "cold"),
        ("intervals[5].sensing.cold", "missing"),
    ),
    "unknown kind of probe": (
        _changed(*_SENSING, "kind", "destination"),
        ("intervals[5].sensing.kind", '"destination" is none of'),
    ),
    "probe of 3 lines": (
        _changed(*_SENSING, "lines", 3),
        ("intervals[5].sensing.lines", "3 is none of"),
    ),
    "probe that does not exist": (
        _changed(*_SENSING, "lines", 16),
        ("intervals[5].sensing", "no such probe: a probe of kind source has 2 or 4 or 8 lines"),
    ),
    "threshold beyond 32 bits": (
        _changed(*_SENSING, "threshold", 2**32),
        ("intervals[5].sensing.threshold", "4294967296 is more than 4294967295"),
    ),
    "negative threshold": (
        _changed(*_SENSING, "threshold", -1),
        ("intervals[5].sensing.threshold", "-1 is less than 0"),
    ),
    "threshold as a float": (
        _changed(*_SENSING, "threshold", 300.0),
        ("intervals[5].sensing.threshold", "300.0 where an integer"),
    ),
    "hot pipeline that does not exist": (
        _changed(*_SENSING, "hot", "pt", "T0"),
        ("intervals[5].sensing.hot", "no such copy"),
    ),
    "cold pipeline of an unknown register": (
        _changed(*_SENSING, "cold", "rt", "*/"),
        ("intervals[5].sensing.cold.rt", "is none of"),
    ),
    "sensing below a page": (
        _changed("intervals", 4, "sensing", _GOOD["intervals"][5]["sensing"]),
        ("intervals[4].sensing", "it takes 4096 bytes or more"),
    ),
    "sensing in an intent": (
        _changed("intents", "cold", "intervals", 4, "sensing", _GOOD["intervals"][5]["sensing"]),
        ("intents.cold.intervals[4].sensing", "needs no sensing"),
    ),
    # Intents
    "intents as an array": (_changed("intents", []), ("intents", "an array where an object")),
    "unknown intent": (
        _changed("intents", "produce", {"intervals": []}),
        ("intents.produce", "unknown field"),
    ),
    "intent without intervals": (
        _without(*_HOT),
        ("intents.hot.intervals", "missing"),
    ),
    "intent of no intervals": (_changed(*_HOT, []), ("intents.hot.intervals", "minItems")),
    "intent with a gap": (
        _changed(*_HOT, 2, "above", 300),
        ("intents.hot.intervals[2].above", "300 leaves a gap: expected 256"),
    ),
    "intent with an empty interval": (
        _changed(*_HOT, 2, "up_to", 256),
        ("intents.hot.intervals[2].up_to", "256 is not beyond"),
    ),
    "intent's winner that does not exist": (
        _changed(*_HOT, 1, "winner", "tuple", "pw", 8),
        ("intents.hot.intervals[1].winner.tuple", "no such copy"),
    ),
    "intent's runner-up that does not exist": (
        _changed(*_HOT, 1, "runners_up", 0, "tuple", "lt", "NT"),
        ("intents.hot.intervals[1].runners_up[0].tuple", "no such copy"),
    ),
    # What was searched
    "negative weight": (
        _changed("search", "weights", "hot", -1),
        ("search.weights.hot", "-1 is less than 0"),
    ),
    "weights that are all 0": (
        _changed("search", "weights", {"hot": 0, "cold": 0.0}),
        ("search.weights", "no workload has a weight"),
    ),
    "no weights": (_changed("search", "weights", {}), ("search.weights", "no workload has")),
    "weight of an unknown workload": (
        _changed("search", "weights", "lukewarm", 1),
        ("search.weights.lukewarm", "unknown field"),
    ),
    "weight of what cannot be tuned for": (
        _changed("search", "weights", "hot_read", 1),
        ("search.weights.hot_read", "unknown field"),
    ),
    "unknown axis explored": (
        _changed("search", "axes", 1, "pd"),
        ("search.axes[1]", '"pd" is none of'),
    ),
    "extended candidates as text": (
        _changed("search", "extended_candidates", "1"),
        ("search.extended_candidates", '"1" where an integer'),
    ),
    # Small copies
    "small as an array": (_changed("small", []), ("small", "an array where an object")),
    "small as null": (_changed("small", None), ("small", "null where an object")),
    "small without a winner": (_without("small", "winner"), ("small.winner", "missing")),
    "small without a tuple": (_without(*_SMALL), ("small.winner.tuple", "missing")),
    "small without a bound": (_without(*_SMALL, "bound"), ("small.winner.tuple.bound", "missing")),
    "unknown field in small": (_changed("small", "extra", 1), ("small.extra", "unknown field")),
    "unknown field in a small entry": (
        _changed("small", "winner", "extra", 1),
        ("small.winner.extra", "unknown field"),
    ),
    "unknown field in a small tuple": (
        _changed(*_SMALL, "pd", 2),
        ("small.winner.tuple.pd", "unknown field"),
    ),
    "pipeline's tuple in small": (
        _changed(*_SMALL, _GOOD["intervals"][0]["winner"]["tuple"]),
        ("small.winner.tuple.",),
    ),
    "small tuple in an interval": (
        _changed(*_TUPLE, _GOOD["small"]["winner"]["tuple"]),
        ("intervals[3].winner.tuple.",),
    ),
    "unknown shape": (
        _changed(*_SMALL, "shape", "round"),
        ("small.winner.tuple.shape", '"round" is none of'),
    ),
    "small register type of 8 bytes": (
        _changed(*_SMALL, "rt", "R64"),
        ("small.winner.tuple.rt", '"R64" is none of'),
    ),
    "unknown order": (
        _changed(*_SMALL, "order", "sideways"),
        ("small.winner.tuple.order", '"sideways" is none of'),
    ),
    "order as a number": (_changed(*_SMALL, "order", 0), ("small.winner.tuple.order", "0 is none")),
    "bound of 64": (_changed(*_SMALL, "bound", 64), ("small.winner.tuple.bound", "64 is none of")),
    "bound of 2048": (_changed(*_SMALL, "bound", 2048), ("tuple.bound", "2048 is none of")),
    "bound of -128": (_changed(*_SMALL, "bound", -128), ("tuple.bound", "-128 is none of")),
    "bound as a float": (
        _changed(*_SMALL, "bound", 128.0),
        ("small.winner.tuple.bound", "128.0 where"),
    ),
    "bound as text": (_changed(*_SMALL, "bound", "128"), ("small.winner.tuple.bound", '"128"')),
    "bound as a boolean": (_changed(*_SMALL, "bound", True), ("small.winner.tuple.bound", "true")),
    "masked move of XMM": (
        _changed(*_SMALL, "rt", "XMM"),
        ("small.winner.tuple", "no such copy: the masked shape"),
    ),
    "masked move from above": (
        _changed(*_SMALL, "order", "down"),
        ("small.winner.tuple", "no such copy: the masked shape"),
    ),
    "shares that leave a gap": (
        _changed("threads", "intervals", 1, "above", 1048577),
        ("threads.intervals[1].above", "1048577 leaves a gap: expected 1048576"),
    ),
    "share upside down": (
        _changed("threads", "intervals", 0, "up_to", 524287),
        ("threads.intervals[0].up_to", "524287 is not beyond"),
    ),
    "share of fewer bytes than two chunks have": (
        _changed("threads", "intervals", 0, "above", 131070),
        ("threads.intervals[0].above", "131070 is less than 131071"),
    ),
    "share of no thread": (
        _changed("threads", "intervals", 0, "threads", 0),
        ("threads.intervals[0].threads", "0 is less than 1"),
    ),
    "share of very many threads": (
        _changed("threads", "intervals", 0, "threads", 65),
        ("threads.intervals[0].threads", "65 is more than 64"),
    ),
    "threads in words": (
        _changed("threads", "intervals", 0, "threads", "2"),
        ("threads.intervals[0].threads", '"2" where an integer'),
    ),
    "chunk that is too small": (
        _changed("threads", "intervals", 2, "chunk", 65535),
        ("threads.intervals[2].chunk", "65535 is neither 0 nor 65536 and more"),
    ),
    "threads without intervals": (
        _without("threads", "intervals"),
        ("threads.intervals", "missing"),
    ),
    "shared size of one thread": (
        _changed("threads", "results", 0, "threads", 1),
        ("threads.results[0].threads", "1 is less than 2"),
    ),
    "aliased interval upside down": (
        _changed("aliased", "winner", "above", 65536),
        ("aliased.winner", "above must be less than up_to"),
    ),
    "aliased copy of an unknown kind": (
        _changed("aliased", "winner", "tuple", "kind", "sideways"),
        ("aliased.winner.tuple.kind",),
    ),
    "aliased copy of fewer bytes than it can": (
        _changed("aliased", "winner", "above", 100),
        ("aliased.winner.above",),
    ),
    "overlapping copy of 256 bytes in XMM": (
        _changed("overlapping", "winner", "tuple", {"rt": "XMM", "block": 256}),
        ("overlapping.winner.tuple", "no such copy: 16 XMM registers"),
    ),
    "overlapping runner-up that does not exist": (
        _changed("overlapping", "runners_up", 0, "tuple", {"rt": "XMM", "block": 256}),
        ("overlapping.runners_up[0].tuple", "no such copy"),
    ),
    "overlapping copy of another block": (
        _changed("overlapping", "winner", "tuple", "block", 512),
        ("overlapping.winner.tuple.block",),
    ),
    "overlapping copies without a winner": (
        _without("overlapping", "winner"),
        ("overlapping.winner", "missing"),
    ),
    "rep movsb of YMM": (
        _changed(*_SMALL, {"shape": "rep", "rt": "YMM", "order": "up", "bound": 128}),
        ("small.winner.tuple", "no such copy: the rep shape"),
    ),
    "512 bytes in XMM": (
        _changed(*_SMALL, {"shape": "stepped", "rt": "XMM", "order": "up", "bound": 512}),
        ("small.winner.tuple", "no such copy: XMM"),
    ),
    "small runner-up that does not exist": (
        _changed("small", "runners_up", 0, "tuple", "shape", "masked"),
        ("small.runners_up[0].tuple", "no such copy"),
    ),
    "unknown objective": (
        _changed("small", "objective", "speed"),
        ("small.objective", '"speed" is none of'),
    ),
    "distribution as a number": (
        _changed("small", "distribution", 1),
        ("small.distribution", "1 where a string"),
    ),
    "large workload of a small copy": (
        _changed("small", "winner", "workloads", {"hot": {"ns": 1}}),
        ("small.winner.workloads.hot", "unknown field"),
    ),
    "small workload of a large copy": (
        _changed(*_WINNER, "workloads", {"mix_l1": {"ns": 1}}),
        ("intervals[3].winner.workloads.mix_l1", "unknown field"),
    ),
    "NaN in a small noise floor": (
        _changed("small", "noise_floor", "fixed", {"median": 1, "low": float("nan"), "high": 1}),
        ("small.noise_floor.fixed.low", "not a finite number"),
    ),
    "negative ratio of a small copy": (
        _changed("small", "winner", "ratio", -1),
        ("small.winner.ratio", "-1 is less than 0"),
    ),
    "tied as a number": (
        _changed("small", "winner", "tied", 1),
        ("small.winner.tied", "1 where a boolean"),
    ),
    # How far the winners can be trusted
    **{
        f"tie {name!r}": (_changed(*_TIES, 1, name), ("intervals[3].proof.ties[1]", "characters"))
        for name in _NO_NAMES
    },
    **{
        f"small tie {name!r}": (_changed(*_SMALL_TIES, 0, name), ("small.proof.ties[0]",))
        for name in ("", "masked", "masked ZMM up", "masked ZMM up 64", "ZMM T NT T0 4 8", 7, None)
    },
    "tie as a number": (_changed(*_TIES, 0, 7), ("intervals[3].proof.ties[0]", "7 where a string")),
    "ties as text": (_changed(*_TIES, "R64"), ("intervals[3].proof.ties", "where an array")),
    "tie given twice": (
        _changed(*_TIES, ["R64 T T none 0 0"] * 2),
        ("intervals[3].proof.ties", "uniqueItems"),
    ),
    "winner that ties with itself": (
        _changed(*_TIES, 1, "YMM T NT T0 4 30"),
        ("intervals[3].proof.ties[1]", "the winner does not tie with itself"),
    ),
    "intent's winner that ties with itself": (
        _changed(*_HOT, 1, "proof", "ties", 0, "YMM T NT T0 4 8"),
        ("intents.hot.intervals[1].proof.ties[0]", "the winner does not tie with itself"),
    ),
    "small winner that ties with itself": (
        _changed(*_SMALL_TIES, 1, "masked ZMM up 256"),
        ("small.proof.ties[1]", "the winner does not tie with itself"),
    ),
    "proof as text": (_changed("small", "proof", "sure"), ("small.proof", '"sure" where')),
    "unknown field in a proof": (
        _changed("intervals", 0, "proof", "luck", 1),
        ("intervals[0].proof.luck", "unknown field"),
    ),
    **{
        f"proof without {field}": (
            _without("intervals", 2, "proof", field),
            (f"intervals[2].proof.{field}", "missing"),
        )
        for field in ("samples", "rounds", "lead", "ties")
    },
    "negative samples": (
        _changed("small", "proof", "samples", -1),
        ("small.proof.samples", "-1 is less than 0"),
    ),
    "samples as a float": (
        _changed("small", "proof", "samples", 9.0),
        ("small.proof.samples", "9.0 where an integer"),
    ),
    "NaN for a lead": (
        _changed("intervals", 3, "proof", "lead", "median", float("nan")),
        ("intervals[3].proof.lead.median", "not a finite number"),
    ),
    "negative lead": (
        _changed("intervals", 3, "proof", "lead", "low", -0.5),
        ("intervals[3].proof.lead.low", "-0.5 is less than 0"),
    ),
    "lead without its interval": (
        _without("intervals", 3, "proof", "lead", "high"),
        ("intervals[3].proof.lead.high", "missing"),
    ),
    "complete profile that left something out": (
        _left_out("complete", True),
        ("left_out", "nothing is left out where complete is true"),
    ),
    "left out nothing": (
        _left_out("left_out", {"sizes": [], "steps": []}),
        ("left_out", "names neither sizes nor steps"),
    ),
    "left out nothing at all": (_left_out("left_out", {}), ("left_out", "names neither")),
    "left out as an array": (_left_out("left_out", []), ("left_out", "an array where an object")),
    "unknown field in what was left out": (
        _left_out("left_out", "hope", 1),
        ("left_out.hope", "unknown field"),
    ),
    "left out a size that has a winner": (
        _left_out("left_out", "sizes", 1, 16384),
        ("left_out.sizes[1]", "16384 has a winner"),
    ),
    "left out the small copies that are there": (
        _left_out("small", _GOOD["small"]),
        ("left_out.steps[1]", "small copies have a winner"),
    ),
    "left out an unknown step": (
        _left_out("left_out", "steps", 0, "sleep"),
        ("left_out.steps[0]", '"sleep" is none of'),
    ),
    "left out a step twice": (
        _left_out("left_out", "steps", ["sensing", "sensing"]),
        ("left_out.steps", "uniqueItems"),
    ),
    **{
        f"left out size {size}": (_left_out("left_out", "sizes", 0, size), (where, what))
        for size, where, what in (
            (0, "left_out.sizes[0]", "0 is less than 128"),
            (-128, "left_out.sizes[0]", "-128 is less than 128"),
            (2**41, "left_out.sizes[0]", "is more than"),
            (4096.0, "left_out.sizes[0]", "4096.0 where an integer"),
            ("4K", "left_out.sizes[0]", '"4K" where an integer'),
            (float("nan"), "left_out.sizes[0]", "not a finite number"),
        )
    },
    "unknown disturbance": (
        _changed("search", "noise", "disturbed", "ghosts", 1),
        ("search.noise.disturbed.ghosts", "unknown field"),
    ),
    "negative disturbances": (
        _changed("search", "noise", "disturbed", "steal", -1),
        ("search.noise.disturbed.steal", "-1 is less than 0"),
    ),
    "provisional as a number": (
        _changed("search", "noise", "provisional", 0),
        ("search.noise.provisional", "0 where a boolean"),
    ),
    "noise as null": (_changed("search", "noise", None), ("search.noise", "null where an object")),
    **{
        f"noise without {field}": (
            _without("search", "noise", field),
            (f"search.noise.{field}", "missing"),
        )
        for field in ("rounds", "disturbed", "repeated", "kept", "provisional")
    },
    **{
        f"negative {field} of the noise": (
            _changed("search", "noise", field, -1),
            (f"search.noise.{field}", "-1 is less than 0"),
        )
        for field in ("rounds", "repeated", "kept")
    },
    "unknown phase": (
        _changed("search", "phases", "resting", 1),
        ("search.phases.resting", "unknown field"),
    ),
    "negative seconds of a phase": (
        _changed("search", "phases", "run-off", -0.1),
        ('search.phases["run-off"]', "-0.1 is less than 0"),
    ),
    "NaN seconds of a phase": (
        _changed("search", "phases", "screening", float("nan")),
        ("search.phases.screening", "not a finite number"),
    ),
    "phase as text": (
        _changed("search", "phases", "verifying", "1 s"),
        ("search.phases.verifying", '"1 s" where a number'),
    ),
    "resumed 0 times": (_changed("search", "resumed", 0), ("search.resumed", "0 is less than 1")),
    "resumed half a time": (_changed("search", "resumed", 0.5), ("search.resumed", "0.5 where")),
    "resumed as a boolean": (_changed("search", "resumed", True), ("search.resumed", "true where")),
    "negative time budget": (
        _changed("search", "time_budget_seconds", -600),
        ("search.time_budget_seconds", "-600 is less than 0"),
    ),
    "infinite time budget": (
        _changed("search", "time_budget_seconds", float("inf")),
        ("search.time_budget_seconds", "not a finite number"),
    ),
    "time budget in words": (
        _changed("search", "time_budget_seconds", "10m"),
        ("search.time_budget_seconds", '"10m" where a number'),
    ),
    "without as text": (_changed("search", "without", "avx512"), ("search.without", "an array")),
    # Text
    "text of 201 characters": (_changed("source", "x" * 201), ("source", "longer than 200")),
    "printf conversion in a name": (_changed("machine", "libc", "%s"), ("machine.libc", '"%s"')),
    "newline after a date": (
        _changed("search", "started", "2026-11-20T22:15:00Z\n"),
        ("search.started", "printable ASCII"),
    ),
    **{
        f"{name} in {place}": (_changed(*path, text), (f": {place}: ",))
        for name, text in BREAKOUTS.items()
        for place, path in TEXT_PLACES.items()
    },
}
