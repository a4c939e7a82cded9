"""The command asterope-bench: its table, its report, its exit codes and one-line errors."""

from __future__ import annotations

import json
import math
import resource
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from asterope import __version__
from asterope.profile import load_profile
from asterope.render import render_routine

FEW = ("--rounds", "3", "--sizes", "128,4K")
SIZES = ("--suite", "sizes")
SMALL = ("--suite", "mix,fixed")
MIXES = ["mix_l1", "mix_l2", "mix_l3", "mix_l1_read", "mix_l2_read", "mix_l3_read"]


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
        return subprocess.run(command, capture_output=True, text=True, **settings)

    return run


def only_error(done: subprocess.CompletedProcess, code: int) -> str:
    assert done.returncode == code, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done
    assert lines[0].startswith("asterope-bench: ")
    assert lines[0].isprintable()
    return lines[0]


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
    for row, line in zip(report["results"], rows):
        assert row["libc_ns"] > 0
        assert row["ns"] > 0
        for estimate in (row["ratio"], row["noise_floor"]):
            assert estimate["low"] <= estimate["median"] <= estimate["high"]
        assert f"{row['ratio']['median']:.2f}" == line.split()[5]
        assert f"{row['ns']:.1f}" == line.split()[3]
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
    *mixes, mean = rows_of(done, "fleet mix")
    assert [line.split()[0] for line in mixes] == MIXES
    ratios = [float(line.split()[3]) for line in mixes]
    assert float(mean.split()[1]) == pytest.approx(math.prod(ratios) ** (1 / 6), abs=0.02)
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
    assert workloads == MIXES + ["fixed"] * len(sizes) + ["fixed_read"] * len(sizes)
    for row in report["results"]:
        assert ("size" in row) == row["workload"].startswith("fixed")
        assert row["ratio"]["low"] <= row["ratio"]["median"] <= row["ratio"]["high"]


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
    for title in ("aliased", "fixed", "fixed_read"):
        assert f"\n{title} " not in done.stdout


def test_all_suites_run_on_request(bench, library: Path) -> None:
    done = bench("--routine", library, *FEW, "--suite", "all")
    assert done.returncode == 0
    for title in ("hot", "cold", "aliased", "fleet mix", "fixed", "fixed_read"):
        assert f"\n{title} " in done.stdout


def test_a_distribution_is_drawn_from_and_named(bench, library: Path, tmp_path: Path) -> None:
    (tmp_path / "our calls.csv").write_text("8:0.5,24:0.5\n")
    done = bench("--routine", library, *FEW, *SMALL, "--distribution", "our calls.csv",
                 "--json", "report.json")  # fmt: skip
    assert len(rows_of(done, "our calls.csv mix")) == 7
    assert json.loads((tmp_path / "report.json").read_text())["distribution"] == "our calls.csv"


def test_a_profile_gives_sizes_and_workload(bench, library: Path, tmp_path: Path) -> None:
    profile = {
        "format": "asterope-profile",
        "version": 1,
        "search": {"workload": "cold"},
        "intervals": [{"up_to": 200}, {"up_to": 2048}],
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


def test_version_and_help(bench) -> None:
    assert bench("--version").stdout == f"asterope-bench {__version__}\n"
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
        "search": {"workload": "warm"},
        "intervals": [{"up_to": 200}],
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
