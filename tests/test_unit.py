"""Runs the C++ unit tests: each test of each room's googletest program is a test here."""

from __future__ import annotations

import functools
import json
import platform
import re
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from asterope.spaces import ARCHITECTURES
from conftest import BUILD, REPOSITORY

# What a folder is named after another architecture for is built there alone.
OTHERS = {architecture for architecture in ARCHITECTURES if architecture != platform.machine()}
SOURCES = sorted(
    path
    for path in (REPOSITORY / "tests").glob("*/**/test_*.cpp")
    if not OTHERS & set(path.relative_to(REPOSITORY).parts)
)
PROGRAMS = sorted(
    {BUILD / "tests" / f"test_{path.relative_to(REPOSITORY).parts[1]}" for path in SOURCES}
)


def names_in(program: Path) -> Iterator[str]:
    """`Suite.test` for each; the listing has suites at the margin and their tests indented."""
    listing = subprocess.run(
        [program, "--gtest_list_tests"], capture_output=True, text=True, check=True, timeout=60
    )
    suite = ""
    for line in listing.stdout.splitlines():
        name = line.split("#")[0].rstrip()
        if not line.startswith(" "):
            suite = name
        elif suite.endswith("."):
            yield suite + name.strip()


def all_tests() -> Iterator[object]:
    for program in PROGRAMS:
        if program.exists():  # what is missing, test_every_room_was_built reports
            for name in names_in(program):
                yield pytest.param(program, name, id=f"{program.name}-{name}")


def run_alone(program: Path, name: str) -> tuple[str, str]:
    """ok, skipped or failed, and what was printed."""
    result = subprocess.run(
        [program, f"--gtest_filter={name}", "--gtest_color=no"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=120,
    )
    if f"[  SKIPPED ] {name}" in result.stdout:
        reason = re.search(r"Skipped\n(.+)", result.stdout)
        return "skipped", reason[1] if reason else name
    passed = result.returncode == 0 and f"[       OK ] {name}" in result.stdout
    return "ok" if passed else "failed", f"exit {result.returncode}\n{result.stdout}"


@functools.cache
def passed_together(program: Path, folder: Path) -> frozenset[str]:
    """The tests that passed when all of the program ran in one process, if that went to its end."""
    report = folder / f"{program.name}.json"
    command = [program, f"--gtest_output=json:{report}"]
    try:
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
        suites = json.loads(report.read_text(encoding="utf-8"))["testsuites"]
    except (subprocess.TimeoutExpired, FileNotFoundError, json.JSONDecodeError):
        return frozenset()
    return frozenset(
        f"{suite['name']}.{test['name']}"
        for suite in suites
        for test in suite["testsuite"]
        if test["result"] == "COMPLETED" and "failures" not in test
    )


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("unit")


def test_every_source_was_built() -> None:
    assert SOURCES
    missing = [program.name for program in PROGRAMS if not program.exists()]
    assert not missing, f"not built in {BUILD / 'tests'}: {', '.join(missing)}"
    built = {name for program in PROGRAMS for name in names_in(program)}
    for source in SOURCES:
        declared = re.findall(r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", source.read_text(), re.M)
        assert declared, f"{source.name} has no tests"
        suite, name = declared[0]
        assert any(f"{suite}." in one and name in one for one in built), (
            f"{source.name} is not built"
        )


@pytest.mark.parametrize(("program", "name"), list(all_tests()))
def test_unit(program: Path, name: str, reports: Path) -> None:
    """One process for all of a room; what did not pass there runs again, alone."""
    if name in passed_together(program, reports):
        return
    outcome, printed = run_alone(program, name)
    if outcome == "skipped":
        pytest.skip(printed)
    if outcome == "failed":
        pytest.fail(f"{name}: {printed}", pytrace=False)
    # It trips over what another test left behind, or over a machine that was busy for a moment.
    warnings.warn(f"{name} passes alone, but not among all of {program.name}", stacklevel=1)
