"""The functions and lines that return addresses lie in, and the names that a file has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from asterope.record.symbols import name_functions, symbols_of, told_apart
from copy_programs import compiled, need, need_way, output_of

SOURCE = """
namespace made_up {
struct Thing { int work(int x) { return x * step; } int step; };
__attribute__((noinline)) int first(int x) { return x + 1; }
__attribute__((noinline)) int second(int x) { Thing thing{x}; return thing.work(x); }
}
int main(int count, char**) { return made_up::first(count) + made_up::second(count); }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("symbols")
    need("nm")
    need_way(folder, "c++")
    (folder / "program.cpp").write_text(SOURCE)
    output_of("c++", "-O1", "-no-pie", folder / "program.cpp", "-o", folder / "program")
    return folder / "program"


def test_a_return_address_is_named_by_the_function_that_called(program: Path) -> None:
    need("c++filt")
    listed = re.findall(r"(?m)^(\w+) (\w+) [tTW] (\w+)$", output_of("nm", "-S", program))
    # code of such a program lies 0x400000 above its offset into the file
    at = {name: (int(begin, 16) - 0x400000, int(size, 16)) for begin, size, name in listed}
    (begin, size), (main, _) = at["_ZN7made_up6secondEi"], at["main"]
    sites = (begin + 1, begin + size, main + 1)
    names = name_functions([(str(program), offset) for offset in sites])
    # the call may be a function's last instruction: what returns then lies behind its end
    assert names == ["made_up::second", "made_up::second", "main"]


def test_names_of_rust_are_read_too(tmp_path: Path) -> None:
    need("c++filt", "nm")
    text = 'int work(void) __asm__("_RNvC7mycrate4work");\nint work(void) { return 1; }\n'
    library = compiled(tmp_path / "library.so", text, "-shared", "-fPIC")
    begin = int(output_of("nm", "--defined-only", "-n", library).split(" T _RNv")[0][-16:], 16)
    assert name_functions([(str(library), begin + 2)]) == ["mycrate::work"]


def test_a_file_has_what_it_defines_and_what_it_needs(tmp_path: Path) -> None:
    """By whole names alone, and not what it does without."""
    text = (
        "int needed(void);\nint weak(void) __attribute__((weak));\n"
        "int defined(void) { return needed() + (weak ? weak() : 0); }\n"
    )
    file = str(compiled(tmp_path / "object.o", text, "-c"))
    asked = ["needed", "weak", "defined", "absent", "efined", "need"]
    assert symbols_of(file, asked) == {"needed": False, "defined": True}
    assert symbols_of(str(tmp_path / "none"), asked) == {}
    assert symbols_of(str(Path(file).with_suffix(".c")), asked) == {}


@pytest.mark.parametrize("offset", [-5, 0, 1, 1 << 40, (1 << 63) - 1])
def test_an_offset_that_is_no_code_has_no_name(program: Path, offset: int) -> None:
    assert name_functions([(str(program), offset)]) == [""]


def test_files_that_are_none_name_nothing(program: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("text")
    (tmp_path / "header").write_bytes(program.read_bytes()[:64])
    places = ["", "[vdso]", "/no/such/file", "/dev/null", "/dev/zero", str(tmp_path)]
    places += [str(tmp_path / "text"), str(tmp_path / "header"), "/x (deleted)"]
    assert name_functions([(place, 4096) for place in places]) == [""] * len(places)


# --- Several calls of one function are told apart by their lines, else by their offsets ---

# Line 5 has two of the calls.
CALLS = """void *copy(void *, const void *, unsigned long);
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
    return compiled(tmp_path / "own.so", CALLS, "-O0", "-g", "-w", "-shared", "-fPIC")


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
