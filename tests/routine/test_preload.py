"""The routine under libc's names, put under programs or linked into them: whole, silent, and right
in every situation."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from architectures import (
    AARCH64,
    HOST,
    NO_BUILTIN,
    X86_64,
    Architecture,
    assert_right_unrelocated,
    build_preload,
    each,
    fortified_check,
    once,
    preload_check,
)
from asterope.place_map import MappedPlace, as_c
from asterope.render import Asks, render_routine
from copy_programs import (
    REPOSITORY,
    WARNINGS,
    Memset,
    exported,
    need,
    output_of,
    profile_json,
    render,
    run,
    symbols,
    with_small_stages,
    write,
)
from dispatch_machines import MACHINES, render_profiles, write_profiles
from generate_command import command as generate
from routine_examples import GATED, GATED_SET, MIB
from test_sensing import PROBES, intervals_of, need_counter, render_sensing, sensing_with

PLAIN = ("memcpy", "memmove", "mempcpy", "memset")
COPIES = {*PLAIN[:3], "__mempcpy", *(f"__{name}_chk" for name in PLAIN[:3])}
SETS = {"memset", "__memset_chk", "bzero"}
# A routine without memset leaves libc's alone; one that senses sees who forbids the counter.
NAMES = {
    "reference": COPIES,
    "sensing": COPIES | {"prctl", "syscall"},
    **dict.fromkeys(("tuned", "preparing", "with a map"), COPIES | SETS),
    "several": COPIES | SETS | {"prctl", "syscall"},
}
SITUATIONS = ("copies", "early", "signals", "fork", "threads", "dlopen")


# Above, up to, stage, piece, all of them 16 times as large as in the routine.
STAGES = [
    (65535, 131072, "populate", 65536),
    (131072, 262144, "none", 0),
    (262144, MIB, "huge", 131072),
]


def tuned_profile(arch: Architecture, folder: Path, stages: Sequence = ()) -> Path:
    """One that needs what not every CPU has for small copies and large ones, and for sets. One with
    page stages, which the portable path lacks, runs on any CPU."""
    wide = {"x86_64": "ZMM", "aarch64": "SVE"}[arch.name]
    near = arch.pipelines.VALUES["pt"][1]
    copy, set_ = arch.pipelines.Tuple, arch.set_pipelines.Tuple
    winners = [(4096, copy(wide, "T", "T", "none", 0, 0)), (MIB, copy(wide, "T", "NT", near, 4, 8))]
    sets = Memset([(4096, set_(wide, "T")), (MIB, set_(wide, "NT"))], GATED_SET[arch.name])
    small = GATED[arch.name]
    if stages:
        winners, small = [(4096, arch.plain), (MIB, arch.plain)], None
        sets = Memset([(MIB, arch.set_pipelines.PLAIN)])
    profile = json.loads(profile_json(winners, small, memset=sets, stages=stages))
    profile["machine"] = {"cpu": {"brand": "A CPU (TM) @ 3.20GHz"}, "huge_pages": "madvise"}
    profile["search"] = {"workload": "balanced", "finished": "2026-11-20T22:19:00Z"}
    (folder / "profile.json").write_text(json.dumps(profile))
    return folder / "profile.json"


def make_library(arch: Architecture, folder: Path, name: str) -> Path:
    """A preload library: one as scripts/tune has it made, without memset; one that senses; one with
    memset; the same with page stages; with a map, which names a place of no program; one of several
    profiles, of which one senses. All but the first lie two folders below their routine. Where the
    CPU lacks the features of the profile, this tests the portable path."""
    made = folder / "build" / "libasterope_preload.so"
    if name == "reference":
        profile = REPOSITORY / "generated" / "reference" / "xeon-gold-5218.json"
        assert generate(profile, "--quiet", "--preload", made) == 0
        return made
    made.parent.mkdir()
    if name == "sensing":
        return build_preload(arch, render_sensing(arch, folder), made)
    if name == "several":
        paths = write_profiles(folder, MACHINES[arch.name], arch)
        (folder / "senses.json").write_text(
            profile_json(intervals_of(arch), sensing=sensing_with(PROBES[1], arch))
        )
        return build_preload(arch, render_profiles(folder, [*paths, folder / "senses.json"]), made)
    if name == "preparing":
        profile = with_small_stages(tuned_profile(arch, folder, STAGES))
        routine = write(render_routine(profile, asks=Asks()), folder)
    else:
        routine = render(tuned_profile(arch, folder), folder)
    if name != "with a map":
        return build_preload(arch, routine, made)
    places = [MappedPlace("a file", "00", 4096, "", "memcpy", 1024, "libc")]
    (folder / "places.h").write_text(as_c(places))
    mapped = f'-DASTEROPE_PLACES="{folder / "places.h"}"'
    return build_preload(arch, routine, made, *arch.gcc, "-O2", mapped)


library, check, fortified = map(once, (make_library, preload_check, fortified_check))
each_library = each(lambda a: list(NAMES)[not (a is X86_64 and a.is_native) :])


def under(arch: Architecture, library: Path | None, cpu: str = "", **more: str) -> tuple:
    """The beginning of a command that has the library under it, or none. Page stages are asked for:
    libraries without any take no notice."""
    ours = {"LD_PRELOAD": library, "ASTEROPE_FRESH": "1"} if library else {}
    return arch.on(cpu, **ours, **more)


@each_library
def test_it_exports_the_names_of_libc_and_no_other(library, arch, case):
    """Not asterope_memcpy: a program that has its own would get this one in its place."""
    assert exported(library(arch, case), arch.nm) == NAMES[case]


@each_library
def test_it_needs_nothing_of_libc_that_could_copy(library, arch, case):
    of_compilers = {"__cxa_finalize", "__gmon_start__"}
    of_compilers |= {"_ITM_registerTMCloneTable", "_ITM_deregisterTMCloneTable"}
    needed = {"__chk_fail", "getenv", "strcmp", "strlen", "unsetenv", "write"}
    needed |= {"getauxval"} if arch is AARCH64 else set()
    needed |= {"__errno_location"} if "prctl" in NAMES[case] else set()
    if case == "with a map":
        needed |= {"dlsym", "_dl_find_object"}
    if case in ("with a map", "preparing") and arch is AARCH64:
        needed |= {"__getauxval"}  # libgcc asks which atomic instructions there are
    assert arch.wanted(library(arch, case), "-D") - of_compilers <= needed


@each_library
def test_it_is_right_before_it_is_even_relocated(check, library, arch, case):
    of = (check(arch), library(arch, case), NAMES[case] & (COPIES | SETS))
    assert_right_unrelocated(*of, *(arch.on(cpu) for cpu in arch.cpus[:2]))


def hardened(arch: Architecture) -> dict[str, tuple[str, ...]]:
    """With _FORTIFY_SOURCE the headers define a memcpy, and clang then drops our alias."""
    others = {"gcc -O0": (*arch.gcc, "-O0"), "gcc -flto": (*arch.gcc, "-O2", "-flto")}
    if arch is AARCH64:
        others["gcc, protected branches"] = (*arch.gcc, "-O2", "-mbranch-protection=standard")
    for name, compiler in (("gcc", arch.gcc), ("clang", arch.clang)):
        for level in "023":
            flags = ("-U_FORTIFY_SOURCE", f"-D_FORTIFY_SOURCE={level}", "-fstack-protector-strong")
            others[f"{name}, fortified {level}"] = (*compiler, "-O2", *flags)
    return others


def routine_of(library: Path) -> Path:
    return library.parents[1] / "asterope_memcpy.c"


def replacing(routine: Path, target: Path, *compiler: object) -> Path:
    """The object that has it in libc's place."""
    source = REPOSITORY / "templates" / "replace_libc.c"
    own = (f'-DASTEROPE_ROUTINE="{routine}"', *WARNINGS, "-c", source)
    output_of(*compiler, *own, "-o", target)
    return target


