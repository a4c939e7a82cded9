"""Random profiles, rendered, compiled and run: each size takes its winner, and all copy right."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from asterope import aliased_space, small_space, space
from asterope.profile import Aliased
from asterope.small_space import PLAIN, SmallTuple
from asterope.space import Tuple
from copy_programs import (
    KINDS,
    SMALL_COPIES,
    Intervals,
    assert_dispatched,
    build_dispatch_check,
    build_with_routines,
    failures,
    lacking_features,
    parse_templates_once,
    profile_json,
    render,
    run,
)
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some

BATCH = 20  # profiles in one program: compilers take most of their time to start
BATCHES = 14
LARGEST = 300_000  # copied; of what is larger, only where it goes
CASES = 3000  # for each profile

RandomProfile = tuple[Intervals, "SmallTuple | None", "Aliased | None"]


@some.composite
def tuples(draw: some.DrawFn) -> Tuple:
    kind = draw(some.sampled_from(KINDS))
    pt = "none" if kind[0].startswith("REP") else draw(some.sampled_from(space.PREFETCH_TYPES))
    if pt == "none":
        return Tuple(*kind, "none", 0, 0)
    ps = draw(some.sampled_from(space.PREFETCH_SIZES))
    return Tuple(*kind, pt, ps, draw(some.sampled_from(space.PREFETCH_DISTANCES)))


def ends() -> some.SearchStrategy[int]:
    """Ends of intervals: 128 to 2^40, most of them small or near where a number needs more bits."""
    near_powers = some.builds(
        lambda power, off: min(max(2**power + off, 128), 2**40),
        some.integers(7, 40),
        some.integers(-1, 1),
    )
    around_2_gib = some.integers(2**31 - 2, 2**31 + 2)
    return some.one_of(
        some.integers(128, 700), some.integers(128, LARGEST), near_powers, around_2_gib
    )


@some.composite
def profiles(draw: some.DrawFn) -> RandomProfile:
    up_to = set(draw(some.lists(ends(), min_size=1, max_size=8)))
    up_to |= {e + 1 for e in up_to if e < 2**40 and draw(some.booleans())}  # intervals of one size
    winners: list[Tuple] = []
    for _ in up_to:
        # the one before once more, as neighbours that merge have, or an earlier one
        again = draw(some.integers(0, 3)) if winners else 0
        winners.append(draw(tuples()) if again < 2 else winners[-again % len(winners)])
    small = draw(some.none() | some.sampled_from(list(SMALL_COPIES.values())))
    return tuple(zip(sorted(up_to), winners)), small, draw(some.none() | aliased_copies())


@some.composite
def aliased_copies(draw: some.DrawFn) -> Aliased:
    above, up_to = sorted(max(draw(ends()), 511 + n) for n in range(2))
    tuple_ = draw(some.sampled_from(list(aliased_space.aliased_tuples())))
    return Aliased(above, max(up_to, above + 1), tuple_)


def check(batch: Sequence[RandomProfile], folder: Path) -> None:
    routines = {}
    for number, (intervals, small, aliased) in enumerate(batch):
        changes = [0, 128, (small or PLAIN).bound, *(end for end, _ in intervals)]
        changes += [aliased.above, aliased.up_to] if aliased else []
        routine = render(intervals, folder, small, f"p{number}", aliased)
        routines[routine] = [size for size in changes if size < LARGEST]

    dispatch_check = build_dispatch_check(*routines)
    for number, (intervals, small, aliased) in enumerate(batch):
        small = small or PLAIN
        if lacking_features(intervals, small, aliased):
            continue  # all go to the portable path
        changes = {small.bound, *(end for end, _ in intervals)}
        changes |= {aliased.above, aliased.up_to} if aliased else set()
        sizes = {size + n for size in changes for n in (-1, 0, 1)}
        sizes |= {0, 1, 64, 129, 2 * intervals[-1][0], 2**46}
        try:
            assert_dispatched(dispatch_check, f"p{number}", intervals, small, sizes, aliased)
        except AssertionError as error:
            profile = profile_json(intervals, small, aliased)
            pytest.fail(f"{error}\nin the profile {profile}")

    copy_fuzz = build_with_routines(routines, folder, "copy_fuzz")
    done = run(copy_fuzz, "--count", CASES, "--largest", LARGEST)
    wrong = failures(done.stdout)
    shown = [p for n, p in enumerate(batch) if any(f" p{n}_" in line for line in wrong)]
    assert not wrong, "\n".join([*wrong, "in the profiles", *(profile_json(*p) for p in shown)])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ok ") == len(batch)


def test_random_profiles_give_routines_that_copy_right(tmp_path, monkeypatch):
    parse_templates_once(monkeypatch)
    seen: set[RandomProfile] = set()

    # Derandomized: the same profiles in every run, and nothing to remember in a database. A batch
    # is not shrunk, which would compile it a hundred times: the message has the one profile.
    @settings(
        max_examples=BATCHES,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(some.lists(profiles(), min_size=BATCH, max_size=BATCH, unique=True))
    def copies_right(batch: list[RandomProfile]) -> None:
        check(batch, Path(tempfile.mkdtemp(dir=tmp_path)))  # one may come twice
        seen.update(batch)

    copies_right()
    winners = {t for intervals, _, _ in seen for _, t in intervals}
    assert len(seen) >= 200  # of 280: some come again
    assert {(t.rt, t.lt, t.st) for t in winners} == set(KINDS)
    assert {t.pt for t in winners} == set(space.PREFETCH_TYPES)
    assert {t.ps for t in winners} == {0, *space.PREFETCH_SIZES}
    assert {t.pd for t in winners} == set(space.PREFETCH_DISTANCES)
    assert any(intervals[-1][0] > 2**31 for intervals, _, _ in seen)
    assert {small.shape for _, small, _ in seen if small} == set(small_space.SHAPES)
    tuples_ = {aliased.tuple for _, _, aliased in seen if aliased}
    assert tuples_ == set(aliased_space.aliased_tuples())
    assert any(small is aliased is None for _, small, aliased in seen)
