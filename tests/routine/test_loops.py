"""What is timed is what ships: a routine's pipelines have the instructions of the candidates.

Both are disassembled. The candidate takes its prefetch distances from registers, the pipeline has
them in the displacement; nothing else may differ but the bytes that an instruction's encoding
takes. Small copies have no distance: routine and candidate begin with the same instructions.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from asterope.profile import Profile, load_profile
from asterope.render import render_routine
from asterope.spaces.x86_64 import (
    overlapping_copies,
    pipelines,
    set_pipelines,
    small_copies,
    small_sets,
)
from copy_programs import Memset, disassembled, need, output_of, profile_json

VARIANTS = list(pipelines.variants())
PAPER = pipelines.paper_variants()
PLAIN = pipelines.Tuple("XMM", "T", "T", "none", 0, 0)
SMALL_COPIES = list(small_copies.small_tuples())
SMALL_SETS = list(small_sets.small_sets())
LONGEST_PROFILE = 256  # intervals

pytestmark = pytest.mark.skipif(not shutil.which("objdump"), reason="needs objdump")

LINE = re.compile(r"\s*([0-9a-f]+):\t(.*)")
JUMP = re.compile(r"(j\w+) +([0-9a-f]+) <(.+?)(?:[-+]0x[0-9a-f]+)?>$")
PREFETCH = re.compile(r"(prefetch\w+) (-?(?:0x)?[0-9a-f]+)?\((%rsi,%rcx|%rdi,%r10),1\)$")
GATE = re.compile(r"-?0x[0-9a-f]+\(%rip\)(.*?) +# [0-9a-f]+ <\w+_(cpu_unfit)>$")
UNTUNED = re.compile(r"\b[0-9a-f]+ <\w+?(_set)?_untuned>$")
PADDING = re.compile(r"(data16 |cs )*(nop\w*\b|xchg +%ax,%ax$)")


@dataclass(frozen=True)
class Function:
    """Instructions without padding. Jumps name the index of their target: `jb #12`."""

    address: int
    addresses: list[int]
    instructions: list[str]

    def target(self, instruction: str) -> int | None:
        found = re.search(r"#(-?\d+)$", instruction)
        return int(found[1]) if found else None


def parse(listing: str) -> dict[str, Function]:
    """Functions of `objdump -d --no-show-raw-insn` by name."""
    functions = {}
    for block in re.split(r"\n(?=[0-9a-f]+ <)", listing):
        head = re.match(r"([0-9a-f]+) <(.+)>:\n", block)
        if not head:
            continue
        addresses, texts = [], []
        for line in block.splitlines()[1:]:
            found = LINE.match(line)
            if not found:
                continue
            # by their names: each routine has its own
            text = UNTUNED.sub(r"<\1untuned>", GATE.sub(r"\2\1", found[2]))
            text = re.sub(r"\s+", " ", text.split("#")[0].strip())
            if PADDING.match(text) or text == "endbr64":
                continue
            addresses.append(int(found[1], 16))
            texts.append(text)
        while texts and texts[-1] in ("ud2", "int3"):  # what compilers put behind naked functions
            texts.pop()
            addresses.pop()
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
    return parse(disassembled(path))


def differences(
    candidate: list[str], pipeline: list[str], pd: int, pw: int = 0, down: bool = False
) -> Iterator[str]:
    """In what the pipeline is not the end of the candidate, at these distances; nothing if it is.

    `pd` lines ahead of the load, `pw` ahead of the store; below them where the copy runs `down`.
    """
    lines = {"%rsi,%rcx": pd, "%rdi,%r10": pw}
    skipped = len(candidate) - len(pipeline)
    if skipped < 0:
        yield f"{len(pipeline)} instructions, the candidate has {len(candidate)}"
        return
    for index, (timed, shipped) in enumerate(zip(candidate[skipped:], pipeline)):
        found = PREFETCH.match(timed)
        if found:
            ahead = 64 * lines[found[3]]
            displacement = int(found[2] or "0", 16) + (-ahead if down else ahead)
            base = found[3].split(",")[0]
            timed = f"{found[1]} {hex(displacement) if displacement else ''}({base})"
        found = re.match(r"(j\w+) #(\d+)$", timed)
        if found:
            timed = f"{found[1]} #{int(found[2]) - skipped}"
        if timed != shipped:
            yield f"instruction {index}: {timed!r} is timed, {shipped!r} ships"


def prologue(candidate: list[str], pipeline: list[str]) -> list[str]:
    return candidate[: len(candidate) - len(pipeline)]


def differences_of(t: pipelines.Tuple, candidate: list[str], pipeline: list[str]) -> list[str]:
    return list(differences(candidate, pipeline, t.pd, t.pw, t.dir == "down"))


def candidate_name(t: pipelines.Tuple) -> str:
    return f"asterope_candidate_{t.variant.symbol}"


def pipeline_name(t: pipelines.Tuple) -> str:
    return f"asterope_copy_{t.symbol}"  # which ends in the distance


def profile_of(
    folder: Path,
    tuples: list[pipelines.Tuple],
    small: small_copies.SmallTuple | None = None,
    overlapping: overlapping_copies.OverlappingTuple | None = None,
    memset: Memset | None = None,
) -> Profile:
    """An interval for each tuple. The first ends beyond 128 bytes: its pipeline is then needed."""
    intervals = [(256 * (i + 1), PLAIN) for i in range(len(tuples))]
    path = folder / "profile.json"
    path.write_text(profile_json(intervals, small, overlapping=overlapping, memset=memset))
    loaded = load_profile(path)
    # Put in here: which tuples a profile may hold is not what is tested.
    with_tuples = [replace(one, copy=t) for one, t in zip(loaded.of("pipelines"), tuples)]
    others = [one for one in loaded.choices if one not in loaded.of("pipelines")]
    return replace(loaded, choices=(*with_tuples, *others))


def built(folder: Path, profiles: dict[str, Profile], *compiler: str) -> dict[str, Function]:
    """The functions of the profiles' routines, by prefix, in one library or object."""
    need(compiler[0])
    for prefix, profile in profiles.items():
        for name, text in render_routine(profile, prefix).items():
            (folder / name).write_text(text)
    sources = [folder / f"{prefix}_memcpy.c" for prefix in profiles]
    output_of(*compiler, "-o", folder / "routine.o", *sources)
    return disassemble(folder / "routine.o")


