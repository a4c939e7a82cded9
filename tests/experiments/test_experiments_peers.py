"""Other people's copies, as scripts/experiments/peers fetches and builds them.

Indexes of packages are made up: apt-get, apt-cache, dpkg and pip3 in PATH hand out what lies in a
folder. No test sees what the true packages hold, as that needs a network.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import re
import signal
import subprocess
import sys
import zipfile
from datetime import date
from pathlib import Path

import pytest
from command_errors import assert_gone, interrupted, only_error_of, run_command, script
from copy_programs import cpu_features, need, shared_library

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="nearly all of them are for x86-64"
)

# by this Python, as a version manager's would put a folder of its own before those in PATH
COMMAND = (sys.executable, Path(__file__).parents[2] / "scripts/experiments/peers")


def copying(name: str, first: str = "") -> str:
    return (
        f"{first} void *{name}(void *to, const void *from, __SIZE_TYPE__ bytes) {{\n"
        "char *t = (char *)to; const char *f = (const char *)from;\n"
        "while (bytes--) *t++ = *f++;\nreturn to; }\n"
    )


def setting(name: str) -> str:
    return (
        f"void *{name}(void *to, int value, __SIZE_TYPE__ bytes) {{\n"
        "char *t = (char *)to; while (bytes--) *t++ = value;\nreturn to; }\n"
    )


class Index:
    """Folders of made-up packages, and the commands in PATH that hand them out."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin = folder / "index", folder / "bin"
        self.folder.mkdir()
        self.bin.mkdir()
        self.environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        script(
            self.bin / "apt-get",
            "#!/bin/sh\nfor last; do\n"
            f'  for found in {self.folder}/"$last"_*.deb; do\n'
            '    [ ! -e "$found" ] || { cp "$found" .; copied=yes; }\n  done\ndone\n'
            '[ "$copied" ] || [ "$last" = update ] || { echo "E: no $last" >&2; exit 1; }\n',
        )
        script(self.bin / "apt-cache", "#!/bin/sh\n")
        script(self.bin / "dpkg", '#!/bin/sh\nmkdir -p "$3" && tar -xf "$2" -C "$3"\n')
        script(
            self.bin / "pip3",
            "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ $1 = -d ] && folder=$2; shift; done\n"
            f'cp {self.folder}/$(echo "$1" | tr - _)-*.whl "$folder" 2>/dev/null ||\n'
            '{ echo "ERROR: no distribution of $1" >&2; exit 1; }\n',
        )

    def deb(self, name: str, files: Path) -> None:
        subprocess.run(["tar", "-cf", self.folder / name, "-C", files, "."], check=True)

    def archive(self, path: Path, texts: dict[str, str]) -> None:
        path.parent.mkdir(parents=True)
        objects = path.parent.parent / "objects"
        objects.mkdir()
        for name, text in texts.items():
            flags = ("-c", "-O1", "-fPIC", "-ffreestanding", "-fno-tree-loop-distribute-patterns")
            source = objects / f"{name}.c"
            source.write_text(text)
            subprocess.run(["gcc", *flags, "-o", objects / name, source], check=True)
        members = [objects / name for name in texts]
        subprocess.run(["ar", "rc", path, *members], check=True)

    def peers(self, *arguments: object):
        return run_command(*COMMAND, *arguments, env=self.environment)


@pytest.fixture
def empty(tmp_path: Path) -> Index:
    need("gcc", "g++", "ar", "nm", "tar")
    return Index(tmp_path)


@pytest.fixture
def index(empty: Index, tmp_path: Path) -> Index:
    """With musl's package, and a wheel of Intel's."""
    texts = {
        "memcpy.lo": copying("memcpy"),
        "memset.lo": setting("memset"),
        "strlen.lo": "int more(void); int strlen(void) { return more(); }",
    }
    empty.archive(tmp_path / "musl/usr/lib/libc.a", texts)
    empty.deb("musl-dev_1%3a1.2.3-1_amd64.deb", tmp_path / "musl")
    names = ("__intel_memcpy", "__intel_new_memcpy", "__intel_unheard_of_memcpy")
    library = shared_library(tmp_path / "libintlc.so.5", "".join(map(copying, names)))
    wheel = empty.folder / "intel_cmplr_lib_rt-2026.1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.write(library, "intel_cmplr_lib_rt-2026.1.data/data/lib/libintlc.so.5")
    return empty


