"""Trial logs in tests: their lines as objects, made up or read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from profile_samples import good_profile

Line = dict[str, Any]


def log_header(options: Line | None = None, **changes: Any) -> Line:
    """Of a standard search of the extended space; `options` and `changes` are laid over it."""
    return {
        "format": "asterope-trials",
        "version": 2,
        "architecture": "x86_64",
        "tool_version": "0.1.0",
        "machine": good_profile()["machine"],
        "space_hash": "0123456789abcdef",
        "candidates": 7186,
        "invalid": [],
        "sensing": True,
        "seed": 1,
        "started": "2026-11-20T22:15:00Z",
        "cpu": 1,
        "warnings": [],
        "options": {
            "rigor": "standard",
            "workload": "balanced",
            "weights": {"hot": 0.5, "cold": 0.5, "consume": 0.0},
            "weights_given": "",
            "sizes": [1024, 65536, 1 << 20],
            "space": "extended",
            "sensing": True,
            "distribution": "fleet",
            "source_map": "",
            "without": [],
            **(options or {}),
        },
        **changes,
    }


def calibrations(sizes: Iterable[int], workloads: Iterable[str]) -> list[Line]:
    """The step that gives each trial 10 calls."""
    return [{"step": "calibration"}] + [
        {"size": size, "workload": workload, "calls": 10, "seconds": 1e-7}
        for size in sizes
        for workload in workloads
    ]


def trial(size: int, workload: str, candidate: str, number: int, ns: float) -> Line:
    return {
        "size": size,
        "workload": workload,
        "candidate": candidate,
        "round": number,
        "ns": ns,
        "us": ns,
    }


def log_text(lines: Iterable[Line]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def log_lines_of(text: bytes) -> list[Line]:
    """Of a log that a run wrote, header first; each line must be whole."""
    return [json.loads(line) for line in text.removeprefix(b"\xef\xbb\xbf").splitlines()]
