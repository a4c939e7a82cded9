"""Programs of AArch64, cross compiled, and CPUs that an emulator runs them on."""

from __future__ import annotations

import functools
import platform
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from asterope.spaces.aarch64 import (
    overlapping_copies,
    pipelines,
    set_pipelines,
    small_copies,
    small_sets,
)
from asterope.spaces.aarch64.pipelines import Tuple
from copy_programs import CHECKERS, STRICT_C, output_of

COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64"
LIBRARIES = Path("/usr/aarch64-linux-gnu")

# It finds neither headers nor libraries by itself; what it compiles the other compiler links.
CLANG, CLANGXX = (
    (name, "--target=aarch64-linux-gnu", f"-isystem{LIBRARIES / 'include'}")
    for name in ("clang", "clang++")
)

# For the head of each test file.
needs_emulator = pytest.mark.skipif(
    not (shutil.which(COMPILER) and shutil.which(EMULATOR)),
    reason=f"{COMPILER} and {EMULATOR} are not both installed",
)
# For those that daily work elsewhere does without: what it breaks of AArch64, the tests of the
# candidates see first.
needs_emulator_and_time = [needs_emulator]
if platform.machine() != "aarch64":
    needs_emulator_and_time.append(pytest.mark.slow)

# As the emulator calls them. Vectors of 16, 64 and 256 bytes; without SVE, and dc zva clears 64
# bytes, which it does on none of the others.
SHORT_VECTORS, LONG_VECTORS = (f"max,sve-default-vector-length={n}" for n in (16, 256))
WITH_SVE, WITHOUT_SVE = "max", "cortex-a57"
CPUS = (WITH_SVE, WITHOUT_SVE, SHORT_VECTORS, LONG_VECTORS)

_FEATURES = """\
#include <stdio.h>
#include "candidate_needs.h"
int main(void) {
    const char *const names[] = {"sve", "mops", "zva64"};
    for (int i = 0; i < 3; ++i) if (cpu_has(names[i])) puts(names[i]);
    (void)emulate_what_is_missing; (void)emulation; (void)masks; (void)may_overlap;
    return 0;
}
"""


def emulated(cpu: str = WITH_SVE, *options: object) -> tuple[object, ...]:
    """The beginning of a command that runs a program on that CPU."""
    return (EMULATOR, "-L", LIBRARIES, "-cpu", cpu, *options)


@functools.cache
def features_of(cpu: str) -> frozenset[str]:
    """What that CPU has of what copies may need, as a program that runs on it says."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "features.c"), Path(folder, "features")
        source.write_text(_FEATURES, encoding="ascii")
        output_of(COMPILER, f"-I{CHECKERS / 'aarch64'}", "-static", source, "-o", program)
        return frozenset(output_of(*emulated(cpu), program).split())


def need_features(cpu: str, *needs: str) -> None:
    """Skips where the emulated CPU lacks one of them."""
    lacking = sorted({*needs} - features_of(cpu))
    if lacking:
        pytest.skip(f"{EMULATOR} -cpu {cpu} lacks {', '.join(lacking)}")


def cross_compiled(folder: Path, name: str, *flags: object) -> Path:
    """The object file of a check program, made once in `folder`."""
    target = folder / f"{name}.o"
    if not target.exists():
        paths = (f"-I{CHECKERS}", f"-I{CHECKERS.parents[1] / 'tuner'}")
        source = CHECKERS / f"{name}.c"
        output_of(COMPILER, *STRICT_C, "-O2", *paths, *flags, "-c", source, "-o", target)
    return target


# --- Copies and sets of each kind -----------------------------------------------------------------

SET = set_pipelines.Tuple
PLAIN = pipelines.PLAIN
PLAIN_MOVE = overlapping_copies.PLAIN
SMALL_COPIES = {small.name: small for small in small_copies.small_tuples()}
SMALL_SETS = {small.name: small for small in small_sets.small_sets()}

KINDS = [
    (rt, lt, st)
    for rt in pipelines.VALUES["rt"]
    for lt in pipelines.VALUES["lt"]
    for st in pipelines.VALUES["st"]
    if pipelines.why_not(rt, lt, st, "none", 0, 0) is None
]


def one_of(rt: str, lt: str, st: str, number: int) -> Tuple:
    """A tuple of that kind that prefetches, where it can, the `number`-th way."""
    types, sizes = pipelines.VALUES["pt"][1:], pipelines.VALUES["ps"][1:]
    pt, ps = types[number % len(types)], sizes[number % len(sizes)]
    if pipelines.why_not(rt, lt, st, pt, ps, 0) is not None:
        return Tuple(rt, lt, st, "none", 0, 0)
    return Tuple(rt, lt, st, pt, ps, pipelines.VALUES["pd"][number * 5 % 16])


def _with_marks(rt: str, st: str, number: int) -> set_pipelines.Tuple:
    """A set of that kind with other marks than its neighbours, where it has any."""
    tb, pw = (2, 1, 4, 8)[number % 4], (0, 8)[number % 2]
    for marks in ({"tb": tb, "pw": pw}, {"tb": tb}, {}):
        if set_pipelines.why_not(rt, st, **marks) is None:
            return SET(rt, st, **marks)
    raise AssertionError(f"{rt} {st} is no set")


SET_KINDS = [
    _with_marks(v.rt, v.st, number)
    for number, v in enumerate(v for v in set_pipelines.variants() if not v.is_marked)
]


def needs_of(*copies: object) -> set[str]:
    """The CPU features that any of them needs."""
    return {feature for copy in copies for feature in copy.needs}


def runnable(copies: Sequence[object], cpu: str) -> list[object]:
    """Those that the emulated CPU has all features for."""
    return [copy for copy in copies if needs_of(copy) <= features_of(cpu)]
