"""The results of asterope-prove --json about a program: its words and pictures."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ..faults import one_line
from ..figures import place_text
from ..modes import histogram, two_modes
from ..prove.rounds import PATTERN
from ..prove.trial.statistics import Estimate
from ..prove.trial.trial_words import MOST_PLACES, faster
from ..render import human_size
from . import style
from .modes import Sample, modes_pictures
from .series import ratio_of
from .style import Picture, Table

COLOURS = {"faster": "#1b7837", "slower": "#b2182b"}
NEITHER = "#555555"

Json = Mapping[str, Any]


def proof_finding(proof: Json) -> str:
    """The result of whole runs, in one sentence without its end."""
    base = _base(proof)
    found = [
        f"{one_line(copy['name'])} is {copy['verdict']}: {copy['ratio']['median']:.3f} x {base} "
        f"({copy['ratio']['low']:.3f} to {copy['ratio']['high']:.3f})"
        for copy in proof["copies"]
        if copy.get("verdict") in COLOURS and copy.get("ratio")
    ]
    told = "; ".join(found) or f"no copy differs from {base} beyond the noise"
    return f"{_name(proof)}, {proof['rounds']} rounds: {told}"


def _base(proof: Json) -> str:
    """The name of the copy that the others are compared with: libc, or the other of two builds."""
    return one_line(proof["copies"][0]["name"])


def said_by(found: Json) -> list[str]:
    """The command's own words. The name of the program is before the first sentence."""
    first, *others = found["said"] or ["nothing was found."]
    return [f"{_name(found)}: {first}", *others]


def _name(found: Json) -> str:
    return one_line(shlex.join(found["command"]))[:80]


def _percents(one: Json | None) -> str:
    if one is None:
        return "-"
    value, low, high = (100 * one[end] for end in ("value", "low", "high"))
    return f"{value:+.1f} % ({low:+.1f} to {high:+.1f})"


def trial_pictures(trial: Json) -> list[Picture]:
    """A row for each place that the command's own table has."""
    shown = [place for place in trial["places"] if place["shown"]]
    places = shown[:MOST_PLACES]
    if not places:
        return []
    names, gains = [*map(_place, places)], [*map(_brings, places)]
    axes = _new_axes("The gain of each place", [*map(_in_two_lines, names)], 0, "cannot be told")
    for y, one in enumerate(gains):
        if one is None:
            continue
        ends = [[100 * (one["value"] - one["low"])], [100 * (one["high"] - one["value"])]]
        told = "faster" if one["low"] > 0 else "slower" if one["high"] < 0 else None
        _dot(axes, y, 100 * one["value"], ends, told)
    axes.set_xlabel("% by which the program is faster, as the routine saves time there")
    told = (f"{name}: {_percents(one)}" for name, one in zip(names, gains))
    some = f" Of {len(shown)} places the {len(places)} that bring most." if shown != places else ""
    return [
        Picture(
            name="trial",
            title="Inside one run",
            alt=f"Dots: {'; '.join(told)}.",
            caption=f"{said_by(trial)[0]} Lines: 95 % intervals, from a call to the next of a "
            f"place.{some}",
            figure=axes.get_figure(),
            table=Table(
                "Libc's time over that of each way (95 % interval)",
                ["place", "calls", "faster by", "ways", "best"],
                [
                    [
                        *(name, f"{place['calls']:,}", _percents(one)),
                        *(_ways(place["ratios"]), place["best"] or "-"),
                    ]
                    for place, name, one in zip(places, names, gains)
                ],
            ),
        ),
        *_two_modes("calls", "s", {_place(one): one.get("means", ()) for one in trial["places"]}),
    ]


def _in_two_lines(name: str) -> str:
    """A place above, and its function and size below: one line would take half of the picture."""
    where, comma, what = name.partition(", ")
    return f"{where}\n{what}" if comma else name


