"""The command asterope-bench: its table, its report, its exit codes and one-line errors."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import resource
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from asterope import __version__
from asterope.profile import load_profile
from asterope.render import render_routine
from command_errors import only_error_of, without_warnings

pytestmark = pytest.mark.one_cpu

PLAIN = {"rt": "XMM", "lt": "T", "st": "T", "pt": "none", "ps": 0, "pd": 0}
FEW = ("--rounds", "3", "--sizes", "128,4K")
SIZES = ("--suite", "sizes")
SMALL = ("--suite", "mix,fixed")
MIXES = [f"mix_{where}{read}" for read in ("", "_read") for where in ("l1", "l2", "l3", "memory")]
PAGE_ENDS = ["page_end", "page_end_read"]


@pytest.fixture(scope="module")
def library(build_dir: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reference routine, compiled."""
    folder = tmp_path_factory.mktemp("routine")
    profile = load_profile(repository / "generated" / "reference" / "xeon-gold-5218.json")
    for name, text in render_routine(profile).items():
        (folder / name).write_text(text)
    library = folder / "libroutine.so"
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", library, folder / "asterope_memcpy.c"]
    subprocess.run(command, check=True, timeout=60)
    return library


@pytest.fixture
def bench(build_dir: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs asterope-bench in an empty folder."""

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess:
        command = [str(part) for part in (build_dir / "asterope-bench", *arguments)]
        settings = {"cwd": tmp_path, "timeout": 120, **options}
        done = subprocess.run(command, capture_output=True, text=True, **settings)
        done.stderr = without_warnings(done.stderr)
        return done

    return run


only_error = partial(only_error_of, "asterope-bench")


def test_it_prints_a_table_for_each_workload(bench, library: Path) -> None:
    done = bench("--routine", library, *FEW)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("asterope_memcpy against ")
    assert "3 paired rounds" in lines[0]
    for workload in ("hot", "cold"):
        at = next(i for i, line in enumerate(lines) if line.startswith(f"{workload} "))
        first, second, mean = lines[at + 1 : at + 4]
        assert first.startswith("128 B ")
        assert second.startswith("4 KiB ")
        ratios = [float(line.split()[5]) for line in (first, second)]
        assert mean.endswith("geometric mean")
        assert float(mean.split()[1]) == pytest.approx(math.prod(ratios) ** 0.5, abs=0.02)


def test_the_report_holds_what_the_table_shows(bench, library: Path, tmp_path: Path) -> None:
    done = bench("--routine", library, *FEW, *SIZES, "--workload", "hot", "--json", "report.json")
    assert done.returncode == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["format"] == "asterope-bench"
    assert report["tool_version"] == __version__
    assert report["rounds"] == 3
    assert report["machine"]["fingerprint"]
    assert [(row["workload"], row["size"]) for row in report["results"]] == [
        ("hot", 128),
        ("hot", 4096),
    ]
    rows = [line for line in done.stdout.splitlines() if line.startswith(("128 B", "4 KiB"))]
    assert (report["version"], report["complete"]) == (2, True)
    libc, routine = (copy["name"] for copy in report["copies"])
    assert routine == "asterope"
    for row, line in zip(report["results"], rows):
        assert (row["suite"], row["threads"]) == ("sizes", 1)
        assert list(row["copies"]) == [libc, routine]
        ours = row["copies"][routine]
        for estimate in (ours["ratio"], row["noise_floor"]):
            assert estimate["low"] <= estimate["median"] <= estimate["high"]
        assert f"{row['copies'][libc]['ns']:.1f}" == line.split()[2]
        assert f"{ours['ns']:.1f}" == line.split()[3]
        assert f"{ours['ratio']['median']:.2f}" == line.split()[5]
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def rows_of(done: subprocess.CompletedProcess, title: str) -> list[str]:
    """The lines of a table: after its title, up to the next blank line."""
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"{title} ")) + 1
    rest = lines[begin:]
    return rest[: rest.index("")] if "" in rest else rest


def test_the_small_suite_has_mixes_and_fixed_sizes(bench, library: Path, tmp_path: Path) -> None:
    done = bench("--routine", library, *FEW, *SMALL, "--json", "report.json")
    for title in ("fleet mix", "fleet mix by bytes"):
        *mixes, mean = rows_of(done, title)
        assert [line.split()[0] for line in mixes] == MIXES
        ratios = [float(line.split()[3]) for line in mixes]
        assert float(mean.split()[1]) == pytest.approx(math.prod(ratios) ** (1 / 8), abs=0.02)
    *page_ends, _ = rows_of(done, "fleet mix at page ends")
    assert [line.split()[0] for line in page_ends] == PAGE_ENDS
    for workload in ("fixed", "fixed_read"):
        *fixed, mean = rows_of(done, workload)
        sizes = [int(line.split()[0]) for line in fixed]
        assert (sizes[0], sizes[-1]) == (1, 256)
        assert sizes == sorted(set(sizes))
        assert mean.endswith("geometric mean")
    assert "\nhot " not in done.stdout
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["distribution"] == "fleet"
    workloads = [row["workload"] for row in report["results"]]
    mixes = [*MIXES, *PAGE_ENDS, *MIXES]
    assert workloads == mixes + ["fixed"] * len(sizes) + ["fixed_read"] * len(sizes)
    weightings = [row.get("weighting") for row in report["results"]]
    assert weightings == ["calls"] * 10 + ["bytes"] * 8 + [None] * 2 * len(sizes)
    for row in report["results"]:
        assert ("size" in row) == row["workload"].startswith("fixed")
        assert row["copies"]["asterope"]["ratio"]["median"] > 0


def test_the_sizes_suite_has_no_small_copies(bench, library: Path) -> None:
    done = bench("--routine", library, *FEW, *SIZES)
    assert done.returncode == 0
    assert "\nhot " in done.stdout
    assert "mix" not in done.stdout
    assert "fixed" not in done.stdout


def test_sizes_and_the_mix_run_where_no_suite_is_named(bench, library: Path) -> None:
    done = bench("--routine", library, *FEW)
    assert done.returncode == 0
    for title in ("hot", "cold", "fleet mix"):
        assert f"\n{title} " in done.stdout
    for title in ("x libc", "aliased", "fixed", "fixed_read"):
        assert f"\n{title} " not in done.stdout


def test_all_suites_run_on_request(bench, library: Path) -> None:
    done = bench("--routine", library, *FEW, "--suite", "all")
    assert done.returncode == 0
    for title in ("x libc", "hot", "hot_read", "cold", "consume", "aliased", "fleet mix",
                  "fleet mix by bytes", "fixed", "fixed_read", "overlapping", "128 B misaligned,",
                  "hot, 1 thread", "cold, 1 thread"):  # fmt: skip
        assert f"\n{title} " in done.stdout


def test_a_distribution_is_drawn_from_and_named(bench, library: Path, tmp_path: Path) -> None:
    (tmp_path / "our calls.csv").write_text("8:0.5,24:0.5\n")
    done = bench("--routine", library, *FEW, *SMALL, "--distribution", "our calls.csv",
                 "--json", "report.json")  # fmt: skip
    assert len(rows_of(done, "our calls.csv mix")) == 9
    assert json.loads((tmp_path / "report.json").read_text())["distribution"] == "our calls.csv"


def test_a_profile_gives_sizes_and_workload(bench, library: Path, tmp_path: Path) -> None:
    profile = {
        "format": "asterope-profile",
        "version": 1,
        "architecture": "x86_64",
        "complete": True,
        "search": {"workload": "cold"},
        "intervals": [
            {"above": 0, "up_to": 200, "winner": {"tuple": PLAIN}},
            {"above": 200, "up_to": 2048, "winner": {"tuple": PLAIN}},
        ],
    }
    (tmp_path / "profile.json").write_text(json.dumps(profile))
    done = bench("--routine", library, "--rounds", "3", *SIZES, "--profile", "profile.json")
    assert done.returncode == 0
    assert "\ncold " in done.stdout
    assert "\nhot " not in done.stdout
    assert "\n200 B " in done.stdout
    assert "\n2 KiB " in done.stdout
    done = bench("--routine", library, *FEW, "--profile", "profile.json", "--workload", "hot")
    assert "\nhot " in done.stdout
    assert "\n4 KiB " in done.stdout


def test_a_library_needs_no_slash_in_its_name(bench, library: Path) -> None:
    done = bench("--routine", library.name, *FEW, cwd=library.parent)
    assert done.returncode == 0, done


def test_another_function_can_be_named(bench, library: Path) -> None:
    done = bench("--routine", library, *FEW, "--symbol", "asterope_memmove")
    assert done.stdout.startswith("asterope_memmove against ")


def test_a_function_that_the_library_lacks_is_named(bench, library: Path) -> None:
    for symbol in ("asterope_memcpy_hot", "asterope_memcpy_cold", "asterope_memcpy_consume"):
        message = only_error(bench("--routine", library, *FEW, "--symbol", symbol), 2)
        assert f"{library} has no function {symbol}" in message


@pytest.mark.parametrize("intent", ["hot", "cold", "consume"])
def test_an_entry_point_by_intent_can_be_compared(bench, tmp_path: Path, intent: str) -> None:
    (tmp_path / "intents.c").write_text(
        "#include <string.h>\n"
        f"void *asterope_memcpy_{intent}(void *to, const void *from, size_t size)\n"
        "{ return memcpy(to, from, size); }\n"
    )
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", "libintents.so", "intents.c"]
    subprocess.run(command, check=True, timeout=60, cwd=tmp_path)
    done = bench(
        "--routine", "libintents.so", *FEW, *SIZES, "--symbol", f"asterope_memcpy_{intent}"
    )
    assert done.stdout.startswith(f"asterope_memcpy_{intent} against ")
    assert "\n4 KiB " in done.stdout


WORKLOADS = ["hot", "hot_read", "cold", "consume", "produce", "fetch", "fresh"]
TABLE = ("--suite", "workloads")


@pytest.mark.parametrize("workload", WORKLOADS)
def test_each_workload_can_be_compared_alone(bench, library: Path, workload: str) -> None:
    done = bench("--routine", library, *FEW, *SIZES, "--workload", workload)
    rows = ["4"] if workload == "fresh" else ["128", "4", "all"]
    assert [line.split()[0] for line in rows_of(done, workload)] == rows
    for other in set(WORKLOADS) - {workload}:
        assert f"\n{other} " not in done.stdout


def test_fresh_is_not_timed_below_4_kib(bench, library: Path) -> None:
    fresh = ("--workload", "fresh")
    message = only_error(bench("--routine", library, *SIZES, *fresh, "--sizes", "128,1K"), 2)
    assert "workload fresh is timed from 4 KiB up" in message


def test_the_table_of_workloads_has_their_ratios_and_floors(
    bench, library: Path, tmp_path: Path
) -> None:
    done = bench("--routine", library, *FEW, *TABLE, "--json", "report.json")
    first, second, mean = rows_of(done, "x libc")
    results = json.loads((tmp_path / "report.json").read_text())["results"]
    assert [(row["suite"], row["size"], row["workload"]) for row in results] == [
        ("workloads", size, workload)
        for size in (128, 4096)
        for workload in WORKLOADS
        if (size, workload) != (128, "fresh")
    ]
    cells = [
        f"{row['copies']['asterope']['ratio']['median']:.2f} "
        f"({row['noise_floor']['low']:.2f}..{row['noise_floor']['high']:.2f})"
        for row in results
    ]
    others = len(WORKLOADS) - 1  # fresh begins at 4 KiB
    assert first.split() == ["128", "B", *" ".join(cells[:others]).split(), "-"]
    assert second.split() == ["4", "KiB", *" ".join(cells[others:]).split()]
    ratios = [row["copies"]["asterope"]["ratio"]["median"] for row in results]
    columns = [[ratios[i], ratios[others + i]] for i in range(others)] + [ratios[-1:]]
    summary = [
        f"{math.prod(column) ** (1 / len(column)):.2f}, least {min(column):.2f}"
        for column in columns
    ]
    assert mean.split() == ["all", *" ".join(summary).split()]


def test_the_table_of_workloads_says_what_they_are(bench, library: Path) -> None:
    done = bench("--routine", library, *FEW, *TABLE)
    lines = done.stdout.splitlines()
    header = next(i for i, line in enumerate(lines) if line.startswith("x libc "))
    assert lines[header].split() == ["x", "libc", *WORKLOADS]
    legend = lines[header - 2] + " " + lines[header - 1]
    for workload in WORKLOADS:
        assert f"{workload}: " in legend
    assert lines[header - 3] == ""


def test_the_table_of_workloads_takes_a_profiles_sizes(
    bench, library: Path, tmp_path: Path
) -> None:
    profile = {
        "format": "asterope-profile",
        "version": 1,
        "architecture": "x86_64",
        "complete": True,
        "search": {"workload": "cold"},
        "intervals": [
            {"above": 0, "up_to": 200, "winner": {"tuple": PLAIN}},
            {"above": 200, "up_to": 2048, "winner": {"tuple": PLAIN}},
        ],
    }
    (tmp_path / "profile.json").write_text(json.dumps(profile))
    done = bench("--routine", library, "--rounds", "3", *TABLE, "--profile", "profile.json")
    assert [line.split()[0] for line in rows_of(done, "x libc")] == ["200", "2", "all"]


def test_the_table_of_workloads_has_powers_of_two(bench, library: Path) -> None:
    done = bench("--routine", library, "--rounds", "3", *TABLE)
    sizes = [line[:9].strip() for line in rows_of(done, "x libc")]
    assert (len(sizes), sizes[0], sizes[1], sizes[-2]) == (20, "128 B", "256 B", "32 MiB")


# Any number of copies

PEERS = """
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void *right(void *to, const void *from, size_t size) { return memcpy(to, from, size); }
void *slow(void *to, const void *from, size_t size)
{ for (size_t i = 0; i < size; ++i) ((volatile char *)to)[i] = ((const char *)from)[i]; return to; }
void *returns_nothing(void *to, const void *from, size_t size) { memcpy(to, from, size); return 0; }
void *too_short(void *to, const void *from, size_t size)
{ return memcpy(to, from, size > 4000 ? size - 1 : size); }
void *too_long(void *to, const void *from, size_t size)
{ memcpy(to, from, size); ((char *)to)[size] = 0; return to; }
void *crashes(void *to, const void *from, size_t size)
{ if (size > 100) abort(); return memcpy(to, from, size); }
void *leaves(void *to, const void *from, size_t size) { exit(0); return memcpy(to, from, size); }
void *hangs(void *to, const void *from, size_t size)
{ creat("hanging", 0600); for (;;) sleep(1); return to; }
"""


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with copies of all kinds."""
    folder = tmp_path_factory.mktemp("peers")
    (folder / "peers.c").write_text(PEERS)
    command = ["cc", "-O2", "-fno-builtin", "-shared", "-fPIC", "-o", "libpeers.so", "peers.c"]
    subprocess.run(command, check=True, timeout=60, cwd=folder)
    return folder / "libpeers.so"


def peer(library: Path, *symbols: str) -> list[str]:
    return [part for symbol in symbols for part in ("--peer", f"{symbol}={library}:{symbol}")]


def test_peers_have_a_column_each(bench, library: Path, peers: Path, tmp_path: Path) -> None:
    done = bench("--routine", library, *FEW, *SIZES, "--workload", "hot", "--peers", "rep_movsb",
                 *peer(peers, "right", "slow"), "--json", "report.json")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    first, second, mean = rows_of(done, "hot")
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["left_out"] == []
    names = [copy["name"] for copy in report["copies"]]
    assert names[1:] == ["asterope", "rep_movsb", "right", "slow"]
    for copy in report["copies"]:
        assert copy["description"]
        assert f"  {copy['name']} " in done.stdout
    for row, line in zip(report["results"], (first, second)):
        cells = line.split()
        assert cells[2] == f"{row['copies'][names[0]]['ns']:.1f}"
        ratios = [row["copies"][name]["ratio"]["median"] for name in names[1:]]
        assert [cell.rstrip("*") for cell in cells[3:-1]] == [f"{ratio:.2f}" for ratio in ratios]
        best = max(ratios)
        if best > 1:
            assert cells[3 + ratios.index(best)].endswith("*")
        floor = row["noise_floor"]
        assert cells[-1] == f"({floor['low']:.2f}..{floor['high']:.2f})"
    assert "geometric mean" in mean
    summary = done.stdout.splitlines()
    assert any(line.startswith("asterope is the best or within the noise floor") and
               " of 2 (" in line for line in summary)  # fmt: skip


@pytest.mark.parametrize("symbol", ["returns_nothing", "too_short", "too_long"])
def test_a_peer_that_copies_wrongly_is_left_out(
    bench, library: Path, peers: Path, tmp_path: Path, symbol: str
) -> None:
    done = bench("--routine", library, *FEW, *SIZES, "--workload", "hot",
                 *peer(peers, symbol, "right"), "--json", "report.json")  # fmt: skip
    assert f"{symbol} is left out: " in only_error(done, 0)
    report = json.loads((tmp_path / "report.json").read_text())
    (left_out,) = report["left_out"]
    assert left_out["name"] == symbol
    assert any(word in left_out["reason"] for word in ("wrong byte", "stray write", "return"))
    assert [copy["name"] for copy in report["copies"]][1:] == ["asterope", "right"]


def test_peers_that_are_not_there_or_break_are_left_out_and_the_rest_goes_on(
    bench, library: Path, peers: Path, tmp_path: Path
) -> None:
    (tmp_path / "libtext.so").write_text("no library")
    done = bench("--routine", library, *FEW, *SIZES, "--workload", "hot",
                 *peer(tmp_path / "missing.so", "missing"), *peer(tmp_path / "libtext.so", "text"),
                 *peer(peers, "no_such_copy", "crashes", "leaves", "right"),
                 "--json", "report.json")  # fmt: skip
    assert done.returncode == 0
    reasons = {
        "missing": "cannot be loaded",
        "text": "cannot be loaded",
        "no_such_copy": "has no function no_such_copy",
        "crashes": "died: Aborted",
        "leaves": "ends the process",
    }
    lines = done.stderr.splitlines()
    assert len(lines) == len(reasons)
    for line, (name, reason) in zip(lines, reasons.items()):
        assert line.startswith(f"asterope-bench: {name} is left out: ")
        assert reason in line
    report = json.loads((tmp_path / "report.json").read_text())
    assert [one["name"] for one in report["left_out"]] == list(reasons)
    assert [copy["name"] for copy in report["copies"]][1:] == ["asterope", "right"]
    assert all("right" in row["copies"] for row in report["results"])


@pytest.mark.slow
def test_a_peer_that_hangs_is_left_out(bench, library: Path, peers: Path) -> None:
    done = bench("--routine", library, *FEW, *SIZES, "--workload", "hot", *peer(peers, "hangs"))
    assert "hangs is left out: still runs after " in only_error(done, 0)


def test_a_routine_that_copies_wrongly_fails(bench, peers: Path) -> None:
    done = bench("--routine", peers, "--symbol", "too_short", *FEW)
    assert "the routine too_short copies wrong: wrong byte " in only_error(done, 1)


def test_all_built_in_copies_can_be_compared(bench, library: Path, tmp_path: Path) -> None:
    done = bench("--routine", library, "--rounds", "3", "--sizes", "128,64K", *SIZES,
                 "--workload", "hot", "--peers", "all", "--json", "report.json")  # fmt: skip
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
    threaded = {copy["name"] for copy in report["copies"] if copy.get("threaded")}
    assert small == names - threaded


def test_an_entry_point_takes_part_under_its_own_workload_alone(bench, tmp_path: Path) -> None:
    source = tmp_path / "told.c"
    source.write_text(
        "#include <string.h>\n"
        "void *asterope_memcpy(void *d, const void *s, size_t n) { return memcpy(d, s, n); }\n"
        "void *asterope_memcpy_hot(void *d, const void *s, size_t n) { return memcpy(d, s, n); }\n"
        "void *asterope_memcpy_cold(void *d, const void *s, size_t n) { return memcpy(d, s, n); }\n"
    )
    library = tmp_path / "told.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    done = bench("--routine", library, *FEW, *SIZES, "--workload", "balanced", "--peers",
                 "asterope_hot,asterope_cold,asterope_consume", "--json", "told.json")  # fmt: skip
    assert done.returncode == 0, done
    assert "asterope_consume is left out: " in done.stderr
    results = json.loads((tmp_path / "told.json").read_text())
    assert {c["name"] for c in results["copies"] if c.get("ours")} == {
        "asterope", "asterope_hot", "asterope_cold"}  # fmt: skip
    there = {(row["workload"], *sorted(row["copies"])) for row in results["results"]}
    assert there == {
        ("hot", "asterope", "asterope_hot", "glibc"),
        ("cold", "asterope", "asterope_cold", "glibc"),
        ("consume", "asterope", "glibc"),
        ("fetch", "asterope", "glibc"),
    }
    assert "entry points that are told the workload, in " in done.stdout
    assert "of 4 (" in done.stdout, "two sizes under each of two workloads"


