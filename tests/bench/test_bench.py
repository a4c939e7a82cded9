"""The command asterope-bench: its table, its report, any number of copies, interruptions, refusals,
and a missing library."""

from __future__ import annotations

import itertools
import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from asterope import __version__, workloads
from bench_command import (
    FEW,
    FIXED,
    HOT,
    MIXES,
    PAGE_ENDS,
    PEERS,
    SIZES,
    TURNS,
    assert_in_turn,
    only_error,
    peer,
    rows_of,
)
from command_errors import interrupted, run_command
from copy_programs import shared_library

pytestmark = pytest.mark.one_cpu

WORKLOADS = [*workloads.names("measured"), "fresh"]

# --- Suites and workloads -------------------------------------------------------------------------


TITLES = ("x libc", "hot", "hot_read", "cold", "cold_walk", "consume", "consume_walk", "aliased",
          "fleet mix", "fleet mix by bytes", *FIXED, "overlapping", "128 B misaligned,",
          "hot, 1 thread", "cold, 1 thread")  # fmt: skip


def titles_in(done) -> set[str]:
    assert (done.returncode, done.stderr) == (0, "")
    return {title for title in TITLES if f"\n{title} " in done.stdout}


@pytest.fixture(scope="module")
def everything(build_dir, shipped, tmp_path_factory):
    """All suites in one run; what was printed, and the report."""
    folder = tmp_path_factory.mktemp("everything")
    options = ("--routine", shipped, *FEW, "--suite", "all", "--json", "report.json")
    done = run_command(build_dir / "asterope-bench", *options, cwd=folder)
    assert os.listdir(folder) == ["report.json"]
    return done, json.loads((folder / "report.json").read_text())


def results_of(everything, *suites: str) -> list[dict]:
    return [row for row in everything[1]["results"] if row["suite"] in suites]


def test_the_report_holds_what_the_table_shows(everything):
    done, report = everything
    title = done.stdout.splitlines()[0]
    assert title.startswith("asterope_memcpy against ") and "3 paired rounds" in title
    assert (report["tool_version"], report["rounds"]) == (__version__, 3)
    assert report["complete"] and report["machine"]["fingerprint"]
    libc, routine = (copy["name"] for copy in report["copies"])
    *lines, _ = rows_of(done, "hot")
    rows = [row for row in results_of(everything, "sizes") if row["workload"] == "hot"]
    assert [row["size"] for row in rows] == [128, 4096]
    for row, line in zip(rows, lines):
        ns, ours = row["copies"][libc]["ns"], row["copies"][routine]
        shown = [f"{ns:.1f}", f"{ours['ns']:.1f}", f"{ours['ratio']['median']:.2f}"]
        assert [line.split()[i] for i in (2, 3, 5)] == shown


def test_the_suites_that_are_asked_for_run(bench, shipped, everything):
    assert titles_in(everything[0]) == set(TITLES)
    there, maybe = {"hot", "cold", "cold_walk"}, {"hot_read", "consume", "consume_walk"}
    found = titles_in(bench("--routine", shipped, *FEW, *SIZES))
    assert there <= found <= there | maybe
    found = titles_in(bench("--routine", shipped, *FEW))
    assert {*there, "fleet mix"} <= found <= there | maybe | {"fleet mix", "fleet mix by bytes"}


def test_the_small_suites_have_mixes_and_fixed_sizes(everything):
    done, report = everything
    results = results_of(everything, "mix", "fixed")
    titles = {"fleet mix": MIXES, "fleet mix by bytes": MIXES, "fleet mix at page ends": PAGE_ENDS}
    for title, names in titles.items():
        assert [line.split()[0] for line in rows_of(done, title)] == [*names, "all"]
    all_sizes = []
    for workload in FIXED:
        *fixed, _ = rows_of(done, workload)
        sizes = [int(line.split()[0]) for line in fixed]
        all_sizes += [workload] * len(sizes)
        assert (sizes[0], sizes[-1]) == (1, 128 if "walk" in workload else 256)
        assert sizes == sorted(set(sizes))
    assert report["distribution"] == "fleet"
    assert [(row["workload"], row.get("weighting")) for row in results] == [
        *((mix, "calls") for mix in (*MIXES, *PAGE_ENDS)),
        *((mix, "bytes") for mix in MIXES),
        *((name, None) for name in all_sizes),
    ]
    for row in results:
        assert ("size" in row) == row["workload"].startswith("fixed")