def all_tuples(shift: int, variants: list[pipelines.Variant] = VARIANTS) -> list[pipelines.Tuple]:
    """Every variant at one distance; over the variants, all the distances."""
    tuples = []
    for i, v in enumerate(variants):
        pd = 0 if v.pt == "none" else pipelines.VALUES["pd"][(5 * i + shift) % 16]
        pw = pipelines.VALUES["pw"][1 + (i + shift) % 5] if v.pw else 0
        tuples.append(pipelines.Tuple(v.rt, v.lt, v.st, v.pt, v.ps, pd, v.tb, v.pi, pw, v.dir))
    return tuples


@pytest.fixture(scope="module")
def candidates(build_dir: Path) -> dict[str, Function]:
    """Those that asterope-tune runs: taken from the program itself."""
    return disassemble(build_dir / "asterope-tune")


def compiled(
    folder: Path, tuples: list[pipelines.Tuple], *compiler: str, small: object = None
) -> dict[str, Function]:
    return built(folder, {"asterope": profile_of(folder, tuples, small)}, *compiler, "-c")


COMPILERS = [
    pytest.param(command.split(), id=command, marks=[pytest.mark.slow] * (command != "gcc -O2"))
    for command in ("gcc -O0", "gcc -O2", "clang -O0", "clang -O2")
]


@pytest.fixture(scope="module", params=COMPILERS)
def shipped(request, tmp_path_factory) -> dict[pipelines.Tuple, Function]:
    """The pipelines of every variant, those of the paper at two distances, as one compiler makes
    them."""
    found = {}
    for tuples in (all_tuples(0), all_tuples(7, PAPER)):
        for begin in range(0, len(tuples), LONGEST_PROFILE):
            part = tuples[begin : begin + LONGEST_PROFILE]
            functions = compiled(tmp_path_factory.mktemp("loops"), part, *request.param)
            found.update({t: functions[pipeline_name(t)] for t in part})
    return found


def test_every_pipeline_is_what_was_timed(candidates, shipped) -> None:
    assert {t.variant for t in shipped} == set(VARIANTS)
    assert {t.pd for t in shipped} == set(pipelines.VALUES["pd"])
    assert {t.pw for t in shipped} == set(pipelines.VALUES["pw"])
    faults = [
        f"{t.name}: {fault}"
        for t, pipeline in shipped.items()
        for fault in differences_of(
            t, candidates[candidate_name(t)].instructions, pipeline.instructions
        )
    ]
    assert not faults, "\n".join(faults[:20])


