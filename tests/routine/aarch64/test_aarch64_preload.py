"""The routine of AArch64 under libc's names: put under programs, and linked into them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from aarch64_programs import (
    CLANG,
    COMPILER,
    LIBRARIES,
    PLAIN,
    SET,
    SMALL_COPIES,
    SMALL_SETS,
    WITH_SVE,
    WITHOUT_SVE,
    emulated,
    needs_emulator_and_time,
)
from asterope.spaces.aarch64.pipelines import Tuple
from copy_programs import CHECKERS, REPOSITORY, Memset, need, output_of, render, run

pytestmark = needs_emulator_and_time

COPIES = ("memcpy", "memmove", "mempcpy")
NAMES = {
    *(*COPIES, "__mempcpy", "memset", "bzero"),
    *(f"__{name}_chk" for name in (*COPIES, "memset")),
}
SITUATIONS = ("copies", "early", "signals", "fork", "threads")
NM, READELF = "aarch64-linux-gnu-nm", "aarch64-linux-gnu-readelf"
C = ("-std=gnu99", "-O2", "-Wall", "-Wextra", "-fno-builtin")

# Where the CPU lacks what the profile needs, the same tests run on the portable path.
CPUS = pytest.mark.parametrize("cpu", [WITH_SVE, WITHOUT_SVE])


@pytest.fixture(scope="module")
def routine(tmp_path_factory) -> Path:
    sve = Tuple("SVE", "T", "T", "L1KEEP", 2, 4)
    return render(
        [(4096, sve), (1 << 16, PLAIN), (1 << 20, Tuple("X", "T", "NT", "none", 0, 0))],
        tmp_path_factory.mktemp("routine"),
        SMALL_COPIES["sve Q up 256"],
        memset=Memset(
            [(4096, SET("SVE", "T")), (1 << 20, SET("Q", "NT"))], SMALL_SETS["sve Q up 256"]
        ),
    )


def preload(routine: Path, target: Path, *compiler: object) -> Path:
    """The library for LD_PRELOAD; what clang has compiled the other compiler links."""
    flags = ("-fPIC", "-fno-builtin", f'-DASTEROPE_ROUTINE="{routine}"')
    source = REPOSITORY / "templates" / "preload.c"
    compiled = target.with_suffix(".o")
    command = compiler or (COMPILER, "-O2")
    output_of(*command, *flags, "-Wall", "-Wextra", "-Werror", "-c", source, "-o", compiled)
    lto = [flag for flag in command if "-flto" in str(flag)]
    output_of(COMPILER, *lto, "-O2", "-shared", compiled, "-o", target)
    return target


@pytest.fixture(scope="module")
def library(routine, tmp_path_factory) -> Path:
    return preload(routine, tmp_path_factory.mktemp("library") / "libasterope_preload.so")


@pytest.fixture(scope="module")
def check(tmp_path_factory) -> Path:
    """preload_check, and beside it the library that it loads."""
    folder = tmp_path_factory.mktemp("check")
    source, plugin = CHECKERS / "preload_check.c", folder / "plugin.so"
    output_of(COMPILER, *C, "-shared", "-fPIC", "-DPLUGIN", source, "-o", plugin)
    output_of(COMPILER, *C, source, "-o", folder / "preload_check", "-pthread", "-ldl")
    return folder / "preload_check"


def under(library: Path | None, cpu: str = WITH_SVE, **more: str) -> tuple[object, ...]:
    """An emulator of a program that has the library under it, or none."""
    variables = {**({"LD_PRELOAD": library} if library else {}), **more}
    return emulated(cpu, *(word for k, v in variables.items() for word in ("-E", f"{k}={v}")))


def exported(library: Path) -> set[str]:
    listing = output_of(NM, "-D", "--defined-only", library)
    return {line.split()[-1].split("@")[0] for line in listing.splitlines()}


# --- Under programs -------------------------------------------------------------------------------


def test_it_exports_the_names_of_libc_and_no_other(library):
    assert exported(library) == NAMES


def test_it_needs_nothing_of_libc_that_could_copy(library):
    wanted = output_of(NM, "-D", "--undefined-only", library)
    names = {line.split()[-1].split("@")[0] for line in wanted.splitlines()}
    of_compilers = {"__cxa_finalize", "__gmon_start__"}
    of_compilers |= {"_ITM_registerTMCloneTable", "_ITM_deregisterTMCloneTable"}
    needed = {"__chk_fail", "getauxval", "getenv", "strcmp", "strlen", "write"}
    assert names - of_compilers <= needed


def test_nothing_it_exports_goes_through_the_linker_s_tables(library):
    relocations = output_of(READELF, "-rW", library)
    assert "R_AARCH64_RELATIVE" in relocations  # it is a listing
    for line in relocations.splitlines():
        assert not re.search(r"\b(__)?(asterope_)?mem\w*", line), line


@CPUS
def test_it_is_right_before_it_is_even_relocated(check, library, cpu):
    found = output_of(*emulated(cpu), check, "unrelocated", library)
    assert found == f"{len(NAMES)} functions\n"


def test_libc_s_names_lead_to_it(check, library):
    """Those of programs that were linked with an old glibc as well."""
    old = "memcpy@GLIBC_2.17"
    lines = output_of(*under(library), check, "origins").splitlines()
    origins = dict(line.split(maxsplit=1) for line in lines)
    assert origins == {name: str(library) for name in (*NAMES, old)}
    assert str(library) not in output_of(*under(None), check, "origins")


@CPUS
@pytest.mark.parametrize("situation", [*SITUATIONS, "dlopen"])
def test_copies_and_sets_are_right(check, library, situation, cpu):
    output_of(*under(library, cpu), check, situation, check.with_name("plugin.so"))


def test_it_says_in_one_line_that_it_is_in_use(check, library):
    done = run(*under(library, ASTEROPE_VERBOSE="1"), check, "copies")
    said = "asterope: memcpy, memmove, mempcpy, memset and bzero are generated by asterope "
    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(rf"{said}[0-9.]+\n", done.stderr)
    assert run(*under(library), check, "copies").stderr == ""


@pytest.mark.parametrize("name", [*COPIES, "memset"])
def test_checked_copies_beyond_the_buffer_end_the_program(tmp_path, library, name):
    program = tmp_path / "fortified"
    flags = ("-std=gnu99", "-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-w")
    source = CHECKERS / "preload_check.c"
    output_of(COMPILER, *flags, source, "-o", program, "-pthread", "-ldl")
    text = "0" * 16 if name == "memset" else "0123456789abcdef"
    assert output_of(*under(library), program, name, 16) == f"{text}\n"
    done = run(*under(library), program, name, 17)
    assert done.returncode != 0
    assert "buffer overflow detected" in done.stderr


HARDENED = {
    "gcc -O0": (COMPILER, "-O0"),
    "gcc -flto": (COMPILER, "-O2", "-flto"),
    "gcc, fortified": (COMPILER, "-O2", "-D_FORTIFY_SOURCE=2", "-fstack-protector-strong"),
    "gcc, protected branches": (COMPILER, "-O2", "-mbranch-protection=standard"),
    "clang": (*CLANG, "-O2"),
    "clang, fortified": (*CLANG, "-O2", "-D_FORTIFY_SOURCE=2", "-fstack-protector-strong"),
}


@pytest.mark.parametrize("compiler", HARDENED.values(), ids=HARDENED)
def test_other_compilers_and_flags_leave_it_whole(tmp_path, routine, check, compiler):
    need(compiler[0])
    library = preload(routine, tmp_path / "library.so", *compiler)
    assert exported(library) == NAMES
    output_of(*under(library), check, "copies")


# --- Linked into them -----------------------------------------------------------------------------


LINKED = {
    "to run": (),
    "statically": ("-static",),
    "statically, anywhere": ("-static-pie", "-fPIE"),
    "with link-time optimization": ("-flto",),
}


@pytest.mark.parametrize("flags", LINKED.values(), ids=LINKED)
def test_a_program_may_have_it_in_libc_s_place(tmp_path, routine, flags):
    replacement, program = tmp_path / "replace_libc.o", tmp_path / "program"
    own = ("-O2", "-fno-builtin", *flags, f'-DASTEROPE_ROUTINE="{routine}"')
    source = REPOSITORY / "templates" / "replace_libc.c"
    output_of(COMPILER, *own, "-c", source, "-o", replacement)
    checker = CHECKERS / "preload_check.c"
    output_of(COMPILER, *C, *flags, "-DSTATIC", checker, replacement, "-o", program, "-pthread")
    symbols = output_of(NM, program)
    at = {name: address for address, name in re.findall(r"^(\w+) \w (\w+)$", symbols, re.MULTILINE)}
    assert at["memcpy"] == at["memmove"] == at["asterope_memmove"]
    assert at["mempcpy"] == at["asterope_mempcpy"]
    assert at["memset"] == at["asterope_memset"]
    for cpu in (WITH_SVE, WITHOUT_SVE):
        for situation in SITUATIONS:
            output_of(*emulated(cpu), program, situation)


def test_the_libraries_are_those_of_the_architecture():
    """Else the tests above would have run nothing."""
    assert (LIBRARIES / "lib" / "ld-linux-aarch64.so.1").exists()
