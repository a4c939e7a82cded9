"""One file of several machines' profiles: the right one is chosen, however it is linked."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from asterope import generate
from asterope.dispatch import load_profiles, render_dispatch
from asterope.spaces import aliased_copies, overlapping_copies, pipelines, small_copies
from asterope.spaces.x86_64.pipelines import Tuple
from asterope.spaces.x86_64.probes import PROBES, SensingCopy
from asterope.spaces.x86_64.small_copies import SmallTuple
from copy_programs import (
    CHECKERS,
    FUNCTIONS,
    REPOSITORY,
    STRICT,
    STRICT_C,
    build_routine_check,
    copies_taken,
    cpu_features,
    failures,
    need,
    output_of,
    profile_json,
    render,
    run,
)
from profile_samples import good_profile, incomplete_profile
from sampling import sampled

XMM = Tuple("XMM", "T", "T", "none", 0, 0)
STREAMED_XMM = Tuple("XMM", "NT", "NT", "T0", 4, 8)  # needs SSE4.1
YMM = Tuple("YMM", "T", "NT", "T0", 4, 8)
ZMM = Tuple("ZMM", "T", "T", "none", 0, 0)
MASKED = SmallTuple("masked", "ZMM", "up", 256)

AVX2 = ["3dnowprefetch", "avx", "avx2", "bmi2", "mmx", "rdtscp", "sse", "sse2", "sse4_1", "ssse3"]
AVX512 = [*AVX2, "avx512bw", "avx512dq", "avx512f", "avx512vl", "clflushopt", "clwb", "erms"]
FLAVOURS = {
    # what the machine has, the winner, the small copy
    "avx512": (AVX512, ZMM, MASKED),
    "avx2": (AVX2, YMM, SmallTuple("grouped", "YMM", "up", 512)),
    "sse4": (["mmx", "sse", "sse2", "sse4_1"], STREAMED_XMM, None),
    "sse2": (["mmx", "sse", "sse2"], XMM, None),
}
IDENTITY = ("vendor", "family", "model", "stepping")
# Machines as profiles name them: vendor, family, model, stepping, flavour.
MACHINES = {
    "genoa": ("AuthenticAMD", 25, 17, 1, "avx512"),
    "milan": ("AuthenticAMD", 25, 1, 1, "avx2"),
    "rome": ("AuthenticAMD", 23, 49, 0, "avx2"),
    "skylake": ("GenuineIntel", 6, 85, 4, "avx512"),
    "cascade-lake": ("GenuineIntel", 6, 85, 7, "avx512"),
    "haswell": ("GenuineIntel", 6, 63, 2, "avx2"),
    "zhaoxin": ("Shanghai", 7, 59, 0, "avx2"),
    "any.sse4": (None, None, None, None, "sse4"),
    "any.sse2": (None, None, None, None, "sse2"),
}


def write_profile(folder: Path, name: str, machine: Sequence, features: object = None) -> Path:
    """A profile of this machine, which says nothing of what is None."""
    *identity, flavour = machine
    has, winner, small = FLAVOURS[flavour]
    raw = json.loads(profile_json([(4096, winner)], small))
    cpu = {key: value for key, value in zip(IDENTITY, identity) if value is not None}
    if cpu:
        raw["machine"] = {"cpu": {**cpu, "features": has if features is None else features}}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    return path


def write_profiles(folder: Path, names: Iterable[str]) -> list[Path]:
    folder.mkdir(exist_ok=True)
    return [write_profile(folder, name, MACHINES[name]) for name in names]


def render_profiles(folder: Path, paths: Sequence[Path]) -> Path:
    """Renders profiles into `folder`; returns the path of the C file."""
    for name, text in render_dispatch(load_profiles(paths)).items():
        (folder / name).write_text(text, encoding="ascii")
    return folder / "asterope_memcpy.c"


def symbol(name: str) -> str:
    return re.sub(r"\W", "_", name)


@pytest.fixture(scope="module")
def routine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of all MACHINES."""
    folder = tmp_path_factory.mktemp("several")
    return render_profiles(folder, write_profiles(folder, MACHINES))


@pytest.fixture(scope="module")
def avx2() -> None:
    """Skips where this CPU cannot be told to take the profiles that need no more than AVX2."""
    if "avx2" not in cpu_features():
        pytest.skip("this CPU lacks AVX2")


def with_profile(name: str | None) -> dict[str, str]:
    environment = {key: value for key, value in os.environ.items() if key != "ASTEROPE_PROFILE"}
    return environment if name is None else {**environment, "ASTEROPE_PROFILE": name}


# --- The command ----------------------------------------------------------------------------------

NAMES = ["asterope_memcpy.c", "asterope_memcpy.h"]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder that holds the files of an earlier run."""
    folder = tmp_path / "out"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text(f"the old {name}", encoding="utf-8")
    return folder


def command(*arguments: object) -> int:
    try:
        return generate.main([str(argument) for argument in arguments])
    except SystemExit as left:  # as argparse leaves
        return left.code


def refused(capsys: pytest.CaptureFixture[str], out: Path, *arguments: object) -> str:
    """The one line with which the command refuses; an earlier run's files stand as they were."""
    assert command(*arguments, "--dispatch", "-o", out) == 2
    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    assert re.fullmatch(r"asterope-generate: .*\n", stderr)
    assert stderr[:-1].isprintable()
    for name in NAMES:
        assert (out / name).read_text(encoding="utf-8") == f"the old {name}"
    assert sorted(path.name for path in out.iterdir()) == NAMES
    return stderr


def test_options_may_stand_between_the_profiles(tmp_path, out, capsys):
    first, second = write_profiles(tmp_path, ["genoa", "haswell"])
    assert command(first, "-o", tmp_path / "a", "--dispatch", second, "--prefix", "fast") == 0
    names = [tmp_path / "a" / f"fast_memcpy.{kind}" for kind in "ch"]
    expected = f"wrote {names[0]} and {names[1]} (2 profiles: genoa, haswell)\n"
    assert capsys.readouterr() == (expected, "")
    prefix = ("--prefix", "fast", "--prefix", "fast")  # one, if twice
    assert command(*prefix, "--dispatch", first, second, "-o", tmp_path / "b") == 0
    for path in names:
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    assert "const char *fast_profile(void);" in names[1].read_text(encoding="ascii")


