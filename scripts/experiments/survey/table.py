"""The survey's table, from the rows that measuring.py makes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from asterope.figures import bytes_text
from measuring import LEAST_SHARE, LEAST_TIMES, is_fresh

LARGE = 128 << 10  # bytes: copies from this size on are called large blocks

GROUPS = {
    "large": "Large blocks into memory that was used before",
    "small": "Blocks and rows below 128 KiB",
    "fresh": "Into fresh memory",
    "little": f"Copies take less than {LEAST_SHARE:.0%} of the time",
    "others": "Other code copies",
    "refused": "No library can be preloaded",
    "missing": "Left out",
}


class Gain(NamedTuple):
    """How much faster a program is: 0.1 for 10 %, with its 95 % interval."""

    value: float
    low: float
    high: float

    def meets(self, other: Gain) -> bool:
        return self.low <= other.high and other.low <= self.high

    def __str__(self) -> str:
        low, high = (_percent(bound).lstrip("+") for bound in (self.low, self.high))
        return f"{_percent(self.value)} ({low}..{high})"


def _percent(part: float) -> str:
    shown = f"{100 * part:+.0f}" if abs(part) >= 0.1 else f"{100 * part:+.1f}"
    return shown.replace("-", "−")  # noqa: RUF001  a minus that no line breaks behind


def of_trial(row: dict[str, Any]) -> Gain | None:
    gain = row.get("trial", {}).get("gain")
    return Gain(gain["value"], gain["low"], gain["high"]) if gain else None


def of_runs(row: dict[str, Any], copy: str) -> Gain | None:
    ratio = row.get("runs", {}).get(copy)
    return Gain(ratio["median"] - 1, ratio["low"] - 1, ratio["high"] - 1) if ratio else None


def disagrees(row: dict[str, Any]) -> bool:
    trial, runs = of_trial(row), of_runs(row, "routine")
    return bool(trial and runs and not trial.meets(runs))


def _side(gain: Gain) -> int:
    """1: surely faster; -1: surely slower."""
    return (gain.low > 0) - (gain.high < 0)


def agreement(rows: Iterable[dict[str, Any]]) -> list[str]:
    """How far the whole runs of two surveys agree; see COLUMNS."""
    both = [
        (row["name"], of_runs(row, "routine"), of_runs(row["earlier"], "routine"))
        for row in rows
        if "earlier" in row
    ]
    pairs = {name: (now, then) for name, now, then in both if now and then}
    if not pairs:
        return []
    meet = sum(now.meets(then) for now, then in pairs.values())
    other = [name for name, (now, then) in pairs.items() if _side(now) * _side(then) < 0]
    apart = [name for name, (now, then) in pairs.items() if not now.meets(then)]
    return [
        f"Of {len(pairs)} programs in both surveys the intervals of {meet} meet"
        f"{', not those of ' * bool(apart)}{', '.join(apart)}. Surely faster in one and slower in "
        f"the other: {', '.join(other) or 'not one'}.",
        "",
    ]


def group_of(row: dict[str, Any]) -> str:
    """The key of GROUPS."""
    if "left_out" in row:
        return "missing"
    if "refused" in row:
        return "refused"
    recording = row["recording"]
    if recording["times"] < LEAST_TIMES:
        return "others"
    if (recording["share"] or 0) < LEAST_SHARE:
        return "little"
    if is_fresh(row):
        return "fresh"
    return "large" if recording["size"] >= LARGE else "small"


def _share(part: float | None) -> str:
    return "?" if part is None else f"{100 * part:.0f} %"


COLUMNS = (
    *("program", "libc's copies of each byte", "at most", "faults a MiB", "kernel"),
    *("trial", "whole runs", "those before", "its places"),
    *("`+fresh`", "`hugetlb`", "`keep`", "`+keep`"),
)


def _cells(row: dict[str, Any]) -> list[str]:
    recording = row["recording"]
    copies = ("routine", "places", "routine+fresh", "hugetlb", "keep", "routine+keep")
    gains = [of_runs(row, copy) for copy in copies]
    trial, runs, *others = (str(gain) if gain else "" for gain in (of_trial(row), *gains))
    function = recording["function"]
    of = f" {function} {bytes_text(recording['size'])}" if function else ""
    if "trial" in row:
        trial = trial or "not told"
    return [
        f"{row['name']}: {row['work']}",
        f"{recording['times']:.1f}{of}",
        _share(recording["share"]),
        f"{row['faults']:.{1 if 0.05 <= row['faults'] < 10 else 0}f}",
        _share(row["kernel"]),
        trial,
        runs + " **(!)**" * disagrees(row),
        str(of_runs(row.get("earlier", {}), "routine") or ""),
        *others,
    ]


def _line(cells: Iterable[str]) -> str:
    return f"|{'|'.join(cells)}|"


def markdown(rows: Iterable[dict[str, Any]]) -> str:
    """Makes a table for each group, with the programs that gain most first."""
    groups: dict[str, list[dict[str, Any]]] = {key: [] for key in GROUPS}
    for row in rows:
        groups[group_of(row)].append(row)
    parts = []
    for key, members in groups.items():
        if not members:
            continue
        parts += [f"## {GROUPS[key]}", ""]
        if key in ("refused", "missing"):
            reason = {"refused": "refused", "missing": "left_out"}[key]
            parts += [f"- {row['name']} ({row['work']}): {row[reason]}" for row in members]
        else:
            members.sort(key=_order)
            used = _used([_cells(row) for row in members])
            parts += [_line(COLUMNS[i] for i in used), _line("---" for _ in used)]
            parts += [_line(_cells(row)[i] for i in used) for row in members]
        parts.append("")
    every = [row for members in groups.values() for row in members]
    parts += agreement(every)
    apart = [row["name"] for row in every if disagrees(row)]
    if apart:
        parts += [
            f"**(!)** The intervals of trial and whole runs do not meet: {', '.join(apart)}.",
            "",
        ]
    return "\n".join([*parts, *_versions(every)])


def _order(row: dict[str, Any]) -> float:
    gain = of_runs(row, "routine")
    return -gain.value if gain else -(row["recording"]["share"] or 0)


def _used(cells: list[list[str]]) -> list[int]:
    """The columns in which some row has something."""
    return [i for i in range(len(COLUMNS)) if any(row[i] for row in cells)]


def _versions(rows: list[dict[str, Any]]) -> list[str]:
    versions = {name: of for row in rows for name, of in row.get("versions", {}).items()}
    machines = {row["recording"]["machine"]["cpu"]: row["recording"]["machine"]
                for row in rows if "recording" in row}  # fmt: skip
    dates = sorted(row["measured"][:10] for row in rows)
    parts = []
    if dates:
        parts += [f"Measured {dates[0]}{f' to {dates[-1]}' if dates[-1] != dates[0] else ''}."]
    parts += [
        f"Machine: {one['cpu']}, {one['cpus']} CPUs, {one['libc']}." for one in machines.values()
    ]
    named = ", ".join(
        f"{name} {of}" for name, of in sorted(versions.items(), key=lambda v: v[0].lower())
    )
    return [*parts, f"Versions: {named}.", ""] if named else [*parts, ""]
