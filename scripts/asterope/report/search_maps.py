"""Pictures of the search: the winner's prefetch parameters, and the best of each kind of copy."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter

from ..profile import Profile
from ..render import human_size
from .sample_log import SampleLog
from .style import (
    INK,
    MUTED,
    Picture,
    Table,
    headline,
    heat_map,
    new_figure,
    panels,
    plain_log_axis,
)

# Slower than the winner by so many per cent: the darkest, and the end of the scale.
NEAR, FAR = 0.5, 50.0


@dataclass(frozen=True)
class SizeScores:
    """The findings of the search at one size: x libc by candidate, and the winner."""

    size: int
    scores: Mapping[str, float]
    leaders: Mapping[tuple[str, str], str]  # by register and store type, the best one's name
    winner: str
    chosen: bool  # by the profile; else it leads so far


def scored_sizes(log: SampleLog, profile: Profile | None) -> list[SizeScores]:
    """All sizes of which the log has a leader, ascending. The winner is the profile's, if the log
    knows that one, else the leader."""
    of_profile = {one.size: one.copy.name for one in profile.of("pipelines")} if profile else {}
    found = []
    for size, at_size in log.sizes.items():
        scores = at_size.scores(log.weights)
        kinds: dict[tuple[str, str], list[str]] = {}
        for name in scores:
            kinds.setdefault((log.tuples[name].rt, log.tuples[name].st), []).append(name)
        leaders = {
            kind: leader
            for kind, names in kinds.items()
            if (leader := at_size.leader(log.weights, names)) is not None
        }
        winner, leader = of_profile.get(size), at_size.leader(log.weights)
        chosen = winner in scores
        name = winner if chosen else leader
        if name is not None:
            leaders[log.tuples[name].rt, log.tuples[name].st] = name
            found.append(SizeScores(size, scores, leaders, name, chosen))
    return found


# --- PS x PD --------------------------------------------------------------------------------------


def plane_of(
    tuples: Mapping[str, Any], of_size: SizeScores
) -> tuple[Any, dict[tuple[int, int], str]] | None:
    """A base, and the names of all candidates that differ from it by ps and pd alone.

    The base is the winner. If that does not prefetch, it is the best candidate that does, with the
    winner's registers if such were timed. None if no candidate prefetches. The names are by
    prefetch size and distance (ps, pd).
    """
    base = tuples[of_size.winner]
    if base.pt == "none":
        prefetching = [name for name in of_size.scores if tuples[name].pt != "none"]
        alike = [n for n in prefetching if _registers(tuples[n]) == _registers(base)]
        name = max(alike or prefetching, key=lambda n: (of_size.scores[n], n), default=None)
        if name is None:
            return None
        base = tuples[name]
    plane = {
        (t.ps, t.pd): name
        for name in of_size.scores
        if replace(t := tuples[name], ps=base.ps, pd=base.pd) == base
    }
    return base, plane


def _registers(t: Any) -> tuple[str, str, str]:
    return t.rt, t.lt, t.st


def family_name(t: Any) -> str:
    """The tuple without prefetch size and distance: `YMM T NT T0`, and the axes that the paper
    lacks."""
    words = t.name.split()
    return " ".join(words[:4] + words[6:])


def _family_words(t: Any) -> str:
    """The same for people: `YMM, plain loads, non-temporal stores, prefetch T0`."""
    kinds = {"T": "plain", "NT": "non-temporal"}
    words = [t.rt, f"{kinds[t.lt]} loads", f"{kinds[t.st]} stores"]
    return ", ".join([*words, f"prefetch {t.pt}", *t.name.split()[6:]])


def planes_picture(log: SampleLog, sizes: Sequence[SizeScores]) -> Picture | None:
    """A panel a size: how much slower than the winner each prefetch size and distance is."""
    drawn = [(s, plane) for s in sizes if (plane := plane_of(log.tuples, s)) and len(plane[1]) > 1]
    if not drawn:
        return None
    figure, grid, all_axes = panels(
        len(drawn), 3, lambda columns, rows: (max(8, 3.8 * columns + 0.4), 2.35 * rows + 1.5)
    )
    image = None
    table_rows = []
    for axes, (of_size, (base, plane)) in zip(all_axes, drawn):
        image = _draw_plane(axes, log, of_size, base, plane)
        ranked = sorted(plane.values(), key=lambda name: -of_size.scores[name])
        row = [human_size(of_size.size), of_size.winner, family_name(base), f"{len(plane)}"]
        for name in (ranked[0], ranked[-1]):
            row += [name, f"{_slower(of_size, name):+.1f} %"]
        table_rows.append(row)
    headline(figure, "Prefetch size and distance: dark is as fast as the winner (red frame)")
    figure.supxlabel("prefetch distance PD (cache lines ahead)", fontsize=10.5)
    figure.supylabel("prefetch size PS (cache lines)", fontsize=10.5)
    bar = figure.colorbar(
        image, ax=grid, location="top", shrink=0.6, aspect=40, pad=0.01 if len(grid) > 3 else 0.04
    )
    plain_log_axis(bar.ax.xaxis, [NEAR, 1, 2, 5, 10, 20, FAR])
    bar.ax.xaxis.set_major_formatter(FuncFormatter(_per_cent))
    bar.set_label("slower than the winner of that size")
    leads = "the winner" if all(s.chosen for s in sizes) else "the leader so far"
    return Picture(
        name="search-prefetch",
        title="Prefetch size and distance",
        alt=f"A heat map for each of {len(drawn)} transfer sizes: prefetch size by prefetch "
        "distance, coloured by how much slower than the winner that copy is. The table below has "
        "the best and the worst of each.",
        caption=f"A panel a size, with the other parameters of {leads} (RT LT ST PT). Dark: as "
        "fast as the winner; light: half as much time again or more. Red frame: the winner. Grey: "
        "not timed. If the winner does not prefetch, the panel has the best that does. The figures "
        "are medians of all samples in the sample log, each against libc's in its round.",
        figure=figure,
        table=Table(
            "The best and the worst of each panel, and how much more time they take than the "
            "winner (copies that were timed seldom may seem faster)",
            ["size", "winner", "panel", "timed", "best", "", "worst", ""],
            table_rows,
        ),
    )


def _slower(of_size: SizeScores, name: str) -> float:
    """How many per cent it is slower than the winner."""
    return 100 * (of_size.scores[of_size.winner] / of_size.scores[name] - 1)


def _draw_plane(
    axes: Axes, log: SampleLog, of_size: SizeScores, base: Any, plane: Mapping[tuple[int, int], str]
) -> object:
    """The panel of one size. Returns the image that a colour bar needs."""
    winner = log.tuples[of_size.winner]
    distances = list(log.pipelines.VALUES["pd"])
    possible = {
        ps
        for ps in log.pipelines.VALUES["ps"]
        if log.pipelines.why_not(**{**asdict(base), "ps": ps}) is None
    }
    ps_values = sorted(possible | {ps for ps, _ in plane})
    values = [[math.nan] * len(distances) for _ in ps_values]
    for (ps, pd), name in plane.items():
        shown = min(FAR, max(NEAR, _slower(of_size, name)))
        values[ps_values.index(ps)][distances.index(pd)] = shown
    step = 2 if len(ps_values) > 4 else 1
    columns = ["" if i % 5 else pd for i, pd in enumerate(distances)]
    rows = ["" if i % step else ps for i, ps in enumerate(ps_values)]
    norm = LogNorm(NEAR, FAR)
    image = heat_map(axes, values, columns, rows, cmap="viridis", norm=norm, linewidth=0.4)
    own = plane.get((winner.ps, winner.pd)) == of_size.winner
    if own:
        corner = distances.index(winner.pd), ps_values.index(winner.ps)
        axes.add_patch(
            Rectangle(corner, 1, 1, fill=False, edgecolor="#e8000b", linewidth=2.2, zorder=5)
        )
    note = "" if own else " (the winner does not prefetch)"
    title = f"{human_size(of_size.size)}: {_family_words(base)}{note}"
    title = textwrap.fill(title, 38, break_on_hyphens=False)
    axes.set_title(title, fontsize=9.5, color=INK)
    return image


def _per_cent(value: float, _position: int) -> str:
    sign = "≤" if value == NEAR else "≥" if value == FAR else ""
    return f"{sign}{value:g} %"


# --- RT x ST --------------------------------------------------------------------------------------


def families_picture(log: SampleLog, sizes: Sequence[SizeScores]) -> Picture | None:
    """A row a size, a column for each register and store type: the best of these, x libc."""
    if not sizes:
        return None
    timed = {(t.rt, t.st) for t in log.tuples.values()}
    possible = product(*(log.pipelines.VALUES[axis] for axis in ("rt", "st")))
    columns = [kind for kind in possible if kind in timed]
    values = [
        [s.scores[s.leaders[kind]] if kind in s.leaders else math.nan for kind in columns]
        for s in sizes
    ]
    figure = new_figure(max(8, 1.6 + 0.78 * len(columns)), 2.2 + 0.33 * len(sizes))
    axes = figure.add_subplot()
    names = [
        f"{rt.replace('_', chr(10))}\n{'non-temp.' if st == 'NT' else 'plain'}"
        for rt, st in columns
    ]
    winners = [log.tuples[s.winner] for s in sizes]
    framed = [columns.index((w.rt, w.st)) for w in winners]
    image = _draw_ratios(axes, values, names, [human_size(s.size) for s in sizes], framed)
    axes.set_ylabel("transfer size")
    axes.xaxis.tick_top()
    axes.tick_params(axis="x", length=0, labelsize=8.5)
    axes.set_xlabel("register type; below it: plain (T) or non-temporal (NT) stores")
    axes.xaxis.set_label_position("bottom")
    axes.set_title("libc's time over that of the best copy of each kind (framed: the winner)")
    bar = figure.colorbar(image, ax=axes, location="right", aspect=30, pad=0.02)
    plain_log_axis(bar.ax.yaxis, [0.5, 0.7, 1, 1.4, 2])
    bar.set_label("libc's time over the copy's", color=MUTED)
    return Picture(
        name="search-registers",
        title="Registers and stores",
        alt=f"A table in colours: for {len(sizes)} transfer sizes, how many times faster than libc "
        "the best copy of each register and store type is. The winners are framed; the table below "
        "names them.",
        caption="Blue: faster than libc; red: slower; framed: the winner. Each figure, x libc, is "
        "of one copy: the best among the most-timed ones of its kind. It is the geometric mean "
        f"over {', '.join(log.weights)} of the medians of all its samples. Kinds that were dropped "
        "early have few samples, and rough figures.",
        figure=figure,
        table=Table(
            "The best of each kind: RT LT ST PT PS PD, x libc",
            ["size", *(f"{rt} {st}" for rt, st in columns)],
            [
                [
                    human_size(s.size),
                    *(
                        f"{s.leaders[kind]}: {s.scores[s.leaders[kind]]:.2f}"
                        if kind in s.leaders
                        else "-"
                        for kind in columns
                    ),
                ]
                for s in sizes
            ],
        ),
    )


def _draw_ratios(
    axes: Axes,
    values: Sequence[Sequence[float]],
    columns: Sequence[object],
    rows: Sequence[object],
    framed: Sequence[int],
) -> object:
    """A cell for each ratio, with its number: blue above 1, red below. `framed`: the column of each
    row that stands out. Returns the image that a colour bar needs."""
    image = heat_map(axes, values, columns, rows, cmap="RdBu", norm=LogNorm(0.5, 2), linewidth=1)
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            if math.isnan(value):
                continue
            stands_out = framed[y] == x
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
