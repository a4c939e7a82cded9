"""The preload library with a map: each place of a program takes the way that the map has for it,
and whatever the program does, its copies are right."""

from __future__ import annotations

import functools
import json
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
from copy_programs import CHECKERS, output_of, run
from disassembly import disassemble
from elftools.elf.elffile import ELFFile
from generate_command import command, only_line
from profile_samples import good_profile, plain_profile

# The routine of these tests counts who is called, and so does what stands for libc: a library that
# is preloaded behind it.
COPY = """
#include <stddef.h>
#define SEEN __attribute__((visibility("default")))
static void *copied(void *to, const void *from, size_t bytes)
{
    volatile unsigned char *at = to;
    const volatile unsigned char *there = from;
    if (at <= there) for (size_t i = 0; i < bytes; ++i) at[i] = there[i];
    else for (size_t i = bytes; i-- > 0;) at[i] = there[i];
    return to;
}
static void *filled(void *to, int value, size_t bytes)
{
    volatile unsigned char *at = to;
    for (size_t i = 0; i < bytes; ++i) at[i] = (unsigned char)value;
    return to;
}
#define COUNTED(name, counter, result) \\
    void *name(void *to, const void *from, size_t bytes); \\
    void *name(void *to, const void *from, size_t bytes) \\
    { \\
        __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED); \\
        copied(to, from, bytes); \\
        return result; \\
    }
#define COUNTED_SET(name, counter) \\
    void *name(void *to, int value, size_t bytes); \\
    void *name(void *to, int value, size_t bytes) \\
    { \\
        __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED); \\
        return filled(to, value, bytes); \\
    }
"""
ROUTINE = f"""{COPY}
#define ASTEROPE_ROUTINE_SETS
static const char asterope_tuned_for[] = "made by a test";
SEEN extern long asterope_counted[4];
long asterope_counted[4];
typedef void *copy(void *, const void *, size_t);
typedef void *set(void *, int, size_t);
void *asterope_copy_at(void *, const void *, size_t, size_t, copy *, void *);
void *asterope_set_at(void *, int, size_t, size_t, set *, void *);
COUNTED(as_ever, asterope_counted[0], to)
COUNTED_SET(set_as_ever, asterope_counted[0])
extern unsigned short asterope_copy_groups[], asterope_set_groups[];
#ifdef __clang__
#define JUMPING
#else
#define JUMPING __attribute__((optimize("O2"), no_stack_protector))
#endif
#define GROUP(kind) asterope_##kind##_groups[(size_t)__builtin_return_address(0) % 4096]
#define ASKING(name, result) \\
    JUMPING void *name(void *to, const void *from, size_t bytes); \\
    void *name(void *to, const void *from, size_t bytes) \\
    {{ \\
        const size_t group = GROUP(copy); \\
        if (bytes >= {LEAST} && group) \\
            return asterope_copy_at(to, from, bytes, group, as_ever, result); \\
        as_ever(to, from, bytes); \\
        return result; \\
    }}
ASKING(asterope_memmove, to)
ASKING(asterope_mempcpy, (char *)to + bytes)
COUNTED(asterope_memcpy_hot, asterope_counted[1], to)
COUNTED(asterope_memcpy_cold, asterope_counted[2], to)
COUNTED(asterope_memcpy_consume, asterope_counted[3], to)
JUMPING void *asterope_memset(void *, int, size_t);
void *asterope_memset(void *to, int value, size_t bytes)
{{
    const size_t group = GROUP(set);
    if (bytes >= {LEAST} && group) return asterope_set_at(to, value, bytes, group, set_as_ever, to);
    return set_as_ever(to, value, bytes);
}}
"""
NEXT = f"""{COPY}
long next_counted[1];
COUNTED(memcpy, next_counted[0], to)
COUNTED(memmove, next_counted[0], to)
COUNTED(mempcpy, next_counted[0], (char *)to + bytes)
COUNTED_SET(memset, next_counted[0])
"""
MADE_UP = {"asterope_memcpy.c": ROUTINE}
C = ("-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", "-fno-builtin", "-fPIC")
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


class Things:
    """The program, its plugin twice, and what stands for libc."""

    def __init__(self, arch: Architecture, folder: Path) -> None:
        self.arch, self.folder = arch, folder
        source = CHECKERS / "by_place_check.c"
        self.program, self.plugin = folder / "by_place_check", folder / "plugin.so"
        self.other = folder / "other.so"
        id_of = "-Wl,--build-id=0x"
        threads = ("-pie", "-pthread", "-ldl")
        output_of(*arch.gcc, *C, source, "-o", self.program, f"{id_of}0123456789", *threads)
        for library, build in ((self.plugin, "abcdef01"), (self.other, "abcdef02")):
            shared = ("-shared", "-DPLUGIN", f"{id_of}{build}")
            output_of(*arch.gcc, *C, *shared, source, "-o", library)
        (folder / "next.c").write_text(NEXT)
        output_of(*arch.gcc, *C, "-shared", folder / "next.c", "-o", folder / "next.so")

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
def compiled(monkeypatch, tmp_path: Path) -> Callable[..., Path]:
    def of(
        arch: Architecture,
        *places: MappedPlace,
        flags: str = "",
        cc: str = "",
        texts: Mapping[str, str] = MADE_UP,
    ) -> Path:
        monkeypatch.setenv("CC", cc or " ".join(arch.gcc))
        monkeypatch.setenv("CFLAGS", f"-Wall -Wextra -Werror {flags}")
        library = tmp_path / "library.so"
        library.write_bytes(compile_preload(texts, as_c(places)))
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
    assert its.ways(library, *words) == ["1 routine"] * len(words)
    library = compiled(arch, place_of(its.program, arch, "second", "libc"))
    assert its.ways(library, "first:1024", "setting:1024") == ["1 routine"] * 2


