"""Runs the C++ unit tests: each test of each googletest program is a test here."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import BUILD, REPOSITORY

PROGRAMS = BUILD / "tests"
SOURCES = sorted((REPOSITORY / "tests").glob("test_*.cpp"))


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
    for source in SOURCES:
        program = PROGRAMS / source.stem
        if program.exists():  # what is missing, test_every_source_was_built reports
            for name in names_in(program):
                yield pytest.param(program, name, id=f"{program.name}-{name}")


def test_every_source_was_built() -> None:
    assert SOURCES
    missing = [source.name for source in SOURCES if not (PROGRAMS / source.stem).exists()]
    assert not missing, f"not built in {PROGRAMS}: {', '.join(missing)}"
    for source in SOURCES:
        assert list(names_in(PROGRAMS / source.stem)), f"{source.name} has no tests"


@pytest.mark.parametrize(("program", "name"), list(all_tests()))
def test_unit(program: Path, name: str) -> None:
    result = subprocess.run(
        [program, f"--gtest_filter={name}", "--gtest_color=no"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=120,
    )
    if result.returncode != 0:
        pytest.fail(f"{name}: exit {result.returncode}\n{result.stdout}", pytrace=False)
    if f"[  SKIPPED ] {name}" in result.stdout:
        reason = re.search(r"Skipped\n(.+)", result.stdout)
        pytest.skip(reason[1] if reason else name)
    assert f"[       OK ] {name}" in result.stdout, f"did not run\n{result.stdout}"
