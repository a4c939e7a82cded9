"""The command asterope-bench: its table, its report, its exit codes and one-line errors."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from asterope import __version__, workloads
from asterope.profile import load_profile
from asterope.render import render_routine
from asterope.report.inputs import read_inputs
from command_errors import interrupted, only_error_of, run_command
from copy_programs import shared_library
from profile_samples import choice, of_memset, taking

pytestmark = pytest.mark.one_cpu

PLAIN = {"rt": "XMM", "lt": "T", "st": "T", "pt": "none", "ps": 0, "pd": 0}
FEW = ("--rounds", "3", "--sizes", "128,4K")
SIZES = ("--suite", "sizes")
HOT = (*FEW, "--suite", "hot")
MIXES = [f"mix_{where}{read}" for read in ("", "_read") for where in ("l1", "l2", "l3", "memory")]
PAGE_ENDS = ["page_end", "page_end_read"]
FIXED = ["fixed", "fixed_read", "fixed_walk", "fixed_walk_read"]
WORKLOADS = [*workloads.names("measured"), "fresh"]
FROM_A_PAGE = ["lookup", "fresh"]  # of these sizes, 4 KiB alone
TABLE = ("--suite", "workloads")

only_error = partial(only_error_of, "asterope-bench")
Measured = tuple[subprocess.CompletedProcess, dict]


def routine_of(profile: Path, folder: Path) -> Path:
    """Its routine, compiled."""
    files = render_routine(load_profile(profile))
    (folder / "asterope_memcpy.h").write_text(files["asterope_memcpy.h"])
    return shared_library(folder / "libroutine.so", files["asterope_memcpy.c"])


@pytest.fixture(scope="module")
def library(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reference routine, compiled."""
    profile = repository / "generated" / "reference" / "xeon-gold-5218.json"
    return routine_of(profile, tmp_path_factory.mktemp("routine"))


@pytest.fixture
def measured(bench, library: Path, tmp_path: Path) -> Callable[..., Measured]:
    """Compares the routine, without a word on stderr; what was printed, and the report."""

    def run(*arguments: object, routine: Path = library) -> Measured:
        done = bench("--routine", routine, *arguments, "--json", "report.json")
        assert (done.returncode, done.stderr) == (0, "")
        return done, json.loads((tmp_path / "report.json").read_text())

    return run


@pytest.fixture
def profile_for(tmp_path: Path) -> Callable[[str], tuple[str, str]]:
    """The option of a profile of two choices, which was tuned for that workload."""

    def write(workload: str) -> tuple[str, str]:
        choices = [choice("pipelines", *ends, PLAIN) for ends in ((0, 200), (200, 2048))]
        profile = {"format": "asterope-profile", "version": 2, "architecture": "x86_64",
                   "complete": True, "search": {"workload": workload},
                   "choices": choices}  # fmt: skip
        (tmp_path / "profile.json").write_text(json.dumps(profile))
        return "--profile", "profile.json"

    return write


def rows_of(done: subprocess.CompletedProcess, title: str) -> list[str]:
    """The lines of a table: after its title, up to the next blank line."""
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"{title} ")) + 1
    rest = lines[begin:]
    return rest[: rest.index("")] if "" in rest else rest


# --- Suites and workloads -------------------------------------------------------------------------


def test_the_report_holds_what_the_table_shows(measured, tmp_path: Path) -> None:
    done, report = measured(*HOT)
    title = done.stdout.splitlines()[0]
    assert title.startswith("asterope_memcpy against ") and "3 paired rounds" in title
    assert (report["tool_version"], report["rounds"]) == (__version__, 3)
    assert report["complete"] and report["machine"]["fingerprint"]
    libc, routine = (copy["name"] for copy in report["copies"])
    *rows, _ = rows_of(done, "hot")
    assert [row["size"] for row in report["results"]] == [128, 4096]
    for row, line in zip(report["results"], rows):
        assert (row["suite"], row["workload"], row["threads"]) == ("sizes", "hot", 1)
        ns, ours = row["copies"][libc]["ns"], row["copies"][routine]
        shown = [f"{ns:.1f}", f"{ours['ns']:.1f}", f"{ours['ratio']['median']:.2f}"]
        assert [line.split()[i] for i in (2, 3, 5)] == shown
    assert os.listdir(tmp_path) == ["report.json"]


