"""Random profiles, rendered, compiled and run: each size takes its winner, and all copy right."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from asterope.spaces.probes import SensingCopy
from asterope.spaces.x86_64 import (
    aliased_copies,
    overlapping_copies,
    pipelines,
    probes,
    set_pipelines,
    small_copies,
)
from asterope.spaces.x86_64.overlapping_copies import OverlappingTuple
from asterope.spaces.x86_64.pipelines import Tuple
from asterope.spaces.x86_64.small_copies import PLAIN, SmallTuple
from copy_programs import (
    KINDS,
    SMALL_COPIES,
    SMALL_SETS,
    Aliased,
    Intervals,
    Memset,
    assert_dispatched,
    assert_sets_dispatched,
    build_dispatch_check,
    build_with_routines,
    copies_taken,
    failures,
    lacking_features,
    profile_json,
    render,
    run,
)
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some

pytestmark = pytest.mark.slow

BATCH = 20  # profiles in one program: compilers take most of their time to start
BATCHES = 14
LARGEST = 300_000  # copied; of what is larger, only where it goes
CASES = 3000  # for each profile

# Pipelines beyond the paper's space. Direct stores are left out: a CPU that lacks them, as most do,
# takes the portable path for all of a routine, and nothing of it would be checked.
EXTENSIONS = [v for v in pipelines.variants() if v.departures and v.rt != pipelines.DIRECT]

SET_VARIANTS = list(set_pipelines.variants())
SET_DISTANCES = set_pipelines.AXES[-1].values[1:]

OVERLAPPING = list(overlapping_copies.overlapping_tuples())


class RandomProfile(NamedTuple):
    """What a routine is rendered from; sensing copies by their interval's end, intents by name."""

    intervals: Intervals
    small: SmallTuple | None
    aliased: Aliased | None
    sensing_items: tuple[tuple[int, SensingCopy], ...]
    intent_items: tuple[tuple[str, Intervals], ...]
    overlapping: OverlappingTuple | None
    memset: Memset | None

    @property
    def sensing(self) -> Mapping[int, SensingCopy]:
        return dict(self.sensing_items)

    @property
    def intents(self) -> Mapping[str, Intervals]:
        return dict(self.intent_items)

    @property
    def everything(self) -> Intervals:
        """All the pipelines, as if intervals had them."""
        of_sensing = [(0, t) for _, copy in self.sensing_items for t in copy.all_pipelines]
        of_intents = [interval for _, intervals in self.intent_items for interval in intervals]
        return [*self.intervals, *of_sensing, *of_intents]

    @property
    def json(self) -> str:
        return profile_json(
            *(self.intervals, self.small, self.aliased, self.sensing, self.intents),
            *(self.overlapping, self.memset),
        )


@some.composite
def tuples(draw: some.DrawFn) -> Tuple:
    if draw(some.integers(0, 3)) == 0:
        return draw(extended_tuples())
    kind = draw(some.sampled_from(KINDS))
    pt = "none" if kind[0].startswith("REP") else draw(some.sampled_from(pipelines.VALUES["pt"]))
    if pt == "none":
        return Tuple(*kind, "none", 0, 0)
    ps = draw(some.sampled_from(pipelines.VALUES["ps"][1:-1]))
    return Tuple(*kind, pt, ps, draw(some.sampled_from(pipelines.VALUES["pd"])))


@some.composite
def extended_tuples(draw: some.DrawFn) -> Tuple:
    v = draw(some.sampled_from(EXTENSIONS))
    pd = 0 if v.pt == "none" else draw(some.sampled_from(pipelines.VALUES["pd"]))
    pw = draw(some.sampled_from(pipelines.VALUES["pw"][1:])) if v.pw else 0
    return Tuple(v.rt, v.lt, v.st, v.pt, v.ps, pd, v.tb, v.pi, pw, v.dir)


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
    intervals = tuple(zip(sorted(up_to), winners))
    above = [0, *sorted(up_to)]
    may_sense = [end for end, before in zip(sorted(up_to), above) if before >= 4095]
    sensing: list[tuple[int, SensingCopy]] = []
    for end in may_sense:
        if draw(some.booleans()):
            again = sensing and draw(some.booleans())  # as neighbours that merge have
            sensing.append((end, sensing[-1][1] if again else draw(sensing_copies(winners))))
    intents = []
    for name in ("hot", "cold", "consume"):
        if draw(some.integers(0, 3)) == 0:
            last = draw(some.sampled_from(sorted(up_to)))
            of_intent = some.sampled_from(winners) | tuples()
            intents.append((name, tuple((e, draw(of_intent)) for e in sorted(up_to) if e <= last)))
    aliased = draw(some.none() | aliased_winners())
    overlapping = draw(some.none() | some.sampled_from(OVERLAPPING))
    memset = draw(some.none() | memsets())
    return RandomProfile(
        *(intervals, small, aliased, tuple(sensing), tuple(intents), overlapping, memset)
    )


@some.composite
def memsets(draw: some.DrawFn) -> Memset:
    up_to = sorted(set(draw(some.lists(ends(), min_size=1, max_size=5))))
    winners = []
    for _ in up_to:
        again = winners and draw(some.booleans())  # as neighbours that merge have
        winners.append(winners[-1] if again else draw(set_tuples()))
    shape = draw(some.none() | some.sampled_from(small_copies.SHAPES))
    of_shape = [s for s in SMALL_SETS.values() if s.shape == shape]
    small = draw(some.sampled_from(of_shape)) if of_shape else None
    return Memset(tuple(zip(up_to, winners)), small)


