"""The preload library with a map: each place of a program takes the way that the map has for it.
The copies are right in all that the program does. With ASTEROPE_FRESH=1, copies and sets of a size
with a page stage prepare their pages wherever the map has no other way. Else only those with the
way `fresh` do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from architectures import Architecture, build_preload, each, once
from asterope.dispatch import render_dispatch
from asterope.place_map import LEAST, MappedPlace, as_c, text_of
from asterope.preload import compile_preload
from asterope.profile import load_profile
from asterope.record.symbols import build_id_of
from asterope.render import Asks, render_routine
from copy_programs import (
    WARNINGS,
    Memset,
    output_of,
    profile_json,
    render,
    run,
    with_own_calls,
    with_small_stages,
    write,
)
from disassembly import disassemble
from dispatch_machines import with_profile
from generate_command import command, only_line
from profile_samples import plain_profile

# A library in libc's place, preloaded behind the library, counts its calls; so do the routine's
# entry points. Calls that none of them counted were made by the routine's other functions.
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
__attribute__((used, visibility("hidden"))) long entries_counted[4];
extern __attribute__((alias("entries_counted"), visibility("default"))) long asterope_counted[4];
"""
COUNT = {
    "x86_64": "incq entries_counted+{0}(%rip)",
    "aarch64": (
        "adrp x9, entries_counted+{0}; ldr x10, [x9, :lo12:entries_counted+{0}]; "
        "add x10, x10, #1; str x10, [x9, :lo12:entries_counted+{0}]"
    ),
}
ENTRIES = ("hot", "cold", "consume")
# Above, up to, stage, piece, all of them 16 times as large as in the routine.
STAGES = [
    (65535, 262144, "populate", 131072),
    (262144, 524288, "none", 0),
    (524288, 1048576, "huge", 131072),
]
C = ("-O1", *WARNINGS, "-fno-builtin", "-fPIC")
FUNCTIONS = {"moving": "memmove", "ending": "mempcpy", "setting": "memset"}


def place_of(arch: Architecture, file: Path, name: str, way: str, least: int = 1024) -> MappedPlace:
    """The only call in that function of the file."""
    function = FUNCTIONS.get(name, "memcpy")
    code = disassemble(file, arch)[name]
    (call,) = (i for i, text in enumerate(code.instructions) if f"<{function}@plt>" in text)
    offset = code.addresses[call + 1]  # in the file as well, as these linkers have it
    return MappedPlace(str(file), build_id_of(str(file)), offset, name, function, least, way)


def counting(arch: Architecture, text: str) -> str:
    """The routine, whose entry points count their calls."""
    for i, name in enumerate(ENTRIES):
        begins = rf'memcpy_{name}\([^;{{]*\{{\n +\w+_ASM\(\n|_BEGIN\("\w+_{name}",.*\n'
        count = f'"{COUNT[arch.name].format(8 * i)}\\n"'
        text, found = re.subn(begins, lambda match, count=count: f"{match[0]}{count}\n", text)
        assert found == 1
    count = "{\n    __atomic_fetch_add(&entries_counted[3], 1, __ATOMIC_RELAXED);\n"
    text, found = re.subn(r"(?<=_fresh)(\(void \*[^;{]*)\{\n", rf"\1{count}", text)
    assert found == 2, found
    return f"#include <stddef.h>\nextern long entries_counted[4];\n{text}{COUNTERS}"


class Things:
    """The program, its plugin twice, what stands for libc, and the routine's profile."""

    def __init__(self, arch: Architecture, folder: Path) -> None:
        self.arch, self.folder = arch, folder
        self.plugin, self.other = folder / "plugin.so", folder / "other.so"
        id_of, name = "-Wl,--build-id=0x", "by_place_check"
        for library, build in ((self.plugin, "abcdef01"), (self.other, "abcdef02")):
            shared = ("-shared", "-DPLUGIN", f"{id_of}{build}")
            arch.program(folder, name, *C, *shared).rename(library)
        linked = ("-pie", "-rdynamic", "-pthread", "-ldl")
        self.program = arch.program(folder, name, *C, f"{id_of}0123456789", *linked)
        (folder / "next.c").write_text(NEXT)
        output_of(*arch.gcc, *C, "-shared", folder / "next.c", "-o", folder / "next.so")
        winners = [(1 << 20, arch.plain)]
        sets, intents = [(1 << 20, arch.set_pipelines.PLAIN)], dict.fromkeys(ENTRIES, winners)
        text = profile_json(winners, memset=Memset(sets), intents=intents, stages=STAGES)
        (folder / "own.json").write_text(text)
        self.profile = with_small_stages(folder / "own.json")
        texts = render_routine(self.profile, asks=Asks(LEAST))
        self.texts = {n: counting(arch, t) if n[-2:] == ".c" else t for n, t in texts.items()}

    def ways(
        self, library: Path, *words: object, profile: str = "own", **variables: str
    ) -> list[str]:
        """The program's output under a library."""
        preloaded = f"{library}:{self.folder / 'next.so'}"
        command = (*self.arch.on(LD_PRELOAD=preloaded, **variables), self.program, *words)
        said = output_of(*command, env=with_profile(profile))
        return [line.strip() for line in said.splitlines()]

    def map_of(self, places: Iterable[str]) -> list[MappedPlace]:
        """The map of its own places, `NAME:WAY` or `NAME:WAY:LEAST`."""
        return [
            place_of(self.arch, self.program, name, way, *map(int, least))
            for name, way, *least in (place.split(":") for place in places)
        ]


