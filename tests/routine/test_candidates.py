"""Every candidate of the tuner copies right, at all offsets, sizes and next to unmapped memory."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from asterope import aliased_space, overlapping_space, small_space, space
from asterope.render import render_candidates
from copy_programs import REPOSITORY, STRICT_C, compiled, cpu_features, failures, output_of

# All 64 x 64 offsets with all sizes from 128 to 1024 bytes take 2 s for each of the 233 variants
# with non-temporal stores, whose result has to come back from memory: 5 minutes on two CPUs. In
# steps of 5, which meet every size with every offset of either side, 1.5 minutes. The others, 0.2 s
# each, and the small copies are checked in full. `candidates_check --step 1` checks all in full.
# The 2,577 variants beyond the paper meet the offsets with 29 sizes each, spread from 128 bytes to
# two blocks more than 1024, every size up to there between guard pages, and whole groups of pages
# with their neighbours: 0.04 s each, 45 s on two CPUs. Where the CPU lacks movdir64b, those
# made of it run on an emulation (movdir64b.h) that takes 10 us a line: some sizes only.
STEP = 5
PROCESSES = 2

VARIANTS = list(space.variants())

# The name of each candidate and what it needs of the CPU, in the order of candidates_check.
CANDIDATES = [
    *((v.name, v.needs) for v in VARIANTS),
    *((s.name, s.needs) for s in small_space.small_tuples()),
    *((a.name, a.needs) for a in aliased_space.aliased_tuples()),
    *((o.name, o.needs) for o in overlapping_space.overlapping_tuples()),
]


def build(folder: Path, text: str) -> Path:
    """candidates_check with `text` as the rendered candidates."""
    source = folder / "candidates.c"
    source.write_text(text, encoding="ascii")
    objects = [compiled(folder, name) for name in ("candidates_check", "copy_check", "movdir64b")]
    program = folder / "candidates_check"
    flags = (*STRICT_C, "-O2", f"-I{REPOSITORY / 'tuner'}")
    output_of("gcc", *flags, source, *objects, "-o", program)
    return program


def check(program: Path, share: str) -> str:
    """What candidates_check says of its share of the variants."""
    command = [program, "--step", str(STEP), "--share", share]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode in (0, 1), f"{command}: exit {done.returncode}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A line for each candidate, in no order."""
    program = build(tmp_path_factory.mktemp("candidates"), render_candidates())
    with ThreadPoolExecutor(PROCESSES) as pool:
        shares = [f"{i}/{PROCESSES}" for i in range(PROCESSES)]
        outputs = list(pool.map(lambda share: check(program, share), shares))
    return "".join(outputs).splitlines()


def test_every_candidate_copies_right(verdicts):
    wrong = failures("\n".join(verdicts))
    assert not wrong, "\n".join(wrong)


def verdict_of(name: str, lacks: list[str]) -> str:
    if lacks == ["movdir64b"]:
        return f"ok {name} (movdir64b emulated)"
    return f"skip {name}: this CPU lacks {lacks[0]}" if lacks else f"ok {name}"


def test_every_candidate_is_checked_or_skipped_for_what_the_cpu_lacks(verdicts):
    has = cpu_features()
    expected = {verdict_of(name, [f for f in needs if f not in has]) for name, needs in CANDIDATES}
    assert len(expected) == 466 + 2577 + 68 + 6 + 5
    assert set(verdicts) == expected
    assert len(verdicts) == len(expected)


def test_no_candidate_is_skipped(verdicts):
    skipped = [line for line in verdicts if line.startswith("skip ")]
    if skipped:
        pytest.skip(f"{len(skipped)} of {len(verdicts)} unchecked, such as: {skipped[0]}")


# --- The checks find what is wrong ----------------------------------------------------------------

PIPELINE, SMALL = "XMM T T none 0", "stepped XMM up 256"


def only(name: str) -> str:
    """The rendered candidates with one pipeline, besides the small copies."""
    return render_candidates(variants=[v for v in VARIANTS if v.name == name])


# A candidate, an instruction put in front of it, and what candidates_check must then say.
FAULTS = {
    "it writes a byte too far": (
        *(PIPELINE, "movb $1, (%rdi,%rdx)"),
        *("stray write: byte 128 is 0x01", 128),
    ),
    "it reads a byte too far": (
        *(PIPELINE, "movzbl (%rsi,%rdx), %r8d"),
        *("died of a fault at source byte 128", 128),
    ),
    "it begins a byte too late": (PIPELINE, "inc %rsi", "byte 0 is 0x", 128),
    "it reads a byte of none": (
        *(SMALL, "movzbl (%rsi), %r9d"),
        *("died of a fault at source byte 0", 0),
    ),
    "it writes before it reads all": (
        *(SMALL, "test %rdx, %rdx; je 1f; mov (%rsi), %r9b; mov %r9b, (%rdi); 1:"),
        *("byte 1 is 0x", 2),
    ),
    "it gives up early": (
        *(SMALL, "cmp $256, %rdx; jae 30f"),
        *("handed on a copy within its bound", 256),
    ),
    "it hands on another size": (
        *(SMALL, "cmp $256, %rdx; jbe 1f; inc %rdx; jmp 30f; 1:"),
        *("handed on other arguments than it got", 257),
    ),
    "it changes rbx": (SMALL, "inc %rbx", "changed rbx", 0),
}


