"""Profiles that no option names: each command takes the right one, and says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asterope import generate, profile_places
from asterope.report import command as report
from command_errors import tune_error
from profile_samples import good_profile, of, taking


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The user's place and the system's, both empty; the real ones are out of sight."""
    system = tmp_path / "etc" / "profile.json"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(profile_places, "SYSTEM_PROFILE", system)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "config" / "asterope" / "profile.json", system


def put(path: Path, text: str | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(good_profile()) if text is None else text)
    return path


def test_the_named_one_comes_before_the_users_and_that_before_the_systems(places):
    user, system = places
    put(system)
    assert profile_places.profile_to_read(None) == system
    put(user)
    assert profile_places.profile_to_read(None) == user
    assert profile_places.profile_to_read("other.json") == Path("other.json")


def link_to_nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, link_to_nowhere])
def test_the_users_counts_even_where_it_cannot_be_read(places, tune, capsys, make):
    user, system = places
    put(system)
    user.parent.mkdir(parents=True)
    make(user)
    assert generate.main([]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    for line in (said, tune_error(tune("check"), 2)):
        assert str(user) in line and "there is no" not in line


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"XDG_CONFIG_HOME": "/x", "HOME": "/home/me"}, "/x"),
        ({"XDG_CONFIG_HOME": "/dev/null"}, "/dev/null"),  # a file in place of the folder
        ({"HOME": "/home/me"}, "/home/me/.config"),
        ({"XDG_CONFIG_HOME": "", "HOME": "/home/me"}, "/home/me/.config"),
        ({"XDG_CONFIG_HOME": "~/x", "HOME": "/home/me"}, "/home/me/.config"),
        ({"HOME": "me"}, None),
    ],
)
def test_the_users_place_is_xdgs(tune, monkeypatch, environment, folder):
    with monkeypatch.context() as here:
        here.setattr("os.environ", environment)
        place = profile_places.user_profile()
    assert place == (Path(folder, "asterope/profile.json") if folder else None)
    if not profile_places.SYSTEM_PROFILE.exists():
        looked = " nor ".join(map(str, filter(None, (place, profile_places.SYSTEM_PROFILE))))
        assert f"there is no {looked}: " in tune_error(tune("check", env=environment), 2)


def test_generate_and_report_take_it_and_say_so_but_of_a_named_one(places, capsys):
    put(places[1])
    assert generate.main(["-o", "out"]) == 0
    assert capsys.readouterr().out.rstrip().endswith(f"from {places[1]}")
    assert Path("out/asterope_memcpy.c").exists()
    assert generate.main([str(places[1]), "-o", "out"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("of memset)")
    pytest.importorskip("matplotlib")
    assert report.main([]) == 0
    assert capsys.readouterr().out.rstrip().endswith(f"from {places[1]}")


@pytest.mark.parametrize("command", [generate.main, report.main])
def test_without_any_profile_a_command_exits_2_and_writes_nothing(places, capsys, command):
    assert command([]) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert str(places[0]) in said.err and str(places[1]) in said.err
    assert list(Path().iterdir()) == []


def test_check_takes_the_users_and_says_so_but_no_other_in_place_of_a_named_one(places, tune):
    place = put(places[0])
    done = tune("check")
    assert (done.returncode, done.stderr) == (3, "")  # it is of a made-up machine
    assert done.stdout.startswith(f"{place} is stale:\n")
    assert "other.json" in tune_error(tune("check", "other.json"), 2)
    assert "PROFILE" in tune_error(tune("check", ""), 2)


def test_bench_takes_it_where_profile_has_no_name(places, bench, plain_routine):
    profile = good_profile()
    profile["search"]["workload"] = "hot"
    taking(profile, {**of(profile)[0], "up_to": 192})
    place = put(places[0], json.dumps(profile))
    done = bench("--routine", plain_routine, "--rounds", "3", "--profile", "--suite", "sizes")
    assert done.returncode == 0, done
    assert done.stdout.startswith(f"profile: {place}\n")
    assert any(line.startswith("192 B ") for line in done.stdout.splitlines()), done
