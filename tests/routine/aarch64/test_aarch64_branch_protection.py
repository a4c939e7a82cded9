"""Protected branches: a program whose other parts are all protected stays so with the routine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from architectures import AARCH64
from asterope.spaces.aarch64.pipelines import Tuple
from asterope.spaces.probes import PROBES, SensingCopy
from copy_programs import STRICT_C, Aliased, Memset, need, output_of, render, run

pytestmark = AARCH64.marks(slow=True)

PROTECTED = "-mbranch-protection=standard"
SVE = Tuple("SVE", "T", "T", "L1KEEP", 2, 4)
READELF, OBJDUMP = "aarch64-linux-gnu-readelf", "aarch64-linux-gnu-objdump"


@pytest.fixture(scope="module")
def routine(tmp_path_factory) -> Path:
    """One with every kind of function: each may be jumped to by a pointer or by another one."""
    probe = SensingCopy(PROBES[0], 10, SVE, AARCH64.plain, None)
    return render(
        [(4096, AARCH64.plain), (1 << 16, SVE), (1 << 20, AARCH64.plain)],
        tmp_path_factory.mktemp("protected"),
        aliased=Aliased(600, 4096, AARCH64.moves[0]),
        sensing={1 << 16: probe},
        intents={"hot": [(1 << 20, SVE)]},
        memset=Memset(
            [(1 << 20, AARCH64.set_pipelines.Tuple("SVE", "NT"))], AARCH64.small_set["sve Q up 256"]
        ),
    )


def object_of(routine: Path, folder: Path, compiler: tuple[str, ...], *flags: str) -> Path:
    need(compiler[0])
    target = folder / "routine.o"
    output_of(*compiler, *STRICT_C, "-O2", *flags, "-c", routine, "-o", target)
    return target


COMPILERS = pytest.mark.parametrize("compiler", [AARCH64.gcc, AARCH64.clang], ids=lambda c: c[0])


@COMPILERS
def test_the_object_says_that_it_is_protected_and_only_where_it_was_asked_for(
    tmp_path, routine, compiler
):
    notes = output_of(READELF, "-n", object_of(routine, tmp_path, compiler, PROTECTED))
    assert re.search(r"AArch64 feature: BTI, PAC", notes)
    plain = output_of(READELF, "-n", object_of(routine, tmp_path, compiler))
    assert "BTI" not in plain


@COMPILERS
def test_every_function_that_may_be_jumped_to_begins_with_a_landing_pad(
    tmp_path, routine, compiler
):
    target = object_of(routine, tmp_path, compiler, PROTECTED)
    listing = output_of(OBJDUMP, "-d", "--no-show-raw-insn", target)
    firsts = dict(re.findall(r"^[0-9a-f]+ <(\w+)>:\n +[0-9a-f]+:\t(.*)$", listing, re.M))
    symbols = output_of("aarch64-linux-gnu-nm", target)
    functions = set(re.findall(r"^\w+ T (asterope_\w+)$", symbols, re.M))
    # These, and what is local, are jumped to by name alone.
    functions -= {name for name in functions if name.endswith("_inner")}
    assert {"asterope_memcpy", "asterope_memset", "asterope_untuned", "asterope_set_untuned"} <= (
        functions
    )
    assert functions >= {"asterope_sense_1", "asterope_memcpy_hot"}
    for name in functions:
        # what compilers make is signed, which is a landing pad as well
        assert re.match(r"bti\tc|paciasp", firsts[name]), f"{name}: {firsts[name]}"


def test_no_branch_leaves_through_a_register_that_would_need_another_pad(tmp_path, routine):
    """`br` to a function needs x16 or x17, unless that has a pad for jumps."""
    target = object_of(routine, tmp_path, AARCH64.gcc)
    listing = output_of(OBJDUMP, "-d", "--no-show-raw-insn", target)
    assert set(re.findall(r"\tbl?r\t(\w+)", listing)) <= {"x16", "x17"}


@COMPILERS
def test_the_linker_finds_nothing_unprotected(tmp_path, routine, compiler):
    target = object_of(routine, tmp_path, compiler, PROTECTED)
    done = run(
        *(*AARCH64.gcc, "-shared", "-nostdlib", "-Wl,-z,force-bti", "-Wl,--fatal-warnings", target),
        *("-o", tmp_path / "library.so"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "BTI" in output_of(READELF, "-n", tmp_path / "library.so")


def test_the_linker_would_say_what_is_unprotected(tmp_path, routine):
    target = object_of(routine, tmp_path, AARCH64.gcc)
    done = run(
        *(*AARCH64.gcc, "-shared", "-nostdlib", "-Wl,-z,force-bti", target, "-o", tmp_path / "l.so")
    )
    assert "BTI" in done.stderr
