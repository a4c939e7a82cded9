"""Pictures of a suite whose cells have labels instead of sizes: every copy's ratio to libc."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import geometric_mean

from matplotlib.axes import Axes

from . import style
from .copies import file_name, look, ratio_ticks
from .series import LIBC, ROUTINE, Cell
from .style import Picture, Table, interval_text

# A ratio below this is drawn here, at the left end.
LEFT_END = 0.2


def cells_picture(
    suite: str, cells: Sequence[Cell], peers: Sequence[str], source: str, is_rest: bool
) -> Picture:
    """A row for each cell: every copy's ratio to libc as a dot, the routine's with its interval.
    `is_rest`: the suite has charts of other cells."""
    figure = style.new_figure(10, 1.9 + 0.3 * len(cells))
    axes = figure.add_subplot()
    for y, cell in enumerate(cells):
        _draw_cell(axes, y, cell, peers)
    axes.axvline(1, color=style.LIBC, linewidth=1.2)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(min(0.85, max(low, LEFT_END * 0.93)), max(high, 1.15))
    style.plain_log_axis(axes.xaxis, ratio_ticks(*axes.get_xlim()))
    style.row_axis(axes, [cell_label(cell) for cell in cells])
    axes.set_xlabel("libc's time over that of the copy (log scale): right of 1 is faster than libc")
    axes.grid(True, axis="x")
    style.legend_outside(figure, "right", **style.legend_of([axes]), fontsize=9)
    ours = [cell["copies"][ROUTINE]["ratio"] for cell in cells if ROUTINE in cell["copies"]]
    ratios = [ratio.median for ratio in ours if ratio]
    finding = f"asterope at {geometric_mean(ratios):.2f} x libc" if ratios else "x libc"
    if len(ratios) > 1:
        finding += f" ({min(ratios):.2f} to {max(ratios):.2f})"
    shown = f"{suite}, other cells" if is_rest else suite
    axes.set_title(f"{shown}: {finding}")
    names = list(dict.fromkeys(name for cell in cells for name in cell["copies"] if name != LIBC))

    def row(cell: Cell) -> list[str]:
        libc = f"{cell['copies'][LIBC]['ns']:.4g}" if LIBC in cell["copies"] else "-"
        ratios = (cell["copies"].get(name, {}).get("ratio") for name in names)
        return [cell_label(cell), libc, *map(interval_text, (*ratios, cell["noise_floor"]))]

    return Picture(
        name=f"cells-{file_name(suite)}",
        title=f"Suite {shown}",
        alt=f"Dot chart of the suite {shown}: for each of {len(cells)} cells, how many times "
        f"faster than libc each of {', '.join(names)} is. {finding}.",
        caption="Bars: the routine's 95 % interval. Grey: libc against itself in the same rounds. "
        f"Copies slower than {LEFT_END} x libc stand at the left end. From {source}.",
        figure=figure,
        table=Table(
            "x libc: median (95 % interval)",
            ["cell", "libc ns/call", *names, "noise"],
            [row(cell) for cell in cells],
        ),
    )


def _draw_cell(axes: Axes, y: int, cell: Cell, peers: Sequence[str]) -> None:
    """A row of dots."""
    if y % 2 == 0:
        axes.axhspan(y - 0.5, y + 0.5, color="#f3f3f3", zorder=0)
    noise = cell["noise_floor"]
    axes.barh(
        y,
        noise.high - noise.low,
        left=noise.low,
        height=0.8,
        color="#bdbdbd",
        zorder=1,
        label="libc against libc (noise)",
    )
    for name, timing in cell["copies"].items():
        ratio, own, its = timing["ratio"], name == ROUTINE, look(name, peers)
        if ratio is None:
            continue
        axes.errorbar(
            max(LEFT_END, ratio.median),
            y,
            xerr=style.bars_of([ratio]) if own else None,
            color=its["color"],
            marker=its["marker"],
            markersize=8 if own else 5,
            elinewidth=2.2,
            linestyle="none",
            zorder=its["zorder"],
            alpha=1 if own else 0.85,
            label=name,
        )


def cell_label(cell: Cell) -> str:
    """As people would name the cell within its suite."""
    label, workload = cell["label"], cell["workload"]
    said = set(workload.split()) <= set(label.replace(",", " ").split())
    parts = [label] if said else [workload, label]
    if cell["weighting"]:
        parts.append(f"by {cell['weighting']}")
    if cell["threads"] > 1:
        parts.append(f"{cell['threads']} threads")
    return " ".join(parts)