def unpacking(t: pipelines.Tuple) -> list[str]:
    """What takes the distances apart that a candidate gets in one register."""
    prefetches, down = t.pt != "none", t.dir == "down"
    return [
        *(["mov %rcx,%r10", "shr $0x20,%r10"] if t.pw else []),
        *(["mov %ecx,%ecx"] if t.pw and prefetches else []),
        *(["neg %rcx"] if down and prefetches else []),
        *(["neg %r10"] if down and t.pw else []),
    ]


def test_a_candidate_has_nothing_more_than_its_arguments_and_128_bytes(candidates, shipped) -> None:
    """Before the pipeline: rax, 128 bytes, which in the routine are the small copy's, and the
    distances, which there are constants."""
    for t, pipeline in shipped.items():
        first, *rest = prologue(candidates[candidate_name(t)].instructions, pipeline.instructions)
        assert first == "mov %rdi,%rax"
        if t.is_whole:
            assert rest == []
            continue
        assert rest[0] == "cmp $0x80,%rdx"
        distances = unpacking(t)
        begin = len(rest) - len(distances)
        assert rest[begin:] == distances, t.name
        del rest[begin:]
        assert rest[1] == f"jne #{len(rest) + 1}"
        assert rest[-1] == "ret"
        operations = Counter(text.split()[0] for text in rest[2:-1]) - Counter(["vzeroupper"])
        assert all("mov" in operation for operation in operations), rest


def test_above_a_small_copy_of_256_bytes_only_the_way_for_so_few_is_left_out(tmp_path) -> None:
    """No call reaches that way: the test for it comes first, and its copy last."""
    tuples = all_tuples(0)[::40]
    wide = small_copies.SmallTuple("stepped", "XMM", "up", 256)
    with_way = compiled(tmp_path, tuples, "cc", "-O2")
    without = compiled(tmp_path, tuples, "cc", "-O2", small=wide)
    for t in tuples[1:]:  # the first one's interval is the small copy's
        longer, shorter = (f[pipeline_name(t)].instructions for f in (with_way, without))
        if t.is_whole:
            assert shorter == longer
            continue
        assert longer[0] == "cmp $0x100,%rdx"
        way = int(re.fullmatch(r"jbe #(\d+)", longer[1])[1])
        assert list(differences(longer[:way], shorter, 0)) == []
        assert len(shorter) == way - 2


def loops(function: Function) -> dict[int, int]:
    """Where each loop ends and where it begins, as indices of instructions."""
    targets = enumerate(map(function.target, function.instructions))
    return {at: target for at, target in targets if target is not None and target < at}


def test_pipelines_and_loops_begin_where_those_of_the_candidates_do(candidates, shipped) -> None:
    """Cache lines and decoders see no difference: both begin on 64 bytes, and so do the loops."""
    for t, pipeline in shipped.items():
        for function in (candidates[candidate_name(t)], pipeline):
            assert function.address % 64 == 0, t.name
            found = loops(function)
            outermost = [
                begin
                for begin in found.values()
                if not any(other < begin < end for end, other in found.items())
            ]
            assert all(function.addresses[begin] % 64 == 0 for begin in outermost), t.name
            assert t.is_whole or outermost, f"{t.name} has no loop"


# --- Small copies ---------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=COMPILERS)
def routines(request, tmp_path_factory) -> dict[str, Function]:
    """A routine for each small copy, all in one library: the i-th is called smalli."""
    folder = tmp_path_factory.mktemp("small")
    profiles = {f"small{i}": profile_of(folder, [PLAIN], s) for i, s in enumerate(SMALL_COPIES)}
    return built(folder, profiles, *request.param, "-shared", "-fPIC")


def small_candidate(candidates: dict[str, Function], small: small_copies.SmallTuple) -> Function:
    return candidates[f"asterope_small_{small.symbol}"]


def test_every_small_copy_is_what_was_timed(candidates, routines) -> None:
    for i, small in enumerate(SMALL_COPIES):
        timed = small_candidate(candidates, small)
        shipped = routines[f"small{i}_memcpy"]
        *instructions, away = timed.instructions
        assert away == "jmp *%r8", small.name  # where the routine goes on
        assert shipped.instructions[: len(instructions)] == instructions, small.name
        assert (timed.address % 64, shipped.address % 64) == (0, 0), small.name


def test_moves_have_the_small_copy_as_well(candidates, routines) -> None:
    """But for `rep movsb`, which copies upwards only."""
    for i, small in enumerate(SMALL_COPIES):
        expected = small_copies.PLAIN if small.shape == "rep" else small
        *instructions, _ = small_candidate(candidates, expected).instructions
        shipped = routines[f"small{i}_memmove"]
        assert shipped.instructions[: len(instructions)] == instructions, small.name
        behind = f"jmp {shipped.addresses[1]:x} <small{i}_memmove>"  # what memmove returns
        assert routines[f"small{i}_mempcpy"].instructions == ["lea (%rdi,%rdx,1),%rax", behind]


