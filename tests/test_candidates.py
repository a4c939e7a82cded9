"""Every candidate of the tuner copies right, at all offsets, sizes and next to unmapped memory."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from asterope import space
from asterope.render import render_candidates
from copy_programs import REPOSITORY, STRICT_C, compiled, cpu_features, failures, output_of

# All 64 x 64 offsets with all sizes from 128 to 1024 bytes take 2 s for each of the 233 variants
# with non-temporal stores, whose result has to come back from memory: 5 minutes on two CPUs. In
# steps of 5, which meet every size with every offset of either side, 1.5 minutes. The others, 0.2 s
# each, are checked in full. `candidates_check --step 1` checks them all in full.
STEP = 5
PROCESSES = 2


def build(folder: Path, text: str) -> Path:
    """candidates_check with `text` as the rendered candidates."""
    source = folder / "candidates.c"
    source.write_text(text, encoding="ascii")
    objects = [compiled(folder, name) for name in ("candidates_check", "copy_check")]
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
    """A line for each variant, in no order."""
    program = build(tmp_path_factory.mktemp("candidates"), render_candidates())
    with ThreadPoolExecutor(PROCESSES) as pool:
        shares = [f"{i}/{PROCESSES}" for i in range(PROCESSES)]
        outputs = list(pool.map(lambda share: check(program, share), shares))
    return "".join(outputs).splitlines()


def test_every_variant_copies_right(verdicts):
    wrong = failures("\n".join(verdicts))
    assert not wrong, "\n".join(wrong)


def test_every_variant_is_checked_or_skipped_for_what_the_cpu_lacks(verdicts):
    has = cpu_features()
    expected = {
        f"ok {v.name}"
        if not v.needs or v.needs in has
        else f"skip {v.name}: this CPU lacks {v.needs}"
        for v in space.variants()
    }
    assert len(expected) == 466
    assert set(verdicts) == expected
    assert len(verdicts) == len(expected)


def test_no_variant_is_skipped(verdicts):
    skipped = [line for line in verdicts if line.startswith("skip ")]
    if skipped:
        pytest.skip(f"{len(skipped)} of {len(verdicts)} unchecked, such as: {skipped[0]}")


# --- The checks find what is wrong ----------------------------------------------------------------

# An instruction put in front of XMM T T none 0, and what candidates_check must then say.
FAULTS = {
    "it writes a byte too far": (r"movb $1, (%rdi,%rdx)", "stray write: byte 128 is 0x01"),
    "it reads a byte too far": (r"movzbl (%rsi,%rdx), %r8d", "died of a fault at source byte 128"),
    "it begins a byte too late": (r"inc %rsi", "byte 0 is 0x"),
}


@pytest.mark.parametrize(("instruction", "message"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_candidate_is_reported(tmp_path, instruction, message):
    text = render_candidates()
    start = text.index("void asterope_candidate_xmm_t_t_none_0(void)\n{")
    fault = f'ASTEROPE_RETURN_DESTINATION "{instruction}\\n"'
    text = text[:start] + text[start:].replace("ASTEROPE_RETURN_DESTINATION", fault, 1)
    index = [v.name for v in space.variants()].index("XMM T T none 0")
    output = check(build(tmp_path, text), f"{index}/466")
    assert output.startswith(f"FAIL XMM T T none 0: {message}")
    assert "(128 bytes, source +" in output