def test_a_recording_is_drawn_from_and_named(measured, tmp_path):
    recording = {"format": "asterope-recording", "version": 2, "sizes": [[8, 900], [24, 900]]}
    (tmp_path / "r.json").write_text(json.dumps({**recording, "program": {"name": "fetcher"}}))
    done, report = measured(*FEW, "--suite", "mix", "--recording", "r.json")
    assert len(rows_of(done, "fetcher mix")) == 9
    assert report["distribution"] == "fetcher"


def test_a_profile_gives_sizes_and_workload(bench, shipped, profile_for):
    options = ("--routine", shipped, *profile_for("cold"))
    done = bench(*options, *SIZES, "--rounds", "3")
    assert [line.split()[0] for line in rows_of(done, "cold")] == ["200", "2", "all"]
    assert "\nhot " not in done.stdout
    done = bench(*options, *HOT)
    assert [line.split()[0] for line in rows_of(done, "hot")] == ["128", "4", "all"]
    done = bench(*options, "--suite", "workloads", "--rounds", "3")
    assert [line.split()[0] for line in rows_of(done, "x libc")] == ["200", "2", "all"]


def test_the_table_of_workloads_says_what_they_mean(everything):
    results = results_of(everything, "workloads")
    assert [(row["size"], row["workload"]) for row in results] == [
        (size, workload)
        for size in (128, 4096)
        for workload in WORKLOADS
        # timed from larger sizes on
        if workload != "fresh" and (size > 128 or workload != "lookup")
    ]
    lines = everything[0].stdout.splitlines()
    header = next(i for i, line in enumerate(lines) if line.startswith("x libc "))
    assert lines[header].split() == ["x", "libc", *WORKLOADS]
    blank, *legend = lines[header - 3 : header]
    assert blank == ""
    assert all(f"{workload}: " in " ".join(legend) for workload in WORKLOADS)


def test_the_grid_of_misalignments_has_every_pair(everything):
    past = ["0", "1", "8", "16", "31", "32", "63"]
    assert [row["label"] for row in results_of(everything, "misalignment")] == [
        f"{size} +{source} +{destination}"
        for size in ("128 B", "4 KiB")
        for source in past
        for destination in past
    ]


OVERLAP = ("--suite", "overlap", "--rounds", "3")


def test_overlaps_have_every_shift_both_ways_for_those_who_may(measured):
    _, report = measured(*OVERLAP, "--sizes", "512,8K", "--peer", "avx,rep_movsb")
    near, pages = (1, 8, 64, 1000), (4000, 4032, 4064, 4096, 8096)
    assert [(row["size"], row["label"].split()[-1]) for row in report["results"]] == [
        (size, way + str(shift))
        for shifts in (near, pages)
        for size in (512, 8192)
        for shift in shifts
        for way in "+-"
        if shift < size
    ]
    for row in report["results"]:
        assert (row["suite"], row["workload"]) == ("overlap", "overlapping")
        assert len(row["copies"]) == 2  # the peers' buffers must not overlap
        assert row["copies"]["asterope"]["ns"] > 0


@pytest.mark.all_cpus
def test_cached_buffers_take_turns_with_a_producer_s_at_sizes_that_may_look(measured):
    _, report = measured(*TURNS)
    assert_in_turn(report, "produced")


def test_all_cpus_copy_at_once_in_the_suite_of_threads(measured):
    _, report = measured(*FEW, "--suite", "threads")
    found = [(row["threads"], row["workload"], row["size"]) for row in report["results"]]
    counts = sorted({count for count, *_ in found})
    assert (counts[0], counts[-1]) == (1, len(os.sched_getaffinity(0)))
    assert sorted(found) == sorted(itertools.product(counts, ("hot", "cold"), (128, 4096)))


# --- Any number of copies -------------------------------------------------------------------------


LATE = {
    "--peer crashes_late": "(crashes_late of {}) ended the run: the process died: Aborted: "
    "leave it out",
    # A slower machine times fewer calls before, so the size differs.
    "--reference idles_late": "copied right before it was timed, and copies wrong since: "
    "wrong byte 0 of ",
}


@pytest.mark.parametrize(("how", "said"), LATE.items(), ids=LATE)
def test_a_copy_that_goes_wrong_while_it_is_timed_is_named(bench, shipped, peers, how, said):
    option, symbol = how.split()
    done = bench("--routine", shipped, *HOT, option, f"new={peers}:{symbol}")
    assert only_error(done, 1).startswith(f"asterope-bench: new {said.format(peers)}")


