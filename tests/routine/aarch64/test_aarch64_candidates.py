"""Every candidate of AArch64 is right, at all offsets, sizes and next to unmapped memory."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from aarch64_programs import (
    COMPILER,
    CPUS,
    LONG_VECTORS,
    WITH_SVE,
    WITHOUT_SVE,
    cross_compiled,
    emulated,
    features_of,
    need_features,
    needs_emulator,
)
from asterope.render import render_candidates
from asterope.spaces.aarch64 import (
    overlapping_copies,
    pipelines,
    set_pipelines,
    small_copies,
    small_sets,
)
from copy_programs import REPOSITORY, STRICT_C, failures, output_of

pytestmark = needs_emulator

# An emulated copy takes some ten times as long, so of the grid of sizes and offsets each pair of
# offsets meets one size in 31, which all the same lets each size meet every offset and every
# difference of two. Daily work checks one candidate in SAMPLE on each CPU; --slow checks each on
# one of the CPUs that have what it needs.
SAMPLE = 251
THIN = ("--step", "31", "--other-step", "31")
PROCESSES = 2

VARIANTS = list(pipelines.variants())

# The name of each candidate and what it needs of the CPU, in the order of candidates_check.
CANDIDATES = [
    *((v.name, v.needs) for v in VARIANTS),
    *((s.name, s.needs) for s in small_copies.small_tuples()),
    *((a.name, a.needs) for a in overlapping_copies.overlapping_tuples()),
    *((o.name, o.needs) for o in overlapping_copies.overlapping_tuples()),
    *((v.name, v.needs) for v in set_pipelines.variants()),
    *((s.name, s.needs) for s in small_sets.small_sets()),
]


def build(folder: Path, text: str, aarch64_objects: Path) -> Path:
    """candidates_check with `text` as the rendered candidates."""
    source, program = folder / "candidates.c", folder / "candidates_check"
    source.write_text(text, encoding="ascii")
    checkers = [
        cross_compiled(aarch64_objects, name) for name in ("candidates_check", "copy_check")
    ]
    flags = (*STRICT_C, f"-I{REPOSITORY / 'tuner'}", "-static", "-pthread")
    output_of(COMPILER, *flags, source, *checkers, "-o", program)
    return program


def check(program: Path, cpu: str, share: str, *options: str) -> str:
    """What candidates_check says of its share of the candidates on that CPU."""
    command = [*map(str, emulated(cpu)), program, *THIN, "--share", share, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode in (0, 1), f"{command}: exit {done.returncode}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def program(tmp_path_factory, aarch64_objects) -> Path:
    return build(
        tmp_path_factory.mktemp("candidates"), render_candidates("aarch64"), aarch64_objects
    )


def verdict_of(cpu: str, name: str, needs: tuple[str, ...]) -> str:
    lacks = [feature for feature in needs if feature not in features_of(cpu)]
    return f"skip {name}: this CPU lacks {lacks[0]}" if lacks else f"ok {name}"


@pytest.mark.parametrize("number", range(len(CPUS)), ids=CPUS.__getitem__)
def test_a_sample_of_the_candidates_is_right(program, number):
    first = 3 + number  # each CPU runs others
    lines = check(program, CPUS[number], f"{first}/{SAMPLE}").splitlines()
    assert lines == [verdict_of(CPUS[number], *c) for c in CANDIDATES[first::SAMPLE]]


# What candidates need, as the table has it.
NEEDS = sorted({" ".join(needs) for _, needs in CANDIDATES})


@pytest.mark.slow
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("needs", NEEDS, ids=lambda needs: needs or "nothing")
def test_every_candidate_is_right(program, needs, cpu):
    need_features(cpu, *needs.split())
    able = [other for other in CPUS if {*needs.split()} <= features_of(other)]
    shares = [(able.index(cpu) + len(able) * part) for part in range(PROCESSES)]
    of = PROCESSES * len(able)

    def verdicts_of(share: int) -> str:
        return check(program, cpu, f"{share}/{of}", "--needs", needs)

    with ThreadPoolExecutor(PROCESSES) as pool:
        verdicts = "".join(pool.map(verdicts_of, shares))
    wrong = failures(verdicts)
    assert not wrong, "\n".join(wrong)
    mine = [c for share in shares for c in CANDIDATES[share::of] if " ".join(c[1]) == needs]
    assert sorted(verdicts.splitlines()) == sorted(f"ok {name}" for name, _ in mine)


def test_each_feature_is_had_by_one_of_the_emulated_cpus():
    """But for MOPS, which only new emulators have: else candidates would be skipped everywhere."""
    assert {f for _, needs in CANDIDATES for f in needs} == {"sve", "mops", "zva64"}
    assert {"sve", "zva64"} <= {feature for cpu in CPUS for feature in features_of(cpu)}


@pytest.mark.parametrize(
    "index", [i for i, (_, needs) in enumerate(CANDIDATES) if "mops" in needs], ids=str
)
def test_each_candidate_of_mops_is_right(program, index):
    need_features(WITH_SVE, "mops")
    share = f"{index}/{len(CANDIDATES)}"
    assert check(program, WITH_SVE, share) == f"ok {CANDIDATES[index][0]}\n"


# --- The checks find what is wrong ----------------------------------------------------------------


PIPELINE, SMALL, MOVE = "Q T T none 0", "stepped Q up 128", overlapping_copies.PLAIN.name
SMALL_SET = "set sve Q up 256"  # that of this name without "set"
UP, DOWN = (f"asterope_candidate_move_{way}_q_128" for way in ("upwards", "downwards"))
HAND_ON = "mov x15, x3; mov x16, x4; "  # what a small copy does to be ready for it

# A candidate, what stands in it (or an instruction to begin with), what stands there instead, and
# what candidates_check must then say. What a wrong prefetch does nobody can see: test_loops looks
# at it.
FAULTS = {
    "it writes a byte too far": (
        *(PIPELINE, "mov w9, #1; strb w9, [x0, x2]"),
        "stray write: byte 128 is 0x01",
    ),
    "it reads a byte too far": (
        *(PIPELINE, "ldrb w9, [x1, x2]"),
        "died of a fault at source byte 128",
    ),
    "it begins a byte too late": (PIPELINE, "add x1, x1, #1", "byte 0 is 0x.*(128 bytes"),
    "it reads a byte of none": (
        *(SMALL, "ldrb w9, [x1]"),
        "died of a fault at source byte 0.*(0 bytes",
    ),
    "it writes before it reads all": (
        *(SMALL, "cbz x2, 1f; ldrb w9, [x1]; strb w9, [x0]; 1:"),
        "byte 1 is 0x.*(2 bytes",
    ),
    "it gives up early": (
        *(SMALL, f"{HAND_ON} cmp x2, #128; b.hs 129f"),
        "handed on a copy within its bound.*(128 bytes",
    ),
    "it hands on another size": (
        *(SMALL, f"{HAND_ON} cmp x2, #128; b.ls 1f; add x2, x2, #1; b 129f; 1:"),
        "handed on other arguments than it got.*(129 bytes",
    ),
    "it changes x18": (SMALL, "add x18, x18, #1", "changed x18.*(0 bytes"),
    "it changes x19": (SMALL, "add x19, x19, #1", "changed x19.*(0 bytes"),
    "it changes x29": (SMALL, "mov x29, sp", "changed x29.*(0 bytes"),
    "it changes the low half of v8": (SMALL, "movi v8.16b, #0", "changed d8.*(0 bytes"),
    "it changes the low half of v15": (SMALL, "movi v15.16b, #0", "changed d15.*(0 bytes"),
    "it changes how numbers are rounded": (SMALL, "msr fpcr, xzr", "changed FPCR"),
    "it writes below the stack": (
        *(SMALL, "str x2, [sp, #-8]"),
        "wrote below the stack pointer",
    ),
    "it writes to its caller's stack": (SMALL, "str x2, [sp]", "wrote to its caller's stack"),
    "it moves the stack pointer": (SMALL, "sub sp, sp, #16", "moved the stack pointer"),
    "it returns another pointer": (PIPELINE, "mov x0, x3", "mov x0, x1", "returned the destin"),
    "a block begins where it does not fit": (
        *("Q T T none 0 TB4", "sub x8, x6, #127", "sub x8, x6, #63"),
        "stray write: byte",
    ),
    "a block moves on too far": (
        *("Q T NT L1KEEP 8 TB8", "add x0, x0, #512", "add x0, x0, #576", "byte "),
    ),
    "the second stage repeats the first": (
        *("Q T T none 0 TB8", "ldp q0, q1, [x1, #256]", "ldp q0, q1, [x1]", "byte "),
    ),
    "a block of one line skips one": (
        *(
            "Q T NT none 0 TB1",
            'add x0, x0, #64\\n"\n    "cmp x0, x6',
            "add x0, x0, #128; cmp x0, x6",
        ),
        "byte ",
    ),
    "a block of general registers moves on too far": (
        *("X T T none 0", "add x0, x0, #128", "add x0, x0, #144", "byte "),
    ),
    "a block of vectors begins where it does not fit": (
        *("SVE T T none 0", "cntb x8, all, mul #2", "cntb x8", ""),
    ),
    "the last vector is stored whole": (
        *("SVE T NT none 0", "st1b {z0.b}, p0, [x0, x7]", "str z0, [x0]", ""),
    ),
    "what is left of the vectors is left out": (
        *("SVE NT T none 0", "b.first 7b", "nop", "byte "),
    ),
    "a group of pages begins where it does not fit": (
        *("Q T T none 0 PI2", "movz x2, #8063", "movz x2, #8000", "stray write: byte"),
    ),
    "a group of pages is not skipped over": (
        *("Q T T none 0 PI4", "add x0, x0, #12288", "add x0, x0, #8192", "byte "),
    ),
    "backward it goes on below the beginning": (
        *("Q T T none 0 down", "add x6, x0, #128", "add x6, x0, #64", ""),
    ),
    "backward a large block begins where it does not fit": (
        *("Q T T none 0 TB8 down", "add x8, x6, #383", "add x8, x6, #319", "stray write: byte -"),
    ),
    "a line too many is cleared": (
        *("Q T T none 0 zva", "add x17, x0, #64", "add x17, x0, #128", "stray write: byte"),
    ),
    "a set takes more than the low byte": ("Q T", "dup v0.16b, w1", "dup v0.8h, w1", "byte "),
    "another byte than zero is cleared": ("ZVA T", "tst w1, #255", "cmp xzr, xzr", "byte "),
    "a set returns where it ended": ("X NT", "mov x0, x3", "nop", "returned"),
    "a small set forgets the predicate": (
        *(SMALL_SET, "whilelo p0.b, xzr, x2", "ptrue p0.b", "stray write"),
    ),
    "a small set hands on another byte": (
        *(SMALL_SET, f"{HAND_ON} cmp x2, #256; b.ls 1f; add w1, w1, #1; b 257f; 1:"),
        "byte 0 is 0x.*(257 bytes",
    ),
    "what a move has left over stays behind": (UP, "b.hs 3f", "b 3f", "byte "),
    "a block of a move begins where it does not fit": (
        *(UP, "sub x7, x6, #64", "mov x7, x6", "stray write: byte"),
    ),
    "a downward block goes on below the beginning": (*(DOWN, "add x7, x6, #64", "mov x7, x6", ""),),
}


def start_of(name: str) -> tuple[str, str]:
    """The candidate's name in the table, and how its function begins in C."""
    symbol = name.lower().replace(" ", "_")
    if name in (UP, DOWN):
        return MOVE, f'"{name}"'
    if name == SMALL_SET:
        return name[len("set ") :], f'"asterope_small_{symbol}"'
    if name == SMALL:
        return name, f'"asterope_small_{symbol}"'
    if set_pipelines.named(name):
        return name, f'"asterope_set_candidate_{symbol}"'
    return name, f'"asterope_candidate_{symbol}"'


