"""Random profiles, rendered, compiled and run: each size takes its winner, and all copy right."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from architectures import Architecture, build_dispatch_check, each, list_routines, needs_of
from asterope import spaces
from asterope.spaces.kinds import MEMSET, probes_of
from asterope.spaces.probes import FOUND, MINIMUM_BYTES, PROBES, PROBES_OF_SETS, Probe, SensingCopy
from asterope.spaces.x86_64 import small_copies
from copy_programs import (
    FUNCTIONS,
    Aliased,
    Contents,
    Intervals,
    Memset,
    copies_taken,
    failures,
    profile_json,
    render,
    run,
)
from test_sensing import HIGHEST_THRESHOLD

BATCH = 20  # profiles in one program: compilers and emulators take most of their time to start
BATCHES = {True: range(14), False: range(5)}  # by whether it is native
LARGEST = 300_000  # copied; of what is larger, only where it goes
CASES = {True: 3000, False: 1500}  # for each profile


class RandomProfile(Contents):
    """The input of a rendered routine, drawn."""

    @property
    def everything(self) -> list[Any]:
        """All the pipelines that copy."""
        of_sensing = [t for copy in self.sensing.values() for t in copy.all_pipelines]
        of_intents = [t for intervals in self.intents.values() for _, t in intervals]
        return [t for _, t in self.intervals] + of_sensing + of_intents

    @property
    def needs(self) -> set[str]:
        """CPU features without which all copies go to the portable path."""
        sets = []
        if self.memset:
            sets += [self.memset.small, *(t for _, t in self.memset.intervals)]
            sets += [t for one in self.memset.sensing.values() for t in one.all_pipelines]
        aliased = self.aliased and self.aliased.tuple
        small = (self.small, *self.small_by_intent.values())
        return needs_of(*self.everything, *small, aliased, self.overlapping, *sets)

    @property
    def changes(self) -> set[int]:
        """Sizes at which the routine's code changes."""
        changes = {0, 128, *(end for end, _ in self.intervals)}
        changes |= {one.bound for one in (self.small, *self.small_by_intent.values()) if one}
        changes |= {self.aliased.above, self.aliased.up_to} if self.aliased else set()
        return changes | ({end for end, _ in self.memset.intervals} if self.memset else set())


def able(copies: Any, has: frozenset[str]) -> list[Any]:
    return [copy for copy in copies if needs_of(copy) <= has]


@functools.cache  # listing all variants takes longer than all else that a profile is drawn by
def able_sets(arch: Architecture, has: frozenset[str]) -> list[Any]:
    return able(arch.set_pipelines.variants(), has)


@functools.cache
def able_by_kind(arch: Architecture, has: frozenset[str]) -> list[list[Any]]:
    kinds: dict[tuple, list[Any]] = {}
    for v in able(arch.pipelines.variants(), has):
        kind = (v.rt, v.lt, v.st, v.dir, v.pi > 1, getattr(v, "clear", ""))
        kinds.setdefault(kind, []).append(v)
    return [kinds[kind] for kind in sorted(kinds)]


