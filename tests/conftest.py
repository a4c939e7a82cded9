"""What several tests share: where the checkout and the built programs are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("ASTEROPE_BUILD_DIR", REPOSITORY / "build")).resolve()


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def build_dir() -> Path:
    """The CMake build; another one is named by the environment variable ASTEROPE_BUILD_DIR."""
    if not (BUILD / "asterope-tune").exists():
        pytest.fail(f"no asterope-tune in {BUILD}: build first, or set ASTEROPE_BUILD_DIR")
    return BUILD