def copies(option: str) -> bool:
    """Whether the function that the line names copies right."""
    place = option.split("=", 1)[1]
    path, symbol = place.rsplit(":", 1)
    function = getattr(ctypes.CDLL(path), symbol)
    function.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    to = ctypes.create_string_buffer(300)
    function(ctypes.addressof(to), bytes(range(250)), 250)
    return to.raw == bytes(range(250)) + bytes(50)


def test_copies_are_named_for_the_bench_and_absent_ones_with_the_reason(
    build_dir, shipped, index, tmp_path
):
    made = tmp_path / "made"
    done = index.peers(made)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"--peer musl-1.2.3={made}/musl/musl.so:memcpy",
        f"--peer intel-2026.1-generic={made}/intel/libintlc.so.5:__intel_memcpy",
    ]
    assert all(map(copies, done.stdout.splitlines()))
    missing = ("dietlibc", "llvm", "libdpdk", "glibc-trixie", "glibc-sid", "ipp")
    told = done.stderr.splitlines()
    for name, line in zip(missing, told, strict=False):
        assert line.startswith(f"peers: {name} is left out: ")
    assert len(told) == len(missing)
    assert told[0].endswith("apt-get: E: no dietlibc-dev")
    assert told[-1].endswith("pip3: ERROR: no distribution of ipp")
    assert {one.name for one in made.iterdir()} == {"musl", "intel"}

    bench = (build_dir / "asterope-bench", "--routine", shipped, *done.stdout.split())
    few = ("--suite", "hot", "--sizes", "1K", "--rounds", "3", "--json", tmp_path / "report.json")
    timed = run_command(*bench, *few)
    assert (timed.returncode, timed.stderr) == (0, "")
    report = json.loads((tmp_path / "report.json").read_text())
    assert [one["name"] for one in report["copies"][2:]] == ["musl-1.2.3", "intel-2026.1-generic"]


RELEASES = COMMAND[1].with_name("releases")


@pytest.mark.slow
def test_the_page_of_releases_has_the_version_the_date_and_the_speed_of_each_copy(
    shipped, index, tmp_path
):
    told = (tmp_path / "made", "--routine", shipped, "--sizes", "64,4K,1M,4M", "--rounds", "3")
    done = run_command(sys.executable, RELEASES, *told, env=index.environment)
    assert done.returncode == 0, done.stderr
    cells = [line.strip("|").split("|") for line in done.stdout.splitlines() if line[:1] == "|"]
    today = date.today().isoformat()
    written = {row[0]: row[1:] for row in cells}
    assert written["musl"] == ["1.2.3-1", today]
    assert written["intel"] == ["2026.1", today]
    situations = written["copy"]
    assert len(situations) == 7
    for name in ("asterope", "musl-1.2.3", "intel-2026.1-generic"):
        ratios = [float(text.strip("*")) for text in written[name]]
        assert len(ratios) == len(situations) and min(ratios) > 0
    assert sum(text.startswith("**") for row in cells for text in row) == len(situations)
    assert re.search(r"In \d+ of \d+ cells a copy is surely faster", done.stdout)


def test_a_second_run_takes_the_copies_that_are_there_and_asks_for_the_rest(index, tmp_path):
    first = index.peers(tmp_path / "made")
    for package in index.folder.iterdir():
        package.unlink()
    second = index.peers(tmp_path / "made")
    assert (second.stdout, second.stderr) == (first.stdout, first.stderr)
    reader, writer = os.pipe()
    os.close(reader)  # as that of `head`, which has read enough
    command = [*COMMAND, tmp_path / "made"]
    cut = subprocess.run(command, env=index.environment, stdout=writer, stderr=subprocess.PIPE)
    assert (cut.returncode, cut.stderr) == (-signal.SIGPIPE, b"")
    os.close(writer)


def test_sets_and_references_are_named_where_they_are_asked_for(index, tmp_path):
    made = tmp_path / "made"
    sets = index.peers(made, "--operation", "memset")
    assert sets.stdout.splitlines() == [f"--peer musl-1.2.3={made}/musl/musl.so:memset"]
    assert index.peers(made, "--references").stdout.splitlines() == [
        f"--reference musl-1.2.3={made}/musl/musl.so:memcpy,memset",
        f"--reference intel-2026.1-generic={made}/intel/libintlc.so.5:__intel_memcpy",
    ]


