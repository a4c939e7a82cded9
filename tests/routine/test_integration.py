"""Other people's builds: the examples, built from an installed asterope as a stranger would, and
the routine in libc's place, linked into programs and libraries."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from asterope import __version__
from asterope.spaces.x86_64 import pipelines, set_pipelines, small_copies
from copy_programs import (
    CHECKERS,
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
)
from packaging_samples import install

pytestmark = pytest.mark.slow

EXAMPLES = REPOSITORY / "tests" / "examples"
PYTHON = f"-DPython3_EXECUTABLE={sys.executable}"
NAMES = {"memcpy", "memmove", "mempcpy", "__mempcpy", "memset", "bzero"}
CHECKED = {"__memcpy_chk", "__memmove_chk", "__mempcpy_chk", "__memset_chk"}

# For any CPU: wherever the tests run, the tuned copies are what is called.
INTERVALS = [(65536, pipelines.PLAIN), (1 << 20, pipelines.Tuple("R64", "T", "T", "none", 0, 0))]
SETS = Memset([(65536, set_pipelines.PLAIN), (1 << 20, set_pipelines.Tuple("R64", "NT", 4))])
OTHERS = [(1 << 20, pipelines.Tuple("XMM", "T", "NT", "T0", 4, 8))]

DATA = random.Random(7).randbytes(1_500_000)


@pytest.fixture(scope="module")
def prefix(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where asterope is installed."""
    need("cmake")
    return install(build_dir, tmp_path_factory.mktemp("installed") / "prefix")


@pytest.fixture(scope="module")
def environment(prefix: Path) -> dict[str, str]:
    """The environment of a user who has installed asterope there, with a Python that has its
    packages."""
    left_out = ("LD_PRELOAD", "PYTHONPATH", "CFLAGS", "CXXFLAGS", "LDFLAGS", "DESTDIR", "MAKEFLAGS")
    clean = {key: value for key, value in os.environ.items() if key not in left_out}
    paths = [str(prefix / "bin"), os.path.dirname(sys.executable), os.environ["PATH"]]
    generator = {"CMAKE_GENERATOR": "Ninja"} if shutil.which("ninja") else {}
    return {
        **clean,
        **generator,
        "PATH": os.pathsep.join(paths),
        "CMAKE_PREFIX_PATH": str(prefix),
        "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig"),
        "XDG_CONFIG_HOME": str(prefix / "nothing"),
        **dict.fromkeys(("CFLAGS", "CXXFLAGS"), " ".join(("-O2", *WARNINGS))),
    }


def copied(example: str, folder: Path, *profiles: str) -> Path:
    """An example in a folder of its own, with profiles of these names."""
    place = folder / "a project" / example
    shutil.copytree(EXAMPLES / example, place)
    for profile in profiles or ("profile.json",):
        (place / profile).write_text(profile_json(INTERVALS, memset=SETS), encoding="utf-8")
    return place


def cmake_build(place: Path, environment: dict[str, str], *options: object) -> Path:
    build = place / "build"
    output_of("cmake", "-S", place, "-B", build, *options, env=environment)
    output_of("cmake", "--build", build, env=environment)
    return build


def through(program: Path, *arguments: object) -> bytes:
    """The program's output for DATA."""
    command = [str(program), *map(str, arguments)]
    return subprocess.run(command, input=DATA, capture_output=True, check=True, timeout=60).stdout


def test_the_cmake_example_renders_again_when_a_template_changes(environment, prefix, tmp_path):
    own = tmp_path / "a prefix"  # elsewhere than it was built for
    shutil.copytree(prefix, own, symlinks=True)
    build = cmake_build(copied("gather", tmp_path), environment, f"-DCMAKE_PREFIX_PATH={own}")
    again = ("cmake", "--build", build)
    assert not NAMES & set(symbols(build / "gather"))
    templates = own / "share" / "asterope" / "templates"
    with open(templates / "routine.c.j2", "a", encoding="utf-8") as file:
        file.write("/* changed */\n")
    assert "Rendering" in output_of(*again, env=environment)
    routine = build / "asterope" / "gather" / "asterope_memcpy.c"
    assert routine.read_text().endswith("/* changed */\n")
    (templates / "new.j2").write_text("", encoding="utf-8")
    assert "Rendering" in output_of(*again, env=environment)
    (templates / "new.j2").unlink()
    assert "rror" not in output_of(*again, env=environment)  # a missing one is not a fault


