"""Pictures of a recording: what a program's copies cost at most, which they are and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from ..record.calls import COPIES
from ..record.table import band_name, bytes_text, headline, percent, place_name
from .style import OTHERS, OURS, Picture, Table, new_figure, size_axis
from .style import headline as set_headline

Recording = Mapping[str, Any]


def recording_pictures(recording: Recording) -> list[Picture]:
    """Those that the recording has something for."""
    if not recording["copies"]["calls"]:
        return []
    drawn = [
        _cost_picture(recording),
        _sizes_picture(recording),
        _places_picture(recording),
    ]
    return [picture for picture in drawn if picture is not None]


def _cost_picture(recording: Recording) -> Picture | None:
    bands = [band for band in recording["bands"] if band["calls"]]
    if not any(band["share"] for band in bands):
        return None
    costs = [100 * (band["share"] or 0) for band in bands]
    figure = new_figure(10, 4.2)
    axes = figure.add_subplot()
    axes.bar(range(len(bands)), costs, width=0.66, color=OURS)
    for x, (band, cost) in enumerate(zip(bands, costs)):
        axes.annotate(
            percent(band["share"]),
            (x, cost),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    _band_axis(axes, bands)
    axes.set_ylabel("% of the run's CPU time, at most")
    axes.set_ylim(0, max(costs) * 1.12 + 1e-9)
    axes.grid(True, axis="y")
    axes.set_title(headline(recording).rstrip("."))
    return Picture(
        name="copies-cost",
        title="What the copies cost at most",
        alt="Bars: at most what share of the run's CPU time, by size of the copy: "
        + ", ".join(f"{band_name(band)} {percent(band['share'])}" for band in bands)
        + ".",
        caption="Small copies cost less: the processor goes on with other instructions meanwhile. "
        "A dash: too few calls were timed.",
        figure=figure,
        table=Table(
            "Copies by size",
            ["size", "calls", "bytes", "at most"],
            [
                [
                    band_name(band),
                    f"{band['calls']:,}",
                    f"{band['bytes']:,}",
                    percent(band["share"]),
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


def _places_picture(recording: Recording) -> Picture | None:
    places = [place for place in recording["places"] if place["share"]]
    if not places:
        return None
    shares = [100 * place["share"] for place in places]
    figure = new_figure(10, 1.3 + 0.44 * len(places))
    axes = figure.add_subplot()
    axes.barh(range(len(places)), shares, height=0.66, color=OURS)
    for y, (place, share) in enumerate(zip(places, shares)):
        axes.annotate(
            f"{percent(place['share'])}, {place['calls_function']}",
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
    axes.set_xlabel("% of the run's CPU time, at most")
    axes.grid(True, axis="x")
    first = place_name(places[0], 60)
    set_headline(figure, f"The first place takes at most {percent(places[0]['share'])}: {first}")
    return Picture(
        name="copies-places",
        title="Which places",
        alt="Bars: at most what share of the run's CPU time, by place in the code: "
        + ", ".join(f"{place_name(place, 60)} {percent(place['share'])}" for place in places)
        + ".",
        caption="Beside each bar: the function that the place calls.",
        figure=figure,
        table=Table(
            "The places that copy most",
            ["file", "function", "offset", "calls", "bytes", "median size", "samples"],
            [
                [
                    place["module"],
                    place["function"] or "-",
                    hex(place["offset"]),
                    f"{place['calls']:,}",
                    f"{place['bytes']:,}",
                    f"{place['median_size']:,}",
                    str(place["samples"]),
                ]
                for place in recording["places"]
            ],
        ),
    )
