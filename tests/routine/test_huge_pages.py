"""Large copies and sets map each new huge page by a store to its end, and are right."""

from __future__ import annotations

from architectures import X86_64, each, once
from asterope.render import render_candidates
from copy_programs import run


def readies_huge_pages(t: object) -> bool:
    """Whether the pipeline runs upwards and does nothing else ahead."""
    if t.rt not in t.VECTORS or t.lt == "NT":
        return False
    others = {"pt": "none", "pi": 1, "pw": 0, "pg": 0}
    return all(getattr(t, field, plain) == plain for field, plain in others.items())


check = once(
    lambda arch, folder: arch.candidates_check(
        folder, render_candidates(arch.name), folder, "huge_pages_check"
    )
)


@each(lambda arch: ["pipelines"] if arch is X86_64 else [], emulated=False)
def test_huge_pages_are_stored_to_at_their_ends_first(check, arch, case):
    found = dict(reversed(line.split(" ", 1)) for line in run(check(arch)).stdout.splitlines())
    variants = (*arch.pipelines.variants(), *arch.set_pipelines.variants())
    expected = {
        v.name: "ends" if readies_huge_pages(v) else "begins" for v in variants if v.name in found
    }
    assert found == expected
    assert {*expected.values()} == {"ends", "begins"}
