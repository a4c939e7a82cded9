"""The recording has the right contents, and fits its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asterope.record.recording import make_recording, recording_text
from asterope.record.table import advice
from made_up_processes import Kind, facts, made_up_process, pool_of
from recorded_programs import read_recording

KINDS = [
    Kind(16, 4_000_000, 1e-8, site=0x200),
    Kind(64 << 10, 5_000, 20e-6, site=0x300),
    Kind(300, 2_000_000, 1e-8, function="memset"),
]


@pytest.fixture(scope="module")
def recording() -> dict[str, Any]:
    return make_recording(pool_of(made_up_process(KINDS)), facts(), ["a warning"])


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


def test_what_is_written_is_read_again_where_nothing_is_recorded_too(recording, tmp_path) -> None:
    def read_again(written: dict[str, Any]) -> dict[str, Any]:
        path = tmp_path / "recording.json"
        path.write_text(recording_text(written))
        return read_recording(path)

    assert read_again(recording) == json.loads(json.dumps(recording))
    raw = read_again(make_recording(pool_of(), facts(cpu_seconds=0.0)))
    assert raw["copies"] == raw["sets"] == {"calls": 0, "bytes": 0, "share": None, "timed": 0}
    assert (raw["sizes"], raw["places"]) == ([], [])
    extreme = facts(started=253402300799, seconds=1e12, cpu_seconds=1e12)
    raw = read_again(make_recording(pool_of(made_up_process(KINDS)), extreme))
    assert raw["started"] == "9999-12-31T23:59:59Z"


def test_copies_never_take_more_than_the_run() -> None:
    recording = make_recording(
        pool_of(made_up_process(KINDS, cpu_seconds=0.05)), facts(cpu_seconds=0.05)
    )
    assert recording["copies"]["share"] == 1
    assert max(band["share"] or 0 for band in recording["bands"]) == 1


def test_cpu_time_that_only_the_processes_noted_counts_each_pid_once() -> None:
    """An exec goes on with the clock of its process."""
    processes = [
        made_up_process(KINDS, pid=pid, cpu_seconds=seconds, cpu_before=before)
        for pid, seconds, before in ((1, 5, 0), (1, 9, 5), (2, 4, 0))
    ]
    assert make_recording(pool_of(*processes), facts(cpu_seconds=0.0))["cpu_seconds"] == 13


@pytest.mark.parametrize("calls", [1, 2])
def test_a_call_of_an_impossible_size_is_left_out_and_told(tmp_path: Path, calls: int) -> None:
    """As of memcpy(to, from, -1), which crashes."""
    kinds = [*KINDS, Kind((1 << 64) - 1, calls, 1.0)]
    recording = make_recording(pool_of(made_up_process(kinds)), facts())
    path = tmp_path / "recording.json"
    path.write_text(recording_text(recording))
    assert read_recording(path)["copies"]["calls"] == 4_005_000
    assert recording["bands"][-1]["calls"] == 0 and len(recording["places"]) == 3
    (warning,) = recording["warnings"]
    assert warning == f"calls of an impossible size, which are left out: {calls}"


@pytest.mark.parametrize("unseen", [False, True])
@pytest.mark.parametrize("shared_slots", [False, True])
def test_a_folder_that_other_users_may_not_enter_is_named(shared_slots, unseen) -> None:
    """If some process was not seen, or had no file of its own."""
    process = made_up_process(KINDS, flags={"shared_slots"} if shared_slots else ())
    its = facts(closed=Path("/root"), recorded_seconds=1.0 if unseen else 10.0)
    recording = make_recording(pool_of(process), its)
    said = any(line.startswith("/root: other users may") for line in recording["warnings"])
    assert said == (shared_slots or unseen) == ("have TMPDIR name" in advice(recording))


@pytest.mark.parametrize(
    ("flag", "says"),
    [
        *(("full", "disk was full"), ("cut_short", "cut short"), ("shared_slots", "many threads")),
        *(("modules_full", "no file"), ("quiet", "only counted")),
    ],
)
def test_what_limits_the_figures_is_said(flag: str, says: str) -> None:
    process = made_up_process(KINDS, flags={flag})
    (warning,) = make_recording(pool_of(process), facts())["warnings"]
    assert says in warning
