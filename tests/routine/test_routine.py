"""The generated routine copies right: every kind of pipeline, size, offset and overlap."""

from __future__ import annotations

import itertools
import re
import sys
from typing import Any

import pytest
from architectures import X86_64, Architecture, build_dispatch_check, each
from copy_programs import (
    FUNCTIONS,
    SHORT,
    Intervals,
    Memset,
    assert_right,
    copies_taken,
    failures,
    output_of,
    render,
    run,
)
from routine_examples import GATED, REFERENCE, REFERENCES, every_kind, everything, intents_of


@each(lambda arch: arch.cpus)
def test_it_copies_and_sets_right_on_every_cpu(tmp_path, objects, arch, case):
    """Whatever the CPU lacks of what the profile needs, and however long its vectors are."""
    routine = render(folder=tmp_path, **everything(arch))
    ends = ",".join(str(end) for end, _ in every_kind(arch) if end <= 4 << 20)
    options = ("--step", 7, "--other-step", 31, "--largest", 4 << 20, "--around", f"{ends},9000")
    options = options if arch.is_native else (*SHORT, "--around", "512,3000,4096,9000")
    program = arch.routine_check(routine, objects)
    assert_right(*arch.on(case), program, *options, sets=True, intents=intents_of(arch))


@each(slow=False)
def test_the_routine_of_everything_is_not_all_portable_here(tmp_path, arch):
    """Else nothing that is compiled or run of it would be what it was rendered for."""
    cpu = arch.cpu_for(*(t for _, t in every_kind(arch)), GATED[arch.name])
    program = build_dispatch_check(arch, render(folder=tmp_path, **everything(arch)))
    questions = [("asterope_memcpy", 2**40, [1 << 20]), ("asterope_memset", 0, [1 << 20])]
    taken = copies_taken(program, questions, *arch.on(cpu))
    assert not [copy for (copy,) in taken if "untuned" in copy]


@each(lambda arch: REFERENCES, of=X86_64, daily="xeon-gold-5218".__eq__)
def test_the_references_copy_right_at_every_offset_size_and_overlap(tmp_path, objects, arch, case):
    routine = render(REFERENCE / f"{case}.json", tmp_path)
    assert_right(arch.routine_check(routine, objects), "--largest", 64 << 20)


# These functions leave out the last byte of one size.
FAULTY = """
#include <string.h>
#define COPY(name, end) \\
    void *asterope_##name(void *to, const void *from, size_t size) \\
    { \\
        memmove(to, from, size - (size == 259)); \\
        return (char *)to + end * size; \\
    }
COPY(memcpy, 0)
COPY(mempcpy, 1)
COPY(memmove, 0)
"""


@each()
def test_a_fault_of_one_size_is_reported(tmp_path, objects, arch):
    """In a grid and at random; test_candidates has more that they would find."""
    (tmp_path / "asterope_memcpy.c").write_text(FAULTY, encoding="ascii")
    program = arch.routine_check(tmp_path / "asterope_memcpy.c", objects, *arch.gcc, "-O1")
    for options, functions in ((SHORT, FUNCTIONS), (("--count", 9999), [""])):
        done = run(*arch.on(), program, *options, "--without-state", 1)
        assert done.returncode == 1
        for function, line in itertools.zip_longest(functions, failures(done.stdout)):
            assert re.match(rf"FAIL asterope_{function}.*\(259 bytes, ", line), line


def masked(arch: Architecture) -> dict[str, Any]:
    """Small copies and small sets that would reach into another page."""
    kinds = (("memcpy", arch.small), ("memset", arch.small_set))
    return {
        f"{name} {small.name}": (name, small)
        for name, all_of_kind in kinds
        for small in all_of_kind.values()
        if getattr(small, "masked_bytes", 0)
    }


