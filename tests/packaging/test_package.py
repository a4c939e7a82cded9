"""The Debian package: its fields, its files, and what cpack refuses to pack."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from asterope import __version__
from packaging_samples import PROGRAMS

pytestmark = pytest.mark.slow

DEBIAN = Path(__file__).resolve().parents[2] / "scripts" / "packaging" / "debian"


def cpack(build: Path, folder: Path, gpl: bool) -> subprocess.CompletedProcess:
    for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    if not (build / "CPackConfig.cmake").exists():
        pytest.skip("this CMake is older than 3.19")
    settings = ["-D", f"CPACK_ASTEROPE_GPL={gpl:d}", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"]
    return subprocess.run(
        ["cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", folder, *settings],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def package(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, packed in whichever way the build was configured; nobody gets this one."""
    folder = tmp_path_factory.mktemp("package")
    done = cpack(build_dir, folder, gpl=False)
    assert done.returncode == 0, done.stdout
    asked = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True)
    return folder / f"asterope_{__version__}_{asked.stdout.strip()}.deb"


@pytest.fixture(scope="module")
def unpacked(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    subprocess.run(["dpkg-deb", "-R", package, folder], check=True, timeout=60)
    return folder


def test_it_depends_on_what_the_commands_need(unpacked):
    fields = dict(re.findall(r"(?m)^([\w-]+): (.*)", (unpacked / "DEBIAN/control").read_text()))
    assert (fields["Package"], fields["Version"]) == ("asterope", __version__)
    depends = re.findall(r"([\w.+-]+)(?: \([^)]*\))?", fields["Depends"])
    assert {
        "python3",
        "python3-jinja2",
        "python3-jsonschema",
        "python3-pyelftools",
        "libc6",
        "libstdc++6",
    } <= set(depends)
    assert fields["Recommends"].startswith("python3-matplotlib")


def test_the_commands_take_debians_python(unpacked):
    for program in PROGRAMS:
        content = (unpacked / "usr/bin" / program).read_bytes()
        assert content.startswith((b"\x7fELF", b"#!/usr/bin/python3\n")), program


def test_pages_and_changelog_are_compressed_and_the_licence_is_debians(unpacked):
    for program in PROGRAMS:
        assert (unpacked / f"usr/share/man/man1/{program}.1.gz").is_file()
    doc = unpacked / "usr/share/doc/asterope"
    assert {"copyright", "changelog.gz", "installing.md"} <= {path.name for path in doc.iterdir()}
    assert not (doc / "LICENSE").exists()


def test_all_is_under_usr_and_of_root(package):
    listed = subprocess.run(
        ["dpkg-deb", "-c", package], check=True, stdout=subprocess.PIPE, text=True, timeout=60
    )
    for line in listed.stdout.splitlines():
        mode, owner, *_, name = line.split(None, 5)
        assert owner == "root/root"
        assert name.startswith("./usr/")
        assert mode in ("drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--"), line


def test_the_maintainer_scripts_can_be_run_again(unpacked):
    """They do nothing where there is nothing to do, twice as well."""
    for name, action in (("postinst", "triggered"), ("prerm", "upgrade"), ("postrm", "upgrade")):
        script = unpacked / "DEBIAN" / name
        assert script.stat().st_mode & 0o777 == 0o755
        subprocess.run(["sh", "-n", script], check=True, timeout=60)
        if name != "prerm":  # which asks dpkg about an installed package
            subprocess.run(["sh", script, action], check=True, timeout=60)


def test_the_changelog_begins_with_this_version():
    assert (DEBIAN / "changelog").read_text().startswith(f"asterope ({__version__}) ")


def test_what_holds_a_copy_under_the_gpl_is_refused(build_dir, tmp_path):
    done = cpack(build_dir, tmp_path, gpl=True)
    assert done.returncode != 0
    assert "-DASTEROPE_PEER_DIETLIBC=OFF" in done.stdout
    assert not list(tmp_path.glob("*.deb"))


def test_a_build_with_dietlibc_is_known_as_such(build_dir):
    if not (build_dir / "CPackConfig.cmake").exists():
        pytest.skip("this CMake is older than 3.19")
    built_in = (build_dir / "tuner/bench/peers/peers/packaged.inc").read_text()
    config = (build_dir / "CPackConfig.cmake").read_text()
    holds = 'FOUND("dietlibc"' in built_in
    assert f'set(CPACK_ASTEROPE_GPL "{"ON" if holds else "OFF"}")' in config
