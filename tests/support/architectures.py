"""The architectures whose copies are tested: their copies, their compilers, and the CPUs on which
programs run, natively or in an emulator."""

from __future__ import annotations

import functools
import itertools
import platform
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from asterope import spaces
from asterope.render import render_candidates
from conftest import BUILD
from copy_programs import CHECKERS, REPOSITORY, STRICT_C, WARNINGS, need, need_way, output_of
from elftools.elf.elffile import ELFFile

NATIVE = "native"  # the CPU that runs this

_HAS = """\
#include <stdio.h>
#include "cpu_features.h"
int main(int count, char** names) {
    for (int i = 1; i < count; ++i) if (cpu_has(names[i])) puts(names[i]);
    return 0;
}
"""


class Architecture:
    """One of those that copies are generated for. Commands are tuples, to begin others with."""

    def __init__(self, name: str, *emulated_cpus: str) -> None:
        self.name = name
        self.is_native = platform.machine() == name
        self.cpus = (NATIVE,) if self.is_native else emulated_cpus
        prefix = "" if self.is_native else f"{name}-linux-gnu-"
        self.gcc, self.gxx = (f"{prefix}gcc",), (f"{prefix}g++",)
        # It finds neither headers nor libraries of another one; gcc links what it has compiled.
        other = (f"--target={name}-linux-gnu", f"-isystem/usr/{name}-linux-gnu/include")
        target = () if self.is_native else other
        self.clang, self.clangxx = ("clang", *target), ("clang++", *target)
        self.nm, self.objdump, self.readelf = (
            prefix + tool for tool in ("nm", "objdump", "readelf")
        )
        self.emulator = f"qemu-{name}"
        here = spaces.of(name)
        self.pipelines, self.set_pipelines = here.pipelines, here.set_pipelines
        self.small_copies, self.small_sets = here.small_copies, here.small_sets
        self.overlapping_copies = here.overlapping_copies
        self.plain = here.pipelines.PLAIN  # the tuple that every CPU can run
        self.small = {small.name: small for small in self.small_copies.points()}
        self.small_set = {small.name: small for small in self.small_sets.points()}
        self.moves = list(self.overlapping_copies.points())

    def __repr__(self) -> str:
        return self.name

    def marks(self, slow: bool) -> list[pytest.MarkDecorator]:
        """The marks of its tests; `slow`: daily work elsewhere does without them. The tests of the
        candidates first see faults of another architecture."""
        tools = (*self.gcc, self.objdump, *[self.emulator] * (not self.is_native))
        lacking = [tool for tool in tools if shutil.which(tool) is None]
        skipped = pytest.mark.skip(reason=f"{' and '.join(lacking)} not installed")
        return [pytest.mark.slow] * (slow and not self.is_native) + [skipped] * bool(lacking)

    # --- Programs ---------------------------------------------------------------------------------

    def on(self, cpu: str = "", **variables: object) -> tuple[object, ...]:
        """The beginning of a command that runs a program on that CPU, or the first one."""
        pairs = [f"{key}={value}" for key, value in variables.items()]
        if self.is_native:
            return ("env", *pairs) if pairs else ()
        told = [word for pair in pairs for word in ("-E", pair)]
        return (*self.emulated(cpu or self.cpus[0]), *told)

    def emulated(self, cpu: str) -> tuple[object, ...]:
        """The same for one of the emulator's CPUs; skips without the emulator."""
        need(self.emulator)
        return (self.emulator, "-L", f"/usr/{self.name}-linux-gnu", "-cpu", cpu)

    def need_way(self, folder: Path, *compiler: object) -> None:
        """Skips where this compiler makes no program that runs."""
        need_way(folder, *map(str, compiler), on=self.on())

    def compiled(self, folder: Path, name: str, *flags: object) -> Path:
        """The object file of a check program, made once in `folder`."""
        target = folder / f"{Path(name).name}.{self.name}.o"
        if not target.exists():
            paths = (f"-I{CHECKERS}", f"-I{CHECKERS.parents[1] / 'tuner'}")
            source = CHECKERS / f"{name}.c"
            output_of(*self.gcc, *STRICT_C, "-O2", *paths, *flags, "-c", source, "-o", target)
        return target

    def program(self, folder: Path, name: str, *more: object, compiler: Sequence[str] = ()) -> Path:
        """A check program in `folder`; `more`: flags, and what else is linked."""
        source, target = CHECKERS / f"{name}.c", folder / name
        flags = ("-std=gnu11", *WARNINGS, f"-I{CHECKERS}", f"-I{folder}")
        output_of(*(compiler or self.gcc), *flags, source, *more, "-o", target, cwd=folder)
        return target

    def routine_check(
        self, routine: Path, objects: Path, *compiler: str, link_flags: Sequence[str] = ()
    ) -> Path:
        """routine_check with the routine compiled so: `compiler` and its flags."""
        command, *flags = compiler or (*self.gcc, "-O2", *STRICT_C)
        target, program = routine.with_suffix(".o"), routine.with_name("routine_check")
        list_routines({routine: (0,)})
        output_of(command, *flags, "-c", routine, "-o", target, cwd=routine.parent)
        names, include = ("routine_check", "copy_check"), f"-I{routine.parent}"
        checkers = [self.compiled(objects, name, include) for name in names]
        # Again with the flags: some, such as -static and -pg, tell the linker something too.
        foreign = command.startswith("clang") and not self.is_native
        linker = self.gcc if foreign else (command, *flags)
        output_of(*linker, *link_flags, target, *checkers, "-o", program)
        return program

    def candidates_check(
        self, folder: Path, text: str | None, objects: Path, name: str = "candidates_check"
    ) -> Path:
        """The program with `text` as the rendered candidates; None: with all of them, of which the
        build has this machine's, as they take long to render and compile."""
        if text is None and self.is_native:
            candidates = BUILD / "tuner" / "space" / "libasterope_candidates.a"
        else:
            candidates = folder / "candidates.c"
            candidates.write_text(text or render_candidates(self.name), encoding="ascii")
        program = folder / name
        names = [name, "copy_check"]
        names += [f"{self}/{path.stem}" for path in (CHECKERS / self.name).glob("*.c")]
        flags = (*STRICT_C, f"-I{CHECKERS.parents[1] / 'tuner'}", "-static", "-pthread")
        harness = [self.compiled(objects, name) for name in names]
        output_of(*self.gcc, *flags, *harness, candidates, "-o", program)
        return program

    def wanted(self, path: Path, *options: str) -> set[str]:
        """The names that an object or (`-D`) a library wants from others."""
        lines = output_of(self.nm, *options, "--undefined-only", path).splitlines()
        return {line.split()[-1].split("@")[0] for line in lines}

    # --- CPUs and copies --------------------------------------------------------------------------

    def copies(self) -> Iterator[Any]:
        """All that there is, in the order of candidates_check."""
        yield from (*self.pipelines.variants(), *self.small.values())
        yield from (*self.moves, *self.moves)  # of aliasing buffers, and of others
        yield from (*self.set_pipelines.variants(), *self.small_set.values())

    @functools.cache  # noqa: B019 (there are two of them)
    def features_of(self, cpu: str) -> frozenset[str]:
        """The features that copies may need and that CPU has, by a program that runs on it; also
        whether it tells if the upper halves of vectors are dirty."""
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder, "features.c"), Path(folder, "features")
            source.write_text(_HAS, encoding="ascii")
            output_of(*self.gcc, f"-I{CHECKERS / self.name}", "-static", source, "-o", program)
            command = (*self.on(cpu), program, *sorted(needs_of(*self.copies())), "upper halves")
            return frozenset(output_of(*command).split())

    def cpu_for(self, *copies: object) -> str:
        """A CPU that has the features of these copies (None needs nothing); skips where all CPUs
        lack them."""
        needs = needs_of(*copies)
        for cpu in self.cpus:
            if needs <= self.features_of(cpu):
                return cpu
        pytest.skip(f"no CPU here has {' '.join(sorted(needs))}")

    @property
    def kinds(self) -> list[tuple[str, str, str]]:
        """Register, load and store types of pipelines, but for those of what few CPUs have."""
        values, why_not = self.pipelines.VALUES, self.pipelines.why_not
        common = (rt for rt in values["rt"] if rt not in ("MOVDIR64B", "MOPS"))
        kinds = itertools.product(common, values["lt"], values["st"])
        return [(rt, lt, st) for rt, lt, st in kinds if why_not(rt=rt, lt=lt, st=st) is None]

    def one_of(self, rt: str, lt: str, st: str, number: int) -> Any:
        """A tuple of that kind that prefetches, where it can, the `number`-th way."""
        values, make = self.pipelines.VALUES, self.pipelines.Tuple
        types, sizes = values["pt"][1:], values["ps"][1:8]
        pt, ps = types[number % len(types)], sizes[number % len(sizes)]
        if self.pipelines.why_not(rt=rt, lt=lt, st=st, pt=pt, ps=ps) is not None:
            return make(rt, lt, st, "none", 0, 0)
        return make(rt, lt, st, pt, ps, values["pd"][number * 5 % 16])

    def with_distances(self, variant: Any, pd: int, pw: int) -> Any:
        """The variant's tuple at these distances, where it has them."""
        distances = {"pd": 0 if variant.pt == "none" else pd, "pw": pw if variant.pw else 0}
        return self.pipelines.Tuple(**{**asdict(variant), **distances})

    @functools.cached_property
    def set_kinds(self) -> list[Any]:
        """Every kind of set, each with other marks, but for those of what few CPUs have."""
        kinds: dict[tuple[str, str], list[Any]] = {}
        for v in self.set_pipelines.variants():
            if v.rt != "MOPS":
                kinds.setdefault((v.rt, v.st), []).append(v)
        chosen = [of_kind[(i * 7) % len(of_kind)] for i, of_kind in enumerate(kinds.values())]
        return [self.set_pipelines.Tuple(v.rt, v.st, v.tb, 8 * bool(v.pw)) for v in chosen]