TITLES = ("x libc", "hot", "hot_read", "cold", "cold_walk", "consume", "consume_walk", "aliased",
          "fleet mix", "fleet mix by bytes", *FIXED, "overlapping", "128 B misaligned,",
          "hot, 1 thread", "cold, 1 thread")  # fmt: skip
SUITES = {
    "none named": (
        (),
        {"hot", "cold", "cold_walk", "fleet mix"},
        {"hot_read", "consume", "consume_walk", "fleet mix by bytes"},
    ),
    "sizes": (SIZES, {"hot", "cold", "cold_walk"}, {"hot_read", "consume", "consume_walk"}),
    "all": (("--suite", "all"), set(TITLES), set()),
}


@pytest.mark.parametrize(("suite", "there", "maybe"), SUITES.values(), ids=SUITES)
def test_the_suites_that_are_asked_for_run(
    bench, library: Path, suite: tuple[str, ...], there: set[str], maybe: set[str]
) -> None:
    done = bench("--routine", library, *FEW, *suite)
    assert done.returncode == 0
    found = {title for title in TITLES if f"\n{title} " in done.stdout}
    assert there <= found <= there | maybe


def test_the_small_suites_have_mixes_and_fixed_sizes(measured) -> None:
    done, report = measured(*FEW, "--suite", "mix,fixed")
    for title, names in {
        "fleet mix": MIXES,
        "fleet mix by bytes": MIXES,
        "fleet mix at page ends": PAGE_ENDS,
    }.items():
        assert [line.split()[0] for line in rows_of(done, title)] == [*names, "all"]
    all_sizes = []
    for workload in FIXED:
        *fixed, _ = rows_of(done, workload)
        sizes = [int(line.split()[0]) for line in fixed]
        all_sizes += [workload] * len(sizes)
        assert (sizes[0], sizes[-1]) == (1, 64 if "walk" in workload else 256)
        assert sizes == sorted(set(sizes))
    assert report["distribution"] == "fleet"
    assert [(row["workload"], row.get("weighting")) for row in report["results"]] == [
        *((mix, "calls") for mix in (*MIXES, *PAGE_ENDS)),
        *((mix, "bytes") for mix in MIXES),
        *((name, None) for name in all_sizes),
    ]
    for row in report["results"]:
        assert ("size" in row) == row["workload"].startswith("fixed")


def test_a_recording_is_drawn_from_and_named(measured, tmp_path: Path) -> None:
    recording = {"format": "asterope-recording", "version": 2, "sizes": [[8, 900], [24, 900]]}
    (tmp_path / "r.json").write_text(json.dumps({**recording, "program": {"name": "fetcher"}}))
    done, report = measured(*FEW, "--suite", "mix", "--recording", "r.json")
    assert len(rows_of(done, "fetcher mix")) == 9
    assert report["distribution"] == "fetcher"


def test_a_profile_gives_sizes_and_workload(bench, library: Path, profile_for) -> None:
    options = ("--routine", library, *profile_for("cold"))
    done = bench(*options, *SIZES, "--rounds", "3")
    assert [line.split()[0] for line in rows_of(done, "cold")] == ["200", "2", "all"]
    assert "\nhot " not in done.stdout
    done = bench(*options, *HOT)
    assert [line.split()[0] for line in rows_of(done, "hot")] == ["128", "4", "all"]
    done = bench(*options, *TABLE, "--rounds", "3")
    assert [line.split()[0] for line in rows_of(done, "x libc")] == ["200", "2", "all"]


def test_the_table_of_workloads_says_what_they_mean(measured) -> None:
    done, report = measured(*FEW, *TABLE)
    results = report["results"]
    assert [(row["suite"], row["size"], row["workload"]) for row in results] == [
        ("workloads", size, workload)
        for size in (128, 4096)
        for workload in WORKLOADS
        if size > 128 or workload not in FROM_A_PAGE
    ]
    lines = done.stdout.splitlines()
    header = next(i for i, line in enumerate(lines) if line.startswith("x libc "))
    assert lines[header].split() == ["x", "libc", *WORKLOADS]
    blank, *legend = lines[header - 3 : header]
    assert blank == ""
    assert all(f"{workload}: " in " ".join(legend) for workload in WORKLOADS)


