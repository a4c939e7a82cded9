"""`python -m asterope` and the launchers: lists the commands, runs them, says what is missing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from asterope import __main__, commands
from command_errors import exit_code_of, only_error_of, python_settings
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


def test_a_program_that_is_nowhere_gets_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(commands.importlib.metadata, "files", lambda name: None)
    assert commands.run_command("tune", []) == 1
    said = capsys.readouterr().err
    assert said.startswith("asterope-tune: is not installed")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("module", "package", "arguments"),
    [
        ("jinja2", "jinja2", ("generate", ["--version"])),
        ("matplotlib", "matplotlib", ("report", [PROFILE])),
        ("elftools", "pyelftools", ("prove", ["--", "true"])),  # a trial's alone
    ],
)
def test_of_a_missing_module_one_line_says_what_to_install(tmp_path, module, package, arguments):
    lacking = (
        f"import sys; sys.modules[{module!r}] = None; from asterope import commands; "
        f"sys.exit(commands.run_command(*{arguments!r}))"
    )
    said = only_error_of(f"asterope-{arguments[0]}", run(tmp_path, "-c", lacking), 1)
    assert f"needs the Python module {module}" in said or f"pictures need {module}" in said
    assert f"python3-{package}" in said
    assert os.listdir(tmp_path) == ["tmp"]


def test_pip_installs_the_same_commands(repository):
    text = (repository / "pyproject.toml").read_text()
    for name, (_, module) in commands.COMMANDS.items():
        assert (f'asterope-{name} = "asterope.{module}:main"' in text) == (module is not None)
