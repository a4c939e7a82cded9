"""The experiment that holds recordings against the truth runs, and has a row for each program."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from copy_programs import need

pytestmark = pytest.mark.slow


def test_it_has_a_row_for_each_program(repository: Path, build_dir: Path) -> None:
    need("cc")
    script = repository / "scripts" / "experiments" / "recording" / "truth.py"
    done = subprocess.run(
        [sys.executable, script, build_dir], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stderr) == (0, "")
    figure = r"-?[\d,.e+]+"
    row = rf"\| [\w ,]+ \| {figure} ns \| {figure} ns \({figure} to {figure}\) \|"
    rows = done.stdout.splitlines()[2:]
    assert len(rows) >= 9 and all(re.fullmatch(row, line) for line in rows)
