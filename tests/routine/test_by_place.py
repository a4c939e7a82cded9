"""The preload library with a map: each place of a program takes the way that the map has for it,
and whatever the program does, its copies are right."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from architectures import Architecture, each
from asterope.dispatch import render_dispatch
from asterope.place_map import LEAST, MappedPlace, as_c, text_of
from asterope.preload import compile_preload
from asterope.profile import load_profile
from asterope.record.symbols import build_id_of
from asterope.render import render_routine
from copy_programs import WARNINGS, Memset, output_of, profile_json, run
from disassembly import disassemble
from elftools.elf.elffile import ELFFile
from generate_command import command, only_line
from profile_samples import good_profile, plain_profile

# What stands for libc, preloaded behind the library, counts its calls; so do the routine's entry
# points. What none of them has made, the routine's other functions have.
NEXT = """
#include <stddef.h>
long next_counted[1];
#define COUNTED(name, type, more, byte, result) \\
    void *name(void *to, type from, size_t bytes); \\
    void *name(void *to, type from, size_t bytes) \\
    { \\
        volatile unsigned char *at = to; \\
        __atomic_fetch_add(next_counted, 1, __ATOMIC_RELAXED); \\
        more; \\
        for (size_t i = 0; i < bytes; ++i) at[i] = byte; \\
        return result; \\
    }
#define COPY(name, result) \\
    COUNTED(name, const void *, const volatile unsigned char *there = from, there[i], result)
COPY(memcpy, to)
COPY(memmove, to)
COPY(mempcpy, (char *)to + bytes)
COUNTED(memset, int, , (unsigned char)from, to)
"""
COUNTERS = """
__attribute__((used, visibility("hidden"))) long entries_counted[3];
extern __attribute__((alias("entries_counted"), visibility("default"))) long asterope_counted[3];
"""
COUNT = {
    "x86_64": "incq entries_counted+{0}(%rip)",
    "aarch64": (
        "adrp x9, entries_counted+{0}; ldr x10, [x9, :lo12:entries_counted+{0}]; "
        "add x10, x10, #1; str x10, [x9, :lo12:entries_counted+{0}]"
    ),
}
ENTRIES = ("hot", "cold", "consume")
C = ("-O1", *WARNINGS, "-fno-builtin", "-fPIC")
FUNCTIONS = {"moving": "memmove", "ending": "mempcpy", "setting": "memset"}


def place_of(
    module: Path, arch: Architecture, name: str, way: str, least: int = 1024
) -> MappedPlace:
    """Of the only call in that function of the file."""
    function = FUNCTIONS.get(name, "memcpy")
    code = disassemble(module, arch)[name]
    (call,) = (i for i, text in enumerate(code.instructions) if f"<{function}@plt>" in text)
    address = code.addresses[call + 1]
    with module.open("rb") as file:
        for segment in ELFFile(file).iter_segments("PT_LOAD"):
            if 0 <= address - segment["p_vaddr"] < segment["p_filesz"]:
                offset = address - segment["p_vaddr"] + segment["p_offset"]
    build = build_id_of(str(module))
    assert build
    return MappedPlace(str(module), build, offset, name, function, least, way)


def counting(arch: Architecture, text: str) -> str:
    """The routine, whose entry points count their calls."""
    for i, name in enumerate(ENTRIES):
        begins = rf'memcpy_{name}\([^;{{]*\{{\n +__asm__\(\n|_BEGIN\("\w+_{name}",.*\n'
        count = f'"{COUNT[arch.name].format(8 * i)}\\n"'
        text, found = re.subn(begins, lambda match, count=count: f"{match[0]}{count}\n", text)
        assert found == 1
    return text + COUNTERS


class Things:
    """The program, its plugin twice, what stands for libc, and the routine's profile."""

    def __init__(self, arch: Architecture, folder: Path) -> None:
        self.arch, self.folder = arch, folder
        self.plugin, self.other = folder / "plugin.so", folder / "other.so"
        id_of, name = "-Wl,--build-id=0x", "by_place_check"
        for library, build in ((self.plugin, "abcdef01"), (self.other, "abcdef02")):
            shared = ("-shared", "-DPLUGIN", f"{id_of}{build}")
            arch.program(folder, name, *C, *shared).rename(library)
        linked = ("-pie", "-pthread", "-ldl")
        self.program = arch.program(folder, name, *C, f"{id_of}0123456789", *linked)
        (folder / "next.c").write_text(NEXT)
        output_of(*arch.gcc, *C, "-shared", folder / "next.c", "-o", folder / "next.so")
        winners = [(1 << 20, arch.plain)]
        (folder / "own.json").write_text(
            profile_json(
                winners,
                memset=Memset([(1 << 20, arch.set_pipelines.PLAIN)]),
                intents=dict.fromkeys(ENTRIES, winners),
            )
        )
        self.profile = load_profile(folder / "own.json")
        texts = render_routine(self.profile, by_place=LEAST)
        self.texts = {n: counting(arch, t) if n[-2:] == ".c" else t for n, t in texts.items()}

    def ways(self, library: Path, *words: object) -> list[str]:
        """What the program says under a library."""
        variables = {
            "LD_PRELOAD": f"{library}:{self.folder / 'next.so'}",
            "ASTEROPE_PROFILE": "own",
        }
        command = (*self.arch.on(**variables), self.program, *words)
        return [line.strip() for line in output_of(*command).splitlines()]


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Architecture], Things]:
    return functools.cache(lambda arch: Things(arch, tmp_path_factory.mktemp(arch.name)))


