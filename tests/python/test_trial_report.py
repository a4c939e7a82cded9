"""A trial of a program on asterope-report's page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asterope.prove.trial.blocks import LIBC, LIBC_AGAIN, ROUTINE, Observed, Place
from asterope.prove.trial.document import document
from asterope.prove.trial.findings import Found, PlaceFound
from asterope.prove.trial.run import Tried
from asterope.prove.trial.statistics import Estimate
from asterope.prove.trial.ways import Way
from command_errors import exit_code_of, only_line_of

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from asterope.report import command
from asterope.report.program import trial_pictures
from asterope.report.style import set_up

pytestmark = pytest.mark.filterwarnings("error::UserWarning")


def trial() -> dict[str, Any]:
    """Of two places, one of which loses."""
    tried = Tried([Way(ROUTINE, Path("/lib.so"), "asterope_memcpy")], Observed(2.0, 3.0, 1, 1, 1))
    tried.stopped_by = "known"
    places = []
    for offset, gained in ((10, 0.2), (20, -0.1)):
        place = Place("/bin/<program>", offset, "memcpy", 4096)
        ratios = {LIBC_AGAIN: Estimate(1, 0.9, 1.1), ROUTINE: Estimate(1.2, 1.1, 1.3)}
        one = Estimate(gained, gained - 0.01, gained + 0.02)
        humps = [1e-6, 3e-6 if offset == 20 else 1.001e-6]
        means = [hump * (1 + i / 1e4) for hump in humps for i in range(30)]
        places.append(PlaceFound(place, 1000, 50, 0.5, ratios, one, best=LIBC, means=means))
    found = Found(Estimate(0.1, 0.05, 0.15), None, places, 2.0)
    names = {one.place: "main" for one in places}
    return json.loads(document(tried, found, names, ["<program>", "a b"], 3.0, None))


def test_places_are_dots_with_intervals() -> None:
    set_up()
    picture, modes = trial_pictures(trial())
    dots = [bars.lines[0].get_xdata()[0] for bars in picture.figure.axes[0].containers]
    assert dots == pytest.approx([20, -10])
    assert "<program> main, memcpy, from 4 KiB: +20.0 % (+19.0 to +22.0)" in picture.alt
    assert picture.png()[:4] == b"\x89PNG" and len(picture.table.rows) == 2
    assert "routine 1.200 (1.100 to 1.300)" in picture.table.rows[0][3]
    (row,) = modes.table.rows  # of the place that has two
    assert row[1:4] == ["1.0 µs", "3.0 µs", "50 %"]


def test_a_place_of_which_nothing_is_sure_has_no_colour_of_a_verdict() -> None:
    found = trial()
    found["places"][1]["gained"] = {"value": -0.1, "low": -0.3, "high": 0.1}
    set_up()
    bars = trial_pictures(found)[0].figure.axes[0].containers
    assert [one.lines[0].get_color() for one in bars] == ["#1b7837", "#555555"]


def test_it_is_the_first_of_the_page(tmp_path: Path) -> None:
    file, page = tmp_path / "trial.json", tmp_path / "page.html"
    file.write_text(json.dumps(trial()))
    assert command.main([str(file), "-o", str(page)]) == 0
    text = page.read_text()
    assert "with the routine +10.0 % (+5.0 to +15.0) faster" in text
    assert "&lt;program&gt;" in text and "<program>" not in text
    assert text.index("<section") == text.index('<section id="trial"')


def test_what_is_no_trial_is_refused(tmp_path: Path, capsys) -> None:
    backwards = {"value": 0.1, "low": 0.2, "high": 0.1}
    for change in (
        {"gain": "much"},
        {"places": [{}]},
        {"gain": {**backwards, "low": float("nan")}},
        {"gain": {**backwards, "high": float("inf")}},
        {"wall_gain": backwards},
    ):
        (tmp_path / "bad.json").write_text(json.dumps({**trial(), **change}))
        assert exit_code_of(command.main, str(tmp_path / "bad.json")) == 2
        assert "run asterope-prove --json again" in only_line_of("asterope-report", capsys)
