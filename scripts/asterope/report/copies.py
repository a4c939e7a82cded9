"""Pictures of copies side by side: throughput, and ratios to libc."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from .. import workloads
from ..render import human_size
from . import style
from .series import LIBC, ROUTINE, USUAL_SUITES, Chart, Series, sizes_of
from .style import Picture, Table

# The looks of the copies that stand out: the routine, alone, over threads, and by its entry points
# for callers who know the workload of the copy, and libc.
TOLD = [f"{ROUTINE}_{workload}" for workload in workloads.names("entry_point")]
LOOK = ("color", "linewidth", "zorder", "marker", "markersize", "linestyle")
LOOKS = {
    ROUTINE: (style.OURS, 3, 5, "o", 5, "-"),
    f"{ROUTINE}_mt": (style.OURS_TOO, 2.4, 4.5, "D", 4, "-"),
    **dict.fromkeys(TOLD, (style.OURS, 1.6, 4.2, "^", 4, "--")),
    LIBC: (style.LIBC, 2.4, 4, "s", 4, "-"),
}
# The workloads that differ most, for a reader's first look.
OVERVIEW = ("cold", "consume", "hot", "fresh")
RATIO_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100)
MIDDLE_RATIO_TICKS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 2.5, 3, 4, 5)
NEAR_RATIO_TICKS = (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5)


def ratio_ticks(low: float, high: float) -> Sequence[float]:
    """The ticks of an axis. They are closer together if the whole range is near 1."""
    if high / low < 2.5:
        return NEAR_RATIO_TICKS
    return MIDDLE_RATIO_TICKS if high / low < 6 else RATIO_TICKS


def look(name: str, peers: Sequence[str]) -> dict[str, Any]:
    """The look of a copy, the same in every picture."""
    if name in LOOKS:
        return dict(zip(LOOK, LOOKS[name]))
    i = peers.index(name)
    colour, marker = style.OTHERS[i % len(style.OTHERS)], style.MARKERS[i % len(style.MARKERS)]
    dashes = style.DASHES[i // len(style.OTHERS) % len(style.DASHES)]
    return dict(zip(LOOK, (colour, 1.1, 3, marker, 3, dashes)))


def file_name(text: str) -> str:
    """A name from outside as a part of a file's name: other characters become -."""
    return "".join(c if (c.isascii() and c.isalnum()) or c == "_" else "-" for c in text)


def in_words(chart: Chart) -> str:
    """The workload of a chart in words, and its name: `Neither side cached (cold)`."""
    situation = workloads.TITLES.get(chart.workload)
    return f"{situation} ({chart.name})" if situation else chart.name


def means_of(charts: Sequence[Chart]) -> str:
    return ", ".join(f"{chart.name} {chart.mean_ratio(ROUTINE):.2f}" for chart in charts)


# --- Throughput -----------------------------------------------------------------------------------


def throughput_picture(
    chart: Chart, machine: Mapping[str, Any], peers: Sequence[str], source: str
) -> Picture:
    """Every copy's throughput over the transfer sizes, both logarithmic. `peers`: of all charts."""
    figure = style.new_figure(10, 6)
    axes = figure.add_subplot()
    sizes = sizes_of([chart])
    for name, rates in chart.rates.items():
        axes.plot(*zip(*rates.items()), label=name, **look(name, peers))
    axes.set_yscale("log")
    style.plain_log_axis(axes.yaxis)
    axes.set_ylabel("throughput (GB/s, 10⁹ bytes of calls a second)")
    axes.grid(True, axis="y")
    style.size_axis(axes, sizes)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.12)  # room for the names of the caches
    style.mark_caches(axes, machine)
    finding = _throughput_finding(chart)
    axes.set_title("\n".join(textwrap.fill(line, 60) for line in (in_words(chart), finding)))
    style.legend_outside(figure, "right", fontsize=9)
    words = workloads.TEXTS.get(chart.workload)

    def row(size: int) -> list[str]:
        found = (rates.get(size) for rates in chart.rates.values())
        return [human_size(size), *("-" if rate is None else f"{rate:.3g}" for rate in found)]

    return Picture(
        name=f"throughput-{file_name(chart.name)}",
        title=f"{chart.name}: {words}" if words else chart.name,
        alt=f"Line chart of throughput by transfer size from {human_size(sizes[0])} to "
        f"{human_size(sizes[-1])}, workload {chart.name}, of {', '.join(chart.rates)}. {finding}.",
        caption="Higher is faster. Each copy's throughput is libc's times their paired ratio. "
        "Dotted lines: a transfer as large as that cache (a copy touches twice its size, a set "
        f"just its size). From {source}.",
        figure=figure,
        table=Table("GB/s", ["size", *chart.rates], [row(size) for size in sizes]),
    )


