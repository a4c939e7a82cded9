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
from unittest.mock import Mock

import pytest
from asterope import atomic_file
from asterope.place_map import text_of
from asterope.profile import load_profile
from asterope.render import render_routine
from command_errors import finished, python_settings
from dispatch_machines import write_profiles
from generate_command import NAMES, assert_old, only_line
from generate_command import command as run
from hostile_profiles import HOSTILE
from profile_samples import incomplete_profile, plain_profile, provisional_profile, without
from routine_examples import REFERENCE, REFERENCES


@pytest.fixture
def refused(out, capsys) -> Callable[..., str]:
    """The one line with which the command refuses; an earlier run's files stay as they were."""

    def line_of(*arguments: object, code: int = 2) -> str:
        assert run("-o", out, *arguments) == code
        assert_old(out)
        return only_line(capsys)

    return line_of


# The command's input, options between profiles and a prefix twice, too; the contents of the files.
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
    older = without(
        json.loads(profile.read_bytes()), "pipelines", "small", "fresh", operation="memset"
    )
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


def test_an_incomplete_profile_of_several_is_warned_of_by_its_file(tmp_path, out, capsys):
    (haswell,), incomplete = write_profiles(tmp_path, ["haswell"]), tmp_path / "half.json"
    incomplete.write_text(json.dumps(incomplete_profile()), encoding="utf-8")
    assert run(haswell, incomplete, "--dispatch", "-o", out) == 0
    stderr = capsys.readouterr().err
    assert stderr.startswith(f"asterope-generate: warning: {incomplete}: incomplete: ")
    assert stderr.count("\n") == 1
    assert " * Incomplete: " in (out / NAMES[0]).read_text(encoding="ascii")


RESERVED = ("memcpy", "memmove", "strict", "wcsfast", "pthread", "sig")
GOOD = ("mem", "my_memcpy", "M", "Mem", "str_", "My_Copy2", "a" * 63)


@pytest.mark.parametrize("prefix", [*RESERVED, *GOOD])
def test_the_prefix_names_files_and_functions_and_is_warned_of_where_it_is_the_c_librarys(
    profile, tmp_path, capsys, prefix
):
    assert run(profile, "-o", tmp_path, "--prefix", prefix) == 0
    source, header = ((tmp_path / f"{prefix}_memcpy.{kind}").read_text("ascii") for kind in "ch")
    assert f"{prefix}_memcpy(" in header
    assert f'#include "{prefix}_memcpy.h"' in source
    assert "asterope_" not in re.sub(r"/\*.*?\*/", "", header + source, flags=re.DOTALL)
    warning = capsys.readouterr().err
    assert warning.count("\n") == (prefix in RESERVED)
    if warning:
        assert warning.startswith(f"asterope-generate: warning: --prefix {prefix}: ")
        assert f"{prefix}_memcpy" in warning


def test_quiet_prints_errors_only(profile, tmp_path, capsys):
    profile.write_text(json.dumps(provisional_profile()), encoding="utf-8")
    assert run(profile, "-o", tmp_path, "--quiet", "--prefix", "memcpy") == 0
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


BAD_PREFIXES = ["", "1a", "_a", "a-b", "../a", "a\n", "a*/", "caf\u00e9", "\u0430", "a" * 64]


@pytest.mark.parametrize("prefix", BAD_PREFIXES)
def test_a_prefix_that_is_no_c_name_exits_2(profile, refused, prefix):
    assert "--prefix" in refused(profile, f"--prefix={prefix}")


# The fault of two files, {0} and {1}: the text of the second, further options, the message.
REFUSED: dict[str, tuple[object, list[str], str]] = {
    "several prefixes": (None, ["--prefix", "a", "--prefix", "b"], "--prefix: one file has one"),
    "an unknown architecture": ({"architecture": "riscv64"}, [], "{1}: architecture: .*riscv64"),
    "the same CPU": (
        *(provisional_profile(), []),  # of genoa
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
    for path, written in zip(paths, write_profiles(tmp_path, ["genoa", "haswell"])):
        path.parent.mkdir(exist_ok=True)
        written.rename(path)
    assert f"is that of {paths[0]}: rename one of the files" in refused("--dispatch", *paths)


BAD_NAMES = ["a b", 'a"b', "a\\", "-a", ".a", "_a", "caf\u00e9", "a\nb", "a" * 64, "fallback", "a*"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_is_none_for_a_profile_is_refused(refused, name):
    line = refused("--dispatch", f"none/{name}.json")
    assert "rename the file" in line
    assert name == "fallback" or "begins with a letter or a digit" in line


@pytest.mark.parametrize(
    ("options", "called", "option"),
    [
        ("--preload profile.json", "a profile that is read", "--preload"),
        ("--places places.json --preload ./places.json", "the map of places", "--preload"),
        (f"--places {NAMES[0]} --preload l.so -o .", "the map of places", "-o"),
    ],
)
def test_what_is_read_is_not_written_over(
    profile, tmp_path, monkeypatch, capsys, options: str, called: str, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("places.json", NAMES[0]):
        (tmp_path / name).write_text(text_of([], ["program"]), encoding="utf-8")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert run("profile.json", *options.split()) == 2
    assert f": is {called}, and would be lost: choose another {option}" in only_line(capsys)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


# --- Faults while writing: exit 1 -----------------------------------------------------------------


def test_a_file_in_place_of_the_folder_exits_1(profile, refused):
    before = profile.read_bytes()
    assert re.search(f"{profile}.*Not a directory", refused("-o", profile, profile, code=1))
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
    monkeypatch.setattr(atomic_file.os, "fsync", Mock(side_effect=[None, fault]))
    assert said in refused(profile, code=code)


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_is_what_the_templates_render_now_and_nothing_else_is_there(name):
    expected = {*REFERENCES, *(f"{one}.json" for one in REFERENCES)}
    assert {path.name for path in REFERENCE.iterdir()} == expected
    texts = render_routine(load_profile(REFERENCE / f"{name}.json"))
    found = {path.name: path.read_bytes() for path in (REFERENCE / name).iterdir()}
    if found != {file: text.encode("ascii") for file, text in texts.items()}:
        pytest.fail(
            f"generated/reference/{name} is out of date. Refresh it with: "
            f"PYTHONPATH=scripts .venv/bin/python -m asterope.generate "
            f"generated/reference/{name}.json -o generated/reference/{name}",
            pytrace=False,
        )
