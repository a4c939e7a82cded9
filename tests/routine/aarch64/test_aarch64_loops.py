"""What is timed is what ships: a routine's pipelines have the instructions of the candidates.

Both are disassembled. The candidate takes its prefetch distances from registers, the pipeline has
them in the instruction; nothing else may differ. Small copies have no distance: routine and
candidate begin with the same instructions.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from aarch64_programs import CLANG, COMPILER, PLAIN, SMALL_COPIES, SMALL_SETS
from asterope.profile import Profile, load_profile
from asterope.render import render_candidates, render_routine
from asterope.spaces.aarch64 import (
    aliased_copies,
    overlapping_copies,
    pipelines,
    set_pipelines,
)
from copy_programs import REPOSITORY, Aliased, Memset, need, output_of, profile_json

OBJDUMP = "aarch64-linux-gnu-objdump"
VARIANTS = list(pipelines.variants())
LONGEST_PROFILE = 256  # intervals

pytestmark = pytest.mark.skipif(
    not (shutil.which(COMPILER) and shutil.which(OBJDUMP)),
    reason=f"{COMPILER} and {OBJDUMP} are not both installed",
)

LINE = re.compile(r"\s*([0-9a-f]+):\t(.*)")
RELOCATION = re.compile(r"\s*[0-9a-f]+: R_AARCH64_\w+\t(\w+)")
JUMP = re.compile(r"(b|b\.\w+|cbn?z .+?,|tbn?z .+?,) ([0-9a-f]+) <(.+?)(?:\+0x[0-9a-f]+)?>$")
PREFIX = re.compile(r"^(asterope_candidate|asterope|small\d+)_")


@dataclass(frozen=True)
class Function:
    """Instructions without padding. Jumps name the index of their target: `b.lo #12`."""

    address: int
    addresses: list[int]
    instructions: list[str]


def parse(listing: str) -> dict[str, Function]:
    """Functions of `objdump -dr --no-show-raw-insn` by name; a label in their midst is none."""
    listing = re.sub(r"\n[0-9a-f]+ <\w+_inner>:\n", "", listing)
    listing = re.sub(r"<(\w+)_inner\b", r"<\1", listing)
    functions = {}
    for block in re.split(r"\n(?=[0-9a-f]+ <)", listing):
        head = re.match(r"([0-9a-f]+) <(.+)>:\n", block)
        if not head:
            continue
        addresses: list[int] = []
        texts: list[str] = []
        for line in block.splitlines()[1:]:
            symbol, found = RELOCATION.match(line), LINE.match(line)
            if symbol and texts:
                # by its name without the prefix, which each routine has of its own
                operation = re.match(r"(\S+( [xw]\d+,( \[x\d+)?)?)", texts[-1])[1]
                texts[-1] = f"{operation} <{PREFIX.sub('', symbol[1])}>"
            elif found and found[2].strip() not in ("nop", "udf\t#0"):
                text = re.sub(r"\s+", " ", found[2].split("//")[0].strip())
                addresses.append(int(found[1], 16))
                texts.append(text)
        functions[head[2]] = Function(
            int(head[1], 16), addresses, [resolved(text, head[2], addresses) for text in texts]
        )
    return functions


def resolved(text: str, function: str, addresses: list[int]) -> str:
    """A jump's target as an index, counting on to the next instruction where it is padding."""
    found = JUMP.match(text)
    if not found or found[3] != function:
        return text
    target = int(found[2], 16)
    return f"{found[1]} #{sum(address < target for address in addresses)}"


def disassemble(path: Path) -> dict[str, Function]:
    return parse(output_of(OBJDUMP, "-dr", "--no-show-raw-insn", path))


