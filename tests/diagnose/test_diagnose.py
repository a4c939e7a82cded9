"""The command asterope-tune diagnose: its tables, its report, its exit codes and errors."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from asterope import __version__
from command_errors import interrupted, run_command
from profile_samples import choice, plain_profile, taking

SECTIONS = ["working_set", "critical_stride", "misalignment", "aliasing", "store_forwarding",
            "huge_pages", "contents", "single_timings", "identical"]  # fmt: skip


def assert_estimate(estimate: dict[str, float]) -> None:
    assert 0 < estimate["low"] <= estimate["median"] <= estimate["high"]


Rows = list[dict[str, Any]]


class Whole(NamedTuple):
    """A run of all sections with a profile."""

    folder: Path
    done: subprocess.CompletedProcess
    report: dict[str, Any]

    def rows(self, name: str) -> Rows:
        found = next(one for one in self.report["sections"] if one["name"] == name)
        if "skipped" in found:
            pytest.skip(found["skipped"])
        return found["rows"]

    def by_size(self, name: str) -> Iterator[Rows]:
        for _, rows in groupby(self.rows(name), lambda row: row["size"]):
            yield list(rows)


@pytest.fixture(scope="module")
def whole(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("diagnosis")
    plain = {"lt": "T", "st": "T", "pt": "none", "ps": 0, "pd": 0}
    small = choice("pipelines", 0, 512, {"rt": "XMM", **plain})
    large = choice("pipelines", 512, 1 << 25, {"rt": "R64", **plain})
    (folder / "profile.json").write_text(json.dumps(taking(plain_profile("x86_64"), small, large)))
    command = (build_dir / "asterope-tune", "diagnose", "profile.json", "--quick")

    def allow_little_memory() -> None:
        """The largest copies take most of the time."""
        most = resource.getrlimit(resource.RLIMIT_RSS)[1]
        resource.setrlimit(resource.RLIMIT_RSS, (128 << 20, most))

    settings = {"cwd": folder, "timeout": 300, "preexec_fn": allow_little_memory}
    done = run_command(*command, "--json", "report.json", **settings)
    assert (done.returncode, done.stderr) == (0, "")
    return Whole(folder, done, json.loads((folder / "report.json").read_text()))


def test_a_whole_run_has_all_sections_in_table_and_report(whole) -> None:
    folder, done, report = whole
    assert (report["format"], report["version"]) == ("asterope-diagnosis", 1)
    assert report["tool_version"] == __version__
    assert report["machine"]["fingerprint"]
    assert (report["rounds"], report["profile"], report["left_out"]) == (11, True, [])
    assert report["noise"]["rounds"] > 0
    assert [section["name"] for section in report["sections"]] == SECTIONS
    for section in report["sections"]:
        assert f"\n{section['name']}: {section['question']}\n" in done.stdout
        ending = "skipped" if "skipped" in section else "verdict"
        assert f"\n{ending}: {section[ending]}\n" in done.stdout
        assert "nan" not in section[ending]
        assert bool(section.get("rows")) != ("skipped" in section)
    assert sorted(path.name for path in folder.iterdir()) == ["profile.json", "report.json"]


def test_rows_compare_libc_and_winner_with_their_baselines(whole) -> None:
    for section in whole.report["sections"]:
        if section["name"] in ("working_set", "single_timings", "identical"):
            continue
        rows = section.get("rows", [])
        names = {(row["group"], row["condition"]) for row in rows}
        assert len(names) == len(rows)
        for row in rows:
            assert_estimate(row["noise_floor"])
            assert ("winner" in row) == (row["size"] >= 128)
            if "winner" in row:
                expected = "XMM T T none 0 0" if row["size"] <= 512 else "R64 T T none 0 0"
                assert row["winner"]["candidate"] == expected
                assert_estimate(row["ratio"])
            for copy in (row[one] for one in ("libc", "winner") if one in row):
                assert copy["ns"] > 0
                assert ("slowdown" in copy) == ("baseline" in row)
                if "slowdown" in copy:
                    assert_estimate(copy["slowdown"])
            if "baseline" in row:
                assert (row["group"], row["baseline"]) in names


def test_working_set_goes_from_the_first_cache_outwards(whole) -> None:
    rows = whole.rows("working_set")
    sizes = [row["size"] for row in rows]
    assert sizes == sorted(set(sizes))
    levels = [row["fits_in"] for row in rows]
    assert levels == sorted(levels, key=["L1", "L2", "L3", "L4", "memory"].index)
    for row in rows:
        assert row["libc"]["gb_per_s"] == pytest.approx(row["size"] / row["libc"]["ns"])


def test_critical_strides_are_beside_the_same_and_a_line(whole) -> None:
    rows = whole.rows("critical_stride")
    caches = whole.report["machine"]["caches"]
    ways = {cache["level"]: cache["bytes"] // cache["ways"] for cache in caches if cache["ways"]}
    for beside, row in zip(rows[::2], rows[1::2]):
        assert row["stride"] == ways[row["level"]]
        assert beside["stride"] == row["stride"] + 64
        assert beside["buffers"] == row["buffers"]


def test_misalignment_has_every_byte_of_a_line_on_either_side(whole) -> None:
    wanted = {pair for past in range(64) for pair in ((past, 0), (0, past), (past, past))}
    sizes = [*whole.by_size("misalignment")]
    assert len(sizes) >= 3
    for rows in sizes:
        assert {(row["source"], row["destination"]) for row in rows} == wanted


def test_aliasing_compares_like_misalignments(whole) -> None:
    for rows in whole.by_size("aliasing"):
        assert {row["offset"] for row in rows} >= {*range(65), 2048, *range(4032, 4096)}
        own = {row["condition"]: row for row in rows}
        for row in rows:
            base = own[row.get("baseline", row["condition"])]
            assert base["offset"] == 2048 + row["offset"] % 64


def test_store_forwarding_reads_head_and_tail(whole) -> None:
    for first, *rows in whole.by_size("store_forwarding"):
        assert first["read"] == "nothing"
        reads = {(row["read"], row["bytes"]) for row in rows}
        assert reads >= {(where, count) for where in ("head", "tail") for count in (1, 8, 16)}


def test_single_timings_are_percentiles(whole) -> None:
    rows = whole.rows("single_timings")
    for row in rows:
        assert " ".join(row["percentiles_ns"]) == "least 1.0 10.0 50.0 90.0 99.0 99.9 most"
        figures = list(row["percentiles_ns"].values())
        assert figures == sorted(figures)
        assert figures[0] <= row["mean_ns"] <= figures[-1]
        assert row["calls"] >= (10000 if row["size"] <= 262144 else 101)
    beside = {row["neighbour"] for row in rows}
    assert beside == ({False, True} if len(os.sched_getaffinity(0)) > 1 else {False})
    assert {row["copy"] for row in rows} == {"libc", "libc again", "winner", "nothing"}
    *small, third = sorted({row["size"] for row in rows})
    assert small == [4096, 262144] and third > 262144, "a third of the last cache"


def test_without_another_cpu_there_is_no_neighbour(tune) -> None:
    cpu = max(os.sched_getaffinity(0))
    only = ("diagnose", "--quick", "--only", "single_timings")
    done = tune(*only, preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
    assert (done.returncode, done.stderr) == (0, "")
    assert "note: no neighbour: this process may use one CPU only\n" in done.stdout
    assert "beside" not in done.stdout.split("note:")[0].split("\n", 6)[-1]


def test_identical_races_libc_against_itself(whole) -> None:
    rows = whole.rows("identical")
    named = [(row["size"], row["workload"]) for row in rows]
    assert named == [(size, w) for size in (1024, 65536, 4194304) for w in ("hot", "cold")]
    for row in rows:
        assert len(row["leads"]) == len(row["floors"]) == 7
        assert all(floor >= 1 for floor in row["floors"])
        # nothing copies in half the time that it takes itself
        assert all(0.5 < lead < 2 for lead in row["leads"])


def test_sections_run_in_their_own_order_and_once(tune, tmp_path: Path) -> None:
    only = ("--only", "contents,store_forwarding,contents", "--json", "report.json")
    done = tune("diagnose", "--quick", *only)
    assert (done.returncode, done.stderr) == (0, "")
    titles = [line.split(":")[0] for line in done.stdout.splitlines()]
    assert [title for title in titles if title in SECTIONS] == ["store_forwarding", "contents"]
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["profile"] is False
    assert all("winner" not in row for s in report["sections"] for row in s["rows"])


def test_an_interrupted_run_leaves_no_report(build_dir: Path, tmp_path: Path) -> None:
    def ready(process: subprocess.Popen) -> None:
        """Its first table is there: most of the run is still to come."""
        next(line for line in process.stdout if line.startswith("verdict:"))

    command = [build_dir / "asterope-tune", "diagnose", "--json", "report.json"]
    done = interrupted(command, ready, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (130, "asterope-tune: interrupted\n")
    assert list(tmp_path.iterdir()) == []
