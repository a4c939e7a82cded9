"""The routine is the same, and copies right, with every compiler and linker."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from architectures import AARCH64, X86_64, Architecture, each, list_routines, once
from copy_programs import (
    CHECKERS,
    FUNCTIONS,
    SHORT,
    STRICT,
    STRICT_C,
    Memset,
    assert_right,
    need,
    output_of,
    render,
    run,
    symbols,
)
from disassembly import disassemble, jump_of
from dispatch_machines import render_machines
from routine_examples import GATED, every_kind, every_set, everything, intents_of
from test_memcpy_mt import SHARES, tuned

THREADS = "-DASTEROPE_THREADS -pthread"
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
# Other ways of linking, and further additions of the compiler's to functions: none of these may get
# them.
LINKED = (
    *("-O2 -static", "-O2 -fPIE", "-O2 -fno-pic -no-pie", "-O2 -static-pie -fPIE"),
    *("-O2 -ffunction-sections -fdata-sections", "-O2 -mcmodel=large"),
)
ADDITIONS = (
    *LINKED[:-1],
    *("-O2 -fstack-clash-protection", "-O2 -fstack-protector-all", "-O2 --coverage"),
    *("-O2 -fprofile-generate", "-O2 -fno-builtin", "-O2 -ffreestanding"),
    *("-O2 -fno-asynchronous-unwind-tables", "-O2 -finstrument-functions"),
    *("-O0 -fno-omit-frame-pointer -g", "-O2 -pg"),
)
OF_ARCHITECTURE = {
    "x86_64": (
        *("-O2 -fcf-protection=full", "-O2 -mcmodel=large"),
        "-O2 -fomit-frame-pointer -march=x86-64-v3",
    ),
    "aarch64": (
        *("-O2 -mbranch-protection=standard", "-O3 -march=armv8.5-a+sve2"),
        "-O3 -mcpu=cortex-a53",
    ),
}
# clang's own <cpuid.h> does not compile so.
OF_GCC = {"x86_64": ("-O2 -masm=intel",), "aarch64": ()}
# Further additions, which need a library of the compiler's to run, the last one of gcc alone.
INSTRUMENTED = ("-O2 -fsanitize=thread", "-O2 -fsanitize-coverage=trace-pc")
LINK_FLAGS = {"-x": "-xnone", "-fPIE": "-pie", "-ffunction-sections": "-Wl,--gc-sections"}
LINKS_ALONE = ("-no-pie", "-static-pie")  # clang warns of these where it does not link


def ways_of(arch: Architecture) -> list[str]:
    """Compilers and flags that make the same instructions."""
    every = (*LEVELS, *ADDITIONS, *OF_ARCHITECTURE[arch.name], *INSTRUMENTED)
    # what clang has compiled for another architecture, gcc links, without clang's libraries
    of_clang = every[:-1] if arch.is_native else LEVELS
    standards = itertools.product(("g++", "clang++"), ("c++11", "c++20"), ("-O0", "-O3"))
    return [
        *(f"gcc {flags}" for flags in (*every, *OF_GCC[arch.name])),
        *(f"clang {flags}" for flags in of_clang),
        *(f"{compiler} -std={standard} {level}" for compiler, standard, level in standards),
    ]


def command_of(arch: Architecture, way: str, *strict: str) -> tuple[str, ...]:
    """A way's command; `strict`: the flags of C that it has besides."""
    name, *flags = way.split()
    programs = {"gcc": arch.gcc, "clang": arch.clang, "g++": arch.gxx, "clang++": arch.clangxx}
    more = (*STRICT, "-x", "c++") if "++" in name else strict
    return (*programs[name], *more, *flags)


def render_all(arch: Architecture, folder: Path, **more: object) -> Path:
    return render(every_kind(arch), folder, GATED[arch.name], memset=every_set(arch), **more)