things = once(Things)


@pytest.fixture
def compiled(monkeypatch, things, tmp_path: Path) -> Callable[..., Path]:
    def of(arch: Architecture, *places: MappedPlace, flags: str = "", texts: Any = None) -> Path:
        monkeypatch.setenv("CC", " ".join(arch.gcc))
        monkeypatch.setenv("CFLAGS", f"-Wall -Wextra -Werror {flags}")
        library = tmp_path / "library.so"
        library.write_bytes(compile_preload(texts or things(arch).texts, as_c(places)))
        return library

    return of


ALL = "first:libc second:cold moving:hot ending:consume setting:libc:4096"
EACH = (
    "first:1024 -> 1 libc, second:2047 -> 1 cold, moving:1500 -> 1 hot, ending:1024 -> 1 consume, "
    "setting:5000 -> 1 libc"
)
COPYING = {"first": "libc", "moving": "hot", "ending": "consume"}
SIZES = (0, 1, 511, 512, 1023, 2048, 60000)
OTHERS = ", ".join(f"{name}:{size} ->" for size in SIZES for name in COPYING)
RANGES = [
    *("first:512 ->", "first:1023 ->", "first:1024 -> 1 libc", "first:2047 -> 1 libc"),
    *("first:2048 -> 1 libc", "first:4095 -> 1 libc", "first:4096 -> 1 cold"),
    *("first:8191 -> 1 cold", "first:8192 ->", "first:16383 ->", "first:16384 -> 1 libc"),
    *("first:32767 -> 1 libc", "first:32768 ->", "first:60000 ->"),
]
# The map, and runs, `WORDS -> WAY, ...`: the program's arguments, and its output for each call. The
# way of a place holds for its own sizes, in any order of the calls. An entry point need not be
# right for buffers that overlap.
RUNS = {
    "each place takes its way": (ALL, f"{EACH}, {EACH}"),
    "other sizes are the routine's": (ALL, OTHERS),
    "other places are the routine's": ("second:libc", "first:1024 ->, setting:1024 ->"),
    "a map of no places changes nothing": ("", "first:1024 ->, setting:4096 ->"),
    "sizes with one way on both sides of others": (
        "first:libc first:libc:2048 first:cold:4096 first:libc:16384",
        *(", ".join(order) for order in (RANGES, RANGES[::-1], RANGES[3:] + RANGES)),
    ),
    "overlapping buffers": (
        ALL,
        *(
            ", ".join([f"overlap {name}:1024 ->", f"{name}:1024 -> 1 {way}"] * 2)
            for name, way in COPYING.items()
        ),
    ),
    "pages prepared, also where a size has no page stage": (
        "second:fresh:4096 setting:fresh:4096 setting:fresh:16384",
        "second:5000 -> 1 fresh, setting:5000 -> 1 fresh, setting:20000 -> 1 fresh",
        "second:20000 ->, setting:40000 ->",
    ),
    "threads": (ALL, "thread first:1024 -> 4000 libc"),
    "handlers": (ALL, "handler second:1024 -> 1 cold, second:1024 -> 1 cold"),
    "children": (ALL, "first:1024 -> 1 libc, fork first:1024 -> 1 libc, second:1024 -> 1 cold"),
    "a full table loses places, never copies": (
        "-DASTEROPE_ROOM=1 first:libc first:cold:2048",
        "first:1024 -> 1 libc, first:2048 ->, first:1024 -> 1 libc",
    ),
}


