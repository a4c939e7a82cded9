"""One file of several machines' profiles: the right one is chosen."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import pytest
from architectures import WITH_SVE, WITHOUT_SVE, X86_64, each, needs_of, once
from copy_programs import output_of
from dispatch_machines import (
    ALL_SAVED,
    ASKED,
    AVX2,
    AVX512,
    FLAVOURS,
    KNOWN,
    MACHINES,
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