class Chance(random.Random):
    """Draws profiles, each of what one of the CPUs has: all of another would take the portable
    path."""

    def __init__(self, arch: Architecture, seed: int) -> None:
        super().__init__(seed)
        self.arch, self.has = arch, frozenset()

    def able(self, copies: Any) -> list[Any]:
        return able(copies, self.has)

    def tuple(self) -> Any:
        # as many of each kind, however many variants there are of it
        v = self.choice(self.choice(able_by_kind(self.arch, self.has)))
        pd, pw = (self.choice(self.arch.pipelines.VALUES[axis]) for axis in ("pd", "pw"))
        return self.arch.with_distances(v, pd, pw or 8)

    def set_tuple(self) -> Any:
        sets = self.arch.set_pipelines
        v = self.choice(able_sets(self.arch, self.has))
        return sets.Tuple(v.rt, v.st, v.tb, self.choice(sets.AXES[-1].values[1:]) if v.pw else 0)

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
        if self.random() < 0.1:  # few that any small copy leaves a pipeline
            return self.choice([[128], [128, 129]])
        ends = {self.end() for _ in range(self.randint(1, most))}
        ends |= {e + 1 for e in ends if e < 2**40 and self.random() < 0.3}  # intervals of one size
        return sorted(ends)

    def intervals(self, ends: list[int], draw: Any) -> list[tuple[int, Any]]:
        winners: list[Any] = []
        for _ in ends:
            # now and then one before once more, as neighbours that merge have
            again = winners and self.random() < 0.3
            winners.append(self.choice(winners) if again else draw())
        return list(zip(ends, winners))

    def small(self, of: Mapping[str, Any]) -> Any:
        able = self.able(of.values())
        shape = self.choice([None, *sorted({small.shape for small in able})])
        return self.choice([s for s in able if s.shape == shape]) if shape else None

    def sensing(self, intervals: Intervals, probes: Sequence[Probe], draw: Any) -> dict:
        """What senses, by the end of its interval; now and then the same again."""
        sensing: dict[int, SensingCopy] = {}
        for (end, _), (before, _) in zip(intervals, [(0, None), *intervals]):
            if before >= MINIMUM_BYTES - 1 and self.random() < 0.5:
                again = sensing and self.random() < 0.5
                sensing[end] = (
                    [*sensing.values()][-1]
                    if again
                    else self.sensing_copy([t for _, t in intervals], probes, draw)
                )
        return sensing

    def sensing_copy(self, winners: list[Any], probes: Sequence[Probe], draw: Any) -> SensingCopy:
        probe = self.choice(probes)
        thresholds = [0, HIGHEST_THRESHOLD, self.randrange(2000), self.randrange(1 << 20)]
        ways = {way: self.choice([*winners, draw()]) for way in FOUND[probe.kind]}
        return SensingCopy(probe, self.choice(thresholds), **ways)

    def profile(self) -> RandomProfile:
        self.has = self.arch.features_of(self.choice(self.arch.cpus))
        ends = self.ends(60 if self.random() < 0.1 else 8)
        intervals = self.intervals(ends, self.tuple)
        sensing = self.sensing(intervals, PROBES, self.tuple)
        intents = {
            name: self.intervals(ends[: self.randint(1, len(ends))], self.tuple)
            for name in ("hot", "cold", "consume")
            if self.random() < 0.25
        }
        aliased = None
        if self.random() < 0.5:
            first, last = sorted(max(self.end(), 511 + n) for n in range(2))
            of_aliased = self.choice(self.able(self.arch.moves))
            aliased = Aliased(first, max(last, first + 1), of_aliased)
        memset = None
        if self.random() < 0.6:
            sets = self.intervals(self.ends(5), self.set_tuple)
            probes = PROBES_OF_SETS if probes_of(spaces.of(self.arch.name), MEMSET) else ()
            senses = self.sensing(sets, probes, self.set_tuple) if probes else {}
            memset = Memset(sets, self.small(self.arch.small_set), senses)
        small = self.small(self.arch.small)
        drawn = {name: self.small(self.arch.small) for name in intents}
        own = {name: one for name, one in drawn.items() if one}
        overlapping = self.choice([None, *self.able(self.arch.moves)])
        return RandomProfile(intervals, small, aliased, sensing, intents, own, overlapping, memset)


def all_that_sense(intervals: Intervals, sensing: Mapping[int, Any]) -> list[tuple[Any, Any]]:
    """As the routine numbers them: each with what stands in for it."""
    return list(dict.fromkeys((sensing[e], t) for e, t in intervals if e in sensing))


def expected_copy(
    function: str, size: int, intervals: Intervals, small: Any, aliased: Any, senses: Any
) -> str:
    """The answer of `copies_taken`, less the prefix, where nothing overlaps or is lacking.

    `aliased` is the profile's where the buffers alias, and None where they do not. `senses`: the
    copies that sense, by their interval's end, and how many the operations before have.
    """
    # rep movsb copies upwards only: functions that forgive overlap have the plain small copy there
    plain = small.shape == "rep" and function in ("mempcpy", "memmove")
    if size <= (small_copies.PLAIN if plain else small).bound:
        return "none"
    if aliased and aliased.up_to > small.bound and aliased.above < size <= aliased.up_to:
        return f"move_downwards_{aliased.tuple.symbol}"
    # An interval within the bound has no code, so not even what has the plain small copy takes it.
    beyond = [(end, t) for end, t in intervals if end > small.bound]
    interval = next((i for i in beyond if size <= i[0]), intervals[-1])
    sensing, before = senses
    if interval[0] in sensing:
        copies = all_that_sense(intervals, sensing)
        return f"sense_{before + 1 + copies.index((sensing[interval[0]], interval[1]))}"
    return f"{'set' if function == 'memset' else 'copy'}_{interval[1].symbol}"


