"""The experiment with a Ceph client works, and leaves nothing behind. Its speed is not tested."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from command_errors import finished, only_error_of, python_settings
from copy_programs import need, need_way, run, shared_library

only_error = partial(only_error_of, "cached_reads.py")


@pytest.fixture
def experiment(repository: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs the script in an empty folder."""
    script = repository / "scripts/experiments/ceph/cached_reads.py"
    return lambda *given, **environment: finished(
        python_settings(tmp_path, script, *given, **environment), timeout=600
    )


@pytest.mark.slow
def test_a_cached_file_is_read_under_each_copy(experiment, monkeypatch, tmp_path):
    with monkeypatch.context() as with_daemons:
        with_daemons.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin:/sbin")
        need("ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds", "ceph", "monmaptool", "pgrep")
    need_way(tmp_path, "cc", "-D_FILE_OFFSET_BITS=64", "-include", "cephfs/libcephfs.h", "-lcephfs")
    library = shared_library(tmp_path / "like.so", "int unused;\n")
    asked = ("--mib", 16, "--sizes", "64K,4M", "--prefetch-nt", "--json", "json")
    done = experiment(*asked, "--", "--rounds", "6", "--copies", library)
    assert (done.returncode in (0, 3), done.stderr) == (True, ""), done
    assert done.stdout.count("6 rounds of 4 copies") == 4
    *_, head, first, second, third, fourth = done.stdout.splitlines()
    assert head.split() == ["a", "call", "alone", "copied", "libc", "copies"]
    figures = r" +\d+\.\d +\d+\.\d +\d+\.\d   "
    ratio = r" \d+\.\d\d \(\d+\.\d\d\.\.\d+\.\d\d\)"
    copies = rf"like{ratio}, prefetch_nt{ratio}; floor \(\d+\.\d\d\.\.\d+\.\d\d\)"
    for row, begin in ((first, "64 KiB    read"), (second, "64 KiB    used")):
        assert re.fullmatch(begin + figures + copies, row)
    assert (third[:15], fourth[:15]) == ("4 MiB     read ", "4 MiB     used ")
    names = {f"{use}-{size}.json" for use in ("read", "used") for size in (65536, 4194304)}
    assert {file.name for file in (tmp_path / "json").iterdir()} == names
    assert run("pgrep", "-af", f"{tmp_path}/tmp/").stdout == ""  # no daemon is left


def test_a_missing_program_is_named(experiment, tmp_path):
    """Daemons are looked for in /usr/sbin, too, but no machine has cc there."""
    message = only_error(experiment(PATH=tmp_path), 1)
    assert " is not installed: apt-get install " in message


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--mib", "7"], "not a multiple of 4"),
        (["--sizes", "100"], "not a power of two"),
        (["--sizes", "8M"], "not a power of two"),
        (["--rounds", "6"], "--rounds"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(experiment, arguments, part):
    assert part in only_error(experiment(*arguments), 2)