@each(hardened, one_in=3)
def test_other_compilers_and_flags_leave_it_whole(tmp_path, library, check, arch, case):
    routine = routine_of(library(arch, "tuned"))
    made = build_preload(arch, routine, tmp_path / "library.so", *case)
    assert exported(made, arch.nm) == NAMES["tuned"]
    output_of(*under(arch, made), check(arch), "copies")
    if "-flto" in case:
        return
    # Not even without -fno-builtin does what is linked in libc's place call what it stands for.
    linked = replacing(routine, tmp_path / "replace_libc.o", *case, "-std=c99", "-pedantic")
    wanted = {"__chk_fail", "_GLOBAL_OFFSET_TABLE_", *(["getauxval"] if arch is AARCH64 else [])}
    assert arch.wanted(linked) <= wanted
    code = output_of(arch.objdump, "-dr", linked)
    assert "__chk_fail" in code  # it shows what is called
    assert not re.search(r"R_\w+\s+_*mem", code)


# --- ASTEROPE_VERBOSE -----------------------------------------------------------------------------


TUNED_FOR = r", tuned for A CPU \(TM\) @ 3\.20GHz, balanced, 2026-11-20T22:19:00Z"
SAID = {
    "reference": ("memcpy, memmove and mempcpy", ""),
    "sensing": ("memcpy, memmove and mempcpy", ""),
    **dict.fromkeys(
        ("tuned", "preparing"), ("memcpy, memmove, mempcpy, memset and bzero", TUNED_FOR)
    ),
    "with a map": ("memcpy, memmove, mempcpy, memset and bzero", f"{TUNED_FOR}, 1 place apart"),
    "several": ("memcpy, memmove, mempcpy, memset and bzero", ".*"),
}