def differences(
    candidate: list[str], pipeline: list[str], first: list[str], pd: int = 0, pw: int = 0
) -> Iterator[str]:
    """In what the candidate is not the pipeline behind its `first` instructions, at distances in
    lines: `pd` ahead of the load, `pw` ahead of the store."""
    lines = {"x4": pd, "x5": pw}
    if candidate[: 1 + len(first)] != ["bti c", *first]:
        yield f"the candidate begins with {candidate[: 1 + len(first)]}"
    timed_ones = ["bti c", *candidate[1 + len(first) :]]
    if len(timed_ones) != len(pipeline):
        yield f"{len(pipeline)} instructions, the candidate has {len(timed_ones)}"
    for index, (timed, shipped) in enumerate(zip(timed_ones, pipeline)):
        ahead = re.fullmatch(r"(add|sub) (x17, x[01]), (x[45])", timed)
        if ahead:
            timed = f"{ahead[1]} {ahead[2]}, #{hex(64 * lines[ahead[3]])}"
        jump = re.fullmatch(r"(.+) #(\d+)", timed)
        if jump and JUMP.match(f"{jump[1]} 0 <f>"):
            timed = f"{jump[1]} #{int(jump[2]) - len(first)}"
        if timed != shipped:
            yield f"instruction {index}: {timed!r} is timed, {shipped!r} ships"


def unpacking(t: pipelines.Tuple | set_pipelines.Tuple) -> list[str]:
    """What takes the distances apart that a candidate gets in one register, and sets what it
    returns."""
    return [
        *(["mov w4, w3"] if t.pt != "none" else []),
        *(["lsr x5, x3, #32"] if t.pw else []),
        "mov x3, x0",
    ]


def differences_of(t, candidate: list[str], pipeline: list[str]) -> list[str]:
    return list(differences(candidate, pipeline, unpacking(t), t.pd, t.pw))


def profile_of(folder: Path, tuples: list[pipelines.Tuple], *more: object, **named) -> Profile:
    """An interval for each tuple. The first ends beyond 128 bytes: its pipeline is then needed."""
    intervals = [(256 * (i + 1), PLAIN) for i in range(len(tuples))]
    path = folder / "profile.json"
    path.write_text(profile_json(intervals, *more, **named), encoding="ascii")
    loaded = load_profile(path)
    # Put in here: which tuples a profile may hold is not what is tested.
    with_tuples = [replace(one, copy=t) for one, t in zip(loaded.of("pipelines"), tuples)]
    others = [one for one in loaded.choices if one not in loaded.of("pipelines")]
    return replace(loaded, choices=(*with_tuples, *others))


def built(folder: Path, profiles: dict[str, Profile], *compiler: str) -> dict[str, Function]:
    """The functions of the profiles' routines, by prefix."""
    need(compiler[0])
    for prefix, profile in profiles.items():
        for name, text in render_routine(profile, prefix).items():
            (folder / name).write_text(text, encoding="ascii")
    together = folder / "routines.c"
    together.write_text("".join(f'#include "{prefix}_memcpy.c"\n' for prefix in profiles))
    # Not -pedantic: clang finds the ladder of so many intervals longer than ISO C's strings.
    output_of(*compiler, "-std=c99", "-c", "-o", folder / "routines.o", together)
    return disassemble(folder / "routines.o")


def all_tuples(shift: int) -> list[pipelines.Tuple]:
    """Every variant at one distance; over the variants, all the distances."""
    tuples = []
    for i, v in enumerate(VARIANTS):
        pd = 0 if v.pt == "none" else pipelines.VALUES["pd"][(5 * i + shift) % 16]
        pw = pipelines.VALUES["pw"][1 + (i + shift) % 5] if v.pw else 0
        marks = {axis.field: getattr(v, axis.field) for axis in pipelines.MARKED}
        marks["pw"] = pw
        tuples.append(pipelines.Tuple(v.rt, v.lt, v.st, v.pt, v.ps, pd, **marks))
    return tuples


@pytest.fixture(scope="module")
def candidates(tmp_path_factory) -> dict[str, Function]:
    folder = tmp_path_factory.mktemp("candidates")
    source, target = folder / "candidates.c", folder / "candidates.o"
    source.write_text(render_candidates("aarch64"), encoding="ascii")
    output_of(COMPILER, f"-I{REPOSITORY / 'tuner'}", "-O2", "-c", source, "-o", target)
    return disassemble(target)


