"""The copies of the literature are copies of their own: no compiler put a call of libc's there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

RENDERINGS = ("avx", "byte_by_byte", "l1_buffer", "prefetch_nt", "rep_movs")


@pytest.mark.skipif(not shutil.which("nm"), reason="needs nm")
def test_the_renderings_call_nothing(build_dir: Path) -> None:
    listing = subprocess.run(
        ["nm", "--undefined-only", build_dir / "tuner/bench/peers/libasterope_peers.a"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    members = dict(re.findall(r"^(\S+)\.cpp\.o:\n((?:.+\n)*)", listing, re.MULTILINE))
    assert members["peers"], "a listing that names nothing proves nothing"
    for name in RENDERINGS:
        called = re.findall(r" U (\w+)", members[name])
        # some distributions' compilers guard every buffer on the stack
        assert set(called) <= {"__stack_chk_fail"}, name
