"""The recorder as a library: what it exports and needs, and how little its fast path is."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from architectures import HOST, assert_right_unrelocated, preload_check
from copy_programs import exported, need, output_of

PLAIN = ("memcpy", "memmove", "mempcpy", "memset")
WAITS = ("wait", "waitpid", "wait3", "wait4")
SIGNS = ("prctl", "syscall", "_exit", "_Exit", "sigaltstack", *WAITS)
NAMES = {*PLAIN, "__mempcpy", *(f"__{name}_chk" for name in PLAIN)}


def test_it_exports_what_it_counts_and_little_else(library: Path) -> None:
    """prctl and syscall tell that a program restricts its system calls, _exit that it ends,
    sigaltstack where handlers have little room, and waits what children took."""
    assert exported(library) == {*NAMES, *SIGNS}


def test_it_needs_no_memory_and_no_streams_of_the_program(library: Path) -> None:
    wanted = output_of("nm", "-D", "--undefined-only", library)
    names = {line.split()[-1].split("@")[0] for line in wanted.splitlines()}
    of_compilers = {"__cxa_finalize", "__gmon_start__"}
    of_compilers |= {"_ITM_registerTMCloneTable", "_ITM_deregisterTMCloneTable"}
    at_start = {"dlopen", "dlsym", "__register_atfork", "secure_getenv", "getpid", "strlen"}
    at_start |= {"strtoull", "getauxval", "sysconf", "dladdr", "dladdr1", "dlerror"}
    later = {"__chk_fail", "abort", "__errno_location", "clock_gettime", "sched_yield"}
    assert names - of_compilers <= at_start | later
    weak = {line.split()[-1].split("@")[0] for line in wanted.splitlines() if " w " in line}
    assert {"__chk_fail", "__register_atfork"} <= weak  # which musl lacks


def test_it_calls_none_of_the_functions_that_it_counts(library: Path) -> None:
    need("readelf")
    relocations = output_of("readelf", "-rW", library)
    assert "R_X86_64_RELATIVE" in relocations  # it is a listing
    for line in relocations.splitlines():
        assert not re.search(r"\b(__)?mem\w*", line), line


@pytest.mark.parametrize("name", PLAIN)
def test_a_call_that_is_not_sampled_costs_a_few_instructions(library: Path, name: str) -> None:
    """No stack, one counter, a jump to the function itself. The first of both ways is that of
    exploring in operation."""
    need("objdump")
    symbols = [line.split() for line in output_of("nm", "-D", library).splitlines()]
    start = next(int(symbol[0], 16) for symbol in symbols if symbol[-1] == name)
    place = (f"--start-address={start}", f"--stop-address={start + 128}")
    text = output_of("objdump", "-d", "--no-show-raw-insn", *place, library)
    lines = [line.split("\t") for line in text.splitlines() if "\t" in line]
    instructions = [line[1].split("#")[0].strip() for line in lines]
    jumps = (i for i, text in enumerate(instructions) if re.match(r"(notrack )?jmp +\*%", text))
    easy, end = itertools.islice(jumps, 2)
    for whole, most in ((instructions[:easy], 7), (instructions[easy + 1 : end], 18)):
        path = [text for text in whole if not re.match(r"endbr|nop|data16", text)]
        assert len(path) <= most, path
        assert sum(bool(re.match(r"(add|sub|inc|dec)\w* .*\(", text)) for text in path) == 1
        assert not any(re.match(r"(push|pop|call)|.*%[re]sp", text) for text in path)


def test_it_copies_right_before_it_is_even_relocated(tmp_path: Path, library: Path) -> None:
    assert_right_unrelocated(preload_check(HOST, tmp_path), library, NAMES, HOST.on())
