"""Runs the C++ unit tests: each test of each room's googletest program is a test here."""

from __future__ import annotations

import functools
import json
import platform
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import TimeoutExpired
from tempfile import TemporaryDirectory

import pytest
from asterope.spaces import ARCHITECTURES
from command_errors import run_command
from conftest import BUILD, REPOSITORY
from copy_programs import output_of

# Folders named after another architecture are built there alone.
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
    for line in output_of(program, "--gtest_list_tests").splitlines():
        name = line.split("#")[0].rstrip()
        if not line.startswith(" "):
            suite = name
        else:
            yield suite + name.strip()


def is_slow(name: str) -> bool:
    """The most thorough of a test's searches is, whose quicker ones run each day."""
    return name.endswith("/exhaustive")


@functools.cache
def passed_together(program: Path, slow: bool) -> frozenset[str]:
    """The tests that passed when all slow ones of the program, or all others, ran in one process,
    if that went to its end."""
    with TemporaryDirectory() as folder, suppress(OSError, ValueError, TimeoutExpired):
        report = Path(folder, "report.json")
        chosen = f"--gtest_filter={'' if slow else '-'}*/exhaustive"
        options = (chosen, f"--gtest_output=json:{report}")
        run_command(program, *options, errors="replace", timeout=300)
        return frozenset(
            f"{suite['name']}.{test['name']}"
            for suite in json.loads(report.read_text(encoding="utf-8"))["testsuites"]
            for test in suite["testsuite"]
            if test["result"] == "COMPLETED" and "failures" not in test
        )
    return frozenset()


def test_every_source_was_built() -> None:
    assert SOURCES
    missing = [program.name for program in PROGRAMS if not program.exists()]
    assert not missing, f"not built in {BUILD / 'tests'}: {', '.join(missing)}"
    built = {name for program in PROGRAMS for name in names_in(program)}
    for source in SOURCES:
        declared = re.findall(r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", source.read_text(), re.M)
        assert declared, f"{source.name} has no tests"
        suite, name = declared[0]
        assert any(f"{suite}." in one and name in one for one in built), f"{source} is not built"


@pytest.mark.parametrize(
    ("program", "name"),
    [
        pytest.param(
            program,
            name,
            id=f"{program.name}-{name}",
            marks=[pytest.mark.slow] * is_slow(name),
        )
        for program in PROGRAMS
        if program.exists()  # what is missing, test_every_source_was_built reports
        for name in names_in(program)
    ],
)
def test_unit(program: Path, name: str) -> None:
    """One process for all daily ones of a room; what did not pass there runs again, alone."""
    if name in passed_together(program, is_slow(name)):
        return
    options = (f"--gtest_filter={name}", "--gtest_color=no")
    done = run_command(program, *options, errors="replace", timeout=120)
    if f"[  SKIPPED ] {name}" in done.stdout:
        reason = re.search(r"Skipped\n(.+)", done.stdout)
        pytest.skip(reason[1] if reason else name)
    if done.returncode != 0 or f"[       OK ] {name}" not in done.stdout:
        said = f"{name}: exit {done.returncode}\n{done.stdout}{done.all_stderr}"
        pytest.fail(said, pytrace=False)
    # It trips over what another test left behind, or over a machine that was busy for a moment.
    warnings.warn(f"{name} passes alone, but not among all of {program.name}", stacklevel=1)
