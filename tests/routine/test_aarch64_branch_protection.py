"""Protected branches: a program whose other parts are all protected stays so with the routine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from architectures import AARCH64
from asterope.spaces.probes import PROBES, SensingCopy
from copy_programs import STRICT_C, need, output_of, render, run
from disassembly import disassemble
from routine_examples import everything

pytestmark = AARCH64.marks(slow=True)

PROTECTED = "-mbranch-protection=standard"


@pytest.fixture(scope="module")
def routine(tmp_path_factory) -> Path:
    """One with every kind of function: each may be jumped to by a pointer or by another one."""
    probe = SensingCopy(PROBES[0], 10, AARCH64.plain, AARCH64.plain, None)
    folder = tmp_path_factory.mktemp("protected")
    return render(folder=folder, **everything(AARCH64), sensing={16384: probe})


@pytest.fixture(scope="module", params=[AARCH64.gcc, AARCH64.clang], ids=lambda c: c[0])
def objects(request, routine) -> tuple[Path, Path]:
    """Protected, and not."""
    need(request.param[0])
    targets = routine.with_name("protected.o"), routine.with_name("plain.o")
    for target, flags in zip(targets, ((PROTECTED,), ())):
        output_of(*request.param, *STRICT_C, "-O2", *flags, "-c", routine, "-o", target)
    return targets


def test_every_function_that_may_be_jumped_to_begins_with_a_landing_pad(objects):
    code = disassemble(objects[0], AARCH64)
    symbols = output_of(AARCH64.nm, objects[0])
    functions = set(re.findall(r"^\w+ T (asterope_\w+)$", symbols, re.M))
    # These, and what is local, are jumped to by name alone.
    functions -= {name for name in functions if name.endswith("_inner")}
    assert {"asterope_memcpy", "asterope_memset", "asterope_untuned", "asterope_set_untuned"} <= (
        functions
    )
    assert functions >= {"asterope_sense_1", "asterope_memcpy_hot"}
    for name in functions:
        # what compilers make is signed, which is a landing pad as well
        assert code[name].instructions[0] in ("bti c", "paciasp"), name


def test_no_branch_leaves_through_a_register_that_would_need_another_pad(objects):
    """`br` to a function needs x16 or x17, unless that has a pad for jumps."""
    for name, function in disassemble(objects[1], AARCH64).items():
        for instruction in function.instructions:
            assert not re.match(r"bl?r (?!x1[67]$)", instruction), f"{name}: {instruction}"


LINKED = (*AARCH64.gcc, "-shared", "-nostdlib", "-Wl,-z,force-bti")


def test_the_linker_finds_nothing_unprotected(objects, tmp_path):
    library = tmp_path / "library.so"
    done = run(*LINKED, "-Wl,--fatal-warnings", objects[0], "-o", library)
    assert (done.returncode, done.stderr) == (0, "")
    assert "BTI" in output_of(AARCH64.readelf, "-n", library)


def test_the_linker_would_say_what_is_unprotected(objects, tmp_path):
    assert "BTI" in run(*LINKED, objects[1], "-o", tmp_path / "library.so").stderr
