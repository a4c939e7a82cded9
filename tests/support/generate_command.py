"""asterope-generate, called in the tests' own process, and the files of an earlier run."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from asterope import generate
from command_errors import exit_code_of, only_line_of
from profile_samples import good_profile

NAMES = ("asterope_memcpy.c", "asterope_memcpy.h")

command = partial(exit_code_of, generate.main)
only_line = partial(only_line_of, "asterope-generate")


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A file of the good profile."""
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(good_profile()), encoding="utf-8")
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder that holds the files of an earlier run."""
    folder = tmp_path / "out"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text(f"the old {name}", encoding="utf-8")
    return folder


def assert_old(folder: Path) -> None:
    """The earlier run's files are as they were, with nothing beside them."""
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert there == {name: f"the old {name}" for name in NAMES}
