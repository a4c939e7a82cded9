"""One file of several machines' profiles: the right one is chosen, before the file is used, however
it is linked and loaded. The chosen functions are those that the profile has alone."""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import pytest
from architectures import (
    SHORT_VECTORS,
    WITH_SVE,
    WITHOUT_SVE,
    X86_64,
    Architecture,
    build_dispatch_check,
    each,
    needs_of,
    once,
)
from asterope.spaces.probes import PROBES, SensingCopy
from copy_programs import SHORT, assert_right, output_of, profile_json, render, run
from dispatch_machines import (
    ALL,
    ALL_SAVED,
    ASKED,
    AVX2,
    AVX512,
    FLAVOURS,
    KNOWN,
    MACHINES,
    STREAMED_XMM,
    XMM,
    YMM,
    assert_takes,
    build_nearest_check,
    build_which,
    cpu_line,
    nearest,
    need_asked,
    render_machines,
    render_profiles,
    symbol,
    which,
    with_profile,
    write_profiles,
)
from profile_samples import good_profile, of
from test_compilers import ADDITIONS, INSTRUMENTED, LEVELS, OF_ARCHITECTURE, TOGETHER
from test_memcpy_mt import build_check
from test_sensing import need_counter

routine = once(render_machines)  # the file of all MACHINES
program = once(
    lambda arch, folder: build_which(render_machines(arch, folder), "-O2", "-static", arch=arch)
)
nearest_check = once(lambda arch, folder: build_nearest_check(arch, render_machines(arch, folder)))

GRANITE_RAPIDS = [*AVX512, "fsrm", "movdir64b", "movdiri", "cldemote"]
HALF_OF_AVX512 = ["avx", "avx512bw", "avx512f", "avx512vl", "bmi2", "rdtscp", "ssse3"]
SVE = [*FLAVOURS["sve"].has, "zva64"]
# Each row opposes what counts to what counts less.
NEAREST = {
    "x86_64": {
        "its own": (("AuthenticAMD", 25, 17, 1), AVX512, "genoa"),
        "its vendor's": (("  Shanghai  ", 6, 91, 0), AVX512, "zhaoxin"),
        "its family's": (("AuthenticAMD", 23, 1, 0), AVX512, "rome"),
        "its model's": (("GenuineIntel", 6, 63, 15), AVX512, "haswell"),
        "the nearer of two steppings": (("GenuineIntel", 6, 85, 6), AVX512, "cascade-lake"),
        "the nearer of two steppings below": (("GenuineIntel", 6, 85, 5), AVX512, "skylake"),
        "of equally near ones what needs least": (("", 6, 1, 0), HALF_OF_AVX512, "any.sse2"),
        "the nearer of two families": (("HygonGenuine", 24, 0, 1), AVX2, "milan"),
        "a CPU with more than any": (("GenuineIntel", 6, 173, 1), GRANITE_RAPIDS, "skylake"),
        "its own, whose features are masked": (("AuthenticAMD", 25, 17, 1), AVX2, "milan"),
        "its own, where AVX alone is saved": (("AuthenticAMD", 25, 17, 1), AVX512, "milan", 7),
        "its own, where nothing is saved": (("AuthenticAMD", 25, 17, 1), AVX512, "any.sse4", 0),
        "no features": (("AuthenticAMD", 15, 5, 8), [], "any.sse2"),
        "the first, where a vendor begins alike": (("AuthenticAMF", 6, 85, 7), AVX512, "genoa"),
        "the first, without a vendor": (("", 25, 17, 1), AVX2, "milan"),
    },
    "aarch64": {
        "its own": (("0x41", 8, 0xD40, 0x11), SVE, "neoverse-v1"),
        "the nearer of two steppings": (("0x41", 8, 0xD0C, 0x12), ["zva64"], "neoverse-n1.old"),
        "the nearer of two steppings above": (("0x41", 8, 0xD0C, 0x40), ["zva64"], "neoverse-n1"),
        "its own, but it clears others": (("0x41", 8, 0xD07, 0x10), ["atomics"], "neoverse-n1"),
        "its own, without SVE": (("0x46", 8, 1, 0x10), ["atomics"], "neoverse-n1"),
        "the vendor's other one": (("0x46", 8, 3, 0), SVE, "a64fx"),
        "a vendor whose second digit differs": (("0x42", 8, 0xD40, 0x11), [], "any.plain"),
        "another vendor with SVE": (("0x48", 8, 0xD40, 0x11), SVE, "neoverse-v1"),
        "what may not be asked": (("0x41", 8, 0xD40, 0x11), ["zva64"], "any.plain", 0),
        "the last one of two digits": (("0xc0", 8, 0xAC3, 0), ["atomics"], "neoverse-n1"),
    },
}


