"""The picture of a suite whose cells are grids: the routine's ratio to libc by misalignment."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.patches import Rectangle

from .bench import ROUTINE, Cell
from .copies import file_name
from .style import INK, Picture, Table, headline, heat_map, interval_text, panels

# `4 KiB +1 +63`: the size, bytes past a line of the source and of the destination.
_LABEL = re.compile(r"(?P<panel>.+) \+(?P<source>\d{1,6}) \+(?P<destination>\d{1,6})")


def is_grid(cells: Sequence[Cell]) -> bool:
    """Whether all labels say where source and destination lie."""
    return all(_LABEL.fullmatch(cell.label) for cell in cells)


def grid_picture(suite: str, cells: Sequence[Cell], source: str) -> Picture:
    """A panel a size: how many times faster than libc the routine is at each misalignment."""
    by_size: dict[str, dict[tuple[int, int], float]] = {}
    rows = []
    for cell in cells:
        match = _LABEL.fullmatch(cell.label)
        timing = cell.copies.get(ROUTINE)
        if match is None or timing is None or timing.ratio is None:
            continue
        place = int(match["source"]), int(match["destination"])
        by_size.setdefault(match["panel"], {})[place] = timing.ratio.median
        rows.append([cell.label, interval_text(timing.ratio), interval_text(cell.noise_floor)])
    figure, _, all_axes = panels(
        len(by_size), 3, lambda columns, rows: (max(8, 0.6 + 3.9 * columns), 0.9 + 3.3 * rows)
    )
    for axes, (name, values) in zip(all_axes, by_size.items()):
        sources = sorted({source for source, _ in values})
        destinations = sorted({destination for _, destination in values})
        table = [[values.get((s, d), math.nan) for d in destinations] for s in sources]
        draw_ratios(axes, table, destinations, sources)
        axes.set_title(name, fontsize=10.5)
    everything = [value for values in by_size.values() for value in values.values()]
    low, high = min(everything, default=1), max(everything, default=1)
    headline(
        figure, f"{suite}: asterope at {low:.2f} to {high:.2f} x libc, wherever the buffers begin"
    )
    figure.supxlabel("destination: bytes past a cache line", fontsize=10.5)
    figure.supylabel("source: bytes past a cache line", fontsize=10.5)
    return Picture(
        name=f"grid-{file_name(suite)}",
        title=f"Suite {suite}",
        alt=f"A table in colours for each of {', '.join(by_size)}: how many times faster than libc "
        f"the routine is, by how far source and destination lie past a cache line: from {low:.2f} "
        f"to {high:.2f}.",
        caption=f"x libc; blue: faster than libc, red: slower. From {source}.",
        figure=figure,
        table=Table(
            "x libc: median (95 % interval), libc against libc", ["", "asterope", "noise"], rows
        ),
    )


def draw_ratios(
    axes: Axes,
    values: Sequence[Sequence[float]],
    columns: Sequence[object],
    rows: Sequence[object],
    framed: Sequence[int | None] = (),
) -> object:
    """A cell for each ratio, with its number: blue above 1, red below. `framed`: a column of each
    row that is to stand out. Returns what a colour bar needs."""
    image = heat_map(axes, values, columns, rows, cmap="RdBu", norm=LogNorm(0.5, 2), linewidth=1)
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            if math.isnan(value):
                continue
            stands_out = y < len(framed) and framed[y] == x
            axes.text(
                x + 0.5,
                y + 0.5,
                f"{value:.2f}",
                ha="center",
                va="center",
                fontsize=9,
                fontweight="bold" if stands_out else "normal",
                color="white" if abs(math.log2(value)) > 0.6 else INK,
            )
            if stands_out:
                for colour, width in (("white", 5), (INK, 2.4)):  # seen on dark and on light
                    axes.add_patch(
                        Rectangle((x, y), 1, 1, fill=False, edgecolor=colour, linewidth=width)
                    )
    axes.set_ylim(len(values), 0)  # the first row on top
    return image