COMPILERS = [
    pytest.param(command, id=" ".join(command), marks=[pytest.mark.slow] * (number > 0))
    for number, command in enumerate(
        [(COMPILER, "-O2"), (COMPILER, "-O0"), (*CLANG, "-O0"), (*CLANG, "-O2")]
    )
]


@pytest.fixture(scope="module", params=COMPILERS)
def shipped(request, tmp_path_factory) -> dict[pipelines.Tuple, Function]:
    """The pipelines of every variant at two distances, as one compiler makes them."""
    found = {}
    for tuples in (all_tuples(0), all_tuples(7)):
        for begin in range(0, len(tuples), LONGEST_PROFILE):
            part = tuples[begin : begin + LONGEST_PROFILE]
            folder = tmp_path_factory.mktemp("loops")
            functions = built(folder, {"asterope": profile_of(folder, part)}, *request.param)
            found.update({t: functions[f"asterope_copy_{t.symbol}"] for t in part})
    return found


def candidate_of(candidates: dict[str, Function], t: pipelines.Tuple) -> Function:
    return candidates[f"asterope_candidate_{t.variant.symbol}"]


def test_every_pipeline_is_what_was_timed(candidates, shipped) -> None:
    assert {t.variant for t in shipped} == set(VARIANTS)
    assert {t.pd for t in shipped} == set(pipelines.VALUES["pd"])
    assert {t.pw for t in shipped} == set(pipelines.VALUES["pw"])
    faults = [
        f"{t.name}: {fault}"
        for t, pipeline in shipped.items()
        for fault in differences_of(
            t, candidate_of(candidates, t).instructions, pipeline.instructions
        )
    ]
    assert not faults, "\n".join(faults[:20])


def loops(function: Function) -> list[int]:
    """Where loops begin: the addresses that jumps go back to."""
    found = set()
    for at, text in enumerate(function.instructions):
        target = (
            re.search(r" #(\d+)$", text) if JUMP.match(re.sub(r" #\d+$", " 0 <f>", text)) else None
        )
        if target and int(target[1]) <= at:
            found.add(function.addresses[int(target[1])])
    return sorted(found)


def test_pipelines_and_loops_begin_where_those_of_the_candidates_do(candidates, shipped) -> None:
    """Caches and decoders see no difference: functions begin on 64 bytes, their loops on 32."""
    for t, pipeline in shipped.items():
        for function in (candidate_of(candidates, t), pipeline):
            assert function.address % 64 == 0, t.name
            begins = loops(function)
            assert bool(begins) != t.is_whole, t.name
            assert not begins or begins[0] % 32 == 0, t.name


def test_no_two_variants_are_the_same(candidates) -> None:
    """Were they, the tests above would see no difference between them."""
    bodies = {tuple(candidate_of(candidates, t).instructions) for t in all_tuples(0)}
    assert len(bodies) == len(VARIANTS)


def test_above_a_small_copy_of_256_bytes_only_the_way_for_so_few_is_left_out(tmp_path) -> None:
    """No call reaches that way: the test for it comes first, and its copy last."""
    tuples = all_tuples(0)[::40]
    small = SMALL_COPIES["stepped Q up 256"]
    with_way = built(tmp_path, {"asterope": profile_of(tmp_path, tuples)}, COMPILER)
    without = built(tmp_path, {"asterope": profile_of(tmp_path, tuples, small)}, COMPILER)
    for t in tuples[1:]:  # the first one's interval is the small copy's
        longer, shorter = (f[f"asterope_copy_{t.symbol}"].instructions for f in (with_way, without))
        if t.is_whole:
            assert shorter == longer
            continue
        assert longer[1] == "cmp x2, #0x100"
        way = int(re.fullmatch(r"b\.ls #(\d+)", longer[2])[1])
        first = longer[1:3]
        assert list(differences(longer[:way], shorter, first)) == [], t.name


