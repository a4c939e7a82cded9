"""Routines that find out where the data is: probes, branches, and when they do without.

No test depends on the clock. Probes get their time stamps from a ring, or on x86-64 a threshold
that decides for them: every number of ticks is above 0 and at most 4294967295. An emulator's
counter may stand still for the length of a probe. There even 0 does not decide, so the ring serves.
"""

from __future__ import annotations

import ctypes
import mmap
import re
import resource
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from architectures import AARCH64, X86_64, Architecture, build_dispatch_check, each
from asterope.spaces.probes import FOUND, PROBES, PROBES_OF_SETS, Probe, SensingCopy
from copy_programs import FUNCTIONS, Memset, assert_right, change, cpu_features, output_of, render
from dispatch_machines import build_on_told_cpu, cpu_line

HIGHEST_THRESHOLD = 2**32 - 1
BY_NAME = {probe.name: probe for probe in PROBES}
X, A = X86_64.pipelines.Tuple, AARCH64.pipelines.Tuple
WINNER = X("XMM", "T", "T", "none", 0, 0)
HOT, COLD = X("R64", "T", "T", "T0", 2, 4), X("MM", "T", "NT", "T0", 4, 8)
# The winner, and what goes on where data is hot, cold, or to be fetched.
WAYS = {
    "x86_64": (
        *(WINNER, HOT, COLD, X("REP_MOVSB", "T", "T", "none", 0, 0)),
        X("XMM", "T", "NT", "none", 0, 0),
    ),
    "aarch64": (
        *(AARCH64.plain, A("X", "T", "T", "L1KEEP", 2, 4), A("Q", "T", "NT", "L1KEEP", 4, 8)),
        *(A("SVE", "T", "T", "none", 0, 0), A("Q", "T", "NT", "none", 0, 0)),
    ),
}
HOT_WAY, COLD_WAY, FETCH_WAY, PRODUCE_WAY = 1, 2, 3, 4  # of these
of_x86_64 = each(of=X86_64)


def sensing_by(probe: Probe, threshold: int, arch: Architecture = X86_64) -> SensingCopy:
    _, hot, cold, fetch, produce = WAYS[arch.name]
    own = dict(hot=hot, cold=cold, fetch=fetch, produce=produce)
    return SensingCopy(probe, threshold, **{way: own[way] for way in FOUND[probe.kind]})


def intervals_of(arch: Architecture) -> list[tuple[int, Any]]:
    """Plain up to 16 KiB, then always cold, always hot, and plain again."""
    winner, _, cold, *_ = WAYS[arch.name]
    return [(16384, winner), (32768, winner), (65536, winner), (1 << 20, cold)]


def sensing_with(probe: Probe, arch: Architecture = X86_64) -> dict[int, SensingCopy]:
    return {32768: sensing_by(probe, 0, arch), 65536: sensing_by(probe, HIGHEST_THRESHOLD, arch)}


def render_sensing(arch: Architecture, folder: Path) -> Path:
    return render(intervals_of(arch), folder, sensing=sensing_with(PROBES[1], arch))


# Of sets: the winner, and what goes on where the destination is cached, and where it is not.
SET = X86_64.set_pipelines.Tuple
SET_WAYS = SET("XMM", "T"), SET("R64", "T"), SET("XMM", "NT")


def sets_with(probe: Probe, thresholds: tuple[int, int] = (0, HIGHEST_THRESHOLD)) -> Memset:
    """Sets that sense up to 32 KiB, and up to 64 KiB by the other threshold."""
    winner, hot, cold = SET_WAYS
    intervals = [(16384, winner), (32768, winner), (65536, winner), (1 << 20, cold)]
    senses = [SensingCopy(probe, threshold, hot, cold) for threshold in thresholds]
    return Memset(intervals, sensing=dict(zip((32768, 65536), senses)))


def sensing_parts(probe: Probe, arch: Architecture = X86_64) -> dict[str, Any]:
    """The parts of a routine that sense by the probe, to be rendered."""
    if probe in PROBES_OF_SETS:
        return {"memset": sets_with(probe)}
    return {"sensing": sensing_with(probe, arch)}


