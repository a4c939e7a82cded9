"""The picture of the profile's choices: the copy or set of each transfer size."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from .. import spaces
from ..profile import Choice, Profile
from ..render import human_size
from ..spaces.kinds import MEMCPY
from ..spaces.probes import SensingCopy
from . import style
from .style import INK, Picture, Table

# The colours of register types, in the order of the axes: as many as any architecture has.
COLOURS = (
    *("#c9c9c9", "#9c9c9c", "#e8c4a0", "#f0d860", "#8fd0a8", "#8ec1ec", "#c3a6e0", "#f2a3b3"),
    *("#b5b87a", "#7fb3b0", "#d98c6a"),
)
SMALL = "#f4f4f4"
STREAM_HATCH = "////"


class _Strip(NamedTuple):
    """An entry point's sizes: (above, up to, pipeline), neighbours with one pipeline joined."""

    label: str
    bars: Sequence[tuple[int, int, Any]]
    small: Choice | None


class _Bar(NamedTuple):
    """Some sizes of a row, drawn. `streams`: with non-temporal stores."""

    above: int
    up_to: int
    colour: str
    words: str
    streams: bool = False


def intervals_picture(profile: Profile) -> Picture:
    """A strip for each entry point and way of copying, over the transfer sizes."""
    strips, pipelines = _strips(profile), profile.of("pipelines")
    count = sum(len(strip.bars) for strip in strips)
    tuples = {t for strip in strips for *_, t in strip.bars}
    colours = _colours(profile.architecture)
    figure = style.new_figure(11, 1.9 + 0.7 * len(strips))
    axes = figure.add_subplot()
    rows = [*_rows(profile, strips, colours)]
    for y, (_, bars) in enumerate(rows):
        for bar in bars:
            if bar.up_to > bar.above:
                _draw(axes, y, bar)
    style.size_axis(axes, [1, pipelines[-1].up_to])
    style.row_axis(axes, [label for label, _ in rows])
    axes.set_ylim(top=-1.6)
    axes.spines["left"].set_visible(False)
    style.mark_caches(axes, profile.machine)
    axes.set_title(
        f"Which copy does which sizes: {count} intervals, {len(tuples)} different pipelines"
    )
    drawn = {bar.colour for _, bars in rows for bar in bars if bar.up_to > bar.above}
    used = [rt for rt in colours if colours[rt] in drawn]
    patches = [Patch(facecolor=colours[rt], edgecolor=INK, label=rt) for rt in used]
    streams = {"hatch": STREAM_HATCH, "label": "non-temporal stores"}
    patches.append(Patch(facecolor="white", edgecolor=INK, **streams))
    style.legend_outside(figure, "below", handles=patches, ncols=len(patches), fontsize=9)
    told = (
        f"{label}: " + ", ".join(f"up to {human_size(up_to)} {t.name}" for _, up_to, t in bars)
        for label, bars, _ in strips
    )
    return Picture(
        name="intervals",
        title="The intervals",
        alt=f"Strips over the transfer sizes, coloured by register type: {'; '.join(told)}.",
        caption="Colour: the register that carries the data; hatched: non-temporal stores. A copy "
        "that senses takes one of its pipelines, after timing a few loads. Beyond the last size "
        "its winner goes on.",
        figure=figure,
        table=_table(profile),
    )


def _colours(architecture: str) -> dict[str, str]:
    """Colours by register type, in the order of the axes: first those of copies."""
    here = spaces.of(architecture)
    values = [space.AXES[0].values for space in (here.pipelines, here.set_pipelines)]
    return dict(zip(dict.fromkeys(itertools.chain(*values)), COLOURS))


def _rows(
    profile: Profile, strips: Sequence[_Strip], colours: Mapping[str, str]
) -> Iterator[tuple[str, list[_Bar]]]:
    """The label and the bars of each row, downwards: small, aliased and overlapping copies too."""
    small = profile.the("small")
    bound = small.up_to if small else 0
    for label, intervals, own in strips:
        bars, below = [], 1
        if own:
            s, below = own.copy, own.copy.bound
            words = f"small {'copies' if s.loads else 'sets'}:\n{s.shape} {s.rt}"
            bars.append(_Bar(1, below, SMALL, words))
        bars += [
            _Bar(max(above, below), up_to, colours[t.rt], t.rt, t.st == "NT")
            for above, up_to, t in intervals
        ]
        yield label, bars
    if alias := profile.the("aliased"):
        a, above = alias.copy, max(alias.above, bound)
        bars = [_Bar(above, alias.up_to, colours[a.rt], f"{a.rt}\n{human_size(a.block)}")]
        yield "buffers that alias\n(modulo 4096)", bars
    if overlapping := profile.the("overlapping"):
        o, last = overlapping.copy, profile.of("pipelines")[-1].up_to
        bars = [_Bar(max(bound, 1), last, colours[o.rt], f"{o.rt}, {o.block} bytes a turn")]
        yield "buffers that overlap", bars


