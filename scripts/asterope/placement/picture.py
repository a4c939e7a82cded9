"""The picture of the experiment: what the level does, and what the place does."""

from __future__ import annotations

import io
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..render import human_size
from ..report.grids import draw_ratios
from ..report.style import LIBC as LIBC_COLOUR
from ..report.style import OTHERS, OURS, bars_of, headline, new_figure, set_up
from .experiment import CALLED, PLACES, ROUTINE, Build, Results

LOOKS = {
    CALLED: ("libc called from code compiled so", OTHERS[0], "s", 0.22),
    ROUTINE: ("asterope_memcpy compiled so", OURS, "o", 0.0),
}


def draw(results: Results, builds: Sequence[Build]) -> Figure:
    """A column a size: above the levels, below the places (the routine's)."""
    set_up()
    sizes = results.sizes
    figure = new_figure(1 + 3.3 * len(sizes), 7.4)
    grid = figure.subplots(2, len(sizes), squeeze=False, sharey="row")
    for axes, size in zip(grid[0], sizes):
        _draw_levels(axes, results, builds, size)
    grid[0][0].set_ylabel("time over the median of all builds")
    grid[0][0].legend(loc="upper right", fontsize=8, frameon=False)
    for axes, size in zip(grid[1], sizes):
        ratios = results.places[ROUTINE][size]
        # as speed, so that blue is faster everywhere
        speeds = [[1 / ratios[s, d].median for d in PLACES] for s in PLACES]
        draw_ratios(axes, speeds, PLACES, PLACES)
        axes.set_xlabel("destination in")
    grid[1][0].set_ylabel("source in")
    grid[1][0].set_title("speed, heap to heap = 1", fontsize=10)
    low, high = results.spread(ROUTINE)
    headline(
        figure,
        f"Compiled at any -O, the routine takes {low:.3f} to {high:.3f} of the builds' median time",
    )
    return figure


def _draw_levels(axes: Axes, results: Results, builds: Sequence[Build], size: int) -> None:
    axes.axhspan(*results.noise(size), color="#c4c4c4", label="one build, loaded as often (noise)")
    axes.axhline(1, color=LIBC_COLOUR, linewidth=0.8)
    for copy, (label, colour, marker, shift) in LOOKS.items():
        ratios = results.levels[copy][size]
        axes.errorbar(
            [x + shift for x in range(len(builds))],
            [r.median for r in ratios],
            yerr=bars_of(ratios),
            color=colour,
            marker=marker,
            markersize=5,
            linestyle="none",
            elinewidth=1.4,
            label=label,
        )
    axes.set_xticks(range(len(builds)), [build.name for build in builds], rotation=90, fontsize=9)
    axes.grid(True, axis="y")
    axes.set_title(human_size(size), fontsize=10.5)


def png(figure: Figure) -> bytes:
    """The same figure gives the same bytes, with one version of matplotlib."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=150, metadata={"Software": None}, facecolor="white")
    return file.getvalue()
