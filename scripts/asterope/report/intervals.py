"""The picture of the profile's choice: which copy does which transfer sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from ..profile import Interval, Profile
from ..render import human_size
from ..spaces import pipelines
from ..spaces.x86_64.probes import SensingCopy
from .style import INK, Picture, Table, legend_outside, mark_caches, new_figure, size_axis

COLOURS = {
    "REP_MOVSB": "#c9c9c9",
    "REP_MOVSQ": "#9c9c9c",
    "R64": "#e8c4a0",
    "MM": "#f0d860",
    "XMM": "#8fd0a8",
    "YMM": "#8ec1ec",
    "ZMM": "#c3a6e0",
    "MOVDIR64B": "#f2a3b3",
}
SMALL, ALIASED = "#f4f4f4", "#ffd9b3"
STREAM_HATCH = "////"


def intervals_picture(profile: Profile) -> Picture:
    """A strip for each entry point and way of copying, over the transfer sizes."""
    strips = _strips(profile)
    figure = new_figure(11, 1.9 + 0.62 * len(strips))
    axes = figure.add_subplot()
    labels = _draw_strips(axes, profile, strips)
    size_axis(axes, [1, profile.intervals[-1].up_to])
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -1.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    mark_caches(axes, profile.machine)
    axes.set_title(
        f"Which copy does which sizes: {len(profile.intervals)} intervals, "
        f"{len({t for _, bars in strips for *_, t in bars})} different pipelines"
    )
    used = [rt for rt in COLOURS if any(t.rt == rt for _, bars in strips for *_, t in bars)]
    legend_outside(
        figure,
        "below",
        handles=[
            *(Patch(facecolor=COLOURS[rt], edgecolor=INK, label=rt) for rt in used),
            Patch(
                facecolor="white", edgecolor=INK, hatch=STREAM_HATCH, label="non-temporal stores"
            ),
        ],
        ncols=len(used) + 1,
        fontsize=9,
    )
    return Picture(
        name="intervals",
        title="The intervals",
        alt="Strips over the transfer sizes, coloured by register type: "
        + "; ".join(
            f"{label}: " + ", ".join(f"up to {human_size(up_to)} {t.name}" for _, up_to, t in bars)
            for label, bars in strips
        )
        + ".",
        caption="Colour: the register that carries the data; hatched: non-temporal stores. A copy "
        "that senses takes one of its pipelines, after timing a few loads. Beyond the last size "
        "its winner goes on.",
        figure=figure,
        table=_table(profile),
    )


def _draw_strips(
    axes: Axes,
    profile: Profile,
    strips: Sequence[tuple[str, list[tuple[int, int, pipelines.Tuple]]]],
) -> list[str]:
    """Also those of small, aliased and overlapping copies. Returns the name of each, downwards."""
    small = profile.small.tuple.bound if profile.small else 0
    first, last = 1, profile.intervals[-1].up_to
    for y, (_, bars) in enumerate(strips):
        for above, up_to, t in bars:
            _bar(axes, y, max(above, small, first), up_to, COLOURS[t.rt], t.st == "NT", _words(t))
    if profile.small:
        s = profile.small.tuple
        for y in range(len(strips)):
            _bar(axes, y, first, small, SMALL, False, [f"small copies:\n{s.shape} {s.rt}"])
    labels = [label for label, _ in strips]
    if profile.aliased:
        labels.append("buffers that alias\n(modulo 4096)")
        alias = profile.aliased
        words = f"{alias.tuple.kind} {alias.tuple.rt}"
        _bar(axes, len(strips), max(alias.above, small), alias.up_to, ALIASED, False, [words])
    if profile.overlapping:
        o = profile.overlapping.tuple
        y, colour = len(labels), COLOURS[o.rt]
        labels.append("buffers that overlap")
        _bar(axes, y, max(small, first), last, colour, False, [f"{o.rt}, {o.block} bytes a turn"])
    return labels


def _strips(profile: Profile) -> list[tuple[str, list[tuple[int, int, pipelines.Tuple]]]]:
    """Name -> (above, up to, pipeline), neighbours with one pipeline joined."""
    main = profile.intervals
    senses = [i.sensing.copy for i in main if i.sensing]
    if senses:
        strips = [
            ("asterope_memcpy,\nif it senses “cached”", _joined(main, "hot")),
            ("asterope_memcpy,\nif it senses “uncached”", _joined(main, "cold")),
        ]
        if any(copy.fetch for copy in senses):
            label = "asterope_memcpy,\nif only the destination\nis “cached”"
            strips.insert(1, (label, _joined(main, "fetch")))
    else:
        strips = [("asterope_memcpy", _joined(main, None))]
    for name, intent in profile.intents.items():
        strips.append((f"asterope_memcpy_{name}", _joined(intent.intervals, None)))
    return strips


def _joined(
    intervals: Sequence[Interval], sensed: str | None
) -> list[tuple[int, int, pipelines.Tuple]]:
    bars: list[tuple[int, int, pipelines.Tuple]] = []
    for interval in intervals:
        copy = interval.winner.tuple
        if sensed and interval.sensing:
            copy = getattr(interval.sensing.copy, sensed) or interval.sensing.copy.cold
        if bars and bars[-1][2] == copy:
            bars[-1] = (bars[-1][0], interval.up_to, copy)
        else:
            bars.append((interval.above, interval.up_to, copy))
    return bars


def _words(t: pipelines.Tuple) -> list[str]:
    """What a strip may have room for, the longest first: the register, and the prefetch."""
    if t.pt == "none":
        return [t.rt]
    return [
        f"{t.rt}\nprefetch {t.pt}: {t.ps} lines, {t.pd} ahead",
        f"{t.rt}\nprefetch {t.pt}\n{t.ps} lines, {t.pd} ahead",
        t.rt,
    ]


def _bar(
    axes: Axes, y: float, above: int, up_to: int, colour: str, streams: bool, words: Sequence[str]
) -> None:
    if up_to <= above:
        return
    axes.barh(
        y,
        up_to - above,
        left=above,
        height=0.72,
        color=colour,
        edgecolor=INK,
        linewidth=0.7,
        hatch=STREAM_HATCH if streams else None,
    )
    doublings = math.log2(up_to / above)
    fitting = [text for text in words if doublings >= 0.22 * max(map(len, text.split("\n")))]
    if doublings >= 1.5:
        axes.text(
            (above * up_to) ** 0.5,
            y,
            fitting[0] if fitting else words[-1][:3],
            ha="center",
            va="center",
            fontsize=8,
            color=INK,
            bbox={"facecolor": colour, "edgecolor": "none", "pad": 1} if streams else None,
            clip_on=True,
        )


def _sensing_words(copy: SensingCopy) -> str:
    fetch = f", or {copy.fetch.name} where the destination is not" if copy.fetch else ""
    probe = f"{copy.probe.name} > {copy.threshold}"
    return f"{probe}: {copy.cold.name}{fetch}, else {copy.hot.name}"


def _table(profile: Profile) -> Table:
    rows = []
    for interval in profile.intervals:
        proof, sensing = interval.proof, interval.sensing
        ratio = (sensing or interval.winner).ratio
        rows.append(
            [
                human_size(interval.up_to),
                interval.winner.tuple.name,
                _sensing_words(sensing.copy) if sensing else "-",
                f"{ratio:.2f}" if ratio is not None else "-",
                f"{proof.lead.median:.3f} ({proof.lead.low:.3f}..{proof.lead.high:.3f})"
                if proof
                else "-",
                f"{len(proof.ties)}" if proof else "-",
                f"{proof.samples}" if proof else "-",
            ]
        )
    return Table(
        "The intervals: winner (RT LT ST PT PS PD), the copy that senses where there is one, and "
        "what the title rests on: the runner-up's time over the winner's, and how many others are "
        "as good within the noise",
        ["up to", "winner", "senses: probe > ticks: uncached", "x libc", "lead", "ties", "samples"],
        rows,
    )
