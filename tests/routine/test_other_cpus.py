"""A CPU that lacks what a routine needs takes the portable path, which copies right."""

from __future__ import annotations

import itertools
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from architectures import (
    AARCH64,
    WITH_SVE,
    WITHOUT_SVE,
    X86_64,
    Architecture,
    build_dispatch_check,
    each,
)
from copy_programs import (
    CPUID_BITS,
    FUNCTIONS,
    Memset,
    assert_right,
    copies_taken,
    need,
    render,
)
from dispatch_machines import build_on_told_cpu, told_x86_64
from routine_examples import RARE
from sampling import sampled
from test_sensing import BY_NAME, INTERVALS, sensing_with

X, A = X86_64.pipelines.Tuple, AARCH64.pipelines.Tuple
SX, SA = X86_64.set_pipelines.Tuple, AARCH64.set_pipelines.Tuple
SMALL, SMALL_SET = X86_64.small_copies.Tuple, X86_64.small_sets.Tuple
MOVE = X86_64.overlapping_copies.Tuple
GATED, GATED_SET = SMALL("masked", "ZMM", "up", 256), SMALL_SET("masked", "ZMM", "up", 256)
PLAIN, PLAIN_MOVE = X86_64.small_copies.PLAIN, X86_64.overlapping_copies.PLAIN
R64, XMM, YMM, ZMM = (X(rt, "T", "T", "none", 0, 0) for rt in ("R64", "XMM", "YMM", "ZMM"))


class Parts(NamedTuple):
    """A pipeline, a small copy and one for overlapping buffers; a memset that asks nothing more."""

    winner: Any
    small: Any
    move: Any
    memset: Memset


# By what a CPU must have.
NEED: dict[str, dict[str, Parts]] = {
    "x86_64": {
        "ZMM": Parts(
            *(X("ZMM", "T", "NT", "T0", 4, 8), GATED, MOVE("ZMM", 256)),
            Memset([(4096, SX("ZMM", "T", 4))], GATED_SET),
        ),
        "YMM": Parts(
            X("YMM", "NT", "T", "T0", 4, 8),
            SMALL("grouped", "YMM", "up", 256),
            MOVE("YMM", 256),
            Memset([(4096, SX("YMM", "NT"))], SMALL_SET("grouped", "YMM", "up", 256)),
        ),
        "XMM": Parts(
            *(X("XMM", "NT", "NT", "T0", 4, 8), SMALL("stepped", "XMM", "down", 256), PLAIN_MOVE),
            Memset([(4096, SX("XMM", "NT"))], SMALL_SET("stepped", "XMM", "down", 256)),
        ),
        "MM": Parts(
            *(X("MM", "T", "NT", "T0", 4, 8), SMALL("rep", "XMM", "up", 256), PLAIN_MOVE),
            Memset([(4096, SX("R64", "T"))], SMALL_SET("rep", "XMM", "up", 256)),
        ),
    },
    "aarch64": {
        name: Parts(t, AARCH64.small[small], AARCH64.moves[0], Memset([(4096, set_)]))
        for name, t, small, set_ in (
            ("SVE", A("SVE", "T", "T", "none", 0, 0), "sve Q up 128", SA("SVE", "T")),
            ("ZVA", RARE["aarch64"]["cleared lines"][0][1], "stepped Q up 128", SA("ZVA", "T")),
            ("MOPS", A("MOPS", "T", "T", "none", 0, 0), "stepped Q up 128", SA("MOPS", "T")),
            ("Q", AARCH64.plain, "stepped Q up 128", SA("Q", "T")),
        )
    },
}
# What runs tuned on each of QEMU's CPUs; the rest takes the portable path.
CPUS = {
    "x86_64": {
        "qemu64": {"MM"},  # neither SSE4.1 nor AVX
        "Nehalem": {"MM", "XMM"},
        "SandyBridge": {"MM", "XMM"},  # AVX without AVX2
        "Haswell": {"MM", "XMM", "YMM"},
        "max": {"MM", "XMM", "YMM"},  # QEMU has no AVX-512 yet
        "max,-xsave": {"MM", "XMM"},  # AVX2 is there, but not saved by the system
    },
    # MOPS only newer emulators have
    "aarch64": {WITH_SVE: {"Q", "SVE"}, WITHOUT_SVE: {"Q", "ZVA"}, "a64fx": {"Q", "SVE"}},
}