def _strips(profile: Profile) -> list[_Strip]:
    """A strip for each function. One that senses has a strip for each thing that it may find."""
    strips = []
    pipelines = [one for one in profile.choices if one.kind == "pipelines"]
    functions = dict.fromkeys((one.operation, one.intent) for one in pipelines)
    for operation, intent in sorted(functions, key=lambda function: function[0]):
        choices = profile.of("pipelines", operation, intent)
        name = f"asterope_{operation}" + (f"_{intent}" if intent else "")
        senses = [one.sensing for one in choices if one.sensing]
        ways: dict[str | None, str] = {None: name}
        if senses:
            ways = {"hot": f"{name},\nif it senses “cached”"}
            if any(copy.fetch for copy in senses):
                ways["fetch"] = f"{name},\nif only the destination\nis “cached”"
            if any(copy.produce for copy in senses):
                ways["produce"] = f"{name},\nif only the source\nis “cached”"
            also = ",\nand the call site wants that" if operation != MEMCPY else ""
            ways["cold"] = f"{name},\nif it senses “uncached”{also}"
        own = profile.of("small", operation, intent)
        small = own[0] if own else profile.the("small", operation)
        bound = small.copy.bound if small else 0
        for way, label in ways.items():
            bars = [bar for bar in _joined(choices, way) if bar[1] > bound]
            strips.append(_Strip(label, bars, small))
    return strips


def _joined(choices: Sequence[Choice], sensed: str | None) -> list[tuple[int, int, Any]]:
    bars: list[tuple[int, int, Any]] = []
    for one in choices:
        copy = one.copy
        if sensed and one.sensing:
            ways = dict(one.sensing.pipelines)
            copy = ways.get(sensed) or ways["hot" if sensed == "produce" else "cold"]
        above = bars.pop()[0] if bars and bars[-1][2] == copy else one.above
        bars.append((above, one.up_to, copy))
    return bars


def _draw(axes: Axes, y: float, bar: _Bar) -> None:
    above, up_to, colour, words, streams = bar
    look = {"height": 0.72, "color": colour, "edgecolor": INK, "linewidth": 0.7}
    axes.barh(y, up_to - above, left=above, hatch=STREAM_HATCH if streams else None, **look)
    # if a bar has no room for its name, the legend has it, by its colour
    if math.log2(up_to / above) >= 0.2 * max(map(len, words.split("\n"))):
        box = {"facecolor": colour, "edgecolor": "none", "pad": 1} if streams else None
        look = {"ha": "center", "va": "center", "fontsize": 8, "color": INK, "clip_on": True}
        axes.text((above * up_to) ** 0.5, y, words, bbox=box, **look)


def _sensing_words(copy: SensingCopy) -> str:
    fetch = f", or {copy.fetch.name} where the destination is not" if copy.fetch else ""
    probe = f"{copy.probe.name} > {copy.threshold}"
    produce = f", or {copy.produce.name} where the source alone is" if copy.produce else ""
    return f"{probe}: {copy.cold.name}{fetch}{produce}, else {copy.hot.name}"


def _table(profile: Profile) -> Table:
    rows = []
    for choice in profile.choices:
        small = profile.the("small", choice.operation)
        of_small = small is not None and choice.up_to <= small.up_to
        if choice.kind != "pipelines" or choice.intent or of_small:
            continue
        ratio, rate, proof = map(choice.evidence.get, ("ratio", "gb_per_s", "proof"))
        function = "" if choice.operation == MEMCPY else f"{choice.operation} "
        rows.append(
            [
                f"{function}{human_size(choice.up_to)}",
                choice.copy.name,
                _sensing_words(choice.sensing) if choice.sensing else "-",
                f"{ratio:.2f}" if ratio is not None else "-",
                f"{rate:.3g}" if rate else "-",
                "{median:.3f} ({low:.3f}..{high:.3f})".format(**proof["lead"]) if proof else "-",
                f"{len(proof['ties'])}" if proof else "-",
                f"{proof['samples']}" if proof else "-",
            ]
        )
    return Table(
        "The intervals: the winner (RT LT ST PT PS PD; of memset RT ST), the copy that senses, and "
        "the most gigabytes a second under any workload. The lead is the runner-up's time over the "
        "winner's. Ties are others that are as good within the noise, or better",
        [
            *("up to", "winner", "senses: probe > ticks: uncached", "x libc", "GB/s"),
            *("lead", "ties", "samples"),
        ],
        rows,
    )