def test_peers_have_a_column_each_but_those_that_are_not_there_or_break_or_copy_wrongly(
    bench, shipped, peers, tmp_path
):
    reasons = {
        "missing": "cannot be loaded",
        "no_such_copy": "has no function no_such_copy",
        "crashes": "died: Aborted",
        "leaves": "ends the process",
        "too_short": "wrong byte",
    }
    done = bench("--routine", shipped, *HOT, *peer(tmp_path / "missing.so", "missing"),
                 *peer(peers, *list(reasons)[1:], "right", "slow"), "--peer", "rep_movsb",
                 "--json", "report.json")  # fmt: skip
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert len(lines) == len(reasons)
    for line, (name, reason) in zip(lines, reasons.items()):
        assert line.startswith(f"asterope-bench: {name} is left out: ") and reason in line
    report = json.loads((tmp_path / "report.json").read_text())
    assert [one["name"] for one in report["left_out"]] == list(reasons)
    names = {copy["name"] for copy in report["copies"][1:]}
    assert names == {"asterope", "rep_movsb", "right", "slow"}
    for copy in report["copies"]:
        assert copy["description"] and f"  {copy['name']} " in done.stdout
    assert all(row["copies"].keys() > names for row in report["results"])
    assert "\nNo copy is clearly better than asterope in " in done.stdout


def test_the_routine_is_judged_by_the_references_as_well(measured, bench, shipped, peers):
    done, report = measured(*HOT, "--brief", "--reference", f"new-1.0={peers}:right")
    assert [copy["name"] for copy in report["copies"] if copy.get("reference")] == ["new-1.0"]
    assert all(row["best_reference"] in ("glibc", "new-1.0") for row in report["results"])
    assert ", new-1.0, " in done.stdout.splitlines()[0]
    assert "in each cell the faster one's time" in done.stdout
    done = bench("--routine", shipped, *HOT, "--reference", f"new={peers}:too_short")
    assert "--reference new wrong byte" in only_error(done, 2)


@pytest.mark.slow
def test_a_peer_that_hangs_is_left_out(bench, shipped, peers):
    done = bench("--routine", shipped, *HOT, *peer(peers, "hangs"))
    assert "hangs is left out: still runs after " in only_error(done, 0)


@pytest.mark.slow
def test_all_built_in_copies_can_be_listed_and_compared(bench, shipped, tmp_path):
    done = bench("--peer", "list")
    assert (done.returncode, done.stderr) == (0, "")
    texts = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert {"asterope_mt", "rep_movsb"} < set(texts)
    options = ("--suite", "hot", "--sizes", "128,64K", "--rounds", "3", "--json", "report.json")
    done = bench("--routine", shipped, *options, "--peer", "all")
    assert done.returncode == 0, done
    report = json.loads((tmp_path / "report.json").read_text())
    copies = {copy["name"]: bool(copy.get("threaded")) for copy in report["copies"]}
    left_out = {one["name"]: one["reason"] for one in report["left_out"]}
    assert "has no function asterope_memcpy_mt" in left_out["asterope_mt"]
    assert copies.keys() | left_out.keys() >= texts.keys() and not copies.keys() & left_out.keys()
    small, large = (set(row["copies"]) for row in report["results"])
    del copies["asterope_fresh"]  # under its own workloads alone
    assert large == set(copies) and small == {name for name in copies if not copies[name]}


def test_an_entry_point_takes_part_under_its_own_workloads_alone(bench, peers, tmp_path):
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
        if not name.startswith("fresh")  # which is timed from larger sizes on
    }
    assert "entry points that are told the workload, in " in done.stdout
    assert "of 8 (" in done.stdout, "two sizes under each of four workloads"
    done = bench("--routine", peers, "--rounds", "3", "--suite", "balanced", "--sizes", "128")
    assert "\nhot " in done.stdout and "\nlookup " not in done.stdout


def test_overlaps_need_a_memmove_that_is_right(bench, peers, tmp_path):
    upwards_alone = "COPY(asterope_memmove) { return slow(to, from, size); }"
    odd = shared_library(tmp_path / "libodd.so", PEERS + upwards_alone)
    done = bench("--routine", odd, *OVERLAP)
    wrong = f"the memmove of {odd} is wrong: moves 7 bytes wrong (source +0, by 1)"
    assert wrong in only_error(done, 1)
    done = bench("--routine", peers, *OVERLAP)
    missing = f"{peers} has no memmove to go with asterope_memcpy"
    assert only_error(done, 0) == f"asterope-bench: overlap is left out: {missing}"