def faulty(name: str, change: list[str]) -> str:
    """The candidates, of the pipelines only this one, with the change."""
    name, start = start_of(name)
    pipeline = name if name in {v.name for v in VARIANTS} else PIPELINE
    text = render_candidates("aarch64", variants=[v for v in VARIANTS if v.name == pipeline])
    begin = text.index(f"ASTEROPE_CANDIDATE_BEGIN({start}")
    end = text.index("ASTEROPE_CANDIDATE_END", begin)
    body = text[begin:end]
    if len(change) == 1:
        head, rest = body.split("\n", 1)
        body = f'{head}\n    "{change[0]}\\n"\n{rest}'
    else:
        assert change[0] in body, body
        body = body.replace(*change)
    return text[:begin] + body + text[end:]


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_faulty_candidate_is_reported(tmp_path, aarch64_objects, fault):
    name, *change, message = fault
    needs = next((n for c, n in CANDIDATES if c == name.removeprefix("set ")), ())
    cpu = WITHOUT_SVE if "zva64" in needs else LONG_VECTORS if "sve" in needs else WITH_SVE
    program = build(tmp_path, faulty(name, change), aarch64_objects)
    table = start_of(name)[0]
    later = [candidate for candidate, _ in CANDIDATES[len(VARIANTS) :]]
    # one pipeline comes first; the small sets have names of small copies
    places = [i for i, candidate in enumerate(later) if candidate == table]
    index = 0 if table not in later else 1 + places[0 if name == SMALL else -1]
    output = check(program, cpu, f"{index}/{len(CANDIDATES)}")
    expected = re.escape(f"FAIL {table}: {message}").replace(r"\.\*", ".*")
    assert re.match(expected, output), output
