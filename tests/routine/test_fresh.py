"""asterope_memcpy_fresh copies right wherever its pages are, and touches no pages of others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from architectures import Architecture, each, once
from copy_programs import Memset, render, run

# Above, up to, stage, piece. Some pieces are not powers of two. One size between has no stage.
STAGES = [
    (65535, 262144, "populate", 262144),
    (262144, 1048576, "populate", 12288),
    (1048576, 2097152, "none", 0),
    (2097152, 5242880, "huge", 2097152),
    (5242880, 8388608, "huge", 69632),
    (8388608, 33554432, "populate", 1 << 26),
]
CHECKS = ["copies", "sets", "pages", "refused", "kinds", "faulting", "threads", "crowded", "used"]
# An emulator answers some advice by itself, and has mappings of its own.
OF_SYSTEM = {"pages", "crowded"}


def routine_of(arch: Architecture, folder: Path) -> Path:
    small_set = arch.set_pipelines.PLAIN
    routine = render(
        [(1 << 20, arch.plain), (4 << 20, arch.plain)],
        folder,
        stages=STAGES,
        memset=Memset([(4 << 20, small_set)]),
    )
    text = routine.read_text(encoding="ascii")
    # The calls of the system go through the check.
    text, count = re.subn(r"(?<!long )\basterope_fresh_call\(", "SEEN_CALL(", text)
    assert count == 6
    routine.write_text(text, encoding="ascii")
    return routine


def build_check(arch: Architecture, routine: Path, *flags: str, compiler: tuple = ()) -> Path:
    more = (f'-DROUTINE="{routine}"', "-O1", "-pthread", *flags)
    return arch.program(routine.parent, "fresh_check", *more, compiler=compiler)


check = once(lambda arch, folder: build_check(arch, routine_of(arch, folder)))


@each(lambda arch: [one for one in CHECKS if arch.is_native or one not in OF_SYSTEM])
def test_copies_into_fresh_memory_are_right(check, arch, case):
    assert run(*arch.on(), check(arch), case).stdout == "ok\n"


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
