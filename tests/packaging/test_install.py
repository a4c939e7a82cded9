"""`cmake --install`: the tree works wherever it lies, without the checkout and its Python."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from asterope import __version__
from asterope.commands import COMMANDS
from asterope.profile_places import SYSTEM_PROFILE
from command_errors import only_error_of, run_command, script
from copy_programs import output_of
from packaging_samples import PROGRAMS, install, install_by_script

pytestmark = pytest.mark.slow

REFERENCE = "generated/reference/xeon-gold-5218.json"


@pytest.fixture(scope="module")
def prefix(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installed tree, moved away after that."""
    folder = tmp_path_factory.mktemp("installed")
    return install(build_dir, folder / "first").rename(folder / "moved to a place with blanks")


@pytest.fixture
def run(prefix: Path, tmp_path: Path):
    """Runs a command of the tree in a folder where Python must not look for its modules."""
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')\n")

    def start(*command: object, path: Path = Path(sys.executable).parent, **more: str):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")} | more
        environment["PATH"] = f"{prefix / 'bin'}:{path}:{os.defpath}"
        return run_command(*command, cwd=tmp_path, env=environment)

    return start


def python_of(prefix: Path) -> dict[str, str]:
    """Where Python finds the commands of the tree, and the programs only so."""
    return {"PYTHONPATH": str(prefix / "share/asterope/python"), "PATH": os.defpath}


OF_EACH_PROGRAM = ("bin/{}", "share/man/man1/{}.1", "share/bash-completion/completions/{}")
OTHERS = (
    "lib/asterope/libasterope_record.so",
    *(f"share/asterope/python/asterope/{name}.json" for name in ("profile.schema", "workloads")),
    *(f"share/asterope/templates/{name}" for name in ("routine.c.j2", "by_place.h", "preload.c")),
    *(f"share/doc/asterope/{name}" for name in ("README.md", "scripts/docs/system.md", "LICENSE")),
)


def test_the_tree_holds_all_that_belongs_there(prefix):
    names = [name.format(program) for program in PROGRAMS for name in OF_EACH_PROGRAM]
    assert [name for name in (*names, *OTHERS) if not (prefix / name).is_file()] == []
    assert {path.name for path in (prefix / "bin").iterdir()} == set(PROGRAMS)
    assert not list(prefix.rglob("__pycache__"))
    scripts = {path.name: os.access(path, os.X_OK) for path in prefix.rglob("*.sh")}
    assert scripts["new-huge-pages-want-their-ends-first.sh"]