INTERVALS = intervals_of(X86_64)


def need_counter(arch: Architecture) -> None:
    """Skips where the time stamp counter is not as sensing copies need it."""
    if arch is X86_64 and not {"constant_tsc", "nonstop_tsc"} <= cpu_features():
        pytest.skip("this CPU has no invariant time stamp counter")


# Code that reads the counter where a time begins or ends, and code that takes the next time stamp
# of the ring that {0} points into.
READ = {
    "x86_64": r'(?<="lfence\\n")\s+"rdtsc\\n"',
    "aarch64": r'(?<="isb\\n"\n    ")mrs x(\d+), cntvct_el0',
}
NEXT_STAMP = {
    "x86_64": (
        r'"mov {0}(%rip), %rdx; mov (%rdx), %eax; mov 8(%rdx), %rdx; mov %rdx, {0}(%rip)\\n"'
    ),
    "aarch64": (
        r"adrp x16, {0}; ldr x17, [x16, :lo12:{0}]; ldr w\1, [x17]; "
        r"ldr x17, [x17, #8]; str x17, [x16, :lo12:{0}]"
    ),
}


def with_clock(arch: Architecture, text: str) -> str:
    """C with probes that take their time stamps from a ring."""
    text, count = re.subn(READ[arch.name], NEXT_STAMP[arch.name].format("sensing_clock"), text)
    assert count >= 2
    return text


# --- The routine ----------------------------------------------------------------------------------


# Time stamps for the probes of a routine, in C: two for each look, which are so many ticks apart as
# is told, for eight looks at most. With STORE a set's probe has four: around its first store, which
# takes so many ticks, and around its loads.
RING = """
#include <stdio.h>
#include <stdlib.h>
struct time_stamp { unsigned ticks; struct time_stamp *next; };
static struct time_stamp ring[16];
extern struct time_stamp *sensing_clock;
__attribute__((used)) struct time_stamp *sensing_clock = ring;
__attribute__((constructor)) static void tell(void)
{
    unsigned ticks[8], looks = 0, i;
    char *told = getenv("TOLD"), *end;
    while (looks < 8 && (ticks[looks] = (unsigned)strtoul(told, &end, 10), end != told)) {
        told = end;
        ++looks;
    }
    if (looks < 1) exit(2);
    if (getenv("STORE") != NULL) {
        ring[1].ticks = ring[2].ticks = (unsigned)atoi(getenv("STORE"));
        ring[3].ticks = ring[2].ticks + ticks[0];
        for (i = 0; i < 4; ++i) ring[i].next = &ring[(i + 1) % 4];
        return;
    }
    for (i = 0; i < 2 * looks; ++i) {
        ring[i].ticks = 0xFFFFFF80u + (i % 2 ? ticks[i / 2] : 0);
        ring[i].next = &ring[(i + 1) % (2 * looks)];
    }
}
"""
# No call site has a trial of its stores: the first ones go on, or, if told so, the others.
NO_TRIALS = """
__attribute__((constructor)) static void believe(void)
{
    for (unsigned i = 0; i < sizeof asterope_sites / sizeof *asterope_sites; i += 16) {
        asterope_sites[i + 4] = 1 << 20;
        asterope_sites[i + 10] = getenv("OTHERS") != NULL;
    }
}
"""
# Each call site has found uncached data again and again.
LOOKS_ALONE = """
__attribute__((constructor)) static void look_alone(void)
{
    for (unsigned i = 0; i < sizeof asterope_sites / sizeof *asterope_sites; i += 16) {
        asterope_sites[i] = asterope_sites[i + 4] = 1 << 20;
        asterope_sites[i + 2] = 2;
    }
}
"""
FREQUENCY = '__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));'


def apart(ticks: int) -> dict[str, str]:
    """The change that puts two readings of the counter so far apart."""
    compared = "if (to - from < least)"
    return {compared: f"to = from + {ticks};\n        {compared}"}