def _throughput_finding(chart: Chart) -> str:
    mean = chart.mean_ratio(ROUTINE)
    if mean is None:
        return "throughput by size"
    text = f"asterope {mean:.2f} x glibc's speed"
    told = chart.mean_ratio(chart.told) if chart.told else None
    if told is not None:
        text += f", its entry point {told:.2f} x"
    rivals = {name: m for name in chart.rivals if (m := chart.mean_ratio(name)) is not None}
    if rivals:
        best = max(rivals, key=lambda name: rivals[name])
        text += f"; the best other, {best}, {rivals[best]:.2f} x"
    return text


# --- Ratios to libc -------------------------------------------------------------------------------


def overview_picture(series: Series, machine: Mapping[str, Any], libc_name: str) -> Picture | None:
    """The routine against libc under the workloads that differ most, in one panel. None if fewer
    than two of them were timed."""
    by_workload = {
        chart.workload: chart
        for chart in series.charts
        if chart.suite in USUAL_SUITES and chart.threads == 1 and chart.mean_ratio(ROUTINE)
    }
    shown = [by_workload[name] for name in OVERVIEW if name in by_workload]
    if len(shown) < 2:
        return None
    figure = style.new_figure(8, 4.6)
    axes = figure.add_subplot()
    for chart, colour, marker in zip(shown, (style.OURS, *style.OTHERS), style.MARKERS):
        name = in_words(chart)
        _draw_ratios(axes, chart, color=colour, marker=marker, elinewidth=1.2, label=name)
    _set_up(axes, shown, machine)
    style.size_axis(axes, sizes_of(shown, ROUTINE))
    axes.set_title(f"{libc_name}'s time over the routine's: above 1 the routine is faster")
    style.legend_outside(figure, "below", ncols=2)
    return Picture(
        name="overview",
        title="In one picture",
        alt="Line chart: how many times faster than libc the routine is, by transfer size, under "
        f"{len(shown)} workloads. Geometric means: {means_of(shown)}.",
        caption="Points with bars: medians of paired rounds and their 95 % intervals. Ends beyond "
        f"the axis are cut. From {series.source}.",
        figure=figure,
    )


def ratio_picture(
    charts: Sequence[Chart],
    machine: Mapping[str, Any],
    source: str,
    libc_name: str,
    lost: Collection[str] = (),
) -> Picture | None:
    """The routine against libc, with intervals and the noise floor. Each chart of a suite has a
    panel. None if no chart has the routine. `lost`: workloads that are drawn in any case, as the
    exam at a search's end found a loss there."""
    charts = [chart for chart in charts if chart.mean_ratio(ROUTINE) is not None]
    if not charts:
        return None
    suite = charts[0].suite
    is_usual = suite in USUAL_SUITES
    shown = [chart for chart in charts if chart.workload in lost or not chart.is_noise]
    noise = "" if shown else "No difference beyond the noise at any size. "
    shown = shown or charts
    hidden = ", ".join(chart.name for chart in charts if chart not in shown)
    figure = _ratio_figure(shown, machine)
    worst, where = min(
        (ratio.median, f"{chart.name} {human_size(size)}")
        for chart in charts
        for size, ratio in chart.ratios[ROUTINE].items()
    )
    style.headline(figure, f"{libc_name}'s time over the routine's: above 1 the routine is faster")
    best = " Thin line: the best of the other copies on one thread at each size."
    return Picture(
        name="ratio" if is_usual else f"ratio-{file_name(suite)}",
        title="By workload and size" if is_usual else f"Suite {suite}",
        alt=f"A panel for each workload: how many times faster than libc the routine is, by "
        f"transfer size, with 95 % intervals. Geometric means: {means_of(charts)}. Least: "
        f"{worst:.2f} at {where}.",
        caption=(f"No more than the noise, and not drawn: {hidden}. " if hidden else noise)
        + "Points with bars: medians of paired rounds and their 95 % intervals "
        "(sign test). Ends beyond the axis are cut. Grey: libc against itself in the same rounds; "
        "ratios inside it are noise."
        f"{best if any(chart.rivals for chart in charts) else ''} From {source}.",
        figure=figure,
        table=_ratio_table(charts),
    )