@each(NEAREST)
def test_the_nearest_profile_is_chosen(nearest_check, arch, case):
    identity, features, expected, *saved = case
    cpu = cpu_line(arch, *identity, features=features, saved=(*saved, ALL_SAVED)[0])
    assert nearest(arch, nearest_check(arch), cpu)[0][0] == expected


@each()
def test_each_feature_that_a_copy_may_need_is_read_from_its_bit(routine, nearest_check, arch):
    text = routine(arch).read_text(encoding="ascii")
    places = re.findall(r"asterope_has_(\w+) = 1 << (\d+)", text)
    known = {name: 1 << int(bit) for name, bit in places}
    assert known.keys() == KNOWN[arch.name] >= needs_of(*arch.copies())
    assert len(known) < 32  # else the distances would not have room
    vendor = MACHINES[arch.name][ASKED[arch.name][0]][0]
    # what the system does not save is not there; the rest of AVX-512 is nothing without avx512f
    ways = [(ALL_SAVED, ())]
    ways += [(0, ("avx", "avx2", "avx512f"))] if arch is X86_64 else []
    for saved, without in ways:
        cpus = [cpu_line(arch, vendor, 6, 1, 1, features=[f], saved=saved) for f in known]
        has = [has for _, has in nearest(arch, nearest_check(arch), *cpus)]
        assert has == [0 if name in without else bit for name, bit in known.items()]


@each(of=X86_64)
def test_leaves_that_a_cpu_lacks_are_not_read(nearest_check, arch):
    """Intel's CPUs answer with another leaf's values."""

    def told(**changed: object) -> tuple[str, int]:
        features = [*GRANITE_RAPIDS, "fzrm", "clzero"]
        cpu = cpu_line(arch, "GenuineIntel", 6, 63, 2, features=features, **changed)
        return nearest(arch, nearest_check(arch), cpu)[0]

    assert (told()[0], told(most_leaves=6)[0]) == ("haswell", "any.sse4")
    assert told(lacks="fzrm") == told(most_subleaves=0) != told()
    assert told(lacks="clzero") == told(most_extended=0x80000007) != told()


# The emulated CPU, what is asked for: what is taken.
EMULATED = {
    "x86_64": {
        ("max,vendor=AuthenticAMD,family=25,model=17,stepping=1", None): "milan",
        ("Haswell", None): "haswell",
        ("Nehalem", None): "any_sse4",
        ("Nehalem", "genoa"): "any_sse4",  # it cannot run that
        ("Nehalem", "any.sse2"): "any_sse2",
        ("qemu64,vendor=AuthenticAMD,family=25,model=1,stepping=1", None): "any_sse2",
        ("max,-xsave", None): "any_sse4",
    },
    "aarch64": {
        (WITHOUT_SVE, None): "cortex_a57",
        ("cortex-a72", None): "neoverse_n1_old",  # the vendor's: it has what that had
        ("neoverse-n1", None): "neoverse_n1",
        ("a64fx", None): "a64fx",
        (WITHOUT_SVE, "neoverse-v1"): "cortex_a57",  # it cannot run that
        (WITH_SVE, "neoverse-v1"): "neoverse_v1",
        (WITH_SVE, "any.plain"): "any_plain",
    },
}