def test_nothing_in_the_tree_names_the_checkout(prefix, repository, build_dir):
    names = (str(repository).encode(), str(build_dir).encode())
    for path in prefix.rglob("*"):
        # the programs hold paths of sources in the messages of assertions, if anything
        if path.is_file() and path.name not in ("asterope-tune", "asterope-bench"):
            content = path.read_bytes()
            assert not any(name in content for name in names), path


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_runs(run, prefix, tmp_path, name):
    done = run(f"asterope-{name}", "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"asterope-{name} {__version__}")
    (tmp_path / "json.py").unlink()
    environment = {**os.environ, **python_of(prefix)}
    command = (sys.executable, "-m", "asterope", name, "--version")
    assert run_command(*command, cwd=tmp_path, env=environment).stdout == done.stdout


def test_programs_are_recorded_with_the_library_of_the_tree(run, prefix, tmp_path):
    done = run("asterope-record", "-o", "recording.json", "--", "/bin/ls", "-l", "/")
    assert done.returncode == 0, done
    assert json.loads((tmp_path / "recording.json").read_text())["processes"] >= 1
    code = "from asterope.record.recorder import find_library; print(find_library())"
    command = (sys.executable, "-c", code)
    found = run_command(*command, env={**os.environ, **python_of(prefix)})
    assert found.stdout == f"{prefix / 'lib/asterope/libasterope_record.so'}\n"


def test_the_routine_is_the_same_as_from_the_checkout(run, prefix, repository, build_dir, tmp_path):
    (tmp_path / "json.py").unlink()  # the build's launcher may look there
    for place, folder in (("tree", prefix / "bin"), ("build", build_dir)):
        generate = folder / "asterope-generate"
        assert run(generate, repository / REFERENCE, "-o", place).returncode == 0
    for name in ("asterope_memcpy.c", "asterope_memcpy.h"):
        ours = (tmp_path / "tree" / name).read_bytes()
        assert ours == (tmp_path / "build" / name).read_bytes()


def test_asterope_tune_finds_asterope_generate_beside_itself(run, prefix, tmp_path):
    options = ["--rigor", "quick", "--sizes", "128", "--workload", "hot", "--space", "paper"]
    outside = tmp_path / "asterope-tune"
    outside.symlink_to(prefix / "bin" / "asterope-tune")
    done = run(outside, *options, "--operations", "memcpy", "--threads", "1", "--quiet")
    assert done.returncode == 0, done
    assert (tmp_path / "asterope_memcpy.c").is_file()


def test_asterope_prove_compiles_the_users_profile(run, repository, tmp_path):
    profile = tmp_path / "config" / "asterope" / "profile.json"
    folders = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CONFIG", "DATA")}

    def prove():
        return run("asterope-prove", "--time", "1s", "--", "/bin/true", **folders)

    if not SYSTEM_PROFILE.exists():
        said = "there is no routine to try: have asterope-tune --user make a profile for it"
        assert said in only_error_of("asterope-prove", prove(), 2)
    profile.parent.mkdir(parents=True)
    shutil.copy(repository / REFERENCE, profile)
    done = prove()
    assert (done.returncode, done.stderr) == (0, ""), done
    libraries = {path.name for path in (tmp_path / "data" / "asterope").iterdir()}
    assert libraries == {"libasterope_memcpy.so", "libasterope_preload.so"}


def test_the_commands_run_with_the_python_of_the_build(repository, tmp_path):
    """Not with that of a virtual environment that is active later."""
    python = script(tmp_path / "python3", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    build = tmp_path / "build"
    options = (f"-DPython3_EXECUTABLE={python}", "-DASTEROPE_BUILD_TESTS=OFF")
    output_of("cmake", "-S", repository, "-B", build, *options)
    launcher, installer = build / "installed" / "asterope-generate", build / "cmake_install.cmake"
    assert launcher.read_text().splitlines()[0] == f"#!{python}"
    output_of("cmake", f"-DPython3_EXECUTABLE={shutil.copy(python, tmp_path / 'later')}", build)
    assert launcher.read_text().splitlines()[0] == f"#!{tmp_path}/later"
    any_of_path = "run with the first python3 on the PATH"
    assert any_of_path not in installer.read_text()
    output_of("cmake", "-DASTEROPE_PYTHON=/usr/bin/env python3", build)
    assert launcher.read_text().splitlines()[0] == "#!/usr/bin/env python3"
    assert any_of_path in installer.read_text()


# What the Python of these tests says of itself to CMake.
OF_PYTHONS = {
    "virtual": "",
    "outside": "sys.prefix = sys.base_prefix",
    "without modules": "sys.prefix = sys.base_prefix; sys.modules['elftools'] = None",
    "too old": "sys.prefix = sys.base_prefix; sys.version_info = (3, 8)",
    "with a blank": "sys.prefix = sys.base_prefix; sys.executable = '/a b/python3'",
}


@pytest.mark.parametrize("kind", OF_PYTHONS)
def test_where_the_checkout_has_the_build_s_python_another_one_is_looked_for(
    repository, tmp_path, kind
):
    """Which has the modules, and is not of a virtual environment."""
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    before = f"import sys; sys.prefix, sys.base_prefix = 'one', 'other'; {OF_PYTHONS[kind]}"
    script(python, f'#!/bin/sh\nexec "{sys.executable}" -c "{before}\n$2"\n')
    find = tmp_path / "find.cmake"
    find.write_text(
        f"include({repository}/scripts/packaging/installed_python.cmake)\n"
        f"asterope_find_installed_python(python)\nfile(WRITE {tmp_path}/found ${{python}})\n"
    )
    path = {"PATH": f"{tmp_path}/none::{python.parent}"}
    output_of(shutil.which("cmake"), "-P", find, env={**os.environ, **path})
    expected = sys.executable if kind == "outside" else "/usr/bin/env python3"
    assert (tmp_path / "found").read_text() == expected


def test_parts_that_were_not_built_are_left_out_and_named(build_dir, tmp_path):
    """As where only some targets were built: by name."""
    text = (
        (build_dir / "cmake_install.cmake")
        .read_text()
        .replace(f"{build_dir}/share", f"{tmp_path}/share")
    )
    (tmp_path / "install.cmake").write_text(text)
    said = install_by_script(tmp_path / "install.cmake", tmp_path / "prefix")
    for part in ("man", "bash-completion"):
        assert f"Not built, so not installed: share/{part}; " in said
        assert not (tmp_path / "prefix" / "share" / part).exists()
    assert (tmp_path / "prefix" / "bin" / "asterope-tune").is_file()
