"""`python -m asterope` and the launchers list the commands, run them, and name missing parts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from asterope import __main__, commands
from asterope.command_line import PACKAGES
from command_errors import exit_code_of, only_error_of, python_settings, script
from copy_programs import REPOSITORY

PROFILE = f"{REPOSITORY}/generated/reference/xeon-gold-5218.json"


def run(folder: Path, *words: object, path: object = os.defpath) -> subprocess.CompletedProcess:
    return subprocess.run(**python_settings(folder, *words, PATH=path))


def test_it_lists_every_command(capsys):
    for arguments in ([], ["--help"]):
        assert exit_code_of(__main__.main, *arguments) == 0
        said = capsys.readouterr().out
        for name, (summary, _) in commands.COMMANDS.items():
            assert f"{name} " in said and summary in said


@pytest.mark.parametrize(
    ("words", "program"),
    [
        (["generate", "absent.json"], "asterope-generate"),
        (["tune", "check", "absent.json"], "asterope-tune"),  # which is on the path
        (["absent.json"], "python -m asterope"),  # no command
    ],
)
def test_it_hands_on_the_exit_code_and_the_error(build_dir, tmp_path, words, program):
    done = run(tmp_path, "-m", "asterope", *words, path=build_dir)
    assert "absent.json" in only_error_of(program, done, 2)


def test_modules_in_the_working_folder_take_no_part(build_dir, tmp_path):
    (tmp_path / "json.py").write_text("raise SystemExit(7)\n")
    done = subprocess.run(
        [build_dir / "asterope-generate", "absent.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "absent.json" in only_error_of("asterope-generate", done, 2)


def test_a_program_that_is_nowhere_gets_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(commands.importlib.metadata, "files", lambda name: None)
    assert commands.run_command("tune", []) == 1
    said = capsys.readouterr().err
    assert said.startswith("asterope-tune: is not installed")
    assert said.count("\n") == 1


def test_a_package_in_a_shallow_folder_finds_the_program_on_the_path(tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "__file__", "/app/asterope/commands.py")
    monkeypatch.setenv("PATH", str(tmp_path))
    program = script(tmp_path / "asterope-shallow", "#!/bin/sh\n")
    assert commands._find("asterope-shallow") == str(program)


def test_a_program_that_cannot_be_run_gets_one_line(tmp_path, monkeypatch, capsys):
    program = tmp_path / "asterope-tune"
    program.write_bytes(b"\x7fELF, of another machine")
    program.chmod(0o755)
    monkeypatch.setattr(commands, "_find", lambda name: str(program))
    assert commands.run_command("tune", []) == 1
    assert (
        capsys.readouterr().err == f"asterope-tune: {program}: cannot be run: Exec format error\n"
    )


@pytest.mark.parametrize(
    ("modules", "said", "arguments"),
    [
        (["jinja2"], "needs the Python module jinja2,", ("generate", ["--version"])),
        (["jinja2"], "needs the Python module jinja2,", ("report", [PROFILE])),
        (["matplotlib"], "pictures need matplotlib,", ("report", [PROFILE])),
        (["elftools"], "needs the Python module elftools,", ("prove", ["--", "true"])),
        (
            ["elftools", "jsonschema", "jinja2"],
            "needs the Python modules jinja2 and jsonschema and elftools,",
            ("generate", ["--version"]),
        ),
    ],
)
def test_of_missing_modules_one_line_says_what_to_install(tmp_path, modules, said, arguments):
    lacking = (
        f"import sys; sys.modules.update(dict.fromkeys({modules!r})); from asterope import "
        f"commands; sys.exit(commands.run_command(*{arguments!r}))"
    )
    line = only_error_of(f"asterope-{arguments[0]}", run(tmp_path, "-c", lacking), 1)
    assert said in line
    for module in modules:
        assert f"python3-{PACKAGES.get(module, module)}" in line
    assert os.listdir(tmp_path) == ["tmp"]


def test_pip_installs_the_same_commands(repository):
    text = (repository / "pyproject.toml").read_text()
    for name, (_, module) in commands.COMMANDS.items():
        assert (f'asterope-{name} = "asterope.{module}:main"' in text) == (module is not None)
