"""Protected branches: a program whose other parts are all protected stays so with the routine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from architectures import AARCH64, WITH_SVE
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


# Jumps to functions on pages that the emulator guards: one without a landing pad dies of SIGILL.
GUARDED = r"""
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "asterope_memcpy.h"

static char from[70000], to[70000];

/* A function without a landing pad. */
void unguarded(void);
__asm__(".text\n.p2align 12\n.globl unguarded\n.type unguarded, %function\nunguarded: ret\n"
        ".p2align 12\n");

static void guard(void* code) {
    const uintptr_t page = (uintptr_t)code / 4096 * 4096;
    if (mprotect((void*)page, 4096, PROT_READ | PROT_EXEC | 0x10 /* PROT_BTI */) != 0) {
        puts("no guarded pages");
        _Exit(3);
    }
}

int main(int argc, char** argv) {
    void* (*volatile copy)(void*, const void*, size_t) = asterope_memcpy;
    void* (*volatile move)(void*, const void*, size_t) = asterope_memmove;
    void* (*volatile copy_to_end)(void*, const void*, size_t) = asterope_mempcpy;
    void* (*volatile set)(void*, int, size_t) = asterope_memset;
    void (*volatile jump)(void) = unguarded;
    for (size_t i = 0; i < sizeof from; ++i) from[i] = (char)(i * 7);
    guard((void*)(uintptr_t)asterope_memcpy);
    guard((void*)(uintptr_t)asterope_memmove);
    guard((void*)(uintptr_t)asterope_mempcpy);
    guard((void*)(uintptr_t)asterope_memset);
    guard((void*)(uintptr_t)unguarded);
    for (size_t bytes = 0; bytes <= sizeof from; bytes += 1 + bytes / 4) {
        if (copy(to, from, bytes) != to || memcmp(to, from, bytes)) return 1;
        if (move(to, from, bytes) != to || memcmp(to, from, bytes)) return 1;
        if (copy_to_end(to, from, bytes) != to + bytes) return 1;
        if (set(to, 5, bytes) != to || (bytes && to[bytes - 1] != 5)) return 1;
    }
    puts("ok");
    fflush(stdout);
    (void)argv;
    if (argc > 1) jump();
    _Exit(0); /* libc's own functions may lie on guarded pages, without landing pads */
}
"""


def test_it_runs_from_guarded_pages(tmp_path, routine):
    source, program = tmp_path / "guarded.c", tmp_path / "guarded"
    source.write_text(GUARDED, encoding="ascii")
    target = object_of(routine, tmp_path, AARCH64.gcc, PROTECTED)
    include = f"-I{routine.parent}"
    output_of(*AARCH64.gcc, include, "-O1", PROTECTED, "-static", source, target, "-o", program)
    done = run(*AARCH64.on(WITH_SVE), program)
    if done.stdout == "no guarded pages\n":
        pytest.skip("the emulator has no guarded pages")
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr
    died = run(*AARCH64.on(WITH_SVE), program, "jump")
    assert died.returncode != 0, "a jump to no landing pad must be seen"


def test_it_copies_right_in_a_program_that_is_protected_as_a_whole(tmp_path, routine):
    checkers = [
        AARCH64.compiled(tmp_path, name, PROTECTED, f"-I{routine.parent}")
        for name in ("routine_check", "copy_check")
    ]
    target = object_of(routine, tmp_path, AARCH64.gcc, PROTECTED)
    program = tmp_path / "routine_check"
    output_of(*AARCH64.gcc, PROTECTED, target, *checkers, "-o", program)
    options = ("--step", 29, "--other-step", 31, "--largest", 65536)
    done = run(*AARCH64.on(WITH_SVE), program, *options)
    assert "FAIL" not in done.stdout
    assert done.returncode == 0, done.stderr