def is_daily(way: str) -> bool:
    return way.endswith(("++20 -O3", "-static")) or bool(re.fullmatch(r"\w+ -O[03]", way))


def is_linked(way: str) -> bool:
    """Whatever else is told to a compiler, it makes the same instructions, see below."""
    return is_daily(way) or way in {f"gcc {flags}" for flags in LINKED}


@each(lambda arch: filter(is_linked, ways_of(arch)), daily=is_daily)
def test_it_copies_right_however_linked(tmp_path, objects, arch, case):
    command = command_of(arch, case, *STRICT_C)
    if case[0] == "g":
        arch.need_way(tmp_path, *command)
    link_flags = [option for flag, option in LINK_FLAGS.items() if flag in command]
    link_flags = [flag for flag in command if flag in LINKS_ALONE] or link_flags
    compiler = [flag for flag in command if flag not in LINKS_ALONE]
    routine = render_all(arch, tmp_path)
    program = arch.routine_check(routine, objects, *compiler, link_flags=link_flags)
    assert_right(*arch.on(), program, *SHORT, sets=True)


TOGETHER = (
    *("-flto", "-flto -flto-partition=max"),
    "-fsanitize=address,undefined -fno-sanitize-recover",
)


def ways_together(arch: Architecture) -> list[str]:
    of_clang = (TOGETHER[0], TOGETHER[-1]) if arch.is_native else ()
    return [*(f"gcc {flags}" for flags in TOGETHER), *(f"clang {flags}" for flags in of_clang)]


@each(ways_together, daily=lambda way: way in ("gcc -flto", f"gcc {TOGETHER[-1]}"))
def test_it_copies_right_where_all_is_compiled_so(tmp_path, arch, case):
    command = command_of(arch, case)
    arch.need_way(tmp_path, *command)
    routine = render_all(arch, tmp_path)
    together = (list_routines({routine: (0,)}), CHECKERS / "copy_check.c")
    program = arch.program(tmp_path, "routine_check", "-O2", *together, compiler=command)
    # The checker takes faults for itself, and no emulated process can be traced for leaks.
    options = {"ASAN_OPTIONS": "handle_segv=0:handle_sigill=0:detect_leaks=0"}
    assert_right(*arch.on(), program, *SHORT, env=options, sets=True)


# --- Object code ----------------------------------------------------------------------------------


COPIES = (
    r"asterope_(?:memcpy|mempcpy|memmove|memset|untuned|"
    r"(?:candidate|copy|memcpy|move|sense|set)_(?!fresh)\w+)"
)
# The functions that are C.
FRESH = ("memcpy_fresh", "memset_fresh")
# Instructions that call, or touch the stack.
LEAVES = {
    "x86_64": r"\b(call|push|pop|enter|leave|syscall)|%[re]?sp\b",
    "aarch64": r"^(bl|blr|svc)\b|\bsp\b|\bx30\b",
}


def code_of(arch: Architecture, folder: Path, *compiler: str) -> dict[str, list[str]]:
    """The instructions of the functions that copy; linked, where only so symbols can be told."""
    routine = render_all(arch, folder, overlapping=arch.moves[-1])
    linked = ("-fPIC", "-shared") if arch is X86_64 else ("-c",)
    flags = [flag for flag in compiler if flag not in ("-static", "-static-pie", "-no-pie")]
    output_of(*flags, *linked, routine, "-o", folder / "code", cwd=folder)
    functions = disassemble(folder / "code", arch)
    return {n: f.instructions for n, f in functions.items() if re.fullmatch(COPIES, n)}


def code_of_gcc(arch: Architecture, folder: Path) -> dict[str, list[str]]:
    code = code_of(arch, folder, *arch.gcc, "-O2")
    # untuned, and the moves of it and of its own; memset's untuned
    sets = {t for _, t in every_set(arch).intervals}
    assert len(code) == len(FUNCTIONS) + len(arch.kinds) + 5 + 1 + len(sets) + 1
    return code


