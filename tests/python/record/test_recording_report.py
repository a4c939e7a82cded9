"""Recordings on asterope-report's page: the pictures, the words, and what is not known."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from asterope.record.recording import make_recording
from command_errors import exit_code_of
from made_up_processes import Kind, facts, made_up_process

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from asterope.report import command
from asterope.report.page import page_of_recording
from asterope.report.recording import recording_pictures
from asterope.report.style import Picture, set_up

# matplotlib warns where a picture has no room for what is in it
pytestmark = pytest.mark.filterwarnings("error::UserWarning")


@pytest.fixture(autouse=True)
def styled() -> None:
    set_up()


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    kinds = [
        Kind(16, 4_000_000, 1e-8, site=0x200),
        Kind(64 << 10, 15_000, 20e-6, site=0x300),
        Kind(32 << 20, 9, 5e-3),
    ]
    return make_recording([made_up_process(kinds)], facts(), ["a warning"])


@pytest.fixture
def recording(recorded: dict[str, Any]) -> dict[str, Any]:
    """One to be changed."""
    return copy.deepcopy(recorded)


def named(recording: dict[str, Any]) -> dict[str, Picture]:
    return {picture.name: picture for picture in recording_pictures(recording)}


def test_there_is_a_picture_of_cost_sizes_and_places(recording) -> None:
    pictures = named(recording)
    assert list(pictures) == ["copies-cost", "copies-sizes", "copies-places"]
    for picture in pictures.values():
        assert picture.png()[:4] == b"\x89PNG"
        assert picture.alt and picture.caption and picture.table.rows


def test_the_bars_of_cost_are_the_shares_of_the_run(recording) -> None:
    axes = named(recording)["copies-cost"].figure.axes[0]
    used = [band for band in recording["bands"] if band["calls"]]
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == pytest.approx([100 * (band["share"] or 0) for band in used])
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["below 64 B", "from 64 KiB", "from 4 MiB"]


def test_the_sizes_rise_to_all_calls_and_all_bytes(recording) -> None:
    picture = named(recording)["copies-sizes"]
    for line in picture.figure.axes[0].lines[:2]:
        heights = list(line.get_ydata())
        assert heights == sorted(heights) and heights[-1] == pytest.approx(100)
    assert "at most 17 B" in picture.alt  # the class of 16 to 17 bytes


def test_what_could_not_be_timed_has_no_picture(recording) -> None:
    for one in (*recording["bands"], *recording["places"]):
        one["share"] = None
    assert list(named(recording)) == ["copies-sizes"]


def test_without_a_copy_there_is_no_picture_but_a_page() -> None:
    recording = make_recording([], facts())
    assert recording_pictures(recording) == []
    assert "Nothing was recorded" in page_of_recording(recording)


def test_the_page_of_a_recording_names_program_machine_and_doubts(recording) -> None:
    page = page_of_recording(recording)
    for part in (
        "The copies of made-up",
        "Recorded on A processor with glibc 2.36",
        "Copies take at most",
        "a warning",
        "inside libc",
    ):
        assert part in page
    assert page == page_of_recording(recording)


def test_names_from_outside_are_text(recording) -> None:
    recording["program"]["name"] = "<script>alert(1)</script>"
    recording["places"][0].update(function="<script>", module="/lib/$x_y$<b>")
    page = page_of_recording(recording)
    assert "<script>" not in page and "<b>" not in page


def test_the_command_takes_a_recording(recording, tmp_path: Path, capsys) -> None:
    path, page = tmp_path / "recording.json", tmp_path / "page.html"
    path.write_text(json.dumps(recording))
    assert exit_code_of(command.main, path, "-o", page, "--png", tmp_path / "png") == 0
    assert "3 pictures" in capsys.readouterr().out
    assert len(list((tmp_path / "png").iterdir())) == 3
    path.write_text(json.dumps({**recording, "version": 3}))
    assert exit_code_of(command.main, path, "-o", page) == 2
    assert "newer asterope" in capsys.readouterr().err