@each(lambda arch: RUNS)
def test_each_place_takes_its_way_and_copies_right(things, compiled, arch, case) -> None:
    its, (given, *all_of_map) = things(arch), case
    words = given.split()
    flags = [word for word in words if word[0] == "-"]
    library = compiled(arch, *its.map_of(words[len(flags) :]), flags=" ".join(flags))
    for run_of_map in all_of_map:
        calls = [part.partition(" ->") for part in run_of_map.split(", ")]
        words = [word for call, _, _ in calls for word in call.split()]
        assert its.ways(library, *words) == [said.strip() for _, _, said in calls]


@each()
def test_a_place_in_a_library_that_is_loaded_later(things, compiled, arch) -> None:
    """With another build id it takes the routine, unless it lies where the closed one lay."""
    its = things(arch)
    library = compiled(arch, place_of(arch, its.plugin, "first", "cold"))
    plugin, other = f"{its.plugin}:1024", f"{its.other}:1024"
    assert its.ways(library, plugin, plugin) == ["1 cold"] * 2
    assert its.ways(library, other) == [""]
    first, second = its.ways(library, plugin, "closed", other)
    assert first == "1 cold" and second in ("", "1 cold")


@each()
def test_the_routine_of_several_profiles_asks(things, compiled, arch) -> None:
    its = things(arch)
    names = ("first", "second", "moving", "ending", "setting")
    places = its.map_of(f"{name}:libc:4096" for name in names[1:])
    words = [f"{name}:{size}" for name in names for size in (100, 1024, 4096, 5000, 8192)]
    expected = ["1 libc" if "first" not in w and w[-4:] in ("4096", "5000") else "" for w in words]
    texts = render_dispatch({"own": its.profile}, asks=Asks(LEAST))
    assert its.ways(compiled(arch, *places, texts=texts), *words, *words) == 2 * expected


@each()
def test_a_place_keeps_its_way_where_pages_are_prepared_everywhere(things, compiled, arch) -> None:
    its = things(arch)
    places = its.map_of(["first:libc:4096", "moving:hot:4096", "setting:libc:4096"])
    library = compiled(arch, *places)
    ways = {
        **{"first:5000": "1 libc", "moving:5000": "1 hot", "setting:5000": "1 libc"},
        **{"second:5000": "1 fresh", "ending:5000": "1 fresh", "first:9000": "1 fresh"},
        **{"setting:9000": "1 fresh", "second:20000": "1 fresh", "second:1024": ""},
    }
    assert its.ways(library, *ways, *ways, ASTEROPE_FRESH="1") == [*ways.values()] * 2
    assert its.ways(library, *ways) == [way.replace("1 fresh", "") for way in ways.values()]


# --- Pages prepared everywhere: ASTEROPE_FRESH=1 --------------------------------------------------


MIB = 1 << 20
# Above, up to, stage, piece. One size between has no stage.
EVERYWHERE = [
    (65535, 262144, "populate", 65536),
    (262144, MIB, "none", 0),
    (MIB, 4 * MIB, "huge", 2 * MIB),
]
PREPARED = (65536, 262144, 2 * MIB, 5 * MIB)
NOT_PREPARED = (0, 1, 100, 4096, 65535, 524288, MIB)

# The routine's text with this before it counts the bytes that it has the system prepare: in the
# fourth counter, which is printed as `fresh`.
COUNTED = """\
#include <stddef.h>
__attribute__((visibility("default"))) long asterope_counted[4];
static void count(size_t bytes, size_t advice)
{
    if (advice == 23) __atomic_fetch_add(&asterope_counted[3], (long)bytes, __ATOMIC_RELAXED);
}
#define COUNTED_CALL(number, first, second, third) \\
    (count(second, third), asterope_fresh_call(number, first, second, third))
"""


def staged_profile(arch: Architecture, **more: object) -> str:
    """Steps of pipelines below, at and above the least size with a stage."""
    ends = (32768, MIB, 4 * MIB)
    sets = Memset([(end, arch.set_pipelines.PLAIN) for end in ends])
    return profile_json([(end, arch.plain) for end in ends], memset=sets, **more)


def library_of(arch: Architecture, folder: Path, routine: Path) -> Path:
    """The preload library of that, which counts."""
    text = with_own_calls(routine, "COUNTED_CALL").read_text(encoding="ascii")
    routine.write_text(COUNTED + text, encoding="ascii")
    return build_preload(arch, routine, folder / "library.so")


def make_library(arch: Architecture, folder: Path) -> Path:
    (folder / "profile.json").write_text(staged_profile(arch, stages=EVERYWHERE))
    return library_of(arch, folder, render(folder / "profile.json", folder, asks=Asks()))


