"""Histograms of samples with two modes: of whole runs, of the calls in a trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.ticker import EngFormatter, FuncFormatter

from ..modes import Histogram, TwoModes
from .style import Picture, Table, panels


class Sample(NamedTuple):
    """A sample with two modes. Its figures are seconds if the unit is s."""

    name: str
    unit: str
    modes: TwoModes
    bins: Histogram


def modes_pictures(name: str, samples: Sequence[Sample]) -> list[Picture]:
    """One picture with all of them; empty without samples. `name`: the sampled things, such as
    calls."""
    if not samples:
        return []
    figure, _, axes_of = panels(len(samples), 2, lambda columns, rows: (10, 0.4 + 2.2 * rows))
    rows = []
    for axes, (sample, unit, modes, bins) in zip(axes_of, samples):
        text = (
            EngFormatter("s", places=2) if unit == "s" else FuncFormatter(lambda x, _: f"{x:.4g}")
        )
        edges = [bins.low + at * bins.width for at in range(len(bins.counts))]
        axes.bar(edges, bins.counts, bins.width, align="edge", color="#555555")
        axes.set_title(sample[:48], fontsize=9)
        axes.set_xlabel("time of a call" if unit == "s" else unit)
        axes.set_ylabel(name)
        axes.xaxis.set_major_formatter(text)
        axes.locator_params(axis="x", nbins=4)
        share = f"{100 * modes.share:.0f} %"
        counts = " ".join(map(str, bins.counts))
        rows.append([sample, text(modes.low), text(modes.high), share, text(edges[0]), counts])
    told = "; ".join(f"{row[0]}: {row[1]} and {row[2]} ({row[3]})" for row in rows)
    return [
        Picture(
            name=f"modes-{name}",
            title=f"Two modes: {name}",
            alt=f"Histograms with two humps: {told}.",
            caption=f"Samples of {name} with two modes, so that a median tells of neither: {told}. "
            "In brackets: the share of the higher one.",
            figure=figure,
            table=Table(
                f"The {name} by their figure",
                ["sample", "lower", "higher", "are there", "first bin", "in each bin"],
                rows,
            ),
        )
    ]