@pytest.fixture
def compiled(monkeypatch, things, tmp_path: Path) -> Callable[..., Path]:
    def of(
        arch: Architecture,
        *places: MappedPlace,
        flags: str = "",
        cc: str = "",
        texts: Mapping[str, str] | None = None,
    ) -> Path:
        monkeypatch.setenv("CC", cc or " ".join(arch.gcc))
        monkeypatch.setenv("CFLAGS", f"-Wall -Wextra -Werror {flags}")
        library = tmp_path / "library.so"
        library.write_bytes(compile_preload(texts or things(arch).texts, as_c(places)))
        return library

    return of


def map_of_all(its: Things) -> list[MappedPlace]:
    ways = {"first": "libc", "second": "cold", "moving": "hot", "ending": "consume"}
    places = [place_of(its.program, its.arch, name, way) for name, way in ways.items()]
    return [*places, place_of(its.program, its.arch, "setting", "libc", 4096)]


@each()
def test_each_place_takes_its_way(things, compiled, arch) -> None:
    its = things(arch)
    words = ("first:1024", "second:2047", "moving:1500", "ending:1024", "setting:5000")
    expected = ["1 libc", "1 cold", "1 hot", "1 consume", "1 libc"]
    library = compiled(arch, *map_of_all(its))
    assert its.ways(library, *words, *words) == 2 * expected


@each()
def test_other_sizes_and_other_places_are_the_routine_s(things, compiled, arch) -> None:
    its = things(arch)
    sizes = (0, 1, 511, 512, 1023, 2048, 60000)
    words = [f"{name}:{size}" for size in sizes for name in ("first", "moving", "ending")]
    library = compiled(arch, *map_of_all(its))
    assert its.ways(library, *words) == [""] * len(words)
    library = compiled(arch, place_of(its.program, arch, "second", "libc"))
    assert its.ways(library, "first:1024", "setting:1024") == [""] * 2


@each()
def test_sizes_with_one_way_on_both_sides_of_others(things, compiled, arch) -> None:
    """Whichever comes first, what is kept of it holds for its own sizes alone."""
    its = things(arch)
    ways = {1024: "libc", 2048: "libc", 4096: "cold", 16384: "libc"}
    places = [place_of(its.program, arch, "first", way, least) for least, way in ways.items()]
    expected = {
        **{512: "", 1023: "", 1024: "1 libc", 2047: "1 libc", 2048: "1 libc", 4095: "1 libc"},
        **{4096: "1 cold", 8191: "1 cold", 8192: "", 16383: ""},
        **{16384: "1 libc", 32767: "1 libc", 32768: "", 60000: ""},
    }
    library = compiled(arch, *places)
    for sizes in (list(expected), list(expected)[::-1], list(expected)[3:] + list(expected)):
        words = [f"first:{size}" for size in sizes]
        assert its.ways(library, *words) == [expected[size] for size in sizes]


@each()
def test_overlapping_buffers_are_copied_right(things, compiled, arch) -> None:
    """An entry point need not be right for them, whichever comes first at a place."""
    its = things(arch)
    library = compiled(arch, *map_of_all(its))
    for name, way in {"first": "libc", "moving": "hot", "ending": "consume"}.items():
        words = ("overlap", f"{name}:1024", f"{name}:1024") * 2
        assert its.ways(library, *words) == ["", f"1 {way}"] * 2


@each()
def test_a_map_of_no_places_changes_nothing(things, compiled, arch) -> None:
    assert things(arch).ways(compiled(arch), "first:1024", "setting:4096") == [""] * 2


@each()
def test_a_place_in_a_library_that_is_loaded_later(things, compiled, arch) -> None:
    """And in one with another build id, at the same place in memory most likely: the routine's."""
    its = things(arch)
    library = compiled(arch, place_of(its.plugin, arch, "first", "cold"))
    plugin, other = f"{its.plugin}:1024", f"{its.other}:1024"
    assert its.ways(library, plugin, plugin) == ["1 cold"] * 2
    assert its.ways(library, other) == [""]
    first, second = its.ways(library, plugin, "closed", other)
    assert first == "1 cold" and second in ("", "1 cold")