library = once(make_library)


def prepared(its: Things, path: Path, *words: object, **variables: str) -> list[str]:
    """The bytes that each call prepares; without ASTEROPE_FRESH where it is not given."""
    return [said.removesuffix(" fresh") or "0" for said in its.ways(path, *words, **variables)]


def calls(*sizes: int) -> list[str]:
    places = ("first", "moving", "ending", "setting", "zeroing")
    return [f"{place}:{size}" for place in places for size in sizes]


@each()
def test_all_pages_of_large_copies_and_sets_are_prepared_where_that_is_asked_for(
    things, library, arch
):
    its, asked = (things(arch), library(arch)), {"ASTEROPE_FRESH": "1"}
    counts = prepared(*its, *calls(*PREPARED), **asked)
    assert counts == 5 * [str(size) for size in PREPARED]
    assert {*prepared(*its, *calls(*NOT_PREPARED), **asked)} == {"0"}


@pytest.mark.parametrize("value", [None, "0", "", "2", "11", "01", "yes"])
@each()
def test_none_are_where_it_is_not(things, library, arch, value):
    variables = {} if value is None else {"ASTEROPE_FRESH": value}
    words = calls(*PREPARED[:3])
    assert {*prepared(things(arch), library(arch), *words, **variables)} == {"0"}


@each()
def test_overlapping_buffers_are_not_prepared(things, library, arch):
    words = [word for call in calls(*PREPARED)[: 3 * len(PREPARED)] for word in ("overlap", call)]
    assert {*prepared(things(arch), library(arch), *words, ASTEROPE_FRESH="1")} == {"0"}


@each(emulated=False)
def test_the_pages_are_there_before_the_copy_begins(things, library, arch):
    """An emulator answers this advice by itself, and prepares none."""
    its, call = (things(arch), library(arch)), ("halted", "first:262144")
    (pages,) = prepared(*its, *call, ASTEROPE_FRESH="1")
    if pages == "cannot":
        pytest.skip("this system prepares no pages (Linux 5.14)")
    assert pages == str(65536 // 4096)
    (pages,) = prepared(*its, *call)
    assert int(pages) <= 2  # a copy may begin at both of its ends


@each()
def test_of_several_profiles_the_chosen_one_says_from_which_size_on(things, tmp_path, arch):
    stages = {"early": EVERYWHERE, "late": [(MIB, 4 * MIB, "populate", MIB)], "never": ()}
    for name, own in stages.items():
        (tmp_path / f"{name}.json").write_text(staged_profile(arch, stages=own))
    profiles = {name: load_profile(tmp_path / f"{name}.json") for name in stages}
    path = library_of(arch, tmp_path, write(render_dispatch(profiles, asks=Asks()), tmp_path))
    words = calls(65536, 2 * MIB)
    for name, expected in (
        ("early", ["65536", f"{2 * MIB}"]),
        ("late", ["0", f"{2 * MIB}"]),
        ("never", ["0", "0"]),
        ("fallback", ["0", "0"]),
    ):
        its, asked = things(arch), {"ASTEROPE_FRESH": "1"}
        assert prepared(its, path, *words, profile=name, **asked) == expected * 5, name
        under = arch.on(LD_PRELOAD=path, ASTEROPE_VERBOSE="1", **asked)
        nothing = ", ASTEROPE_FRESH=1 does nothing: no page stage can be asked for here\n"
        has = ", large ones prepare their pages\n" if name in ("early", "late") else nothing
        assert run(*under, its.program, env=with_profile(name)).stderr.endswith(has), name


@each()
def test_a_routine_without_page_stages_has_no_question(tmp_path, arch):
    (tmp_path / "profile.json").write_text(staged_profile(arch))
    text = render(tmp_path / "profile.json", tmp_path, asks=Asks()).read_text()
    assert text == render(tmp_path / "profile.json", tmp_path).read_text()
    assert "fresh_is_on" not in text


# --- The command ----------------------------------------------------------------------------------


@each(emulated=False)
def test_the_command_compiles_it(things, profile, tmp_path: Path, capsys, arch) -> None:
    """It writes no C, unless it is told where."""
    its, library = things(arch), tmp_path / "lib.so"
    profile.write_text(json.dumps(plain_profile(arch.name)))  # which any CPU fits
    its_map = tmp_path / "places.json"
    its_map.write_text(text_of(its.map_of(["first:libc"]), ["program"]))
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