def test_small_copies_differ_from_each_other(candidates) -> None:
    """Were they all the same, the tests above would see no difference between them."""
    bodies = {tuple(small_candidate(candidates, small).instructions) for small in SMALL_COPIES}
    assert len(bodies) == len(SMALL_COPIES)


# --- Moves ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_move_is_what_was_timed(candidates, tmp_path, compiler) -> None:
    bodies = []
    for o in overlapping_copies.overlapping_tuples():
        profile = profile_of(tmp_path, [PLAIN], None, o)
        routine = built(tmp_path, {"asterope": profile}, *compiler, "-c")
        for name in (f"move_upwards_{o.symbol}", f"move_downwards_{o.symbol}"):
            timed, shipped = candidates[f"asterope_candidate_{name}"], routine[f"asterope_{name}"]
            assert shipped.instructions == timed.instructions, name
            for function in (timed, shipped):
                begins = [function.addresses[begin] for begin in loops(function).values()]
                assert [at % 64 for at in (function.address, *begins)] == [0, 0], name
            bodies.append(tuple(timed.instructions))
    assert len(set(bodies)) == len(bodies)


# --- Sets -----------------------------------------------------------------------------------------


def all_sets() -> list[set_pipelines.Tuple]:
    """Every variant at one distance; over the variants, all the distances."""
    distances = set_pipelines.AXES[-1].values[1:]
    return [
        set_pipelines.Tuple(v.rt, v.st, v.tb, distances[i % len(distances)] if v.pw else 0)
        for i, v in enumerate(set_pipelines.variants())
    ]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_set_is_what_was_timed(candidates, tmp_path, compiler) -> None:
    """The candidate has its return value more than the pipeline, and the distance to unpack."""
    sets = all_sets()
    memset = Memset([(256 * (i + 1), t) for i, t in enumerate(sets)])
    profile = profile_of(tmp_path, [PLAIN], memset=memset)
    shipped = built(tmp_path, {"asterope": profile}, *compiler, "-c")
    assert {t.pw for t in sets} == set(set_pipelines.AXES[-1].values)
    bodies = set()
    for t in sets:
        timed = candidates[f"asterope_set_candidate_{t.variant.symbol}"]
        pipeline = shipped[f"asterope_set_{t.symbol}"]
        assert list(differences(timed.instructions, pipeline.instructions, 0, t.pw)) == [], t.name
        unpacking = ["mov %rcx,%r10", "shr $0x20,%r10"] if t.pw else []
        first = prologue(timed.instructions, pipeline.instructions)
        assert first == ["mov %rdi,%rax", *unpacking], t.name
        for function in (timed, pipeline):
            begins = [function.addresses[begin] for begin in loops(function).values()]
            assert {at % 64 for at in (function.address, *begins)} == {0}, t.name
            assert begins or t.is_whole, t.name
        bodies.add(tuple(pipeline.instructions))
    assert len(bodies) == len(sets)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_small_set_is_what_was_timed(candidates, tmp_path, compiler) -> None:
    plain = set_pipelines.PLAIN
    profiles = {
        f"small{i}": profile_of(tmp_path, [PLAIN], memset=Memset([(2048, plain)], small))
        for i, small in enumerate(SMALL_SETS)
    }
    routines = built(tmp_path, profiles, *compiler, "-shared", "-fPIC")
    bodies = set()
    for i, small in enumerate(SMALL_SETS):
        timed = candidates[f"asterope_small_set_{small.symbol}"]
        shipped = routines[f"small{i}_memset"]
        *instructions, away = timed.instructions
        assert away == "jmp *%r8", small.name  # where the routine goes on
        assert shipped.instructions[: len(instructions)] == instructions, small.name
        assert (timed.address % 64, shipped.address % 64) == (0, 0), small.name
        bodies.add(tuple(instructions))
    assert len(bodies) == len(SMALL_SETS)


# --- The comparison itself must be able to fail ---------------------------------------------------


LISTING = """
0000000000001000 <f>:
    1000:\tmov    %rdi,%rax
    1003:\tnopl   0x0(%rax,%rax,1)
    1040:\tprefetcht0 0x40(%rsi,%rcx,1)
    1044:\tprefetchw -0x40(%rdi,%r10,1)
    1048:\tvmovdqu (%rsi),%ymm0
    104c:\tcmp    %r8,%rdi
    104f:\tjb     1040 <f+0x40>
    1051:\tret
    1052:\tud2

0000000000002000 <g>:
    2000:\tdata16 cs nopw 0x0(%rax,%rax,1)
    2040:\tprefetcht0 0x240(%rsi)
    2044:\tprefetchw 0xc0(%rdi)
    2048:\tvmovdqu (%rsi),%ymm0
    204c:\tcmp    %r8,%rdi
    204f:\tjb     2038 <g+0x38>
    2055:\tret
"""


