"""asterope_memcpy_fresh copies right wherever its pages are, and touches no pages of others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from architectures import X86_64, Architecture, each, once
from copy_programs import Memset, profile_json, render, run, with_own_calls

# Above, up to, stage, piece. Some pieces are not powers of two. One size between has no stage.
STAGES = [
    (65535, 262144, "populate", 262144),
    (262144, 1048576, "populate", 12288),
    (1048576, 2097152, "none", 0),
    (2097152, 5242880, "huge", 2097152),
    (5242880, 8388608, "advise", 69632),
    (8388608, 33554432, "populate", 1 << 26),
]
CHECKS = [
    *("copies", "sets", "pages", "refused", "kinds", "faulting", "threads", "crowded", "used"),
    *("advised", "once", "ends"),
]
# An emulator answers some advice by itself, and has mappings of its own.
OF_SYSTEM = {"pages", "crowded", "advised", "ends"}

# The mode of huge pages that a profile was made under, the system's files (None: it cannot be
# read), of the mode of all sizes and of that of 2 MiB, and whether huge pages are asked for.
MODES = [
    ("madvise", "always [madvise] never\n", True),
    ("madvise", "[always] madvise never\n", False),
    ("madvise", "always madvise [never]\n", False),
    ("madvise", None, True),
    ("madvise", "", True),
    ("madvise", "always madvise never [", True),
    ("always", "always [madvise] never\n", False),
    ("always", "[always] madvise never\n", True),
    ("never", "[always] madvise never\n", False),
    ("never", "always madvise [never]\n", True),
    ("madvise", "always madvise [never]\n", "always inherit [madvise] never\n", True),
    ("madvise", "always [madvise] never\n", "always inherit madvise [never]\n", False),
    ("madvise", "always [madvise] never\n", "always [inherit] madvise never\n", True),
]


def routine_of(arch: Architecture, folder: Path, mode: str = "") -> Path:
    routine = render(
        [(1 << 20, arch.plain), (4 << 20, arch.plain)],
        folder,
        stages=STAGES,
        huge_pages=mode,
        memset=Memset([(4 << 20, arch.set_pipelines.PLAIN)]),
    )
    return with_own_calls(routine, "seen_call")


def build_check(arch: Architecture, routine: Path, *flags: str, compiler: tuple = ()) -> Path:
    more = (f'-DROUTINE="{routine}"', "-O1", "-pthread", *flags)
    return arch.program(routine.parent, "fresh_check", *more, compiler=compiler)


check = once(lambda arch, folder: build_check(arch, routine_of(arch, folder)))
check_of = once(lambda arch, folder, mode: build_check(arch, routine_of(arch, folder, mode)))


@each(lambda arch: [one for one in CHECKS if arch.is_native or one not in OF_SYSTEM])
def test_copies_into_fresh_memory_are_right(check, arch, case):
    assert run(*arch.on(), check(arch), case).stdout == "ok\n"


@each(lambda arch: MODES)
def test_huge_pages_are_asked_for_under_the_profiles_mode_alone(check_of, arch, case):
    tuned, *files, asks = case
    told = [file for file in files if file is not None]
    done = run(*arch.on(), check_of(arch, tuned), "mode", "1" if asks else "0", *told)
    assert done.stdout == "ok\n"


SANITIZED = {"address,undefined": ["copies", "sets", "kinds"], "thread": ["threads"]}


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("sanitizer", SANITIZED)
@each(emulated=False)
def test_copies_into_fresh_memory_are_clean_under_sanitizers(tmp_path, arch, compiler, sanitizer):
    flags = (f"-fsanitize={sanitizer}", "-g")
    program = build_check(arch, routine_of(arch, tmp_path), *flags, compiler=(compiler,))
    for what in SANITIZED[sanitizer]:
        assert run(program, what).stdout == "ok\n"


@each()
def test_without_stages_it_is_the_plain_function(tmp_path, arch):
    routine = render([(4 << 20, arch.plain)], tmp_path)
    text = routine.read_text(encoding="ascii")
    assert "madvise" not in text and "asterope_fresh_run" not in text
    assert "return asterope_memcpy(destination, source, bytes);" in text


# Runners-up of a size with huge pages, the modes of the machines, and the piece that is populated
# under another mode. None: huge pages are asked for under any.
KNOWN = {
    "the runner-up that populates": ([("huge", 4 << 20), ("populate", 1 << 18)], "m", 1 << 18),
    "the nearest size that populates": ([("huge", 4 << 20), ("none", 0)], "m", 1 << 20),
    "machines of two modes": ([("populate", 1 << 18)], "mn", None),
    "an unknown mode": ([("populate", 1 << 18)], "x", None),
}


@each(lambda arch: KNOWN, slow=False)
def test_what_is_populated_under_another_mode_is_what_was_timed(tmp_path, arch, case):
    runners_up, modes, piece = case
    stages = [(65535, 1 << 20, "populate", 1 << 20), (1 << 20, 4 << 20, "huge", 2 << 20)]
    profile = json.loads(profile_json([(4 << 20, arch.plain)], stages=stages))
    named = {"m": "madvise", "n": "never", "x": "within_size"}
    first, *others = [{"huge_pages": named[mode]} for mode in modes]
    profile["machine"] = first
    if others:
        sources = [{"name": "a log", "machine": machine} for machine in (first, *others)]
        profile["merged"] = {"from": "machines", "sources": sources}
    profile["choices"][-1]["evidence"] = {
        "runners_up": [
            {"tuple": {"stage": stage, "piece": piece}, "ratio": 1} for stage, piece in runners_up
        ]
    }
    (tmp_path / "profile.json").write_text(json.dumps(profile))
    text = render(tmp_path / "profile.json", tmp_path).read_text(encoding="ascii")
    assert re.findall(r"\bother_piece = ([1-9]\d*);", text) == [str(piece)] * (piece is not None)
    assert ("transparent_hugepage" in text) == (piece is not None)


def test_neighbours_with_one_page_stage_are_a_row_of_all_their_figures(tmp_path):
    """The ratio is their mean, as in the other tables; the runners-up are those of all."""
    stage = ("huge", 1 << 20)
    stages = [(65535, 1 << 20, *stage), (1 << 20, 2 << 20, *stage), (2 << 20, 4 << 20, *stage)]
    profile = json.loads(profile_json([(4 << 20, X86_64.plain)], stages=stages))
    profile["machine"] = {"huge_pages": "madvise"}
    others = [("huge", 2 << 20, 1.2), ("populate", 1 << 18, 1.1), ("populate", 1 << 19, 1.3)]
    for one, ratio, (other, piece, its) in zip(profile["choices"][-3:], (1.5, 2, 0.9), others):
        runner_up = {"tuple": {"stage": other, "piece": piece}, "ratio": its}
        one["evidence"] = {"ratio": ratio, "runners_up": [runner_up]}
    (tmp_path / "profile.json").write_text(json.dumps(profile))
    text = render(tmp_path / "profile.json", tmp_path).read_text(encoding="ascii")
    rows = re.findall(r"^ \* 4 MiB      huge pages, populated by 1 MiB +(.*)$", text, re.MULTILINE)
    assert rows == ["1.39"]
    assert re.findall(r"\bother_piece = ([1-9]\d*);", text) == [str(1 << 19)]