def test_the_built_in_copies_can_be_listed(bench) -> None:
    done = bench("--peers", "list")
    assert (done.returncode, done.stderr) == (0, "")
    texts = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert {"asterope_mt", "glibc_tuned", "rep_movsb"} < set(texts)


def test_the_csv_has_a_line_for_each_copy_in_each_cell(
    bench, library: Path, peers: Path, tmp_path: Path
) -> None:
    done = bench("--routine", library, *FEW, "--suite", "sizes,mix", "--workload", "hot",
                 *peer(peers, "right"), "--json", "report.json", "--csv", "rows.csv")  # fmt: skip
    assert done.returncode == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "rows.csv").read_text())))
    results = json.loads((tmp_path / "report.json").read_text())["results"]
    assert list(rows[0]) == ["suite", "workload", "label", "size", "threads", "weighting", "copy",
                             "ns", "ratio", "low", "high", "floor_low", "floor_high"]  # fmt: skip
    cells = [(result, name) for result in results for name in result["copies"]]
    assert len(rows) == len(cells)
    for row, (result, name) in zip(rows, cells):
        assert row["copy"] == name
        assert (row["suite"], row["workload"]) == (result["suite"], result["workload"])
        assert row["label"] == result["label"]
        assert row["size"] == str(result.get("size", ""))
        assert row["weighting"] == result.get("weighting", "")
        own = result["copies"][name]
        assert float(row["ns"]) == pytest.approx(own["ns"], rel=1e-4)
        ratio = own.get("ratio", {"median": 1, "low": 1, "high": 1})
        for column, key in (("ratio", "median"), ("low", "low"), ("high", "high")):
            assert float(row[column]) == pytest.approx(ratio[key], abs=1e-4)
        assert float(row["floor_low"]) == pytest.approx(result["noise_floor"]["low"], abs=1e-4)