@some.composite
def set_tuples(draw: some.DrawFn) -> set_pipelines.Tuple:
    v = draw(some.sampled_from(SET_VARIANTS))
    pw = draw(some.sampled_from(SET_DISTANCES)) if v.pw else 0
    return set_pipelines.Tuple(v.rt, v.st, v.tb, pw)


@some.composite
def sensing_copies(draw: some.DrawFn, winners: Sequence[Tuple]) -> SensingCopy:
    pipelines = some.sampled_from(winners) | tuples()
    probe = draw(some.sampled_from(probes.PROBES))
    thresholds = some.sampled_from((0, probes.MAXIMUM_THRESHOLD)) | some.integers(0, 2000)
    fetch = draw(pipelines) if probe.kind == "each" else None
    return SensingCopy(probe, draw(thresholds), draw(pipelines), draw(pipelines), fetch)


@some.composite
def aliased_winners(draw: some.DrawFn) -> Aliased:
    above, up_to = sorted(max(draw(ends()), 511 + n) for n in range(2))
    tuple_ = draw(some.sampled_from(list(aliased_copies.aliased_tuples())))
    return Aliased(above, max(up_to, above + 1), tuple_)


def check(batch: Sequence[RandomProfile], folder: Path) -> None:
    routines = {}
    for number, p in enumerate(batch):
        changes = [0, 128, (p.small or PLAIN).bound, *(end for end, _ in p.intervals)]
        changes += [p.aliased.above, p.aliased.up_to] if p.aliased else []
        changes += [end for end, _ in p.memset.intervals] if p.memset else []
        prefix = f"p{number}"
        routine = render(
            *(p.intervals, folder, p.small, prefix, p.aliased, p.sensing, p.intents),
            *(p.overlapping, p.memset),
        )
        routines[routine] = [size for size in changes if size < LARGEST]

    dispatch_check = build_dispatch_check(*routines)
    for number, p in enumerate(batch):
        small = p.small or PLAIN
        if lacking_features(p.everything, small, p.aliased, p.overlapping, p.memset):
            continue  # all go to the portable path
        changes = {small.bound, *(end for end, _ in p.intervals)}
        changes |= {p.aliased.above, p.aliased.up_to} if p.aliased else set()
        sizes = {size + n for size in changes for n in (-1, 0, 1)}
        sizes |= {0, 1, 64, 129, 2 * p.intervals[-1][0], 2**46}
        check_one = functools.partial(assert_dispatched, dispatch_check, f"p{number}")
        try:
            check_one(p.intervals, small, sizes, p.aliased, p.sensing)
            for name, intervals in p.intent_items:
                alias = p.aliased if name == "hot" else None
                check_one(intervals, small, sizes, alias, functions=[f"memcpy_{name}"])
            if p.memset:
                ends_of_sets = {end for end, _ in p.memset.intervals}
                some_sizes = {e + n for e in ends_of_sets for n in (-1, 0, 1)} | {0, 1, 129, 2**46}
                assert_sets_dispatched(dispatch_check, f"p{number}", p.memset, some_sizes)
            for distance, direction in ((8, "downwards"), (-8, "upwards")):
                taken = copies_taken(dispatch_check, f"p{number}_memmove", distance, [5000, 2**20])
                symbol = (p.overlapping or overlapping_copies.PLAIN).symbol
                assert taken == [f"p{number}_move_{direction}_{symbol}"] * 2
        except AssertionError as error:
            pytest.fail(f"{error}\nin the profile {p.json}")

    copy_fuzz = build_with_routines(routines, folder, "copy_fuzz")
    done = run(copy_fuzz, "--count", CASES, "--largest", LARGEST)
    wrong = failures(done.stdout)
    shown = [p for n, p in enumerate(batch) if any(f" p{n}_" in line for line in wrong)]
    assert not wrong, "\n".join([*wrong, "in the profiles", *(p.json for p in shown)])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ok ") == len(batch)


def test_random_profiles_give_routines_that_copy_right(tmp_path):
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
    winners = {t for p in seen for _, t in p.everything}
    assert len(seen) >= 200  # of 280: some come again
    assert {(t.rt, t.lt, t.st) for t in winners} == set(KINDS)
    for axis in ("pt", "ps", "pd", "tb", "pi", "pw", "dir"):
        assert {getattr(t, axis) for t in winners} == set(pipelines.VALUES[axis])
    assert any(p.intervals[-1][0] > 2**31 for p in seen)
    assert {p.small.shape for p in seen if p.small} == set(small_copies.SHAPES)
    tuples_ = {p.aliased.tuple for p in seen if p.aliased}
    assert tuples_ == set(aliased_copies.aliased_tuples())
    assert {copy.probe for p in seen for _, copy in p.sensing_items} == set(probes.PROBES)
    assert {name for p in seen for name, _ in p.intent_items} == {"hot", "cold", "consume"}
    assert {p.overlapping for p in seen} == {None, *OVERLAPPING}
    assert any(p.small is p.aliased is None for p in seen)
    memsets_seen = [p.memset for p in seen if p.memset]
    sets = {t for memset in memsets_seen for _, t in memset.intervals}
    assert {(t.rt, t.st) for t in sets} == {(v.rt, v.st) for v in SET_VARIANTS}
    for axis in set_pipelines.MARKED:
        assert {getattr(t, axis.field) for t in sets} == set(axis.values)
    assert {m.small.shape for m in memsets_seen if m.small} == set(small_copies.SHAPES)
