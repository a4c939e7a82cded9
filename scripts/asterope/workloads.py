"""The workloads, from the one table of them: tuner/timing/workloads/workloads.json.

Usage: python -m asterope.workloads OUTPUT (a build step: writes the same table for C++)
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

SIDES = ("source", "destination")


@dataclass(frozen=True)
class Workload:
    """The surroundings of a timed copy; the table explains each column."""

    name: str
    timed_by: str
    family: str
    text: str
    prepares: str
    cached: tuple[str, ...]
    where: str = ""
    title: str = ""
    level: int = 0
    from_bytes: int = 0
    to_bytes: int = 0
    instead: str = ""
    fresh: bool = False
    pages: str = ""
    walks: bool = False
    reads: bool = False
    writes_source: bool = False
    settles: bool = False
    tunable: bool = False
    balanced: float = 0
    measured: bool = False
    waits_for_run_off: bool = False
    entry_point: bool = False
    told_as: str = ""
    sets: float = 0


def _table() -> Path:
    package = Path(__file__).resolve().parent
    installed = package / "workloads.json"
    checkout = package.parents[1] / "tuner" / "timing" / "workloads" / "workloads.json"
    return installed if installed.exists() else checkout


WORKLOADS = tuple(
    Workload(**{**row, "cached": tuple(row["cached"])})
    for row in json.loads(_table().read_text(encoding="ascii"))["workloads"]
)


FAMILIES = tuple(dict.fromkeys(workload.family for workload in WORKLOADS))

TEXTS = {workload.name: workload.text for workload in WORKLOADS}
TITLES = {workload.name: workload.title for workload in WORKLOADS}


def chosen(column: str, family: str = "one size") -> tuple[Workload, ...]:
    """The workloads of a family that have this column set, or one of several:
    `chosen("measured or tunable")`."""
    columns = column.split(" or ")
    return tuple(
        one
        for one in WORKLOADS
        if one.family == family and any(getattr(one, column) for column in columns)
    )


def names(column: str, family: str = "one size") -> tuple[str, ...]:
    """The same by their names."""
    return tuple(one.name for one in chosen(column, family))


def _cpp(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, str) else str(value)


def _cpp_row(workload: Workload) -> str:
    left_to_python = ("name", "timed_by", "family", "title", "prepares", "cached")
    columns = [f".family = WorkloadFamily::{workload.family.replace(' ', '_')}"]
    columns += [f".{side}_cached = {_cpp(side in workload.cached)}" for side in SIDES]
    columns += [
        f".{column.name} = {_cpp(getattr(workload, column.name))}"
        for column in fields(workload)
        if column.name not in left_to_python
    ]
    return f"ASTEROPE_WORKLOAD({workload.name}, {workload.timed_by}, {', '.join(columns)})\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text("".join(map(_cpp_row, WORKLOADS)), encoding="ascii")