def test_the_grid_of_misalignments_has_every_pair(measured) -> None:
    _, report = measured("--rounds", "3", "--suite", "misalignment", "--sizes", "512")
    past = ["0", "1", "8", "16", "31", "32", "63"]
    assert [row["label"] for row in report["results"]] == [
        f"512 B +{source} +{destination}" for source in past for destination in past
    ]


OVERLAP = ("--suite", "overlap", "--rounds", "3")


def test_overlaps_have_every_shift_both_ways_for_those_who_may(measured) -> None:
    _, report = measured(*OVERLAP, "--sizes", "512,8K", "--peer", "avx,rep_movsb")
    shifts = {512: (1, 8, 64), 8192: (1, 8, 64, 4096)}
    assert [(row["size"], row["label"].split()[-1]) for row in report["results"]] == [
        (size, way + str(shift)) for size in shifts for shift in shifts[size] for way in "+-"
    ]
    for row in report["results"]:
        assert (row["suite"], row["workload"]) == ("overlap", "overlapping")
        assert len(row["copies"]) == 2  # the peers' buffers must not overlap
        assert row["copies"]["asterope"]["ns"] > 0


@pytest.mark.all_cpus
def test_all_cpus_copy_at_once_in_the_suite_of_threads(measured) -> None:
    _, report = measured(*FEW, "--suite", "threads")
    counts = sorted({row["threads"] for row in report["results"]})
    assert (counts[0], counts[-1]) == (1, len(os.sched_getaffinity(0)))
    expected = [(workload, size) for workload in ("hot", "cold") for size in (128, 4096)]
    for count in counts:
        cells = [row for row in report["results"] if row["threads"] == count]
        assert [(row["workload"], row["size"]) for row in cells] == expected


# --- Any number of copies -------------------------------------------------------------------------