def test_a_subdirectory_of_asterope_builds_nothing_but_the_routine(environment, tmp_path):
    """C++, without what the tools and tests need, and without touching the project's choices."""
    place = copied("cmake-sources", tmp_path, "profile.json", "hot.json")
    (place / "third_party").mkdir()
    (place / "third_party" / "asterope").symlink_to(REPOSITORY)
    bare = {key: value for key, value in environment.items() if key != "CMAKE_PREFIX_PATH"}
    build = cmake_build(place, bare, PYTHON)
    assert through(build / "shift", 100) == bytes(100) + DATA
    assert "asterope_memmove" in symbols(build / "shift")
    cache = (build / "CMakeCache.txt").read_text()
    assert re.search(r"^CMAKE_BUILD_TYPE:\w+=$", cache, re.M)
    assert not re.search(r"nlohmann|CLI11|GTest|ZLIB", cache)
    made = [path.name for path in build.rglob("*") if path.is_file()]
    assert not [name for name in made if re.match(r"asterope-(tune|bench)|candidates|test_", name)]


def test_a_fetched_asterope_gives_a_target_two_routines(environment, tmp_path):
    """It is fetched from the checkout as it is: Git would fetch the last commit."""
    place = copied("cmake-sources", tmp_path, "profile.json", "hot.json")
    fetched = f"-DFETCHCONTENT_SOURCE_DIR_ASTEROPE={REPOSITORY}"
    build = cmake_build(place, environment, PYTHON, fetched)
    assert through(build / "shift") == DATA
    assert {"asterope_memcpy", "hot_memcpy"} <= set(symbols(build / "shift"))


# --- The program that measures copies into fresh memory -------------------------------------------

SITUATIONS = [
    f"{memory}, source {where}"
    for memory in ("new memory", "new huge pages", "memory used before")
    for where in ("uncached", "cached")
]


@pytest.fixture(scope="module")
def fresh_memory(environment, tmp_path_factory) -> Path:
    place = copied("fresh-memory", tmp_path_factory.mktemp("fresh"))
    stages = [(65535, 4 << 20, "huge", 1 << 20)]
    (place / "profile.json").write_text(profile_json(INTERVALS, stages=stages), encoding="utf-8")
    return cmake_build(place, environment) / "fresh-memory"


def test_the_program_times_each_copy_in_each_situation(fresh_memory):
    said = output_of(fresh_memory, "libc.so.6", "64K", "4M")
    head, *tables = said.split("\n\n")
    assert head == "libc's time over the others', medians of 31 rounds, of 11 from 64 MiB on"
    assert [table.partition("\n")[0] for table in tables] == SITUATIONS
    for situation, table in zip(SITUATIONS, tables):
        _, columns, *rows = table.splitlines()
        copies = "asterope     _fresh    library"
        assert columns == f"size     libc GB/s   {copies}  _fresh GB/s  libc again"
        form = r"(\d+ [KM]iB)((?: +\d+\.\d\d){6})\.\.(\d+\.\d\d)"
        figures = [re.fullmatch(form, row) for row in rows]
        assert None not in figures, table
        sizes = ["4 MiB"] if "huge" in situation else ["64 KiB", "4 MiB"]
        assert [row[1] for row in figures] == sizes
        assert all(float(row[2].split()[-1]) <= float(row[3]) for row in figures)


def test_without_a_library_the_program_has_no_column_for_it(fresh_memory):
    _, table, *_ = output_of(fresh_memory, "64K").split("\n\n")
    assert "library" not in table
    assert re.fullmatch(r"64 KiB(?: +\d+\.\d\d){5}\.\.\d+\.\d\d", table.splitlines()[2])


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["none.so"], "none.so: neither a size nor a library with a memcpy"),
        (["64K", "65"], "65: no size from 64K to 256M"),
        (["64K", "32K"], "32K: no size from 64K to 256M"),
        (["64K", "257M"], "257M: no size from 64K to 256M"),
        (["1M", "1MB"], "1MB: no size from 64K to 256M"),
        (["64K"] * 64 + ["1M"], "1M: one size too many"),
    ],
)
def test_the_program_refuses_what_it_cannot_time(fresh_memory, arguments, why):
    done = run(fresh_memory, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"fresh-memory: {why}\n")


# --- Built by CMake, make and Meson ---------------------------------------------------------------

# Commands that set it up and build it; what nothing to do looks like, in ninja's words or make's.
BUILDS = {
    "make": ["make"],
    "meson": ["meson setup build .", "ninja -C build"],
    "cmake": ["cmake -S . -B build", "cmake --build build"],
}
IDLE = "no work to do|up to date|Built target"


