"""The timed code ships: a routine's copies and sets have the instructions of the candidates.

Both are disassembled. A candidate takes its prefetch distances from registers; the pipeline has
them in the instruction. Otherwise only the bytes that an instruction's encoding takes may differ.
Small copies have no distance: routine and candidate begin with the same instructions.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from architectures import AARCH64, X86_64, Architecture, each, once
from asterope.profile import Profile, load_profile
from asterope.render import render_candidates, render_routine
from conftest import BUILD
from copy_programs import REPOSITORY, Memset, output_of, profile_json
from disassembly import LANDING, Function, Listing, differences_of, disassemble, taken_apart

LONGEST_PROFILE = 256  # intervals

# The first instructions of a small candidate, the routine's in their place, and how the candidate
# goes on beyond its bound.
HANDED_ON = {"x86_64": [], "aarch64": ["mov x15, x3", "mov x16, x4", "mov x3, x0"]}
RETURNS = {"x86_64": [], "aarch64": ["mov x3, x0"]}
AWAY = {"x86_64": ["jmp *%r8"], "aarch64": ["mov x3, x15", "br x16"]}
MEMPCPY = {
    "x86_64": ["lea (%rdi,%rdx,1),%rax", "jmp <memmove>"],
    "aarch64": ["bti c", "add x3, x0, x2", "b <memmove>"],
}
PAST_CACHES = re.compile(r"v?movnt(?!dqa)|movdir64b|clzero")
LOOPS_ON = {"x86_64": 64, "aarch64": 32}  # bytes


@functools.cache  # most are alike, and long
def profile_from(text: str, path: Path) -> Profile:
    path.write_text(text)
    return load_profile(path)


def profile_of(
    arch: Architecture, folder: Path, tuples: list, small: object = None, **more: object
) -> Profile:
    """An interval for each tuple. The first ends beyond 128 bytes: its pipeline is then needed."""
    intervals = [(256 * (i + 1), arch.plain) for i in range(len(tuples))]
    loaded = profile_from(profile_json(intervals, small, **more), folder / "profile.json")
    # Put in here: which tuples a profile may hold is not what is tested.
    with_tuples = [replace(one, copy=t) for one, t in zip(loaded.of("pipelines"), tuples)]
    others = [one for one in loaded.choices if one not in loaded.of("pipelines")]
    return replace(loaded, choices=(*with_tuples, *others))


def object_of(arch: Architecture, source: Path) -> Listing:
    """Linked, where only so symbols can be told from each other. By one compiler: test_compilers
    proves that all make the same instructions."""
    linked = ("-shared", "-fPIC") if arch is X86_64 else ("-c",)
    target = source.with_suffix(".o")
    # Not -pedantic: clang finds the ladder of so many intervals longer than ISO C's strings.
    output_of(*arch.gcc, "-O2", f"-I{REPOSITORY / 'tuner'}", *linked, "-o", target, source)
    return disassemble(target, arch)


def built(arch: Architecture, folder: Path, profiles: Mapping[str, Profile]) -> Listing:
    """The functions of the profiles' routines, by prefix."""
    for prefix, profile in profiles.items():
        for name, text in render_routine(profile, prefix).items():
            (folder / name).write_text(text)
    together = folder / "routines.c"
    together.write_text("".join(f'#include "{prefix}_memcpy.c"\n' for prefix in profiles))
    return object_of(arch, together)


def parts_of(arch: Architecture) -> dict[str, tuple[str, list]]:
    """Every variant of pipelines and of sets at one distance, over the variants all the distances:
    kind, and as many tuples as a profile may have."""
    pds, pws = (arch.pipelines.VALUES[axis] for axis in ("pd", "pw"))
    copies = [
        arch.with_distances(v, pds[5 * i % 16], pws[1 + i % 5])
        for i, v in enumerate(arch.pipelines.variants())
    ]
    begins = range(0, len(copies), LONGEST_PROFILE)
    parts = {f"copies from {i}": ("", copies[i : i + LONGEST_PROFILE]) for i in begins}
    of_sets, distances = arch.set_pipelines, arch.set_pipelines.AXES[-1].values[1:]
    sets = [
        of_sets.Tuple(v.rt, v.st, v.tb, distances[i % len(distances)] if v.pw else 0)
        for i, v in enumerate(of_sets.variants())
    ]
    return {**parts, "sets": ("set_", sets)}


def candidates_of(arch: Architecture, folder: Path) -> Listing:
    """The candidates that asterope-tune runs. They are taken from the program itself, where it has
    names for the functions that they use."""
    if arch is X86_64 and arch.is_native:
        return disassemble(BUILD / "asterope-tune")
    (folder / "candidates.c").write_text(render_candidates(arch.name))
    return object_of(arch, folder / "candidates.c")