def test_a_check_that_holds_changes_nothing(bench, library: Path) -> None:
    done = bench("--routine", library, *FEW, *SIZES, "--workload", "hot", "--check", "0.001")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_check_that_fails_names_the_cells_and_writes_the_files(
    bench, peers: Path, tmp_path: Path
) -> None:
    done = bench("--routine", peers, "--symbol", "slow", *FEW, *SIZES, "--workload", "hot",
                 "--check", "1000", "--json", "report.json", "--csv", "rows.csv")  # fmt: skip
    assert done.returncode == 1
    *cells, last = done.stderr.splitlines()
    assert len(cells) == 2
    for cell, size in zip(cells, ("128 B", "4 KiB")):
        assert cell.startswith(f"asterope-bench: sizes hot {size}: ")
        assert cell.endswith(" is under 1000")
    assert last == "asterope-bench: 2 of 2 cells are under --check 1000"
    assert json.loads((tmp_path / "report.json").read_text())["complete"]
    assert (tmp_path / "rows.csv").exists()


def test_the_grid_of_misalignments_has_every_pair(bench, library: Path, tmp_path: Path) -> None:
    done = bench("--routine", library, "--rounds", "3", "--suite", "misalignment",
                 "--sizes", "512", "--json", "report.json")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    results = json.loads((tmp_path / "report.json").read_text())["results"]
    past = ["0", "1", "8", "16", "31", "32", "63"]
    assert [row["label"] for row in results] == [
        f"512 B +{source} +{destination}" for source in past for destination in past
    ]
    header, *lines = rows_of(done, "512 B misaligned,")
    assert header.split() == [f"+{one}" for one in past]
    for source, line in zip(past, lines):
        label, *ratios = line.split()
        assert label == f"+{source}"
        row = [r for r in results if f" +{source} +" in r["label"]]
        assert ratios == [f"{r['copies']['asterope']['ratio']['median']:.2f}" for r in row]