def _ratio_figure(shown: Sequence[Chart], machine: Mapping[str, Any]) -> Any:
    figure, grid, all_axes = style.panels(
        len(shown), 2, lambda columns, rows: (max(8, 5.4 * columns), 0.9 + 3.3 * rows), sharey=True
    )
    sizes = sizes_of(shown, ROUTINE)
    for axes, chart in zip(all_axes, shown):
        _ratio_panel(axes, chart)
        style.size_axis(axes, sizes, label=False)
    for axes in all_axes:
        _set_up(axes, shown, machine)
    for row in grid:
        row[0].set_ylabel("libc's time over asterope's (log scale)")
    legend = style.legend_of(all_axes)
    style.legend_outside(figure, "below", **legend, ncols=len(legend["labels"]))
    return figure


def _set_up(axes: Axes, charts: Sequence[Chart], machine: Mapping[str, Any]) -> None:
    """The axis of ratios. Its range holds all medians, and the routine's intervals near these. The
    ends of a few very wide intervals are cut, as they would flatten all else."""
    ratios = [ratio for chart in charts for ratio in chart.ratios[ROUTINE].values()]
    others = [
        ratio.median
        for chart in charts
        for name in [*chart.rivals, *([chart.told] if chart.told else [])]
        for ratio in chart.ratios.get(name, {}).values()
    ]
    medians = [ratio.median for ratio in ratios]
    low = max(min(ratio.low for ratio in ratios), min(medians) / 1.25)
    high = min(max(ratio.high for ratio in ratios), max(medians) * 1.25)
    low, high = min(0.9, low / 1.03), max([1.15, high, *others])
    high *= (high / low) ** 0.25  # room for the names of the caches
    axes.axhline(1, color=style.LIBC, linewidth=1)
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    style.plain_log_axis(axes.yaxis, ratio_ticks(low, high))
    axes.grid(True, axis="y")
    style.mark_caches(axes, machine)


def _draw_ratios(axes: Axes, chart: Chart, **look: Any) -> None:
    """The routine's, with their intervals."""
    ours = chart.ratios[ROUTINE]
    medians = [ratio.median for ratio in ours.values()]
    axes.errorbar(list(ours), medians, yerr=style.bars_of(ours.values()), markersize=4.5, **look)


def _ratio_panel(axes: Axes, chart: Chart) -> None:
    floor = sorted(chart.floor.items())
    if floor:
        sizes, lows, highs = zip(*((size, ratio.low, ratio.high) for size, ratio in floor))
        band = {"color": "#b9b9b9", "alpha": 0.7, "linewidth": 0}
        axes.fill_between(sizes, lows, highs, label="libc against libc (noise)", **band)
    best: dict[int, float] = {}
    for name in chart.rivals:
        for size, ratio in chart.ratios.get(name, {}).items():
            best[size] = max(best.get(size, 0), ratio.median)
    if best:
        drawn = sorted(best.items())
        axes.plot(*zip(*drawn), color=style.OTHERS[0], linewidth=1.2, label="best other copy")
    if chart.told:
        told = [(size, ratio.median) for size, ratio in chart.ratios.get(chart.told, {}).items()]
        label = "asterope's entry point for it"
        axes.plot(*zip(*told), color=style.OURS, linestyle="--", linewidth=1.2, label=label)
    ours = {"color": style.OURS, "marker": "o", "linewidth": 2, "elinewidth": 1.4, "capsize": 2.5}
    _draw_ratios(axes, chart, label="asterope (95 % interval)", **ours)
    lowest, at = min((ratio.median, size) for size, ratio in chart.ratios[ROUTINE].items())
    axes.set_title(
        f"{textwrap.fill(in_words(chart), 52)}\n"
        f"mean {chart.mean_ratio(ROUTINE):.2f}, lowest {lowest:.2f} (at {human_size(at)})",
        fontsize=10.5,
    )


def _ratio_table(charts: Sequence[Chart]) -> Table:
    def cell(chart: Chart, size: int) -> str:
        ratio, floor = chart.ratios[ROUTINE].get(size), chart.floor.get(size)
        noise = f", noise {floor.low:.2f}..{floor.high:.2f}" if ratio and floor else ""
        return style.interval_text(ratio) + noise

    return Table(
        "x libc: median (95 % interval), and the interval of libc against itself",
        ["size", *(chart.name for chart in charts)],
        [
            [human_size(size), *(cell(chart, size) for chart in charts)]
            for size in sizes_of(charts, ROUTINE)
        ],
    )
