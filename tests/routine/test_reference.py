"""generated/reference/: the routines of the paper's two profiles, as they are rendered today."""

from __future__ import annotations

import pytest
from asterope.profile import load_profile
from asterope.render import render_routine
from copy_programs import REPOSITORY
from routine_examples import MACHINES, REFERENCE


def test_each_profile_has_its_routine_and_nothing_else_is_there():
    expected = {f"{machine}.json" for machine in MACHINES}
    for machine in MACHINES:
        expected |= {f"{machine}/asterope_memcpy.{kind}" for kind in "ch"}
    found = {path for path in REFERENCE.rglob("*") if path.is_file()}
    assert {str(path.relative_to(REFERENCE)) for path in found} == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_the_routine_is_what_the_templates_render_now(machine):
    profile = REFERENCE / f"{machine}.json"
    for name, text in render_routine(load_profile(profile)).items():
        path = REFERENCE / machine / name
        if not path.is_file() or path.read_bytes() != text.encode("ascii"):
            pytest.fail(
                f"{path.relative_to(REPOSITORY)} is out of date. Refresh it with: "
                f"PYTHONPATH=scripts .venv/bin/python -m asterope.generate "
                f"generated/reference/{machine}.json -o generated/reference/{machine}",
                pytrace=False,
            )