OVERLAP = ("--suite", "overlap", "--rounds", "3")


def test_the_suite_of_overlaps_has_every_shift_both_ways_for_those_who_may(
    bench, library: Path, tmp_path: Path
) -> None:
    done = bench("--routine", library, *OVERLAP, "--sizes", "512,8K", "--peers", "avx,rep_movsb",
                 "--json", "report.json")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads((tmp_path / "report.json").read_text())["results"]
    shifts = {512: (1, 8, 64), 8192: (1, 8, 64, 4096)}
    assert [(row["size"], row["label"].split()[-1]) for row in rows] == [
        (size, way + str(shift)) for size in shifts for shift in shifts[size] for way in "+-"
    ]
    for row in rows:
        assert (row["suite"], row["workload"]) == ("overlap", "overlapping")
        assert len(row["copies"]) == 2  # the peers' buffers must not overlap
        assert row["copies"]["asterope"]["ns"] > 0


# A routine without a memmove, and one whose memmove is right upwards only.
MOVES = """
#include <string.h>
void *plain_memcpy(void *to, const void *from, size_t size) { return memcpy(to, from, size); }
void *odd_memcpy(void *to, const void *from, size_t size) { return memcpy(to, from, size); }
void *odd_memmove(void *to, const void *from, size_t size) {
    for (size_t i = 0; i < size; ++i) ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}
"""