OPTIONS = {("T", "T"): "", ("T", "NT"): "wn", ("NT", "T"): "rn", ("NT", "NT"): "n"}


def test_the_numbers_of_mops_are_the_instructions_that_they_should_be(candidates) -> None:
    """Assemblers need not know them, so templates have numbers; this disassembler must."""
    of_copies = [v for v in VARIANTS if v.rt == "MOPS"]
    of_sets = [v for v in set_pipelines.variants() if v.rt == "MOPS"]
    assert len(of_copies) == 4
    assert len(of_sets) == 2
    for v in of_copies:
        found = candidates[f"asterope_candidate_{v.symbol}"].instructions
        if ".inst" in " ".join(found):
            pytest.skip(f"{OBJDUMP} does not know FEAT_MOPS")
        option = OPTIONS[v.lt, v.st]
        expected = [f"cpyf{part}{option} [x0]!, [x1]!, x2!" for part in "pme"]
        expected = ["dmb ishld"] * (v.lt == "NT") + expected
        assert found == ["bti c", "mov x3, x0", *expected, "mov x0, x3", "ret"], v.name
    for v in of_sets:
        found = candidates[f"asterope_set_candidate_{v.symbol}"].instructions
        option = "n" if v.st == "NT" else ""
        expected = [f"set{part}{option} [x0]!, x2!, x1" for part in "pme"]
        assert found == ["bti c", "mov x3, x0", *expected, "mov x0, x3", "ret"], v.name


# --- Small copies and small sets ------------------------------------------------------------------


HANDED_ON = ["mov x15, x3", "mov x16, x4", "mov x3, x0"]  # what a candidate does first


def assert_begins_alike(timed: Function, shipped: Function, name: str) -> None:
    """The function of the routine begins as the candidate, which goes on elsewhere at its end."""
    *instructions, back, away = timed.instructions
    assert (back, away) == ("mov x3, x15", "br x16"), name
    assert shipped.instructions[:2] == ["bti c", "mov x3, x0"], name
    same = ["bti c", *shipped.instructions[2 : len(instructions) - len(HANDED_ON) + 1]]
    assert list(differences(instructions, relabelled(same), HANDED_ON)) == [], name
    assert (timed.address % 64, shipped.address % 64) == (0, 0), name


def relabelled(instructions: list[str]) -> list[str]:
    """With jumps that count from an instruction less: the one that was left out."""
    return [
        re.sub(r" #(\d+)$", lambda found: f" #{int(found[1]) - 1}", text)
        if JUMP.match(re.sub(r" #\d+$", " 0 <f>", text))
        else text
        for text in instructions
    ]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_small_copy_is_what_was_timed(candidates, tmp_path, compiler) -> None:
    profiles = {
        f"small{i}": profile_of(tmp_path, [PLAIN], small)
        for i, small in enumerate(SMALL_COPIES.values())
    }
    routines = built(tmp_path, profiles, *compiler)
    bodies = set()
    for i, small in enumerate(SMALL_COPIES.values()):
        timed = candidates[f"asterope_small_{small.symbol}"]
        assert_begins_alike(timed, routines[f"small{i}_memcpy"], small.name)
        assert_begins_alike(timed, routines[f"small{i}_memmove"], small.name)
        instructions = routines[f"small{i}_mempcpy"].instructions
        assert instructions == ["bti c", "add x3, x0, x2", "b <memmove_inner>"], small.name
        bodies.add(tuple(timed.instructions))
    assert len(bodies) == len(SMALL_COPIES)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_small_set_is_what_was_timed(candidates, tmp_path, compiler) -> None:
    plain = set_pipelines.PLAIN
    profiles = {
        f"small{i}": profile_of(tmp_path, [PLAIN], memset=Memset([(2048, plain)], small))
        for i, small in enumerate(SMALL_SETS.values())
    }
    routines = built(tmp_path, profiles, *compiler)
    bodies = set()
    for i, small in enumerate(SMALL_SETS.values()):
        timed = candidates[f"asterope_small_set_{small.symbol}"]
        assert_begins_alike(timed, routines[f"small{i}_memset"], small.name)
        bodies.add(tuple(timed.instructions))
    assert len(bodies) == len(SMALL_SETS)


