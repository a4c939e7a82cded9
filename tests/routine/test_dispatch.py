"""One file of several machines' profiles: the right one is chosen, however it is linked."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from asterope.dispatch import load_profiles, render_dispatch
from asterope.spaces.probes import PROBES, SensingCopy
from asterope.spaces.x86_64 import (
    aliased_copies,
    overlapping_copies,
    pipelines,
    set_pipelines,
    small_copies,
    small_sets,
)
from asterope.spaces.x86_64.pipelines import Tuple
from asterope.spaces.x86_64.small_copies import SmallTuple
from copy_programs import (
    CHECKERS,
    CPUID_BITS,
    FUNCTIONS,
    REPOSITORY,
    STRICT,
    STRICT_C,
    Memset,
    build_dispatch_check,
    build_listed,
    build_preload,
    build_routine_check,
    copies_taken,
    cpu_features,
    exported,
    failures,
    need,
    need_way,
    output_of,
    profile_json,
    render,
    run,
)
from generate_command import NAMES, assert_old, command, old_files, only_line
from profile_samples import good_profile, incomplete_profile, plain_profile
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
# What sets there; one has no memset.
SETS = {
    "avx512": Memset([(4096, set_pipelines.Tuple("ZMM", "T"))]),
    "avx2": Memset([(4096, set_pipelines.Tuple("YMM", "NT"))]),
    "sse2": Memset([(4096, set_pipelines.Tuple("R64", "T"))]),
}
ALL = (*FUNCTIONS, "memset")
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
    raw = json.loads(profile_json([(4096, winner)], small, memset=SETS.get(flavour)))
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


def taken_from(name: str, function: str) -> str:
    """Whose function it is where that profile, by its C name, is the one that was chosen."""
    return "fallback" if (name, function) == ("any_sse4", "memset") else name


def with_profile(name: str | None) -> dict[str, str]:
    environment = {key: value for key, value in os.environ.items() if key != "ASTEROPE_PROFILE"}
    return environment if name is None else {**environment, "ASTEROPE_PROFILE": name}


# --- The command ----------------------------------------------------------------------------------


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return old_files(tmp_path / "out")


def refused(capsys: pytest.CaptureFixture[str], out: Path, *arguments: object) -> str:
    """The one line with which the command refuses; an earlier run's files stay as they were."""
    assert command(*arguments, "--dispatch", "-o", out) == 2
    assert_old(out)
    return only_line(capsys)


def test_options_may_stand_between_the_profiles(tmp_path, capsys):
    first, second = write_profiles(tmp_path, ["genoa", "haswell"])
    assert command(first, "-o", tmp_path / "a", "--dispatch", second, "--prefix", "fast") == 0
    names = [tmp_path / "a" / f"fast_memcpy.{kind}" for kind in "ch"]
    expected = f"wrote {names[0]} and {names[1]} (2 profiles: genoa, haswell)\n"
    assert capsys.readouterr() == (expected, "")
    assert "const char *fast_profile(void);" in names[1].read_text(encoding="ascii")
    # in a process of its own, whose hashes of strings differ; a prefix given twice is one
    options = ["--prefix", "fast", "--prefix", "fast", "--dispatch", first, second]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "scripts"), "PYTHONHASHSEED": "2"}
    module = [sys.executable, "-m", "asterope.generate"]
    output_of(*module, *options, "-o", tmp_path / "b", env=environment)
    for path in names:
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


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
    assert command(*write_profiles(tmp_path, ["genoa", "haswell"]), "-o", out) == 2
    assert "only with --dispatch: see asterope-generate --help" in only_line(capsys)
    assert_old(out)


