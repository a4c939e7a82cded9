"""Several calls of one function are told apart by the lines that they are in, else by offsets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from asterope.record.lines import told_apart
from copy_programs import compiled, need, output_of

# Line 5 has two of the calls.
SOURCE = """void *copy(void *, const void *, unsigned long);
int work(char *to, const char *from)
{
    copy(to, from, 8);
    copy(from, to, 8), copy(to, to, 9);
    return 0;
}
"""


def calls_in(library: Path) -> list[int]:
    """Their return addresses: those of a library are its offsets."""
    listed = output_of("objdump", "-d", "--no-show-raw-insn", library).split("<work>:")[1]
    after = re.findall(r"(?:call|bl) .*\n +([0-9a-f]+):", listed)
    return [int(address, 16) for address in after[:3]]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    need("addr2line", "objdump")
    return compiled(tmp_path / "own.so", SOURCE, "-O0", "-g", "-w", "-shared", "-fPIC")


def test_by_file_and_line_where_these_differ(library: Path) -> None:
    first, second, third = ((str(library), offset) for offset in calls_in(library))
    source = next(library.parent.glob("*.c")).name
    assert told_apart([first, second], ["work"] * 2) == [f"{source}:4 work", f"{source}:5 work"]
    assert told_apart([second, third], ["work"] * 2) == [
        *(f"{offset:#x} work" for _, offset in (second, third)),
    ]
    # one alone, another file's or a call without a name is what it is
    assert told_apart([first, first], ["work"] * 2) == ["work"] * 2
    assert told_apart([first, ("/other", 5)], ["work"] * 2) == ["work"] * 2
    assert told_apart([first, second], ["", ""]) == ["", ""]


@pytest.mark.parametrize("module", ["", "[vdso]", "/no/such/file", "/dev/null"])
def test_files_that_tell_nothing_leave_the_offset(module: str) -> None:
    assert told_apart([(module, 16), (module, 32)], ["f", "f"]) == ["0x10 f", "0x20 f"]


def test_without_debug_information_it_is_the_offset(library: Path) -> None:
    sites = [(str(library), offset) for offset in calls_in(library)[:2]]
    output_of("objcopy", "--strip-debug", library)
    assert told_apart(sites, ["work"] * 2) == [f"{offset:#x} work" for _, offset in sites]
