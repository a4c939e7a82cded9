"""The picture of a trial: what the routine brings a program, place by place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from ..one_line import one_line
from .proof_picture import COLOURS
from .style import LIBC, Picture, Table, new_figure, row_axis
from .trial import Estimate, finding, percents

_MOST_ROWS = 15


def trial_pictures(trial: Mapping[str, Any]) -> list[Picture]:
    """A bar for each place of which it is known what the routine saves there."""
    places = [place for place in trial["places"] if place["gained"]][:_MOST_ROWS]
    if not places:
        return []
    rows = [(_place(place), place["gained"]) for place in places]
    figure = new_figure(10, 1.5 + 0.44 * len(rows))
    axes = figure.add_subplot()
    values = [100 * one["value"] for _, one in rows]
    reach = [
        [100 * (one["value"] - one["low"]) for _, one in rows],
        [100 * (one["high"] - one["value"]) for _, one in rows],
    ]
    axes.barh(
        range(len(rows)),
        values,
        height=0.66,
        xerr=reach,
        color=[COLOURS["faster" if value >= 0 else "slower"] for value in values],
        error_kw={"ecolor": "#333333", "elinewidth": 1.6, "capsize": 3},
    )
    axes.axvline(0, color=LIBC, linewidth=1.2)
    row_axis(axes, [name for name, _ in rows], fontsize=9)
    axes.set_xlabel("% of the program's CPU time that the routine saves")
    axes.grid(True, axis="x")
    axes.set_title("What each place brings")
    told = "; ".join(f"{name}: {percents(one)}" for name, one in rows)
    return [
        Picture(
            name="trial",
            title="Inside one run",
            alt=f"Bars: {told}.",
            caption=f"{finding(trial)}. Lines: 95 % intervals, from a call to the next of a place.",
            figure=figure,
            table=Table(
                "Libc's time over that of each way (95 % interval)",
                ["place", "calls", "saves", "ways", "best"],
                [
                    [
                        *(name, f"{place['calls']:,}", percents(place["gained"])),
                        *(_ways(place["ratios"]), place["best"] or "-"),
                    ]
                    for place, (name, _) in zip(places, rows)
                ],
            ),
        )
    ]


def _place(place: Mapping[str, Any]) -> str:
    if not place["least"]:
        return place["function"]
    module = PurePosixPath(one_line(place["module"])).name[:24] or "code in no file"
    where = one_line(place["caller"])[:24] or hex(place["offset"])
    return f"{module} {where}, {place['function']}, {place['least']:,} B"


def _ways(ratios: Mapping[str, Estimate]) -> str:
    return ", ".join(
        f"{one_line(name)} {one['value']:.3f} ({one['low']:.3f} to {one['high']:.3f})"
        for name, one in ratios.items()
    )
