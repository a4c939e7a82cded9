"""The preload library with ASTEROPE_FRESH=1: copies and sets of a size with a page stage prepare
their pages, wherever they are called, and else none do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from architectures import Architecture, build_preload, each, once
from asterope.dispatch import render_dispatch
from asterope.profile import load_profile
from asterope.render import Asks
from copy_programs import Memset, output_of, profile_json, render, run, with_own_calls, write
from dispatch_machines import with_profile

MIB = 1 << 20
# Above, up to, stage, piece. One size between has no stage.
STAGES = [
    (65535, 262144, "populate", 65536),
    (262144, MIB, "none", 0),
    (MIB, 4 * MIB, "huge", 2 * MIB),
]
PREPARED = (65536, 262144, 2 * MIB, 5 * MIB)
NOT_PREPARED = (0, 1, 100, 4096, 65535, 524288, MIB)
# The places of by_place_check that call memcpy, memmove, mempcpy, memset and bzero.
PLACES = ("first", "moving", "ending", "setting", "zeroing")

# The routine's text with this before it counts the bytes that it has the system prepare.
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


def profile_of(arch: Architecture, **more: object) -> str:
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
    (folder / "profile.json").write_text(profile_of(arch, stages=STAGES))
    return library_of(arch, folder, render(folder / "profile.json", folder, asks=Asks()))


def make_program(arch: Architecture, folder: Path) -> Path:
    flags = ("-O1", "-fno-builtin", "-rdynamic", "-pthread", "-ldl")
    return arch.program(folder, "by_place_check", *flags)


library, check = once(make_library), once(make_program)


def counts_in(said: str) -> list[str]:
    """The bytes that each call prepared, by the program's output."""
    return [line.removesuffix(" fresh ") or "0" for line in said.splitlines()]


def prepared(
    arch: Architecture, program: Path, path: Path, *words: object, **variables: str
) -> list[str]:
    """The same under the library; without ASTEROPE_FRESH where it is not given."""
    return counts_in(output_of(*arch.on(LD_PRELOAD=path, **variables), program, *words))


def calls(*sizes: int) -> list[str]:
    return [f"{place}:{size}" for place in PLACES for size in sizes]


@each()
def test_all_pages_of_large_copies_and_sets_are_prepared_where_that_is_asked_for(
    check, library, arch
):
    its, asked = (arch, check(arch), library(arch)), {"ASTEROPE_FRESH": "1"}
    counts = prepared(*its, *calls(*PREPARED), **asked)
    assert counts == [str(size) for _ in PLACES for size in PREPARED]
    assert {*prepared(*its, *calls(*NOT_PREPARED), **asked)} == {"0"}


@pytest.mark.parametrize("value", [None, "0", "", "2", "11", "01", "yes"])
@each()
def test_none_are_where_it_is_not(check, library, arch, value):
    variables = {} if value is None else {"ASTEROPE_FRESH": value}
    words = calls(*PREPARED[:3])
    assert {*prepared(arch, check(arch), library(arch), *words, **variables)} == {"0"}


@each()
def test_overlapping_buffers_are_not_prepared(check, library, arch):
    words = [word for call in calls(*PREPARED)[: 3 * len(PREPARED)] for word in ("overlap", call)]
    its = (arch, check(arch), library(arch))
    assert {*prepared(*its, *words, ASTEROPE_FRESH="1")} == {"0"}


@each(emulated=False)
def test_the_pages_are_there_before_the_copy_begins(check, library, arch):
    """An emulator answers this advice by itself, and prepares none."""
    its, call = (arch, check(arch), library(arch)), ("halted", "first:262144")
    (pages,) = prepared(*its, *call, ASTEROPE_FRESH="1")
    if pages == "cannot":
        pytest.skip("this system prepares no pages (Linux 5.14)")
    assert pages == str(65536 // 4096)
    (pages,) = prepared(*its, *call)
    assert int(pages) <= 2  # a copy may begin at both of its ends


@each()
def test_of_several_profiles_the_chosen_one_says_from_which_size_on(check, tmp_path, arch):
    stages = {"early": STAGES, "late": [(MIB, 4 * MIB, "populate", MIB)], "never": ()}
    for name, own in stages.items():
        (tmp_path / f"{name}.json").write_text(profile_of(arch, stages=own))
    profiles = {name: load_profile(tmp_path / f"{name}.json") for name in stages}
    path = library_of(arch, tmp_path, write(render_dispatch(profiles, asks=Asks()), tmp_path))
    words = calls(65536, 2 * MIB)
    for name, expected in (
        ("early", ["65536", f"{2 * MIB}"]),
        ("late", ["0", f"{2 * MIB}"]),
        ("never", ["0", "0"]),
        ("fallback", ["0", "0"]),
    ):
        under = arch.on(LD_PRELOAD=path, ASTEROPE_VERBOSE="1", ASTEROPE_FRESH="1")
        done = run(*under, check(arch), *words, env=with_profile(name))
        assert counts_in(done.stdout) == expected * len(PLACES), name
        nothing = ", ASTEROPE_FRESH=1 does nothing: the profile has no page stage\n"
        has = name in ("early", "late")
        assert done.stderr.endswith(", large ones prepare their pages\n" if has else nothing), name


@each()
def test_it_says_what_comes_of_the_variable_in_the_one_line(check, library, arch):
    ends = {
        **dict.fromkeys((None, "0"), "generated by asterope [0-9.]+"),
        "1": "generated by asterope [0-9.]+, large ones prepare their pages",
        **dict.fromkeys(("", "2", "yes"), ".*, ASTEROPE_FRESH is neither 0 nor 1 and taken as 0"),
    }
    for value, end in ends.items():
        variables = {} if value is None else {"ASTEROPE_FRESH": value}
        for verbose, line in ((1, rf"asterope: memcpy.* are {end}\n"), (0, "")):
            under = arch.on(LD_PRELOAD=library(arch), ASTEROPE_VERBOSE=verbose, **variables)
            said = run(*under, check(arch)).stderr
            assert re.fullmatch(line, said), (value, said)


@each()
def test_a_routine_without_page_stages_has_no_question(tmp_path, arch):
    (tmp_path / "profile.json").write_text(profile_of(arch))
    text = render(tmp_path / "profile.json", tmp_path, asks=Asks()).read_text()
    assert text == render(tmp_path / "profile.json", tmp_path).read_text()
    assert "fresh_is_on" not in text