@each_library
def test_it_says_in_one_line_that_it_is_in_use_and_for_which_profile(check, library, arch, case):
    """Else it says nothing. The line ends with what comes of ASTEROPE_FRESH."""
    functions, tuned = SAID[case]
    chosen = r"[\w.-]+: " if case == "several" else ""
    said = f"asterope: {functions} are {chosen}generated by asterope [0-9.]+{tuned}"
    nothing = ", ASTEROPE_FRESH=1 does nothing: no page stage can be asked for here"
    ends = {
        **{"1": ", large ones prepare their pages" if case == "preparing" else nothing},
        **dict.fromkeys((None, "0"), ""),
        **dict.fromkeys(("", "2", "yes"), ", ASTEROPE_FRESH is neither 0 nor 1 and taken as 0"),
    }
    verbosities = ("1", None, "", "0", "2", "11", "yes")
    for verbose, fresh in (*((v, "1") for v in verbosities), *(("1", fresh) for fresh in ends)):
        told = {"ASTEROPE_VERBOSE": verbose, "ASTEROPE_FRESH": fresh}
        told = {name: value for name, value in told.items() if value is not None}
        done = run(*arch.on(LD_PRELOAD=library(arch, case), **told), check(arch), "copies")
        assert (done.returncode, done.stdout) == (0, "")
        line = f"{said}{ends[fresh]}\n" if verbose == "1" else ""
        assert re.fullmatch(line, done.stderr), (verbose, fresh)


@each(emulated=False)
def test_it_says_that_it_is_not_in_use_where_the_cpu_cannot_run_it(check, library, arch):
    cpu = {"x86_64": "Nehalem", "aarch64": "cortex-a53"}[arch.name]
    variables = {"LD_PRELOAD": library(arch, "tuned"), "ASTEROPE_VERBOSE": "1"}
    settings = [word for name, value in variables.items() for word in ("-E", f"{name}={value}")]
    done = run(*arch.emulated(cpu), *settings, check(arch), "copies")
    assert (done.returncode, done.stdout) == (0, ""), done
    said = f"{TUNED_FOR}, but this CPU cannot run it: portable copies are in use\n"
    assert re.fullmatch(rf"asterope: .+{said}", done.stderr), done


@each(emulated=False)
def test_a_closed_stderr_is_no_fault(library, arch):
    verbose = under(arch, library(arch, "tuned"), ASTEROPE_VERBOSE="1")
    closing = ("/bin/sh", "-c", 'exec 2>&-; exec "$@"', "sh")
    assert output_of(*closing, *verbose, "/bin/echo", "fine") == "fine\n"