@each(lambda arch: {f"{cpu} {ask}": (cpu, ask) for cpu, ask in EMULATED[arch.name]})
def test_other_cpus_take_the_nearest_profile_that_they_can_run(program, arch, case):
    cpu, ask = case
    assert_takes(arch, EMULATED[arch.name][case], program(arch), *arch.emulated(cpu), ask=ask)


@each()
def test_a_cpu_that_can_run_none_takes_the_fallback(tmp_path, arch):
    cpu = {"x86_64": "Nehalem", "aarch64": WITHOUT_SVE}[arch.name]
    names = [name for name, its in MACHINES[arch.name].items() if its[-1] in ("avx512", "sve")]
    routine = render_profiles(tmp_path, write_profiles(tmp_path, names, arch))
    program = build_which(routine, "-static", arch=arch)
    assert which(program, *arch.emulated(cpu)) == "fallback"


NO_NAMES = ["", "Rome", "rome ", " rome", "rom", "romes", "any_sse2", "x" * 5000, "rome\nhaswell"]
NO_NAMES += ["any_plain", "neoverse-n"]


@each(lambda arch: {name[:20]: name for name in (*ASKED[arch.name], "fallback", *NO_NAMES)})
def test_the_environment_names_the_profile_and_what_is_no_name_is_ignored(program, arch, case):
    need_asked(arch)
    of = (program(arch), *arch.on())
    assert_takes(arch, which(*of) if case in NO_NAMES else symbol(case), *of, ask=case)


@each()
def test_the_name_is_found_wherever_it_stands_in_the_environment(program, arch):
    first, second = ASKED[arch.name]
    for length in (0, 1, 990, 1000, 1001, 1007, 1020, 2050, 100_000):
        # QASTEROPE_PROFILE and its kind are other variables
        environment = {
            "A": "x" * length,
            "QASTEROPE_PROFILE": first,
            "ASTEROPE_PROFILE2": first,
            "ASTEROPE_PROFIL": first,
            "ASTEROPE_PROFILE": second,
            "B": f"ASTEROPE_PROFILE={first}",
        }
        out = output_of(*arch.on(), program(arch), "asterope_memcpy", 4096, 100, env=environment)
        assert out == f"asterope_{symbol(second)}_memcpy\n"


@each(emulated=False)
def test_processes_with_more_rights_than_their_user_ignore_the_name(routine, arch):
    if os.geteuid() != 0:
        pytest.skip("needs root, to make a program that runs as root")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # where all users may go, unlike pytest's own
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip(f"programs in {folder} cannot run with another user's rights")
        program = build_which(routine(arch), arch=arch, folder=Path(folder))
        other, unasked = ASKED[arch.name][1], which(program)
        nobody = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/"}
        for mode, expected in ((0o755, symbol(other)), (0o4755, unasked)):
            program.chmod(mode)
            asked = (program, "asterope_memcpy", 4096, 100)
            out = output_of(*asked, env=with_profile(other), **nobody)
            assert out == f"asterope_{expected}_memcpy\n"


# --- However it is linked and loaded --------------------------------------------------------------


# Flags that test_compilers lacks.
FLAGS = ("-O2 -DASTEROPE_NO_IFUNC", "-O2 -Wl,-z,now", "-O2 -fuse-ld=gold")
OTHERS = (
    *("musl-gcc -O2", "musl-gcc -O2 -static", "clang -O0", "clang -O3 -flto -fuse-ld=lld"),
    *("clang -O1 -fsanitize=address", "clang -O2 -fprofile-instr-generate"),
)


def ways_of(arch: Architecture) -> dict[str, tuple[str, ...]]:
    """Commands and flags: where it is linked otherwise, or calls something as it begins."""
    flags = (*FLAGS, *LEVELS[::3], *ADDITIONS, *OF_ARCHITECTURE[arch.name], *TOGETHER)
    ways = [f"{arch.gcc[0]} {way}" for way in (*flags, *INSTRUMENTED)]
    ways += OTHERS if arch.is_native else ()
    return {way: tuple(way.split()) for way in ways}


