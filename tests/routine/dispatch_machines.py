"""Machines whose profiles one file holds, for each architecture, and programs that tell which
profile it has chosen."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from architectures import AARCH64, X86_64, Architecture, build_dispatch_check
from asterope.dispatch import load_profiles, render_dispatch
from copy_programs import FUNCTIONS, Memset, output_of, profile_json

ALL = (*FUNCTIONS, "memset")
X, A = X86_64.pipelines.Tuple, AARCH64.pipelines.Tuple
SX, SA = X86_64.set_pipelines.Tuple, AARCH64.set_pipelines.Tuple
XMM = X("XMM", "T", "T", "none", 0, 0)
STREAMED_XMM = X("XMM", "NT", "NT", "T0", 4, 8)  # needs SSE4.1
YMM = X("YMM", "T", "NT", "T0", 4, 8)


class Flavour(NamedTuple):
    """A machine's features, the winner, the small copy, and the copy that sets; one has no
    memset."""

    has: Sequence[str]
    winner: Any
    small: Any = None
    set: Any = None

    @property
    def memset(self) -> Memset | None:
        return Memset([(4096, self.set)]) if self.set else None

    @property
    def needs(self) -> set[str]:
        return {*self.winner.needs, *(self.small.needs if self.small else ())}


AVX2 = ["3dnowprefetch", "avx", "avx2", "bmi2", "mmx", "rdtscp", "sse", "sse2", "sse4_1", "ssse3"]
AVX512 = [*AVX2, "avx512bw", "avx512dq", "avx512f", "avx512vl", "clflushopt", "clwb", "erms"]
ARMV8 = ["aes", "asimd", "crc32", "fp"]
FLAVOURS = {
    "avx512": Flavour(
        *(AVX512, X("ZMM", "T", "T", "none", 0, 0), X86_64.small["masked ZMM up 256"]),
        SX("ZMM", "T"),
    ),
    "avx2": Flavour(AVX2, YMM, X86_64.small["grouped YMM up 256"], SX("YMM", "NT")),
    "sse4": Flavour(["mmx", "sse", "sse2", "sse4_1"], STREAMED_XMM),
    "sse2": Flavour(["mmx", "sse", "sse2"], XMM, None, SX("R64", "T")),
    "sve": Flavour(
        *([*ARMV8, "atomics", "dcpop", "lrcpc", "sve"], A("SVE", "T", "T", "L1KEEP", 2, 4)),
        *(AARCH64.small["sve Q up 256"], SA("SVE", "T")),
    ),
    "zva": Flavour(
        *(ARMV8, A("Q", "T", "T", "none", 0, 0, clear="zva")),
        *(AARCH64.small["stepped X up 128"], SA("ZVA", "T")),
    ),
    "plain": Flavour([*ARMV8, "atomics"], AARCH64.plain),
    "mops": Flavour([], A("MOPS", "T", "T", "none", 0, 0), None, SA("MOPS", "T")),  # of no machine
}
# Machines as profiles name them: vendor, family, model, stepping, flavour. Of AArch64: implementer,
# family, part, variant << 4 | revision.
MACHINES = {
    "x86_64": {
        "genoa": ("AuthenticAMD", 25, 17, 1, "avx512"),
        "milan": ("AuthenticAMD", 25, 1, 1, "avx2"),
        "rome": ("AuthenticAMD", 23, 49, 0, "avx2"),
        "skylake": ("GenuineIntel", 6, 85, 4, "avx512"),
        "cascade-lake": ("GenuineIntel", 6, 85, 7, "avx512"),
        "haswell": ("GenuineIntel", 6, 63, 2, "avx2"),
        "zhaoxin": ("Shanghai", 7, 59, 0, "avx2"),
        "any.sse4": (None, None, None, None, "sse4"),
        "any.sse2": (None, None, None, None, "sse2"),
    },
    "aarch64": {
        "neoverse-v1": ("0x41", 8, 0xD40, 0x11, "sve"),
        "neoverse-n1": ("0x41", 8, 0xD0C, 0x31, "plain"),
        "neoverse-n1.old": ("0x41", 8, 0xD0C, 0x10, "zva"),
        "cortex-a57": ("0x41", 8, 0xD07, 0x10, "zva"),
        "a64fx": ("0x46", 8, 0x001, 0x10, "sve"),
        "any.plain": (None, None, None, None, "plain"),
    },
}
# Two that any CPU here runs: the first has a memset; and one that asks for nothing.
ASKED = {"x86_64": ("haswell", "any.sse2"), "aarch64": ("neoverse-n1", "any.plain")}


def need_asked(arch: Architecture) -> None:
    """Skips where the first CPU cannot run these."""
    arch.cpu_for(*(FLAVOURS[MACHINES[arch.name][n][-1]].winner for n in ASKED[arch.name]))


def write_profiles(folder: Path, names: Iterable[str], arch: Architecture = X86_64) -> list[Path]:
    """The profiles of these machines, which say nothing of what is None."""
    folder.mkdir(exist_ok=True)
    keys = ("vendor", "family", "model", "stepping")
    paths = {name: folder / f"{name}.json" for name in names}
    for name, path in paths.items():
        *identity, flavour = MACHINES[arch.name][name]
        its = FLAVOURS[flavour]
        raw = json.loads(profile_json([(4096, its.winner)], its.small, memset=its.memset))
        cpu = {key: value for key, value in zip(keys, identity) if value is not None}
        if cpu:
            raw["machine"] = {"cpu": {**cpu, "features": its.has}}
        path.write_text(json.dumps(raw), encoding="utf-8")
    return list(paths.values())


def render_profiles(folder: Path, paths: Sequence[Path]) -> Path:
    """Renders profiles into `folder`; returns the path of the C file."""
    for name, text in render_dispatch(load_profiles(paths)).items():
        (folder / name).write_text(text, encoding="ascii")
    return folder / "asterope_memcpy.c"


def render_machines(arch: Architecture, folder: Path) -> Path:
    """The file of all MACHINES."""
    return render_profiles(folder, write_profiles(folder, MACHINES[arch.name], arch))


def symbol(name: str) -> str:
    return re.sub(r"\W", "_", name)


def with_profile(name: str | None) -> dict[str, str]:
    environment = {key: value for key, value in os.environ.items() if key != "ASTEROPE_PROFILE"}
    return environment if name is None else {**environment, "ASTEROPE_PROFILE": name}


# --- Programs that tell whose function it is ------------------------------------------------------


def build_which(
    routine: Path,
    *flags: str,
    arch: Architecture = X86_64,
    intents: Sequence[str] = (),
    folder: Path | None = None,
) -> Path:
    """dispatch_check that tells which profile's function one is."""
    text = routine.read_text(encoding="ascii")
    inner = re.findall(
        r'(?:NAKED void \*|_BEGIN\(")(asterope_\w+_(?:memcpy\w*|mempcpy|memmove|memset))[("]', text
    )
    copies = [name for name in inner if not re.match(r"asterope_memcpy_(hot|cold|consume)$", name)]
    names = {"COPY": copies, "FUNCTION": [f"asterope_{name}" for name in (*ALL, *intents)]}
    # link-time optimization sees that they are not of the type that dispatch_check has for copies
    flags = ("-Wno-error", *flags)
    return build_dispatch_check(arch, routine, names=names, flags=flags, folder=folder)