def _brings(place: Json) -> Json | None:
    """How much faster the program is by it; None: not known."""
    gained = place["gained"] if place["possible"] else None
    return asdict(faster(Estimate(**gained))) if gained else None


def _place(place: Json) -> str:
    if not place["least"]:
        return place["function"]
    module = place.get("file_name") or place["module"]
    where = place_text(module, place["where"], place["offset"], 49)
    return f"{where}, {place['function']}, from {human_size(place['least'])}"


def _ways(ratios: Mapping[str, Json]) -> str:
    return ", ".join(
        f"{one_line(name)} {one['value']:.3f} ({one['low']:.3f} to {one['high']:.3f})"
        for name, one in ratios.items()
    )


def proof_pictures(proof: Json) -> list[Picture]:
    """A row for each copy that has a ratio and a figure; nothing if no round ran."""
    copies = [copy for copy in proof["copies"] if copy.get("ratio") and "figure" in copy]
    if not copies:
        return []
    base, names = _base(proof), [one_line(copy["name"]) for copy in copies]
    unit = "" if proof["metric"]["kind"] == PATTERN else "seconds"
    axes = _new_axes(f"Whole runs against {base}", [name[:40] for name in names], 1, "neither")
    if floor := ratio_of(proof["noise_floor"]):
        axes.axvspan(floor.low, floor.high, color="#dddddd", zorder=0)
    table = []
    for y, (name, copy) in enumerate(zip(names, copies)):
        ratio, verdict = ratio_of(copy["ratio"]), copy.get("verdict")
        _dot(axes, y, ratio.median, style.bars_of([ratio]), verdict)
        told = verdict or "the noise floor"
        table.append(
            [name, f"{copy['figure']:.5g}{unit and ' s'}", style.interval_text(ratio), told]
        )
    axes.set_xlabel(f"{base}'s figure over the copy's: right of 1 is better than {base}")
    picture = Picture(
        name="proof",
        title="Whole runs",
        alt="Dot chart: " + "; ".join(f"{row[0]}: {row[-1]}" for row in table) + ".",
        caption=f"{proof_finding(proof)}. Lines: 95 % intervals. Grey: {base} against {base}.",
        figure=axes.get_figure(),
        table=Table(
            f"x {base}: median (95 % interval)", ["copy", "median", "ratio", "verdict"], table
        ),
    )
    figures: dict[str, list[float]] = {}
    for block in proof["blocks"]:
        for one in block:
            figures.setdefault(one_line(one["copy"])[:40], []).append(one["figure"])
    return [picture, *_two_modes("runs", f"{unit or 'figure'} of a run", figures)]


def _new_axes(title: str, names: Sequence[str], libc: float, neither: str) -> Axes:
    lines = sum(1 + name.count("\n") for name in names)
    axes = style.new_figure(10, 1.7 + 0.16 * len(names) + 0.2 * lines).add_subplot()
    axes.axvline(libc, color=style.LIBC, linewidth=1.2)
    style.row_axis(axes, names)
    axes.grid(True, axis="x")
    axes.set_title(title)
    handles = [
        Line2D([], [], color=colour, marker="o", linewidth=2.2, label=words)
        for words, colour in {**COLOURS, neither: NEITHER}.items()
    ]
    style.legend_outside(axes.get_figure(), "below", handles=handles, ncols=len(handles))
    return axes


def _dot(axes: Axes, y: int, x: float, ends: Sequence, verdict: str | None) -> None:
    colour = COLOURS.get(verdict, NEITHER)
    axes.errorbar(x, y, xerr=ends, color=colour, marker="o", elinewidth=2.2, linestyle="none")


def _two_modes(what: str, unit: str, samples: Mapping[str, Sequence[float]]) -> list[Picture]:
    found = [
        Sample(name, unit, modes, histogram(values))
        for name, values in samples.items()
        if (modes := two_modes(values))
    ]
    return modes_pictures(what, found)
