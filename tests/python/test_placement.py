"""The command asterope-placement: its conclusions from timings, its builds, its errors."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from asterope.faults import Failure
from asterope.placement import command, segments
from command_errors import exit_code_of, only_line_of, script
from copy_programs import need, render
from profile_samples import good_profile

BUILDS = [f"{c} {level}" for c in segments.COMPILERS for level in segments.LEVELS]

# For a loop and a build: the heap's time over the static time, and the beginning of the verdict.
TRUTHS = {
    ("copy", "gcc -O0", 1.3): "at -O0 in 1 of 14 cells (1.30: copy, gcc -O0); from -O1",
    ("product", "clang -O2", 0.9): "at -O0 in 0 of 14 cells; from -O1 on in 1 of 42 cells (0.90: ",
    ("routine", "gcc -O3", 1.005): "at -O0 in 0 of 14 cells; from -O1 on in 0 of 42 cells.",
}


@pytest.mark.parametrize(("slow", "expected"), TRUTHS.items())
def test_a_loop_that_the_heap_makes_slower_is_found(slow: tuple, expected: str) -> None:
    (loop, build, factor), noise = slow, random.Random(3)
    cells = list(itertools.product(BUILDS, ("static", "again", "heap"), segments.LOOPS))
    rounds = [{cell: 100 * noise.gauss(1, 0.001) for cell in cells} for _ in range(15)]
    for one in rounds:
        one[build, segments.HEAP, loop] *= factor
    text = segments.words(segments.analyse(rounds))
    assert expected in text.splitlines()[-1]
    assert text.count(" *\n") == (abs(factor - 1) > 0.01)


@pytest.fixture(scope="module")
def routine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("routine")
    profile = folder / "profile.json"
    profile.write_text(json.dumps(good_profile()))
    return render(profile, folder)


def test_all_loops_are_built_and_timed(routine: Path, capsys) -> None:
    allowed = os.sched_getaffinity(0)
    assert exit_code_of(command.main, routine, "--rounds", "1") == 0
    assert os.sched_getaffinity(0) == allowed
    text = capsys.readouterr().out
    compilers = [name for name in segments.COMPILERS if shutil.which(name)]
    for compiler, level, loop in itertools.product(compilers, segments.LEVELS, segments.LOOPS):
        assert f"\n{loop:<11}{compiler} {level}" in text


OFFSETS = """
#define main unused
#include "segments.c"
#undef main
#include <stddef.h>
void *asterope_memcpy(void *to, const void *from, size_t bytes) { return memcpy(to, from, bytes); }
int main(void) {
    printf("%zu", sizeof(struct arrays));
#define TELL(name) printf(" " #name " %zu", offsetof(struct arrays, name))
    TELL(source); TELL(target); TELL(bytes); TELL(byte_copy);
    TELL(left); TELL(right); TELL(product);
    return 0;
}
"""


@pytest.mark.parametrize("options", [[], ["-DHEAP"]], ids=["static", "heap"])
def test_the_arrays_of_a_loop_do_not_alias(options, tmp_path: Path) -> None:
    need("gcc")
    (tmp_path / "offsets.c").write_text(OFFSETS)
    folder = Path(segments.__file__).parent
    program = tmp_path / "offsets"
    subprocess.run(
        ["gcc", "-std=gnu11", *options, f"-I{folder}", tmp_path / "offsets.c", "-o", program],
        check=True,
    )
    size, *words = subprocess.check_output([program], text=True).split()
    at = {name: int(offset) for name, offset in zip(words[::2], words[1::2])}
    assert int(size) <= 32768
    for loop in (("source", "target"), ("bytes", "byte_copy"), ("left", "right", "product")):
        for one, other in itertools.combinations(loop, 2):
            apart = (at[one] - at[other]) % 4096
            assert 64 <= apart <= 4096 - 64, (one, other)


MEMCPY = "#include <stddef.h>\nvoid *asterope_memcpy(void *to, const void *from, size_t n)\n"
WRONG = MEMCPY + "{ *(char *)to = *(const char *)from + (n == 1); return to; }"
CRASH = MEMCPY + "{ (void)to; (void)from; (void)n; __builtin_trap(); }"


NO_ROUTINES = {
    "no C": ("int x = ;", "error", 2),
    "no such function": ("int x;", "asterope_memcpy", 2),
    "wrong": (WRONG, "the routine copies 2000 bytes wrongly", 1),
    "crash": (CRASH, "end with -4", 1),
}


@pytest.mark.parametrize(("text", "expected", "code"), NO_ROUTINES.values(), ids=NO_ROUTINES)
def test_what_is_no_routine_gets_one_line(
    text, expected, code, tmp_path: Path, capsys, monkeypatch
) -> None:
    """One build tells as much as all."""
    need("gcc")
    monkeypatch.setattr(segments, "LEVELS", segments.LEVELS[:1])
    monkeypatch.setattr(segments, "COMPILERS", segments.COMPILERS[:1])
    other = tmp_path / "other.c"
    other.write_text(text + "\n")
    assert exit_code_of(command.main, other, "--rounds", "1") == code
    assert expected in only_line_of("asterope-placement", capsys)


def test_a_program_that_does_not_end_gets_one_line(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(segments, "MOST_SECONDS", 0.1)
    endless = script(tmp_path / "endless", "#!/bin/sh\nexec sleep 60\n")
    with pytest.raises(Failure, match=r"^the loops of gcc -O0: longer than 0\.1 s$"):
        segments.time_all({("gcc -O0", "static"): endless}, 1, random.Random(1))


@pytest.mark.parametrize("arguments", ["{} --rounds 0", "{} --cpu x", "{} --cpu 65535", "absent.c"])
def test_bad_arguments_get_one_line(arguments: str, routine: Path, capsys) -> None:
    assert exit_code_of(command.main, *arguments.format(routine).split()) == 2
    only_line_of("asterope-placement", capsys)