@each(emulated=False)
def test_children_say_nothing(library, arch):
    verbose = under(arch, library(arch, "tuned"), ASTEROPE_VERBOSE="1")
    done = run(*verbose, "/bin/sh", "-c", "/bin/echo a; /bin/echo b; exec /bin/echo c")
    assert (done.returncode, done.stdout) == (0, "a\nb\nc\n")
    assert done.stderr.count("asterope: ") == 1


# --- Situations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("situation", SITUATIONS)
@each_library
def test_copies_and_sets_are_right(check, library, arch, case, situation):
    """Overlapping memcpy included. Without the library: the checks hold for glibc, as they must."""
    program = check(arch)
    for path in (library(arch, case), *[None] * (case == "reference")):
        for cpu in arch.cpus[:2]:
            output_of(*under(arch, path, cpu), program, situation, program.with_name("plugin.so"))


@each_library
def test_checked_copies_beyond_the_buffer_end_the_program_as_glibc_s_do(
    fortified, library, arch, case
):
    """A program that is compiled so that they are found."""
    program = fortified(arch)
    if not {f"__{name}_chk" for name in PLAIN} <= arch.wanted(program, "-D"):
        pytest.skip("this compiler or libc does not call the checked functions")
    ways = (library(arch, case), None)
    for name in PLAIN:
        for size in (0, 1, 15, 16, 17, 32, 2**31 - 1):
            done, plain = (run(*under(arch, path), program, name, size) for path in ways)
            ended, expected = ((one.returncode, one.stdout, one.stderr) for one in (done, plain))
            assert ended == expected, (name, size)
            assert (done.returncode != 0) == (size > 16), (name, size)
            assert ("buffer overflow detected" in done.stderr) == (size > 16), (name, size)


# --- Rights that programs take away from themselves -----------------------------------------------


CANNOT = 77


def linked_with_sensing(arch: Architecture, folder: Path) -> Path:
    """A program that has a routine that senses, by name."""
    by_name = ("-DCOPY=asterope_memcpy", render_sensing(arch, folder))
    return arch.program(folder, "sandbox_check", *NO_BUILTIN, *by_name)


sandbox = once(lambda arch, folder: arch.program(folder, "sandbox_check", *NO_BUILTIN))
linked_sandbox = once(linked_with_sensing)


def ending(*command: object) -> int:
    done = run(*command)
    if done.returncode == CANNOT:
        pytest.skip("this system takes no such right away")
    return done.returncode


@each(emulated=False)
def test_what_senses_is_loaded_where_every_system_call_kills(
    sandbox, linked_sandbox, library, arch
):
    assert ending(*under(arch, library(arch, "sensing")), sandbox(arch), "loading") == 0
    assert ending(linked_sandbox(arch), "loading") == 0


FORBIDDEN = ("strict", "strict by syscall", "stamp", "stamp by syscall")


@pytest.mark.parametrize("how", FORBIDDEN)
@each(emulated=False)
def test_it_no_longer_reads_a_counter_that_is_being_forbidden(sandbox, library, arch, how):
    need_counter(arch)
    assert ending(*under(arch, library(arch, "sensing")), sandbox(arch), how) == 0


@pytest.mark.parametrize("how", ["unseen", "probed"])
@each(emulated=False)
def test_otherwise_it_goes_on_to_read_it(sandbox, library, arch, how):
    """As it must to be of use, here to die of it: where nothing forbids it, and where the kernel
    refuses a library's probe."""
    need_counter(arch)
    died = ending(*under(arch, library(arch, "sensing")), sandbox(arch), how)
    assert died == -signal.SIGSEGV


# --- Linked into programs -------------------------------------------------------------------------


LINKED = {
    "to run": ("tuned",),
    "statically": ("tuned", "-static"),
    "statically, anywhere": ("tuned", "-static-pie", "-fPIE"),
    "with link-time optimization": ("tuned", "-flto"),
    "statically, of several profiles": ("several", "-static"),
}


