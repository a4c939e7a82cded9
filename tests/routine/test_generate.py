"""The command asterope-generate: its exit codes, its one-line errors, and whole files or none; of
several profiles, which go together."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from asterope import atomic_file, generate
from asterope.profile import load_profile
from asterope.render import render_routine
from command_errors import finished, python_settings
from dispatch_machines import IDENTITY, MACHINES, write_profile, write_profiles
from generate_command import NAMES, assert_old, only_line
from generate_command import command as run
from hostile_profiles import HOSTILE
from profile_samples import (
    good_profile,
    incomplete_profile,
    plain_profile,
    provisional_profile,
    without,
)
from routine_examples import MACHINES as REFERENCES
from routine_examples import REFERENCE

SCRIPTS = Path(generate.__file__).parents[1]


@pytest.fixture
def refused(out, capsys) -> Callable[..., str]:
    """The one line with which the command refuses; an earlier run's files stay as they were."""

    def line_of(*arguments: object, code: int = 2) -> str:
        assert run("-o", out, *arguments) == code
        assert_old(out)
        return only_line(capsys)

    return line_of


# --- Done -----------------------------------------------------------------------------------------


# What is given, options between profiles and a prefix twice, too; what the files hold.
GIVEN = {
    "profile.json": "6 intervals, 2 of memset",
    "older.json": "6 intervals, no memset: the profile has none",
    "genoa.json --prefix fast --dispatch haswell.json --prefix fast": "2 profiles: genoa, haswell",
}


@pytest.mark.parametrize("given", GIVEN)
def test_it_writes_the_same_bytes_wherever_it_is_told_to(
    profile, tmp_path, monkeypatch, capsys, given
):
    """Into the current folder, or one that is made with its parents; also in a process of its own,
    whose hashes of strings differ. And says so in one line."""
    older = without(good_profile(), "pipelines", "small", operation="memset")
    (tmp_path / "older.json").write_text(json.dumps(older), encoding="utf-8")
    write_profiles(tmp_path, ["genoa", "haswell"])
    monkeypatch.chdir(tmp_path)
    prefix = "fast" if "fast" in given else "asterope"
    names = [f"{prefix}_memcpy.{kind}" for kind in "ch"]
    assert run(*given.split()) == 0
    said = f"wrote {names[0]} and {names[1]} ({GIVEN[given]})\n"
    assert capsys.readouterr() == (said, "")
    assert run(*given.split(), "-o", "a/b") == 0
    module = ("-m", "asterope.generate", *given.split(), "-o", "hashed")
    done = finished(python_settings(tmp_path, *module, PYTHONHASHSEED=2))
    assert (done.returncode, done.stderr) == (0, "")
    here, there, hashed = (
        {path.name: path.read_bytes() for path in (tmp_path / folder).glob("*_memcpy.*")}
        for folder in (".", "a/b", "hashed")
    )
    assert {*here} == {*names}
    assert here == there == hashed
    assert all((b"memset(" in text) == (given != "older.json") for text in here.values())


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


def test_an_incomplete_profile_of_several_is_warned_of_by_its_file(tmp_path, out, capsys):
    good, incomplete = tmp_path / "good.json", tmp_path / "half.json"
    good.write_text(json.dumps(good_profile()), encoding="utf-8")
    raw = incomplete_profile()
    raw["machine"]["cpu"]["model"] += 1
    incomplete.write_text(json.dumps(raw), encoding="utf-8")
    assert run(good, incomplete, "--dispatch", "-o", out) == 0
    stderr = capsys.readouterr().err
    assert stderr.startswith(f"asterope-generate: warning: {incomplete}: incomplete: ")
    assert stderr.count("\n") == 1
    assert " * Incomplete: " in (out / NAMES[0]).read_text(encoding="ascii")


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


def test_quiet_prints_errors_only(tmp_path, capsys):
    path = tmp_path / "busy.json"
    path.write_text(json.dumps(provisional_profile()), encoding="utf-8")
    assert run(path, "-o", tmp_path, "--quiet", "--prefix", "memcpy") == 0
    assert capsys.readouterr() == ("", "")
    assert run(tmp_path / "absent.json", "--quiet", "-o", tmp_path / "new") == 2
    assert "absent.json: cannot read it: No such file" in only_line(capsys)
    assert not (tmp_path / "new").exists()


def test_a_closed_stdout_is_no_fault(profile, tmp_path):
    read_end, write_end = os.pipe()
    os.close(read_end)
    settings = python_settings(tmp_path, "-m", "asterope.generate", profile)
    done = subprocess.run(**{**settings, "stdout": write_end})
    os.close(write_end)
    assert (done.returncode, done.stderr) == (0, "")
    assert all((tmp_path / name).is_file() for name in NAMES)


# --- Bad profiles and arguments: exit 2 -----------------------------------------------------------


# Each of them in test_profile.
@pytest.mark.parametrize(("content", "expected"), list(HOSTILE.values())[::16])
def test_a_bad_profile_exits_2_and_leaves_the_files(profile, refused, content, expected):
    profile.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    line = refused(profile)
    assert all(part in line for part in (str(profile), *expected))