expected_code = once(code_of_gcc)


@each(ways_of, daily=lambda way: re.fullmatch(r"\w+ -O\d( -masm=intel)?", way))
def test_every_compiler_makes_the_same_instructions(tmp_path, expected_code, arch, case):
    code = code_of(arch, tmp_path, *command_of(arch, case, *STRICT_C))
    expected = expected_code(arch)
    for name in expected:  # one at a time: a difference of dictionaries cannot be read
        assert code[name] == expected[name], name
    assert code.keys() == expected.keys()


@each()
def test_the_copies_call_nothing_and_leave_the_stack_alone(expected_code, arch):
    code = expected_code(arch)
    jumps = r"^(?:j\w+|b|b\.\w+) <([a-z_][^>]*)>"
    for name, body in code.items():
        last = body[-1]
        assert last.startswith(("ret", "jmp", "b ", "br ")) or jump_of(last) is not None, name
        for instruction in body:
            assert not re.search(LEAVES[arch.name], instruction), f"{name}: {instruction}"
            target = re.search(jumps, instruction)
            assert not target or f"asterope_{target[1]}" in code, f"{name}: {instruction}"


def render_stages(arch: Architecture, folder: Path) -> Path:
    stages, sets = (
        [(65535, 1 << 20, "huge", 1 << 20)],
        Memset([(4 << 20, arch.set_pipelines.PLAIN)]),
    )
    known = {"stages": stages, "huge_pages": "madvise"}
    return render(tuned(arch), folder, shares=SHARES, memset=sets, **known)


# Files, and further flags of theirs.
FILES = {
    "everything": (lambda arch, folder: render(folder=folder, **everything(arch)), ""),
    "plain": (lambda arch, folder: render([(4096, arch.plain)], folder), ""),
    "several profiles": (render_machines, ""),
    "without indirect functions": (render_machines, "-DASTEROPE_NO_IFUNC -ffreestanding"),
    "threads that are not asked for": (
        *(lambda arch, folder: render(tuned(arch), folder, shares=SHARES), ""),
    ),
    "threads": (lambda arch, folder: render(tuned(arch), folder, shares=SHARES), THREADS),
    "threads of several": (render_machines, THREADS),
    "page stages": (render_stages, ""),
    "threads with page stages": (render_stages, THREADS),
}


# Ways to compile, and the standard of C++ with each.
STANDARDS = {"-O0 -fno-pic": "c++11", "-O2 -fPIE": "c++17", "-O3 -fPIC": "c++20"}


@pytest.mark.parametrize(
    "compiler",
    ["gcc", "clangxx", *(pytest.param(c, marks=pytest.mark.slow) for c in ("clang", "gxx"))],
)
@each(lambda arch: FILES)
def test_it_compiles_without_a_word_and_needs_nothing_from_elsewhere(
    tmp_path, arch, case, compiler
):
    """Only the function that tells the CPU's features is needed, and no copy of libc's."""
    make, flags = case
    command, routine, target = getattr(arch, compiler), make(arch, tmp_path), tmp_path / "routine.o"
    need(command[0])
    strict = ("-x", "c++", *STRICT) if "xx" in compiler else STRICT_C
    if compiler.startswith("clang"):  # gcc has it for C from 14 on
        strict += ("-Wmissing-variable-declarations",)
    for more, standard in STANDARDS.items():
        these = (*strict, f"-std={standard}") if "xx" in compiler else strict
        output_of(*command, *these, *flags.split(), *more.split(), "-c", routine, "-o", target)
        wanted = arch.wanted(target) - {"_GLOBAL_OFFSET_TABLE_"}
        # libgcc's, which asks which atomic instructions there are
        wanted = {name for name in wanted if not name.startswith("__aarch64_")}
        if flags == THREADS:
            assert make is render_machines or "pthread_create" in wanted
            assert not [name for name in wanted if re.search("mem(cpy|pcpy|move|set)", name)]
        else:
            assert wanted <= ({"getauxval"} if arch is AARCH64 else set()), more
            assert "_mt" not in output_of(arch.nm, "--defined-only", target)


