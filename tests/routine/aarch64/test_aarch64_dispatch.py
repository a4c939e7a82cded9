"""One file of several AArch64 machines' profiles: the right one is chosen, however it is linked."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from aarch64_programs import (
    CLANG,
    CLANGXX,
    COMPILER,
    PLAIN,
    SET,
    SHORT_VECTORS,
    SMALL_COPIES,
    WITH_SVE,
    WITHOUT_SVE,
    emulated,
    needs_emulator_and_time,
)
from asterope.dispatch import load_profiles, render_dispatch
from asterope.spaces.aarch64 import (
    overlapping_copies,
    pipelines,
    set_pipelines,
    small_copies,
    small_sets,
)
from asterope.spaces.aarch64.pipelines import Tuple
from copy_programs import (
    CHECKERS,
    FUNCTIONS,
    STRICT,
    STRICT_C,
    Memset,
    assert_right,
    build_listed,
    build_routine_check,
    need,
    output_of,
    profile_json,
    run,
)

pytestmark = needs_emulator_and_time

ARMV8 = ["aes", "asimd", "crc32", "fp"]
FLAVOURS = {
    # what the machine has, the winner, the small copy, the set
    "sve": (
        *([*ARMV8, "atomics", "dcpop", "lrcpc", "sve"], Tuple("SVE", "T", "T", "L1KEEP", 2, 4)),
        *(SMALL_COPIES["sve Q up 256"], SET("SVE", "T")),
    ),
    "zva": (
        *(ARMV8, Tuple("Q", "T", "T", "none", 0, 0, clear="zva")),
        *(SMALL_COPIES["stepped X up 128"], SET("ZVA", "T")),
    ),
    "plain": ([*ARMV8, "atomics"], PLAIN, None, None),
}
ALL = (*FUNCTIONS, "memset")
IDENTITY = ("vendor", "family", "model", "stepping")
# Machines as profiles name them: implementer, family, part, variant << 4 | revision, flavour.
MACHINES = {
    "neoverse-v1": ("0x41", 8, 0xD40, 0x11, "sve"),
    "neoverse-n1": ("0x41", 8, 0xD0C, 0x31, "plain"),
    "neoverse-n1.old": ("0x41", 8, 0xD0C, 0x10, "zva"),
    "cortex-a57": ("0x41", 8, 0xD07, 0x10, "zva"),
    "a64fx": ("0x46", 8, 0x001, 0x10, "sve"),
    "any.plain": (None, None, None, None, "plain"),
}


def render_profiles(folder: Path, names: Iterable[str]) -> Path:
    """Renders the profiles of these machines into `folder`; returns the path of the C file."""
    folder.mkdir(exist_ok=True)
    paths = []
    for name in names:
        *identity, flavour = MACHINES[name]
        has, winner, small, sets = FLAVOURS[flavour]
        memset = Memset([(4096, sets)]) if sets else None
        raw = json.loads(profile_json([(4096, winner)], small, memset=memset))
        if identity[0]:
            raw["machine"] = {"cpu": {**dict(zip(IDENTITY, identity)), "features": has}}
        paths.append(folder / f"{name}.json")
        paths[-1].write_text(json.dumps(raw), encoding="utf-8")
    for name, text in render_dispatch(load_profiles(paths)).items():
        (folder / name).write_text(text, encoding="ascii")
    return folder / "asterope_memcpy.c"


def symbol(name: str) -> str:
    return re.sub(r"\W", "_", name)


def taken_from(name: str, function: str) -> str:
    """Whose function it is where that profile, by its C name, is the one that was chosen."""
    return "fallback" if function == "memset" and name.endswith(("_n1", "_plain")) else name


@pytest.fixture(scope="module")
def routine(tmp_path_factory) -> Path:
    """The file of all MACHINES."""
    return render_profiles(tmp_path_factory.mktemp("several"), MACHINES)


# --- What is chosen, by the CPU -------------------------------------------------------------------


# Where Linux says so: AT_HWCAP or AT_HWCAP2 and the bit (arch/arm64/include/uapi/asm/hwcap.h).
BITS = {
    **{"atomics": (0, 8), "lrcpc": (0, 15), "dcpop": (0, 16), "sve": (0, 22)},
    **{"sve2": (1, 1), "mops": (1, 43)},
}
READABLE = 1 << 11  # HWCAP_CPUID: MIDR_EL1 may be read


def cpu_line(
    vendor: str, _: int, model: int, stepping: int, features: Iterable[str] = (), readable=READABLE
) -> str:
    """A CPU as nearest_check reads it."""
    caps = [readable, 0]
    for feature in {*features} & BITS.keys():
        word, bit = BITS[feature]
        caps[word] |= 1 << bit
    midr = int(vendor, 16) << 24 | stepping >> 4 << 20 | 15 << 16 | model << 4 | stepping & 15
    return f"{caps[0]:x} {caps[1]:x} {midr:x} {4 if 'zva64' in features else 7:x}"


@pytest.fixture(scope="module")
def nearest_check(routine: Path, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("nearest")
    text = routine.read_text(encoding="ascii")
    for register, variable in (("midr_el1", "midr"), ("dczid_el0", "clears")):
        asked = f'__asm__ volatile("mrs %0, {register}" : "=r"({variable}));'
        assert text.count(asked) == 1
        text = text.replace(asked, f"{variable} = fake.{register.split('_')[0]};")
    changed = folder / "changed.c"
    changed.write_text(text, encoding="ascii")
    flags = (*STRICT_C, f'-DROUTINE="{changed}"', f"-I{routine.parent}", "-Wno-unused-function")
    program = folder / "nearest_check"
    output_of(COMPILER, *flags, "-static", CHECKERS / "nearest_check.c", "-o", program)
    return program


def told(program: Path, *cpus: str) -> list[list[str]]:
    lines = output_of(*emulated(), program, input="\n".join(cpus)).splitlines()
    assert len(lines) == len(cpus)
    return [line.split() for line in lines]


SVE = [*FLAVOURS["sve"][0], "zva64"]
NEAREST = {
    "its own": (("0x41", 8, 0xD40, 0x11), SVE, "neoverse-v1"),
    "the nearer of two steppings": (("0x41", 8, 0xD0C, 0x12), ["zva64"], "neoverse-n1.old"),
    "the nearer of two steppings above": (("0x41", 8, 0xD0C, 0x40), ["zva64"], "neoverse-n1"),
    "its own, which clears other lines": (("0x41", 8, 0xD07, 0x10), ["atomics"], "neoverse-n1"),
    "its own, without SVE": (("0x46", 8, 1, 0x10), ["atomics"], "neoverse-n1"),
    "the vendor's other one": (("0x46", 8, 3, 0), SVE, "a64fx"),
    "a vendor whose second digit differs": (("0x42", 8, 0xD40, 0x11), [], "any.plain"),
    "another vendor with SVE": (("0x48", 8, 0xD40, 0x11), SVE, "neoverse-v1"),
    "the last one of two digits": (("0xc0", 8, 0xAC3, 0), ["atomics"], "neoverse-n1"),
}


@pytest.mark.parametrize("case", NEAREST.values(), ids=NEAREST)
def test_the_nearest_profile_is_chosen(nearest_check, case):
    identity, features, expected = case
    assert told(nearest_check, cpu_line(*identity, features))[0][0] == expected


def test_a_cpu_that_may_not_be_asked_is_like_no_machine_s(nearest_check):
    line = cpu_line("0x41", 8, 0xD40, 0x11, ["zva64"], readable=0)
    assert told(nearest_check, line)[0][0] not in ("neoverse-v1", "a64fx")


def test_each_feature_is_read_from_its_bit(routine, nearest_check):
    text = routine.read_text(encoding="ascii")
    places = re.findall(r"asterope_has_(\w+) = 1 << (\d+)", text)
    known = {name: 1 << int(bit) for name, bit in places}
    assert known.keys() == BITS.keys() | {"zva64"}
    assert len(known) < 32  # else the distances would not have room
    lines = told(nearest_check, *(cpu_line("0x41", 8, 1, 1, [name]) for name in known))
    assert {name: int(line[1], 16) for name, line in zip(known, lines)} == known


def test_all_that_a_copy_may_need_is_known():
    copies = [*small_copies.small_tuples(), *overlapping_copies.overlapping_tuples()]
    copies += [*overlapping_copies.overlapping_tuples(), *pipelines.variants()]
    copies += [*set_pipelines.variants(), *small_sets.small_sets()]
    assert {feature for copy in copies for feature in copy.needs} <= BITS.keys() | {"zva64"}


# --- What is chosen, by emulated CPUs and when asked for ------------------------------------------


def build_which(folder: Path, routine: Path, *compiler: str) -> Path:
    """dispatch_check that tells which profile's function one is."""
    folder.mkdir(exist_ok=True)
    text = routine.read_text(encoding="ascii")
    inner = re.findall(r'_BEGIN\("(asterope_\w+_(?:memcpy|mempcpy|memmove|memset))"', text)
    names = {"COPY": inner, "FUNCTION": [f"asterope_{name}" for name in ALL]}
    command, *flags = compiler or (COMPILER, "-O2", "-static")
    return build_listed(folder, names, routine, compiler=command, flags=flags)