candidates = once(candidates_of)


# --- Pipelines ------------------------------------------------------------------------------------


def assert_prologue(arch: Architecture, t: object, more: list[str]) -> None:
    """A candidate's own instructions: the value to return, and the distances, which in the routine
    are constants."""
    prefetches, down = t.pt != "none", t.dir == "down"
    if arch is AARCH64:
        unpacked = ["mov w4, w3"] * prefetches + ["lsr x5, x3, #32"] * bool(t.pw)
        assert more == [*unpacked, "mov x3, x0"], t.name
        return
    unpacked = [
        *(["mov %rcx,%r10", "shr $0x20,%r10"] if t.pw else []),
        *(["mov %ecx,%ecx"] if t.pw and prefetches else []),
        *(["neg %rcx"] if down and prefetches else []),
        *(["neg %r10"] if down and t.pw else []),
    ]
    assert more == ["mov %rdi,%rax", *unpacked], t.name


def assert_aligned(arch: Architecture, function: Function, has_loop: bool, name: str) -> None:
    """Caches and decoders see no difference: functions begin on 64 bytes, and so, or nearly so, do
    their loops."""
    assert function.address % 64 == 0, name
    begins = function.outermost_loops
    loops = begins if arch is X86_64 else begins[:1]  # AArch64's further ones do what is left
    assert not [at for at in loops if at % LOOPS_ON[arch.name]], name
    assert bool(begins) == has_loop, name


@each(parts_of, slow=False, one_in=4)
def test_every_pipeline_and_every_set_is_what_was_timed(candidates, tmp_path, arch, case):
    kind, tuples = case
    memset = Memset([(256 * (i + 1), t) for i, t in enumerate(tuples)]) if kind else None
    profile = profile_of(arch, tmp_path, [arch.plain] if kind else tuples, memset=memset)
    routine = built(arch, tmp_path, {"asterope": profile})
    for i, t in enumerate(tuples):
        timed = candidates(arch)[f"asterope_{kind}candidate_{t.variant.symbol}"]
        ships = routine[f"asterope_{kind or 'copy_'}{t.symbol}"]
        assert differences_of(arch, t, timed.instructions, ships.instructions) == [], t.name
        assert_prologue(arch, t, taken_apart(arch, timed.instructions, ships.instructions)[0])
        for function in (timed, ships):
            assert_aligned(arch, function, not t.is_whole, t.name)
        if (t.pw or t.pt != "none") and i % 16 == 0:  # or none would be seen
            other = SimpleNamespace(pd=t.pd + 2, pw=t.pw + 2, dir=t.dir)
            assert differences_of(arch, other, timed.instructions, ships.instructions), t.name


def test_what_is_stored_past_the_caches_is_there_before_the_copy_returns(candidates):
    """Such stores are weakly ordered: without a fence another CPU could see what the caller stores
    next before it sees the copy (Intel SDM vol. 1, 10.4.6.2)."""
    functions = candidates(X86_64)
    for kind, space in (("", X86_64.pipelines), ("set_", X86_64.set_pipelines)):
        for variant in space.variants():
            body = functions[f"asterope_{kind}candidate_{variant.symbol}"].instructions
            past = [i for i, text in enumerate(body) if PAST_CACHES.match(text)]
            assert bool(past) == (variant.st == "NT"), variant.name
            fences = [i for i, text in enumerate(body) if text == "sfence"]
            assert len(fences) == bool(past), variant.name
            if past:
                returns = [i for i, text in enumerate(body) if text == "ret" and i > past[-1]]
                assert past[-1] < fences[0] < returns[0], variant.name


@each(slow=False)
def test_no_two_candidates_are_the_same(candidates, arch):
    """Were they, the tests here would see no difference between them."""
    kinds = (
        ("candidate", list(arch.pipelines.variants())),
        ("small", list(arch.small.values())),
        ("candidate_move_upwards", arch.moves),
        ("set_candidate", list(arch.set_pipelines.variants())),
        ("small_set", list(arch.small_set.values())),
    )
    for kind, copies in kinds:
        functions = [candidates(arch)[f"asterope_{kind}_{copy.symbol}"] for copy in copies]
        assert len({tuple(f.instructions) for f in functions}) == len(copies), kind