@pytest.mark.parametrize("program", [COMMAND[1], RELEASES], ids=lambda path: path.name)
def test_without_any_it_fails(empty, tmp_path, program):
    done = run_command(sys.executable, program, tmp_path / "made", env=empty.environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == "peers: there is no memcpy to measure against"
    assert list((tmp_path / "made").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "required: FOLDER"),
        (["made", "folly"], "'folly' names no checkout of aocl-libmem, bionic"),
        (["made", "foly=."], "'foly=.' names no checkout"),
        (["made", "folly=missing"], "folly: there is no folder missing"),
        (["made", "folly="], "folly: there is no folder named"),
        (["in here"], "at its blank"),
        (["/dev/null/made"], "cannot make /dev/null/made: Not a directory"),
        (["made", "--operation", "memmove"], "memmove"),
        (["made", "--operation", "memset", "--references"], "not allowed with"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(empty, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert said in only_error_of("peers", empty.peers(*arguments), 2)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing_half_built(index, tmp_path, number):
    started, made = tmp_path / "started", tmp_path / "made"
    script(index.bin / "apt-get", f"#!/bin/sh\nsleep 600 & echo $$ $! > {started}\nwait\n")
    command = [*COMMAND, made]
    done = interrupted(
        command,
        lambda _: started.exists() and bool(started.read_text()),
        number,
        env=index.environment,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "peers: interrupted\n")
    assert list(made.iterdir()) == []
    assert_gone(started.read_text().split())


# --- Checkouts ---

REP_MOVSB = "mov %rdi, %rax\n mov %rdx, %rcx\n rep movsb\n ret\n"
BIONIC = "libc/arch-x86_64/string"
# The files that are read of each, with a copy of the name that theirs has.
CHECKOUTS = {
    "folly": {
        "folly/memcpy.S": f".globl __folly_memcpy\n__folly_memcpy: {REP_MOVSB}",
        "folly/memset.S": ".globl __folly_memset\n__folly_memset: ret\n",
    },
    "bionic": {
        f"{BIONIC}/sse2-memmove-slm.S": "#include <private/bionic_asm.h>\nENTRY(memcpy) "
        f"cmp __x86_shared_cache_size(%rip), %rdx\n {REP_MOVSB}",
        f"{BIONIC}/avx2-memset-kbl.S": ".globl memset_avx2\nmemset_avx2: ret\n",
        "libc/private/bionic_asm.h": "#define ENTRY(name) .globl name; name:\n",
    },
    "clickhouse": {
        "base/glibc-compatibility/memcpy/memcpy.h": copying("inline_memcpy", "static"),
    },
    "dpdk": {
        "lib/eal/x86/include/rte_memcpy.h": "#include <rte_config.h>\n#include <stddef.h>\n"
        "#if RTE_CACHE_LINE_SIZE != 64\n#error\n#endif\n" + copying("rte_memcpy", "static"),
        "config/rte_config.h": "#include <rte_build_config.h>\n",
    },
    "aocl-libmem": {
        "src/libmem.c": copying("memcpy") + setting("memset"),
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(own LANGUAGES C)\n"
        "add_library(aocl-libmem SHARED src/libmem.c)\n"
        "file(WRITE ${CMAKE_SOURCE_DIR}/hook [[]])\n",
        "include/none": "",
        "tools/none": "",
    },
    "llvm-libc": {
        "libc/src/string/memory_utils/inline_memcpy.h": copying("memcpy", 'extern "C"'),
        "libc/src/string/memcpy.cpp": '#include "src/string/memory_utils/inline_memcpy.h"\n',
        "libc/src/string/memmove.cpp": "",
        "libc/src/string/mempcpy.cpp": "",
        "libc/src/string/memset.cpp": 'extern "C" {' + setting("memset") + "}",
    },
    "stringzilla": {
        "include/stringzilla/memory.h": "#include <stddef.h>\n"
        "typedef char *sz_ptr_t; typedef const char *sz_cptr_t; typedef unsigned char sz_u8_t;\n"
        "static void sz_copy(char *t, const char *f, size_t n) { while (n--) *t++ = *f++; }\n"
        "static void sz_move(char *t, const char *f, size_t n) { sz_copy(t, f, n); }\n"
        "static void sz_fill(char *t, size_t n, sz_u8_t v) { while (n--) *t++ = (char)v; }\n",
    },
}

TOOLS = {"aocl-libmem": "cmake", "llvm-libc": "clang++"}


def checkout(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("name", CHECKOUTS)
def test_a_checkout_is_compiled_and_left_as_it_was(empty, tmp_path, name):
    need(TOOLS.get(name, "gcc"))
    source = checkout(tmp_path / "checkout", CHECKOUTS[name])
    before = {path: path.stat().st_mtime_ns for path in source.rglob("*")}
    done = empty.peers(tmp_path / "made", f"{name}={source}")
    if name in ("folly", "bionic") and "avx2" not in cpu_features():
        assert f"peers: {name} is left out: this CPU lacks avx2" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines and all(line.startswith(f"--peer {name}") for line in lines)
    assert all(map(copies, lines))
    assert {path: path.stat().st_mtime_ns for path in source.rglob("*")} == before
    assert [one.name for one in (tmp_path / "made").iterdir()] == [name]


@pytest.mark.parametrize("name", CHECKOUTS)
def test_a_damaged_checkout_is_left_out_in_one_line(empty, tmp_path, name):
    need(TOOLS.get(name, "gcc"))
    if name in ("folly", "bionic") and "avx2" not in cpu_features():
        pytest.skip("it is left out for what the CPU lacks")
    first = next(iter(CHECKOUTS[name]))
    broken = checkout(tmp_path / "broken", {**CHECKOUTS[name], first: "#error it is broken\n"})
    lacking = checkout(tmp_path / "lacking", CHECKOUTS[name])
    (lacking / first).unlink()
    for source, said in ((broken, "it is broken"), (lacking, f"has no {first}")):
        before = sorted(source.rglob("*"))
        done = empty.peers(tmp_path / "made", f"{name}={source}")
        told = [line for line in done.stderr.splitlines() if f" {name} is left out: " in line]
        assert len(told) == 1 and said in told[0]
        assert sorted(source.rglob("*")) == before
        assert list((tmp_path / "made").iterdir()) == []


# --- A newer glibc ---


def test_each_variant_of_a_newer_glibc_that_this_cpu_runs_is_a_peer(empty, tmp_path):
    """Of Debian's packages alone, whose mirror newer-glibc takes from the system's own sources."""
    keys = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
    sources = [Path("/etc/apt/sources.list"), *Path("/etc/apt").glob("sources.list.d/*")]
    if not keys.exists() or not any(
        "/debian" in one.read_text() for one in sources if one.is_file()
    ):
        pytest.skip("needs apt with a Debian mirror among its sources")

    variants = ("__memcpy_sse2_unaligned", "__memmove_sse2_unaligned_erms")
    texts = {
        "memmove-sse2-unaligned-erms.o": "".join(
            map(copying, (*variants, "__mempcpy_sse2_unaligned_erms"))
        ),
        "memmove-avx-unaligned-erms-rtm.o": copying("__memcpy_avx_unaligned_rtm"),
        "memset-sse2-unaligned-erms.o": setting("__memset_sse2_unaligned")
        + setting("__memset_sse2_unaligned_erms"),
        "memset-erms.o": setting("__memset_erms"),
        "memcpy.o": "int more(void); int memcpy_is_not_taken(void) { return more(); }",
    }
    tree = tmp_path / "libc6"
    empty.archive(tree / "usr/lib/libc.a", texts)
    script(tree / "usr/lib/ld-linux-x86-64.so.2", "#!/bin/sh\n")
    for package in ("libc6", "libc6-dev"):
        empty.deb(f"{package}_2.99-1_amd64.deb", tree)
    done = empty.peers(tmp_path / "made")
    found = [line.split("=")[0] for line in done.stdout.splitlines()]
    assert "--peer glibc-sid-sse2_unaligned" in found, done.stderr
    assert ("--peer glibc-sid-avx_unaligned_rtm" in found) == ("rtm" in cpu_features())
    assert all(map(copies, done.stdout.splitlines()))
    sets = empty.peers(tmp_path / "made", "--operation", "memset").stdout
    assert "--peer glibc-sid-sse2_unaligned=" in sets and ":__memset_sse2_unaligned\n" in sets


@pytest.mark.parametrize("count", [0, 3])
def test_newer_glibc_refuses_another_number_of_arguments(tmp_path, count):
    done = run_command(COMMAND[1].with_name("newer-glibc"), *[tmp_path / "made"] * count)
    assert "newer-glibc FOLDER [SUITE]" in only_error_of("newer-glibc", done, 2)
    assert list(tmp_path.iterdir()) == []