@pytest.mark.parametrize("way", BUILDS)
def test_the_example_builds_and_follows_its_profile(environment, tmp_path, way):
    commands = [command.split() for command in BUILDS[way]]
    need(*(command[0] for command in commands), "pkg-config")
    place = copied("gather", tmp_path)
    for command in commands:
        output_of(*command, cwd=place, env=environment)
    (program,) = (path for path in place.rglob("gather") if path.is_file())
    (routine,) = place.rglob("asterope_memcpy.c")
    assert {"asterope_memcpy", "asterope_memmove"} <= set(symbols(program))
    assert through(program) == DATA
    again = output_of(*commands[-1], cwd=place, env=environment)
    assert re.search(IDLE, again) and "Rendering" not in again
    before = routine.read_text()
    (place / "profile.json").write_text(profile_json(OTHERS), encoding="utf-8")
    output_of(*commands[-1], cwd=place, env=environment)
    assert routine.read_text() != before
    assert through(program) == DATA


def test_pkg_config_knows_where_the_generator_and_the_templates_are(environment, prefix):
    need("pkg-config")

    def said(option: str) -> str:
        return output_of("pkg-config", option, "asterope", env=environment).strip()

    assert (said("--validate"), said("--modversion")) == ("", __version__)
    for variable, path in {
        "prefix": prefix,
        "generate": prefix / "bin" / "asterope-generate",
        "templatesdir": prefix / "share" / "asterope" / "templates",
    }.items():
        assert Path(said(f"--variable={variable}")).resolve() == path.resolve()


# --- In libc's place, by LD_PRELOAD ---------------------------------------------------------------


def test_an_installed_tree_builds_the_library_for_ld_preload(environment, tmp_path):
    need("make", "pkg-config")
    place = copied("gather", tmp_path)
    made = ("make", "libasterope_preload.so")
    output_of(*made, cwd=place, env=environment)
    asked = ("pkg-config", "--variable=templatesdir", "asterope")
    templates = output_of(*asked, env=environment).strip()
    for changed, due in (("nothing", 0), ("preload.c", 1), ("x86_64/pipeline.j2", 1)):
        again = (*made, "--question", "-W", f"{templates}/{changed}")
        assert run(*again, cwd=place, env=environment).returncode == due, changed
    # LD_PRELOAD takes a space for the end of a name
    library = shutil.copy(place / "libasterope_preload.so", tmp_path)
    done = run("env", f"LD_PRELOAD={library}", "ASTEROPE_VERBOSE=1", "/bin/echo", "fine")
    assert (done.returncode, done.stdout) == (0, "fine\n")
    assert done.stderr.endswith(f" are generated by asterope {__version__}\n")


REFUSED = {
    "WHAT TARGET app PROFILE p.json": r"unknown: WHAT: use asterope_add_memcpy\(TARGET app",
    "TARGET app PROFILE": r"nothing follows PROFILE",
    "PROFILE p.json": r"no target : use",
    "TARGET nobody PROFILE p.json": r"no target nobody: use",
    "TARGET headers PROFILE p.json": r"headers is no executable, shared or static library",
    "TARGET there PROFILE p.json": r"there is no executable, shared or static library",
    "TARGET app PROFILE p.json REPLACE": r"/REPLACE: no such profile",
    "TARGET app PROFILE q.json": r"/q\.json: no such profile: asterope-tune -o writes one",
    "TARGET app": r"no PROFILE is given and there is no \S+ nor \S+: name one, or run "
    r"asterope-tune --system",
}
TWICE = {
    "": r"app has asterope_memcpy already: give this one another PREFIX",
    "PREFIX other REPLACE_LIBC": r"app has another memcpy in libc's place already",
}


def test_calls_that_cannot_work_are_refused_with_what_to_do(environment, tmp_path):
    """In one build folder, so that the compiler is looked at once."""
    shutil.copy(CHECKERS / "refused_calls" / "CMakeLists.txt", tmp_path)
    (tmp_path / "app.c").write_text("int main(void) { return 0; }\n", encoding="ascii")
    (tmp_path / "p.json").write_text(profile_json(INTERVALS, memset=SETS), encoding="utf-8")

    def message_of(calls: str, folder: str = "build") -> str:
        done = run(
            "cmake", "-S", tmp_path, "-B", tmp_path / folder, f"-DCALL={calls}",
            f"-DCASE={'no C' if folder == 'no-c' else ''}", env=environment,
        )  # fmt: skip
        return "" if done.returncode == 0 else re.sub(r"\s+", " ", done.stderr)

    call = "asterope_add_memcpy({})"
    assert message_of(call.format("TARGET an::alias PROFILE p.json REPLACE_LIBC")) == ""
    for arguments, message in REFUSED.items():
        if arguments == "TARGET app" and Path("/etc/asterope/profile.json").exists():
            continue
        assert re.search(message, message_of(call.format(arguments))), arguments
    first = call.format("TARGET app PROFILE p.json REPLACE_LIBC")
    for arguments, message in TWICE.items():
        again = call.format(f"TARGET app PROFILE p.json {arguments}")
        assert re.search(message, message_of(f"{first}\n{again}")), arguments
    no_c = message_of(call.format("TARGET app PROFILE p.json"), "no-c")
    assert "add C to the LANGUAGES of project()" in no_c