def which(
    program: Path, *emulator: object, ask: str | None = None, function: str = "memcpy"
) -> str:
    """The profile whose function it is, as a C name."""
    arguments = (*emulator, program, f"asterope_{function}", 4096, 100)
    reached = output_of(*arguments, env=with_profile(ask)).strip()
    found = re.fullmatch(rf"asterope_(\w+)_{function}", reached)
    assert found, reached
    return found[1]


def assert_takes(arch: Architecture, name: str, *command: object, ask: str | None) -> None:
    """The check of the program, and the emulator before it: that profile, by its C name, is chosen,
    and the fallback's memset where the profile has none."""
    machines = MACHINES[arch.name]
    without = {symbol(one) for one in machines if not FLAVOURS[machines[one][-1]].set}
    for function in ALL:
        expected = "fallback" if function == "memset" and name in without else name
        assert which(*command, ask=ask, function=function) == expected, function


# --- CPUs that are told ---------------------------------------------------------------------------

# Where CPUID says so, leaf.subleaf.register and bit: Intel SDM vol. 2A, CPUID; AMD APM vol. 3,
# appendix E.
CPUID_BITS = {
    **{name: ("1.0.c", bit) for name, bit in (("ssse3", 9), ("sse4_1", 19), ("sse4_2", 20))},
    **{name: ("1.0.c", bit) for name, bit in (("osxsave", 27), ("avx", 28))},
    **{name: ("7.0.b", bit) for name, bit in (("avx2", 5), ("bmi2", 8), ("erms", 9))},
    **{name: ("7.0.b", bit) for name, bit in (("avx512f", 16), ("avx512dq", 17))},
    **{name: ("7.0.b", bit) for name, bit in (("clflushopt", 23), ("clwb", 24))},
    **{name: ("7.0.b", bit) for name, bit in (("avx512bw", 30), ("avx512vl", 31))},
    **{name: ("7.0.c", bit) for name, bit in (("prefetchwt1", 0), ("cldemote", 25))},
    **{name: ("7.0.c", bit) for name, bit in (("movdiri", 27), ("movdir64b", 28))},
    **{"fsrm": ("7.0.d", 4), "fzrm": ("7.1.a", 10), "fsrs": ("7.1.a", 11)},
    **{"3dnowprefetch": ("80000001.0.c", 8), "rdtscp": ("80000001.0.d", 27)},
    "clzero": ("80000008.0.b", 0),
}
# Facts that may be given besides, with their values else.
TOLD = {
    "most_leaves": ("0.0.a", 7),
    "most_subleaves": ("7.0.a", 1),
    "most_extended": ("80000000.0.a", 0x80000008),
    "invariant": ("80000007.0.d", 0),
}
ALL_SAVED = 0xE7
# Where Linux says so: AT_HWCAP or AT_HWCAP2 and the bit (arch/arm64/include/uapi/asm/hwcap.h).
HWCAP_BITS = {
    **{"atomics": (0, 8), "lrcpc": (0, 15), "dcpop": (0, 16), "sve": (0, 22)},
    **{"sve2": (1, 1), "mops": (1, 43)},
}
READABLE = 1 << 11  # HWCAP_CPUID: MIDR_EL1 may be read