@each(masked, one_in=4)
def test_a_mask_reaches_into_no_other_page(tmp_path, arch, case):
    kind, small = case
    sets, emulator = kind == "memset", arch.on(arch.cpu_for(small))
    memset = Memset([(4096, arch.set_pipelines.PLAIN)], small) if sets else None
    routine = render([(4096, arch.plain)], tmp_path, None if sets else small, memset=memset)
    program = build_dispatch_check(arch, routine)
    # order `down` takes 64 bytes without a mask
    sizes = range(min(small.masked_bytes, 63 if small.order == "down" else 64) + 1)
    last = 4096 - small.masked_bytes  # the last place in a page where the register stays in it
    ends = (128, last, last + 1, 4095)
    functions, sources = (["memset"], [0]) if sets else (FUNCTIONS, [0, *ends[1:]])
    places = list(itertools.product(functions, sources, ends))
    questions = [(f"asterope_{name}", 8192 + to - at, sizes, at) for name, at, to in places]
    found = copies_taken(program, questions, *emulator)
    untuned = "asterope_set_untuned" if sets else "asterope_untuned"
    for (_, source, destination), taken in zip(places, found):
        expected = [untuned if max(source, destination) > last else "none"] * len(sizes)
        # nothing is copied of 0 bytes: a mask of none is slow, too; a set asks for its place alone
        assert taken == (expected if sets else ["none", *expected[1:]])


def huge_copies(arch: Architecture) -> dict[str, tuple[Intervals, Memset | None]]:
    """Winners of copies, and what sets."""
    near = arch.pipelines.VALUES["pt"][1]
    copies = [arch.pipelines.Tuple(arch.plain.rt, "T", st, near, 4, 8) for st in ("T", "NT")]
    sets = {t.rt: t for t in arch.set_kinds if "zva64" not in t.needs and "clzero" not in t.needs}
    plain = [(4096, arch.plain)]
    ends = (128, 4096, 2**31 - 1, 2**31, 2**32 + 5, 2**40)
    of_any_cpu = [t for _, t in every_kind(arch) if not t.needs]
    return {
        "every interval": (list(zip(ends, itertools.cycle(of_any_cpu))), None),
        **{f"memcpy {t.name}": ([(4096, t)], None) for t in copies},
        **{f"memset {t.name}": (plain, Memset([(4096, t)])) for t in sets.values()},
    }


# Copies or sets more than there is memory for: addresses that show the same period again and
# again. As source and destination repeat alike, all is right if the last period is.
HUGE = """
import ctypes, mmap, os, random, sys
PERIOD, MAP_FIXED, MOST = 64 << 20, 16, 2**32 + (128 << 20)
library, libc = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(None)
address, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
libc.mmap.argtypes, libc.mmap.restype = (address, size, *[number] * 3, ctypes.c_long), address
rights = mmap.PROT_READ | mmap.PROT_WRITE

def periodic(content):
    file = os.memfd_create("periodic")
    assert os.pwrite(file, content, 0) == PERIOD
    start = libc.mmap(None, MOST, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    for at in range(start, start + MOST, PERIOD):
        assert libc.mmap(at, PERIOD, rights, mmap.MAP_SHARED | MAP_FIXED, file, 0) == at
    return start

source, to = periodic(random.Random(1).randbytes(PERIOD)) + 17, periodic(bytes(PERIOD)) + 5
given, what, expected = {
    "memcpy": (address, source, lambda bytes: ctypes.string_at(source + bytes - PERIOD, PERIOD)),
    "memset": (number, 0x95, lambda bytes: b"\\x95" * PERIOD),
}[sys.argv[2]]
function = getattr(library, f"asterope_{sys.argv[2]}")
function.argtypes, function.restype = (address, given, size), address
for bytes in (2**31 - 1, 2**31, 2**31 + 1, 2**32 + 12345):
    ctypes.memset(to, 0, PERIOD)
    assert function(to, what, bytes) == to, bytes
    assert ctypes.string_at(to + bytes - PERIOD, PERIOD) == expected(bytes), bytes
"""


@pytest.mark.slow
@each(huge_copies, emulated=False)
def test_it_copies_and_sets_more_than_4_gib(tmp_path, arch, case):
    intervals, memset = case
    arch.cpu_for(*(t for _, t in (*intervals, *(memset.intervals if memset else ()))))
    routine, library = render(intervals, tmp_path, memset=memset), tmp_path / "library.so"
    output_of(*arch.gcc, "-O2", "-fPIC", "-shared", routine, "-o", library)
    output_of(sys.executable, "-c", HUGE, library, "memset" if memset else "memcpy")
