"""The spaces of copies: what every architecture's offers to those who know none by name."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from asterope import spaces
from asterope.faults import BadInput
from asterope.limits import header
from asterope.profile import load_profile
from asterope.render import render_candidates, render_routine
from asterope.spaces.kinds import kinds_of
from profile_samples import plain_profile

EACH = pytest.mark.parametrize("architecture", spaces.ARCHITECTURES)


def loaded(folder: Path, raw: dict[str, Any]) -> Any:
    path = folder / "profile.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    return load_profile(path)


@EACH
def test_the_plain_ones_exist_and_any_cpu_runs_them(architecture):
    here = spaces.of(architecture)
    for large, small in (
        (here.pipelines.PLAIN, here.small_copies.PLAIN),
        (here.set_pipelines.PLAIN, here.small_sets.PLAIN),
    ):
        assert not small.copies_upwards_only
        assert not large.is_whole and large.acts_above == 0
    for space in kinds_of(here).values():
        assert isinstance(space.PLAIN, space.Tuple) and space.PLAIN.needs == ()
        assert space.why_not(**asdict(space.PLAIN)) is None


@EACH
def test_members_have_names_and_symbols_of_their_own(architecture):
    here = spaces.of(architecture)
    pipelines = (here.pipelines, here.set_pipelines)
    others = (here.small_copies, here.small_sets, here.overlapping_copies)
    for found in (*(s.variants() for s in pipelines), *(s.points() for s in others)):
        members = list(found)
        assert len({m.name for m in members}) == len({m.symbol for m in members}) == len(members)
        assert all(re.fullmatch("[a-z0-9_]+", m.symbol) for m in members)
    # those with fewer departures come first, and ties are broken in this order
    departures = [variant.departures for variant in here.pipelines.variants()]
    assert departures == sorted(departures) and departures[0] == 0


@EACH
def test_its_profile_is_read_and_rendered_on_any_machine(tmp_path, architecture):
    profile = loaded(tmp_path, plain_profile(architecture))
    here = spaces.of(architecture)
    assert profile.architecture == architecture
    assert profile.choices[0].copy == here.pipelines.PLAIN
    assert profile.the("small", "memset").copy == here.small_sets.PLAIN
    assert here.pipelines.PLAIN.symbol in render_routine(profile)["asterope_memcpy.c"]


@EACH
def test_its_profile_holds_none_of_anothers_copies(tmp_path, architecture):
    for other in (name for name in spaces.ARCHITECTURES if name != architecture):
        raw = {**plain_profile(architecture), "architecture": other}
        with pytest.raises(BadInput, match=r"choices\[\d+\]\.copies\.taken\."):
            loaded(tmp_path, raw)


@EACH
def test_its_build_steps_render(architecture):
    here = spaces.of(architecture)
    assert f"kMinimumBytes = {here.pipelines.MINIMUM_BYTES};" in header(architecture)
    text = render_candidates(architecture, variants=[here.pipelines.PLAIN.variant])
    assert here.pipelines.PLAIN.variant.symbol in text
