"""The command asterope-generate: its exit codes, its one-line errors, and whole files or none."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from asterope import atomic_file, generate
from asterope.profile import load_profile
from asterope.render import render_routine
from generate_command import NAMES, assert_old, only_line
from generate_command import command as run
from hostile_profiles import HOSTILE
from profile_samples import good_profile, provisional_profile, without
from routine_examples import MACHINES, REFERENCE

SCRIPTS = Path(generate.__file__).parents[1]


def texts(folder: Path) -> list[str]:
    return [(folder / name).read_text(encoding="ascii") for name in NAMES]


# --- Done -----------------------------------------------------------------------------------------


def test_it_writes_both_files_and_says_so_in_one_line(profile, out, capsys):
    assert run(profile, "-o", out) == 0
    assert sorted(path.name for path in out.iterdir()) == list(NAMES)
    assert all("asterope_memcpy" in text for text in texts(out))
    held = "6 intervals, 2 of memset"
    said = f"wrote {out / NAMES[0]} and {out / NAMES[1]} ({held})\n"
    assert capsys.readouterr() == (said, "")


def test_a_profile_without_memset_is_rendered_without_and_it_is_said(tmp_path, out, capsys):
    raw = without(good_profile(), "pipelines", "small", operation="memset")
    (tmp_path / "older.json").write_text(json.dumps(raw), encoding="utf-8")
    assert run(tmp_path / "older.json", "-o", out) == 0
    assert "(6 intervals, no memset: the profile has none)" in capsys.readouterr().out
    assert all("memset(" not in text and "HAS_MEMSET" not in text for text in texts(out))


def test_it_writes_the_same_bytes_wherever_it_is_told_to(profile, tmp_path, monkeypatch):
    """Into the current folder, or one that is made with its parents; also in a process of its own,
    whose hashes of strings differ."""
    monkeypatch.chdir(tmp_path)
    assert run(profile) == 0
    assert run(profile, "-o", tmp_path / "a" / "b") == 0
    done = start(profile, "-o", "hashed", env={"PYTHONHASHSEED": "2"})
    assert (done.wait(), done.stderr.read()) == (0, "")
    assert texts(tmp_path / "a/b") == texts(tmp_path / "hashed") == texts(tmp_path)


def test_the_files_have_the_mode_of_any_new_file(profile, tmp_path):
    before = os.umask(0o027)
    try:
        assert run(profile, "-o", tmp_path) == 0
    finally:
        os.umask(before)
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in NAMES} == {0o640}


def test_the_prefix_names_files_and_functions(profile, tmp_path):
    assert run(profile, "-o", tmp_path, "--prefix", "My_Copy2") == 0
    source, header = ((tmp_path / f"My_Copy2_memcpy.{kind}").read_text("ascii") for kind in "ch")
    assert "My_Copy2_memcpy(" in header
    assert '#include "My_Copy2_memcpy.h"' in source
    assert "asterope_" not in re.sub(r"/\*.*?\*/", "", header + source, flags=re.DOTALL)


# --- Bad profiles: exit 2 -------------------------------------------------------------------------


# Each of them in test_profile.
@pytest.mark.parametrize(("content", "expected"), list(HOSTILE.values())[::32])
def test_a_bad_profile_exits_2_and_leaves_the_files(profile, out, capsys, content, expected):
    profile.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    assert run(profile, "-o", out) == 2
    line = only_line(capsys)
    assert all(part in line for part in (str(profile), *expected))
    assert_old(out)


# --- Bad arguments: exit 2 ------------------------------------------------------------------------


def test_quiet_prints_errors_only(tmp_path, capsys):
    path = tmp_path / "busy.json"
    path.write_text(json.dumps(provisional_profile()), encoding="utf-8")
    assert run(path, "-o", tmp_path, "--quiet", "--prefix", "memcpy") == 0
    assert capsys.readouterr() == ("", "")
    assert run(tmp_path / "absent.json", "--quiet", "-o", tmp_path / "new") == 2
    assert "absent.json: cannot read it: No such file" in only_line(capsys)
    assert not (tmp_path / "new").exists()


BAD_PREFIXES = ["", "1a", "_a", "a-b", "a b", "a.b", "a/b", "../a", "/tmp/a", "a\n", "a*/", 'a"',
                "a\\", "a\nint main(void){}", "{{a}}", "%s", "caf\u00e9", "\u0430",  # Cyrillic
                "a" * 64]  # fmt: skip


@pytest.mark.parametrize("prefix", BAD_PREFIXES)
def test_a_prefix_that_is_no_c_name_exits_2(profile, out, capsys, prefix):
    assert run(profile, "-o", out, f"--prefix={prefix}") == 2
    assert "--prefix" in only_line(capsys)
    assert_old(out)


RESERVED = ("memcpy", "memmove", "strict", "wcsfast", "pthread", "sig")
GOOD = ("asterope", "mem", "my_memcpy", "M", "fast", "str_", "Mem", "a" * 63)


@pytest.mark.parametrize("prefix", [*RESERVED, *GOOD])
def test_a_prefix_that_gives_names_of_the_c_librarys_is_warned_of(
    profile, tmp_path, capsys, prefix
):
    assert run(profile, "-o", tmp_path, "--prefix", prefix) == 0
    warning = capsys.readouterr().err
    assert (tmp_path / f"{prefix}_memcpy.c").exists()
    assert warning.count("\n") == (prefix in RESERVED)
    if warning:
        assert warning.startswith(f"asterope-generate: warning: --prefix {prefix}: ")
        assert f"{prefix}_memcpy" in warning


def test_a_file_in_place_of_the_folder_exits_1(profile, capsys):
    before = profile.read_bytes()
    assert run(profile, "-o", profile) == 1
    assert re.search(f"{profile}.*Not a directory", only_line(capsys))
    assert profile.read_bytes() == before


# --- Faults while writing: exit 1 -----------------------------------------------------------------


def test_a_folder_in_place_of_one_file_exits_1_and_leaves_the_other(profile, out, capsys):
    (out / NAMES[1]).unlink()
    (out / NAMES[1]).mkdir()
    assert run(profile, "-o", out) == 1
    assert f"{out / NAMES[1]}: cannot write: Is a directory" in only_line(capsys)
    assert sorted(path.name for path in out.iterdir()) == list(NAMES)
    assert (out / NAMES[0]).read_text(encoding="utf-8") == f"the old {NAMES[0]}"


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), 1, "cannot write: No space left on"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
    ids=["a full disk", "an interrupt"],
)
def test_a_fault_while_a_file_is_written_leaves_both(
    profile, out, capsys, monkeypatch, fault, code, said
):
    calls = iter(range(1, 9))

    def fsync(_descriptor: int) -> None:
        if next(calls) == 2:
            raise fault

    monkeypatch.setattr(atomic_file.os, "fsync", fsync)
    assert run(profile, "-o", out) == code
    assert said in only_line(capsys)
    assert_old(out)


# --- As a process of its own ----------------------------------------------------------------------


def start(*arguments: object, **settings: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "asterope.generate", *map(str, arguments)]
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **settings}
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS), **settings.pop("env", {})}
    return subprocess.Popen(command, env=environment, **settings)


@pytest.mark.parametrize("full", [False, True], ids=["a closed pipe", "a full device"])
def test_a_fault_of_stdout_is_none(profile, tmp_path, full):
    if full and not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open("/dev/full" if full else write_end, "w", encoding="ascii") as stdout:
        done = start(profile, "-o", tmp_path, stdout=stdout)
    assert (done.wait(), done.stderr.read()) == (0, "")
    assert all((tmp_path / name).is_file() for name in NAMES)


# --- generated/reference/: the routines of the paper's two profiles -------------------------------


def test_each_reference_has_its_routine_and_nothing_else_is_there():
    expected = {f"{machine}.json" for machine in MACHINES}
    for machine in MACHINES:
        expected |= {f"{machine}/asterope_memcpy.{kind}" for kind in "ch"}
    found = {path for path in REFERENCE.rglob("*") if path.is_file()}
    assert {str(path.relative_to(REFERENCE)) for path in found} == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_a_reference_is_what_the_templates_render_now(machine):
    profile = REFERENCE / f"{machine}.json"
    for name, text in render_routine(load_profile(profile)).items():
        path = REFERENCE / machine / name
        if not path.is_file() or path.read_bytes() != text.encode("ascii"):
            pytest.fail(
                f"{path.relative_to(SCRIPTS.parent)} is out of date. Refresh it with: "
                f"PYTHONPATH=scripts .venv/bin/python -m asterope.generate "
                f"generated/reference/{machine}.json -o generated/reference/{machine}",
                pytrace=False,
            )
