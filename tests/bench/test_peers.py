"""The copies of the literature are copies of their own: no compiler put a call of libc's there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PEERS = Path(__file__).resolve().parents[2] / "tuner" / "bench" / "peers"
RENDERINGS = {
    "x86_64": ("avx", "byte_by_byte", "l1_buffer", "prefetch_nt", "rep_movs"),
    "aarch64": ("byte_by_byte", "pairs"),
}


def test_each_rendering_is_looked_at():
    for architecture, names in RENDERINGS.items():
        there = {file.stem for file in (PEERS / architecture).glob("*.cpp")}
        assert there | {"byte_by_byte"} == set(names)


@pytest.mark.skipif(not shutil.which("nm"), reason="needs nm")
def test_the_renderings_call_nothing(build_dir):
    listing = subprocess.run(
        ["nm", "--undefined-only", build_dir / "tuner/bench/peers/libasterope_peers.a"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    members = dict(re.findall(r"^(\S+)\.cpp\.o:\n((?:.+\n)*)", listing, re.MULTILINE))
    assert members["peers"], "a listing that names nothing proves nothing"
    built = [names for names in RENDERINGS.values() if set(names) <= set(members)]
    assert len(built) == 1, "a build has the copies of one architecture"
    for name in built[0]:
        called = re.findall(r" U (\w+)", members[name])
        # some distributions' compilers guard every buffer on the stack
        assert set(called) <= {"__stack_chk_fail"}, name
