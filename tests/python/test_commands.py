"""`python -m asterope` and the launchers: lists the commands, runs them, says what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import asterope
import pytest
from asterope import __main__, commands
from command_errors import only_error_of


def run(*arguments: str, path: str = os.defpath, cwd: Path) -> subprocess.CompletedProcess:
    scripts = Path(asterope.__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-m", "asterope", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(scripts), "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_it_lists_every_command(capsys, arguments):
    if arguments:
        with pytest.raises(SystemExit) as left:
            __main__.main(arguments)
        assert left.value.code == 0
    else:
        assert __main__.main(arguments) == 0
    said = capsys.readouterr().out
    for name, (summary, _) in commands.COMMANDS.items():
        assert f"{name} " in said
        assert summary in said


def test_it_hands_on_the_exit_code_and_the_error(tmp_path):
    done = run("generate", "absent.json", cwd=tmp_path)
    assert "absent.json" in only_error_of("asterope-generate", done, 2)


def test_a_command_that_is_none_gets_one_line(tmp_path):
    done = run("generat", cwd=tmp_path)
    assert "generat" in only_error_of("python -m asterope", done, 2)


def test_it_runs_the_programs_that_are_on_the_path(build_dir, tmp_path):
    done = run("tune", "check", "absent.json", cwd=tmp_path, path=str(build_dir))
    assert "absent.json" in only_error_of("asterope-tune", done, 2)


def test_a_program_that_is_nowhere_gets_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(commands.importlib.metadata, "files", lambda name: None)
    assert commands.run_command("tune", []) == 1
    said = capsys.readouterr().err
    assert said.startswith("asterope-tune: is not installed")
    assert said.count("\n") == 1


def test_the_program_of_the_same_installation_goes_before_the_path(tmp_path, monkeypatch):
    package = tmp_path / "share" / "asterope" / "python" / "asterope"
    for place in (tmp_path / "bin", tmp_path / "path"):
        place.mkdir()
        (place / "asterope-tune").write_text("#!/bin/sh\n")
        (place / "asterope-tune").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(commands.importlib.metadata, "files", lambda name: None)
    assert commands._find("asterope-tune") == str(tmp_path / "path" / "asterope-tune")
    monkeypatch.setattr(commands, "__file__", str(package / "commands.py"))
    assert commands._find("asterope-tune") == str(tmp_path / "bin" / "asterope-tune")


@pytest.mark.parametrize(
    ("module", "package", "arguments"),
    [
        ("jinja2", "jinja2", ("generate", ["--version"])),
        ("elftools", "pyelftools", ("prove", ["--", "true"])),  # a trial's alone
    ],
)
def test_a_missing_module_gets_one_line_that_says_what_to_install(module, package, arguments):
    lacking = (
        f"import sys; sys.modules[{module!r}] = None; from asterope import commands; "
        f"sys.exit(commands.run_command(*{arguments!r}))"
    )
    path = {**os.environ, "PYTHONPATH": str(Path(asterope.__file__).parents[1])}
    command = [sys.executable, "-c", lacking]
    done = subprocess.run(command, capture_output=True, text=True, env=path, timeout=60)
    said = only_error_of(f"asterope-{arguments[0]}", done, 1)
    assert f"needs the Python module {module}" in said and f"python3-{package}" in said


def test_pip_installs_the_same_commands(repository):
    text = (repository / "pyproject.toml").read_text()
    for name, (_, module) in commands.COMMANDS.items():
        assert (f'asterope-{name} = "asterope.{module}:main"' in text) == (module is not None)
