"""Pictures of a recording: what a program's copies cost, which they are and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from ..record.calls import COPIES
from ..record.table import band_name, bytes_text, headline, place_name, read_of
from .style import (
    INK,
    MUTED,
    OTHERS,
    OURS,
    Picture,
    Table,
    legend_outside,
    new_figure,
    size_axis,
)
from .style import headline as set_headline

Recording = Mapping[str, Any]

# By (source cached, destination cached); light where copies are fast.
SITUATIONS = {
    (True, True): ("both cached", "#cfe3f7"),
    (True, False): ("source only", "#8ab6dd"),
    (False, True): ("destination only", "#f0bd84"),
    (False, False): ("neither", "#b4530a"),
}
READS = {
    "soon": ("read soon", "#8fd0a8"),
    "later": ("read later", "#dff0c8"),
    "overwritten": ("overwritten first", "#c3a6e0"),
    "not_in_window": ("not within the window", "#d4d4d4"),
}


def recording_pictures(recording: Recording) -> list[Picture]:
    """Those that the recording has something for."""
    if not any(band["calls"] for band in recording["bands"]):
        return []
    drawn = [
        _cost_picture(recording),
        _sizes_picture(recording),
        _situations_picture(recording),
        _places_picture(recording),
    ]
    return [picture for picture in drawn if picture is not None]


def _used(recording: Recording) -> list[Mapping[str, Any]]:
    return [band for band in recording["bands"] if band["calls"]]


def _of_run(band: Mapping[str, Any], recording: Recording) -> tuple[float, float, float]:
    """Per cent."""
    whole = recording["cpu_seconds"]
    return tuple(100 * band["seconds"][end] / whole for end in ("value", "low", "high"))


def _cost_picture(recording: Recording) -> Picture | None:
    if recording["share"] is None:
        return None
    bands = _used(recording)
    costs = [_of_run(band, recording) for band in bands]
    figure = new_figure(10, 4.2)
    axes = figure.add_subplot()
    axes.bar(
        range(len(bands)),
        [value for value, _, _ in costs],
        width=0.66,
        color=OURS,
        yerr=[
            [value - low for value, low, _ in costs],
            [high - value for value, _, high in costs],
        ],
        ecolor=INK,
        capsize=4,
    )
    for x, (value, _, high) in enumerate(costs):
        axes.annotate(
            f"{value:.1f}",
            (x, high),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    _band_axis(axes, bands)
    axes.set_ylabel("% of the run's CPU time")
    axes.set_ylim(0, max(high for _, _, high in costs) * 1.12 + 1e-9)
    axes.grid(True, axis="y")
    axes.set_title(headline(recording).partition(":")[0])
    return Picture(
        name="copies-cost",
        title="What the copies cost",
        alt="Bars: the share of the run's CPU time by size of the copy: "
        + ", ".join(f"{band_name(b)} {c[0]:.1f} %" for b, c in zip(bands, costs))
        + ".",
        caption="Lines: 95 % intervals. Of small copies they also hold what the processor hides by "
        "going on with other instructions.",
        figure=figure,
        table=Table(
            "Copies by size",
            ["size", "calls", "bytes", "seconds", "low", "high", "timed", "probed"],
            [
                [
                    band_name(band),
                    f"{band['calls']:,}",
                    f"{band['bytes']:,}",
                    *(f"{band['seconds'][end]:.4g}" for end in ("value", "low", "high")),
                    str(band["timed"]),
                    str(band["probed"]),
                ]
                for band in bands
            ],
        ),
    )


def _band_axis(axes: Axes, bands: Sequence[Mapping[str, Any]]) -> None:
    axes.set_xticks(range(len(bands)), [band_name(band) for band in bands])
    axes.set_xlim(-0.6, len(bands) - 0.4)
    axes.tick_params(axis="x", length=0)


def _sizes_picture(recording: Recording) -> Picture:
    """A step for each size class that was counted."""
    classes: dict[tuple[int, int], int] = {}
    for one in recording["calls"]:
        if one["function"] in COPIES and one["to"] > 1:
            ends = max(1, one["from"]), one["to"]
            classes[ends] = classes.get(ends, 0) + one["calls"]
    calls = sum(classes.values())
    copied = sum(n * (first + end - 1) / 2 for (first, end), n in classes.items())
    figure = new_figure(10, 4.2)
    axes = figure.add_subplot()
    lines = (
        ("of the calls", OURS, lambda first, end, n: 100 * n / calls),
        ("of the bytes", OTHERS[0], lambda first, end, n: 50 * n * (first + end - 1) / copied),
    )
    ordered = sorted(classes.items())
    halves = {}
    for name, colour, share in lines:
        sizes, sums, total = [ordered[0][0][0]], [0.0], 0.0
        for (first, end), n in ordered:
            total += share(first, end, n)
            sizes += [first, end]
            sums += [sums[-1], total]
            if total >= 50:
                halves.setdefault(name, end - 1)
        axes.plot(sizes, sums, color=colour, linewidth=2, label=name)
    size_axis(axes, [ordered[0][0][0], ordered[-1][0][1]])
    axes.set_ylim(0, 103)
    axes.set_ylabel("% up to this size")
    axes.grid(True)
    axes.legend(loc="lower right", frameon=False)
    finding = (
        f"Half of the calls copy at most {bytes_text(halves['of the calls'])}, half of the bytes "
        f"are copied by calls of at most {bytes_text(halves['of the bytes'])}"
    )
    axes.set_title(finding)
    return Picture(
        name="copies-sizes",
        title="Which sizes",
        alt=f"Two rising lines over the size: shares of the calls and of the bytes. {finding}.",
        caption="Every call was counted, by size class.",
        figure=figure,
        table=Table(
            "Calls by size class",
            ["bytes", "calls"],
            [[f"{first} to {end - 1}", f"{n:,}"] for (first, end), n in ordered],
        ),
    )


def _situations_picture(recording: Recording) -> Picture | None:
    bands = [band for band in _used(recording) if band["situations"] or read_of(band)]
    if not bands:
        return None
    watched = [read_of(band) for band in bands]
    read = any(watched)
    figure = new_figure(11 if read else 7.5, 1.9 + 0.42 * len(bands))
    both = figure.subplots(1, 2 if read else 1, squeeze=False, sharey=True)[0]
    rows = [
        [
            100 * sum(one["calls"] for one in band["situations"] if _case(one) == case)
            if band["situations"]
            else None
            for band in bands
        ]
        for case in SITUATIONS
    ]
    _stack(both[0], rows, list(SITUATIONS.values()))
    both[0].set_title("Where the data was, % of the calls")
    handles = [Patch(facecolor=c, edgecolor=INK, label=n) for n, c in SITUATIONS.values()]
    if read:
        reads = [[100 * one[name] if one else None for one in watched] for name in READS]
        _stack(both[1], reads, list(READS.values()))
        both[1].set_title("What became of the copy first, %")
        handles += [Patch(facecolor=c, edgecolor=INK, label=n) for n, c in READS.values()]
    both[0].set_yticks(range(len(bands)), [band_name(band) for band in bands])
    both[0].set_ylim(len(bands) - 0.4, -0.6)
    legend_outside(figure, "below", handles=handles, ncols=4, fontsize=9)
    return Picture(
        name="copies-situations",
        title="Where the data was, and who reads it",
        alt="Stacked bars by size of the copy: shares of the calls by what was cached"
        + (", and what became of the copies first." if read else "."),
        caption=_sources(recording),
        figure=figure,
        table=Table(
            "Shares of the calls, by probes of one line a side; of the watched copies",
            ["size", *(n for n, _ in SITUATIONS.values()), *(n for n, _ in READS.values())],
            [
                [
                    band_name(band),
                    *(_percent(row[i]) for row in rows),
                    *(_percent(100 * watched[i][n] if watched[i] else None) for n in READS),
                ]
                for i, band in enumerate(bands)
            ],
        ),
    )


def _case(one: Mapping[str, Any]) -> tuple[bool, bool]:
    return one["source_cached"], one["destination_cached"]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f} %"


def _sources(recording: Recording) -> str:
    readers = recording["readers"]
    probes = "Cached: a line of each side, loaded just before the copy, came from a cache. "
    if readers["from"] == "watchpoints":
        window = f"{readers['window_ms']:g} ms"
        return f"{probes}Read: by hardware watchpoints on a line of the copy, for {window} each."
    if readers["from"] == "reuse":
        return f"{probes}Read: by one of the next copies only, as {readers['why']}."
    return f"{probes}Who reads the copies is not known: {readers['why']}."


def _stack(
    axes: Axes, rows: Sequence[Sequence[float | None]], looks: Sequence[tuple[str, str]]
) -> None:
    """A bar for each column of `rows`; what is None is said to be unknown."""
    left = [0.0] * len(rows[0])
    for values, (_, colour) in zip(rows, looks):
        widths = [value or 0.0 for value in values]
        axes.barh(
            range(len(widths)),
            widths,
            left=left,
            height=0.7,
            color=colour,
            edgecolor=INK,
            linewidth=0.6,
        )
        for y, (begin, width) in enumerate(zip(left, widths)):
            if width >= 8:
                dark = colour == SITUATIONS[False, False][1]
                axes.text(
                    begin + width / 2,
                    y,
                    f"{width:.0f}",
                    ha="center",
                    va="center",
                    fontsize=8.5,
                    color="white" if dark else INK,
                )
        left = [begin + width for begin, width in zip(left, widths)]
    for y, value in enumerate(rows[0]):
        if value is None:
            axes.text(2, y, "not known", va="center", fontsize=8.5, color=MUTED)
    axes.set_xlim(0, 100)
    axes.spines[:].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _places_picture(recording: Recording) -> Picture | None:
    places = [place for place in recording["places"] if place["share"]]
    if not places or recording["share"] is None:
        return None
    shares = [100 * recording["share"]["value"] * place["share"] for place in places]
    figure = new_figure(10, 1.3 + 0.44 * len(places))
    axes = figure.add_subplot()
    axes.barh(range(len(places)), shares, height=0.66, color=OURS)
    for y, (place, share) in enumerate(zip(places, shares)):
        axes.annotate(
            f"{share:.1f} %, {place['serve']}",
            (share, y),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    axes.set_yticks(range(len(places)), [place_name(place, 42) for place in places], fontsize=9)
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.set_xlim(0, max(shares) * 1.45)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("% of the run's CPU time")
    axes.grid(True, axis="x")
    first = place_name(places[0], 60)
    set_headline(figure, f"The place that copies most takes {shares[0]:.1f} %: {first}")
    return Picture(
        name="copies-places",
        title="Which places",
        alt="Bars: the share of the run's CPU time by place in the code: "
        + ", ".join(f"{place_name(p, 60)} {s:.1f} %" for p, s in zip(places, shares))
        + ".",
        caption="Beside each bar: the entry point of the routine that serves the place best, one "
        "for a situation only where the place is clearly in that.",
        figure=figure,
        table=Table(
            "The places that copy most",
            ["file", "function", "offset", "calls", "bytes", "median size", "samples", "serve"],
            [
                [
                    place["module"],
                    place["function"] or "-",
                    hex(place["offset"]),
                    f"{place['calls']:,}",
                    f"{place['bytes']:,}",
                    f"{place['median_size']:,}",
                    str(place["samples"]),
                    place["serve"],
                ]
                for place in places
            ],
        ),
    )