@pytest.mark.parametrize("symbol", ["plain_memcpy", "odd_memcpy"])
def test_overlaps_need_a_memmove_that_is_right(bench, tmp_path: Path, symbol: str) -> None:
    (tmp_path / "moves.c").write_text(MOVES)
    command = ["cc", "-O1", "-shared", "-fPIC", "-o", "moves.so", "moves.c"]
    subprocess.run(command, check=True, timeout=60, cwd=tmp_path)
    done = bench("--routine", "moves.so", "--symbol", symbol, *OVERLAP)
    if symbol == "odd_memcpy":
        assert "the memmove of moves.so is wrong: moves 7 bytes by 1 up" in only_error(done, 1)
        return
    assert done.returncode == 0
    missing = "moves.so has no memmove to go with plain_memcpy"
    assert done.stderr == f"asterope-bench: overlap is left out: {missing}\n"


@pytest.mark.all_cpus
def test_all_cpus_copy_at_once_in_the_suite_of_threads(
    bench, library: Path, tmp_path: Path
) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    done = bench("--routine", library, *FEW, "--suite", "threads", "--json", "report.json")
    assert (done.returncode, done.stderr) == (0, "")
    results = json.loads((tmp_path / "report.json").read_text())["results"]
    counts = sorted({row["threads"] for row in results})
    assert (counts[0], counts[-1]) == (1, len(cpus))
    for count in counts:
        cells = [(row["workload"], row["size"]) for row in results if row["threads"] == count]
        assert cells == [(workload, size) for workload in ("hot", "cold") for size in (128, 4096)]


