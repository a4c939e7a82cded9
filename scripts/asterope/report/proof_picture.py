"""The picture of whole runs: each copy's ratio to libc with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..modes import BINS, two_modes
from ..one_line import one_line
from .bench import ratio_of
from .copies import ratio_text
from .proof import finding
from .style import LIBC, Picture, Table, bars_of, new_figure, row_axis

COLOURS = {"faster": "#1b7837", "slower": "#b2182b"}


def proof_pictures(proof: Mapping[str, Any]) -> list[Picture]:
    """A row for each copy that has a ratio; nothing where no round ran."""
    rows = [(one_line(copy["name"]), copy) for copy in proof["copies"] if copy.get("ratio")]
    if not rows:
        return []
    figure = new_figure(10, 1.5 + 0.4 * len(rows))
    axes = figure.add_subplot()
    floor = ratio_of(proof["noise_floor"])
    if floor:
        axes.axvspan(floor.low, floor.high, color="#dddddd", zorder=0)
    axes.axvline(1, color=LIBC, linewidth=1.2)
    for y, (_, copy) in enumerate(rows):
        ratio = ratio_of(copy["ratio"])
        axes.errorbar(
            ratio.median,
            y,
            xerr=bars_of([ratio]),
            color=COLOURS.get(copy.get("verdict") or "", "#555555"),
            marker="o",
            elinewidth=2.2,
            linestyle="none",
        )
    row_axis(axes, [name[:40] for name, _ in rows])
    axes.set_xlabel("libc's figure over the copy's: right of 1 is better than libc")
    axes.grid(True, axis="x")
    axes.set_title("Whole runs against libc")
    verdicts = {name: copy.get("verdict") or "the noise floor" for name, copy in rows}
    return [
        Picture(
            name="proof",
            title="Whole runs",
            alt="Dot chart: " + "; ".join(f"{one}: {verdicts[one]}" for one in verdicts) + ".",
            caption=f"{finding(proof)}. Bars: 95 % intervals. Grey: libc against libc.",
            figure=figure,
            table=Table(
                "x libc: median (95 % interval)",
                ["copy", "median", "ratio", "verdict"],
                [
                    [
                        name,
                        f"{copy['figure']:.5g}",
                        ratio_text(ratio_of(copy["ratio"])),
                        verdicts[name],
                    ]
                    for name, copy in rows
                ],
            ),
        ),
        *_two_modes(proof),
    ]


def _two_modes(proof: Mapping[str, Any]) -> list[Picture]:
    """A histogram for each copy whose runs have two modes, which its median hides."""
    figures: dict[str, list[float]] = {}
    for block in proof["blocks"]:
        for one in block:
            figures.setdefault(one["copy"], []).append(one["figure"])
    found = {name: (own, modes) for name, own in figures.items() if (modes := two_modes(own))}
    pictures = []
    for number, (name, (own, modes)) in enumerate(found.items()):
        figure = new_figure(10, 3)
        axes = figure.add_subplot()
        counts, edges, _ = axes.hist(own, bins=BINS, color="#555555")
        told = f"{modes.low:.4g} and {modes.high:.4g} ({100 * modes.share:.0f} %)"
        axes.set_xlabel("figure of a run")
        axes.set_ylabel("runs")
        axes.set_title(f"{one_line(name)[:40]}: two modes")
        pictures.append(
            Picture(
                name=f"modes-{number}",
                title=f"Two modes: {one_line(name)}",
                alt=f"Histogram with two humps, at {told}.",
                caption=f"The runs under {one_line(name)} have two modes, {told}: its median is "
                "of neither.",
                figure=figure,
                table=Table(
                    "Runs by their figure",
                    ["from", "to", "runs"],
                    [
                        [f"{low:.4g}", f"{high:.4g}", f"{count:.0f}"]
                        for low, high, count in zip(edges, edges[1:], counts)
                    ],
                ),
            )
        )
    return pictures