# The features that a file knows of a CPU.
KNOWN = {"x86_64": CPUID_BITS.keys() - {"osxsave"}, "aarch64": HWCAP_BITS.keys() | {"zva64"}}


def cpu_line(
    arch: Architecture,
    *identity: Any,
    features: Iterable[str] = (),
    lacks: object = "",
    saved: int = ALL_SAVED,
    **told: int,
) -> str:
    """A CPU as fake_cpu.h reads it; `told`: other values of x86-64's TOLD. Without `saved` one of
    AArch64 may not be asked which it is."""
    vendor, family, model, stepping = identity
    if arch is AARCH64:
        caps = [READABLE if saved else 0, 0]
        for feature in {*features} & HWCAP_BITS.keys():
            word, bit = HWCAP_BITS[feature]
            caps[word] |= 1 << bit
        midr = int(vendor, 16) << 24 | stepping >> 4 << 20 | 15 << 16 | model << 4 | stepping & 15
        return f"{caps[0]:x} {caps[1]:x} {midr:x} {4 if 'zva64' in features else 7:x}"
    base = min(family, 15)
    signature = stepping | model % 16 << 4 | base << 8 | model // 16 << 16 | family - base << 20
    registers = {register: told.get(name, value) for name, (register, value) in TOLD.items()}
    registers.update({"1.0.a": signature, "0.0.s": saved})
    for i, register in enumerate("bdc"):
        part = vendor.encode("ascii").ljust(12, b"\0")[4 * i : 4 * i + 4]
        registers[f"0.0.{register}"] = int.from_bytes(part, "little")
    for feature in {*features, "osxsave"} - {"mmx", "sse", "sse2", lacks}:
        register, bit = CPUID_BITS[feature]
        registers[register] = registers.get(register, 0) | 1 << bit
    return "".join(f" {name}={value:x}" for name, value in registers.items())


# Code that asks the CPU, and the code in its place.
TOLD_INSTEAD = {
    "#include <cpuid.h>": '#include "x86_64/fake_cpu.h"',
    r'__asm__ volatile\("cpuid" .*\);': "read_cpuid(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);",
    r'__asm__ volatile\("xgetbv" .*"c"\(0\)\);': "saved = saved_by_system, (void)saved;",
    r'__asm__ volatile\("mrs %0, midr_el1" .*\);': "midr = fake.midr;",
    r'__asm__ volatile\("mrs %0, dczid_el0" .*\);': "clears = fake.dczid;",
}


def _on_told_cpu(routine: Path) -> Path:
    text = routine.read_text(encoding="ascii")
    for asks, instead in TOLD_INSTEAD.items():
        text = re.sub(asks, instead, text)
    routine.write_text(text, encoding="ascii")
    return routine


def build_on_told_cpu(routine: Path) -> Path:
    """dispatch_check of a routine of one profile, for which the variable FAKE_CPU is the CPU."""
    return build_dispatch_check(X86_64, _on_told_cpu(routine))


def build_nearest_check(arch: Architecture, routine: Path) -> Path:
    """nearest_check with the routine, which it tells what the CPU is."""
    flags = (f'-DROUTINE="{_on_told_cpu(routine)}"', "-Wno-unused-function", "-static")
    return arch.program(routine.parent, "nearest_check", *flags)


def nearest(arch: Architecture, program: Path, *cpus: str) -> list[tuple[str, int]]:
    """The profile that each takes, and what it is found to have."""
    words = output_of(*arch.on(), program, input="\n".join(cpus)).split()
    return [(name, int(has, 16)) for name, has in zip(words[::2], words[1::2])]