def build_chosen(folder: Path, routine: Path, *compiler: object) -> Path:
    more = (f"-I{routine.parent}", routine, "-Wl,--no-as-needed", *compiler[1:])
    return X86_64.program(folder, "chosen_check", *more, compiler=compiler[:1])


@each(ways_of, one_in=4)
def test_it_chooses_before_the_first_constructor_however_linked(tmp_path, routine, arch, case):
    need_asked(arch)
    arch.need_way(tmp_path, *case)
    program = build_chosen(tmp_path, routine(arch), *case)
    for ask in ASKED[arch.name]:
        out = output_of(*arch.on(), program, cwd=tmp_path, env=with_profile(ask))
        assert out == f"{ask} {ask}\n"


# --- Libraries of x86-64 --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def several(routine) -> Path:
    return routine(X86_64)


@pytest.fixture(scope="module")
def avx2() -> None:
    """Skips where this CPU cannot be told to take the profiles that need no more than AVX2."""
    if not X86_64.is_native:
        pytest.skip("needs libraries of x86-64")
    need_asked(X86_64)


with_ifunc_or_without = pytest.mark.parametrize(
    "flags", [(), ("-DASTEROPE_NO_IFUNC",)], ids=["ifunc", "variable"]
)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_what_decides_needs_no_relocation(tmp_path, avx2, several, compiler, level):
    """All but tables that are used later: the loader may ask before it has relocated this file."""
    X86_64.need_way(tmp_path, compiler)
    library = tmp_path / "library.so"
    output_of(compiler, level, "-fPIC", "-shared", "-nostdlib", several, "-o", library)
    kinds = set(re.findall(r"R_X86_64_\w+", output_of("objdump", "-R", library)))
    # Relative: the constructor's own, and the description that it sets.
    assert kinds <= {"R_X86_64_IRELATIVE", "R_X86_64_RELATIVE"}
    code = output_of("objdump", "-d", "--no-show-raw-insn", library)
    text = several.read_text(encoding="ascii")
    early = set(re.findall(r"^ASTEROPE_EARLY [^;()]*?(\w+)\(", text, re.MULTILINE))
    bodies = re.findall(r"^[0-9a-f]+ <(\w+)[.\w]*>:\n((?:.+\n)+)", code, re.MULTILINE)
    bodies = [(name, body) for name, body in bodies if name in early]
    # the compiler may have put others into these
    assert {f"asterope_{name}_choose" for name in ALL} <= {name for name, _ in bodies}
    for name, body in bodies:
        assert not re.search(r"@plt|jmp +\*|call +\*|%fs:", body), name


# Sets the variable, and opens a library.
OPENS = """
import ctypes, os, sys
os.environ.update(zip(["ASTEROPE_PROFILE"], sys.argv[2:]))
library = ctypes.CDLL(sys.argv[1])
library.asterope_profile.restype = ctypes.c_char_p
for size in (0, 1, 100, 3000, 5000):
    source, to = os.urandom(size), ctypes.create_string_buffer(size + 1)
    library.asterope_memcpy(to, source, ctypes.c_size_t(size))
    assert to.raw == source + bytes(1)
    library.asterope_memset(to, 7, ctypes.c_size_t(size))
    assert to.raw == size * bytes([7]) + bytes(1)
print(library.asterope_profile().decode())
"""


@with_ifunc_or_without
def test_a_library_that_is_opened_goes_by_the_environment_of_the_start(
    tmp_path, avx2, several, flags
):
    library = tmp_path / "library.so"
    output_of("gcc", "-O2", "-fPIC", "-shared", *flags, several, "-o", library)
    unasked = which(build_which(several, "-O2"))  # what this machine takes by itself
    for at_start, set_later, expected in (
        *(("rome", [], "rome"), ("any.sse2", ["haswell"], "any_sse2")),
        (None, ["any.sse2"], unasked),
    ):
        command = (sys.executable, "-c", OPENS, library, *set_later)
        assert symbol(output_of(*command, env=with_profile(at_start)).strip()) == expected


