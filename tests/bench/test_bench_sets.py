"""asterope-bench --operation memset: sets are timed as copies are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asterope.report.inputs import read_inputs
from bench_command import (
    FEW,
    FIXED,
    MIXES,
    PAGE_ENDS,
    SIZES,
    TURNS,
    assert_in_turn,
    only_error,
    routine_of,
    rows_of,
)
from copy_programs import shared_library
from profile_samples import of_memset, taking

pytestmark = pytest.mark.one_cpu

SETS = ("--operation", "memset")
MEMSET = (
    of_memset("pipelines", 0, 300, {"rt": "XMM", "st": "T"}, size=300),
    of_memset("pipelines", 300, 3000, {"rt": "R64", "st": "T"}, size=3000),
)


@pytest.fixture
def memset_profile(profile_for, tmp_path: Path) -> Path:
    """A profile of copies that were tuned for `hot` and of sets that were for `cold`."""
    profile_for("hot")
    path = tmp_path / "profile.json"
    profile = taking(json.loads(path.read_text()), *MEMSET)
    profile["search"]["weights"] = {"memset": {"hot": 0, "cold": 1}}
    path.write_text(json.dumps(profile))
    return path


@pytest.fixture
def memset_library(memset_profile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return routine_of(memset_profile, tmp_path_factory.mktemp("routine"))


def test_sets_are_timed_beside_libcs_memset_in_the_suites_that_need_no_source(
    measured, memset_library, tmp_path
):
    done, report = measured(*SETS, *FEW, "--suite", "all", routine=memset_library)
    title = done.stdout.splitlines()[0]
    assert title.startswith("asterope_memset against ") and ": 3 paired" in title
    assert (report["operation"], report["version"]) == ("memset", 2)
    libc, routine = report["copies"]
    assert libc["description"].endswith("'s memset as it is")
    assert routine["description"] == "asterope_memset, the routine"
    assert [line.split()[0] for line in rows_of(done, "hot")] == ["128", "4", "all"]
    for row in report["results"]:
        assert row["copies"]["asterope"]["ns"] > 0
    assert read_inputs([str(tmp_path / "report.json")]).bench is not None  # and fits its schema
    found = {(row["suite"], row["workload"]) for row in report["results"]}
    of_one_size = {"hot", "hot_read", "cold", "consume"}
    assert found == {
        *((suite, name) for suite in ("workloads", "sizes") for name in of_one_size),
        ("misalignment", "hot"),
        *(("mix", name) for name in (*MIXES, *PAGE_ENDS)),
        *(("fixed", name) for name in FIXED),
        *(("states", name) for name in ("again", "across", "spread")),
    }
    labels = [row["label"] for row in report["results"] if row["suite"] == "misalignment"]
    past = (0, 1, 8, 16, 31, 32, 63)
    assert labels == [f"{size} +{one}" for size in ("128 B", "4 KiB") for one in past]
    assert len(rows_of(done, "128 B misaligned")) == len(past) + 1  # and the mean
    header = next(line for line in done.stdout.splitlines() if line.startswith("x libc "))
    # columns, with a dash at these sizes
    assert set(header.split()[2:]) == of_one_size | {"fresh", "fresh_huge"}


def test_cached_and_uncached_buffers_are_set_in_turn_at_sizes_that_may_look(
    measured, memset_library
):
    _, report = measured(*SETS, *TURNS, routine=memset_library)
    assert_in_turn(report, "uncached")


def test_a_routine_that_sets_wrongly_fails(bench, tmp_path):
    zeros = """#include <string.h>
void *asterope_memset(void *to, int value, size_t size) { return memset(to, value & 0, size); }"""
    done = bench("--routine", shared_library(tmp_path / "libzeros.so", zeros), *SETS, *FEW)
    assert "the routine asterope_memset sets wrong: wrong byte 0 of 1 " in only_error(done, 1)


def test_a_profile_gives_the_sizes_and_workloads_of_its_sets(
    bench, memset_library, memset_profile, profile_for
):
    options = ("--routine", memset_library, *SETS, *SIZES, "--rounds", "3")
    done = bench(*options, "--profile", memset_profile)
    assert [line.split()[0] for line in rows_of(done, "cold")] == ["300", "3000", "all"]
    assert "\nhot " not in done.stdout
    done = bench(*options, "--profile", memset_profile, "--suite", "balanced")
    assert "\nhot " in done.stdout and "\nconsume " in done.stdout
    done = bench(*options, *profile_for("hot"))
    assert "profile profile.json says nothing of memset" in only_error(done, 2)
