"""The series of copies to draw: from bench results, else from the profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

from ..profile import Profile, Ratio
from .bench import LIBC, ROUTINE, Cell, cells_of, marked, ratio_of
from .inputs import Inputs
from .sample_log import WORKLOADS

# The suites of asterope-bench that time fixed sizes under each workload.
USUAL_SUITES = ("sizes", "workloads")


@dataclass(frozen=True)
class Point:
    """One copy in one cell: 1e9 bytes a second, libc's time over its own.

    The ratio comes from paired rounds. So a copy with a ratio gets libc's rate times that ratio.
    Its own measured rate is of different rounds, and could contradict the ratio."""

    gb_per_s: float | None
    ratio: Ratio | None


@dataclass(frozen=True)
class Chart:
    """Copies over transfer sizes under one workload. `copies` by name and bytes; `floor` is libc
    against itself, by bytes. `threaded`: copies that share a call among threads. `ours`: the
    routine's entry points."""

    suite: str
    workload: str
    threads: int
    copies: Mapping[str, Mapping[int, Point]]
    floor: Mapping[int, Ratio]
    threaded: frozenset[str] = frozenset()
    ours: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The name for files and titles. It has the suite, unless that is a usual one."""
        parts = [self.workload]
        if self.suite not in USUAL_SUITES and self.suite not in self.workload:
            parts.insert(0, self.suite)
        if self.threads > 1:
            parts.append(f"{self.threads} threads")
        return " ".join(dict.fromkeys(parts))

    @property
    def sizes(self) -> list[int]:
        return sorted({size for points in self.copies.values() for size in points})

    @property
    def rates(self) -> dict[str, dict[int, float]]:
        """1e9 bytes a second by size, of the copies that have some."""
        found = {
            name: {size: point.gb_per_s for size, point in points.items() if point.gb_per_s}
            for name, points in self.copies.items()
        }
        return {name: rates for name, rates in found.items() if rates}

    @property
    def rivals(self) -> list[str]:
        """The other copies: not libc, the routine, its entry points, or those of more threads."""
        apart = {ROUTINE, LIBC} | self.threaded | self.ours
        return [name for name in self.copies if name not in apart]

    @property
    def told(self) -> str | None:
        """The routine's entry point for the workload, if it was timed."""
        found = [n for n in self.copies if n in self.ours - self.threaded and n != ROUTINE]
        return found[0] if found else None

    @property
    def is_noise(self) -> bool:
        """Whether the routine's interval overlaps that of libc against itself at all sizes."""
        return all(
            size in self.floor
            and ratio.low <= self.floor[size].high
            and ratio.high >= self.floor[size].low
            for size, ratio in self.ratios(ROUTINE).items()
        )

    def ratios(self, name: str) -> dict[int, Ratio]:
        """By rising size; a copy may lack those of some sizes, or all."""
        points = sorted(self.copies.get(name, {}).items())
        return {size: point.ratio for size, point in points if point.ratio}

    def mean_ratio(self, name: str) -> float | None:
        """Geometric mean over the sizes; None if the copy has no ratio."""
        medians = [ratio.median for ratio in self.ratios(name).values()]
        return geometric_mean(medians) if medians else None


@dataclass(frozen=True)
class Series:
    """`charts` have sizes to be drawn over, `labelled` are cells that have only labels, by suite.
    `source`: the origin of the figures, in words."""

    charts: Sequence[Chart]
    labelled: Mapping[str, Sequence[Cell]]
    source: str


def find_series(inputs: Inputs) -> Series:
    """The series of the bench results, else of the profile, else an empty one."""
    if inputs.bench is not None and inputs.bench["results"]:
        return _of_bench(inputs.bench)
    if inputs.profile is not None:
        charts = _of_profile(inputs.profile)
        if charts:
            return Series(charts, {}, "the winners' run-offs, as the profile has them")
    return Series([], {}, "")


def _of_bench(bench: Mapping[str, Any]) -> Series:
    groups: dict[tuple[str, str, int, str | None], list[Cell]] = {}
    for cell in cells_of(bench):
        key = (cell.suite, cell.workload, cell.threads, cell.weighting)
        groups.setdefault(key, []).append(cell)
    charts: list[Chart] = []
    labelled: dict[str, list[Cell]] = {}
    threaded, ours = marked(bench, "threaded"), marked(bench, "ours")
    for (suite, workload, threads, _), cells in groups.items():
        sizes = {cell.size for cell in cells}
        if len(sizes) < max(2, len(cells)) or None in sizes:
            labelled.setdefault(suite, []).extend(cells)
            continue
        copies: dict[str, dict[int, Point]] = {one["name"]: {} for one in bench["copies"]}
        for cell in sorted(cells, key=lambda cell: cell.size or 0):
            for name, timing in cell.copies.items():
                paired = cell.copies.get(LIBC) if timing.ratio else None
                rate = (cell.size or 0) / (paired or timing).ns
                rate *= timing.ratio.median if paired else 1
                copies.setdefault(name, {})[cell.size or 0] = Point(rate, timing.ratio)
        floor = {cell.size or 0: cell.noise_floor for cell in cells}
        present = {name: points for name, points in copies.items() if points}
        charts.append(Chart(suite, workload, threads, present, floor, threaded, ours))
    charts = _without_repetitions(charts)
    function = "" if bench["operation"] == "memcpy" else f" of {bench['operation']}"
    return Series(charts, labelled, f"asterope-bench{function}, {bench['rounds']} paired rounds")


def _without_repetitions(charts: Sequence[Chart]) -> list[Chart]:
    """Of two charts of one name keeps that of more sizes, or the first: usual suites overlap."""
    kept: dict[str, Chart] = {}
    for chart in charts:
        if chart.name not in kept or len(chart.sizes) > len(kept[chart.name].sizes):
            kept[chart.name] = chart
    return list(kept.values())


def _of_profile(profile: Profile) -> list[Chart]:
    charts = []
    for workload in WORKLOADS:
        ours: dict[int, Point] = {}
        libc: dict[int, Point] = {}
        floor: dict[int, Ratio] = {}
        for one in profile.of("pipelines"):
            ratio = ratio_of(one.timing(workload).get("ratio"))
            paired = one.rate(workload, "libc_ns")
            rate = paired * ratio.median if paired and ratio else one.rate(workload)
            if rate or ratio:
                ours[one.size] = Point(rate, ratio)
            if paired:
                libc[one.size] = Point(paired, None)
            if noise := ratio_of(one.evidence.get("noise_floor", {}).get(workload)):
                floor[one.size] = noise
        if ours:
            copies = {ROUTINE: ours, **({LIBC: libc} if libc else {})}
            charts.append(Chart("sizes", workload, 1, copies, floor))
    return charts