def with_counter(
    arch: Architecture, routine: Path, ring: bool = True, hertz: int = 10**9, ticks: int = 20
) -> Path:
    """The routine with time stamps of the RING, or real ones. On AArch64 it also finds a counter
    that runs so fast, with readings so many ticks apart: the emulator's runs too slow for any
    probe."""
    if arch is AARCH64:
        change(routine, {FREQUENCY: f"frequency = {hertz};", **apart(ticks)})
    if ring:
        text = routine.read_text(encoding="ascii")
        more = NO_TRIALS if "asterope_sites[" in text else ""
        routine.write_text(with_clock(arch, text) + RING + more, encoding="ascii")
    return routine


# No probe takes 0 ticks, or more than HIGHEST_THRESHOLD.
def pipelines_taken(arch: Architecture, program: Path, told: str = "9", **more: str) -> list:
    """The pipelines that go on behind the probes, at sizes of each of the intervals."""
    sizes = (16000, 16385, 32768, 32769, 65536)
    words = [word for name in FUNCTIONS for word in (f"asterope_{name}", 65536, *sizes)]
    taken = output_of(*arch.on(TOLD=told, **more), program, "--past-sensing", *words).split()
    assert taken == 3 * taken[:5]
    return [name.replace("asterope_copy_", "") for name in taken[:5]]


def sensed(arch: Architecture) -> list[str]:
    winner, hot, cold, *_ = WAYS[arch.name]
    return [t.symbol for t in (winner, cold, cold, hot, hot)]


def unsensed(arch: Architecture) -> list[str]:
    return [WAYS[arch.name][0].symbol] * 5


def probes_of(arch: Architecture) -> dict[str, Probe]:
    return {p.name: p for p in (*PROBES, *(PROBES_OF_SETS if arch is X86_64 else ()))}


@each(probes_of)
def test_it_copies_and_sets_right_with_each_probe(tmp_path, objects, arch, case):
    routine = render(intervals_of(arch), tmp_path, **sensing_parts(case, arch))
    program = arch.routine_check(with_counter(arch, routine, ring=False), objects)
    options = ("--step", 31, "--other-step", 31, "--last", 300, "--largest", 200000)
    around = ("--around", "16384,32768,65536")
    assert_right(*arch.on(), program, *options, *around, sets=case in PROBES_OF_SETS)


# The ticks of each look, and what goes on behind so many looks.
LOOKS = {
    "source": [((200,), HOT_WAY), ((201,), COLD_WAY)],
    "each": [((200,), HOT_WAY), ((201, 200), FETCH_WAY), ((201, 201), COLD_WAY)],
    "both": [((200,), HOT_WAY), ((201, 200), FETCH_WAY), ((201, 201, 201), COLD_WAY)],
}
FAULT = 32  # thresholds: what takes longer is a page fault


@pytest.mark.parametrize("threshold", [200, 70000])  # on AArch64 one instruction, and two
@each(lambda arch: {name: BY_NAME[name] for name in ("source 2", "each 4", "both 2")})
def test_each_side_s_ticks_choose_the_pipeline(tmp_path, arch, case, threshold):
    need_counter(arch)
    sensing = {end: sensing_by(case, threshold, arch) for end in (32768, 65536)}
    routine = with_counter(arch, render(intervals_of(arch), tmp_path, sensing=sensing))
    program = build_dispatch_check(arch, routine)
    for ticks, way in LOOKS[case.kind]:
        told = " ".join(str(n - 200 + threshold) for n in ticks)
        expected = [WAYS[arch.name][0].symbol, *[WAYS[arch.name][way].symbol] * 4]
        assert pipelines_taken(arch, program, told) == expected, told
    if case.kind == "both":
        more = FAULT * (threshold + 1)
        for told, way in ((f"{more - 1} " * 3, COLD_WAY), (str(more), FETCH_WAY)):
            expected = [WAYS[arch.name][0].symbol, *[WAYS[arch.name][way].symbol] * 4]
            assert pipelines_taken(arch, program, told) == expected, told


