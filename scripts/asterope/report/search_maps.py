"""Pictures of the search: the winner's prefetch parameters, and the best of each kind of copy."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby, product
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter

from ..profile import Profile
from ..render import human_size
from . import style
from .sample_log import SCREENING_SHARE, SampleLog, leader, scores, weights_at
from .style import INK, Picture, Table

# Slower than the winner by so many per cent: the darkest, and the end of the scale.
NEAR, FAR = 0.5, 50.0


@dataclass(frozen=True)
class SizeScores:
    """The findings of the search at one size: x libc by candidate, and the winner."""

    size: int
    scores: Mapping[str, float]
    workloads: tuple[str, ...]  # that the scores weigh
    leaders: Mapping[tuple[str, str], str]  # by register and store type, the best one's name
    winner: str
    chosen: bool  # by the profile; else it leads so far

    def slower(self, name: str) -> float:
        """How many per cent a candidate is slower than the winner."""
        return 100 * (self.scores[self.winner] / self.scores[name] - 1)


def scored_sizes(log: SampleLog, profile: Profile | None) -> list[SizeScores]:
    """All sizes of which the log has a leader, ascending. The winner is the profile's, if the log
    knows that one, else the leader."""
    of_profile = {one.size: one.copy.name for one in profile.of("pipelines")} if profile else {}
    found = []
    for size, samples in log.sizes.items():
        weights = weights_at(samples, log.weights, SCREENING_SHARE)
        at_size = scores(samples, weights)
        kinds: dict[tuple[str, str], list[str]] = {}
        for name in at_size:
            kinds.setdefault(_kind(log.tuples[name]), []).append(name)
        leaders = {
            kind: best
            for kind, names in kinds.items()
            if (best := leader(samples, weights, names)) is not None
        }
        chosen = of_profile.get(size) in at_size
        of_log = leader(samples, weights_at(samples, log.weights)) or leader(samples, weights)
        winner = of_profile[size] if chosen else of_log
        if winner is not None:
            leaders[_kind(log.tuples[winner])] = winner
            found.append(SizeScores(size, at_size, tuple(weights), leaders, winner, chosen))
    return found


def _kind(t: Any) -> tuple[str, str]:
    return t.rt, t.st


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
    figure, grid, all_axes = style.panels(
        len(drawn), 3, lambda columns, rows: (max(8, 3.8 * columns + 0.4), 2.35 * rows + 1.5)
    )
    image = None
    table_rows = []
    for axes, (of_size, (base, plane)) in zip(all_axes, drawn):
        image = _draw_plane(axes, log, of_size, base, plane)
        ranked = sorted(plane.values(), key=lambda name: -of_size.scores[name])
        row = [human_size(of_size.size), of_size.winner, family_name(base), f"{len(plane)}"]
        for name in (ranked[0], ranked[-1]):
            row += [name, f"{of_size.slower(name):+.1f} %"]
        table_rows.append(row)
    style.headline(figure, "Prefetch size and distance: dark is as fast as the winner (red frame)")
    figure.supxlabel("prefetch distance PD (cache lines ahead)", fontsize=10.5)
    figure.supylabel("prefetch size PS (cache lines)", fontsize=10.5)
    bar = figure.colorbar(
        image, ax=grid, location="top", shrink=0.6, aspect=40, pad=0.01 if len(grid) > 3 else 0.04
    )
    style.plain_log_axis(bar.ax.xaxis, [NEAR, 1, 2, 5, 10, 20, FAR])
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


def _draw_plane(
    axes: Axes, log: SampleLog, of_size: SizeScores, base: Any, plane: Mapping[tuple[int, int], str]
) -> object:
    """The panel of one size. Returns the image that a colour bar needs."""
    winner, space = log.tuples[of_size.winner], log.pipelines
    distances = list(space.VALUES["pd"])
    possible = [
        ps for ps in space.VALUES["ps"] if space.why_not(**{**asdict(base), "ps": ps}) is None
    ]
    ps_values = sorted({*possible, *(ps for ps, _ in plane)})
    values = [[math.nan] * len(distances) for _ in ps_values]
    for (ps, pd), name in plane.items():
        shown = min(FAR, max(NEAR, of_size.slower(name)))
        values[ps_values.index(ps)][distances.index(pd)] = shown
    step = 2 if len(ps_values) > 4 else 1
    columns = ["" if i % 5 else pd for i, pd in enumerate(distances)]
    rows = ["" if i % step else ps for i, ps in enumerate(ps_values)]
    norm = LogNorm(NEAR, FAR)
    image = style.heat_map(axes, values, columns, rows, cmap="viridis", norm=norm, linewidth=0.4)
    note = " (the winner does not prefetch)"
    if plane.get((winner.ps, winner.pd)) == of_size.winner:
        at, note = (distances.index(winner.pd), ps_values.index(winner.ps)), ""
        _frame(axes, *at, edgecolor="#e8000b", linewidth=2.2, zorder=5)
    title = f"{human_size(of_size.size)}: {_family_words(base)}{note}"
    axes.set_title(textwrap.fill(title, 38, break_on_hyphens=False), fontsize=9.5, color=INK)
    return image


def _frame(axes: Axes, x: int, y: int, **look: Any) -> None:
    """Frames a cell of a heat map."""
    axes.add_patch(Rectangle((x, y), 1, 1, fill=False, **look))


def _per_cent(value: float, _position: int) -> str:
    sign = "≤" if value == NEAR else "≥" if value == FAR else ""
    return f"{sign}{value:g} %"


# --- RT x ST --------------------------------------------------------------------------------------


def families_picture(log: SampleLog, sizes: Sequence[SizeScores]) -> Picture | None:
    """A row a size, a column for each register and store type: the best of these, x libc."""
    if not sizes:
        return None
    timed = {_kind(t) for t in log.tuples.values()}
    kinds = [
        k for k in product(*(log.pipelines.VALUES[axis] for axis in ("rt", "st"))) if k in timed
    ]
    figure = style.new_figure(max(8, 1.6 + 0.78 * len(kinds)), 2.2 + 0.33 * len(sizes))
    axes = figure.add_subplot()
    image = _draw_families(axes, log, sizes, kinds)
    axes.set_ylabel("transfer size")
    axes.xaxis.tick_top()
    axes.tick_params(axis="x", length=0, labelsize=8.5)
    axes.set_xlabel("register type; below it: plain (T) or non-temporal (NT) stores")
    axes.xaxis.set_label_position("bottom")
    axes.set_title("libc's time over that of the best copy of each kind (framed: the winner)")
    bar = figure.colorbar(image, ax=axes, location="right", aspect=30, pad=0.02)
    style.plain_log_axis(bar.ax.yaxis, [0.5, 0.7, 1, 1.4, 2])
    bar.set_label("libc's time over the copy's", color=style.MUTED)

    def cell(s: SizeScores, kind: tuple[str, str]) -> str:
        return f"{s.leaders[kind]}: {s.scores[s.leaders[kind]]:.2f}" if kind in s.leaders else "-"

    return Picture(
        name="search-registers",
        title="Registers and stores",
        alt=f"A table in colours: for {len(sizes)} transfer sizes, how many times faster than libc "
        "the best copy of each register and store type is. The winners are framed; the table below "
        "names them.",
        caption="Blue: faster than libc; red: slower; framed: the winner. Each figure, x libc, is "
        "of one copy: the best among the most-timed ones of its kind. It is the geometric mean "
        f"over {_workload_words(sizes)} of the medians of all its samples. The winner was chosen "
        "under all workloads that count. Kinds that were dropped early have few samples, and rough "
        "figures.",
        figure=figure,
        table=Table(
            "The best of each kind: RT LT ST PT PS PD, x libc",
            ["size", *map(" ".join, kinds)],
            [[human_size(s.size), *(cell(s, kind) for kind in kinds)] for s in sizes],
        ),
    )


def _workload_words(sizes: Sequence[SizeScores]) -> str:
    """The workloads that scores weigh; with the sizes, if these differ."""
    groups = [(names, [*own]) for names, own in groupby(sizes, lambda s: s.workloads)]
    told = [", ".join(names) for names, _ in groups]
    if len(groups) > 1:
        ends = [(human_size(own[0].size), human_size(own[-1].size)) for _, own in groups]
        told = [f"{one} ({' to '.join(dict.fromkeys(end))})" for one, end in zip(told, ends)]
    return "; ".join(told)


def _draw_families(
    axes: Axes, log: SampleLog, sizes: Sequence[SizeScores], kinds: Sequence[tuple[str, str]]
) -> object:
    """A cell for each ratio, with its number: blue above 1, red below. Returns the image that a
    colour bar needs."""
    values = [
        [s.scores[s.leaders[kind]] if kind in s.leaders else math.nan for kind in kinds]
        for s in sizes
    ]
    columns = [
        f"{rt.replace('_', chr(10))}\n{'non-temp.' if st == 'NT' else 'plain'}" for rt, st in kinds
    ]
    rows, norm = [human_size(s.size) for s in sizes], LogNorm(0.5, 2)
    image = style.heat_map(axes, values, columns, rows, cmap="RdBu", norm=norm, linewidth=1)
    for (y, s), (x, kind) in product(enumerate(sizes), enumerate(kinds)):
        if math.isnan(values[y][x]):
            continue
        stands_out = kind == _kind(log.tuples[s.winner])
        axes.text(
            x + 0.5,
            y + 0.5,
            f"{values[y][x]:.2f}",
            ha="center",
            va="center",
            fontsize=9,
            fontweight="bold" if stands_out else "normal",
            color="white" if abs(math.log2(values[y][x])) > 0.6 else INK,
        )
        for colour, width in (("white", 5), (INK, 2.4)) if stands_out else ():
            _frame(axes, x, y, edgecolor=colour, linewidth=width)  # seen on dark and on light
    axes.set_ylim(len(values), 0)  # the first row on top
    return image
