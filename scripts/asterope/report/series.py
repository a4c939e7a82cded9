"""The figures of copies to draw, by size or by cell: from bench results, else from the profile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

from ..profile import Profile, Ratio
from .inputs import Inputs
from .sample_log import WORKLOADS

LIBC, ROUTINE = "glibc", "asterope"

# The suites of asterope-bench that time fixed sizes under each workload.
USUAL_SUITES = ("sizes", "workloads")

# Copies that were timed together, as bench.schema.json has them, with each ratio as a Ratio.
Cell = Mapping[str, Any]


@dataclass(frozen=True)
class Chart:
    """Copies over transfer sizes under one workload. `rates`: 1e9 bytes a second; `ratios`: libc's
    time over the copy's; both by name and by rising size. `floor`: libc against itself, by size.
    `threaded`: copies that share a call among threads. `ours`: the routine's entry points."""

    suite: str
    workload: str
    threads: int
    rates: Mapping[str, Mapping[int, float]]
    ratios: Mapping[str, Mapping[int, Ratio]]
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
    def rivals(self) -> list[str]:
        """The other copies: not libc, the routine, its entry points, or those of more threads."""
        apart = {ROUTINE, LIBC} | self.threaded | self.ours
        return [name for name in self.rates if name not in apart]

    @property
    def told(self) -> str | None:
        """The routine's entry point for the workload, if it was timed."""
        entries = self.ours - self.threaded - {ROUTINE}
        return next((name for name in self.rates if name in entries), None)

    @property
    def is_noise(self) -> bool:
        """Whether the routine's interval overlaps that of libc against itself at all sizes."""
        return all(
            size in self.floor
            and ratio.low <= self.floor[size].high
            and ratio.high >= self.floor[size].low
            for size, ratio in self.ratios[ROUTINE].items()
        )

    def mean_ratio(self, name: str) -> float | None:
        """Geometric mean over the sizes; None if the copy has no ratio."""
        medians = [ratio.median for ratio in self.ratios.get(name, {}).values()]
        return geometric_mean(medians) if medians else None


def sizes_of(charts: Iterable[Chart], *names: str) -> list[int]:
    """The sizes at which the charts have these copies, or any; ascending."""
    figures = [figures for chart in charts for figures in (chart.rates, chart.ratios)]
    return sorted({size for own in figures for name in names or own for size in own.get(name, ())})


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
    charts = _of_profile(inputs.profile) if inputs.profile is not None else []
    return Series(charts, {}, "the winners' run-offs, as the profile has them")


def cells_of(bench: Mapping[str, Any]) -> list[Cell]:
    """The cells of checked results. The size is None if the calls' sizes vary."""
    return [
        {
            **cell,
            "size": cell.get("size") or None,
            "weighting": cell.get("weighting"),
            "noise_floor": ratio_of(cell["noise_floor"]),
            "copies": {
                name: {"ns": one["ns"], **{of: ratio_of(one.get(of)) for of in ("ratio", "versus")}}
                for name, one in cell["copies"].items()
            },
        }
        for cell in bench["results"]
    ]


def marked(bench: Mapping[str, Any], mark: str) -> frozenset[str]:
    """The copies that use more than the calling thread (`threaded`), or that are the routine's
    entry points (`ours`)."""
    return frozenset(copy["name"] for copy in bench["copies"] if copy.get(mark))


def ratio_of(raw: Mapping[str, float] | None) -> Ratio | None:
    return Ratio(raw["median"], raw["low"], raw["high"]) if raw else None


def _of_bench(bench: Mapping[str, Any]) -> Series:
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells_of(bench):
        key = tuple(cell[field] for field in ("suite", "workload", "threads", "weighting"))
        groups.setdefault(key, []).append(cell)
    charts: dict[str, Chart] = {}
    labelled: dict[str, list[Cell]] = {}
    for (suite, *_), cells in groups.items():
        sizes = {cell["size"] for cell in cells}
        if len(sizes) < max(2, len(cells)) or None in sizes:
            labelled.setdefault(suite, []).extend(cells)
            continue
        chart = _chart_of(bench, cells)
        kept = charts.setdefault(chart.name, chart)
        if len(sizes_of([chart])) > len(sizes_of([kept])):  # usual suites overlap
            charts[chart.name] = chart
    function = "" if bench["operation"] == "memcpy" else f" of {bench['operation']}"
    source = f"asterope-bench{function}, {bench['rounds']} paired rounds"
    return Series(list(charts.values()), labelled, source)


def _chart_of(bench: Mapping[str, Any], cells: Sequence[Cell]) -> Chart:
    """A ratio comes from paired rounds. So a copy with a ratio gets libc's rate times that. Its own
    measured rate is of different rounds, and could contradict the ratio."""
    rates: dict[str, dict[int, float]] = {copy["name"]: {} for copy in bench["copies"]}
    ratios: dict[str, dict[int, Ratio]] = {}
    for cell in sorted(cells, key=lambda cell: cell["size"]):
        size, copies = cell["size"], cell["copies"]
        for name, timing in copies.items():
            ratio = timing["ratio"]
            paired = copies.get(LIBC) if ratio else None
            rate = size / (paired or timing)["ns"]
            rates.setdefault(name, {})[size] = rate * ratio.median if paired else rate
            if ratio:
                ratios.setdefault(name, {})[size] = ratio
    return Chart(
        suite=cells[0]["suite"],
        workload=cells[0]["workload"],
        threads=cells[0]["threads"],
        rates={name: by_size for name, by_size in rates.items() if by_size},
        ratios=ratios,
        floor={cell["size"]: cell["noise_floor"] for cell in cells},
        threaded=marked(bench, "threaded"),
        ours=marked(bench, "ours"),
    )


def _of_profile(profile: Profile) -> list[Chart]:
    """Without the sizes that the small copies do: there the pipelines were only timed."""
    small = profile.the("small")
    chosen = [one for one in profile.of("pipelines") if not small or one.size > small.up_to]
    charts = []
    for workload in WORKLOADS:
        rates: dict[str, dict[int, float]] = {ROUTINE: {}, LIBC: {}}
        ratios: dict[int, Ratio] = {}
        floor: dict[int, Ratio] = {}
        for one in chosen:
            ratio = ratio_of(one.timing(workload).get("ratio"))
            paired = one.rate(workload, "libc_ns")
            if rate := paired * ratio.median if paired and ratio else one.rate(workload):
                rates[ROUTINE][one.size] = rate
            if paired:
                rates[LIBC][one.size] = paired
            if ratio:
                ratios[one.size] = ratio
            if noise := ratio_of(one.evidence.get("noise_floor", {}).get(workload)):
                floor[one.size] = noise
        if rates[ROUTINE] or ratios:
            drawn = {name: by_size for name, by_size in rates.items() if by_size}
            charts.append(Chart("sizes", workload, 1, drawn, {ROUTINE: ratios}, floor))
    return charts
