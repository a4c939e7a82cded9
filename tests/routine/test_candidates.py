"""Every candidate of the tuner is right, at all offsets, sizes and next to unmapped memory."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from asterope.render import render_candidates
from asterope.spaces.x86_64 import (
    overlapping_copies,
    pipelines,
    set_pipelines,
    small_copies,
    small_sets,
)
from copy_programs import REPOSITORY, STRICT_C, cpu_features, failures, output_of

# All 64 x 64 offsets with all sizes from 128 to 1024 bytes take 2 s for each of the 233 variants
# with non-temporal stores, whose result has to come back from memory, and 0.2 s for the others of
# the paper and the small copies. The 2,577 variants beyond the paper meet the offsets with 29 sizes
# each, spread from 128 bytes to two blocks more than 1024, every size up to there between guard
# pages, and whole groups of pages with their neighbours: 0.04 s each. Where the CPU lacks
# movdir64b, those made of it run on an emulation (movdir64b.h) that takes 10 us a line: some sizes
# only. So each run checks one candidate in SAMPLE, with every fifth size; --slow checks all in
# full.
SAMPLE = 17
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


def build(folder: Path, text: str, build_dir: Path) -> Path:
    """candidates_check with `text` as the rendered candidates."""
    source, program = folder / "candidates.c", folder / "candidates_check"
    source.write_text(text, encoding="ascii")
    checker = build_dir / "tests" / "libcandidates_check.a"
    output_of("gcc", *STRICT_C, f"-I{REPOSITORY / 'tuner'}", source, checker, "-o", program)
    return program


def check(program: Path, share: str, step: int = 1) -> str:
    """What candidates_check says of its share of the variants."""
    command = [program, "--step", str(step), "--share", share]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode in (0, 1), f"{command}: exit {done.returncode}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def program(build_dir: Path) -> Path:
    """candidates_check with the candidates that asterope-tune has, of the same object."""
    return build_dir / "tests" / "candidates_check"


def verdict_of(name: str, needs: tuple[str, ...]) -> str:
    lacks = [feature for feature in needs if feature not in cpu_features()]
    if lacks == ["movdir64b"]:
        return f"ok {name} (movdir64b emulated)"
    return f"skip {name}: this CPU lacks {lacks[0]}" if lacks else f"ok {name}"


def test_a_sample_of_the_candidates_is_right(program):
    lines = check(program, f"3/{SAMPLE}", step=5).splitlines()
    assert lines == [verdict_of(*candidate) for candidate in CANDIDATES[3::SAMPLE]]


@pytest.mark.slow
def test_every_candidate_is_right_or_is_skipped_for_what_the_cpu_lacks(program):
    with ThreadPoolExecutor(PROCESSES) as pool:
        shares = [f"{i}/{PROCESSES}" for i in range(PROCESSES)]
        verdicts = "".join(pool.map(lambda share: check(program, share), shares))
    wrong = failures(verdicts)
    assert not wrong, "\n".join(wrong)
    assert len(CANDIDATES) == 466 + 2577 + 77 + 5 + 5 + 67 + 77
    assert sorted(verdicts.splitlines()) == sorted(verdict_of(*c) for c in CANDIDATES)


# --- The checks find what is wrong ----------------------------------------------------------------


PIPELINE, SMALL, MOVE = "XMM T T none 0", "stepped XMM up 256", overlapping_copies.PLAIN.name
SMALL_SET = "set masked ZMM up 256"  # that of this name without "set"
BEGIN = '"mov %rdi, %rax\\n"'  # with which pipelines and small copies begin
UP, DOWN = (f"asterope_candidate_move_{way}_xmm_128" for way in ("upwards", "downwards"))

# A candidate, what stands in it (or an instruction to begin with), what stands there instead, and
# what candidates_check must then say. What a wrong prefetch does nobody can see: test_loops looks
# at it.
FAULTS = {
    "it writes a byte too far": (PIPELINE, "movb $1, (%rdi,%rdx)", "stray write: byte 128 is 0x01"),
    "it reads a byte too far": (
        *(PIPELINE, "movzbl (%rsi,%rdx), %r8d"),
        "died of a fault at source byte 128",
    ),
    "it begins a byte too late": (PIPELINE, "inc %rsi", "byte 0 is 0x.*(128 bytes"),
    "it reads a byte of none": (
        *(SMALL, "movzbl (%rsi), %r9d"),
        "died of a fault at source byte 0.*(0 bytes",
    ),
    "it writes before it reads all": (
        *(SMALL, "test %rdx, %rdx; je 1f; mov (%rsi), %r9b; mov %r9b, (%rdi); 1:"),
        "byte 1 is 0x.*(2 bytes",
    ),
    "it gives up early": (
        *(SMALL, "cmp $256, %rdx; jae 257f"),
        "handed on a copy within its bound.*(256 bytes",
    ),
    "it hands on another size": (
        *(SMALL, "cmp $256, %rdx; jbe 1f; inc %rdx; jmp 257f; 1:"),
        "handed on other arguments than it got.*(257 bytes",
    ),
    "it changes rbx": (SMALL, "inc %rbx", "changed rbx.*(0 bytes"),
    "a block begins where it does not fit": (
        *("XMM T T none 0 TB4", "lea -127(%r8), %r11", "lea -63(%r8), %r11"),
        "stray write: byte",
    ),
    "a block moves on too far": (
        *("ZMM NT NT T0 16 TB16", "add $1024, %rdi", "add $1088, %rdi", "byte "),
    ),
    "the second stage repeats the first": (
        *("YMM T T none 0 TB16", "vmovdqu 512(%rsi), %ymm0", "vmovdqu (%rsi), %ymm0", "byte "),
    ),
    "a block of one line skips one": (
        *("XMM T NT none 0 TB1", 'add $64, %rdi\\n"\n    "cmp', "add $128, %rdi; cmp"),
        "byte ",
    ),
    "a group of pages begins where it does not fit": (
        *("XMM T T none 0 PI2", "lea -8063(%r8), %rdx", "lea -8000(%r8), %rdx"),
        "stray write: byte",
    ),
    "a group of pages is not skipped over": (
        *("ZMM T NT T0 4 PI4", "add $12288, %rdi", "add $12224, %rdi", "byte "),
    ),
    "the third page is copied from the second": (
        *("YMM T NT none 0 PI4", "vmovdqu 8224(%rsi)", "vmovdqu 4128(%rsi)", "byte "),
    ),
    "the distance of prefetchw lands in a register that is in use": (
        *("XMM T T none 0 TB4 PW", "shr $32, %r10", "shr $32, %r10; mov %r10, %rdx", ""),
    ),
    "backward it goes on below the beginning": (
        *("XMM T T none 0 down", "lea 128(%rdi), %r8", "lea 64(%rdi), %r8", ""),
    ),
    "backward a large block begins where it does not fit": (
        *("YMM T T none 0 TB8 down", "lea 383(%r8), %r11", "lea 319(%r8), %r11"),
        "stray write: byte -",
    ),
    "a direct store goes to the next line": (
        *("MOVDIR64B T NT none 0", "lea 64(%rdi), %r10", "lea 128(%rdi), %r10", "byte "),
    ),
    "a direct store is not aligned": (
        *("MOVDIR64B T NT none 0 TB1", "and $-64, %rdi", "and $-32, %rdi", ""),
    ),
    "a block of a move begins where it does not fit": (
        *(UP, "lea -64(%r8), %r9", "lea (%r8), %r9", "stray write: byte"),
    ),
    "a set takes more than the low byte": (
        *("ZMM T", "vpbroadcastb %esi, %zmm16", "vpbroadcastw %esi, %zmm16", "byte "),
    ),
    "a set begins a byte too late": (
        "REP_STOSB T",
        "mov %rdx, %rcx",
        "inc %rdi; mov %rdx, %rcx",
        "byte ",
    ),
    "a line too many is cleared": (
        *("CLZERO NT TB4", "lea -127(%r8), %r11", "lea (%r8), %r11", "stray write: byte"),
    ),
    "another byte than zero is cleared": (
        *("CLZERO NT", "test %sil, %sil", "xor %r11d, %r11d", "byte "),
    ),
    "a set returns where it ended": ("REP_STOSQ T", "mov %r9, %rax", "mov %rdi, %rax", "returned"),
    "a small set forgets the mask": (
        *(SMALL_SET, "vmovdqu8 %zmm16, (%rax){%k1}", "vmovdqu8 %zmm16, (%rax)", "stray write"),
    ),
    "a small set hands on another byte": (
        *(SMALL_SET, "ja 257f", "jbe 1f; inc %esi; jmp 257f; 1:", "byte 0 is 0x.*(257 bytes"),
    ),
    "what a move has left over stays behind": (UP, "jae 3f", "jmp 3f", "byte "),
    "the first bytes are loaded too late": (
        *(UP, "movdqu %xmm8, (%r10)", "movdqu (%r10,%rsi), %xmm8; movdqu %xmm8, (%r10)"),
        "byte 0 is 0x",
    ),
    "a downward block goes on below the beginning": (
        *(DOWN, "lea 64(%r8), %r9", "lea (%r8), %r9", "died of a fault at source byte -"),
    ),
    "a downward block is stored before it is loaded": (
        *(DOWN, "movdqu -16(%rcx,%rsi), %xmm7"),
        "movdqu -128(%rcx,%rsi), %xmm0; movdqa %xmm0, -128(%rcx); movdqu -16(%rcx,%rsi), %xmm7",
        "byte ",
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_faulty_candidate_is_reported(tmp_path, build_dir, fault):
    name, *change, message = fault
    start = ""
    if name in (UP, DOWN):
        name, start = MOVE, f"void {name}(void)\n{{"
    elif name in (PIPELINE, SMALL):
        kind = "candidate" if name == PIPELINE else "small"
        start = f"void asterope_{kind}_{name.lower().replace(' ', '_')}(void)\n{{"
        change = [BEGIN, f'{BEGIN} "{change[0]}\\n"']
    elif name == SMALL_SET:
        name = name[len("set ") :]
        start = f"void asterope_small_set_{name.lower().replace(' ', '_')}(void)\n{{"
    elif set_pipelines.named(name.replace(" PW", " PW8")):
        start = f"void asterope_set_candidate_{name.lower().replace(' ', '_')}(void)\n{{"
    later = [candidate for candidate, _ in CANDIDATES[len(VARIANTS) :]]
    of_copies = [v for v in VARIANTS if v.name == (PIPELINE if name in later else name)]
    text = render_candidates("x86_64", variants=of_copies)
    before, after = text[: text.index(start)], text[text.index(start) :]
    assert change[0] in after
    text = before + after.replace(*change, 1 if start else -1)
    # one pipeline comes first; small sets have names of small copies, moves those of aliased copies
    places = [i for i, candidate in enumerate(later) if candidate == name]
    index = 0 if name not in later else 1 + places[-1 if "_set_" in start or name == MOVE else 0]
    output = check(build(tmp_path, text, build_dir), f"{index}/{len(CANDIDATES)}")
    if output.startswith("skip "):
        pytest.skip(output.strip())
    expected = re.escape(f"FAIL {name}: {message}").replace(r"\.\*", ".*")
    assert re.match(expected, output), output