# --- Moves, copies of aliasing buffers, and sets --------------------------------------------------


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_move_is_what_was_timed(candidates, tmp_path, compiler) -> None:
    bodies = []
    for o in overlapping_copies.overlapping_tuples():
        routine = built(
            tmp_path, {"asterope": profile_of(tmp_path, [PLAIN], overlapping=o)}, *compiler
        )
        for name in (f"move_upwards_{o.symbol}", f"move_downwards_{o.symbol}"):
            timed, shipped = candidates[f"asterope_candidate_{name}"], routine[f"asterope_{name}"]
            assert shipped.instructions == timed.instructions, name
            for function in (timed, shipped):
                assert function.address % 64 == 0, name
                assert [begin % 32 for begin in loops(function)] == [0], name
            bodies.append(tuple(timed.instructions))
    assert len(set(bodies)) == len(bodies)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_copy_of_aliasing_buffers_is_what_was_timed(candidates, tmp_path, compiler) -> None:
    for a in aliased_copies.aliased_tuples():
        profile = profile_of(tmp_path, [PLAIN], aliased=Aliased(511, 4096, a))
        shipped = built(tmp_path, {"asterope": profile}, *compiler)["asterope_copy_aliased"]
        timed = candidates[f"asterope_aliased_{a.symbol}"]
        found = list(differences(timed.instructions, shipped.instructions, ["mov x3, x0"]))
        assert found == [], a.name


def all_sets() -> list[set_pipelines.Tuple]:
    """Every variant at one distance; over the variants, all the distances."""
    distances = set_pipelines.AXES[-1].values[1:]
    return [
        set_pipelines.Tuple(v.rt, v.st, v.tb, distances[i % len(distances)] if v.pw else 0)
        for i, v in enumerate(set_pipelines.variants())
    ]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_set_is_what_was_timed(candidates, tmp_path, compiler) -> None:
    sets = all_sets()
    memset = Memset([(256 * (i + 1), t) for i, t in enumerate(sets)])
    profile = profile_of(tmp_path, [PLAIN], memset=memset)
    shipped = built(tmp_path, {"asterope": profile}, *compiler)
    bodies = set()
    for t in sets:
        timed = candidates[f"asterope_set_candidate_{t.variant.symbol}"]
        pipeline = shipped[f"asterope_set_{t.symbol}"]
        assert differences_of(t, timed.instructions, pipeline.instructions) == [], t.name
        bodies.add(tuple(pipeline.instructions))
    assert len(bodies) == len(sets)


# --- The comparison itself must be able to fail ---------------------------------------------------


def test_a_change_in_a_real_pipeline_is_noticed(candidates, tmp_path: Path) -> None:
    some = all_tuples(0)[::97]
    for axis in ("dir", "tb", "pi", "rt"):
        assert {getattr(t, axis) for t in some} >= set(pipelines.VALUES[axis]) - {"MOPS"}
    assert any(t.pw for t in some)
    functions = built(tmp_path, {"asterope": profile_of(tmp_path, some)}, COMPILER)
    for t in some:
        pipeline = functions[f"asterope_copy_{t.symbol}"].instructions
        timed = candidate_of(candidates, t).instructions
        assert differences_of(t, timed, pipeline) == []
        for i in range(len(pipeline)):
            for changed in (pipeline[:i] + pipeline[i + 1 :], pipeline[: i + 1] + pipeline[i:]):
                assert differences_of(t, timed, changed), (t.name, i)
        if t.ps:
            assert list(differences(timed, pipeline, unpacking(t), t.pd + 2, t.pw)), t.name
        if t.pw:
            assert list(differences(timed, pipeline, unpacking(t), t.pd, t.pw + 2)), t.name