GENOA = {"machine": {"cpu": dict(zip(IDENTITY, MACHINES["genoa"]))}}
# What is wrong with two files, {0} and {1}: the text of the second, further options, what is said.
REFUSED: dict[str, tuple[object, list[str], str]] = {
    "several prefixes": (None, ["--prefix", "a", "--prefix", "b"], "--prefix: one file has one"),
    "an unknown architecture": ({"architecture": "riscv64"}, [], "{1}: architecture: .*riscv64"),
    "the same CPU": (
        *(GENOA, []),
        r"{1}: tuned on the same CPU as {0} \(AuthenticAMD, family 25, .*asterope-tune merge",
    ),
    "a file given twice": (None, ["{0}"], "{0}: given twice: leave one out"),
    "no JSON": ("{", [], "{1}: line 1"),
    "a missing file": (None, ["none.json"], "none.json: cannot read it"),
    "a vendor that no CPU has": (
        {"machine": {"cpu": {"vendor": "AuthenticAMD2"}}},
        *([], "machine.cpu.vendor: longer than the 12"),
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
    assert re.search(said.format(*paths), line)


def test_profiles_of_two_architectures_are_refused(tmp_path, out, capsys):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, architecture in zip(paths, ("x86_64", "aarch64")):
        path.write_text(json.dumps(plain_profile(architecture)), encoding="utf-8")
    for first, second, words in ((*paths, "of aarch64"), (*paths[::-1], "of x86_64")):
        line = refused(capsys, out, first, second)
        assert line.startswith(f"asterope-generate: {second}: {words}, and {first} of ")
        assert "one file holds one architecture: make one of each" in line


@pytest.mark.parametrize("names", [("a/x.json", "b/x.json"), ("a/x-1.json", "a/x.1.json")])
def test_two_profiles_of_the_same_name_are_refused(tmp_path, out, capsys, names):
    paths = [tmp_path / name for name in names]
    for path, machine in zip(paths, ("genoa", "haswell")):
        path.parent.mkdir(exist_ok=True)
        write_profile(path.parent, path.stem, MACHINES[machine])
    assert f"is that of {paths[0]}: rename one of the files" in refused(capsys, out, *paths)


BAD_NAMES = ["a b", 'a"b', "a\\", "-a", ".a", "caf\u00e9", "a\nb", "a" * 64, "fallback", "a*"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_is_none_for_a_profile_is_refused(tmp_path, out, capsys, name):
    path = tmp_path / f"{name.replace('/', '%')}.json"
    path.write_text("{}", encoding="utf-8")
    assert "rename the file" in refused(capsys, out, "--", path)


def test_only_a_file_of_several_profiles_promises_to_name_the_chosen_one(tmp_path):
    single = (
        render([(4096, XMM)], tmp_path / "single", memset=SETS["sse2"])
        .with_suffix(".h")
        .read_text("ascii")
    )
    assert "_profile" not in single
    assert "ASTEROPE_PROFILE" not in single
    (path,) = write_profiles(tmp_path, ["any.sse2"])
    header = render_profiles(tmp_path, [path]).with_suffix(".h").read_text("ascii")
    assert "const char *asterope_profile(void);" in header
    assert re.search(r"^ \*   any.sse2  ", header, re.MULTILINE)
    promise = re.compile(r"^(?:void|const char) \*(.*)$", re.MULTILINE)
    assert [p for p in promise.findall(header) if "_profile" not in p] == promise.findall(single)


# --- What is chosen, by the CPU -------------------------------------------------------------------

REGISTERS = (
    *("most_leaves", "leaf0_b", "leaf0_d", "leaf0_c", "signature", "leaf1_c", "most_subleaves"),
    *("leaf7_b", "leaf7_c", "leaf7_d", "leaf7_1_a", "extended_c", "extended_d"),
    *("most_extended", "extended8_b", "saved"),
)
ALL_SAVED = 0xE7


def cpu_line(
    *identity: object, features: Iterable[str] = (), saved: int = ALL_SAVED, **told: int
) -> str:
    """A CPU as nearest_check reads it; `told` replaces registers."""
    vendor, family, model, stepping = identity
    registers = dict.fromkeys(REGISTERS, 0)
    for i, register in enumerate(("leaf0_b", "leaf0_d", "leaf0_c")):
        part = vendor.encode("ascii").ljust(12, b"\0")[4 * i : 4 * i + 4]
        registers[register] = int.from_bytes(part, "little")
    base = min(family, 15)
    signature = (
        stepping | (model & 15) << 4 | base << 8 | (model >> 4) << 16 | (family - base) << 20
    )
    registers.update(most_leaves=7, most_subleaves=1, most_extended=0x80000008)
    registers.update(signature=signature, saved=saved)
    for feature in {*features, "osxsave"} - {"mmx", "sse", "sse2"}:
        register, bit = CPUID_BITS[feature]
        registers[register] |= 1 << bit
    return " ".join(f"{value:x}" for value in {**registers, **told}.values())


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
# What the test of random machines does not reach.
NEAREST = {
    "its own": (("AuthenticAMD", 25, 17, 1), AVX512, "genoa"),
    "the nearer of two steppings": (("GenuineIntel", 6, 85, 11), AVX512, "cascade-lake"),
    "the nearer of two families": (("HygonGenuine", 24, 0, 1), AVX2, "milan"),
    "a CPU with more than any profile's": (("GenuineIntel", 6, 173, 1), GRANITE_RAPIDS, "skylake"),
    "a vendor in blanks": (("  Shanghai  ", 7, 91, 0), AVX2, "zhaoxin"),
    "its own, whose features are masked": (("AuthenticAMD", 25, 17, 1), AVX2, "milan"),
    "its own, where AVX alone is saved": (("AuthenticAMD", 25, 17, 1), AVX512, "milan", 7),
    "its own, where nothing is saved": (("AuthenticAMD", 25, 17, 1), AVX512, "any.sse4", 0),
    "no features": (("AuthenticAMD", 15, 5, 8), [], "any.sse2"),
    "the first, where a vendor begins alike": (("AuthenticAMF", 6, 85, 7), AVX512, "genoa"),
    "the first, without a vendor": (("", 25, 17, 1), AVX2, "milan"),
}


@pytest.mark.parametrize("case", NEAREST.values(), ids=NEAREST)
def test_the_nearest_profile_is_chosen(nearest_check, case):
    identity, features, expected, *saved = case
    cpu = cpu_line(*identity, features=features, saved=(*saved, ALL_SAVED)[0])
    assert nearest(nearest_check, cpu) == [expected]


def test_each_feature_is_read_from_its_bit(routine, nearest_check):
    text = routine.read_text(encoding="ascii")
    places = re.findall(r"asterope_has_(\w+) = 1 << (\d+)", text)
    known = {name: 1 << int(bit) for name, bit in places}
    assert known.keys() == CPUID_BITS.keys() - {"osxsave"}
    assert len(known) < 32  # else the distances would not have room
    # what the system does not save is not there; the rest of AVX-512 is nothing without avx512f
    for saved, without in ((ALL_SAVED, ()), (0, ("avx", "avx2", "avx512f"))):
        cpus = [cpu_line("x", 6, 1, 1, features=[name], saved=saved) for name in known]
        lines = output_of(nearest_check, input="\n".join(cpus)).splitlines()
        has = {name: int(line.split()[1], 16) for name, line in zip(known, lines)}
        assert has == {n: 0 if n in without else bit for n, bit in known.items()}


def test_all_that_a_copy_may_need_is_known():
    copies = [*small_copies.small_tuples(), *aliased_copies.aliased_tuples()]
    copies += [*overlapping_copies.overlapping_tuples(), *pipelines.variants()]
    copies += [*set_pipelines.variants(), *small_sets.small_sets()]
    needs = {feature for copy in copies for feature in copy.needs}
    assert {"avx512f", "movdir64b", "3dnowprefetch", "clzero"} < needs <= CPUID_BITS.keys()


def test_leaves_that_a_cpu_lacks_are_not_read(nearest_check):
    """Intel's CPUs answer with another leaf's values."""

    def told(**changed: int) -> list[str]:
        features = [*GRANITE_RAPIDS, "fzrm", "clzero"]
        cpu = cpu_line("GenuineIntel", 6, 63, 2, features=features, **changed)
        return output_of(nearest_check, input=cpu).split()

    assert (told()[0], told(most_leaves=6)[0]) == ("haswell", "any.sse4")
    assert told(leaf7_1_a=0) == told(most_subleaves=0) != told()
    assert told(extended8_b=0) == told(most_extended=0x80000007) != told()


def expected_profile(
    profiles: Mapping[str, tuple[Sequence, Sequence[str]]], cpu: Sequence, known: set[str]
) -> str:
    """The rule, told a second time: profiles are (machine, features)."""
    best, chosen = None, "fallback"
    has = set(cpu[4]) & known
    for name, (machine, features) in profiles.items():
        _, winner, small = FLAVOURS[machine[-1]]
        needs = {*winner.needs, *(small.needs if small else ())}
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
    known = set(CPUID_BITS) - {"osxsave"}
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
    lines = [cpu_line(*cpu[:4], features=cpu[4]) for cpu in cpus]
    assert nearest(program, *lines) == expected
    assert len(set(expected)) > 8


# --- What is chosen, by emulated CPUs -------------------------------------------------------------


def build_which(
    folder: Path, routine: Path, *flags: str, compiler: str = "gcc", intents: Sequence[str] = ()
) -> Path:
    """dispatch_check that tells which profile's function one is."""
    folder.mkdir(exist_ok=True)
    text = routine.read_text(encoding="ascii")
    inner = re.findall(r"NAKED void \*(asterope_\w+_(?:memcpy\w*|mempcpy|memmove|memset))\(", text)
    copies = [name for name in inner if not re.match(r"asterope_memcpy_(hot|cold|consume)$", name)]
    functions = [f"asterope_{name}" for name in (*ALL, *intents)]
    names = {"COPY": copies, "FUNCTION": functions}
    return build_listed(folder, names, routine, compiler=compiler, flags=flags)


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


EMULATED = {
    # cpu, what is asked for: what is taken
    ("max,vendor=AuthenticAMD,family=25,model=17,stepping=1", None): "milan",
    ("Haswell", None): "haswell",
    ("Nehalem", None): "any_sse4",
    ("Nehalem", "genoa"): "any_sse4",  # it cannot run that
    ("Nehalem", "any.sse2"): "any_sse2",
    ("qemu64,vendor=AuthenticAMD,family=25,model=1,stepping=1", None): "any_sse2",
    ("max,-xsave", None): "any_sse4",
}


@pytest.mark.parametrize(("cpu", "expected"), EMULATED.items(), ids=str)
def test_other_cpus_take_the_nearest_profile_that_they_can_run(static_which, cpu, expected):
    need("qemu-x86_64")
    for function in ALL:
        emulator = ("qemu-x86_64", "-cpu", cpu[0])
        found = which(static_which, *emulator, ask=cpu[1], function=function)
        assert found == taken_from(expected, function)


def test_a_cpu_that_can_run_none_takes_the_fallback(tmp_path):
    need("qemu-x86_64")
    routine = render_profiles(tmp_path, write_profiles(tmp_path, ["genoa", "haswell"]))
    program = build_which(tmp_path / "which", routine, "-static")
    assert which(program, "qemu-x86_64", "-cpu", "Nehalem") == "fallback"


# --- What is chosen, when asked for ---------------------------------------------------------------


@pytest.fixture(scope="module")
def program(routine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_which(tmp_path_factory.mktemp("plain"), routine, "-O2")


@pytest.fixture(scope="module")
def unasked(program: Path) -> str:
    """What this machine takes by itself."""
    return which(program)


NO_NAMES = ["", "Rome", "rome ", " rome", "rom", "romes", "any_sse2", "x" * 5000, "rome\nhaswell"]


@pytest.mark.parametrize("name", ["rome", "any.sse2", "any.sse4", "haswell", "fallback", *NO_NAMES])
def test_the_environment_names_the_profile_and_what_is_no_name_is_ignored(
    program, avx2, unasked, name
):
    expected = unasked if name in NO_NAMES else symbol(name)
    for function in ALL:
        done = run(program, f"asterope_{function}", 4096, 100, env=with_profile(name))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"asterope_{taken_from(expected, function)}_{function}\n"


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
        os.chmod(folder, 0o755)  # where everybody may go, unlike pytest's own
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip(f"programs in {folder} cannot run with another user's rights")
        program = build_which(Path(folder), routine)
        nobody = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/"}
        for mode, expected in ((0o755, "any_sse2"), (0o4755, unasked)):
            program.chmod(mode)
            asked = (program, "asterope_memcpy", 4096, 100)
            out = output_of(*asked, env=with_profile("any.sse2"), **nobody)
            assert out == f"asterope_{expected}_memcpy\n"


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
        for function in ALL:
            assert which(program, ask=ask, function=function) == ask


@pytest.mark.parametrize("compiler", ["gcc", "clang", "g++", "clang++"])
def test_it_compiles_without_a_word_and_needs_no_symbol_from_elsewhere(tmp_path, routine, compiler):
    need(compiler, "nm")
    standard = ["-x", "c++", "-std=c++11"] if "++" in compiler else ["-std=c99"]
    target = tmp_path / "routine.o"
    for flags in (
        *("-O0 -fPIC", "-O0 -fno-pic", "-O3 -fPIC", "-O3 -fno-pic"),
        *("-O2 -DASTEROPE_NO_IFUNC -ffreestanding", "-O3 -DASTEROPE_THREADS"),
    ):
        output_of(compiler, *standard, *STRICT, *flags.split(), "-c", routine, "-o", target)
        wanted = set(output_of("nm", "-u", target).split())
        assert "THREADS" in flags or wanted <= {"U", "_GLOBAL_OFFSET_TABLE_"}, flags


@pytest.fixture(scope="module", params=["ifunc", "variable"])
def library(request, routine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file as a library, with indirect functions and without."""
    target = tmp_path_factory.mktemp("library") / "library.so"
    flags = ["-DASTEROPE_NO_IFUNC"] * (request.param == "variable")
    output_of("gcc", "-O2", "-fPIC", "-shared", *flags, routine, "-o", target)
    return target


def test_a_library_shows_the_functions_and_what_was_chosen_only(library):
    # Not indirect to others: they would be asked before this library is relocated.
    assert exported(library) == {f"asterope_{name}": "T" for name in (*ALL, "profile")}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_what_decides_needs_no_relocation(tmp_path, routine, compiler, level):
    """All but tables that are used later: the loader may ask before it has relocated this file."""
    need("objdump", compiler)
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


def test_a_library_that_is_opened_goes_by_the_environment_of_the_start(
    tmp_path, library, unasked, avx2
):
    opener, source = tmp_path / "opener", CHECKERS / "chosen_check.c"
    output_of("gcc", "-std=gnu11", *STRICT[:3], "-DOPENS", source, "-o", opener, "-ldl")
    for at_start, set_later, expected in (
        *(("rome", [], "rome"), ("any.sse2", ["haswell"], "any_sse2")),
        (None, ["any.sse2"], unasked),
    ):
        found = output_of(opener, library, *set_later, env=with_profile(at_start)).split()
        assert [symbol(name) for name in found] == [expected] * 2


@pytest.mark.parametrize("bound", [{}, {"LD_BIND_NOW": "1"}], ids=["lazily", "now"])
@pytest.mark.parametrize("flags", [[], ["-DASTEROPE_NO_IFUNC"]], ids=["ifunc", "variable"])
def test_a_program_and_a_library_may_each_have_a_file_of_their_own(
    tmp_path, routine, avx2, flags, bound
):
    """As exported indirect functions they would end the program at its start."""
    library, uses = tmp_path / "uses.so", tmp_path / "uses.c"
    uses.write_text(
        '#include "asterope_memcpy.h"\n'
        "void *(*uses_memcpy)(void *, const void *, size_t) = asterope_memcpy;\n",
        encoding="ascii",
    )
    includes = f"-I{routine.parent}"
    output_of("gcc", "-fPIC", "-shared", *flags, includes, uses, routine, "-o", library)
    program = build_chosen(tmp_path, routine, "gcc", "-std=gnu11", "-Wl,--no-as-needed", library)
    done = run(program, env={**with_profile("rome"), **bound})
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


ASKS = "int early(void);\nint asks(void) { return early(); }\n"
MAIN = "int asks(void);\nint main(void) { return asks(); }\n"


def test_the_preload_library_copies_before_it_is_relocated(tmp_path, routine, avx2):
    """One library asks for a function of another while it is relocated, which copies to answer."""
    for name, text in (("early", EARLY), ("asks", ASKS), ("main", MAIN)):
        (tmp_path / f"{name}.c").write_text(text, encoding="ascii")
    shared = ("gcc", "-fPIC", "-shared", "-fno-builtin", "-O1")
    early, asks, preload = (tmp_path / f"{name}.so" for name in ("libearly", "libasks", "preload"))
    output_of(*shared, tmp_path / "early.c", "-o", early)
    output_of(*shared, tmp_path / "asks.c", early, "-o", asks)
    paths = (f"-Wl,-rpath,{tmp_path}", f"-Wl,-rpath-link,{tmp_path}")
    output_of("gcc", tmp_path / "main.c", asks, *paths, "-o", tmp_path / "main")
    build_preload(routine, preload, "-O1")
    early_binding = {"LD_PRELOAD": str(preload), "LD_BIND_NOW": "1", "ASTEROPE_VERBOSE": "1"}
    for ask in ("rome", None):
        done = run(tmp_path / "main", env={**with_profile(ask), **early_binding})
        assert done.returncode == 0, done.stderr
        named = f"{ask}: generated by asterope " if ask else ""
        functions = "memcpy, memmove, mempcpy, memset and bzero"
        assert done.stderr.startswith(f"asterope: {functions} are {named}")


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
    small = SmallTuple("stepped", "XMM", "middle", good_profile()["choices"][6]["up_to"])
    text = profile_json([(4096, XMM), (65536, YMM)], small, sensing=sensing)
    other.write_text(text, encoding="utf-8")
    several = {
        # what is named by the profile or numbered after the other's, as it is alone
        name.replace("_good_", "_"): body.replace("_good_", "_").replace("_sense_2", "_sense_1")
        for name, body in bodies_of(render_profiles(tmp_path, [other, good])).items()
        if name not in {f"asterope_{function}" for function in (*ALL, "sense_1")}
        and not re.match("asterope_memcpy_", name)
    }
    several["asterope_sense_1"] = several.pop("asterope_sense_2")
    alone = bodies_of(render(good, tmp_path / "alone"))
    assert {f"asterope_{name}" for name in (*ALL, "memcpy_hot", "sense_1")} < alone.keys()
    others = ("copy_aliased", "untuned", "move_upwards_ymm_128", "move_upwards_xmm_128")
    assert {f"asterope_{name}" for name in others} < alone.keys()
    for name, body in alone.items():  # one at a time, for a readable difference
        assert several[name] == body, name


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of two profiles that have other things than each other."""
    folder = tmp_path_factory.mktemp("rich")
    plain = json.loads(profile_json([(300, XMM), (1 << 20, STREAMED_XMM)]))
    intents = json.loads(
        profile_json(
            [(4096, YMM), (1 << 20, XMM)],
            SmallTuple("grouped", "YMM", "up", 256),
            intents={"hot": [(4096, YMM)], "consume": [(4096, STREAMED_XMM)]},
            overlapping=overlapping_copies.OverlappingTuple("YMM", 256),
            memset=SETS["avx2"],
            shares=[(131071, 4194304, 2, 65536)],
        )
    )
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
    functions = [*FUNCTIONS, "memcpy_hot", "memcpy_consume", "memset"]
    assert done.stdout.splitlines() == [f"ok {function}" for function in functions]


def test_a_profile_without_memset_takes_the_fallback_s(tmp_path, rich, avx2):
    program = build_which(tmp_path, rich)
    for ask, taken in (("plain", "fallback"), ("intents", "intents"), ("fallback", "fallback")):
        assert which(program, ask=ask, function="memset") == taken


def test_it_is_said_which_profiles_have_no_memset(tmp_path, capsys):
    profiles = write_profiles(tmp_path, ["genoa", "any.sse4", "haswell"])
    assert command("--dispatch", *profiles, "-o", tmp_path / "a") == 0
    assert (
        "(3 profiles: genoa, any.sse4, haswell; no memset in any.sse4)" in capsys.readouterr().out
    )


def test_profiles_without_memset_make_a_file_without(tmp_path):
    routine = render_profiles(tmp_path, write_profiles(tmp_path, ["any.sse4"]))
    for text in (routine.read_text("ascii"), routine.with_suffix(".h").read_text("ascii")):
        assert not re.search(r"memset\(|_set_|HAS_MEMSET|ROUTINE_SETS", text)


def test_a_profile_without_an_intent_takes_its_memcpy_for_it(tmp_path, rich, avx2):
    program = build_which(tmp_path, rich, intents=("memcpy_hot", "memcpy_consume"))
    for ask in ("plain", "intents", "fallback"):
        for function in ("memcpy_hot", "memcpy_consume"):
            taken = "memcpy" if ask == "plain" else function
            out = output_of(program, f"asterope_{function}", 4096, 100, env=with_profile(ask))
            assert out == f"asterope_{ask}_{taken}\n"


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
    for number, name in ((1, "one"), (2, "two")):
        sensing = SensingCopy(PROBES[0], 100 * number, XMM, STREAMED_XMM)
        raw = profile_json([(4096, XMM), (65536, YMM)], sensing={65536: sensing})
        (tmp_path / f"{name}.json").write_text(raw, encoding="utf-8")
    routine = render_profiles(tmp_path, [tmp_path / "one.json", tmp_path / "two.json"])
    program = build_dispatch_check(routine)
    for number, name in ((1, "one"), (2, "two")):
        monkeypatch.setenv("ASTEROPE_PROFILE", name)
        taken = copies_taken(program, "asterope_memcpy", 2**40, [4096, 5000])
        assert taken == [f"asterope_copy_{XMM.symbol}", f"asterope_sense_{number}"]
