"""Fixtures of the recorder's tests. No conftest.py: tests import the one above by that name."""

from __future__ import annotations

from pathlib import Path

import pytest
from copy_programs import output_of
from recorded_programs import Recorder

HERE = Path(__file__).parents[1] / "record"
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fno-builtin")


@pytest.fixture(scope="session")
def library(build_dir: Path) -> Path:
    return build_dir / "libasterope_record.so"


@pytest.fixture
def recorder(library: Path, tmp_path: Path) -> Recorder:
    folder = tmp_path / "session"
    folder.mkdir()
    return Recorder(library, folder)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of record_check, and of the library that it loads."""
    folder = tmp_path_factory.mktemp("record_check")
    output_of("cc", *FLAGS, "-shared", "-fPIC", HERE / "plugin.c", "-o", folder / "plugin.so")
    source = HERE / "record_check.c"
    output_of("cc", *FLAGS, source, "-o", folder / "record_check", "-pthread", "-ldl")
    return folder


@pytest.fixture(scope="session")
def check(programs: Path) -> Path:
    return programs / "record_check"