def needed(arch: Architecture, name: str, folder: Path) -> Path:
    winner, small, move, memset = NEED[arch.name][name]
    winners = [(1024, arch.plain), (4096, winner)]  # what only some of them need counts, too
    return render(winners, folder, small, overlapping=move, memset=memset)


@each(lambda arch: NEED[arch.name])
def test_a_cpu_that_lacks_something_takes_the_portable_path(tmp_path, objects, arch, case):
    (name,) = (name for name, parts in NEED[arch.name].items() if parts is case)
    routine = needed(arch, name, tmp_path)
    (gcc,) = arch.gcc
    dispatch_check = build_dispatch_check(arch, routine)
    routine_check = arch.routine_check(routine, objects, gcc, "-O2", "-static")
    sizes = [1025, 2**20]  # the winner's
    for cpu, has in CPUS[arch.name].items():
        if name == "MOPS" and "mops" in arch.features_of(cpu):
            continue
        emulator, tuned = arch.need_emulated(cpu), name in has
        path = f"asterope_copy_{case.winner.symbol}" if tuned else "asterope_untuned"
        move = f"asterope_move_downwards_{case.move.symbol}" if tuned else path
        for function, distance in itertools.product(FUNCTIONS, (2**40, 8)):
            if (function, distance) != ("memcpy", 8):
                where = (f"asterope_{function}", distance, sizes)
                taken = copies_taken(dispatch_check, *where, *emulator)
                assert taken == [move if distance == 8 else path] * 2, (cpu, function)
        # a gate of what it needs itself: MM's and XMM's need nothing
        set_ = case.memset.intervals[0][1]
        tuned |= not (set_.needs or (case.memset.small and case.memset.small.needs))
        path = f"asterope_set_{set_.symbol}" if tuned else "asterope_set_untuned"
        taken = copies_taken(dispatch_check, "asterope_memset", 0, sizes, *emulator)
        assert taken == [path] * 2, cpu
        if cpu in ("qemu64", "max", WITHOUT_SVE):
            options = ("--step", 31, "--other-step", 31, "--largest", 8192)
            assert_right(*emulator, routine_check, *options, sets=True)


# --- The portable path of x86-64 ------------------------------------------------------------------


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
    routine = render([(4096, NEED["x86_64"]["ZMM"].winner)], tmp_path, small, memset=memset)
    text = routine.read_text(encoding="ascii")
    look = "if (!asterope_cpu_fits()) return;"
    assert text.count(look) == 1
    # one that has looked at the CPU and found it unfit
    text = text.replace(look, "if (asterope_cpu_fits() < 2) return;")
    routine.write_text(text, encoding="ascii")
    dispatch_check = build_dispatch_check(X86_64, routine)
    for function in (*FUNCTIONS, "memset"):
        moves = small.shape == "rep" and function in ("mempcpy", "memmove")
        untuned = "asterope_set_untuned" if function == "memset" else "asterope_untuned"
        first = 129 if moves else NEEDS_FROM[small]
        taken = copies_taken(dispatch_check, f"asterope_{function}", 4096, range(700))
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
DIRECT = RARE["x86_64"]["direct stores"][0][1]