PEERS = """
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define COPY(name) void *name(void *to, const void *from, size_t size)
COPY(right) { return memcpy(to, from, size); }
COPY(slow) {
    for (size_t i = 0; i < size; ++i) ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}
COPY(too_short) { return memcpy(to, from, size > 4000 ? size - 1 : size); }
COPY(crashes) { if (size > 100) abort(); return memcpy(to, from, size); }
COPY(leaves) { exit(0); return memcpy(to, from, size); }
COPY(hangs) { creat("hanging", 0600); for (;;) sleep(1); return to; }
COPY(asterope_memcpy) { return memcpy(to, from, size); }
COPY(asterope_memcpy_hot) { return memcpy(to, from, size); }
COPY(asterope_memcpy_cold) { return memcpy(to, from, size); }
/* right while it is verified, in 7,000 calls */
#define LATE(name, fault) COPY(name) { \\
    static long calls; \\
    if (++calls > 10000) fault; \\
    return memcpy(to, from, size); \\
}
LATE(leaves_late, _exit(0))
LATE(crashes_late, abort())
LATE(idles_late, return to)
"""
UPWARDS_ALONE = "COPY(asterope_memmove) { return slow(to, from, size); }"


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with copies of all kinds."""
    return shared_library(tmp_path_factory.mktemp("peers") / "libpeers.so", PEERS)


def peer(library: Path, *symbols: str) -> list[str]:
    return [part for symbol in symbols for part in ("--peer", f"{symbol}={library}:{symbol}")]


LATE = {
    "leaves_late": " ended the run: the process ended with exit code 0: leave it out",
    "crashes_late": " ended the run: the process died: Aborted: leave it out",
    "idles_late": "copied right before it was timed, and copies wrong since: wrong byte 0 of 1 ",
}


@pytest.mark.parametrize("symbol", LATE)
def test_a_copy_that_goes_wrong_while_it_is_timed_is_named(
    bench, library: Path, peers: Path, symbol: str
) -> None:
    option = "--peer" if symbol == "leaves_late" else "--reference"
    done = bench("--routine", library, *HOT, option, f"new={peers}:{symbol}")
    message = only_error(done, 1)
    origin = "" if symbol == "idles_late" else f"({symbol} of {peers})"
    assert message.startswith(f"asterope-bench: new {origin}{LATE[symbol]}")


def test_peers_have_a_column_each(measured, peers: Path) -> None:
    done, report = measured(*HOT, "--peer", "rep_movsb", *peer(peers, "right", "slow"))
    assert report["left_out"] == []
    assert [copy["name"] for copy in report["copies"]][1:] == [
        *("asterope", "rep_movsb", "right", "slow")
    ]
    for copy in report["copies"]:
        assert copy["description"] and f"  {copy['name']} " in done.stdout
    assert "\nasterope is the best or within the noise floor" in done.stdout


def test_peers_that_are_not_there_or_break_or_copy_wrongly_are_left_out_and_the_rest_goes_on(
    bench, library: Path, peers: Path, tmp_path: Path
) -> None:
    reasons = {
        "missing": "cannot be loaded",
        "no_such_copy": "has no function no_such_copy",
        "crashes": "died: Aborted",
        "leaves": "ends the process",
        "too_short": "wrong byte",
    }
    done = bench("--routine", library, *HOT, *peer(tmp_path / "missing.so", "missing"),
                 *peer(peers, *list(reasons)[1:], "right"), "--json", "report.json")  # fmt: skip
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert len(lines) == len(reasons)
    for line, (name, reason) in zip(lines, reasons.items()):
        assert line.startswith(f"asterope-bench: {name} is left out: ") and reason in line
    report = json.loads((tmp_path / "report.json").read_text())
    assert [one["name"] for one in report["left_out"]] == list(reasons)
    assert [copy["name"] for copy in report["copies"]][1:] == ["asterope", "right"]
    assert all("right" in row["copies"] for row in report["results"])


def test_the_routine_is_judged_by_the_references_as_well(
    measured, bench, library: Path, peers: Path
) -> None:
    done, report = measured(*HOT, "--brief", "--reference", f"new-1.0={peers}:right")
    assert [copy["name"] for copy in report["copies"] if copy.get("reference")] == ["new-1.0"]
    assert all(row["best_reference"] in ("glibc", "new-1.0") for row in report["results"])
    assert ", new-1.0, " in done.stdout.splitlines()[0]
    assert "in each cell the faster one's time" in done.stdout
    done = bench("--routine", library, *HOT, "--reference", f"new={peers}:too_short")
    assert "--reference new wrong byte" in only_error(done, 2)


@pytest.mark.slow
def test_a_peer_that_hangs_is_left_out(bench, library: Path, peers: Path) -> None:
    done = bench("--routine", library, *HOT, *peer(peers, "hangs"))
    assert "hangs is left out: still runs after " in only_error(done, 0)


@pytest.mark.slow
def test_all_built_in_copies_can_be_listed_and_compared(
    bench, library: Path, tmp_path: Path
) -> None:
    done = bench("--peer", "list")
    assert (done.returncode, done.stderr) == (0, "")
    texts = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert {"asterope_mt", "rep_movsb"} < set(texts)

    done = bench("--routine", library, "--suite", "hot", "--sizes", "128,64K", "--rounds", "3",
                 "--peer", "all", "--json", "report.json")  # fmt: skip
    assert done.returncode == 0, done
    report = json.loads((tmp_path / "report.json").read_text())
    names = {copy["name"] for copy in report["copies"]}
    assert {"asterope", "rep_movsb"} < names
    left_out = {one["name"]: one["reason"] for one in report["left_out"]}
    assert "has no function asterope_memcpy_mt" in left_out["asterope_mt"]
    lines = done.stderr.splitlines()
    assert len(lines) == len(left_out)
    assert all("is left out: " in line for line in lines)
    assert names.isdisjoint(left_out)
    small, large = (set(row["copies"]) for row in report["results"])
    assert large == names
    assert small == names - {copy["name"] for copy in report["copies"] if copy.get("threaded")}


def test_an_entry_point_takes_part_under_its_own_workloads_alone(
    bench, peers: Path, tmp_path: Path
) -> None:
    done = bench("--routine", peers, *FEW, "--suite", "balanced", "--peer",
                 "asterope_hot,asterope_cold,asterope_consume", "--json", "told.json")  # fmt: skip
    assert done.returncode == 0, done
    assert "asterope_consume is left out: " in done.stderr
    report = json.loads((tmp_path / "told.json").read_text())
    ours = {copy["name"] for copy in report["copies"] if copy.get("ours")}
    assert ours == {"asterope", "asterope_hot", "asterope_cold"}
    there = {(row["workload"], *sorted(row["copies"])) for row in report["results"]}
    told = {"hot": "hot", "hot_read": "hot", "cold": "cold", "cold_walk": "cold"}
    assert there == {
        (name, "asterope", *([f"asterope_{told[name]}"] if name in told else []), "glibc")
        for name in workloads.names("balanced")
    }
    assert "entry points that are told the workload, in " in done.stdout
    assert "of 8 (" in done.stdout, "two sizes under each of four workloads"
    done = bench("--routine", peers, "--rounds", "3", "--suite", "balanced", "--sizes", "128")
    assert "\nhot " in done.stdout and "\nlookup " not in done.stdout


def test_overlaps_need_a_memmove_that_is_right(bench, peers: Path, tmp_path: Path) -> None:
    odd = shared_library(tmp_path / "libodd.so", PEERS + UPWARDS_ALONE)
    done = bench("--routine", odd, *OVERLAP)
    wrong = f"the memmove of {odd} is wrong: moves 7 bytes by 1 up"
    assert wrong in only_error(done, 1)
    done = bench("--routine", peers, *OVERLAP)
    missing = f"{peers} has no memmove to go with asterope_memcpy"
    assert only_error(done, 0) == f"asterope-bench: overlap is left out: {missing}"


def test_a_check_that_fails_names_the_cells_and_writes_the_report(
    bench, peers: Path, tmp_path: Path
) -> None:
    done = bench("--routine", peers, *HOT, "--check", "1000", "--json", "report.json")
    assert done.returncode == 1
    *cells, last = done.stderr.splitlines()
    assert len(cells) == 2
    for cell, size in zip(cells, ("128 B", "4 KiB")):
        assert cell.startswith(f"asterope-bench: sizes hot {size}: ")
        assert cell.endswith(" is under 1000")
    assert last == "asterope-bench: 2 of 2 cells are under --check 1000"
    assert json.loads((tmp_path / "report.json").read_text())["complete"]


# --- Sets -----------------------------------------------------------------------------------------

SETS = ("--operation", "memset")
MEMSET = (
    of_memset("pipelines", 0, 300, {"rt": "XMM", "st": "T"}, size=300),
    of_memset("pipelines", 300, 3000, {"rt": "R64", "st": "T"}, size=3000),
)
SET_PEERS = """
#include <string.h>
#define SET(name) void *name(void *to, int value, size_t size)
SET(right) { return memset(to, value, size); }
SET(zeros) { return memset(to, 0, size); }
SET(asterope_memset) { return zeros(to, value, size); }
"""


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with sets of all kinds."""
    return shared_library(tmp_path_factory.mktemp("sets") / "libsets.so", SET_PEERS)


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
    """Its routine, compiled."""
    return routine_of(memset_profile, tmp_path_factory.mktemp("routine"))