@pytest.mark.parametrize("bound", [{}, {"LD_BIND_NOW": "1"}], ids=["lazily", "now"])
@with_ifunc_or_without
def test_a_program_and_a_library_may_each_have_a_file_of_their_own(
    tmp_path, several, avx2, flags, bound
):
    """As exported indirect functions they would end the program at its start."""
    library, uses = tmp_path / "uses.so", tmp_path / "uses.c"
    uses.write_text(
        '#include "asterope_memcpy.h"\n'
        "void *(*uses_memcpy)(void *, const void *, size_t) = asterope_memcpy;\n",
        encoding="ascii",
    )
    includes = f"-I{several.parent}"
    output_of("gcc", "-fPIC", "-shared", *flags, includes, uses, several, "-o", library)
    program = build_chosen(tmp_path, several, "gcc", library)
    done = run(program, env={**with_profile("rome"), **bound})
    assert (done.returncode, done.stdout, done.stderr) == (0, "rome rome\n", "")


# --- What is chosen is what it is alone -----------------------------------------------------------


def bodies_of(routine: Path) -> dict[str, str]:
    """The assembly of each naked function, by its name."""
    text = routine.read_text(encoding="ascii")
    pattern = r"(?:NAKED void \*|^void )(\w+)\([^{;]*?\)\n\{\n(    ASTEROPE_ASM\(\n.*?)\n\}\n"
    return dict(re.findall(pattern, text, re.MULTILINE | re.DOTALL))


def render_of(folder: Path, **texts: str) -> Path:
    """A file of these profiles."""
    paths = [folder / f"{name}.json" for name in texts]
    for path, text in zip(paths, texts.values()):
        path.write_text(text, encoding="utf-8")
    return render_profiles(folder, paths)


def test_a_profile_s_functions_have_the_instructions_that_they_have_alone(tmp_path):
    """Sensing copies and sets, aliasing buffers, intents and all."""

    def one_less(body: str) -> str:
        return re.sub(r"_sense_(\d)", lambda found: f"_sense_{int(found[1]) - 1}", body)

    sensing = {65536: SensingCopy(PROBES[0], 200, XMM, YMM)}
    # with a small copy as far as the other's: else the shared pipelines need a way for fewer bytes
    bound = of(good_profile(), "small")[0]["up_to"]
    small = X86_64.small[f"stepped XMM middle {bound}"]
    other = profile_json([(16384, XMM), (65536, YMM)], small, sensing=sensing)
    together = render_of(tmp_path, other=other, good=json.dumps(good_profile()))
    several = {
        # what is named by the profile or numbered after the other's, as it is alone
        name.replace("_good_", "_"): one_less(body.replace("_good_", "_"))
        for name, body in bodies_of(together).items()
        if name not in {f"asterope_{function}" for function in (*ALL, "sense_1")}
        and not re.match("asterope_memcpy_", name)
    }
    for number in (1, 2):
        several[f"asterope_sense_{number}"] = several.pop(f"asterope_sense_{number + 1}")
    alone = bodies_of(render(tmp_path / "good.json", tmp_path / "alone"))
    some = (*ALL, "memcpy_hot", "sense_1", "untuned", "move_downwards_ymm_128")
    assert {f"asterope_{name}" for name in some} < alone.keys()
    for name, body in alone.items():  # one at a time, for a readable difference
        assert several[name] == body, name


def test_a_profile_may_have_the_name_of_anything_else_in_the_file(tmp_path):
    """Nothing that stands for no profile, as the choice before it is made, may be taken for one."""
    names = ("nothing", "chosen", "not_chosen", "names", "memcpy", "fresh", "untuned", "sense_1")
    text = profile_json([(4096, XMM)], memset=FLAVOURS["sse2"].memset)
    routine = render_of(tmp_path, **dict.fromkeys(names, text))
    program = build_which(routine)
    assert [which(program, ask=name) for name in names] == [*names]