def test_the_same_profiles_give_the_same_bytes(tmp_path):
    paths = write_profiles(tmp_path, ["genoa", "haswell"])
    for seed in ("1", "2"):  # in processes of their own, whose hashes of strings differ
        environment = {"PYTHONPATH": str(REPOSITORY / "scripts"), "PYTHONHASHSEED": seed}
        arguments = [sys.executable, "-m", "asterope.generate", "--dispatch", *paths]
        output_of(*arguments, "-o", tmp_path / seed, env={**os.environ, **environment})
    for name in NAMES:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_an_incomplete_profile_is_warned_of_by_its_file(tmp_path, out, capsys):
    good, incomplete = tmp_path / "good.json", tmp_path / "half.json"
    good.write_text(json.dumps(good_profile()), encoding="utf-8")
    raw = incomplete_profile()
    raw["machine"]["cpu"]["model"] += 1
    incomplete.write_text(json.dumps(raw), encoding="utf-8")
    assert command(good, incomplete, "--dispatch", "-o", out) == 0
    stderr = capsys.readouterr().err
    assert stderr.startswith(f"asterope-generate: warning: {incomplete}: incomplete: ")
    assert stderr.count("\n") == 1
    assert " * Incomplete: " in (out / NAMES[0]).read_text(encoding="ascii")


def test_several_profiles_without_dispatch_are_refused(tmp_path, out, capsys):
    paths = write_profiles(tmp_path, ["genoa", "haswell"])
    assert command(*paths, "-o", out) == 2
    assert "only with --dispatch: see asterope-generate --help" in capsys.readouterr().err
    assert (out / NAMES[0]).read_text(encoding="utf-8") == f"the old {NAMES[0]}"


# What is wrong with two files, {0} and {1}: the text of the second, further options, what is said.
REFUSED: dict[str, tuple[object, list[str], list[str]]] = {
    "several prefixes": (None, ["--prefix", "a", "--prefix", "b"], ["--prefix: one file has one"]),
    "another architecture": (
        {"architecture": "aarch64"},
        [],
        ["{1}: architecture: ", "aarch64"],
    ),
    "the same CPU": (
        {
            "machine": {
                "cpu": dict(zip(("vendor", "family", "model", "stepping"), MACHINES["genoa"]))
            }
        },
        [],
        [
            "{1}: tuned on the same CPU as {0} (AuthenticAMD, family 25, model 17",
            "asterope-tune merge",
        ],
    ),
    "a file given twice": (None, ["{0}"], ["{0}: given twice: leave one out"]),
    "no JSON": ("{", [], ["{1}: line 1"]),
    "a missing file": (None, ["none.json"], ["none.json: cannot read it"]),
    "a vendor that no CPU has": (
        {"machine": {"cpu": {"vendor": "AuthenticAMD2"}}},
        [],
        ["machine.cpu.vendor: longer than the 12"],
    ),
}


@pytest.mark.parametrize(("second", "more", "said"), REFUSED.values(), ids=REFUSED)
def test_profiles_that_do_not_go_together_are_refused(tmp_path, out, capsys, second, more, said):
    paths = write_profiles(tmp_path, ["genoa", "haswell"])
    if second is not None:
        raw = json.loads(paths[1].read_text(encoding="utf-8"))
        text = second if isinstance(second, str) else json.dumps({**raw, **second})
        paths[1].write_text(text, encoding="utf-8")
    line = refused(capsys, out, *paths, *(part.format(*paths) for part in more))
    assert all(part.format(*paths) in line for part in said), line


@pytest.mark.parametrize(
    ("first", "second"), [("a/x.json", "b/x.json"), ("a/x-1.json", "a/x.1.json")]
)
def test_two_profiles_of_the_same_name_are_refused(tmp_path, out, capsys, first, second):
    machines = (MACHINES["genoa"], MACHINES["haswell"])
    for path, machine in zip((tmp_path / first, tmp_path / second), machines):
        path.parent.mkdir(exist_ok=True)
        write_profile(path.parent, path.stem, machine)
    line = refused(capsys, out, tmp_path / first, tmp_path / second)
    assert f"is that of {tmp_path / first}: rename one of the files" in line