def program_of_one_site(arch: Architecture, folder: Path) -> Path:
    """Its probes find data cached up to 200 ticks."""
    need_counter(arch)
    sensing = {65536: sensing_by(BY_NAME["both 4"], 200, arch)}
    routine = with_counter(arch, render(intervals_of(arch), folder, sensing=sensing))
    return build_dispatch_check(arch, routine)


def assert_goes_on(arch: Architecture, program: Path, told: str, ways: Sequence[int]) -> None:
    """The copies of 64 KiB of one call site go on with these pipelines, one after the other."""
    words = ("--past-sensing", "asterope_memcpy", 65536, *[65536] * len(ways))
    taken = output_of(*arch.on(TOLD=told), program, *words).split()
    assert taken == [f"asterope_copy_{WAYS[arch.name][way].symbol}" for way in ways], told


@each()
def test_a_destination_that_stays_uncached_gives_the_hot_pipeline_tries(tmp_path, arch):
    """At the 1st, 2nd and 4th time that its page is found again."""
    ways = [PRODUCE_WAY if way == "p" else HOT_WAY for way in "phhphp"]
    assert_goes_on(arch, program_of_one_site(arch, tmp_path), "201 201 200", ways)


@of_x86_64
def test_a_call_site_without_cached_data_keeps_to_the_cold_pipeline(tmp_path, arch):
    """Most of its calls look at the destination alone."""
    program = program_of_one_site(arch, tmp_path)
    assert_goes_on(arch, program, "201 201 201", [COLD_WAY] * 60)
    # The third call looks alone, and finds a cached destination, or a page fault.
    for last, way in (("200 200", HOT_WAY), (f"{FAULT * 201} " * 2, FETCH_WAY)):
        assert_goes_on(arch, program, "201 " * 6 + last, [COLD_WAY, COLD_WAY, way])


@of_x86_64
def test_the_ticks_and_the_call_site_choose_the_pipeline_of_a_set(tmp_path, arch):
    need_counter(arch)
    senses = sets_with(PROBES_OF_SETS[0], (200, 70000))
    routine = with_counter(arch, render(INTERVALS, tmp_path, memset=senses))
    program = build_dispatch_check(arch, routine)
    winner, hot, cold = (f"asterope_set_{t.symbol}" for t in SET_WAYS)
    sizes = (16000, 16385, 32768, 32769, 65536, 65537)

    def taken(ticks: int, store: int, **more: str) -> list[str]:
        words = ("--past-sensing", "asterope_memset", 65536)
        told = arch.on(TOLD=str(ticks), STORE=str(store), **more)
        return [output_of(*told, program, *words, size).strip() for size in sizes]

    all_hot = [winner, *[hot] * 4, cold]
    for of_site in ({}, {"OTHERS": "1"}):
        assert taken(200, 50, **of_site) == all_hot
        assert taken(70001, FAULT * 70001, **of_site) == all_hot, "a page fault"
    assert taken(201, 50, OTHERS="1") == [winner, cold, cold, hot, hot, cold]
    assert taken(70001, FAULT * 201, OTHERS="1") == [winner, hot, hot, cold, cold, cold]
    assert taken(70001, 50) == all_hot, "the site has the stores of hot"


def library_of(folder: Path, routine: Path) -> Path:
    output_of("gcc", "-O2", "-fPIC", "-shared", routine, "-o", folder / "library.so")
    return folder / "library.so"


@of_x86_64
def test_threads_remember_their_call_sites_in_lines_of_their_own(tmp_path, arch):
    """But for some that fall on one line by chance: 30 lines are expected for 32 threads."""
    need_counter(arch)
    threads, size = 32, 65536
    sensing = {size: sensing_by(BY_NAME["both 2"], HIGHEST_THRESHOLD, arch)}
    routine = render(intervals_of(arch), tmp_path, sensing=sensing)
    with routine.open("a", encoding="ascii") as text:
        text.write("int own_site(int line) { return asterope_sites[16 * line + 1]; }\n")
    library, all_there = ctypes.CDLL(library_of(tmp_path, routine)), threading.Barrier(threads)

    def copy(_: int) -> None:
        to, source = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
        for _ in range(2):
            library.asterope_memcpy(to, source, ctypes.c_size_t(size))
        all_there.wait()

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(copy, range(threads)))
    assert sum(library.own_site(line) != 0 for line in range(512)) > threads // 2


