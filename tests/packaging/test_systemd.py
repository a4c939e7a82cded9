"""The systemd unit and its timer: sound, and tuning where the profile is stale or absent."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from command_errors import run_command, script
from copy_programs import need
from namespaces import run_with
from packaging_samples import help_of, install_by_script, options_in

FOLDER = Path("scripts") / "packaging" / "systemd"


@pytest.fixture
def units(repository: Path, tmp_path: Path) -> Path:
    """Both as they are installed, with a stand-in for the program."""
    folder = tmp_path / "units"
    folder.mkdir()
    text = (repository / FOLDER / "asterope-tune.service.in").read_text()
    (folder / "asterope-tune.service").write_text(text.replace("@ASTEROPE_BINDIR@", str(tmp_path)))
    shutil.copy(repository / FOLDER / "asterope-tune.timer", folder)
    asked = "check /etc/asterope/profile.json"
    text = f'#!/bin/sh\ntest "$*" = "{asked}" || exit 99\nexit "$SAYS"\n'
    script(tmp_path / "asterope-tune", text)
    return folder


def setting(unit: Path, name: str) -> str:
    (value,) = re.findall(rf"^{name}=(.*)$", unit.read_text(), re.MULTILINE)
    return value


def test_systemd_finds_no_fault_in_them(units):
    need("systemd-analyze")
    done = run_command("systemd-analyze", "verify", "--man=no", *units.iterdir())
    if "systemd-analyze: " in done.stderr or "Failed to initialize manager" in done.stderr:
        pytest.skip(f"systemd-analyze does not work here: {done.stderr.strip()[:200]}")
    assert done.returncode == 0 and "asterope" not in done.stderr, done


@pytest.mark.parametrize(
    ("says", "tunes"), [(None, True), (0, False), (3, True), (2, False), (1, False), (99, False)]
)
def test_it_tunes_where_there_is_no_profile_or_a_stale_one(units, tmp_path, says, tunes):
    etc = tmp_path / "etc"
    (etc / "asterope").mkdir(parents=True)
    if says is not None:
        (etc / "asterope" / "profile.json").touch()
    condition = setting(units / "asterope-tune.service", "ExecCondition").replace("$$", "$")
    done = run_with([(etc, "/etc")], shlex.split(condition), env={"SAYS": str(says)})
    assert (done.returncode == 0) == tunes, done
    assert 0 <= done.returncode < 255  # or systemd would count it as a fault of the condition


def test_it_writes_the_systems_profile_at_low_priority(units, build_dir, tmp_path):
    service = units / "asterope-tune.service"
    program, *words = shlex.split(setting(service, "ExecStart"))
    assert program == str(tmp_path / "asterope-tune")
    options = {word for word in words if word.startswith("-")}
    assert {"--system"} <= options <= options_in(help_of(build_dir / "asterope-tune"))
    assert int(setting(service, "Nice")) == 19
    assert setting(service, "IOSchedulingClass") == "idle"
    assert setting(service, "Type") == "oneshot"
    assert not re.search(r"^ConditionVirtualization", service.read_text(), re.MULTILINE)


def test_installed_it_names_the_installed_program_and_is_not_enabled(build_dir, tmp_path):
    prefix = tmp_path / "prefix"
    script = build_dir / "cmake_install.cmake"
    if not script.exists() or "asterope-tune.service" not in script.read_text():
        pytest.skip(f"{build_dir} was not configured for installing")
    install_by_script(script, prefix)
    folder = prefix / "lib" / "systemd" / "system"
    names = {path.name for path in folder.iterdir()}
    assert names == {"asterope-tune.service", "asterope-tune.timer"}
    text = (folder / "asterope-tune.service").read_text()
    assert f'ExecStart="{prefix}/bin/asterope-tune" ' in text
    assert "@" not in text
