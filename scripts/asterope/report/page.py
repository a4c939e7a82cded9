"""The page: sections of pictures with their words and numbers, in one self-contained HTML file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from .. import __version__
from . import words
from .cells import cells_picture
from .copies import overview_picture, ratio_picture, throughput_picture
from .inputs import Inputs
from .intervals import intervals_picture
from .program import proof_pictures, trial_pictures
from .search_maps import families_picture, planes_picture, scored_sizes
from .series import USUAL_SUITES, Chart, Series, find_series
from .style import Picture, set_up

AGAINST = (
    "Each figure is libc's time over the copy's in the same rounds: 1.2 means that libc takes 1.2 "
    "seconds for a second of the copy's work."
)

TEMPLATE = Path(__file__).with_name("page.html.j2")


@dataclass(frozen=True)
class Section:
    """Pictures that belong together."""

    id: str
    title: str
    words: str
    pictures: Sequence[Picture]


def make_sections(inputs: Inputs) -> list[Section]:
    """All that the inputs can show; sections without a picture are left out."""
    set_up()
    series = find_series(inputs)
    peers = _peers(inputs, series)
    sections = [
        Section("trial", "A program", "", trial_pictures(inputs.trial) if inputs.trial else []),
        Section("ratio", "Against libc", AGAINST, _ratio_pictures(inputs, series, peers)),
        Section("throughput", "Throughput", "", _throughput_pictures(inputs, series, peers)),
        Section("search", "The search", "", _search_pictures(inputs)),
        Section(
            "intervals",
            "What was chosen",
            "",
            [intervals_picture(inputs.profile)] if inputs.profile else [],
        ),
        Section("proof", "Whole runs", "", proof_pictures(inputs.proof) if inputs.proof else []),
    ]
    _name_apart([picture for section in sections for picture in section.pictures])
    return [section for section in sections if section.pictures]


def render_page(inputs: Inputs, sections: Sequence[Section]) -> str:
    """The whole HTML. The same inputs give the same text."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    machine = inputs.machine
    cpu = machine.get("cpu") if isinstance(machine.get("cpu"), dict) else {}
    brand, libc = cpu.get("brand", "an unknown machine"), machine.get("libc", "an unknown libc")
    given = [
        name
        for name, there in (
            ("its profile", inputs.profile),
            ("the sample log of its search", inputs.log),
            ("results of asterope-bench", inputs.bench),
            ("a trial of asterope-prove", inputs.trial),
            ("whole runs of asterope-prove", inputs.proof),
        )
        if there is not None
    ]
    listed = given[0] if len(given) == 1 else f"{', '.join(given[:-1])} and {given[-1]}"
    return template.render(
        version=__version__,
        title=f"asterope_memcpy on {brand}",
        subtitle=f"Compared with {libc}. Made of {listed}.",
        findings=words.findings(inputs),
        sections=sections,
        images={
            picture.name: base64.b64encode(picture.svg()).decode("ascii")
            for section in sections
            for picture in section.pictures
        },
        facts=words.machine_facts(machine),
        trust=words.search_facts(inputs),
        copies=inputs.bench["copies"] if inputs.bench else [],
    )


def _name_apart(pictures: Sequence[Picture]) -> None:
    """Numbers equal names: a name from outside loses characters that a file name cannot have."""
    taken: set[str] = set()
    for picture in pictures:
        name, number = picture.name, 1
        while picture.name in taken:
            number += 1
            picture.name = f"{name}-{number}"
        taken.add(picture.name)


def _peers(inputs: Inputs, series: Series) -> list[str]:
    """All copies, in one order for all pictures. So each copy looks the same in all."""
    names = [copy["name"] for copy in inputs.bench["copies"]] if inputs.bench else []
    names += [name for chart in series.charts for name in chart.copies]
    names += [name for cells in series.labelled.values() for c in cells for name in c.copies]
    return list(dict.fromkeys(names))


def _ratio_pictures(inputs: Inputs, series: Series, peers: Sequence[str]) -> list[Picture]:
    libc_name = str(inputs.machine.get("libc", "libc"))
    suites: dict[str, list[Chart]] = {}
    for chart in series.charts:
        suite = "" if chart.suite in USUAL_SUITES else chart.suite
        suites.setdefault(suite, []).append(chart)
    lost = {loss["workload"] for loss in words.losses_of(inputs)}
    pictures = [overview_picture(series.charts, inputs.machine, series.source, libc_name)]
    pictures += [
        ratio_picture(charts, inputs.machine, series.source, libc_name, lost)
        for charts in suites.values()
    ]
    pictures += [
        cells_picture(suite, cells, peers, series.source)
        for suite, cells in series.labelled.items()
    ]
    return [picture for picture in pictures if picture is not None]


def _throughput_pictures(inputs: Inputs, series: Series, peers: Sequence[str]) -> list[Picture]:
    return [
        throughput_picture(chart, inputs.machine, peers, series.source)
        for chart in series.charts
        if chart.rates
    ]


def _search_pictures(inputs: Inputs) -> list[Picture]:
    if inputs.log is None:
        return []
    sizes = scored_sizes(inputs.log, inputs.profile)
    pictures = [families_picture(inputs.log, sizes), planes_picture(inputs.log, sizes)]
    return [picture for picture in pictures if picture is not None]