@each()
def test_threads_handlers_and_children(things, compiled, arch) -> None:
    its = things(arch)
    library = compiled(arch, *map_of_all(its))
    assert its.ways(library, "thread", "first:1024") == ["4000 libc"]
    assert its.ways(library, "handler", "second:1024", "second:1024") == ["1 cold"] * 2
    assert its.ways(library, "first:1024", "fork", "first:1024", "second:1024") == [
        *("1 libc", "1 libc", "1 cold"),
    ]


@each()
def test_a_full_table_loses_places_never_copies(things, compiled, arch) -> None:
    its = things(arch)
    places = [place_of(its.program, arch, "first", *way) for way in (("libc",), ("cold", 2048))]
    words = ("first:1024", "first:2048", "first:1024")
    assert its.ways(compiled(arch, *places), *words) == ["1 libc", "1 cold", "1 libc"]
    library = compiled(arch, *places, flags="-DASTEROPE_ROOM=1")
    assert its.ways(library, *words) == ["1 libc", "", "1 libc"]


COMPILERS = {
    "gcc -O0": ("gcc", "-O0"),
    "gcc -O3 -flto": ("gcc", "-O3 -flto -std=gnu99"),
    "clang": ("clang", "-O2 -fstack-protector-all"),
    "hidden": ("gcc", "-fvisibility=hidden -D_FORTIFY_SOURCE=2"),
}


@each(lambda arch: COMPILERS, emulated=False)
def test_other_compilers_and_flags(things, compiled, arch, case) -> None:
    its = things(arch)
    cc, flags = case
    library = compiled(arch, *map_of_all(its), cc=getattr(arch, cc)[0], flags=flags)
    assert its.ways(library, "first:1024", "second:1024", "second:100", "setting:4096") == [
        *("1 libc", "1 cold", "", "1 libc"),
    ]


@each()
def test_the_routine_of_several_profiles_asks(things, compiled, arch) -> None:
    its = things(arch)
    names = ("first", "second", "moving", "ending", "setting")
    places = [place_of(its.program, arch, name, "libc", 4096) for name in names[1:]]
    words = [f"{name}:{size}" for name in names for size in (100, 1024, 4096, 5000, 8192)]
    expected = ["1 libc" if "first" not in w and w[-4:] in ("4096", "5000") else "" for w in words]
    texts = render_dispatch({"own": its.profile}, by_place=LEAST)
    assert its.ways(compiled(arch, *places, texts=texts), *words, *words) == 2 * expected


# --- The command ----------------------------------------------------------------------------------


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    (tmp_path / "profile.json").write_text(json.dumps(good_profile()))
    return tmp_path / "profile.json"


@each(emulated=False)
def test_the_command_compiles_it(things, profile, tmp_path: Path, capsys, arch) -> None:
    """And writes no C, unless it is told where."""
    its, library = things(arch), tmp_path / "lib.so"
    profile.write_text(json.dumps(plain_profile(arch.name)))  # which any CPU fits
    its_map = tmp_path / "places.json"
    its_map.write_text(text_of([place_of(its.program, arch, "first", "libc")], ["program"]))
    before = set(tmp_path.iterdir())
    assert command(profile, "--preload", library, "--places", its_map) == 0
    assert set(tmp_path.iterdir()) == {*before, library}
    assert capsys.readouterr().out.startswith(f"wrote {library} (")
    assert its.ways(library, "first:1024", "second:1024", "first:100") == ["1 libc", "", ""]
    verbose = ("env", f"LD_PRELOAD={library}", "ASTEROPE_VERBOSE=1")
    assert run(*verbose, its.program).stderr.endswith(", 1 place apart\n")
    assert command(profile, "--preload", library, "-o", tmp_path / "c") == 0
    assert (tmp_path / "c" / "asterope_memcpy.h").exists()
    assert its.ways(library, "first:1024") == [""]


@pytest.mark.parametrize(
    ("options", "variables", "code", "said"),
    [
        (["--places", "p.json"], {}, 2, "--places is for the library that --preload names"),
        (["--preload", "l.so", "--prefix", "own"], {}, 2, "has libc's names and no others"),
        (["--preload", "l.so"], {"CC": "no-such-cc"}, 1, "CC: no-such-cc: no such command"),
        (["--preload", "l.so"], {"CFLAGS": "-include /none.h"}, 1, "did not compile the library"),
        (["--preload", "none/l.so/"], {"CC": "true"}, 1, "library.so"),
    ],
)
def test_what_cannot_be_compiled_is_one_line(
    profile, tmp_path: Path, monkeypatch, capsys, options, variables, code, said
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert command(profile, *options) == code
    assert said in only_line(capsys)
    assert [path.name for path in tmp_path.iterdir()] == ["profile.json"]
