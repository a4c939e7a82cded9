"""Random AArch64 profiles: each size takes its winner, and all copy right."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import pytest
from aarch64_programs import (
    COMPILER,
    CPUS,
    PLAIN_MOVE,
    SMALL_COPIES,
    SMALL_SETS,
    emulated,
    features_of,
    needs_emulator_and_time,
    needs_of,
)
from asterope.spaces.aarch64 import (
    aliased_copies,
    overlapping_copies,
    pipelines,
    set_pipelines,
    small_copies,
    small_sets,
)
from asterope.spaces.aarch64.overlapping_copies import OverlappingTuple
from asterope.spaces.aarch64.pipelines import Tuple
from asterope.spaces.aarch64.small_copies import SmallTuple
from asterope.spaces.probes import MAXIMUM_THRESHOLD, PROBES, SensingCopy
from copy_programs import (
    Aliased,
    Intervals,
    Memset,
    assert_dispatched,
    assert_sets_dispatched,
    build_dispatch_check,
    build_with_routines,
    copies_taken,
    failures,
    profile_json,
    render,
    run,
)

pytestmark = needs_emulator_and_time

BATCH = 12  # profiles in one program: emulators and compilers take most of their time to start
BATCHES = 6
LARGEST = 300_000  # copied; of what is larger, only where it goes
CASES = 1500  # for each profile

VARIANTS = [v for v in pipelines.variants() if v.rt != "MOPS"]
SET_VARIANTS = [v for v in set_pipelines.variants() if v.rt != "MOPS"]
OVERLAPPING = list(overlapping_copies.overlapping_tuples())
ALIASED = list(aliased_copies.aliased_tuples())


class RandomProfile(NamedTuple):
    """What a routine is rendered from; sensing copies by their interval's end."""

    intervals: Intervals
    small: SmallTuple | None
    aliased: Aliased | None
    sensing: dict[int, SensingCopy]
    intents: dict[str, Intervals]
    overlapping: OverlappingTuple | None
    memset: Memset | None

    @property
    def needs(self) -> set[str]:
        """CPU features without which all copies go to the portable path."""
        of_sensing = [t for copy in self.sensing.values() for t in copy.all_pipelines]
        of_intents = [t for intervals in self.intents.values() for _, t in intervals]
        copies = [t for _, t in self.intervals] + of_sensing + of_intents
        copies += [c for c in (self.small, self.aliased and self.aliased.tuple) if c]
        if self.memset:
            copies += [t for _, t in self.memset.intervals]
            copies += [self.memset.small] if self.memset.small else []
        return needs_of(*copies)


class Chance(random.Random):
    """Draws profiles. Those with SVE never clear lines: no emulated CPU could run both."""

    vectors = True

    def fits(self, needs: set[str]) -> bool:
        return not needs or ("sve" in needs) == self.vectors

    def tuple(self) -> Tuple:
        # as many of each register type and kind, however many variants there are of it
        able = [v for v in VARIANTS if self.fits(needs_of(v))]
        kind = self.choice(sorted({(v.rt, v.clear, v.dir, v.pi > 1) for v in able}))
        v = self.choice([v for v in able if (v.rt, v.clear, v.dir, v.pi > 1) == kind])
        marks = {axis.field: getattr(v, axis.field) for axis in pipelines.MARKED}
        marks["pw"] = self.choice(pipelines.VALUES["pw"][1:]) if v.pw else 0
        pd = 0 if v.pt == "none" else self.choice(pipelines.VALUES["pd"])
        return Tuple(v.rt, v.lt, v.st, v.pt, v.ps, pd, **marks)

    def set_tuple(self) -> set_pipelines.Tuple:
        v = self.choice([v for v in SET_VARIANTS if self.fits(needs_of(v))])
        pw = self.choice(set_pipelines.AXES[-1].values[1:]) if v.pw else 0
        return set_pipelines.Tuple(v.rt, v.st, v.tb, pw)

    def end(self) -> int:
        """128 to 2^40, most small or near where a number needs other instructions."""
        return self.choice(
            [
                self.randint(128, 700),
                self.randint(128, LARGEST),
                min(max(2 ** self.randint(7, 40) + self.randint(-1, 1), 128), 2**40),
                self.randint(4094, 4098) * 2 ** self.randint(0, 13),
                2**31 + self.randint(-2, 2),
            ]
        )

    def ends(self, most: int) -> list[int]:
        ends = {self.end() for _ in range(self.randint(1, most))}
        ends |= {e + 1 for e in ends if e < 2**40 and self.random() < 0.3}  # intervals of one size
        return sorted(ends)

    def small(self, of: dict[str, SmallTuple]) -> SmallTuple | None:
        able = [small for small in of.values() if self.fits(needs_of(small))]
        shape = self.choice([None, *sorted({small.shape for small in able})])
        return self.choice([s for s in able if s.shape == shape]) if shape else None

    def probe(self, winners: list[Tuple]) -> SensingCopy:
        probe = self.choice(PROBES)
        threshold = self.choice(
            [0, MAXIMUM_THRESHOLD, self.randrange(2000), self.randrange(1 << 20)]
        )
        hot, cold, fetch = (self.choice([*winners, self.tuple()]) for _ in range(3))
        return SensingCopy(probe, threshold, hot, cold, fetch if probe.kind == "each" else None)

    def memset(self) -> Memset:
        intervals = tuple((end, self.set_tuple()) for end in self.ends(5))
        return Memset(intervals, self.small(SMALL_SETS))

    def profile(self) -> RandomProfile:
        self.vectors = self.random() < 0.5
        ends = self.ends(8)
        winners: list[Tuple] = []
        for _ in ends:
            # now and then the one before once more, as neighbours that merge have
            again = winners and self.random() < 0.3
            winners.append(self.choice(winners) if again else self.tuple())
        above = [0, *ends]
        sensing = {
            end: self.probe(winners)
            for end, before in zip(ends, above)
            if before >= 4095 and self.random() < 0.5
        }
        intents = {}
        for name in ("hot", "cold", "consume"):
            if self.random() < 0.25:
                last = self.choice(ends)
                intents[name] = [(end, self.tuple()) for end in ends if end <= last]
        aliased = None
        if self.random() < 0.5:
            first, last = sorted(max(self.end(), 511 + n) for n in range(2))
            aliased = Aliased(first, max(last, first + 1), self.choice(ALIASED))
        return RandomProfile(
            list(zip(ends, winners)),
            self.small(SMALL_COPIES),
            aliased,
            sensing,
            intents,
            self.choice([None, *OVERLAPPING]),
            self.memset() if self.random() < 0.6 else None,
        )