@each()
def test_sizes_with_one_way_on_both_sides_of_others(things, compiled, arch) -> None:
    """Whichever comes first, what is kept of it holds for its own sizes alone."""
    its = things(arch)
    ways = {1024: "libc", 2048: "libc", 4096: "cold", 16384: "libc"}
    places = [place_of(its.program, arch, "first", way, least) for least, way in ways.items()]
    expected = {
        **{512: "routine", 1023: "routine", 1024: "libc", 2047: "libc", 2048: "libc"},
        **{4095: "libc", 4096: "cold", 8191: "cold", 8192: "routine", 16383: "routine"},
        **{16384: "libc", 32767: "libc", 32768: "routine", 60000: "routine"},
    }
    library = compiled(arch, *places)
    for sizes in (list(expected), list(expected)[::-1], list(expected)[3:] + list(expected)):
        words = [f"first:{size}" for size in sizes]
        assert its.ways(library, *words) == [f"1 {expected[size]}" for size in sizes]


@each()
def test_overlapping_buffers_are_copied_right(things, compiled, arch) -> None:
    """An entry point need not be right for them, whichever comes first at a place."""
    its = things(arch)
    library = compiled(arch, *map_of_all(its))
    for name, way in {"first": "libc", "moving": "hot", "ending": "consume"}.items():
        words = ("overlap", f"{name}:1024", f"{name}:1024") * 2
        assert its.ways(library, *words) == ["1 routine", f"1 {way}"] * 2


@each()
def test_a_map_of_no_places_changes_nothing(things, compiled, arch) -> None:
    assert things(arch).ways(compiled(arch), "first:1024", "setting:4096") == ["1 routine"] * 2


@each()
def test_a_place_in_a_library_that_is_loaded_later(things, compiled, arch) -> None:
    """And in one with another build id, at the same place in memory most likely: the routine's."""
    its = things(arch)
    library = compiled(arch, place_of(its.plugin, arch, "first", "cold"))
    plugin, other = f"{its.plugin}:1024", f"{its.other}:1024"
    assert its.ways(library, plugin, plugin) == ["1 cold"] * 2
    assert its.ways(library, other) == ["1 routine"]
    first, second = its.ways(library, plugin, "closed", other)
    assert first == "1 cold" and second in ("1 routine", "1 cold")


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
    assert its.ways(library, *words) == ["1 libc", "1 routine", "1 libc"]


COMPILERS = {
    "gcc -O0": ("gcc", "-O0"),
    "gcc -O3 -flto": ("gcc", "-O3 -flto -std=gnu99"),
    "clang": ("clang", "-O2 -fstack-protector-all"),
    "hidden": ("gcc", "-fvisibility=hidden -D_FORTIFY_SOURCE=2"),
}


@each(lambda arch: COMPILERS, emulated=False)
def test_other_compilers_and_flags(things, compiled, tmp_path: Path, arch, case) -> None:
    its = things(arch)
    cc, flags = case
    options = {"cc": getattr(arch, cc)[0], "flags": flags}
    library = compiled(arch, *map_of_all(its), **options)
    assert its.ways(library, "first:1024", "second:1024", "second:100") == [
        *("1 libc", "1 cold", "1 routine"),
    ]
    check_rendered(
        its, tmp_path, lambda *places, **more: compiled(arch, *places, **more, **options)
    )


def check_rendered(its: Things, folder: Path, compiled: Callable[..., Path]) -> None:
    """The assembly asks as the routine that is made up does; one of several profiles, too."""
    path = folder / "own.json"
    path.write_text(json.dumps(plain_profile(its.arch.name)))
    profile = load_profile(path)
    names = ("first", "second", "moving", "ending", "setting")
    places = [place_of(its.program, its.arch, name, "libc", 4096) for name in names[1:]]
    words = [f"{name}:{size}" for name in names for size in (100, 1024, 4096, 5000, 8192)]
    expected = ["1 libc" if "first" not in w and w[-4:] in ("4096", "5000") else "" for w in words]
    for texts in (
        render_routine(profile, by_place=LEAST),
        render_dispatch({"own": profile}, by_place=LEAST),
    ):
        assert its.ways(compiled(*places, texts=texts), *words, *words) == 2 * expected


@each()
def test_the_rendered_routine_asks(things, compiled, tmp_path: Path, arch) -> None:
    check_rendered(things(arch), tmp_path, functools.partial(compiled, arch))


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