@pytest.mark.parametrize(("name", "instruction", "message", "size"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_candidate_is_reported(tmp_path, name, instruction, message, size):
    text = only(PIPELINE)
    kind = "candidate" if name == PIPELINE else "small"
    start = text.index(f"void asterope_{kind}_{name.lower().replace(' ', '_')}(void)\n{{")
    fault = f'ASTEROPE_RETURN_DESTINATION "{instruction}\\n"'
    text = text[:start] + text[start:].replace("ASTEROPE_RETURN_DESTINATION", fault, 1)
    index = [candidate for candidate, _ in CANDIDATES[len(VARIANTS) :]].index(SMALL) + 1
    output = check(build(tmp_path, text), f"{0 if name == PIPELINE else index}/{len(CANDIDATES)}")
    assert output.startswith(f"FAIL {name}: {message}")
    assert f"({size} bytes, source +" in output


# A candidate beyond the paper, an instruction in it, what stands there instead, and what
# candidates_check must then say. What a wrong prefetch does nobody can see: test_loops looks at it.
CHANGES = {
    "a block begins where it does not fit": (
        *("XMM T T none 0 TB4", "lea -127(%r8), %r11", "lea -63(%r8), %r11"),
        "stray write: byte",
    ),
    "a block moves on too far": (
        *("ZMM NT NT T0 16 TB16", "add $1024, %rdi", "add $1088, %rdi"),
        "byte ",
    ),
    "the second stage repeats the first": (
        *("YMM T T none 0 TB16", "vmovdqu 512(%rsi), %ymm0", "vmovdqu (%rsi), %ymm0"),
        "byte ",
    ),
    "a block of one line skips one": (
        *("XMM T NT none 0 TB1", 'add $64, %rdi\\n"\n        "    cmp', "add $128, %rdi; cmp"),
        "byte ",
    ),
    "a group of pages begins where it does not fit": (
        *("XMM T T none 0 PI2", "lea -8063(%r8), %rdx", "lea -8000(%r8), %rdx"),
        "stray write: byte",
    ),
    "a group of pages is not skipped over": (
        *("ZMM T NT T0 4 PI4", "add $12288, %rdi", "add $12224, %rdi"),
        "byte ",
    ),
    "the third page is copied from the second": (
        *("YMM T NT none 0 PI4", "vmovdqu 8224(%rsi)", "vmovdqu 4128(%rsi)"),
        "byte ",
    ),
    "the distance of prefetchw lands in a register that is in use": (
        *("XMM T T none 0 TB4 PW", "shr $32, %r10", "shr $32, %r10; mov %r10, %rdx"),
        "",
    ),
    "backward it goes on below the beginning": (
        *("XMM T T none 0 down", "lea 128(%rdi), %r8", "lea 64(%rdi), %r8"),
        "",
    ),
    "backward a large block begins where it does not fit": (
        *("YMM T T none 0 TB8 down", "lea 383(%r8), %r11", "lea 319(%r8), %r11"),
        "stray write: byte -",
    ),
    "a direct store goes to the next line": (
        *("MOVDIR64B T NT none 0", "lea 64(%rdi), %r10", "lea 128(%rdi), %r10"),
        "byte ",
    ),
    "a direct store is not aligned": (
        *("MOVDIR64B T NT none 0 TB1", "and $-64, %rdi", "and $-32, %rdi"),
        "",
    ),
}


@pytest.mark.parametrize(("name", "instruction", "other", "message"), CHANGES.values(), ids=CHANGES)
def test_a_change_beyond_the_paper_is_reported(tmp_path, name, instruction, other, message):
    text = only(name)
    assert instruction in text
    output = check(build(tmp_path, text.replace(instruction, other)), f"0/{len(CANDIDATES)}")
    assert output.startswith(f"FAIL {name}: {message}")


# An instruction of a move, what stands there instead, and what candidates_check must then say.
MOVES = {
    "a block begins where it does not fit": (
        *("lea -64(%r8), %r9", "lea (%r8), %r9"),
        *("upwards", "stray write: byte"),
    ),
    "what is left over stays behind": ("jae 3f", "jmp 3f", "upwards", "byte "),
    "the first bytes are loaded too late": (
        *("movdqu %xmm8, (%r10)", "movdqu (%r10,%rsi), %xmm8; movdqu %xmm8, (%r10)"),
        *("upwards", "byte 0 is 0x"),
    ),
    "a downward block goes on below the beginning": (
        *("lea 64(%r8), %r9", "lea (%r8), %r9"),
        *("downwards", "died of a fault at source byte -"),
    ),
    "a downward block is stored before it is loaded": (
        *(
            "movdqu -16(%rcx,%rsi), %xmm7",
            "movdqu -128(%rcx,%rsi), %xmm0; movdqa %xmm0, -128(%rcx); movdqu -16(%rcx,%rsi), %xmm7",
        ),
        *("downwards", "byte "),
    ),
}


@pytest.mark.parametrize(
    ("instruction", "other", "direction", "message"), MOVES.values(), ids=MOVES
)
def test_a_faulty_move_is_reported(tmp_path, instruction, other, direction, message):
    name = overlapping_space.PLAIN.name
    text = only(PIPELINE)
    start = text.index(f"void asterope_candidate_move_{direction}_xmm_128(void)\n{{")
    assert instruction in text[start:]
    text = text[:start] + text[start:].replace(instruction, other, 1)
    index = [candidate for candidate, _ in CANDIDATES[len(VARIANTS) :]].index(name) + 1
    output = check(build(tmp_path, text), f"{index}/{len(CANDIDATES)}")
    assert output.startswith(f"FAIL {name}: {message}")
