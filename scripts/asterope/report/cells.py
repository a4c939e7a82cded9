"""Pictures of a suite whose cells have labels instead of sizes: every copy's ratio to libc."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import geometric_mean

from matplotlib.axes import Axes

from .bench import LIBC, ROUTINE, Cell
from .copies import file_name, look, ratio_ticks
from .style import LIBC as LIBC_COLOUR
from .style import (
    Picture,
    Table,
    bars_of,
    interval_text,
    legend_outside,
    new_figure,
    plain_log_axis,
    row_axis,
)

# A ratio below this is drawn here, at the left end.
LEFT_END = 0.2


def cells_picture(suite: str, cells: Sequence[Cell], peers: Sequence[str], source: str) -> Picture:
    """A row for each cell: every copy's ratio to libc as a dot, the routine's with its interval."""
    rows = [(cell_label(cell), cell) for cell in cells]
    figure = new_figure(10, 1.9 + 0.3 * len(rows))
    axes = figure.add_subplot()
    for y, (_, cell) in enumerate(rows):
        _draw_cell(axes, y, cell, peers)
    axes.axvline(1, color=LIBC_COLOUR, linewidth=1.2)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(min(0.85, max(low, LEFT_END * 0.93)), max(high, 1.15))
    plain_log_axis(axes.xaxis, ratio_ticks(*axes.get_xlim()))
    row_axis(axes, [label for label, _ in rows])
    axes.set_xlabel("libc's time over that of the copy (log scale): right of 1 is faster than libc")
    axes.grid(True, axis="x")
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles))  # each row has all of them
    legend_outside(figure, "right", handles=[*once.values()], labels=[*once], fontsize=9)
    ratios = [t.ratio.median for _, c in rows if (t := c.copies.get(ROUTINE)) and t.ratio]
    finding = (
        f"asterope at {geometric_mean(ratios):.2f} x libc ({min(ratios):.2f} to {max(ratios):.2f})"
        if ratios
        else "x libc"
    )
    axes.set_title(f"{suite}: {finding}")
    names = list(dict.fromkeys(name for cell in cells for name in cell.copies if name != LIBC))
    return Picture(
        name=f"cells-{file_name(suite)}",
        title=f"Suite {suite}",
        alt=f"Dot chart of the suite {suite}: for each of {len(rows)} cells, how many times "
        f"faster than libc each of {', '.join(names)} is. {finding}.",
        caption="Bars: the routine's 95 % interval. Grey: libc against itself in the same rounds. "
        f"Copies slower than {LEFT_END} x libc stand at the left end. From {source}.",
        figure=figure,
        table=Table(
            "x libc: median (95 % interval)",
            ["cell", "libc ns/call", *names, "noise"],
            [
                [
                    label,
                    f"{cell.copies[LIBC].ns:.4g}" if LIBC in cell.copies else "-",
                    *(interval_text(t.ratio) if (t := cell.copies.get(n)) else "-" for n in names),
                    interval_text(cell.noise_floor),
                ]
                for label, cell in rows
            ],
        ),
    )


def _draw_cell(axes: Axes, y: int, cell: Cell, peers: Sequence[str]) -> None:
    """A row of dots."""
    if y % 2 == 0:
        axes.axhspan(y - 0.5, y + 0.5, color="#f3f3f3", zorder=0)
    axes.barh(
        y,
        cell.noise_floor.high - cell.noise_floor.low,
        left=cell.noise_floor.low,
        height=0.8,
        color="#bdbdbd",
        zorder=1,
        label="libc against libc (noise)",
    )
    for name, timing in cell.copies.items():
        if timing.ratio is None:
            continue
        style = look(name, peers)
        own = name == ROUTINE
        axes.errorbar(
            max(LEFT_END, timing.ratio.median),
            y,
            xerr=bars_of([timing.ratio]) if own else None,
            color=style["color"],
            marker=style["marker"],
            markersize=8 if own else 5,
            elinewidth=2.2,
            linestyle="none",
            zorder=style["zorder"],
            alpha=1 if own else 0.85,
            label=name,
        )


def cell_label(cell: Cell) -> str:
    """As people would name the cell within its suite."""
    parts = [cell.workload, cell.label]
    if cell.weighting:
        parts.append(f"by {cell.weighting}")
    if cell.threads > 1:
        parts.append(f"{cell.threads} threads")
    return " ".join(dict.fromkeys(parts))