def which(program: Path, cpu: str, function: str = "memcpy", ask: str | None = None) -> str:
    """The profile whose function it is, as a C name."""
    environment = {key: value for key, value in os.environ.items() if key != "ASTEROPE_PROFILE"}
    environment |= {} if ask is None else {"ASTEROPE_PROFILE": ask}
    command = (*emulated(cpu), program, f"asterope_{function}", 4096, 100)
    reached = output_of(*command, env=environment).strip()
    found = re.fullmatch(rf"asterope_(\w+)_{function}", reached)
    assert found, reached
    return found[1]


@pytest.fixture(scope="module")
def program(routine, tmp_path_factory) -> Path:
    return build_which(tmp_path_factory.mktemp("which"), routine)


# The emulated CPU, what is asked for: what is taken.
EMULATED = {
    (WITHOUT_SVE, None): "cortex_a57",
    ("cortex-a72", None): "neoverse_n1_old",  # the vendor's: it has what that had
    ("neoverse-n1", None): "neoverse_n1",
    ("a64fx", None): "a64fx",
    (WITHOUT_SVE, "neoverse-n1"): "neoverse_n1",
    (WITHOUT_SVE, "neoverse-v1"): "cortex_a57",  # it cannot run that
    (WITHOUT_SVE, "fallback"): "fallback",
    (WITH_SVE, "neoverse-v1"): "neoverse_v1",
    (WITH_SVE, "any.plain"): "any_plain",
    **{
        (WITHOUT_SVE, no_name): "cortex_a57"
        for no_name in ("", "any_plain", "neoverse-n", "x" * 5000)
    },
}


