"""The literature's copies do their own work: compilers put no call of libc's in their place."""

from __future__ import annotations

import re

from asterope.spaces import ARCHITECTURES
from copy_programs import REPOSITORY, need, output_of

PEERS = REPOSITORY / "tuner" / "bench" / "peers"


def test_the_renderings_call_nothing(build_dir):
    need("nm")
    archive = build_dir / "tuner/bench/peers/libasterope_peers.a"
    listing = output_of("nm", "--undefined-only", archive)
    members = dict(re.findall(r"^(\S+)\.cpp\.o:\n((?:.+\n)*)", listing, re.MULTILINE))
    assert members["peers"], "a listing that names nothing proves nothing"
    renderings = [{file.stem for file in (PEERS / one).glob("*.cpp")} for one in ARCHITECTURES]
    (built,) = (names for names in renderings if names <= set(members))  # of one architecture
    for name in ("byte_by_byte", *built):
        called = re.findall(r" U (\w+)", members[name])
        # some distributions' compilers guard every buffer on the stack
        assert set(called) <= {"__stack_chk_fail"}, name
