"""A real program with the library under it: its own tests end as they do without."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from architectures import HOST, build_preload
from copy_programs import render, run
from routine_examples import GATED, every_kind, every_set

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def best(tmp_path_factory) -> Path:
    """A library that does as much as this CPU can."""
    folder = tmp_path_factory.mktemp("preload")
    has = HOST.features_of(HOST.cpus[0])
    intervals = [(end, t) for end, t in every_kind(HOST) if {*t.needs} <= has]
    small = GATED[HOST.name] if HOST.cpu_with(GATED[HOST.name]) else None
    memset = every_set(HOST) if HOST.cpu_with(*(t for _, t in every_set(HOST).intervals)) else None
    routine = render(intervals, folder, small, memset=memset)
    return build_preload(HOST, routine, folder / "libasterope_preload.so")


def under(library: Path | None) -> dict[str, str]:
    """The environment of a program with the library under it, or of one without."""
    clean = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "ASTEROPE_VERBOSE")}
    return {**clean, **({"LD_PRELOAD": str(library)} if library else {})}


def python_with_tests() -> str:
    """A Python with the test package; Debian's own leaves it out."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    pythons = [sys.executable, os.path.join(sys.base_prefix, "bin", "python3")]
    pythons += [os.path.join(f, name) for f in folders for name in ("python3", "python")]
    test = "import sys, test.test_bytes; sys.exit(sys.version_info < (3, 9))"
    for python in pythons:
        if os.access(python, os.X_OK) and run(python, "-c", test).returncode == 0:
            return python
    pytest.skip("no python3 here has the test package (Debian: libpython3-testsuite)")


def test_python_passes_its_own_tests(best, tmp_path):
    python = python_with_tests()
    command = [python, "-m", "test", "-v", "test_bytes", "test_memoryview", "test_array"]

    def results(library: Path | None) -> dict[str, str]:
        done = run(*command, env=under(library), cwd=tmp_path)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        lines = re.findall(
            r"^(test_\w+ \(\S+\)).*? \.\.\. (\w+)", done.stdout + done.stderr, re.MULTILINE
        )
        return dict(lines)

    plain, ours = results(None), results(best)
    assert len(plain) > 500
    assert ours == plain
    assert set(ours.values()) <= {"ok", "skipped"}
