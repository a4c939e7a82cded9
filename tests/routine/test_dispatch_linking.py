"""A file of several profiles chooses before it is used, however it is linked and loaded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from architectures import AARCH64, X86_64, Architecture, each
from copy_programs import exported, need, output_of, run
from dispatch_machines import (
    ALL,
    ASKED,
    FLAVOURS,
    MACHINES,
    build_which,
    render_machines,
    symbol,
    which,
    with_profile,
)


def need_asked(arch: Architecture) -> None:
    """Skips where the first CPU cannot run what tests ask for."""
    arch.cpu_for(*(FLAVOURS[MACHINES[arch.name][n][-1]].winner for n in ASKED[arch.name]))


# --- However it is compiled, linked and loaded ----------------------------------------------------


# Flags of gcc, then what else there is, with the compiler.
FLAGS = {
    **{"gcc -O0": "-O0", "gcc -O3": "-O3", "gcc LTO": "-O3 -flto"},
    "no position independence": "-O2 -no-pie -fno-pie",
    "static PIE": "-O2 -static-pie -fPIE -fstack-protector-all",
    "no indirect functions": "-O2 -DASTEROPE_NO_IFUNC",
}
OTHER_WAYS = {
    "x86_64": {
        **{"clang -O0": "clang -O0", "clang -O3": "clang -O3"},
        "bound at the start": "gcc -O2 -Wl,-z,now",
        "static": "gcc -O2 -static",
        "clang LTO": "clang -O3 -flto -fuse-ld=lld",
        "gcc sanitizers": "gcc -O1 -fsanitize=address,undefined",
        "clang sanitizer": "clang -O1 -fsanitize=address",
        "thread sanitizer": "gcc -O1 -fsanitize=thread",
        "coverage": "gcc -O0 --coverage",
        "profile": "clang -O2 -fprofile-instr-generate",
        "gprof": "gcc -O0 -pg",
        "branches protected": "gcc -O2 -fcf-protection=full",
        "calls traced": "gcc -O0 -finstrument-functions -fstack-protector-all",
        "far code": "gcc -O2 -mcmodel=large",
        **{"musl": "musl-gcc -O2", "musl, static": "musl-gcc -O2 -static"},
        "gold": "gcc -O2 -fuse-ld=gold",
    },
    "aarch64": {
        "branches protected": f"{AARCH64.gcc[0]} -O2 -mbranch-protection=standard",
        "gcc sanitizers": f"{AARCH64.gcc[0]} -O1 -fsanitize=undefined",
    },
}


def ways_of(arch: Architecture) -> dict[str, tuple[str, ...]]:
    """Commands and flags."""
    ways = {name: f"{arch.gcc[0]} {flags}" for name, flags in FLAGS.items()}
    return {name: tuple(way.split()) for name, way in {**ways, **OTHER_WAYS[arch.name]}.items()}


def build_chosen(folder: Path, routine: Path, *compiler: object) -> Path:
    more = (f"-I{routine.parent}", routine, "-Wl,--no-as-needed", *compiler[1:])
    return X86_64.program(folder, "chosen_check", *more, compiler=compiler[:1])


@each(ways_of, one_in=4)
def test_it_chooses_before_the_first_constructor_however_linked(tmp_path, arch, case):
    need_asked(arch)
    arch.need_way(tmp_path, *case)
    program = build_chosen(tmp_path, render_machines(arch, tmp_path / "several"), *case)
    for ask in ASKED[arch.name]:
        out = output_of(*arch.on(), program, cwd=tmp_path, env=with_profile(ask))
        assert out == f"{ask} {ask}\n"


# --- Libraries of x86-64 --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def routine(tmp_path_factory) -> Path:
    return render_machines(X86_64, tmp_path_factory.mktemp("several"))


@pytest.fixture(scope="module")
def avx2() -> None:
    """Skips where this CPU cannot be told to take the profiles that need no more than AVX2."""
    if not X86_64.is_native:
        pytest.skip("needs libraries of x86-64")
    need_asked(X86_64)


@pytest.fixture(scope="module")
def unasked(avx2, routine) -> str:
    """What this machine takes by itself."""
    return which(build_which(routine, "-O2"))


@pytest.fixture(scope="module", params=["ifunc", "variable"])
def library(request, avx2, routine, tmp_path_factory) -> Path:
    """The file as a library, with indirect functions and without."""
    target = tmp_path_factory.mktemp("library") / "library.so"
    flags = ["-DASTEROPE_NO_IFUNC"] * (request.param == "variable")
    output_of("gcc", "-O2", "-fPIC", "-shared", *flags, routine, "-o", target)
    return target


def test_a_library_shows_the_functions_and_what_was_chosen_only(library):
    # Not indirect to others: they would be asked before this library is relocated.
    assert exported(library) == {f"asterope_{name}": "T" for name in (*ALL, "profile")}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_what_decides_needs_no_relocation(tmp_path, avx2, routine, compiler, level):
    """All but tables that are used later: the loader may ask before it has relocated this file."""
    need("objdump", compiler)
    library = tmp_path / "library.so"
    output_of(compiler, level, "-fPIC", "-shared", "-nostdlib", routine, "-o", library)
    kinds = set(re.findall(r"R_X86_64_\w+", output_of("objdump", "-R", library)))
    # Relative: the constructor's own, and the description that it sets.
    assert kinds <= {"R_X86_64_IRELATIVE", "R_X86_64_RELATIVE"}
    code = output_of("objdump", "-d", "--no-show-raw-insn", library)
    early = r"asterope_(?:\w+_choose|choose|asked_for|nearest|cpu_has|cpuid|name|secure)"
    bodies = re.findall(rf"^[0-9a-f]+ <{early}>:\n((?:.+\n)+)", code, re.MULTILINE)
    assert len(bodies) >= 4
    assert not re.search(r"@plt|jmp +\*|call +\*|%fs:", "".join(bodies))


def test_a_library_that_is_opened_goes_by_the_environment_of_the_start(
    tmp_path, library, unasked, avx2
):
    opener = X86_64.program(tmp_path, "chosen_check", "-DOPENS", "-ldl")
    for at_start, set_later, expected in (
        *(("rome", [], "rome"), ("any.sse2", ["haswell"], "any_sse2")),
        (None, ["any.sse2"], unasked),
    ):
        found = output_of(opener, library, *set_later, env=with_profile(at_start)).split()
        assert [symbol(name) for name in found] == [expected] * 2


@pytest.mark.parametrize("bound", [{}, {"LD_BIND_NOW": "1"}], ids=["lazily", "now"])
@pytest.mark.parametrize("flags", [[], ["-DASTEROPE_NO_IFUNC"]], ids=["ifunc", "variable"])
def test_a_program_and_a_library_may_each_have_a_file_of_their_own(
    tmp_path, routine, avx2, flags, bound
):
    """As exported indirect functions they would end the program at its start."""
    library, uses = tmp_path / "uses.so", tmp_path / "uses.c"
    uses.write_text(
        '#include "asterope_memcpy.h"\n'
        "void *(*uses_memcpy)(void *, const void *, size_t) = asterope_memcpy;\n",
        encoding="ascii",
    )
    includes = f"-I{routine.parent}"
    output_of("gcc", "-fPIC", "-shared", *flags, includes, uses, routine, "-o", library)
    program = build_chosen(tmp_path, routine, "gcc", library)
    done = run(program, env={**with_profile("rome"), **bound})
    assert (done.returncode, done.stdout, done.stderr) == (0, "rome rome\n", "")