def test_an_interrupted_run_keeps_what_was_measured(
    bench, build_dir: Path, library: Path, tmp_path: Path
) -> None:
    command = [build_dir / "asterope-bench", "--routine", library, "--rounds", "50000", *SIZES,
               "--sizes", "128,32M", "--workload", "hot", "--json", "report.json"]  # fmt: skip
    with subprocess.Popen(
        [str(part) for part in command], cwd=tmp_path, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        for line in running.stdout:
            if line.startswith("128 B "):
                break
        running.send_signal(signal.SIGINT)
        _, stderr = running.communicate(timeout=60)
    assert (running.returncode, stderr) == (130, "asterope-bench: interrupted\n")
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["complete"] is False
    assert [row["label"] for row in report["results"]] == ["128 B"]


def test_a_run_can_be_interrupted_while_peers_are_checked(
    build_dir: Path, library: Path, peers: Path, tmp_path: Path
) -> None:
    command = [build_dir / "asterope-bench", "--routine", library, *peer(peers, "hangs")]
    with subprocess.Popen(
        [str(part) for part in command], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as running:
        while running.poll() is None and not (tmp_path / "hanging").exists():
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, stderr = running.communicate(timeout=60)
    assert (running.returncode, stderr) == (130, "asterope-bench: interrupted\n")


# P2329's experiment

PARAMETERS = [
    "systemSize",
    "numSubsystems",
    "elemsPerSubsys",
    "elemSize",
    "churnCount",
    "accessCount",
    "repCount",
]


@pytest.fixture
def locality(bench, library: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs asterope-bench locality, few rounds."""

    def run(*arguments: object) -> subprocess.CompletedProcess:
        return bench("locality", "--routine", library, "--rounds", "3", *arguments)

    return run


def read_csv(text: str) -> list[dict[str, float]]:
    return [
        {name: float(value) for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["8K", ".", "4", "128", "1", "4", "2"],
        ["--systemSize", "8K", "--elemsPerSubsys", "4", "--elemSize", "128", "--repCount", "2"],
        ["--numSubsystems", "16", "--elemsPerSubsys=4", "--elemSize=128", "--repCount=2",
         "--systemSize", "."],
    ],
)  # fmt: skip
def test_locality_takes_its_parameters_by_place_and_by_name(locality, arguments) -> None:
    done = locality(*arguments, "--csv", "-")
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = read_csv(done.stdout)
    assert [row[name] for name in PARAMETERS] == [8192, 16, 4, 128, 1, 4, 2]


def test_locality_prints_times_and_percentages(locality, tmp_path: Path) -> None:
    done = locality("8K", ".", "4", "128", "1", "4", "2", "--csv", "rows.csv")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("asterope_memcpy and move against the copy of ")
    assert "3 paired rounds" in lines[0]
    assert "elemSize 128, churnCount 1, accessCount 4" in lines[1]
    (row,) = read_csv((tmp_path / "rows.csv").read_text())
    parameters, libc, routine, move, floor = lines[-1].split("|")
    assert parameters.split() == ["8", "KiB", "16", "4", "2"]
    assert libc.split() == [f"{row['churn_libc_ms']:.3f}", f"{row['access_libc_ms']:.3f}"]
    for cells, who in ((routine, "routine"), (move, "move")):
        assert [float(cell) for cell in cells.split()[:3]] == pytest.approx(
            [row[f"{step}_{who}_percent"] for step in ("churn", "access", "total")], abs=0.51
        )
        assert cells.split()[3].startswith("(")
    assert floor.strip().startswith("(")


def test_localitys_csv_has_three_steps_of_the_same_columns(locality) -> None:
    done = locality("8K", ".", "4", "96", "--repCount", "3", "--csv", "-")
    (row,) = read_csv(done.stdout)
    names = list(row)
    assert names[:7] == PARAMETERS
    steps = [[name.split("_", 1) for name in names[begin::][:11]] for begin in (7, 18, 29)]
    assert len(names) == 40
    for step, columns in zip(("churn", "access", "total"), steps):
        assert {first for first, _ in columns} == {step}
        assert [rest for _, rest in columns] == [rest for _, rest in steps[0]]
        for copy in ("libc", "routine", "move"):
            assert row[f"{step}_{copy}_ms"] > 0
        for copy in ("routine", "move"):
            low, middle, high = (
                row[f"{step}_{copy}_{what}"] for what in ("low", "percent", "high")
            )
            assert low <= middle <= high
        assert row[f"{step}_floor_low"] <= row[f"{step}_floor_high"]


@pytest.mark.parametrize(("preset", "element", "first"), [(1, 128, 16), (2, 96, 21)])
def test_a_preset_has_the_papers_rows(
    locality, tmp_path: Path, preset: int, element: int, first: int
) -> None:
    done = locality("--preset", preset, "--systemSize", "8K", "--repCount", "1",
                    "--csv", "rows.csv")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert f"P2329, test {preset}," in done.stdout
    assert "divided by 64" not in done.stdout
    rows = read_csv((tmp_path / "rows.csv").read_text())
    assert [row["elemsPerSubsys"] for row in rows] == [4, 8, 16, 32]
    assert rows[0]["numSubsystems"] == first
    for row in rows:
        assert (row["systemSize"], row["elemSize"], row["repCount"]) == (8192, element, 1)
        assert row["numSubsystems"] == 8192 // (element * row["elemsPerSubsys"])
    summary = done.stdout.splitlines()[-3:]
    assert summary[0].startswith("move loses to libc's copy in ")
    assert summary[1].startswith("move loses to asterope_memcpy in ")
    assert summary[2].startswith("asterope_memcpy loses to libc's copy in ")
    assert all(" of 4 rows" in line for line in summary)


def test_a_preset_says_that_it_is_cut_down(locality) -> None:
    done = locality("--preset", "1", "--systemSize", "8K", "--elemsPerSubsys", "4")
    assert "divided by 64" in done.stdout
    assert done.stdout.splitlines()[-1].split()[:5] == ["8", "KiB", "16", "4", "4096"]


BAD_LOCALITY = {
    "no parameter": ([], "none of systemSize"),
    "nothing to compute": (["8K", "16", "4", "128"], "all of systemSize"),
    "two to compute": (["8K", ".", ".", "128"], "too few of systemSize"),
    "too few": (["8K", "16"], "too few of systemSize"),
    "no element fits": (["8K", "128", ".", "128"], "8 KiB is less than the 16 KiB"),
    "size of 0": (["0", ".", "4", "128"], "systemSize '0'"),
    "count of 0": (["8K", ".", "4", "128", "1", "0"], "accessCount '0'"),
    "negative count": (["8K", ".", "4", "128", "--repCount=-1"], "repCount '-1'"),
    "no number": (["8K", ".", "many", "128"], "elemsPerSubsys 'many'"),
    "beyond all memory": (["1048576G", ".", "4", "128"], "may be taken"),
    "beyond 64 bits": ([".", "8G", "8G", "8G"], "too large"),
    "more than seven": (["8K", ".", "4", "128", "1", "4", "2", "9"], "9"),
    "unknown preset": (["--preset", "3"], "--preset"),
    "preset with subsystems": (["--preset", "1", "--numSubsystems", "4"], "numSubsystems"),
    "preset without a row": (["--preset", "1", "--systemSize", "9K"], "no such row"),
    "two rounds": (["8K", ".", "4", "128", "--rounds", "2"], "--rounds"),
    "an option of the tables": (["8K", ".", "4", "128", "--sizes", "8K"], "--sizes"),
    "CSV in a missing folder": (["8K", ".", "4", "128", "--csv", "missing/a.csv"], "missing/a.csv"),
    "CSV that is a folder": (["8K", ".", "4", "128", "--csv", "."], "."),
    "missing function": (["8K", ".", "4", "128", "--symbol", "none_such"], "none_such"),
}


@pytest.mark.parametrize(("arguments", "part"), BAD_LOCALITY.values(), ids=BAD_LOCALITY.keys())
def test_bad_arguments_of_locality_are_refused_in_one_line(
    bench, library: Path, tmp_path: Path, arguments: Sequence[str], part: str
) -> None:
    message = only_error(bench("locality", "--routine", library, *arguments), 2)
    assert part in message
    assert len(message) < 300
    assert list(tmp_path.iterdir()) == []


def test_options_before_locality_are_refused(bench, library: Path) -> None:
    message = only_error(bench("--rounds", "5", "locality", "8K", ".", "4", "128"), 2)
    assert "--rounds stands before 'locality'" in message


def test_locality_fails_where_the_routine_copies_wrong(bench, tmp_path: Path) -> None:
    (tmp_path / "short.c").write_text(
        "#include <string.h>\n"
        "void *asterope_memcpy(void *to, const void *from, size_t size)\n"
        "{ return memcpy(to, from, size - 1); }\n"
    )
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", "libshort.so", "short.c"]
    subprocess.run(command, check=True, timeout=60, cwd=tmp_path)
    done = bench("locality", "--routine", "libshort.so", "8K", ".", "4", "128", "--repCount", "1")
    assert "checksums disagree" in only_error(done, 1)


def test_version_and_help(bench) -> None:
    assert bench("--version").stdout.startswith(f"asterope-bench {__version__} (commit ")
    done = bench("--help")
    assert done.returncode == 0
    assert "--routine" in done.stdout


BAD_ARGUMENTS = {
    "function that is missing": ["--symbol", "no_such_function"],
    "two rounds": ["--rounds", "2"],
    "rounds that are no number": ["--rounds", "many"],
    "size of 0": ["--sizes", "0"],
    "size of an unknown unit": ["--sizes", "12Q"],
    "no size": ["--sizes", ","],
    "unknown workload": ["--workload", "warm"],
    "unknown option": ["--bogus"],
    "unknown word": ["word"],
    "CPU that is not there": ["--cpu", "9999"],
    "CPU below 0": ["--cpu", "-1"],
    "report in a missing folder": ["--json", "missing/report.json"],
    "report that is a folder": ["--json", "."],
    "CSV in a missing folder": ["--csv", "missing/report.csv"],
    "CSV that is a folder": ["--csv", "."],
    "check that is no number": ["--check", "fast"],
    "check of 0": ["--check", "0"],
    "unknown built-in copy": ["--peers", "memcopy"],
    "no built-in copy": ["--peers", ""],
    "peer without a name": ["--peer", "libpeer.so:copy"],
    "peer of no name": ["--peer", "=libpeer.so:copy"],
    "peer of a bad name": ["--peer", "My Peer=libpeer.so:copy"],
    "peer without a symbol": ["--peer", "peer=libpeer.so"],
    "peer of no symbol": ["--peer", "peer=libpeer.so:"],
    "peer without a path": ["--peer", "peer=:copy"],
    "peer of the routine's name": ["--peer", "asterope=libpeer.so:copy"],
    "two peers of one name": ["--peer", "one=liba.so:copy", "--peer", "one=libb.so:copy"],
    "peer of a built-in one's name": ["--peers", "avx", "--peer", "avx=libpeer.so:copy"],
    "unknown suite": ["--suite", "large"],
    "empty suite": ["--suite", ""],
    "distribution that is missing": ["--distribution", "missing.csv"],
    "distribution that is a folder": ["--distribution", "."],
    "distribution that is empty": ["--distribution", "/dev/null"],
    "distribution that is binary": ["--distribution", "/bin/sh"],
    "profile that is missing": ["--profile", "missing.json"],
    "profile that is a folder": ["--profile", "."],
    "profile that is none": ["--profile", "/dev/null"],
}


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS.keys())
def test_bad_arguments_are_refused_in_one_line(
    bench, library: Path, tmp_path: Path, arguments: Sequence[str]
) -> None:
    message = only_error(bench("--routine", library, *arguments), 2)
    assert len(message) < 300
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [None, b"", b"no library\n", b"\x7fELF\x02\x01\x01"])
def test_a_bad_library_is_refused_in_one_line(bench, tmp_path: Path, content) -> None:
    path = tmp_path / "libroutine.so"
    if content is not None:
        path.write_bytes(content)
    message = only_error(bench("--routine", path, *FEW), 2)
    assert str(path) in message


def test_a_pipe_as_library_is_refused_and_not_waited_for(bench, library: Path, tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "pipe: is no regular file" in only_error(bench("--routine", "pipe", *FEW), 2)
    done = bench("--routine", library, "--peer", "mine=pipe:memcpy", *FEW, *SIZES)
    assert "mine is left out: cannot be loaded: pipe: is no regular file" in done.stderr


def test_devices_as_output_stay_devices(bench, library: Path, tmp_path: Path) -> None:
    nodes = [tmp_path / name for name in ("json", "csv")]
    for node in nodes:
        try:
            os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 3))
            node.write_bytes(b"x")
        except OSError as error:
            pytest.skip(f"cannot make a device node: {error.strerror}")
    options = ("--routine", library, *FEW, *SIZES, "--workload", "hot")
    assert bench(*options, "--json", "json", "--csv", "csv").returncode == 0
    assert all(stat.S_ISCHR(node.stat().st_mode) for node in nodes)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_bad_distribution_is_refused_where_it_is_bad(
    bench, library: Path, tmp_path: Path
) -> None:
    (tmp_path / "calls.csv").write_text("8:0.5,16:0.6\n")
    message = only_error(bench("--routine", library, "--distribution", "calls.csv"), 2)
    assert "calls.csv, line 1, column 13: " in message


def test_a_distribution_of_large_sizes_only_is_refused(
    bench, library: Path, tmp_path: Path
) -> None:
    (tmp_path / "calls.csv").write_text("4096:1\n")
    done = bench("--routine", library, *FEW, *SMALL, "--distribution", "calls.csv")
    assert "no size of up to 1024 bytes" in only_error(done, 2)


def test_a_profile_with_an_unknown_workload_is_refused(
    bench, library: Path, tmp_path: Path
) -> None:
    profile = {
        "format": "asterope-profile",
        "version": 1,
        "architecture": "x86_64",
        "complete": True,
        "search": {"workload": "warm"},
        "intervals": [{"above": 0, "up_to": 200, "winner": {"tuple": PLAIN}}],
    }
    (tmp_path / "profile.json").write_text(json.dumps(profile))
    only_error(bench("--routine", library, "--profile", "profile.json"), 2)


def test_without_memory_for_the_buffers_it_fails(bench, library: Path) -> None:
    def no_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))

    message = only_error(bench("--routine", library, *FEW, preexec_fn=no_memory), 1)
    assert "no memory" in message


@pytest.mark.parametrize("size", ["1024G", "6148914691236517206"])
def test_sizes_beyond_all_memory_fail(bench, library: Path, size: str) -> None:
    assert "no memory" in only_error(bench("--routine", library, "--sizes", size), 1)


# --- Without a library ----------------------------------------------------------------------------


@pytest.fixture
def installed(build_dir: Path, repository: Path, tmp_path: Path):
    """asterope-bench away from any build folder, asterope-generate beside it, HOME empty; runs it.
    What it makes meanwhile goes into the folder `temporary`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("asterope-bench", "asterope-generate"):
        shutil.copy(build_dir / name, folder)
    (tmp_path / "work").mkdir()
    (tmp_path / "temporary").mkdir()

    def run(*arguments: object, **variables: str) -> subprocess.CompletedProcess:
        environment = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path / "temporary")}
        environment.pop("XDG_CONFIG_HOME", None)
        command = [str(word) for word in (folder / "asterope-bench", *FEW, *SIZES, *arguments)]
        settings = {"cwd": tmp_path / "work", "env": {**environment, **variables}, "timeout": 120}
        done = subprocess.run(command, capture_output=True, text=True, **settings)
        done.stderr = without_warnings(done.stderr)
        assert list((tmp_path / "work").iterdir()) == []
        assert list((tmp_path / "temporary").iterdir()) == []  # whatever happened
        return done

    profile = tmp_path / ".config" / "asterope" / "profile.json"
    profile.parent.mkdir(parents=True)
    shutil.copy(repository / "generated" / "reference" / "xeon-gold-5218.json", profile)
    run.profile = profile
    return run


def test_without_a_library_the_routine_is_built_from_the_users_profile(installed) -> None:
    done = installed("--workload", "hot", "--peers", "asterope_mt")
    assert (done.returncode, done.stderr) == (0, f"the routine is built from {installed.profile}\n")
    assert done.stdout.startswith("asterope_memcpy against ")


def test_the_routine_is_built_from_the_profile_that_is_named(installed, tmp_path: Path) -> None:
    named = installed.profile.rename(tmp_path / "named.json")
    done = installed("--profile", named)
    assert (done.returncode, done.stderr) == (0, f"the routine is built from {named}\n")


def test_a_library_beside_the_program_is_taken_first(
    installed, library: Path, tmp_path: Path
) -> None:
    shutil.copy(library, tmp_path / "bin" / "libasterope_memcpy.so")
    done = installed("--workload", "hot")
    assert (done.returncode, done.stderr) == (0, "")


def test_without_a_library_and_a_profile_it_says_what_to_do(installed) -> None:
    installed.profile.unlink()
    message = only_error(installed(), 2)
    for words in ("build/libasterope_memcpy.so", str(installed.profile), "--routine"):
        assert words in message


def test_a_profile_that_cannot_be_rendered_ends_it(installed) -> None:
    installed.profile.write_text("{}")
    done = installed()
    assert done.returncode == 1
    ours, last = done.stderr.splitlines()
    assert ours.startswith(f"asterope-generate: {installed.profile}: ")
    assert last.startswith("asterope-bench: asterope-generate failed") and "--routine" in last


@pytest.mark.parametrize(("compiler", "what"), [("/none/cc", "is not there"), ("false", "fails")])
def test_without_a_compiler_it_says_so_in_one_line(installed, compiler: str, what: str) -> None:
    message = only_error(installed(CC=compiler), 1)
    assert what in message
    assert "install a C compiler" in message and "--routine" in message


def test_a_compiler_of_several_words_is_one(installed) -> None:
    assert installed("--workload", "hot", CC="env cc -g0").returncode == 0
