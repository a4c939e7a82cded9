"""The Debian package: its fields and its files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from asterope import __version__
from command_errors import run_command
from copy_programs import REPOSITORY, need, output_of
from packaging_samples import PROGRAMS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def package(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, packed as the build was configured; this one is not given to users."""
    need("cpack", "dpkg-deb", "dpkg-shlibdeps")
    config = build_dir / "CPackConfig.cmake"
    if not config.exists():
        pytest.skip("this CMake is older than 3.19")
    folder = tmp_path_factory.mktemp("package")
    command = ("cpack", "-G", "DEB", "--config", config, "-B", folder)
    quick = ("-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")
    done = run_command(*command, *quick, cwd=folder, timeout=300)
    assert done.returncode == 0, done
    architecture = output_of("dpkg", "--print-architecture").strip()
    return folder / f"asterope_{__version__}_{architecture}.deb"


@pytest.fixture(scope="module")
def unpacked(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    output_of("dpkg-deb", "-R", package, folder)
    return folder


def test_it_depends_on_the_packages_that_its_commands_need(unpacked):
    fields = dict(re.findall(r"(?m)^([\w-]+): (.*)", (unpacked / "DEBIAN/control").read_text()))
    assert (fields["Package"], fields["Version"]) == ("asterope", __version__)
    depends = set(re.findall(r"([\w.+-]+)(?: \([^)]*\))?", fields["Depends"]))
    modules = {f"python3-{module}" for module in ("jinja2", "jsonschema", "pyelftools")}
    assert {"python3", "libc6", "libstdc++6", *modules} <= depends
    assert fields["Recommends"].startswith("python3-matplotlib")


def test_files_are_where_and_as_debian_wants_them(package, unpacked):
    for program in PROGRAMS:
        content = (unpacked / "usr/bin" / program).read_bytes()
        assert content.startswith((b"\x7fELF", b"#!/usr/bin/python3\n")), program
        assert (unpacked / f"usr/share/man/man1/{program}.1.gz").is_file()
    doc = unpacked / "usr/share/doc/asterope"
    assert {"copyright", "changelog.gz", "README.md"} <= {path.name for path in doc.iterdir()}
    assert not (doc / "LICENSE").exists()
    changelog = (REPOSITORY / "scripts/packaging/debian/changelog").read_text()
    assert changelog.startswith(f"asterope ({__version__}) ")
    for line in output_of("dpkg-deb", "-c", package).splitlines():
        mode, owner, *_, name = line.split(None, 5)
        assert owner == "root/root" and name.startswith("./usr/")
        assert mode in ("drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--"), line


def test_the_maintainer_scripts_can_be_run_again(unpacked):
    """They do nothing where there is nothing to do, twice as well."""
    for name, action in (("postinst", "triggered"), ("prerm", "upgrade"), ("postrm", "upgrade")):
        script = unpacked / "DEBIAN" / name
        assert script.stat().st_mode & 0o777 == 0o755
        output_of("sh", "-n", script)
        if name != "prerm":  # which asks dpkg about an installed package
            output_of("sh", script, action)