@pytest.mark.parametrize(("case", "expected"), EMULATED.items(), ids=lambda value: str(value)[:50])
def test_the_cpu_or_the_environment_chooses(program, case, expected):
    cpu, ask = case
    for function in ALL:
        assert which(program, cpu, function, ask) == taken_from(expected, function)


def test_a_cpu_that_can_run_none_takes_the_fallback(tmp_path):
    routine = render_profiles(tmp_path, ["neoverse-v1", "a64fx"])
    program = build_which(tmp_path / "which", routine)
    assert which(program, WITHOUT_SVE) == "fallback"


# --- However it is compiled and linked ------------------------------------------------------------


WAYS: dict[str, tuple[str, ...]] = {
    "gcc -O0": (COMPILER, "-O0"),
    "gcc -O3": (COMPILER, "-O3"),
    "no position independence": (COMPILER, "-O2", "-no-pie", "-fno-pie"),
    "static PIE": (COMPILER, "-O2", "-static-pie", "-fPIE", "-fstack-protector-all"),
    "without indirect functions": (COMPILER, "-O2", "-DASTEROPE_NO_IFUNC"),
    "LTO": (COMPILER, "-O3", "-flto"),
    "protected branches": (COMPILER, "-O2", "-mbranch-protection=standard"),
    "undefined behaviour": (COMPILER, "-O1", "-fsanitize=undefined"),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_it_chooses_alike_however_it_is_linked(tmp_path, routine, way):
    program = build_which(tmp_path, routine, *way)
    assert which(program, WITHOUT_SVE) == "cortex_a57"
    assert which(program, WITHOUT_SVE, "mempcpy", "neoverse-n1") == "neoverse_n1"
    assert which(program, "a64fx", "memset") == "a64fx"


@pytest.mark.parametrize(
    "compiler",
    [(COMPILER, "-std=c99"), ("aarch64-linux-gnu-g++",), (*CLANG, "-std=c99"), CLANGXX],
    ids=lambda c: c[0],
)
def test_it_compiles_without_a_word_and_needs_no_symbol_from_elsewhere(tmp_path, routine, compiler):
    need(compiler[0])
    as_cxx = ("-x", "c++", "-std=c++17") if "++" in compiler[0] else ()
    for level in ("-O0", "-O3"):
        target = tmp_path / "routine.o"
        output_of(*compiler, *as_cxx, *STRICT, level, "-fPIC", "-c", routine, "-o", target)
        undefined = set(output_of("aarch64-linux-gnu-nm", "-u", target).split()) - {"U"}
        assert undefined <= {"getauxval", "_GLOBAL_OFFSET_TABLE_"}, level


@pytest.mark.parametrize(
    ("cpu", "ask"),
    [(WITHOUT_SVE, "cortex-a57"), (SHORT_VECTORS, "neoverse-v1"), (WITH_SVE, "fallback")],
)
def test_it_copies_right_with_each_of_them(tmp_path, routine, cpu, ask):
    folder = tmp_path / "routine"
    folder.mkdir()
    for kind in "ch":
        (folder / f"asterope_memcpy.{kind}").write_text(
            routine.with_suffix(f".{kind}").read_text(encoding="ascii"), encoding="ascii"
        )
    copied = folder / "asterope_memcpy.c"
    program = build_routine_check(
        copied, tmp_path, COMPILER, (*STRICT_C, "-O2"), checkers_by=COMPILER
    )
    options = ("--step", 31, "--other-step", 31, "--largest", 65536)
    environment = {**os.environ, "ASTEROPE_PROFILE": ask}
    assert_right(*emulated(cpu), program, *options, sets=True, env=environment)


def test_a_library_for_ld_preload_chooses_as_well(tmp_path, routine):
    source = CHECKERS.parents[1] / "templates" / "preload.c"
    library, program = tmp_path / "library.so", tmp_path / "program"
    flags = ("-O2", "-fPIC", "-shared", "-fno-builtin", f'-DASTEROPE_ROUTINE="{routine}"')
    output_of(COMPILER, *flags, source, "-o", library)
    checker = (CHECKERS / "preload_check.c", "-std=gnu99", "-O2", "-fno-builtin", "-pthread")
    output_of(COMPILER, *checker, "-o", program)
    for cpu in (WITHOUT_SVE, WITH_SVE):
        preloaded = emulated(cpu, "-E", f"LD_PRELOAD={library}")
        for check in ("copies", "early", "threads"):
            done = run(*preloaded, program, check)
            assert (done.returncode, done.stderr) == (0, ""), check
