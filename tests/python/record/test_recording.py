"""The recording: what it holds, that it fits its schema, and which files are refused."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asterope.faults import BadInput
from asterope.profile import MAXIMUM_BYTES
from asterope.record.reading import read_recording
from asterope.record.recording import make_recording, recording_text
from made_up_processes import NO_FLAGS, Kind, facts, made_up_process

KINDS = [
    Kind(16, 4_000_000, 1e-8, site=0x200),
    Kind(64 << 10, 5_000, 20e-6, site=0x300),
    Kind(300, 2_000_000, 1e-8, function="memset"),
]


def a_process(**settings: Any):
    return made_up_process(KINDS, **settings)


@pytest.fixture(scope="module")
def recording() -> dict[str, Any]:
    return make_recording([a_process()], facts(), ["a warning"])


@pytest.fixture
def changed(recording: dict[str, Any], tmp_path: Path) -> Callable[..., Path]:
    """The recording as a file, after a change of it."""

    def write(change: Callable[[dict], object]) -> Path:
        raw = copy.deepcopy(recording)
        change(raw)
        path = tmp_path / "recording.json"
        path.write_text(json.dumps(raw))
        return path

    return write


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as refused:
        read_recording(path)
    text = str(refused.value)
    assert text.startswith(f"{path}: ") and text.isprintable() and len(text) < 500
    return text


# --- What it holds --------------------------------------------------------------------------------


def test_what_is_written_is_read_again(recording: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    path.write_text(recording_text(recording))
    assert read_recording(path) == json.loads(json.dumps(recording))


def test_its_figures_are_those_of_the_run(recording: dict[str, Any]) -> None:
    assert recording["program"]["command"] == ["made-up", "--fast"]
    assert (recording["seconds"], recording["cpu_seconds"]) == (12, 10)
    counted = {(c["function"], c["from"], c["to"]): c["calls"] for c in recording["calls"]}
    assert counted[("memcpy", 16, 18)] == 4_000_000
    assert counted[("memset", 288, 320)] == 2_000_000
    assert recording["copies"]["calls"] == 4_005_000
    assert recording["copies"]["share"] == pytest.approx(0.014, rel=0.2)
    assert recording["sets"]["share"] == pytest.approx(0.002, rel=0.2)
    assert recording["sizes"] == [[16, 4_000_000]]
    assert recording["places"][0]["calls_function"] == "memcpy"
    assert recording["warnings"] == ["a warning"]
    assert recording["complete"] is True


def test_nothing_recorded_is_a_recording_too(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    path.write_text(recording_text(make_recording([], facts(cpu_seconds=0.0))))
    raw = read_recording(path)
    assert raw["copies"] == raw["sets"] == {"calls": 0, "bytes": 0, "share": None}
    assert (raw["sizes"], raw["places"]) == ([], [])


def test_copies_never_take_more_than_the_run() -> None:
    recording = make_recording([a_process(cpu_seconds=0.05)], facts(cpu_seconds=0.05))
    assert recording["copies"]["share"] == 1
    assert max(band["share"] or 0 for band in recording["bands"]) == 1


def test_cpu_time_that_only_the_processes_noted_counts_each_pid_once() -> None:
    """An exec goes on with the clock of its process."""
    processes = [a_process(pid=pid, cpu_seconds=c) for pid, c in ((1, 5.0), (1, 9.0), (2, 4.0))]
    assert make_recording(processes, facts(cpu_seconds=0.0))["cpu_seconds"] == 13


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"full": True}, "disk was full"),
        ({"cut_short": True}, "cut short"),
        ({"shared_slots": True}, "more threads"),
        ({"modules_full": True}, "no file"),
        ({"quiet": True}, "only counted"),
    ],
)
def test_what_limits_the_figures_is_said(flags: dict[str, bool], says: str) -> None:
    process = a_process(flags=dataclasses.replace(NO_FLAGS, **flags))
    (warning,) = make_recording([process], facts())["warnings"]
    assert says in warning


# --- Which files are refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"\xff\xfe", "UTF-8"),
        (b"{", "cut short"),
        (b'{"format": "asterope-profile"}', "not a recording"),
        (b'{"format": "asterope-recording", "version": 3}', "newer"),
        (b'{"format": "asterope-recording", "version": 1}', "make it anew"),
        (b'{"format": "asterope-recording", "version": NaN}', "not a finite"),
        (b"[" * 100_000, "deeply"),
        (b" " * (MAXIMUM_BYTES + 1), "larger"),
    ],
    ids=lambda value: None if isinstance(value, str) else repr(value[:24]),
)
def test_what_is_no_recording_gets_one_line(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    path.write_bytes(content)
    assert says in refusal(path)


def test_a_recording_that_is_cut_short_is_damaged(
    recording: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "recording.json"
    text = recording_text(recording)
    for length in (1, len(text) // 2, len(text) - 3):
        path.write_text(text[:length])
        assert "damaged or cut short" in refusal(path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda r: r.update(seconds=-1), "seconds"),
        (lambda r: r.update(seconds="1"), "a number is expected"),
        (lambda r: r.update(unknown=1), "unknown field"),
        (lambda r: r.pop("sizes"), "missing"),
        (lambda r: r["calls"][0].update({"from": 16, "to": 16}), "calls[0]"),
        (lambda r: r["calls"][0].update(function="strcpy"), "strcpy"),
        (lambda r: r["bands"][0].update(share=2), "bands[0].share"),
        (lambda r: r["copies"].update(share="most"), "number or null"),
        (lambda r: r["sizes"].append([1]), "sizes"),
        (lambda r: r["places"][0].update(calls_function="rm -rf /"), "calls_function"),
    ],
)
def test_a_value_that_does_not_belong_is_named(
    changed: Callable[..., Path], change: Callable[[dict], object], says: str
) -> None:
    assert says in refusal(changed(change))


def test_the_most_extreme_facts_make_a_recording_that_can_be_read(tmp_path: Path) -> None:
    extreme = facts(started=253402300799, seconds=1e12, cpu_seconds=1e12)
    recording = make_recording([a_process()], extreme)
    (tmp_path / "r.json").write_text(recording_text(recording))
    assert read_recording(tmp_path / "r.json")["started"] == "9999-12-31T23:59:59Z"
