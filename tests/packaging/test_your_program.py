"""The program of the guide "Tuned for your program": its copies are what the guide says."""

from __future__ import annotations

import importlib.util
import json
import sys

import pytest
from command_errors import run_command
from conftest import REPOSITORY

PROGRAM = REPOSITORY / "tests" / "examples" / "your-program" / "frames.py"


@pytest.mark.slow
def test_the_guides_program_copies_frames_and_little_else(build_dir, tmp_path):
    if importlib.util.find_spec("numpy") is None:
        pytest.skip("numpy is not installed")
    recording = tmp_path / "recording.json"
    done = run_command(
        build_dir / "asterope-record", "-o", recording, "--", sys.executable, PROGRAM
    )
    assert (done.returncode, done.stdout) == (0, "800\n")
    bands = json.loads(recording.read_text())["bands"]
    assert bands[-1]["calls"] == 400  # of 3840 x 2160 x 3 bytes
    assert bands[-1]["share"] > 10 * sum(band["share"] or 0 for band in bands[:-1])