def faults_of(library: Path | None, size: int) -> int:
    """The page faults of 32 copies, each to untouched pages of its own. Faults of the first calls
    do not count."""
    source, room = b"1" * size, (size // 4096 + 2) * 4096
    copy = getattr(ctypes.CDLL(library), "asterope_memcpy" if library else "memcpy")
    copy.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)
    copy.restype = None
    for _ in range(2):
        fresh = mmap.mmap(-1, 32 * room, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        fresh.madvise(mmap.MADV_NOHUGEPAGE)  # or one fault would do for many copies
        first = ctypes.addressof(ctypes.c_char.from_buffer(fresh)) + 16
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
        for to in range(first, first + 32 * room, room):
            copy(to, source, size)
        faults = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before
    return faults


@pytest.mark.parametrize("name", BY_NAME)
@of_x86_64
def test_a_fresh_destination_takes_no_more_page_faults_than_libc(tmp_path, arch, name):
    """A probe of an untouched page gets the page of zeros, and the first store faults once more.
    Where each call has a probe, that would be a fault for each copy. The interpreter may have a few
    of its own."""
    need_counter(arch)
    library = library_of(tmp_path, render(INTERVALS, tmp_path, sensing=sensing_with(BY_NAME[name])))
    for size in (16385, 32768, 32769, 65536, 65537, 262144):
        libc = faults_of(None, size)
        assert libc >= 32 * (size // 4096), "libc takes no fault for each page"
        assert faults_of(library, size) < libc + 32 // 4, (name, size)


@of_x86_64
def test_a_look_at_a_fresh_destination_takes_no_more_page_faults_than_libc(tmp_path, arch):
    """All call sites look at their destinations, as after many uncached ones. Two faults
    take no longer here than a wait for memory may."""
    need_counter(arch)
    sensing = {262143: sensing_by(BY_NAME["both 2"], 600, arch)}
    routine = render(
        [(16384, WAYS[arch.name][0]), (262143, WAYS[arch.name][0])], tmp_path, sensing=sensing
    )
    with routine.open("a", encoding="ascii") as text:
        text.write(LOOKS_ALONE)
    library = library_of(tmp_path, routine)
    for size in (65536, 262143):
        assert faults_of(library, size) < faults_of(None, size) + 32 // 4, size


# --- Without a counter ----------------------------------------------------------------------------


COUNTERS = {
    "x86_64": {
        "not invariant": (0, 0x80000008, 30, unsensed),
        "not known to be invariant": (1 << 8, 0x80000006, 30, unsensed),
        "1000 ticks to read": (1 << 8, 0x80000008, 1000, sensed),
        "1001 ticks to read": (1 << 8, 0x80000008, 1001, unsensed),
    },
    "aarch64": {
        "250 ns to read": (1_000_000_000, 250, sensed),
        "251 ns, as something traps it": (1_000_000_000, 251, unsensed),
        "250 MHz": (250_000_000, 1, sensed),
        "less": (249_999_999, 1, unsensed),  # a probe of cached memory takes no more than its ticks
    },
}


@each(COUNTERS)
def test_where_the_counter_is_of_no_use_the_winner_is_taken(tmp_path, arch, case):
    *says, ticks, expected = case
    routine = render_sensing(arch, tmp_path)
    if arch is X86_64:
        if expected is sensed:
            need_counter(arch)
        change(routine, apart(ticks))
        cpu = cpu_line(arch, "", 6, 0, 0, invariant=says[0], most_extended=says[1])
        taken = pipelines_taken(arch, build_on_told_cpu(routine), FAKE_CPU=cpu)
    else:
        routine = with_counter(arch, routine, True, *says, ticks)
        taken = pipelines_taken(arch, build_dispatch_check(arch, routine))
    assert taken == expected(arch)
