"""Whose functions stand in libc's place: the recorder says it of each process."""

from __future__ import annotations

from pathlib import Path

import pytest
from asterope.record.others import Others, others_of
from copy_programs import compiled, need_way, output_of, shared_library
from recorded_programs import Recorder

# With functions of these names of its own.
OWN = """
#include <stddef.h>
static char to[100000], from[100000];
volatile size_t size = sizeof to;
void *copy(void *, const void *, size_t) __asm__(NAME);
void *copy(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; ++i) ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}
int main(void)
{
    for (int i = 0; i < 100; ++i) copy(to, from, size);
    return to[0];
}
"""
PLAIN = (
    "#include <string.h>\nstatic char to[9000], from[9000]; volatile size_t size = 9000;\n"
    "int main(void) { memcpy(to, from, size); return to[0]; }\n"
)


def said_by(recorder: Recorder) -> Others:
    return others_of(recorder.only().others)


@pytest.mark.parametrize("name", ["memcpy", "asterope_memcpy"])
@pytest.mark.parametrize("export", ["-rdynamic", "-s", ""])
def test_a_program_s_own_copies(recorder: Recorder, tmp_path: Path, name: str, export: str) -> None:
    """By what it exports, else by its symbols: of one that has neither nothing is known."""
    flags = ("-O1", "-fno-builtin", f'-DNAME="{name}"', *([export] if export else []))
    program = compiled(tmp_path / "program", OWN, *flags)
    recorder.run(program)
    assert said_by(recorder).own == ({} if export == "-s" else {"program": {name}})


def test_a_program_like_all_others_has_nothing_of_its_own(recorder: Recorder, tmp_path) -> None:
    """Though it takes the address of memcpy."""
    text = PLAIN.replace(
        "int main", "void *(*volatile at)(void *, const void *, size_t) = memcpy;\nint main"
    )
    recorder.run(compiled(tmp_path / "program", text, "-O1", "-fno-builtin", "-no-pie"))
    assert said_by(recorder) == Others()


def test_a_library_in_libc_s_place(recorder: Recorder, tmp_path: Path) -> None:
    other = shared_library(tmp_path / "other.so", OWN.replace("NAME", '"memcpy"'))
    program = compiled(tmp_path / "program", PLAIN, "-O1", "-fno-builtin")
    recorder.run(program, more={"LD_PRELOAD": f"{recorder.library}:{other}"})
    assert said_by(recorder) == Others(next={"other.so"})


@pytest.mark.parametrize(
    ("compiler", "checks", "name"),
    [
        ("gcc", "thread", "ThreadSanitizer"),
        ("gcc", "address", "AddressSanitizer"),
        ("clang", "memory", "MemorySanitizer"),
    ],
)
def test_a_sanitizer(recorder: Recorder, tmp_path: Path, compiler, checks, name) -> None:
    """Which has functions of all these names, of which nothing else is said."""
    flags = ("-O1", "-fno-builtin", f"-fsanitize={checks}")
    need_way(tmp_path, compiler, flags[-1])
    (tmp_path / "program.c").write_text(PLAIN)
    program = tmp_path / "program"
    output_of(compiler, *flags, tmp_path / "program.c", "-o", program)
    recorder.run(program, more={"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"})
    assert said_by(recorder) == Others(sanitizers={name})
