"""The copies of the literature are copies of their own: no compiler put a call of libc's there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from asterope.spaces import ARCHITECTURES

PEERS = Path(__file__).resolve().parents[2] / "tuner" / "bench" / "peers"


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
    renderings = [{file.stem for file in (PEERS / one).glob("*.cpp")} for one in ARCHITECTURES]
    built = [names for names in renderings if names <= set(members)]
    assert len(built) == 1, "a build has the copies of one architecture"
    for name in ("byte_by_byte", *built[0]):
        called = re.findall(r" U (\w+)", members[name])
        # some distributions' compilers guard every buffer on the stack
        assert set(called) <= {"__stack_chk_fail"}, name