def render_rich(arch: Architecture, folder: Path) -> Path:
    """A file of two profiles that have other things than each other; of AArch64 what there is."""
    if arch is not X86_64:
        return render_machines(arch, folder)
    return render_of(
        folder,
        plain=profile_json([(300, XMM), (1 << 20, STREAMED_XMM)]),
        intents=profile_json(
            [(4096, YMM), (1 << 20, XMM)],
            X86_64.small["grouped YMM up 256"],
            intents={"hot": [(4096, YMM)], "consume": [(4096, STREAMED_XMM)]},
            overlapping=X86_64.overlapping_copies.Tuple("YMM", 256),
            memset=FLAVOURS["avx2"].memset,
            shares=[(131071, 4194304, 2, 65536)],
        ),
    )


rich = once(render_rich)
# A CPU copies with the function that was chosen for it.
COPYING = {
    "x86_64": [("", "plain"), ("", "intents"), ("", "fallback")],
    "aarch64": [(WITHOUT_SVE, "cortex-a57"), (SHORT_VECTORS, "a64fx"), (WITH_SVE, "fallback")],
}


@each(COPYING)
def test_each_profile_copies_right_by_every_function(rich, objects, arch, case):
    cpu, ask = case
    arch.cpu_for(YMM if arch is X86_64 else arch.plain)
    intents = ["hot", "consume"] if arch is X86_64 else []
    command = (*arch.on(cpu), arch.routine_check(rich(arch), objects), *SHORT)
    of = {"sets": True, "intents": intents, "env": with_profile(ask)}
    assert_right(*command, "--around", "300,4096", **of)


def test_what_a_profile_lacks_another_function_does(rich, avx2):
    """Its own memcpy for an entry point, the fallback's memset."""
    instead = {"memset": "fallback_memset", "memcpy_hot": "plain_memcpy"}
    program = build_which(rich(X86_64), intents=["memcpy_hot"])
    for ask, function in itertools.product(("plain", "intents", "fallback"), instead):
        taken = instead[function] if ask == "plain" else f"{ask}_{function}"
        out = output_of(program, f"asterope_{function}", 4096, 100, env=with_profile(ask))
        assert out == f"asterope_{taken}\n"


@with_ifunc_or_without
def test_copies_over_threads_are_the_chosen_profile_s(rich, avx2, flags):
    program = build_check(X86_64, rich(X86_64), *flags)
    for name, threads in (("intents", 2), ("plain", 1), ("fallback", 1)):
        assert output_of(program, "copies", env=with_profile(name)).endswith("ok\n")
        tasks = output_of(program, "tasks", 4, env=with_profile(name)).splitlines()
        assert (int(tasks[0]), tasks[-1]) == (threads, "ok")


def test_the_constructor_opens_the_gate_of_sensing_copies_in_every_profile(tmp_path, avx2):
    """It is one for all. No probe takes 0 ticks, so each finds the data cold."""
    need_counter(X86_64)
    colds = {"one": XMM, "two": STREAMED_XMM}
    hots = dict(zip(colds, reversed(colds.values())))
    texts = {}
    for name, cold in colds.items():
        sensing = {65536: SensingCopy(PROBES[0], 0, hots[name], cold)}
        texts[name] = profile_json([(16384, hots[name]), (65536, YMM)], sensing=sensing)
    program = build_dispatch_check(X86_64, render_of(tmp_path, **texts))
    words = ("--past-sensing", "asterope_memcpy", 65536, 16384, 20000)
    for name, cold in colds.items():
        taken = output_of(program, *words, env=with_profile(name)).split()
        assert taken == [f"asterope_copy_{t.symbol}" for t in (hots[name], cold)]
