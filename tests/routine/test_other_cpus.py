"""A CPU that lacks what a routine needs takes the portable path, which copies right."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
from architectures import (
    WITH_SVE,
    WITHOUT_SVE,
    X86_64,
    Architecture,
    build_dispatch_check,
    each,
    sampled,
)
from asterope.spaces.probes import PROBES, SensingCopy
from copy_programs import FUNCTIONS, Memset, assert_right, change, copies_taken, need, render
from dispatch_machines import CPUID_BITS, FLAVOURS, SX, Flavour, X, build_on_told_cpu, cpu_line
from test_sensing import BY_NAME, INTERVALS, sensing_with

SMALL, SMALL_SET = X86_64.small_copies.Tuple, X86_64.small_sets.Tuple
MOVE = X86_64.overlapping_copies.Tuple
GATED, GATED_SET = SMALL("masked", "ZMM", "up", 256), SMALL_SET("masked", "ZMM", "up", 256)
PLAIN, PLAIN_SET = X86_64.small_copies.PLAIN, X86_64.small_sets.PLAIN
R64, XMM, YMM, ZMM = (X(rt, "T", "T", "none", 0, 0) for rt in ("R64", "XMM", "YMM", "ZMM"))

# The features that a CPU must have for each.
NEED = {"x86_64": ["avx512", "avx2", "sse4", "sse2"], "aarch64": ["sve", "zva", "mops", "plain"]}
# Profiles that run tuned on each of QEMU's CPUs; the rest takes the portable path.
CPUS = {
    "x86_64": {
        "qemu64": {"sse2"},  # neither SSE4.1 nor AVX
        "Nehalem": {"sse2", "sse4"},
        "SandyBridge": {"sse2", "sse4"},  # AVX without AVX2
        "Haswell": {"sse2", "sse4", "avx2"},
        "max": {"sse2", "sse4", "avx2"},  # QEMU has no AVX-512 yet
        "max,-xsave": {"sse2", "sse4"},  # AVX2 is there, but not saved by the system
    },
    # MOPS only newer emulators have
    "aarch64": {
        WITH_SVE: {"plain", "sve"},
        WITHOUT_SVE: {"plain", "zva"},
        "a64fx": {"plain", "sve"},
    },
}


def needed(arch: Architecture, name: str, folder: Path) -> tuple[Path, Flavour, Any]:
    """A routine of what needs that, what it has, and its copy for overlapping buffers."""
    flavour = FLAVOURS[name]
    move = [move for move in arch.moves if {*move.needs} <= flavour.needs][-1]
    winners = [(1024, arch.plain), (4096, flavour.winner)]  # what only some need counts, too
    more = {"overlapping": move, "memset": flavour.memset}
    return render(winners, folder, flavour.small, **more), flavour, move


@each(NEED)
def test_a_cpu_that_lacks_something_takes_the_portable_path(tmp_path, objects, arch, case):
    routine, flavour, move = needed(arch, case, tmp_path)
    (gcc,) = arch.gcc
    dispatch_check = build_dispatch_check(arch, routine)
    routine_check = arch.routine_check(routine, objects, gcc, "-O2", "-static")
    sizes = [1025, 2**20]  # the winner's
    for cpu, has in CPUS[arch.name].items():
        if case == "mops" and "mops" in arch.features_of(cpu):
            continue
        emulator, tuned = arch.emulated(cpu), case in has
        path = f"asterope_copy_{flavour.winner.symbol}" if tuned else "asterope_untuned"
        moves = f"asterope_move_downwards_{move.symbol}" if tuned else path
        answers = {(function, 2**40): [path] * 2 for function in FUNCTIONS}
        answers |= {(function, 8): [moves] * 2 for function in ("mempcpy", "memmove")}
        if flavour.set:
            path = f"asterope_set_{flavour.set.symbol}" if tuned else "asterope_set_untuned"
            answers["memset", 0] = [path] * 2
        questions = [(f"asterope_{name}", distance, sizes) for name, distance in answers]
        found = copies_taken(dispatch_check, questions, *emulator)
        assert dict(zip(answers, found)) == answers, cpu
        if cpu in ("qemu64", "max", WITHOUT_SVE):
            options = ("--step", 31, "--other-step", 31, "--largest", 8192)
            assert_right(*emulator, routine_check, *options, sets=bool(flavour.set))


# From which size on each small copy needs more than any x86-64 CPU has.
NEEDS_FROM = {
    SMALL("masked", "ZMM", "up", 512): 0,
    SMALL("stepped", "ZMM", "middle", 128): 33,
    SMALL("stepped", "YMM", "up", 256): 33,
    SMALL("grouped", "ZMM", "down", 256): 64,
    SMALL("grouped", "YMM", "middle", 256): 64,
    SMALL("stepped", "XMM", "up", 256): 257,
    SMALL("rep", "XMM", "up", 256): 257,
}
on_x86_64 = pytest.mark.skipif(not X86_64.is_native, reason="fakes the answers of this CPU's CPUID")


@on_x86_64
@pytest.mark.parametrize("small", sampled(NEEDS_FROM, 4, lambda small: small.name))
def test_the_portable_path_copies_and_sets_right_at_all_sizes(tmp_path, objects, small):
    memset = Memset([(4096, SX("CLZERO", "NT"))], SMALL_SET(*astuple(small)))
    routine = render([(4096, FLAVOURS["avx512"].winner)], tmp_path, small, memset=memset)
    # one that has looked at the CPU and found it unfit
    look = "if (!asterope_cpu_fits()) return;"
    change(routine, {look: "if (asterope_cpu_fits() < 2) return;"})
    dispatch_check = build_dispatch_check(X86_64, routine)
    for function in (*FUNCTIONS, "memset"):
        moves = small.shape == "rep" and function in ("mempcpy", "memmove")
        untuned = "asterope_set_untuned" if function == "memset" else "asterope_untuned"
        first = 129 if moves else NEEDS_FROM[small]
        (taken,) = copies_taken(dispatch_check, [(f"asterope_{function}", 4096, range(700))])
        assert taken == [("none" if n < first else untuned) for n in range(700)]
    program = X86_64.routine_check(routine, objects)
    assert_right(program, "--step", 3, "--other-step", 7, sets=True)


# Intel SDM vol. 1, 13.3: what the system saves of SSE, AVX and AVX-512 in XCR0.
SAVED = {"xmm": 2, "ymm": 4, "k": 0x20, "zmm 0-15": 0x40, "zmm 16-31": 0x80}
LOOKED_FOR = {
    *("sse4_1", "osxsave", "avx2", "bmi2", "avx512f", "avx512bw", "avx512vl", "movdir64b"),
    *("3dnowprefetch", "clzero", *SAVED, "leaf 7"),
}
AVX = {"avx2", "osxsave", "xmm", "ymm", "leaf 7"}
AVX_512 = {"avx512f", "osxsave", *SAVED, "leaf 7"}
MASKED = {*AVX_512, "avx512bw", "avx512vl", "bmi2"}
SENSES = {65536: SensingCopy(PROBES[0], 0, R64, ZMM)}

# The needs of a copy or set and the small one below it, and the routine's further copies. These are
# the copy for overlapping buffers where it is not the plain one, and copies that sense.
CPU_NEEDS: dict[str, tuple] = {
    "nothing": (set(), R64, PLAIN),
    "a ZMM move": (AVX_512, R64, PLAIN, {"overlapping": MOVE("ZMM", 128)}),
    "a YMM move": (AVX, R64, PLAIN, {"overlapping": MOVE("YMM", 128)}),
    "what no winner is but a probe goes on with": (AVX_512, R64, PLAIN, {"sensing": SENSES}),
    "a ZMM pipeline": (AVX_512, ZMM, PLAIN),
    "a YMM pipeline": (AVX, YMM, PLAIN),
    "an XMM pipeline": ({"sse4_1"}, X("XMM", "NT", "T", "none", 0, 0), PLAIN),
    "direct stores": ({"movdir64b", "leaf 7"}, X("MOVDIR64B", "T", "NT", "T0", 4, 8, pi=2), PLAIN),
    "prefetch for write": ({"3dnowprefetch"}, X("XMM", "T", "T", "none", 0, 0, pw=8), PLAIN),
    "a masked small copy": (MASKED, R64, GATED),
    "a ZMM small copy": ({*AVX_512, "avx512vl"}, R64, SMALL("stepped", "ZMM", "up", 256)),
    "a YMM small copy": (AVX, R64, SMALL("grouped", "YMM", "up", 256)),
    "a set of nothing": (set(), SX("R64", "T"), PLAIN_SET),
    "a ZMM set": ({*AVX_512, "avx512bw"}, SX("ZMM", "T"), PLAIN_SET),
    "a YMM set": (AVX, SX("YMM", "NT"), PLAIN_SET),
    "clzero": ({"clzero"}, SX("CLZERO", "NT"), PLAIN_SET),
    "a set that prefetches": ({"3dnowprefetch"}, SX("XMM", "T", 2, 8), PLAIN_SET),
    "a masked small set": (MASKED, SX("R64", "T"), GATED_SET),
    "a ZMM small set": (
        {*AVX_512, "avx512bw", "avx512vl"},
        *(SX("R64", "T"), SMALL_SET("stepped", "ZMM", "up", 256)),
    ),
    "a YMM small set": (AVX, SX("R64", "T"), SMALL_SET("grouped", "YMM", "up", 256)),
}


@pytest.mark.slow
@on_x86_64
@pytest.mark.parametrize("case", CPU_NEEDS.values(), ids=CPU_NEEDS)
def test_each_feature_is_looked_for(tmp_path, case):
    needs, winner, small, *more = case
    of_copies, of_sets = ("copy_", FUNCTIONS, 2**40), ("set_", ["memset"], 0)
    kind, functions, distance = of_copies if winner.loads else of_sets
    winners = [(16384, winner), (65536, winner), (2**18, winner)]
    if winner.loads:
        routine = render(winners, tmp_path / "routine", small, **dict(*more))
    else:
        routine = render([(4096, R64)], tmp_path / "routine", memset=Memset(winners, small))
    program, features = build_on_told_cpu(routine), LOOKED_FOR & CPUID_BITS.keys()
    for feature in (None, *sorted(LOOKED_FOR)):
        cpu = cpu_line(
            *(X86_64, "", 6, 0, 0),
            features=features,
            lacks=feature,
            most_leaves=6 if feature == "leaf 7" else 7,
            saved=sum(bit for name, bit in SAVED.items() if name != feature),
        )
        lacking = "untuned" if winner.loads else "set_untuned"
        expected = f"asterope_{lacking if feature in needs else kind + winner.symbol}"
        questions = [(f"asterope_{name}", distance, [small.bound + 1, 2**20]) for name in functions]
        taken = copies_taken(program, questions, *X86_64.on(FAKE_CPU=cpu))
        assert taken == [[expected] * 2] * len(questions), f"without {feature}"


@pytest.mark.slow
@pytest.mark.skipif(not X86_64.is_native, reason="of these there are as many as x86-64 has")
@pytest.mark.parametrize("name", ["avx512", "avx2", "each 4"])
def test_valgrind_finds_nothing(tmp_path, objects, name):
    need("valgrind")
    if name in BY_NAME:
        sensing = sensing_with(BY_NAME[name])
        routine = render(INTERVALS, tmp_path, sensing=sensing, memset=FLAVOURS["avx2"].memset)
    else:
        routine, *_ = needed(X86_64, name, tmp_path)
    program = X86_64.routine_check(routine, objects)
    # The state of the CPU is looked at from below the stack pointer, where valgrind allows nothing.
    options = ("--step", 31, "--other-step", 31, "--largest", 32768, "--without-state", 1)
    assert_right("valgrind", "--quiet", "--error-exitcode=9", program, *options, sets=True)
