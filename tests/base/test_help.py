"""The options that all C++ commands share, and the form of --help."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_errors import run_command
from packaging_samples import commands_in


@pytest.mark.parametrize("program", ["asterope-tune", "asterope-bench"])
def test_help_fits_a_terminal(build_dir: Path, program: str) -> None:
    whole = run_command(build_dir / program, "--help").stdout
    texts = [
        whole,
        *(run_command(build_dir / program, c, "--help").stdout for c in commands_in(whole)),
    ]
    assert all("--help" in text for text in texts)
    # A name and its value may be longer by themselves.
    lines = [line for text in texts for line in text.splitlines()]
    assert [line for line in lines if len(line) > 80 and " " in line.strip()[40:]] == []
