"""The commit that --version names: that of the sources, or unknown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from copy_programs import need, output_of

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "packaging" / "commit.cmake"


def commit_of(source: Path) -> str:
    """Which the header beside it names; it is left alone where nothing changed."""
    header = source.parent / "commit.hpp"
    command = ("cmake", f"-DSOURCE={source}", f"-DHEADER={header}", "-P", SCRIPT)
    output_of(*command)
    before = header.stat().st_mtime_ns
    output_of(*command)
    assert header.stat().st_mtime_ns == before
    return re.search('kCommit.. = "(.*)"', header.read_text())[1]


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    return output_of("git", *settings, *arguments, cwd=folder).strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    need("git")
    folder = tmp_path / "check out"
    folder.mkdir()
    git(folder, "init")
    (folder / "file").write_text("one\n")
    git(folder, "add", "file")
    git(folder, "commit", "-m", "One")
    return folder


def test_the_commit_is_named_and_changes_to_it_are(checkout):
    commit = git(checkout, "rev-parse", "--short", "HEAD")
    assert commit_of(checkout) == commit
    git(checkout, "tag", "v1")  # a tag does not take the commit's place
    (checkout / "not added").write_text("")
    assert commit_of(checkout) == commit
    (checkout / "file").write_text("two\n")
    assert commit_of(checkout) == f"{commit}-dirty"


def test_sources_that_are_no_checkout_of_their_own_have_none(checkout, tmp_path):
    inner = checkout / "inner"  # in another project's
    inner.mkdir()
    assert commit_of(inner) == "unknown"
    (tmp_path / "without Git").mkdir()
    assert commit_of(tmp_path / "without Git") == "unknown"


def test_a_git_hook_does_not_mislead(checkout, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init")
    commit = git(checkout, "rev-parse", "--short", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert commit_of(checkout) == commit


@pytest.mark.parametrize("program", ["asterope-tune", "asterope-bench"])
def test_the_programs_name_version_commit_and_compiler(build_dir, program):
    commit = r"commit (unknown|[0-9a-f]{7,40}(-dirty)?)"
    compiler = r"(gcc|clang) \d+\.\d+\.\d+"
    not_measured = r"(aarch64: .* measured no speed .*\n)?"
    version = rf"{program} \d+\.\d+\.\d+ \({commit}, {compiler}\)\n{not_measured}"
    assert re.fullmatch(version, output_of(build_dir / program, "--version"))