def test_a_check_that_fails_names_the_cells_and_writes_the_report(bench, peers, tmp_path):
    done = bench("--routine", peers, *HOT, "--check", "1000", "--json", "report.json")
    assert done.returncode == 1
    *cells, last = done.stderr.splitlines()
    assert len(cells) == 2
    for cell, size in zip(cells, ("128 B", "4 KiB")):
        assert cell.startswith(f"asterope-bench: sizes hot {size}: ")
        assert cell.endswith(" is under 1000")
    assert last == "asterope-bench: 2 of 2 cells are under --check 1000"
    assert json.loads((tmp_path / "report.json").read_text())["complete"]


# --- Interrupted, or without a library that can be loaded -----------------------------------------


def assert_interrupted(build_dir: Path, folder: Path, ready: Callable, *arguments: object) -> None:
    done = interrupted([build_dir / "asterope-bench", *arguments], ready, cwd=folder)
    assert (done.returncode, done.stderr) == (130, "asterope-bench: interrupted\n")


def test_an_interrupted_run_keeps_what_was_measured(build_dir, shipped, tmp_path):
    def ready(running: subprocess.Popen) -> None:
        next(line for line in running.stdout if line.startswith("128 B "))

    long = ("--suite", "hot", "--rounds", "5000", "--sizes", "128,32M")
    options = ("--routine", shipped, *long, "--json", "report.json")
    assert_interrupted(build_dir, tmp_path, ready, *options)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["complete"] is False
    assert [row["label"] for row in report["results"]] == ["128 B"]


def test_a_run_can_be_interrupted_while_peers_are_checked(build_dir, shipped, peers, tmp_path):
    hangs = (tmp_path / "hanging").exists
    options = ("--routine", shipped, *peer(peers, "hangs"))
    assert_interrupted(build_dir, tmp_path, lambda _: hangs(), *options)


def test_a_bad_library_is_refused_in_one_line(bench, tmp_path):
    (tmp_path / "damaged").write_bytes(b"\x7fELF\x02\x01\x01")
    os.mkfifo(tmp_path / "pipe")
    for name in ("missing", "damaged", "pipe"):
        message = only_error(bench("--routine", tmp_path / name, *FEW), 2)
        assert str(tmp_path / name) in message
        assert ("is not a regular file" in message) == (name == "pipe")


def test_a_small_stack_is_no_fault_of_the_routine(bench, shipped):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_STACK, (512 << 10, 512 << 10))

    done = bench("--routine", shipped, *FEW, preexec_fn=limit)
    assert "the stack may take 512 KiB, and timing needs more" in only_error(done, 1)


@pytest.mark.parametrize("option", ["--routine", "--profile", "--recording"])
def test_what_is_read_is_not_overwritten(bench, tmp_path, option):
    (tmp_path / "read").write_text("ours")
    (tmp_path / "link").symlink_to("read")
    done = bench(*FEW, option, "read", "--json", "link")
    assert "would be lost: choose another --json" in only_error(done, 2)
    assert (tmp_path / "read").read_text() == "ours"


@pytest.fixture
def installed(build_dir: Path, repository: Path, tmp_path: Path):
    """asterope-bench away from any build folder, asterope-generate beside it, HOME empty; runs it.
    Its temporary files go into the folder `temporary`."""
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
        assert list((tmp_path / "temporary").iterdir()) == []  # at every ending
        return done

    run.profile = tmp_path / ".config" / "asterope" / "profile.json"
    run.profile.parent.mkdir(parents=True)
    shutil.copy(repository / "generated" / "reference" / "xeon-gold-5218.json", run.profile)
    return run


def test_without_a_library_the_routine_is_built_from_a_profile(installed, tmp_path):
    done = installed("--peer", "asterope_mt", CC="env cc -g0")
    assert (done.returncode, done.stderr) == (0, f"the routine is built from {installed.profile}\n")
    assert done.stdout.startswith("asterope_memcpy against ")
    named = installed.profile.rename(tmp_path / "named.json")
    done = installed("--profile", named)
    assert (done.returncode, done.stderr) == (0, f"the routine is built from {named}\n")


def test_without_a_library_and_a_profile_it_says_what_to_do(installed):
    installed.profile.unlink()
    message = only_error(installed(), 2)
    for words in ("build/libasterope_memcpy.so", str(installed.profile), "--routine"):
        assert words in message


@pytest.mark.parametrize(("compiler", "what"), [("/none/cc", "is not there"), ("false", "fails")])
def test_without_a_compiler_it_says_so_in_one_line(installed, compiler, what):
    message = only_error(installed(CC=compiler), 1)
    assert what in message
    assert "install a C compiler" in message and "--routine" in message