def test_sets_are_timed_beside_libcs_memset_and_every_output_says_so(
    measured, memset_library: Path, tmp_path: Path
) -> None:
    done, report = measured(*SETS, *HOT, routine=memset_library)
    title = done.stdout.splitlines()[0]
    assert title.startswith("asterope_memset against ") and ": 3 paired" in title
    assert (report["operation"], report["version"]) == ("memset", 2)
    libc, routine = report["copies"]
    assert libc["description"].endswith("'s memset as it is")
    assert routine["description"] == "asterope_memset, the routine"
    assert [line.split()[0] for line in rows_of(done, "hot")] == ["128", "4", "all"]
    for row in report["results"]:
        assert row["copies"]["asterope"]["ns"] > 0
    assert read_inputs([str(tmp_path / "report.json")]).bench is not None


def test_sets_have_the_suites_and_workloads_that_need_no_source(
    measured, memset_library: Path
) -> None:
    done, report = measured(*SETS, *FEW, "--suite", "all", routine=memset_library)
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
    assert set(header.split()[2:]) == of_one_size


def test_peers_and_references_are_proved_as_sets(
    bench, memset_library: Path, sets: Path, tmp_path: Path
) -> None:
    done = bench("--routine", memset_library, *SETS, *HOT, "--json", "report.json",
                 *peer(sets, "zeros"), "--reference", f"new={sets}:right")  # fmt: skip
    wrong = "zeros is left out: wrong byte 0 of 1 (value 85, destination +0)"
    assert only_error(done, 0) == f"asterope-bench: {wrong}"
    report = json.loads((tmp_path / "report.json").read_text())
    assert [copy["name"] for copy in report["copies"]][1:] == ["asterope", "new"]
    assert "asterope's memset is the best or within the noise floor" in done.stdout