@each(slow=False)
def test_prefetches_of_all_types_stand_at_the_same_places(candidates, arch):
    """So candidates_check may share out offsets and sizes among variants that differ in theirs."""
    alike: dict[object, list[tuple[str, ...]]] = {}
    for v in arch.pipelines.variants():
        typed = re.compile(rf"\b(prefetch|prfm pld){v.pt.lower()}\b")
        instructions = candidates(arch)[f"asterope_candidate_{v.symbol}"].instructions
        untyped = tuple(typed.sub(r"\1", text) for text in instructions)
        assert (untyped != tuple(instructions)) == (v.pt != "none"), v.name
        alike.setdefault(replace(v, pt="none"), []).append(untyped)
    for v, bodies in alike.items():
        assert len({*bodies}) == 1, v.name
        assert len(bodies) >= (3 if v.ps else 1), f"{v.name}: too few to share"


@each(slow=False)
def test_moves_and_copies_of_aliasing_buffers_are_what_was_timed(candidates, tmp_path, arch):
    profiles = {
        f"move{i}": profile_of(arch, tmp_path, [arch.plain], overlapping=move)
        for i, move in enumerate(arch.moves)
    }
    routines = built(arch, tmp_path, profiles)
    for i, move in enumerate(arch.moves):
        for name in (f"move_upwards_{move.symbol}", f"move_downwards_{move.symbol}"):
            timed = candidates(arch)[f"asterope_candidate_{name}"]
            ships = routines[f"move{i}_{name}"]
            assert ships.instructions == timed.instructions, name
            for function in (timed, ships):
                assert_aligned(arch, function, True, name)


def assert_begins_alike(arch: Architecture, timed: Function, ships: Function, name: str) -> None:
    """The function of the routine begins as the candidate, which goes on elsewhere at its end."""
    away = len(AWAY[arch.name])
    assert timed.instructions[-away:] == AWAY[arch.name], name
    landing = LANDING[arch.name]
    bodies = []
    for function, first in ((timed, HANDED_ON[arch.name]), (ships, RETURNS[arch.name])):
        at = landing + len(first)
        assert function.instructions[landing:at] == first, name
        assert function.address % 64 == 0, name
        bodies.append(function.instructions[at:])
    assert bodies[1][: len(bodies[0]) - away] == bodies[0][:-away], name


@each(slow=False)
def test_every_small_copy_and_small_set_is_what_was_timed(candidates, tmp_path, arch):
    pairs = list(zip(arch.small.values(), arch.small_set.values()))
    plain = [(2048, arch.set_pipelines.PLAIN)]
    assert len(pairs) == len(arch.small) == len(arch.small_set)
    profiles = {
        f"small{i}": profile_of(arch, tmp_path, [arch.plain], small, memset=Memset(plain, set_))
        for i, (small, set_) in enumerate(pairs)
    }
    routines = built(arch, tmp_path, profiles)
    for i, (small, set_) in enumerate(pairs):
        timed = candidates(arch)[f"asterope_small_{small.symbol}"]
        # but for `rep movsb`, which copies upwards only, moves have the small copy as well
        of_moves = arch.small_copies.PLAIN if small.shape == "rep" else small
        moves = candidates(arch)[f"asterope_small_{of_moves.symbol}"]
        sets = candidates(arch)[f"asterope_small_set_{set_.symbol}"]
        for function, candidate in (("memcpy", timed), ("memmove", moves), ("memset", sets)):
            assert_begins_alike(arch, candidate, routines[f"small{i}_{function}"], small.name)
        assert routines[f"small{i}_mempcpy"].instructions == MEMPCPY[arch.name], small.name


OPTIONS = {("T", "T"): "", ("T", "NT"): "wn", ("NT", "T"): "rn", ("NT", "NT"): "n"}


@each(of=AARCH64, slow=False)
def test_the_numbers_of_mops_are_the_instructions_that_they_should_be(candidates, arch):
    """Assemblers need not know them, so templates have numbers; this disassembler must."""
    expected = {}
    for v in (v for v in arch.pipelines.variants() if v.rt == "MOPS"):
        copies = [f"cpyf{part}{OPTIONS[v.lt, v.st]} [x0]!, [x1]!, x2!" for part in "pme"]
        expected[f"candidate_{v.symbol}"] = ["dmb ishld"] * (v.lt == "NT") + copies
    for v in (v for v in arch.set_pipelines.variants() if v.rt == "MOPS"):
        option = "n" if v.st == "NT" else ""
        expected[f"set_candidate_{v.symbol}"] = [f"set{p}{option} [x0]!, x2!, x1" for p in "pme"]
    assert len(expected) == 4 + 2
    for name, instructions in expected.items():
        found = candidates(arch)[f"asterope_{name}"].instructions
        if ".inst" in " ".join(found):
            pytest.skip(f"{arch.objdump} does not know FEAT_MOPS")
        assert found == ["bti c", "mov x3, x0", *instructions, "mov x0, x3", "ret"], name
