"""The routine in libc's place, linked into programs and libraries of an installed asterope."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from architectures import X86_64
from asterope.spaces.x86_64 import small_copies
from copy_programs import CHECKERS, REPOSITORY, exported, need, output_of, profile_json, render, run
from installed_tree import (
    CHECKED,
    INTERVALS,
    NAMES,
    OF_MEMSET,
    OTHERS,
    SETS,
    WARNINGS,
    cmake_build,
    copied,
    symbols,
)

pytestmark = pytest.mark.slow

HARDENED = (*WARNINGS, "-D_FORTIFY_SOURCE=2", "-fstack-protector-all")


def test_the_replace_libc_example_has_a_memcpy_of_its_own_linked_either_way(environment, tmp_path):
    build = cmake_build(copied("replace-libc", tmp_path), environment)
    for program in ("whose", "whose-static"):
        assert output_of(build / program) == "memcpy is asterope's\n"


@pytest.fixture(scope="module")
def replaced(environment, tmp_path_factory) -> Path:
    """The build folder of the project replace_libc."""
    folder = tmp_path_factory.mktemp("replaced") / "project"
    shutil.copytree(CHECKERS / "replace_libc", folder)
    small = small_copies.Tuple("stepped", "XMM", "up", 128)
    (folder / "profile.json").write_text(
        profile_json(INTERVALS, small, memset=SETS), encoding="utf-8"
    )
    (folder / "asterope").mkdir()
    (folder / "asterope" / "profile.json").write_text(profile_json(OTHERS), encoding="utf-8")
    flags = " ".join(["-O2 -fno-builtin -flto", *WARNINGS])
    return cmake_build(
        folder, {**environment, "XDG_CONFIG_HOME": str(folder)},
        f"-DCHECKERS={CHECKERS}", f"-DREFERENCE={REPOSITORY / 'generated' / 'reference'}",
        f"-DCMAKE_C_FLAGS={flags}", "-DCMAKE_BUILD_TYPE=",
    )  # fmt: skip


KINDS = ["dynamic", "static", "several"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_has_libc_s_names_for_the_tuned_functions(replaced, kind):
    """In a static one libc's functions, which only its own names would bring in, are not there."""
    defined = symbols(replaced / kind)
    sets = kind != "several"  # older profiles, which have no memset
    address = {name: defined[name][0] for name in (NAMES if sets else NAMES - OF_MEMSET)}
    functions = ("memmove", "mempcpy", *(["memset"] * sets))
    own = {name: defined[f"asterope_{name}"][0] for name in functions}
    assert address["memcpy"] == address["memmove"] == own["memmove"]
    assert address["mempcpy"] == address["__mempcpy"] == own["mempcpy"]
    assert not sets or address["memset"] == own["memset"]
    # (memset's are in the objects of wmemset's, which others of libc call.)
    assert not [
        name for name in defined if re.match(r"__mem(p?cpy|move)_(avx|evex|sse|erms)", name)
    ]
    # What is chosen while the program starts is chosen too late: libraries copy before.
    assert not [name for name in defined if "asterope" in name and defined[name][1] == "i"]


@pytest.mark.parametrize("profile", ["xeon-gold-5218", "opteron-6378", "fallback"])
def test_a_program_of_several_profiles_copies_right_with_each(replaced, profile):
    output_of(replaced / "several", "copies", env={"ASTEROPE_PROFILE": profile})


@pytest.mark.parametrize("kind", ["dynamic", "archive"])
def test_the_routine_stays_out_of_link_time_optimization(replaced, kind):
    need("readelf")
    routines = list((replaced / "CMakeFiles" / f"{kind}_asterope_memcpy.dir").rglob("*.o"))
    assert len(routines) == 1
    assert ".gnu.lto" not in output_of("readelf", "-SW", *routines)
    others = (replaced / "CMakeFiles" / f"{kind}.dir").rglob("*.o")
    assert ".gnu.lto" in output_of("readelf", "-SW", *others)


def test_a_program_lends_its_copies_to_the_libraries_that_it_loads(replaced):
    assert exported(replaced / "dynamic").keys() >= NAMES | CHECKED
    loads = (replaced / "dynamic", "dlopen", replaced / "libplugin.so")
    done = run(*loads, env={"LD_DEBUG": "bindings"})
    assert done.returncode == 0
    to = re.findall(r"binding file \S*libplugin.so \[0\] to (\S+) .*`memcpy'", done.stderr)
    assert to == [str(replaced / "dynamic")]


def test_a_shared_library_keeps_its_copies_to_itself(replaced):
    assert exported(replaced / "libreplacing.so").keys() == {"own_is_tuned", "copy_of_library"}
    assert output_of(replaced / "user") == "right 1 0\n"
    assert not NAMES & set(symbols(replaced / "user"))


def test_a_static_library_brings_its_routines_along(replaced):
    assert output_of(replaced / "archive-user") == "right 0 0\n"
    defined = set(symbols(replaced / "libarchive.a"))
    assert {"asterope_memcpy", "mt_memcpy", "mt_memcpy_mt"} <= defined
    assert not NAMES & defined


def test_without_a_profile_the_user_s_own_is_taken(replaced, tmp_path):
    routine = replaced / "asterope" / "archive" / "asterope_memcpy.c"
    profile = replaced.parent / "asterope" / "profile.json"
    assert routine.read_text() == render(profile, tmp_path).read_text()


@pytest.fixture(scope="module")
def routine(tmp_path_factory) -> Path:
    return render(INTERVALS, tmp_path_factory.mktemp("routine"), memset=SETS)


def replacing_object(compiler: str, routine: Path, *flags: str) -> Path:
    need(compiler)
    target = routine.with_name("replace_libc.o")
    source = REPOSITORY / "templates" / "replace_libc.c"
    output_of(compiler, *flags, f"-I{routine.parent}", "-c", source, "-o", target)
    return target


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_nothing_in_libc_s_place_calls_what_it_stands_for(routine, compiler, level):
    """Not even without -fno-builtin: a call of memcpy in here would never end."""
    need("objdump")
    target = replacing_object(compiler, routine, "-std=c99", "-pedantic", level, *HARDENED)
    assert set(symbols(target)) >= NAMES | CHECKED
    assert X86_64.wanted(target) <= {"__chk_fail", "_GLOBAL_OFFSET_TABLE_"}
    code = output_of("objdump", "-dr", target)
    assert "__chk_fail" in code  # it shows what is called
    assert not re.search(r"R_X86_64_\w+\s+_*mem", code)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_sanitizers_keep_their_own_memcpy(routine, compiler, sanitizer):
    defined = set(symbols(replacing_object(compiler, routine, f"-fsanitize={sanitizer}")))
    assert "asterope_memcpy" in defined
    assert not (NAMES | CHECKED) & defined


def test_a_static_program_of_musl_has_the_tuned_functions_too(routine, tmp_path):
    target = replacing_object("musl-gcc", routine, "-O2", *WARNINGS)
    source, program = CHECKERS / "replace_libc" / "overlap.c", tmp_path / "overlap"
    output_of("musl-gcc", "-O2", "-static", source, target, "-o", program)
    assert output_of(program) == "right\n"
    defined = symbols(program)
    assert defined["memcpy"] == defined["asterope_memmove"]
    assert defined["memset"] == defined["asterope_memset"]
    assert not CHECKED & set(defined)