def test_a_routine_that_sets_wrongly_fails(bench, sets: Path) -> None:
    done = bench("--routine", sets, *SETS, *FEW)
    assert "the routine asterope_memset sets wrong: wrong byte 0 of 1 " in only_error(done, 1)


def test_a_profile_gives_the_sizes_and_workloads_of_its_sets(
    bench, memset_library: Path, memset_profile: Path, profile_for
) -> None:
    options = ("--routine", memset_library, *SETS, *SIZES, "--rounds", "3")
    done = bench(*options, "--profile", memset_profile)
    assert [line.split()[0] for line in rows_of(done, "cold")] == ["300", "3000", "all"]
    assert "\nhot " not in done.stdout
    done = bench(*options, "--profile", memset_profile, "--suite", "balanced")
    assert "\nhot " in done.stdout and "\nconsume " in done.stdout
    done = bench(*options, *profile_for("hot"))
    assert "profile profile.json says nothing of memset" in only_error(done, 2)


# --- Interrupted ----------------------------------------------------------------------------------


def assert_interrupted(build_dir: Path, folder: Path, ready: Callable, *arguments: object) -> None:
    done = interrupted([build_dir / "asterope-bench", *arguments], ready, cwd=folder)
    assert (done.returncode, done.stderr) == (130, "asterope-bench: interrupted\n")


def test_an_interrupted_run_keeps_what_was_measured(
    build_dir: Path, library: Path, tmp_path: Path
) -> None:
    def ready(running: subprocess.Popen) -> None:
        next(line for line in running.stdout if line.startswith("128 B "))

    long = ("--suite", "hot", "--rounds", "5000", "--sizes", "128,32M")
    options = ("--routine", library, *long, "--json", "report.json")
    assert_interrupted(build_dir, tmp_path, ready, *options)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["complete"] is False
    assert [row["label"] for row in report["results"]] == ["128 B"]


def test_a_run_can_be_interrupted_while_peers_are_checked(
    build_dir: Path, library: Path, peers: Path, tmp_path: Path
) -> None:
    hangs = (tmp_path / "hanging").exists
    options = ("--routine", library, *peer(peers, "hangs"))
    assert_interrupted(build_dir, tmp_path, lambda _: hangs(), *options)


# --- What is refused ------------------------------------------------------------------------------


# One value of each option: the tests of what parses them have more; and the words that are to be
# told.
BAD_VALUES = {
    **{"--rounds": "2", "--sizes": "12Q", "--cpu": "9999"},
    **{"--json": "missing/report.json", "--check": "0", "--suite": "large"},
    **{"--reference": "glibc=libpeer.so:copy", "--peer": "asterope=libpeer.so:copy"},
    **{"--recording": "missing.json", "--profile": "missing.json"},
}
BAD_ARGUMENTS = [
    *([option, value, ""] for option, value in BAD_VALUES.items()),
    ["--bogus", ""],
    ["word", ""],
    ["--peer", "memcopy", "'memcopy' is no built-in copy"],
    ["--peer", "avx", "--peer", "avx=libpeer.so:copy", ""],
    ["--suite", "fresh", "--sizes", "128,1K", "fresh is timed from 4 KiB up"],
    ["--suite", "bystander", "--sizes", "63K", "bystander is timed from 64 KiB up"],
    ["--suite", "mix_l1", "is none of memcpy: choose workloads, sizes, "],
    [*SETS, "has no function asterope_memset"],
    [*SETS, "--suite", "aliased", "suite 'aliased' is none of memset: choose workloads, sizes, "],
    [*SETS, "--suite", "fetch", "fixed, states, hot, hot_read, cold, consume, balanced or all"],
    [*SETS, "--peer", "avx", "--peer avx is a copy, and memset is timed"],
    ["--operation", "memmove", "choose memcpy or memset"],
]