def faults_after(
    before: str, after: str, pd: int = 8, pw: int = 4, down: bool = False
) -> list[str]:
    assert before in LISTING
    functions = parse(LISTING.replace(before, after))
    return list(differences(functions["f"].instructions, functions["g"].instructions, pd, pw, down))


def test_padding_and_lengths_of_encodings_do_not_count() -> None:
    assert len(parse(LISTING)["g"].instructions) == 6
    assert faults_after("", "") == []


NOTICED = [
    ("2048:\tvmovdqu (%rsi)", "2048:\tvmovdqa (%rsi)"),
    ("2048:\tvmovdqu (%rsi)", "2048:\tvmovdqu 0x20(%rsi)"),
    ("2048:\tvmovdqu (%rsi),%ymm0", "2048:\tvmovdqu (%rsi),%ymm1"),
    ("prefetcht0 0x240(%rsi)", "prefetcht1 0x240(%rsi)"),
    ("prefetcht0 0x240(%rsi)", "prefetcht0 0x280(%rsi)"),
    ("prefetcht0 0x240(%rsi)", "prefetcht0 0x240(%rdi)"),
    ("prefetcht0 0x40(%rsi,%rcx,1)", "prefetcht0 0x40(%rsi,%rcx,2)"),
    ("prefetchw 0xc0(%rdi)", "prefetchw 0x100(%rdi)"),
    ("prefetchw 0xc0(%rdi)", "prefetchw 0xc0(%rsi)"),
    ("prefetchw 0xc0(%rdi)", "prefetcht0 0xc0(%rdi)"),
    ("prefetchw -0x40(%rdi,%r10,1)", "prefetchw -0x40(%rdi,%rcx,1)"),
    ("2038 <g+0x38>", "2048 <g+0x48>"),
    ("jb     2038", "jbe    2038"),
    ("    2055:\tret\n", ""),
    ("    2055:\tret\n", "    2055:\tsfence\n    2058:\tret\n"),
    ("    1051:\tret\n", ""),
    ("    1048:\tvmovdqu (%rsi),%ymm0\n", ""),
    *(("", "", 10), ("", "", 8, 2), ("", "", 8, 4, True)),
]


@pytest.mark.parametrize("change", NOTICED, ids=str)
def test_any_other_change_or_distance_is_noticed(change: tuple) -> None:
    assert faults_after(*change)


def test_a_gate_is_known_by_its_name() -> None:
    listing = LISTING.replace(
        "cmp    %r8,%rdi", "or    0x2dc9(%rip),%r9        # 4020 <a_cpu_unfit>"
    )
    assert "or cpu_unfit,%r9" in parse(listing)["f"].instructions
    other = parse(listing.replace("cpu_unfit", "sensing_from"))
    assert parse(listing)["f"].instructions != other["f"].instructions


def test_downwards_the_distances_count_downwards() -> None:
    listing = LISTING.replace("0x240(%rsi)", "-0x1c0(%rsi)").replace("0xc0(%rdi)", "-0x140(%rdi)")
    functions = parse(listing)
    timed, shipped = functions["f"].instructions, functions["g"].instructions
    assert list(differences(timed, shipped, 8, 4, down=True)) == []
    assert list(differences(timed, shipped, 8, 4))


def test_a_change_in_a_real_pipeline_is_noticed(candidates, tmp_path: Path) -> None:
    some = (*all_tuples(0, PAPER)[::40], *all_tuples(0)[len(PAPER) :: 190])
    for axis in ("dir", "tb", "pi"):
        assert {getattr(t, axis) for t in some} == set(pipelines.VALUES[axis])
    assert any(t.pw for t in some)
    for t in some:
        pipeline = compiled(tmp_path, [t], "cc", "-O2")[pipeline_name(t)].instructions
        timed = candidates[candidate_name(t)].instructions
        assert differences_of(t, timed, pipeline) == []
        for i in range(len(pipeline)):
            for changed in (pipeline[:i] + pipeline[i + 1 :], pipeline[: i + 1] + pipeline[i:]):
                if changed != timed[len(timed) - len(changed) :]:
                    assert differences_of(t, timed, changed), (t.name, i)