# All that a CPU must have for a copy or set and the small one below it; the copy for overlapping
# buffers where it is not the plain one.
CPU_NEEDS: dict[str, tuple] = {
    "nothing": (set(), R64, PLAIN),
    "a ZMM move": (AVX_512, R64, PLAIN, MOVE("ZMM", 128)),
    "a YMM move": (AVX, R64, PLAIN, MOVE("YMM", 128)),
    "a ZMM pipeline": (AVX_512, ZMM, PLAIN),
    "a YMM pipeline": (AVX, YMM, PLAIN),
    "an XMM pipeline": ({"sse4_1"}, X("XMM", "NT", "T", "none", 0, 0), PLAIN),
    "a pipeline of direct stores": ({"movdir64b", "leaf 7"}, DIRECT, PLAIN),
    "prefetch for write": ({"3dnowprefetch"}, X("XMM", "T", "T", "none", 0, 0, pw=8), PLAIN),
    "a masked small copy": (MASKED, R64, GATED),
    "a ZMM small copy": ({*AVX_512, "avx512vl"}, R64, SMALL("stepped", "ZMM", "up", 256)),
    "a YMM small copy": (AVX, R64, SMALL("grouped", "YMM", "up", 256)),
    "a set of nothing": (set(), Memset([(4096, SX("R64", "T"))])),
    "a ZMM set": ({*AVX_512, "avx512bw"}, Memset([(4096, SX("ZMM", "T"))])),
    "a YMM set": (AVX, Memset([(4096, SX("YMM", "NT"))])),
    "clzero": ({"clzero"}, Memset([(4096, SX("CLZERO", "NT"))])),
    "a set that prefetches": ({"3dnowprefetch"}, Memset([(4096, SX("XMM", "T", 2, 8))])),
    "a masked small set": (MASKED, Memset([(4096, SX("R64", "T"))], GATED_SET)),
    "a ZMM small set": (
        {*AVX_512, "avx512bw", "avx512vl"},
        Memset([(4096, SX("R64", "T"))], SMALL_SET("stepped", "ZMM", "up", 256)),
    ),
    "a YMM small set": (
        AVX,
        Memset([(4096, SX("R64", "T"))], SMALL_SET("grouped", "YMM", "up", 256)),
    ),
}


@pytest.mark.slow
@on_x86_64
@pytest.mark.parametrize("case", CPU_NEEDS.values(), ids=CPU_NEEDS)
def test_each_feature_is_looked_for(tmp_path, case):
    needs, winner, *more = case
    if isinstance(winner, Memset):
        routine = render([(4096, R64)], tmp_path / "routine", memset=winner)
        bound, kind, functions = winner.small_set.bound, "set_", ["memset"]
        winner = winner.intervals[0][1]
    else:
        small, move = (*more, None)[:2]
        routine = render([(4096, winner)], tmp_path / "routine", small, overlapping=move)
        bound, kind, functions = small.bound, "", FUNCTIONS
    program, features = build_on_told_cpu(routine), LOOKED_FOR & CPUID_BITS.keys()
    for feature in (None, *sorted(LOOKED_FOR)):
        cpu = told_x86_64(
            *("", 6, 0, 0),
            features=features,
            lacks=feature,
            most_leaves=6 if feature == "leaf 7" else 7,
            saved=sum(bit for name, bit in SAVED.items() if name != feature),
        )
        tuned = f"asterope_{kind or 'copy_'}{winner.symbol}"
        expected = f"asterope_{kind}untuned" if feature in needs else tuned
        for function in functions:
            distance = 0 if kind else 2**40
            sizes = [bound + 1, 2**20]
            where = (f"asterope_{function}", distance, sizes)
            taken = copies_taken(program, *where, *X86_64.on(FAKE_CPU=cpu))
            assert taken == [expected] * 2, f"{function} without {feature}"


@pytest.mark.slow
@pytest.mark.skipif(not X86_64.is_native, reason="of these there are as many as x86-64 has")
@pytest.mark.parametrize("name", [*NEED["x86_64"], "source 4", "each 4"])
def test_valgrind_finds_nothing(tmp_path, objects, name):
    need("valgrind")
    if name in BY_NAME:
        memset = NEED["x86_64"]["XMM"].memset
        routine = render(INTERVALS, tmp_path, sensing=sensing_with(BY_NAME[name]), memset=memset)
    else:
        routine = needed(X86_64, name, tmp_path)
    program = X86_64.routine_check(routine, objects)
    # The state of the CPU is looked at from below the stack pointer, where valgrind allows nothing.
    options = ("--step", 31, "--other-step", 31, "--largest", 32768, "--without-state", 1)
    assert_right("valgrind", "--quiet", "--error-exitcode=9", program, *options, sets=True)