@pytest.mark.parametrize("words", BAD_ARGUMENTS, ids=lambda words: " ".join(words[:-1]))
def test_bad_arguments_are_refused_in_one_line(
    bench, library: Path, tmp_path: Path, words: list[str]
) -> None:
    *arguments, part = words
    message = only_error(bench("--routine", library, *arguments), 2)
    assert part in message
    assert len(message) < 300
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["missing", "damaged", "pipe"])
def test_a_bad_library_is_refused_in_one_line(bench, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "libroutine.so"
    if kind == "damaged":
        path.write_bytes(b"\x7fELF\x02\x01\x01")
    elif kind == "pipe":
        os.mkfifo(path)
    message = only_error(bench("--routine", path, *FEW), 2)
    assert str(path) in message and ("is no regular file" in message) == (kind == "pipe")


def test_without_memory_for_the_buffers_it_fails(bench, library: Path) -> None:
    little = partial(resource.setrlimit, resource.RLIMIT_AS, (200 << 20, 200 << 20))
    done = bench("--routine", library, "--sizes", "4K", preexec_fn=little)
    assert "no memory" in only_error(done, 1)


# --- Without a library ----------------------------------------------------------------------------


@pytest.fixture
def installed(build_dir: Path, repository: Path, tmp_path: Path):
    """asterope-bench away from any build folder, asterope-generate beside it, HOME empty; runs it.
    What it makes meanwhile goes into the folder `temporary`."""
    for name in ("bin", "work", "temporary"):
        (tmp_path / name).mkdir()
    for name in ("asterope-bench", "asterope-generate"):
        shutil.copy(build_dir / name, tmp_path / "bin")

    def run(*arguments: object, **variables: str) -> subprocess.CompletedProcess:
        environment = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path / "temporary")}
        environment.pop("XDG_CONFIG_HOME", None)
        settings = {"cwd": tmp_path / "work", "env": {**environment, **variables}}
        done = run_command(tmp_path / "bin" / "asterope-bench", *HOT, *arguments, **settings)
        assert list((tmp_path / "work").iterdir()) == []
        assert list((tmp_path / "temporary").iterdir()) == []  # whatever happened
        return done

    run.profile = tmp_path / ".config" / "asterope" / "profile.json"
    run.profile.parent.mkdir(parents=True)
    shutil.copy(repository / "generated" / "reference" / "xeon-gold-5218.json", run.profile)
    return run


def test_without_a_library_the_routine_is_built_from_a_profile(installed, tmp_path: Path) -> None:
    done = installed("--peer", "asterope_mt", CC="env cc -g0")
    assert (done.returncode, done.stderr) == (0, f"the routine is built from {installed.profile}\n")
    assert done.stdout.startswith("asterope_memcpy against ")
    named = installed.profile.rename(tmp_path / "named.json")
    done = installed("--profile", named)
    assert (done.returncode, done.stderr) == (0, f"the routine is built from {named}\n")


def test_without_a_library_and_a_profile_it_says_what_to_do(installed) -> None:
    installed.profile.unlink()
    message = only_error(installed(), 2)
    for words in ("build/libasterope_memcpy.so", str(installed.profile), "--routine"):
        assert words in message


@pytest.mark.parametrize(("compiler", "what"), [("/none/cc", "is not there"), ("false", "fails")])
def test_without_a_compiler_it_says_so_in_one_line(installed, compiler: str, what: str) -> None:
    message = only_error(installed(CC=compiler), 1)
    assert what in message
    assert "install a C compiler" in message and "--routine" in message