BAD_PREFIXES = ["", "1a", "_a", "a-b", "a b", "a.b", "a/b", "../a", "/tmp/a", "a\n", "a*/", 'a"',
                "a\\", "a\nint main(void){}", "{{a}}", "%s", "caf\u00e9", "\u0430",  # Cyrillic
                "a" * 64]  # fmt: skip


@pytest.mark.parametrize("prefix", BAD_PREFIXES)
def test_a_prefix_that_is_no_c_name_exits_2(profile, refused, prefix):
    assert "--prefix" in refused(profile, f"--prefix={prefix}")


GENOA = {"machine": {"cpu": dict(zip(IDENTITY, MACHINES["x86_64"]["genoa"]))}}
# What is wrong with two files, {0} and {1}: the text of the second, further options, what is said.
REFUSED: dict[str, tuple[object, list[str], str]] = {
    "several prefixes": (None, ["--prefix", "a", "--prefix", "b"], "--prefix: one file has one"),
    "an unknown architecture": ({"architecture": "riscv64"}, [], "{1}: architecture: .*riscv64"),
    "the same CPU": (
        *(GENOA, []),
        r"{1}: tuned on the same CPU as {0} \(AuthenticAMD, family 25, .*asterope-tune merge",
    ),
    "a file given twice": (None, ["{0}"], "{0}: given twice: leave one out"),
    "another architecture": (
        *(plain_profile("aarch64"), []),
        "^asterope-generate: {1}: of aarch64, and {0} of x86_64.*one file holds one architecture",
    ),
    "no JSON": ("{", [], "{1}: line 1"),
    "a missing file": (None, ["none.json"], "none.json: cannot read it"),
    "a vendor that no CPU has": (
        {"machine": {"cpu": {"vendor": "AuthenticAMD2"}}},
        *([], "machine.cpu.vendor: longer than the 12"),
    ),
}


@pytest.mark.parametrize(("second", "more", "said"), REFUSED.values(), ids=REFUSED)
def test_profiles_that_do_not_go_together_are_refused(tmp_path, refused, second, more, said):
    paths = write_profiles(tmp_path, ["genoa", "haswell"])
    if second is not None:
        raw = json.loads(paths[1].read_text(encoding="utf-8"))
        text = second if isinstance(second, str) else json.dumps({**raw, **second})
        paths[1].write_text(text, encoding="utf-8")
    line = refused(*paths, "--dispatch", *(part.format(*paths) for part in more))
    assert re.search(said.format(*paths), line)
    assert "only with --dispatch: see asterope-generate --help" in refused(*paths)


@pytest.mark.parametrize("names", [("a/x.json", "b/x.json"), ("a/x-1.json", "a/x.1.json")])
def test_two_profiles_of_the_same_name_are_refused(tmp_path, refused, names):
    paths = [tmp_path / name for name in names]
    for path, machine in zip(paths, ("genoa", "haswell")):
        path.parent.mkdir(exist_ok=True)
        write_profile(path.parent, path.stem, MACHINES["x86_64"][machine])
    assert f"is that of {paths[0]}: rename one of the files" in refused("--dispatch", *paths)


BAD_NAMES = ["a b", 'a"b', "a\\", "-a", ".a", "caf\u00e9", "a\nb", "a" * 64, "fallback", "a*"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_is_none_for_a_profile_is_refused(refused, name):
    assert "rename the file" in refused("--dispatch", f"none/{name}.json")


# --- Faults while writing: exit 1 -----------------------------------------------------------------


def test_a_file_in_place_of_the_folder_exits_1(profile, capsys):
    before = profile.read_bytes()
    assert run(profile, "-o", profile) == 1
    assert re.search(f"{profile}.*Not a directory", only_line(capsys))
    assert profile.read_bytes() == before


def test_a_folder_in_place_of_one_file_exits_1_and_leaves_the_other(profile, out, capsys):
    (out / NAMES[1]).unlink()
    (out / NAMES[1]).mkdir()
    assert run(profile, "-o", out) == 1
    assert f"{out / NAMES[1]}: cannot write: Is a directory" in only_line(capsys)
    assert sorted(path.name for path in out.iterdir()) == list(NAMES)
    assert (out / NAMES[0]).read_text(encoding="utf-8") == f"the old {NAMES[0]}"


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [(FULL, 1, "cannot write: No space left on"), (KeyboardInterrupt(), 130, "interrupted")],
    ids=["a full disk", "an interrupt"],
)
def test_a_fault_while_a_file_is_written_leaves_both(
    profile, refused, monkeypatch, fault, code, said
):
    calls = iter(range(1, 9))

    def fsync(_descriptor: int) -> None:
        if next(calls) == 2:
            raise fault

    monkeypatch.setattr(atomic_file.os, "fsync", fsync)
    assert said in refused(profile, code=code)


# --- generated/reference/: the routines of the paper's two profiles -------------------------------


def test_each_reference_has_its_routine_and_nothing_else_is_there():
    expected = {f"{machine}.json" for machine in REFERENCES}
    for machine in REFERENCES:
        expected |= {f"{machine}/asterope_memcpy.{kind}" for kind in "ch"}
    found = {path for path in REFERENCE.rglob("*") if path.is_file()}
    assert {str(path.relative_to(REFERENCE)) for path in found} == expected


@pytest.mark.parametrize("machine", REFERENCES)
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
