"""Pictures of a recording: what a program's copies cost at most, which they are and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..record.calls import COPIES
from ..record.table import band_name, bytes_text, headline, percent, place_name
from .style import OTHERS, OURS, Picture, Table, new_figure, row_axis, size_axis
from .style import headline as set_headline

Recording = Mapping[str, Any]


def recording_pictures(recording: Recording) -> list[Picture]:
    """Those that the recording has something for."""
    if not recording["copies"]["calls"]:
        return []
    bands = [band for band in recording["bands"] if band["calls"]]
    places = recording["places"]
    drawn = [
        _bars_picture(
            "copies-cost",
            "What the copies cost at most",
            headline(recording).rstrip("."),
            [(band_name(band), band["share"], "") for band in bands],
            "Small copies cost less: the processor goes on with other instructions meanwhile. "
            "A dash: too few calls were timed.",
            Table(
                "Copies by size",
                ["size", "calls", "bytes", "at most"],
                [[band_name(b), *_total(b), percent(b["share"])] for b in bands],
            ),
        ),
        _sizes_picture(recording),
        _bars_picture(
            "copies-places",
            "Which places",
            "The places that take most",
            [(place_name(p, 42), p["share"], f", {p['calls_function']}") for p in places],
            "Beside each bar: the function that the place calls.",
            Table(
                "The places that copy most",
                ["file", "function", "offset", "calls", "bytes", "median size", "samples"],
                [
                    [
                        *(p["module"], p["function"] or "-", hex(p["offset"]), *_total(p)),
                        *(f"{p['median_size']:,}", str(p["samples"])),
                    ]
                    for p in places
                ],
            ),
        ),
    ]
    return [picture for picture in drawn if picture is not None]


def _total(one: Mapping[str, Any]) -> tuple[str, str]:
    return f"{one['calls']:,}", f"{one['bytes']:,}"


def _bars_picture(
    name: str,
    title: str,
    finding: str,
    rows: Sequence[tuple[str, float | None, str]],
    caption: str,
    table: Table,
) -> Picture | None:
    """A bar for each row: its name, its share of the CPU time at most, and a word beside it. None
    where nothing is known of any."""
    if not any(share for _, share, _ in rows):
        return None
    figure = new_figure(10, 1.5 + 0.44 * len(rows))
    axes = figure.add_subplot()
    shares = [100 * (share or 0) for _, share, _ in rows]
    bars = axes.barh(range(len(rows)), shares, height=0.66, color=OURS)
    axes.bar_label(bars, [percent(s) + word for _, s, word in rows], padding=4, fontsize=8.5)
    row_axis(axes, [label for label, _, _ in rows], fontsize=9)
    axes.set_xlim(0, max(shares) * 1.45)
    axes.set_xlabel("% of the run's CPU time, at most")
    axes.grid(True, axis="x")
    set_headline(figure, finding)
    told = ", ".join(f"{label} {percent(share)}" for label, share, _ in rows)
    alt = f"Bars: at most what share of the run's CPU time: {told}."
    return Picture(name, title, alt, caption, figure, table)


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