def needs_of(*copies: Any) -> set[str]:
    """The CPU features that any of them needs; None needs nothing."""
    return {feature for copy in copies if copy for feature in copy.needs}


X86_64 = Architecture("x86_64", "max")
# Vectors of 16, 64 and 256 bytes; without SVE, and dc zva clears 64 bytes, which it does on none of
# the others.
WITH_SVE, WITHOUT_SVE = "max", "cortex-a57"
SHORT_VECTORS, LONG_VECTORS = (f"max,sve-default-vector-length={n}" for n in (16, 256))
AARCH64 = Architecture("aarch64", WITH_SVE, WITHOUT_SVE, SHORT_VECTORS, LONG_VECTORS)
ARCHITECTURES = {arch.name: arch for arch in (X86_64, AARCH64)}
HOST = next((arch for arch in ARCHITECTURES.values() if arch.is_native), X86_64)


def build_dispatch_check(
    arch: Architecture,
    *routines: Path,
    names: Mapping[str, Sequence[str]] | None = None,
    flags: Sequence[object] = ("-static",),
    folder: Path | None = None,
) -> Path:
    """dispatch_check with routines of one folder and a list of their copies, or of these names;
    static, so that an emulator needs no libraries for it."""
    folder = folder or routines[0].parent
    listed: dict[str, list[str]] = {"COPY": [], "SENSE": [], "FUNCTION": []}
    for routine in routines if names is None else ():
        prefix = routine.stem[: -len("_memcpy")]
        text = routine.read_text(encoding="ascii")
        for kind, pattern in (
            ("COPY", rf"{prefix}_(?:(?:copy|move|set)_\w+|untuned)"),
            ("SENSE", rf"{prefix}_sense_\d+"),
            ("FUNCTION", rf"{prefix}_mem(?!cpy_mt)\w+"),
        ):
            # a naked function of C, or one that is assembly as a whole
            begin = r"void \*" if kind == "FUNCTION" else "^void "
            listed[kind] += re.findall(rf"{begin}({pattern})\((?:void\))?$", text, re.M)
            listed[kind] += re.findall(rf'_BEGIN\("({pattern})",', text)
    listed.update(names or {})
    assert listed["COPY"]
    lines = [f"{kind}({name})\n" for kind, of_kind in listed.items() for name in of_kind]
    (folder / "dispatch.inc").write_text("".join(lines), encoding="ascii")
    return arch.program(folder, "dispatch_check", *routines, *flags)