def profiles_of(batch: int) -> list[RandomProfile]:
    chance = Chance(batch)
    return [chance.profile() for _ in range(BATCH)]


def assert_all_dispatched(program: Path, prefix: str, p: RandomProfile, cpu: str) -> None:
    small, emulator = p.small or small_copies.PLAIN, emulated(cpu)
    changes = {small.bound, *(end for end, _ in p.intervals)}
    changes |= {p.aliased.above, p.aliased.up_to} if p.aliased else set()
    sizes = {size + n for size in changes for n in (-1, 0, 1)}
    sizes |= {0, 1, 64, 129, 2 * p.intervals[-1][0], 2**46}
    assert_dispatched(
        *(program, prefix, p.intervals, small, sizes, p.aliased, p.sensing), emulator=emulator
    )
    for name, intervals in p.intents.items():
        alias = p.aliased if name == "hot" else None
        assert_dispatched(
            *(program, prefix, intervals, small, sizes, alias),
            functions=[f"memcpy_{name}"],
            emulator=emulator,
        )
    if p.memset:
        ends = {end for end, _ in p.memset.intervals}
        sizes = {end + n for end in ends for n in (-1, 0, 1)} | {0, 1, 129, 2**46}
        memset = Memset(p.memset.intervals, p.memset.small or small_sets.PLAIN)
        assert_sets_dispatched(program, prefix, memset, sizes, emulator)
    for distance, direction in ((8, "downwards"), (-8, "upwards")):
        command = (program, f"{prefix}_memmove", distance, [5000, 2**20])
        symbol = (p.overlapping or PLAIN_MOVE).symbol
        taken = copies_taken(*command, *emulator)
        assert taken == [f"{prefix}_move_{direction}_{symbol}"] * 2


@pytest.mark.parametrize(
    "batch", [pytest.param(n, marks=[pytest.mark.slow] * (n > 0)) for n in range(BATCHES)]
)
def test_random_profiles_give_routines_that_copy_right(tmp_path, batch):
    routines, profiles = {}, profiles_of(batch)
    for number, p in enumerate(profiles):
        changes = [0, 128, (p.small or small_copies.PLAIN).bound, *(end for end, _ in p.intervals)]
        changes += [p.aliased.above, p.aliased.up_to] if p.aliased else []
        changes += [end for end, _ in p.memset.intervals] if p.memset else []
        routine = render(
            *(p.intervals, tmp_path, p.small, f"p{number}", p.aliased, p.sensing, p.intents),
            *(p.overlapping, p.memset),
        )
        routines[routine] = [size for size in changes if size < LARGEST]

    dispatch_check = build_dispatch_check(*routines, flags=["-static"], compiler=COMPILER)
    for number, p in enumerate(profiles):
        cpu = next(cpu for cpu in CPUS if p.needs <= features_of(cpu))
        try:
            assert_all_dispatched(dispatch_check, f"p{number}", p, cpu)
        except AssertionError as error:
            text = profile_json(*p)
            pytest.fail(f"{error}\nin the profile {text}")

    copy_fuzz = build_with_routines(routines, tmp_path, "copy_fuzz", COMPILER)
    for cpu in CPUS:
        done = run(*emulated(cpu), copy_fuzz, "--count", CASES, "--largest", LARGEST)
        wrong = failures(done.stdout)
        shown = [p for n, p in enumerate(profiles) if any(f" p{n}_" in line for line in wrong)]
        assert not wrong, "\n".join([cpu, *wrong, "in", *(profile_json(*p) for p in shown)])
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("ok ") == len(profiles)


def test_the_random_profiles_have_all_that_there_is():
    seen = [p for batch in range(BATCHES) for p in profiles_of(batch)]
    winners = {t for p in seen for _, t in p.intervals}
    for axis in pipelines.AXES:
        assert {getattr(t, axis.field) for t in winners} == {*axis.values} - {"MOPS"}, axis.field
    assert {p.small.shape for p in seen if p.small} == set(small_copies.SHAPES)
    assert {p.aliased.tuple for p in seen if p.aliased} == set(ALIASED)
    assert {copy.probe for p in seen for copy in p.sensing.values()} == set(PROBES)
    assert {name for p in seen for name in p.intents} == {"hot", "cold", "consume"}
    assert {p.overlapping for p in seen} == {None, *OVERLAPPING}
    sets = {t for p in seen if p.memset for _, t in p.memset.intervals}
    assert {t.rt for t in sets} == {v.rt for v in SET_VARIANTS}
    assert any(p.intervals[-1][0] > 2**31 for p in seen)
