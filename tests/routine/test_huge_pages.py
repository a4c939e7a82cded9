"""Large copies and sets store to the end of each further huge page first, and are right."""

from __future__ import annotations

from architectures import X86_64, each, once
from copy_programs import run


def readies_huge_pages(t: object) -> bool:
    """Whether such a pipeline does so, if it runs upwards."""
    if t.rt not in t.VECTORS or t.lt == "NT":
        return False
    return (getattr(t, "pi", 1), getattr(t, "pg", 0)) == (1, 0)


check = once(lambda arch, folder: arch.candidates_check(folder, None, folder, "huge_pages_check"))


SHARES = {"a sample": "3,11", "all": "0,1"}


@each(lambda arch: SHARES, of=X86_64, emulated=False, daily="a sample".__eq__)
def test_huge_pages_are_stored_to_at_their_ends_first(check, arch, case):
    lines = run(check(arch), "--share", case).stdout.splitlines()
    found = dict(reversed(line.split(" ", 1)) for line in lines)
    variants = (*arch.pipelines.variants(), *arch.set_pipelines.variants())
    expected = {
        v.name: "ends" if readies_huge_pages(v) else "begins" for v in variants if v.name in found
    }
    assert found == expected
    assert {*expected.values()} == {"ends", "begins"}