def build_preload(arch: Architecture, routine: Path, target: Path, *compiler: str) -> Path:
    """The library for LD_PRELOAD; what clang has compiled gcc links."""
    own = ("-fPIC", "-fno-builtin", f'-DASTEROPE_ROUTINE="{routine}"')
    source, compiled = REPOSITORY / "templates" / "preload.c", target.with_suffix(".o")
    command = compiler or (*arch.gcc, "-O2")
    output_of(*command, *own, "-Wall", "-Wextra", "-Werror", "-c", source, "-o", compiled)
    lto = [flag for flag in command if "-flto" in flag]
    output_of(*arch.gcc, *lto, "-O2", "-shared", compiled, "-o", target)
    return target


NO_BUILTIN = ("-O2", "-fno-builtin")


def preload_check(arch: Architecture, folder: Path) -> Path:
    """preload_check, and beside it the library that it loads, plugin.so."""
    plugin = (*NO_BUILTIN, "-shared", "-fPIC", "-DPLUGIN")
    arch.program(folder, "preload_check", *plugin).rename(folder / "plugin.so")
    linked = (*NO_BUILTIN, "-fPIE", "-pie", "-pthread", "-ldl")
    return arch.program(folder, "preload_check", *linked)


def assert_right_unrelocated(
    program: Path, library: Path, names: Iterable[str], *emulators: tuple[object, ...]
) -> None:
    """Functions of a library may be called as soon as the dynamic linker has mapped it.
    preload_check gets the library as it is then."""
    with library.open("rb") as file:
        elf = ELFFile(file)
        parts = list(elf.iter_segments("PT_LOAD"))
        image = bytearray(max(part["p_vaddr"] + part["p_memsz"] for part in parts))
        for part in parts:
            image[part["p_vaddr"] : part["p_vaddr"] + part["p_filesz"]] = part.data()
        at = {s.name: s["st_value"] for s in elf.get_section_by_name(".dynsym").iter_symbols()}
    mapped = program.with_name("image")
    mapped.write_bytes(image)
    functions = [word for name in names for word in (name, at[name])]
    for emulator in emulators:
        output_of(*emulator, program, "unrelocated", mapped, *functions)