@each(lambda arch: LINKED)
def test_a_program_may_have_it_in_libc_s_place(tmp_path, library, arch, case):
    kind, *flags = case
    how = (*NO_BUILTIN, *flags)
    routine = routine_of(library(arch, kind))
    replacement = replacing(routine, tmp_path / "replace_libc.o", *arch.gcc, *how)
    program = arch.program(tmp_path, "preload_check", *how, "-DSTATIC", replacement, "-pthread")
    found = symbols(program, nm=arch.nm)
    at = {name: address for name, (address, _) in found.items()}
    assert at["memcpy"] == at["memmove"] == at["asterope_memmove"]
    assert at["mempcpy"] == at["__mempcpy"] == at["asterope_mempcpy"]
    assert at["memset"] == at["asterope_memset"]
    # In a static one libc's functions, which only its own names would bring in, are not there.
    # (memset's are in the objects of wmemset's, which others of libc call.)
    assert not [name for name in at if re.match(r"__mem(p?cpy|move)_(avx|evex|sse|erms)", name)]
    # A choice while the program starts would come too late: libraries copy before.
    assert not [name for name in found if "asterope" in name and found[name][1] == "i"]
    for cpu in arch.cpus[:2]:
        for situation in SITUATIONS[:-1]:
            output_of(*arch.on(cpu), program, situation)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("sanitizer", ["address", "thread"])
@each(emulated=False)
def test_sanitizers_keep_their_own_memcpy(tmp_path, library, arch, compiler, sanitizer):
    need(compiler)
    routine, how = routine_of(library(arch, "tuned")), (compiler, f"-fsanitize={sanitizer}")
    defined = {*symbols(replacing(routine, tmp_path / "replace_libc.o", *how))}
    assert "asterope_memcpy" in defined
    assert not NAMES["tuned"] & defined


@pytest.mark.parametrize("name", ["tuned", "sensing"])
@each(emulated=False)
def test_a_program_of_musl_runs_where_its_parent_has_the_library(tmp_path, library, arch, name):
    """Which lacks what glibc's checked functions call."""
    need("musl-gcc")
    program = arch.program(
        tmp_path, "preload_check", "-DSTATIC", compiler=("musl-gcc", *NO_BUILTIN)
    )
    verbose = under(arch, library(arch, name), ASTEROPE_VERBOSE="1")
    done = run(*verbose, program, "copies")
    assert (done.returncode, done.stdout) == (0, ""), done
    assert done.stderr.startswith("asterope: ")


@pytest.mark.slow
@each(emulated=False)
def test_a_static_program_of_musl_has_the_tuned_functions_too(tmp_path, library, arch):
    need("musl-gcc")
    routine, musl = routine_of(library(arch, "tuned")), ("musl-gcc", *NO_BUILTIN)
    linked = replacing(routine, tmp_path / "replace_libc.o", *musl)
    static = ("-DSTATIC", "-static", linked)
    program = arch.program(tmp_path, "preload_check", *static, compiler=musl)
    output_of(program, "copies")
    defined = symbols(program)
    assert defined["memcpy"] == defined["asterope_memmove"]
    assert defined["memset"] == defined["asterope_memset"]
    assert not [name for name in defined if name.endswith("_chk")]


# --- A real program -------------------------------------------------------------------------------


def python_with_tests() -> Path:
    """A Python with the test package; Debian's own leaves it out."""
    for python in (Path(sys.executable), Path(sys.base_prefix, "bin", "python3")):
        if run(python, "-c", "import test.test_bytes").returncode == 0:
            return python
    pytest.skip("no python3 here has the test package (Debian: libpython3-testsuite)")


@pytest.mark.slow
def test_python_passes_its_own_tests(library, tmp_path):
    """As it does without."""
    command = (python_with_tests(), "-m", "test", "-v", "test_bytes", "test_memoryview")

    def results(library: Path | None) -> dict[str, str]:
        done = run(*under(HOST, library), *command, "test_array", cwd=tmp_path)
        said = done.stdout + done.stderr
        assert done.returncode == 0, said[-4000:]
        return dict(re.findall(r"^(test_\w+ \(\S+\)).*? \.\.\. (\w+)", said, re.MULTILINE))

    plain, ours = results(None), results(library(HOST, "tuned"))
    assert len(plain) > 500
    assert ours == plain
    assert set(ours.values()) <= {"ok", "skipped"}
