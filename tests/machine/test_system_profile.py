"""Profiles for all users or for one. A better one is not replaced by accident."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path

import pytest
from command_errors import SHORTEST, run_command, tune_error
from namespaces import run_with
from profile_samples import of

pytestmark = pytest.mark.one_cpu

PLACE = "/etc/asterope/profile.json"
QUICK = (*SHORTEST, "--quiet")


@pytest.fixture
def program(build_dir: Path) -> Path:
    return build_dir / "asterope-tune"


@pytest.fixture(scope="module")
def tuned(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An /etc with this machine's profile, made by root with a strict umask; beside it the folder
    that asterope-tune ran in."""
    folder = tmp_path_factory.mktemp("tuned")
    for name in ("etc", "here"):
        (folder / name).mkdir()
    command = [build_dir / "asterope-tune", *QUICK, "--system", "--sizes", "128,256"]
    done = run_with([(folder / "etc", "/etc")], command, "umask 077", cwd=folder / "here")
    assert (done.returncode, done.stdout) == (0, ""), done
    return folder / "etc"


def test_system_writes_it_for_all_and_renders_nothing(tuned):
    (profile,) = (tuned / "asterope").iterdir()  # no log stays, either
    assert profile.name == "profile.json"
    assert profile.stat().st_mode & 0o777 == 0o644  # despite root's umask
    assert profile.parent.stat().st_mode & 0o777 == 0o755
    assert list((tuned.parent / "here").iterdir()) == []


def test_the_systems_is_found_where_none_is_named(tuned, program, tmp_path):
    nothing = {"XDG_CONFIG_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = run_with([(tuned, "/etc")], [program, "check"], env=nothing)
    assert done.returncode == 0
    assert done.stdout.startswith(f"{PLACE} fits this machine\n")
    generate = [sys.executable, "-m", "asterope.generate", "-o", tmp_path / "out"]
    done = run_with([(tuned, "/etc")], generate, env=nothing)
    assert done.returncode == 0, done
    assert done.stdout.rstrip().endswith(f"from {PLACE}")


def test_where_etc_is_not_writable_it_says_so_before_the_search(program, tmp_path):
    for folder in ("etc", "etc/asterope"):
        (tmp_path / folder).mkdir()
        read_only = "mount -o remount,bind,ro /etc"
        done = run_with([(tmp_path / "etc", "/etc")], [program, "--system"], read_only)
        line = tune_error(done, 2)
        assert PLACE in line and "Read-only" in line


def test_where_the_machine_cannot_be_read_nothing_is_replaced(program, tmp_path):
    """It would look like another machine, for which any profile is as good as none."""
    place = tmp_path / "etc" / "asterope" / "profile.json"
    place.parent.mkdir(parents=True)
    place.write_text("as it was")
    (tmp_path / "garbage").write_text("MemTotal: lots\n")
    mounts = [(tmp_path / "etc", "/etc"), (tmp_path / "garbage", "/proc/meminfo")]
    done = run_with(mounts, [program, "--system", *QUICK, "--sizes", "128"])
    assert "/proc/meminfo" in tune_error(done, 2)
    assert [*place.parent.iterdir()] == [place] and place.read_text() == "as it was"


def test_without_a_home_there_is_no_place_for_a_user(tune):
    assert "HOME" in tune_error(tune("--user", env={}), 2)


def test_a_better_profile_of_the_users_is_replaced_by_force_only(tuned, program, tmp_path):
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config")}
    tune = partial(run_command, program, *QUICK, cwd=tmp_path, env=environment)
    place = tmp_path / "config" / "asterope" / "profile.json"
    place.parent.mkdir(parents=True)
    profile = json.loads((tuned / "asterope" / "profile.json").read_text())
    profile["search"]["rigor"] = "exhaustive"
    profile["search"]["noise"]["provisional"] = False  # this machine may have been busy meanwhile
    place.write_text(json.dumps(profile))
    before = place.read_bytes()
    for sizes in ("128", "128,256"):
        for where in (["--user"], ["-o", place]):
            line = tune_error(tune(*where, "--sizes", sizes), 2)
            assert "rigor exhaustive" in line and "--fresh" in line
    assert place.read_bytes() == before
    assert [*place.parent.iterdir()] == [place]  # nor a log begun
    assert tune("--user", "--sizes", "128", "--fresh").returncode == 0
    assert len(of(json.loads(place.read_text()))) == 1
    assert [*place.parent.iterdir()] == [place]  # nothing is rendered
    assert [*tmp_path.iterdir()] == [tmp_path / "config"]
