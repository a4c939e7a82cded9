"""Fetches the libraries that a cross build for AArch64 links with, from Debian, into a folder.

Usage: python tests/support/aarch64_root.py FOLDER

Prints the root, for ASTEROPE_AARCH64_ROOT. apt keeps a state of its own in the folder: neither the
system's packages nor its lists change, and any user may run it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = ("nlohmann-json3-dev", "libcli11-dev", "libgtest-dev")


class NoRootError(Exception):
    """The reason for a missing root, in one line."""


# Debian's own alone, as of others not all have this architecture; of the release that runs here,
# whose libc the cross compiler has.
SOURCE = (
    "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
    "http://deb.debian.org/debian {} main\n"
)
SETTINGS = """
APT::Architecture "arm64";
APT::Architectures "arm64";
Acquire::Languages "none";
Acquire::Retries "1";
APT::Sandbox::User "";
APT::Update::Error-Mode "any";
Debug::NoLocking "true";
Dir::Cache "{0}/cache";
Dir::State "{0}/state";
Dir::State::status "{0}/status";
Dir::Etc::sourcelist "{0}/sources.list";
Dir::Etc::sourceparts "/dev/null";
"""


def _apt(state: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["apt-get", "--quiet", "-c", state / "settings", *arguments],
        cwd=state / "packages",
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.startswith(("E:", "W:"))]
        raise NoRootError(f"apt-get {arguments[0]}: {said[0] if said else 'failed'}")


def aarch64_root(folder: Path) -> Path:
    """The root in `folder`, which is filled once. Raises NoRootError where that cannot be."""
    root, state = folder.resolve() / "root", folder.resolve() / "apt"
    if (root / "complete").exists():
        return root
    lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    facts = dict(line.replace('"', "").split("=", 1) for line in lines if "=" in line)
    if facts.get("ID") != "debian" or "VERSION_CODENAME" not in facts:
        raise NoRootError("this is not a Debian release")
    for part in ("cache/archives/partial", "state/lists/partial", "packages"):
        (state / part).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    (state / "sources.list").write_text(SOURCE.format(facts["VERSION_CODENAME"]), encoding="ascii")
    (state / "settings").write_text(SETTINGS.format(state), encoding="utf-8")
    _apt(state, "update")
    _apt(state, "download", *PACKAGES)
    for package in sorted((state / "packages").glob("*.deb")):
        subprocess.run(["dpkg-deb", "--extract", str(package), str(root)], check=True)
    for link in root.rglob("*"):  # libz.so is one to an absolute path, which would lead out
        if link.is_symlink() and os.path.isabs(target := os.readlink(link)):
            link.unlink()
            link.symlink_to(root / target[1:])
    shutil.rmtree(state)
    (root / "complete").touch()
    return root


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tests/support/aarch64_root.py FOLDER")
    try:
        print(aarch64_root(Path(sys.argv[1])))
    except NoRootError as error:
        sys.exit(f"aarch64_root: {error}")
