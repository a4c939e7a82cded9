"""The commit that --version names: that of the sources, or unknown."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from copy_programs import REPOSITORY, need, output_of

SCRIPT = REPOSITORY / "scripts" / "packaging" / "commit.cmake"


def commit_of(source: Path) -> str:
    """The commit that the header beside it names, also in a hook of another repository. The header
    is left alone where nothing changed."""
    header = source.parent / "commit.hpp"
    command = ("cmake", f"-DSOURCE={source}", f"-DHEADER={header}", "-P", SCRIPT)
    in_a_hook = {**os.environ, "GIT_DIR": str(source.parent / "other" / ".git")}
    output_of(*command, env=in_a_hook)
    before = header.stat().st_mtime_ns
    output_of(*command, env=in_a_hook)
    assert header.stat().st_mtime_ns == before
    return re.search('kCommit.. = "(.*)"', header.read_text())[1]


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    return output_of("git", *settings, *arguments, cwd=folder).strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    need("git")
    git(tmp_path, "init", "other")
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


@pytest.mark.parametrize("program", ["asterope-tune", "asterope-bench"])
def test_the_programs_name_version_commit_and_compiler(build_dir, program):
    commit = r"commit (unknown|[0-9a-f]{7,40}(-dirty)?)"
    compiler = r"(gcc|clang) \d+\.\d+\.\d+"
    not_measured = r"(aarch64: .* measured no speed .*\n)?"
    version = rf"{program} \d+\.\d+\.\d+ \({commit}, {compiler}\)\n{not_measured}"
    assert re.fullmatch(version, output_of(build_dir / program, "--version"))
