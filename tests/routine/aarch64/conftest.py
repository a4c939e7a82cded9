"""What all tests of AArch64's rendered C share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this architecture's check programs are compiled, once."""
    return tmp_path_factory.mktemp("aarch64_objects")
