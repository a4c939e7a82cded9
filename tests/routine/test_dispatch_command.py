"""asterope-generate --dispatch: which profiles go together, and what is said of them."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
from copy_programs import REPOSITORY, output_of
from dispatch_machines import (
    IDENTITY,
    MACHINES,
    write_profile,
    write_profiles,
)
from generate_command import NAMES, assert_old, command, only_line
from profile_samples import good_profile, incomplete_profile, plain_profile


def refused(capsys: pytest.CaptureFixture[str], out: Path, *arguments: object) -> str:
    """The one line with which the command refuses; an earlier run's files stay as they were."""
    assert command(*arguments, "--dispatch", "-o", out) == 2
    assert_old(out)
    return only_line(capsys)


def test_options_may_stand_between_the_profiles(tmp_path, capsys):
    first, second = write_profiles(tmp_path, ["genoa", "haswell"])
    assert command(first, "-o", tmp_path / "a", "--dispatch", second, "--prefix", "fast") == 0
    names = [tmp_path / "a" / f"fast_memcpy.{kind}" for kind in "ch"]
    expected = f"wrote {names[0]} and {names[1]} (2 profiles: genoa, haswell)\n"
    assert capsys.readouterr() == (expected, "")
    assert "const char *fast_profile(void);" in names[1].read_text(encoding="ascii")
    # in a process of its own, whose hashes of strings differ; a prefix given twice is one
    options = ["--prefix", "fast", "--prefix", "fast", "--dispatch", first, second]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "scripts"), "PYTHONHASHSEED": "2"}
    module = [sys.executable, "-m", "asterope.generate"]
    output_of(*module, *options, "-o", tmp_path / "b", env=environment)
    for path in names:
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_an_incomplete_profile_is_warned_of_by_its_file(tmp_path, out, capsys):
    good, incomplete = tmp_path / "good.json", tmp_path / "half.json"
    good.write_text(json.dumps(good_profile()), encoding="utf-8")
    raw = incomplete_profile()
    raw["machine"]["cpu"]["model"] += 1
    incomplete.write_text(json.dumps(raw), encoding="utf-8")
    assert command(good, incomplete, "--dispatch", "-o", out) == 0
    stderr = capsys.readouterr().err
    assert stderr.startswith(f"asterope-generate: warning: {incomplete}: incomplete: ")
    assert stderr.count("\n") == 1
    assert " * Incomplete: " in (out / NAMES[0]).read_text(encoding="ascii")


def test_several_profiles_without_dispatch_are_refused(tmp_path, out, capsys):
    assert command(*write_profiles(tmp_path, ["genoa", "haswell"]), "-o", out) == 2
    assert "only with --dispatch: see asterope-generate --help" in only_line(capsys)
    assert_old(out)


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
        *(json.dumps(plain_profile("aarch64")), []),
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
def test_profiles_that_do_not_go_together_are_refused(tmp_path, out, capsys, second, more, said):
    paths = write_profiles(tmp_path, ["genoa", "haswell"])
    if second is not None:
        raw = json.loads(paths[1].read_text(encoding="utf-8"))
        text = second if isinstance(second, str) else json.dumps({**raw, **second})
        paths[1].write_text(text, encoding="utf-8")
    line = refused(capsys, out, *paths, *(part.format(*paths) for part in more))
    assert re.search(said.format(*paths), line)


@pytest.mark.parametrize("names", [("a/x.json", "b/x.json"), ("a/x-1.json", "a/x.1.json")])
def test_two_profiles_of_the_same_name_are_refused(tmp_path, out, capsys, names):
    paths = [tmp_path / name for name in names]
    for path, machine in zip(paths, ("genoa", "haswell")):
        path.parent.mkdir(exist_ok=True)
        write_profile(path.parent, path.stem, MACHINES["x86_64"][machine])
    assert f"is that of {paths[0]}: rename one of the files" in refused(capsys, out, *paths)


BAD_NAMES = ["a b", 'a"b', "a\\", "-a", ".a", "caf\u00e9", "a\nb", "a" * 64, "fallback", "a*"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_is_none_for_a_profile_is_refused(tmp_path, out, capsys, name):
    path = tmp_path / f"{name.replace('/', '%')}.json"
    path.write_text("{}", encoding="utf-8")
    assert "rename the file" in refused(capsys, out, "--", path)