def assert_all_dispatched(arch: Architecture, program: Path, prefix: str, p: RandomProfile) -> None:
    """Each size takes the copy that the profile says, in each function."""
    small, emulator = p.small or arch.small_copies.PLAIN, arch.on(arch.cpu_for(*p.everything, p))
    functions = dict.fromkeys(FUNCTIONS, (p.intervals, small, p.aliased, (p.sensing, 0)))
    for name, intervals in p.intents.items():
        # where nothing is cached, the copy of aliasing buffers is of no use
        aliased = p.aliased if name == "hot" else None
        own = p.small_by_intent.get(name, small)
        functions[f"memcpy_{name}"] = (intervals, own, aliased, ({}, 0))
    if p.memset:
        sets, small_set, of_sets = p.memset
        before = len(all_that_sense(p.intervals, p.sensing))
        functions["memset"] = (sets, small_set or arch.small_sets.PLAIN, None, (of_sets, before))
    sizes = {size + n for size in p.changes - {0} for n in (-1, 0, 1)}
    sizes |= {0, 1, 64, 129, 2 * p.intervals[-1][0], 2**46}
    in_line = {n for n in sizes if n <= max(small_copies.AXES[-1].values)}
    # Copies in line must be done there; larger ones must not overlap at any size. The distance of
    # the destination ahead, less whole pages, and whether that aliases.
    ways = [(256, False), (0, True), (1, True), (255, True), (4095, False)]
    questions, answers = [], []
    for function, (ahead, alias) in itertools.product(functions, ways if p.aliased else ways[:1]):
        intervals, of_function, aliased, senses = functions[function]
        of = (intervals, of_function, aliased if alias else None, senses)
        # A masked move whose register reaches into the next page is left to the copy for any CPU.
        near = min(ahead, 4096 - 64)
        for far, few in ((4096 + near, in_line), (2**46 + 4096 + ahead, sizes - in_line)):
            questions.append((f"{prefix}_{function}", far, sorted(few)))
            answers.append({n: expected_copy(function, n, *of) for n in sorted(few)})
    found = copies_taken(program, questions, *emulator)
    for (function, distance, few), expected, taken in zip(questions, answers, found):
        copies = (copy.replace(f"{prefix}_", "", 1) for copy in taken)
        assert dict(zip(few, copies)) == expected, f"{function}, {distance} bytes ahead"
    symbol = (p.overlapping or arch.overlapping_copies.PLAIN).symbol
    moves = [
        (f"{prefix}_memmove", way * distance, [size])
        for size, way in itertools.product((5000, 2**33 + 1000), (1, -1))
        # the last ones do not alias modulo a page, or they would be moved, too
        for distance in (1, 64, size // 2, size - 1, size, size + 256)
    ]
    for (_, distance, (size,)), (taken,) in zip(moves, copies_taken(program, moves, *emulator)):
        move = f"{prefix}_move_{'downwards' if distance > 0 else 'upwards'}_{symbol}"
        assert (taken == move) == (abs(distance) < size), (taken, size, distance)


@each(lambda arch: BATCHES[arch.is_native], daily=lambda batch: batch == "0")
def test_random_profiles_give_routines_that_copy_right(tmp_path, objects, arch, case):
    routines, chance = {}, Chance(arch, case)
    profiles = [chance.profile() for _ in range(BATCH)]
    for number, p in enumerate(profiles):
        more = p._asdict()
        routine = render(more.pop("intervals"), tmp_path, prefix=f"p{number}", **more)
        routines[routine] = sorted(size for size in p.changes if size < LARGEST)
    dispatch_check = build_dispatch_check(arch, *routines)
    for number, p in enumerate(profiles):
        try:
            assert_all_dispatched(arch, dispatch_check, f"p{number}", p)
        except AssertionError as error:
            pytest.fail(f"{error}\nin the profile {profile_json(*p)}")
    checker, together = arch.compiled(objects, "copy_check"), list_routines(routines)
    program = arch.program(tmp_path, "routine_check", "-O1", checker, together)
    for cpu in arch.cpus:
        options = ("--count", CASES[arch.is_native], "--largest", LARGEST)
        done = run(*arch.on(cpu), program, *options)
        wrong = failures(done.stdout)
        shown = [p for n, p in enumerate(profiles) if any(f" p{n}_" in line for line in wrong)]
        assert not wrong, "\n".join([cpu, *wrong, "in", *(profile_json(*p) for p in shown)])
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("ok ") == len(profiles)
