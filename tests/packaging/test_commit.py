"""The commit that --version names: that of the sources, or unknown."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "packaging" / "commit.cmake"

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def commit_of(source: Path, header: Path) -> str:
    command = ["cmake", f"-DSOURCE={source}", f"-DHEADER={header}", "-P", SCRIPT]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return re.search('kCommit.. = "(.*)"', header.read_text())[1]


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", *settings, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "check out"
    folder.mkdir()
    git(folder, "init")
    (folder / "file").write_text("one\n")
    git(folder, "add", "file")
    git(folder, "commit", "-m", "One")
    return folder


@needs_git
def test_the_commit_is_named_and_changes_to_it_are(checkout, tmp_path):
    commit = git(checkout, "rev-parse", "--short", "HEAD")
    assert commit_of(checkout, tmp_path / "commit.hpp") == commit
    git(checkout, "tag", "v1")  # a tag does not take the commit's place
    (checkout / "not added").write_text("")
    assert commit_of(checkout, tmp_path / "commit.hpp") == commit
    (checkout / "file").write_text("two\n")
    assert commit_of(checkout, tmp_path / "commit.hpp") == f"{commit}-dirty"


@needs_git
def test_sources_inside_another_projects_checkout_have_none(checkout, tmp_path):
    inner = checkout / "inner"
    inner.mkdir()
    assert commit_of(inner, tmp_path / "commit.hpp") == "unknown"


@needs_git
def test_a_git_hook_does_not_mislead(checkout, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init")
    commit = git(checkout, "rev-parse", "--short", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert commit_of(checkout, tmp_path / "commit.hpp") == commit


def test_sources_without_git_have_none(tmp_path):
    assert commit_of(tmp_path, tmp_path / "commit.hpp") == "unknown"


def test_the_header_is_left_alone_where_nothing_changed(tmp_path):
    header = tmp_path / "commit.hpp"
    commit_of(tmp_path, header)
    before = header.stat()
    commit_of(tmp_path, header)
    assert header.stat().st_mtime_ns == before.st_mtime_ns


def test_the_programs_name_version_commit_and_compiler(build_dir):
    for program in ("asterope-tune", "asterope-bench"):
        done = subprocess.run(
            [build_dir / program, "--version"], capture_output=True, text=True, timeout=60
        )
        commit = r"commit (unknown|[0-9a-f]{7,40}(-dirty)?)"
        compiler = r"(gcc|clang) \d+\.\d+\.\d+"
        not_measured = r"(aarch64: .* measured no speed .*\n)?"
        assert re.fullmatch(
            rf"{program} \d+\.\d+\.\d+ \({commit}, {compiler}\)\n{not_measured}", done.stdout
        )