# --- In libc's place, linked ----------------------------------------------------------------------


def test_the_replace_libc_example_has_a_memcpy_of_its_own_linked_either_way(environment, tmp_path):
    build = cmake_build(copied("replace-libc", tmp_path), environment)
    for program in ("whose", "whose-static"):
        assert output_of(build / program) == "memcpy is asterope's\n"


@pytest.fixture(scope="module")
def replaced(environment, tmp_path_factory) -> Path:
    """The build folder of the project replace_libc."""
    folder = tmp_path_factory.mktemp("replaced") / "project"
    shutil.copytree(CHECKERS / "replace_libc", folder)
    small = small_copies.Tuple("stepped", "XMM", "up", 128)
    text = profile_json(INTERVALS, small, memset=SETS)
    (folder / "profile.json").write_text(text, encoding="utf-8")
    (folder / "asterope").mkdir()
    (folder / "asterope" / "profile.json").write_text(profile_json(OTHERS), encoding="utf-8")
    flags = " ".join(["-O2 -fno-builtin -flto", *WARNINGS])
    return cmake_build(
        folder, {**environment, "XDG_CONFIG_HOME": str(folder)},
        f"-DCHECKERS={CHECKERS}", f"-DREFERENCE={REPOSITORY / 'generated' / 'reference'}",
        f"-DCMAKE_C_FLAGS={flags}", "-DCMAKE_BUILD_TYPE=",
    )  # fmt: skip


@pytest.mark.parametrize("profile", ["xeon-gold-5218", "opteron-6378", "fallback"])
def test_a_program_of_several_profiles_copies_right_with_each(replaced, profile):
    output_of(replaced / "several", "copies", env={"ASTEROPE_PROFILE": profile})


@pytest.mark.parametrize("kind", ["dynamic", "archive"])
def test_the_routine_stays_out_of_link_time_optimization(replaced, kind):
    need("readelf")
    routines = list((replaced / "CMakeFiles" / f"{kind}_asterope_memcpy.dir").rglob("*.o"))
    assert len(routines) == 1
    assert ".gnu.lto" not in output_of("readelf", "-SW", *routines)
    others = (replaced / "CMakeFiles" / f"{kind}.dir").rglob("*.o")
    assert ".gnu.lto" in output_of("readelf", "-SW", *others)


def test_a_program_lends_its_copies_to_the_libraries_that_it_loads(replaced):
    assert exported(replaced / "dynamic") >= NAMES | CHECKED
    loads = (replaced / "dynamic", "dlopen", replaced / "libplugin.so")
    done = run(*loads, env={"LD_DEBUG": "bindings"})
    assert done.returncode == 0
    to = re.findall(r"binding file \S*libplugin.so \[0\] to (\S+) .*`memcpy'", done.stderr)
    assert to == [str(replaced / "dynamic")]


def test_a_shared_library_keeps_its_copies_to_itself(replaced):
    assert exported(replaced / "libreplacing.so") == {"own_is_tuned", "copy_of_library"}
    assert output_of(replaced / "user") == "right 1 0\n"
    assert not NAMES & set(symbols(replaced / "user"))


def test_a_static_library_brings_its_routines_along(replaced):
    assert output_of(replaced / "archive-user") == "right 0 0\n"
    defined = set(symbols(replaced / "libarchive.a"))
    assert {"asterope_memcpy", "mt_memcpy", "mt_memcpy_mt"} <= defined
    assert not NAMES & defined


def test_without_a_profile_the_user_s_own_is_taken(replaced, tmp_path):
    routine = replaced / "asterope" / "archive" / "asterope_memcpy.c"
    profile = replaced.parent / "asterope" / "profile.json"
    assert routine.read_text() == render(profile, tmp_path).read_text()
