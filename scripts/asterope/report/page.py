"""The page: sections of pictures with their words and numbers, in one self-contained HTML file."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

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


class Section(NamedTuple):
    """Pictures that belong together."""

    id: str
    title: str
    words: str
    pictures: Sequence[Picture]


def make_sections(inputs: Inputs) -> list[Section]:
    """All that the inputs can show; sections without a picture are left out."""
    set_up()
    series = find_series(inputs)
    names = [copy["name"] for copy in inputs.bench["copies"]] if inputs.bench else []
    names += [name for chart in series.charts for name in chart.rates]
    names += [name for cells in series.labelled.values() for c in cells for name in c["copies"]]
    peers = list(dict.fromkeys(names))  # in one order, so that each looks the same in all pictures
    throughput = (
        throughput_picture(chart, inputs.machine, peers, series.source)
        for chart in series.charts
        if chart.rates
    )
    profile, trial, proof = inputs.profile, inputs.trial, inputs.proof
    found = (
        Section("trial", "A program", "", trial_pictures(trial) if trial else []),
        Section("ratio", "Against libc", AGAINST, [*_ratio_pictures(inputs, series, peers)]),
        Section("throughput", "Throughput", "", [*throughput]),
        Section("search", "The search", "", [*_search_pictures(inputs)]),
        Section(
            "intervals", "What was chosen", "", [intervals_picture(profile)] if profile else []
        ),
        Section("proof", "Whole runs", "", proof_pictures(proof) if proof else []),
    )
    sections = [
        section._replace(pictures=[picture for picture in section.pictures if picture is not None])
        for section in found
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
    nouns = {
        "profile": "its profile",
        "log": "the sample log of its search",
        "bench": "results of asterope-bench",
        "trial": "a trial of asterope-prove",
        "proof": "whole runs of asterope-prove",
    }
    given = [noun for name, noun in nouns.items() if getattr(inputs, name) is not None]
    listed = given[0] if len(given) == 1 else f"{', '.join(given[:-1])} and {given[-1]}"
    return template.render(
        version=__version__,
        title=f"asterope_{inputs.operation} on {brand}",
        subtitle=f"Compared with {libc}. Made of {listed}.",
        findings=words.findings(inputs),
        sections=sections,
        images={
            picture.name: base64.b64encode(picture.rendered("svg")).decode("ascii")
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


def _ratio_pictures(
    inputs: Inputs, series: Series, peers: Sequence[str]
) -> Iterator[Picture | None]:
    machine, libc_name = inputs.machine, str(inputs.machine.get("libc", "libc"))
    suites: dict[str, list[Chart]] = {}
    for chart in series.charts:
        suite = "" if chart.suite in USUAL_SUITES else chart.suite
        suites.setdefault(suite, []).append(chart)
    lost = {loss["workload"] for loss in words.losses_of(inputs)}
    yield overview_picture(series, machine, libc_name)
    for charts in suites.values():
        yield ratio_picture(charts, machine, series.source, libc_name, lost)
    for suite, cells in series.labelled.items():
        yield cells_picture(suite, cells, peers, series.source, is_rest=suite in suites)


def _search_pictures(inputs: Inputs) -> Iterator[Picture | None]:
    if inputs.log is not None:
        sizes = scored_sizes(inputs.log, inputs.profile)
        yield families_picture(inputs.log, sizes)
        yield planes_picture(inputs.log, sizes)