BAD_NAMES = [
    "a b",
    'a"b',
    "a\\",
    "-a",
    ".a",
    "caf\u00e9",
    "a\nb",
    "a" * 64,
    "fallback",
    "a*",
    "??/",
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_is_none_for_a_profile_is_refused(tmp_path, out, capsys, name):
    path = tmp_path / f"{name.replace('/', '%')}.json"
    path.write_text("{}", encoding="utf-8")
    line = refused(capsys, out, "--", path)
    assert "rename the file" in line
    assert ("plus signs" in line) == (name != "fallback")


def test_only_a_file_of_several_profiles_promises_to_name_the_chosen_one(tmp_path):
    single = render([(4096, XMM)], tmp_path / "single").with_suffix(".h").read_text("ascii")
    assert "_profile" not in single
    assert "ASTEROPE_PROFILE" not in single
    (path,) = write_profiles(tmp_path, ["any.sse2"])
    header = render_profiles(tmp_path, [path]).with_suffix(".h").read_text("ascii")
    assert "const char *asterope_profile(void);" in header
    assert re.search(r"^ \*   any.sse2  ", header, re.MULTILINE)
    promise = re.compile(r"^(?:void|const char) \*(.*)$", re.MULTILINE)
    assert [p for p in promise.findall(header) if "_profile" not in p] == promise.findall(single)


# --- What is chosen, by the CPU -------------------------------------------------------------------

# Where CPUID says so: Intel SDM vol. 2A, CPUID; AMD APM vol. 3, appendix E.
BITS = {
    **{name: ("leaf1_c", bit) for name, bit in (("ssse3", 9), ("sse4_1", 19), ("sse4_2", 20))},
    **{name: ("leaf1_c", bit) for name, bit in (("osxsave", 27), ("avx", 28))},
    **{name: ("leaf7_b", bit) for name, bit in (("avx2", 5), ("bmi2", 8), ("erms", 9))},
    **{name: ("leaf7_b", bit) for name, bit in (("avx512f", 16), ("avx512dq", 17))},
    **{name: ("leaf7_b", bit) for name, bit in (("clflushopt", 23), ("clwb", 24))},
    **{name: ("leaf7_b", bit) for name, bit in (("avx512bw", 30), ("avx512vl", 31))},
    **{name: ("leaf7_c", bit) for name, bit in (("prefetchwt1", 0), ("cldemote", 25))},
    **{name: ("leaf7_c", bit) for name, bit in (("movdiri", 27), ("movdir64b", 28))},
    **{"fsrm": ("leaf7_d", 4), "fzrm": ("leaf7_1_a", 10), "fsrs": ("leaf7_1_a", 11)},
    **{"3dnowprefetch": ("extended_c", 8), "rdtscp": ("extended_d", 27)},
}
REGISTERS = (
    *("most_leaves", "leaf0_b", "leaf0_d", "leaf0_c", "signature", "leaf1_c", "most_subleaves"),
    *("leaf7_b", "leaf7_c", "leaf7_d", "leaf7_1_a", "extended_c", "extended_d", "saved"),
)
ALL_SAVED = 0xE7


def cpu_line(
    vendor: str,
    family: int,
    model: int,
    stepping: int,
    features: Iterable[str],
    saved: int = ALL_SAVED,
) -> str:
    """A CPU as nearest_check reads it."""
    registers = dict.fromkeys(REGISTERS, 0)
    for i, register in enumerate(("leaf0_b", "leaf0_d", "leaf0_c")):
        part = vendor.encode("ascii").ljust(12, b"\0")[4 * i : 4 * i + 4]
        registers[register] = int.from_bytes(part, "little")
    base = min(family, 15)
    registers["signature"] = (
        stepping | (model & 15) << 4 | base << 8 | (model >> 4) << 16 | (family - base) << 20
    )
    registers["most_leaves"] = 7
    registers["most_subleaves"] = 1
    registers["saved"] = saved
    for feature in {*features, "osxsave"} - {"mmx", "sse", "sse2"}:
        register, bit = BITS[feature]
        registers[register] |= 1 << bit
    return " ".join(f"{value:x}" for value in registers.values())


def build_nearest_check(folder: Path, routine: Path) -> Path:
    """nearest_check with the routine, in which it stands in for CPUID and XGETBV."""
    folder.mkdir(exist_ok=True)
    text = routine.read_text(encoding="ascii")
    cpuid = r'__asm__ volatile\("cpuid" .*"c"\(subleaf\)\);'
    xgetbv = r'__asm__ volatile\("xgetbv" .*"c"\(0\)\);'
    told = "read_cpuid(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);"
    for instruction, instead in ((cpuid, told), (xgetbv, "saved = saved_by_system;")):
        text, count = re.subn(instruction, instead, text)
        assert count == 1
    changed = folder / "changed.c"
    changed.write_text(text, encoding="ascii")
    program = folder / "nearest_check"
    flags = (f'-DROUTINE="{changed}"', f"-I{routine.parent}", "-Wno-unused-function")
    output_of("gcc", *STRICT_C, *flags, CHECKERS / "nearest_check.c", "-o", program)
    return program


def nearest(program: Path, *cpus: str) -> list[str]:
    lines = output_of(program, input="\n".join(cpus)).splitlines()
    assert len(lines) == len(cpus)
    return [line.split()[0] for line in lines]


@pytest.fixture(scope="module")
def nearest_check(routine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_nearest_check(tmp_path_factory.mktemp("nearest"), routine)


GRANITE_RAPIDS = [*AVX512, "fsrm", "movdir64b", "movdiri", "cldemote"]
NEAREST = {
    # the very CPU
    **{
        f"{name} itself": ((*m[:4], FLAVOURS[m[-1]][0]), name)
        for name, m in MACHINES.items()
        if m[0]
    },
    # the nearest stepping
    "Skylake-SP, stepping 3": (("GenuineIntel", 6, 85, 3, AVX512), "skylake"),
    "Cascade Lake, stepping 6": (("GenuineIntel", 6, 85, 6, AVX512), "cascade-lake"),
    "Cooper Lake": (("GenuineIntel", 6, 85, 11, AVX512), "cascade-lake"),
    # family and vendor
    "Zen 4, client": (("AuthenticAMD", 25, 97, 2, AVX512), "genoa"),
    "Zen 3, client": (("AuthenticAMD", 25, 33, 2, AVX2), "milan"),
    "Zen 5": (("AuthenticAMD", 26, 2, 1, GRANITE_RAPIDS), "genoa"),
    "Zen 2, client": (("AuthenticAMD", 23, 113, 0, AVX2), "rome"),
    "Zen 1": (("AuthenticAMD", 23, 1, 2, AVX2), "rome"),
    # family 25 before 23, the nearer features before the more general
    "Granite Rapids": (("GenuineIntel", 6, 173, 1, GRANITE_RAPIDS), "skylake"),
    "Broadwell": (("GenuineIntel", 6, 79, 1, AVX2), "haswell"),
    "Hygon": (("HygonGenuine", 24, 0, 1, AVX2), "milan"),
    "Zhaoxin, in blanks": (("  Shanghai  ", 7, 91, 0, AVX2), "zhaoxin"),
    # its own profile, but what it needs is lacking: not saved by the system, or masked
    "genoa without AVX-512": (("AuthenticAMD", 25, 17, 1, AVX2), "milan"),
    "genoa, saving AVX only": (("AuthenticAMD", 25, 17, 1, AVX512, 7), "milan"),
    "genoa, saving nothing": (("AuthenticAMD", 25, 17, 1, AVX512, 0), "any.sse4"),
    "Nehalem": (("GenuineIntel", 6, 26, 5, ["sse4_1", "sse4_2", "ssse3"]), "any.sse4"),
    "Opteron": (("AuthenticAMD", 15, 5, 8, []), "any.sse2"),
    # all are as near: the first one
    "a vendor that begins alike": (("AuthenticAMF", 6, 85, 7, AVX512), "genoa"),
    "no vendor": (("", 25, 17, 1, AVX2), "milan"),
}


@pytest.mark.parametrize(("cpu", "expected"), NEAREST.values(), ids=NEAREST)
def test_the_nearest_profile_is_chosen(nearest_check, cpu, expected):
    assert nearest(nearest_check, cpu_line(*cpu)) == [expected]


def test_each_feature_is_read_from_its_bit(routine, nearest_check):
    text = routine.read_text(encoding="ascii")
    places = re.findall(r"asterope_has_(\w+) = 1 << (\d+)", text)
    known = {name: 1 << int(bit) for name, bit in places}
    assert known.keys() == BITS.keys() - {"osxsave"}
    assert len(known) < 32  # else the distances would not have room
    cpus = [cpu_line("x", 6, 1, 1, [name]) for name in known]
    lines = output_of(nearest_check, input="\n".join(cpus)).splitlines()
    assert {n: int(line.split()[1], 16) for n, line in zip(known, lines)} == known


def test_all_that_a_copy_may_need_is_known(routine):
    text = routine.read_text(encoding="ascii")
    known = set(re.findall(r"asterope_has_(\w+) = 1 <<", text))
    others = [*aliased_copies.aliased_tuples(), *overlapping_copies.overlapping_tuples()]
    copies = [*small_copies.small_tuples(), *others, *pipelines.variants()]
    needs = {feature for copy in copies for feature in copy.needs}
    assert {"avx512f", "movdir64b", "3dnowprefetch"} < needs
    assert needs <= known


def test_leaves_that_a_cpu_lacks_are_not_read(nearest_check):
    """Intel's CPUs answer with another leaf's values."""
    line = cpu_line("GenuineIntel", 6, 63, 2, [*GRANITE_RAPIDS, "fzrm"])
    numbers = dict(zip(REGISTERS, line.split()))

    def told(**changed: str) -> list[str]:
        cpu = " ".join({**numbers, **changed}.values())
        return output_of(nearest_check, input=cpu).split()

    assert told()[0] == "haswell"
    assert told(most_leaves="6")[0] == "any.sse4"
    assert told(leaf7_1_a="0") == told(most_subleaves="0") != told()


def expected_profile(
    profiles: Mapping[str, tuple[Sequence, Sequence[str]]], cpu: Sequence, known: set[str]
) -> str:
    """The rule, told a second time: profiles are (machine, features)."""
    best, chosen = None, "fallback"
    has = set(cpu[4]) & known
    for name, (machine, features) in profiles.items():
        needs = {*FLAVOURS[machine[-1]][1].needs}
        small = FLAVOURS[machine[-1]][2]
        needs |= {*(small.needs if small else ())}
        if needs - has:
            continue
        kin = 0
        if machine[0] == cpu[0]:
            kin = 1 + (machine[1] == cpu[1]) + (machine[1:3] == tuple(cpu[1:3]))
        steps = 16 if kin < 3 else abs(machine[3] - cpu[3])
        own = set(features) & known if machine[0] else needs
        rank = (kin, -steps, -len(own ^ has), -len(needs))
        if best is None or rank > best:
            best, chosen = rank, name
    return chosen


def test_the_rule_holds_for_random_machines_and_cpus(tmp_path):
    chance = random.Random(7)
    known = set(BITS) - {"osxsave"}
    vendors, families, models = ("AuthenticAMD", "GenuineIntel", "x"), (6, 15, 25), (1, 17, 85, 173)

    def some_features() -> list[str]:
        return [f for f in sorted(known) if chance.random() < 0.6]

    def identity() -> tuple:
        picked = [chance.choice(v) for v in (vendors, families, models)]
        return (*picked, chance.randrange(16))

    profiles, identities = {}, set()
    while len(profiles) < 12:
        who = identity()
        if who not in identities:
            identities.add(who)
            machine = (*who, chance.choice(list(FLAVOURS)))
            profiles[f"p{len(profiles)}"] = (machine, some_features())
    paths = [write_profile(tmp_path, n, m, features) for n, (m, features) in profiles.items()]
    program = build_nearest_check(tmp_path / "check", render_profiles(tmp_path, paths))
    cpus = [
        (*(chance.choice(sorted(identities)) if i % 3 == 0 else identity()), some_features())
        for i in range(600)
    ]
    expected = [expected_profile(profiles, cpu, known) for cpu in cpus]
    # AVX and what builds on it is also told from what the system saves, which here is everything
    assert nearest(program, *(cpu_line(*cpu) for cpu in cpus)) == expected
    assert len(set(expected)) > 8


# --- What is chosen, by emulated CPUs -------------------------------------------------------------


def build_which(folder: Path, routine: Path, *flags: str, compiler: str = "gcc") -> Path:
    """dispatch_check that tells which profile's function one is."""
    folder.mkdir(exist_ok=True)
    text = routine.read_text(encoding="ascii")
    inner = re.findall(r"NAKED void \*(asterope_\w+_(?:memcpy\w*|mempcpy|memmove))\(", text)
    inner = [name for name in inner if not re.match(r"asterope_memcpy_(hot|cold|consume)$", name)]
    outer = ["asterope_memcpy", "asterope_mempcpy", "asterope_memmove"]
    lines = [*(f"COPY({name})" for name in inner), *(f"FUNCTION({name})" for name in outer)]
    (folder / "dispatch.inc").write_text("\n".join(lines) + "\n", encoding="ascii")
    program = folder / "which"
    sources = (CHECKERS / "dispatch_check.c", routine)
    output_of(compiler, *flags, f"-I{folder}", f"-I{routine.parent}", *sources, "-o", program)
    return program


def which(
    program: Path, *emulator: object, ask: str | None = None, function: str = "memcpy"
) -> str:
    """The profile whose function it is, as a C name."""
    arguments = (*emulator, program, f"asterope_{function}", 4096, 100)
    reached = output_of(*arguments, env=with_profile(ask)).strip()
    found = re.fullmatch(rf"asterope_(\w+)_{function}", reached)
    assert found, reached
    return found[1]


@pytest.fixture(scope="module")
def static_which(routine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_which(tmp_path_factory.mktemp("static"), routine, "-static")


# QEMU has no AVX-512 yet.
EMULATED = {
    "max,vendor=AuthenticAMD,family=25,model=1,stepping=1": "milan",
    "max,vendor=AuthenticAMD,family=25,model=17,stepping=1": "milan",
    "max,vendor=AuthenticAMD,family=23,model=1": "rome",
    "max,vendor=GenuineIntel,family=6,model=85,stepping=7": "haswell",
    "Haswell": "haswell",
    "Nehalem": "any_sse4",
    "qemu64,vendor=AuthenticAMD,family=25,model=1,stepping=1": "any_sse2",
    "Opteron_G1": "any_sse2",
    "max,-xsave": "any_sse4",
}


@pytest.mark.parametrize(("cpu", "expected"), EMULATED.items())
def test_other_cpus_take_their_nearest_profile(static_which, cpu, expected):
    need("qemu-x86_64")
    for function in FUNCTIONS:
        assert which(static_which, "qemu-x86_64", "-cpu", cpu, function=function) == expected


def test_a_cpu_that_can_run_none_takes_the_fallback(tmp_path):
    need("qemu-x86_64")
    routine = render_profiles(tmp_path, write_profiles(tmp_path, ["genoa", "haswell"]))
    program = build_which(tmp_path / "which", routine, "-static")
    assert which(program, "qemu-x86_64", "-cpu", "Nehalem") == "fallback"
    assert which(program, "qemu-x86_64", "-cpu", "Haswell") == "haswell"


def test_a_profile_that_the_cpu_cannot_run_is_not_taken_when_asked_for(static_which):
    need("qemu-x86_64")
    nehalem = ("qemu-x86_64", "-cpu", "Nehalem")
    assert which(static_which, *nehalem, ask="genoa") == "any_sse4"
    assert which(static_which, *nehalem, ask="haswell") == "any_sse4"
    assert which(static_which, *nehalem, ask="any.sse2") == "any_sse2"


# --- What is chosen, when asked for ---------------------------------------------------------------


@pytest.fixture(scope="module")
def program(routine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_which(tmp_path_factory.mktemp("plain"), routine, "-O2")


@pytest.fixture(scope="module")
def unasked(program: Path) -> str:
    """What this machine takes by itself."""
    return which(program)


@pytest.mark.parametrize("name", ["rome", "any.sse2", "any.sse4", "haswell", "fallback"])
def test_the_environment_names_the_profile(program, avx2, name):
    for function in FUNCTIONS:
        assert which(program, ask=name, function=function) == symbol(name)


@pytest.mark.parametrize(
    "name",
    ["", "Rome", "rome ", " rome", "rom", "romes", "any_sse2", "any", "x" * 5000, "rome\nhaswell"],
)
def test_what_is_no_name_is_ignored_without_a_word(program, unasked, name):
    done = run(program, "asterope_memcpy", 4096, 100, env=with_profile(name))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"asterope_{unasked}_memcpy\n"


def test_the_name_is_found_wherever_it_stands_in_the_environment(program, avx2):
    for length in (0, 1, 990, 1000, 1001, 1007, 1020, 2050, 100_000):
        # QASTEROPE_PROFILE and the like are other variables
        environment = {
            "A": "x" * length,
            "QASTEROPE_PROFILE": "haswell",
            "ASTEROPE_PROFILE2": "haswell",
            "ASTEROPE_PROFIL": "haswell",
            "ASTEROPE_PROFILE": "any.sse2",
            "B": "ASTEROPE_PROFILE=haswell",
        }
        out = output_of(program, "asterope_memcpy", 4096, 100, env=environment)
        assert out == "asterope_any_sse2_memcpy\n"


def test_processes_with_more_rights_than_their_user_ignore_the_name(routine, unasked):
    if os.geteuid() != 0:
        pytest.skip("needs root, to make a program that runs as root")
    with tempfile.TemporaryDirectory() as folder:
        # Where everybody may go, unlike pytest's own.
        os.chmod(folder, 0o755)
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip(f"programs in {folder} cannot run with another user's rights")
        program = build_which(Path(folder), routine)
        environment = with_profile("any.sse2")
        as_nobody = [str(program), "asterope_memcpy", "4096", "100"]

        def reached() -> str:
            return subprocess.run(
                as_nobody, user=65534, group=65534, extra_groups=[], env=environment,
                capture_output=True, text=True, check=True, cwd="/",
            ).stdout  # fmt: skip

        program.chmod(0o755)
        assert reached() == "asterope_any_sse2_memcpy\n"
        program.chmod(0o4755)
        assert reached() == f"asterope_{unasked}_memcpy\n"


# --- However it is compiled, linked and loaded ----------------------------------------------------

# The compiler and its flags.
WAYS: dict[str, tuple[str, ...]] = {
    "gcc -O0": ("gcc", "-O0"),
    "gcc -O3": ("gcc", "-O3"),
    "clang -O0": ("clang", "-O0"),
    "clang -O3": ("clang", "-O3"),
    "no position independence": ("gcc", "-O2", "-no-pie", "-fno-pie"),
    "bound at the start": ("gcc", "-O2", "-Wl,-z,now"),
    "static": ("gcc", "-O2", "-static"),
    "static PIE": ("gcc", "-O2", "-static-pie", "-fPIE", "-fstack-protector-all"),
    "no indirect functions": ("gcc", "-O2", "-DASTEROPE_NO_IFUNC"),
    "gcc LTO": ("gcc", "-O3", "-flto"),
    "clang LTO": ("clang", "-O3", "-flto", "-fuse-ld=lld"),
    "gcc sanitizers": ("gcc", "-O1", "-fsanitize=address,undefined"),
    "clang sanitizer": ("clang", "-O1", "-fsanitize=address"),
    "thread sanitizer": ("gcc", "-O1", "-fsanitize=thread"),
    "coverage": ("gcc", "-O0", "--coverage"),
    "profile": ("clang", "-O2", "-fprofile-instr-generate"),
    "gprof": ("gcc", "-O0", "-pg"),
    "branches protected": ("gcc", "-O2", "-fcf-protection=full"),
    "calls traced": ("gcc", "-O0", "-finstrument-functions", "-fstack-protector-all"),
    "far code": ("gcc", "-O2", "-mcmodel=large"),
    "musl": ("musl-gcc", "-O2"),
    "musl, static": ("musl-gcc", "-O2", "-static"),
    "gold": ("gcc", "-O2", "-fuse-ld=gold"),
}


def need_way(folder: Path, compiler: str, *flags: str) -> None:
    """Skips where this compiler cannot make a program so."""
    need(compiler)
    empty = folder / "empty.c"
    empty.write_text("int main(void) { return 0; }\n", encoding="ascii")
    made = run(compiler, *flags, empty, "-o", folder / "empty", cwd=folder)
    if made.returncode != 0 or run(folder / "empty", cwd=folder).returncode != 0:
        pytest.skip(f"{compiler} {' '.join(flags)} makes no program that runs here")


def build_chosen(folder: Path, routine: Path, compiler: str, *flags: str) -> Path:
    program = folder / "chosen_check"
    sources = (CHECKERS / "chosen_check.c", routine)
    includes = f"-I{routine.parent}"
    output_of(compiler, *STRICT, *flags, includes, *sources, "-o", program, cwd=folder)
    return program


@pytest.mark.parametrize("way", sampled(WAYS, 4))
def test_it_chooses_before_the_first_constructor_however_linked(tmp_path, routine, avx2, way):
    compiler, *flags = WAYS[way]
    need_way(tmp_path, compiler, *flags)
    program = build_chosen(tmp_path, routine, compiler, "-std=gnu11", *flags)
    for ask in ("haswell", "any.sse2"):
        out = output_of(program, cwd=tmp_path, env=with_profile(ask))
        assert out == f"{ask} {ask}\n"


@pytest.mark.parametrize("way", ["clang -O3", "no indirect functions", "static PIE", "musl"])
def test_what_is_named_is_what_is_called(tmp_path, routine, avx2, way):
    compiler, *flags = WAYS[way]
    need_way(tmp_path, compiler, *flags)
    program = build_which(tmp_path, routine, *flags, compiler=compiler)
    for ask in ("rome", "fallback"):
        for function in FUNCTIONS:
            assert which(program, ask=ask, function=function) == ask


@pytest.mark.parametrize("compiler", ["gcc", "clang", "g++", "clang++"])
def test_it_compiles_without_a_word(tmp_path, routine, compiler):
    need(compiler)
    standard = ["-x", "c++", "-std=c++11"] if "++" in compiler else ["-std=c99"]
    for flags in ("-O0", "-O3 -DASTEROPE_THREADS", "-O2 -DASTEROPE_NO_IFUNC -ffreestanding"):
        target = tmp_path / "routine.o"
        output_of(compiler, *standard, *STRICT, *flags.split(), "-c", routine, "-o", target)


@pytest.mark.parametrize("position", ["-fPIC", "-fno-pic"])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_object_needs_no_symbol_from_elsewhere(tmp_path, routine, compiler, level, position):
    need(compiler, "nm")
    target = tmp_path / "routine.o"
    output_of(compiler, *STRICT_C, level, position, "-c", routine, "-o", target)
    assert set(output_of("nm", "-u", target).split()) <= {"U", "_GLOBAL_OFFSET_TABLE_"}


@pytest.fixture(scope="module")
def libraries(routine: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The file as a library, by the way it is compiled."""
    folder = tmp_path_factory.mktemp("libraries")
    ways = {"ifunc": (), "variable": ("-DASTEROPE_NO_IFUNC",)}
    for name, flags in ways.items():
        target = folder / f"{name}.so"
        output_of("gcc", "-O2", "-fPIC", "-shared", *flags, routine, "-o", target)
    return {name: folder / f"{name}.so" for name in ways}


def test_a_library_shows_the_functions_and_what_was_chosen_only(libraries):
    need("nm")
    names = sorted(f"asterope_{name}" for name in (*FUNCTIONS, "profile"))
    for library in libraries.values():
        defined = output_of("nm", "-D", "--defined-only", library).splitlines()
        assert sorted(line.split()[-1] for line in defined) == names
        # Not indirect to others: they would be asked before this library is relocated.
        assert {line.split()[-2] for line in defined} == {"T"}


def test_what_decides_needs_no_relocation(tmp_path, routine):
    """All but tables that are used later: the loader may ask before it has relocated this file."""
    need("objdump")
    for compiler in ("gcc", "clang"):
        for level in ("-O0", "-O3"):
            library = tmp_path / "library.so"
            output_of(compiler, level, "-fPIC", "-shared", "-nostdlib", routine, "-o", library)
            kinds = set(re.findall(r"R_X86_64_\w+", output_of("objdump", "-R", library)))
            # Relative: the constructor's own, and the description that it sets.
            assert kinds <= {"R_X86_64_IRELATIVE", "R_X86_64_RELATIVE"}
            code = output_of("objdump", "-d", "--no-show-raw-insn", library)
            early = r"asterope_(?:\w+_choose|choose|asked_for|nearest|cpu_has|cpuid|name|secure)"
            bodies = re.findall(rf"^[0-9a-f]+ <{early}>:\n((?:.+\n)+)", code, re.MULTILINE)
            assert len(bodies) >= 4
            assert not re.search(r"@plt|jmp +\*|call +\*|%fs:", "".join(bodies))


@pytest.fixture(scope="module")
def opener(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("opener") / "opener"
    source = CHECKERS / "chosen_check.c"
    output_of("gcc", "-std=gnu11", *STRICT[:3], "-DOPENS", source, "-o", program, "-ldl")
    return program


@pytest.mark.parametrize("kind", ["ifunc", "variable"])
def test_a_library_that_is_opened_goes_by_the_environment_of_the_start(
    libraries, opener, unasked, avx2, kind
):
    done = output_of(opener, libraries[kind], env=with_profile("rome"))
    assert done == "rome rome\n"
    done = output_of(opener, libraries[kind], "haswell", env=with_profile("any.sse2"))
    assert done == "any.sse2 any.sse2\n"
    found = output_of(opener, libraries[kind], "any.sse2", env=with_profile(None))
    assert [symbol(name) for name in found.split()] == [unasked] * 2


@pytest.mark.parametrize("now", [False, True])
@pytest.mark.parametrize("kind", ["ifunc", "variable"])
def test_a_program_and_a_library_may_each_have_a_file_of_their_own(
    tmp_path, routine, libraries, avx2, kind, now
):
    """As exported indirect functions they would end the program at its start."""
    library = tmp_path / "uses.so"
    uses = tmp_path / "uses.c"
    uses.write_text(
        '#include "asterope_memcpy.h"\n'
        "void *(*uses_memcpy)(void *, const void *, size_t) = asterope_memcpy;\n",
        encoding="ascii",
    )
    flags = ["-DASTEROPE_NO_IFUNC"] if kind == "variable" else []
    includes = f"-I{routine.parent}"
    output_of("gcc", "-fPIC", "-shared", *flags, includes, uses, routine, "-o", library)
    program = build_chosen(tmp_path, routine, "gcc", "-std=gnu11", "-Wl,--no-as-needed", library)
    environment = {**with_profile("rome"), **({"LD_BIND_NOW": "1"} if now else {})}
    done = run(program, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "rome rome\n", "")


EARLY = """
#include <string.h>
static char source[600] = {1, 2, 3}, destination[600];
static int answer(void) { return memcmp(source, destination, sizeof source); }
static int (*resolve(void))(void)
{
    volatile size_t bytes = sizeof source; /* not known when it is compiled */
    memcpy(destination, source, bytes);
    return answer;
}
int early(void) __attribute__((ifunc("resolve")));
"""


def test_the_preload_library_copies_before_it_is_relocated(tmp_path, routine, avx2):
    """One library asks for a function of another while it is relocated, which copies to answer."""
    (tmp_path / "early.c").write_text(EARLY, encoding="ascii")
    (tmp_path / "asks.c").write_text(
        "int early(void);\nint asks(void) { return early(); }\n", encoding="ascii"
    )
    (tmp_path / "main.c").write_text(
        "int asks(void);\nint main(void) { return asks(); }\n", encoding="ascii"
    )
    shared = ("-fPIC", "-shared", "-fno-builtin", "-O1")
    early, asks = tmp_path / "libearly.so", tmp_path / "libasks.so"
    output_of("gcc", *shared, tmp_path / "early.c", "-o", early)
    output_of("gcc", *shared, tmp_path / "asks.c", early, "-o", asks)
    program, preload = tmp_path / "main", tmp_path / "preload.so"
    paths = (f"-Wl,-rpath,{tmp_path}", f"-Wl,-rpath-link,{tmp_path}")
    output_of("gcc", tmp_path / "main.c", asks, *paths, "-o", program)
    output_of(
        "gcc", *shared, f'-DASTEROPE_ROUTINE="{routine}"', f"-I{routine.parent}",
        REPOSITORY / "templates" / "preload.c", "-o", preload,
    )  # fmt: skip
    for ask in ("rome", None):
        environment = {
            **with_profile(ask),
            "LD_PRELOAD": str(preload),
            "LD_BIND_NOW": "1",
            "ASTEROPE_VERBOSE": "1",
        }
        done = run(program, env=environment)
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith("asterope: memcpy, memmove and mempcpy are ")
        assert ask is None or f" are {ask}: generated by asterope " in done.stderr


# --- What the chosen functions are ----------------------------------------------------------------


def bodies_of(routine: Path) -> dict[str, str]:
    """The assembly of each naked function, by its name."""
    text = routine.read_text(encoding="ascii")
    pattern = r"(?:NAKED void \*|^void )(\w+)\([^{;]*?\)\n\{\n(    __asm__\(\n.*?)\n\}\n"
    return dict(re.findall(pattern, text, re.MULTILINE | re.DOTALL))


def test_a_profile_s_functions_have_the_instructions_that_they_have_alone(tmp_path):
    """Sensing copies, aliasing buffers, intents and all."""
    good, other = tmp_path / "good.json", tmp_path / "other.json"
    good.write_text(json.dumps(good_profile()), encoding="utf-8")
    sensing = {65536: SensingCopy(PROBES[0], 200, XMM, YMM)}
    # with a small copy as far as the other's: else the shared pipelines need a way for fewer bytes
    small = SmallTuple(
        "stepped", "XMM", "middle", good_profile()["small"]["winner"]["tuple"]["bound"]
    )
    text = profile_json([(4096, XMM), (65536, YMM)], small, sensing=sensing)
    other.write_text(text, encoding="utf-8")
    several = {
        # what is named by the profile or numbered after the other's, as it is alone
        name.replace("_good_", "_"): body.replace("_good_", "_").replace("_sense_2", "_sense_1")
        for name, body in bodies_of(render_profiles(tmp_path, [other, good])).items()
        if name not in {f"asterope_{function}" for function in (*FUNCTIONS, "sense_1")}
        and not re.match("asterope_memcpy_", name)
    }
    several["asterope_sense_1"] = several.pop("asterope_sense_2")
    alone = bodies_of(render(good, tmp_path / "alone"))
    assert {f"asterope_{name}" for name in (*FUNCTIONS, "memcpy_hot", "sense_1")} < alone.keys()
    others = ("copy_aliased", "untuned", "move_upwards_ymm_128", "move_upwards_xmm_128")
    assert {f"asterope_{name}" for name in others} < alone.keys()
    for name, body in alone.items():  # one at a time, for a readable difference
        assert several[name] == body, name


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of two profiles that have other things than each other."""
    folder = tmp_path_factory.mktemp("rich")
    shares = {"above": 131071, "up_to": 4194304, "threads": 2, "chunk": 65536}
    plain = json.loads(profile_json([(300, XMM), (1 << 20, STREAMED_XMM)]))
    intents = json.loads(
        profile_json(
            [(4096, YMM), (1 << 20, XMM)],
            SmallTuple("grouped", "YMM", "up", 256),
            intents={"hot": [(4096, YMM)], "consume": [(4096, STREAMED_XMM)]},
            overlapping=overlapping_copies.OverlappingTuple("YMM", 256),
        )
    )
    intents["threads"] = {"intervals": [shares]}
    for name, raw in (("plain", plain), ("intents", intents)):
        (folder / f"{name}.json").write_text(json.dumps(raw), encoding="utf-8")
    return render_profiles(folder, [folder / "plain.json", folder / "intents.json"])


@pytest.mark.parametrize("name", ["plain", "intents", "fallback"])
def test_each_profile_copies_right_by_every_function(tmp_path, objects, rich, avx2, name):
    folder = tmp_path / "rich"
    shutil.copytree(rich.parent, folder)
    program = build_routine_check(folder / rich.name, objects, flags=("-O2",))
    options = ("--step", 29, "--other-step", 31, "--largest", 65536, "--around", "300,4096")
    done = run(program, *options, env=with_profile(name))
    assert failures(done.stdout) == []
    assert done.returncode == 0, done.stderr
    functions = [*FUNCTIONS, "memcpy_hot", "memcpy_consume"]
    assert done.stdout.splitlines() == [f"ok {function}" for function in functions]


def test_a_profile_without_an_intent_takes_its_memcpy_for_it(tmp_path, rich, avx2):
    program = build_which(tmp_path, rich)
    inc = (tmp_path / "dispatch.inc").read_text("ascii")
    more = "".join(f"FUNCTION(asterope_memcpy_{intent})\n" for intent in ("hot", "consume"))
    (tmp_path / "dispatch.inc").write_text(inc + more, encoding="ascii")
    sources = (CHECKERS / "dispatch_check.c", rich)
    output_of("gcc", f"-I{tmp_path}", *sources, "-o", program)

    def reached(ask: str) -> list[str]:
        functions = ("asterope_memcpy_hot", "asterope_memcpy_consume")
        return [
            output_of(program, function, 4096, 100, env=with_profile(ask)).strip()
            for function in functions
        ]

    assert reached("plain") == ["asterope_plain_memcpy"] * 2
    assert reached("intents") == ["asterope_intents_memcpy_hot", "asterope_intents_memcpy_consume"]
    assert reached("fallback") == [
        "asterope_fallback_memcpy_hot",
        "asterope_fallback_memcpy_consume",
    ]


@pytest.mark.parametrize("flags", [(), ("-DASTEROPE_NO_IFUNC",)], ids=["ifunc", "variable"])
def test_copies_over_threads_are_the_chosen_profile_s(tmp_path, rich, avx2, flags):
    program = tmp_path / "memcpy_mt_check"
    output_of(
        "gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-DASTEROPE_THREADS", "-pthread",
        *flags, f'-DROUTINE="{rich}"', f"-I{rich.parent}", CHECKERS / "memcpy_mt_check.c",
        "-o", program,
    )  # fmt: skip
    for name, threads in (("intents", 2), ("plain", 1), ("fallback", 1)):
        assert output_of(program, "copies", env=with_profile(name)).endswith("ok\n")
        tasks = output_of(program, "tasks", 4, env=with_profile(name)).splitlines()
        assert (int(tasks[0]), tasks[-1]) == (threads, "ok")


def test_pipelines_that_profiles_share_are_there_once(tmp_path):
    paths = write_profiles(tmp_path, ["milan", "rome", "haswell"])
    text = render_profiles(tmp_path, paths).read_text(encoding="ascii")
    assert len(re.findall(r"^void asterope_copy_\w+\(void\)$", text, re.MULTILINE)) == 1


def test_sensing_copies_wait_for_the_counter_in_every_profile(tmp_path, avx2, monkeypatch):
    """The gate that a constructor opens is one for all; steps of both name their own copies."""
    sensing = [SensingCopy(PROBES[0], 100 * n, XMM, STREAMED_XMM) for n in (1, 2)]
    for name, copy in zip(("one", "two"), sensing):
        raw = profile_json([(4096, XMM), (65536, YMM)], sensing={65536: copy})
        (tmp_path / f"{name}.json").write_text(raw, encoding="utf-8")
    routine = render_profiles(tmp_path, [tmp_path / "one.json", tmp_path / "two.json"])
    names = [f"SENSE(asterope_sense_{n})" for n in (1, 2)] + ["FUNCTION(asterope_memcpy)"]
    names += [f"COPY(asterope_copy_{t.symbol})" for t in (XMM, YMM, STREAMED_XMM)]
    (tmp_path / "dispatch.inc").write_text("\n".join(names) + "\n", encoding="ascii")
    program = tmp_path / "dispatch_check"
    output_of("gcc", f"-I{tmp_path}", CHECKERS / "dispatch_check.c", routine, "-o", program)
    for number, name in enumerate(("one", "two"), 1):
        monkeypatch.setenv("ASTEROPE_PROFILE", name)
        taken = copies_taken(program, "asterope_memcpy", 2**40, [4096, 5000])
        assert taken == [f"asterope_copy_{XMM.symbol}", f"asterope_sense_{number}"]
