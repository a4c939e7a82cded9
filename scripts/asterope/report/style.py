"""The common style of all pictures: fonts, colours, axes over transfer sizes, labels that do not
collide."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from ..profile import Ratio
from ..render import human_size

# The colours are dark enough on white to be read as text. People who see no red and green can tell
# them apart (Okabe and Ito's, darkened).
INK, MUTED, GRID = "#1a1a1a", "#5c5c5c", "#dcdcdc"
OURS, OURS_TOO, LIBC = "#0057b7", "#0e8fc4", "#000000"
OTHERS = (
    "#b4530a",
    "#00795a",
    "#a3407f",
    "#8a6d00",
    "#6b4ba1",
    "#b3202c",
    "#3f7d20",
    "#7a5230",
    "#3d6b7d",
    "#96305a",
)
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
MARKERS = "osD^vPX<>*hp"

_SETTINGS = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same picture everywhere
    "font.size": 10.5,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "text.parse_math": False,  # names come from outside
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "svg.hashsalt": "asterope",
    "svg.fonttype": "path",  # no font needs to be there
    "path.simplify": False,
}


def set_up() -> None:
    """Makes pictures look the same under all matplotlib settings of the user."""
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(_SETTINGS)


@dataclass(frozen=True)
class Table:
    """The numbers behind a picture."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass
class Picture:
    """A figure with its words: `alt` for readers who cannot see it, `caption` for all readers."""

    name: str  # of the PNG file, without its ending
    title: str
    alt: str
    caption: str
    figure: Figure
    table: Table | None = None

    def rendered(self, form: str) -> bytes:
        """As svg or png. The same figure gives the same bytes, with one version of matplotlib."""
        unsaid = {"svg": ("Date", "Creator"), "png": ("Software",)}[form]
        file, metadata = io.BytesIO(), dict.fromkeys(unsaid)
        self.figure.savefig(file, format=form, dpi=150, metadata=metadata, facecolor="white")
        return file.getvalue()


def new_figure(width: float, height: float) -> Figure:
    """Sizes are in inches. It avoids pyplot, which keeps state and asks for a window system."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def headline(figure: Figure, text: str) -> None:
    """The title of the whole figure, above all its axes."""
    figure.suptitle(text, x=0.01, ha="left", fontsize=12, fontweight="bold")


def panels(
    count: int, most_columns: int, size: Callable[[int, int], tuple[float, float]], **options: Any
) -> tuple[Figure, Any, list[Axes]]:
    """Returns a figure with `count` axes, its rows of axes, and the same axes in a list. Left-over
    places of the rows are empty. `size`: the width and height by columns and rows."""
    columns = min(most_columns, max(1, count))
    rows = max(1, -(-count // columns))
    figure = new_figure(*size(columns, rows))
    grid = figure.subplots(rows, columns, squeeze=False, **options)
    for spare in grid.flat[count:]:
        spare.set_axis_off()
    return figure, grid, list(grid.flat[:count])


def row_axis(axes: Axes, names: Sequence[str]) -> None:
    """The y axis: a name for each row, the first one on top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def heat_map(
    axes: Axes,
    values: Sequence[Sequence[float]],
    columns: Sequence[object],
    rows: Sequence[object],
    **options: Any,
) -> object:
    """A coloured cell for each value, grey for NaN. The first row is at the bottom. Names stand in
    the middle of columns and rows. Returns the image that a colour bar needs."""
    axes.set_facecolor("#eeeeee")  # what was not timed
    image = axes.pcolormesh(values, edgecolors="white", **options)
    axes.set_xticks([i + 0.5 for i in range(len(columns))], columns)
    axes.set_yticks([i + 0.5 for i in range(len(rows))], rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return image


def bars_of(ratios: Iterable[Ratio]) -> list[list[float]]:
    """The intervals as errorbar() wants them: how far their ends are from the medians."""
    both = [(r.median - r.low, r.high - r.median) for r in ratios]
    return [[max(0, low) for low, _ in both], [max(0, high) for _, high in both]]


def interval_text(ratio: Ratio | None) -> str:
    """`1.31 (1.29..1.33)`."""
    return f"{ratio.median:.2f} ({ratio.low:.2f}..{ratio.high:.2f})" if ratio else "-"


def legend_of(all_axes: Iterable[Axes]) -> dict[str, Sequence[Any]]:
    """The options of a legend that names each thing once, though several axes may have it."""
    drawn = [axes.get_legend_handles_labels() for axes in all_axes]
    once = {label: handle for handles, labels in drawn for handle, label in zip(handles, labels)}
    return {"handles": [*once.values()], "labels": [*once]}


def legend_outside(figure: Figure, side: str, **options: Any) -> None:
    """A legend `below` all axes or to their `right`, for which a figure of `new_figure` makes room.
    A figure that is lower than its legend grows.

    It does the same as loc="outside lower center" and "outside right upper", which only matplotlib
    3.7 brought.
    """
    location = {"below": "lower center", "right": "upper right"}[side]
    legend = figure.legend(loc=location, frameon=False, **options)
    box = legend.get_window_extent(figure.canvas.get_renderer())
    figure.set_figheight(max(figure.get_figheight(), 0.2 + box.height / figure.dpi))
    top, left = box.y1 / figure.bbox.height, box.x0 / figure.bbox.width
    rest = {"below": (0, top, 1, 1 - top), "right": (0, 0, left, 1)}[side]
    figure.get_layout_engine().set(rect=rest)


def size_axis(axes: Axes, sizes: Sequence[int], label: bool = True) -> None:
    """The x axis: transfer sizes, doubling, written as people write them."""
    low, high = min(sizes), max(sizes)
    axes.set_xscale("log", base=2)
    axes.set_xlim(low / 1.15, high * 1.15)
    exponents = range((low - 1).bit_length(), high.bit_length())
    inches = axes.get_figure().get_size_inches()[0] * axes.get_position().width
    step = max(1, -(-len(exponents) // max(2, int(inches * 1.25))))
    axes.xaxis.set_major_locator(FixedLocator([1 << e for e in exponents[::step]]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: human_size(round(value))))
    axes.xaxis.set_minor_locator(FixedLocator([1 << e for e in exponents]))
    axes.xaxis.set_minor_formatter(NullFormatter())
    if label:
        axes.set_xlabel("transfer size (bytes of one call)")


def plain_log_axis(axis: Any, ticks: Sequence[float] | None = None) -> None:
    """A logarithmic axis with numbers instead of powers."""
    axis.set_major_locator(FixedLocator(ticks) if ticks else LogLocator(10, subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def mark_caches(axes: Axes, machine: Mapping[str, Any]) -> None:
    """A dotted line at each transfer size that is a cache's size."""
    low, high = axes.get_xlim()
    place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "rotation": 90}
    look = {"ha": "right", "va": "top", "fontsize": 8, "color": MUTED, **place}
    for name, size in cache_sizes(machine):
        if low < size < high:
            axes.axvline(size, color=MUTED, linewidth=1, linestyle=(0, (1, 2)), zorder=0.5)
            axes.annotate(f"{name} {human_size(size)}", (size, 1), (-3, -3), **look)


def cache_sizes(machine: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Name and bytes of the caches that hold data, nearest first. Only a profile's are checked."""
    caches = machine.get("caches")
    found: dict[str, int] = {}
    for cache in caches if isinstance(caches, list) else ():
        one = cache if isinstance(cache, dict) else {}
        level, size, kind = map(one.get, ("level", "bytes", "type"))
        if type(level) is int and type(size) is int and size > 0 and kind != "instruction":
            found.setdefault(f"L{level}", size)
    return sorted(found.items())