@each(lambda arch: ["everything", "several profiles", "without indirect functions"])
def test_a_library_shows_the_functions_alone_and_asks_for_nothing_unusual(tmp_path, arch, case):
    """Not even of several profiles they are indirect to others, who would ask them before this
    library is relocated."""
    library, (make, flags) = tmp_path / "library.so", FILES[case]
    intents = [f"memcpy_{name}" for name in intents_of(arch)]
    more = intents if case == "everything" else ["profile"]
    routine, flags = make(arch, tmp_path), flags.split()[:1]
    output_of(*arch.gcc, *STRICT_C, *flags, "-fPIC", "-shared", "-O2", routine, "-o", library)
    defined = {name: kind for name, (_, kind) in symbols(library, "-D", nm=arch.nm).items()}
    assert defined == {f"asterope_{name}": "T" for name in (*FUNCTIONS, "memset", *FRESH, *more)}
    # nothing is patched when it is loaded: what has no text relocations may be shared
    assert "TEXTREL" not in output_of(arch.readelf, "-d", library)
    assert re.search(r"GNU_STACK.* RW +0x", output_of(arch.readelf, "-lW", library))


@each(lambda arch: ["several profiles", "threads"])
def test_a_file_that_hides_all_it_includes_still_reaches_libc(tmp_path, arch, case):
    """As preload.c hides the routine."""
    make, flags = FILES[case]
    includer = tmp_path / "includer.c"
    text = f'#pragma GCC visibility push(hidden)\n#include "{make(arch, tmp_path)}"\n'
    includer.write_text(text, encoding="ascii")
    linked = ("-fPIC", "-shared", "-Wl,-z,defs")
    output_of(*arch.gcc, "-O2", *flags.split(), *linked, includer, "-o", tmp_path / "library.so")


# --- Protected branches ---------------------------------------------------------------------------


@each(lambda arch: ["gcc", "clang"], of=AARCH64)
def test_what_may_be_jumped_to_begins_with_a_landing_pad_and_the_linker_says_so(
    tmp_path, arch, case
):
    """A call in a routine with every kind of function: by a pointer or by another function."""
    compiler, library = getattr(arch, case), tmp_path / "library.so"
    need(compiler[0])
    routine = render(folder=tmp_path, **everything(arch))
    with_pads, plain = tmp_path / "with_pads.o", tmp_path / "plain.o"
    for target, flag in ((with_pads, "-mbranch-protection=standard"), (plain, "-O2")):
        output_of(*compiler, *STRICT_C, "-O2", flag, "-c", routine, "-o", target)
    # `_inner`, and what is local, are jumped to by name alone
    defined = symbols(with_pads, nm=arch.nm).items()
    functions = {n for n, (_, kind) in defined if kind == "T" and not n.endswith("_inner")}
    some = ("memcpy", "memset", "memcpy_hot", "untuned", "set_untuned", "sense_1")
    assert functions >= {f"asterope_{name}" for name in some}
    code = disassemble(with_pads, arch)
    for name in functions:
        # what compilers make is signed, which is a landing pad as well
        assert code[name].instructions[0] in ("bti c", "paciasp"), name
    for name, function in disassemble(plain, arch).items():
        for instruction in function.instructions:
            # else that would need a pad for jumps
            assert not re.match(r"bl?r (?!x1[67]$)", instruction), f"{name}: {instruction}"
    linked = (*arch.gcc, "-shared", "-nostdlib", "-Wl,-z,force-bti", "-o", library)
    done = run(*linked, "-Wl,--fatal-warnings", with_pads)
    assert (done.returncode, done.stderr) == (0, "")
    assert "BTI" in output_of(arch.readelf, "-n", library)
    assert "BTI" in run(*linked, plain).stderr