def fortified_check(arch: Architecture, folder: Path) -> Path:
    """The same, compiled so that copies beyond a buffer are found."""
    flags = ("-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-w", "-pthread", "-ldl")
    return arch.program(folder, "preload_check", *flags)


def once(make: Callable[..., Any]) -> Callable[..., Any]:
    """A fixture of a module: what this makes of an architecture and a folder, and more, once."""

    @pytest.fixture(scope="module")
    def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
        folder = tmp_path_factory.mktemp
        return functools.cache(lambda arch, *more: make(arch, folder(arch.name), *more))

    return made


def list_routines(routines: Mapping[Path, Sequence[int]]) -> Path:
    """Lists them for routine_check, in their folder, with the sizes at which the code of each
    changes. Returns a file that includes them all: a compiler that is started for each takes
    most of its time to start."""
    entries = {path.stem[: -len("_memcpy")]: sizes for path, sizes in routines.items()}
    lines = [f"ROUTINE({', '.join(map(str, (p, *sizes)))})\n" for p, sizes in entries.items()]
    together = next(iter(routines)).with_name("routines.c")
    together.with_suffix(".inc").write_text("".join(lines), encoding="ascii")
    together.write_text("".join(f'#include "{path.name}"\n' for path in routines), encoding="ascii")
    return together


def sampled(cases: Iterable[object], one_in: int, name: Callable[[object], str] = str) -> list:
    """Parameters for pytest: of so many cases scripts/test runs one, drawn, the same in every run.
    The others are slow."""
    draw, cases = random.Random(1), list(cases)
    parameters = []
    for begin in range(0, len(cases), one_in):
        group = cases[begin : begin + one_in]
        drawn = draw.randrange(len(group))
        for index, case in enumerate(group):
            marks = [pytest.mark.slow] * (index != drawn)
            parameters.append(pytest.param(case, id=name(case), marks=marks))
    return parameters


def each(
    cases: Mapping[str, Any] | Callable[[Architecture], Any] | None = None,
    *,
    of: Architecture | None = None,
    slow: bool = True,
    emulated: bool = True,
    one_in: int = 1,
    daily: Callable[[str], bool] = lambda name: True,
) -> pytest.MarkDecorator:
    """A test of each architecture, `arch`, or of each `case` that is told for it: values by names,
    or a list. `of`: of this architecture alone. `slow`: what needs an emulator is; `one_in`: see
    sampled; others than `daily` are. Not `emulated`: of the machine's own architecture alone."""
    wanted = [of] if of else ARCHITECTURES.values()
    architectures = [arch for arch in wanted if arch.is_native or emulated]
    if cases is None:
        alone = [pytest.param(arch, id=arch.name, marks=arch.marks(slow)) for arch in architectures]
        return pytest.mark.parametrize("arch", alone)
    parameters = []
    for arch in architectures:
        its = cases(arch) if callable(cases) else cases[arch.name]
        by_name = its if isinstance(its, Mapping) else {str(case): case for case in its}
        for sample in sampled(by_name, one_in):
            (name,) = sample.values
            marks = [*sample.marks, *arch.marks(slow)] + [pytest.mark.slow] * (not daily(name))
            parameters.append(pytest.param(arch, by_name[name], id=f"{arch}, {name}", marks=marks))
    return pytest.mark.parametrize(("arch", "case"), parameters)
