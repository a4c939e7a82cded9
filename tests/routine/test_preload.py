"""The library put under programs: whole, silent, right in every situation, and under real ones.

What a program prints, leaves behind and exits with must be the same with the library and without.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from asterope.spaces.x86_64 import pipelines, set_pipelines, small_copies, small_sets
from copy_programs import (
    CHECKERS,
    REPOSITORY,
    Memset,
    build_preload,
    cpu_features,
    exported,
    need,
    output_of,
    profile_json,
    render,
    run,
)
from sampling import sampled

PLAIN = ("memcpy", "memmove", "mempcpy", "memset")
COPIES = {*PLAIN[:3], "__mempcpy", *(f"__{name}_chk" for name in PLAIN[:3])}
SETS = {"memset", "__memset_chk", "bzero"}
MIB = 1 << 20


# One whose pipelines need AVX2, and one that needs AVX-512 for small copies and large ones.
MASKED = small_copies.SmallTuple("masked", "ZMM", "up", 256)
LARGE = [
    pipelines.Tuple("ZMM", "T", "T", "none", 0, 0),
    pipelines.Tuple("ZMM", "T", "NT", "T0", 4, 8),
]


SETS_OF_ZMM = Memset(
    [(4096, set_pipelines.Tuple("ZMM", "T")), (MIB, set_pipelines.Tuple("ZMM", "NT"))],
    small_sets.SmallSet("masked", "ZMM", "up", 256),
)


def masked_profile(folder: Path) -> Path:
    winners = [(4096, LARGE[0]), (MIB, LARGE[1])]
    profile = json.loads(profile_json(winners, MASKED, memset=SETS_OF_ZMM))
    profile["machine"] = {"cpu": {"brand": "A CPU (TM) @ 3.20GHz"}}
    profile["search"] = {"workload": "balanced", "finished": "2026-11-20T22:19:00Z"}
    (folder / "profile.json").write_text(json.dumps(profile))
    return folder / "profile.json"


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One as the project's own build makes it, without memset, one compiled as that does, with it;
    each two folders below its routine."""
    name = "libasterope_preload.so"
    reference, masked = (tmp_path_factory.mktemp(name) for name in ("reference", "masked"))
    routine = render(REPOSITORY / "generated" / "reference" / "xeon-gold-5218.json", reference)
    build = reference / "build"
    options = (f"-DASTEROPE_ROUTINE={routine}", f"-DPython3_EXECUTABLE={sys.executable}")
    output_of("cmake", "-S", REPOSITORY, "-B", build, "-DASTEROPE_BUILD_TESTS=OFF", *options)
    output_of("cmake", "--build", build, "--target", "asterope_preload")
    (masked / "build").mkdir()
    routine = render(masked_profile(masked), masked)
    return {
        "reference": build / name,
        "masked": build_preload(routine, masked / "build" / name),
    }


@pytest.fixture(params=["reference", "masked"])
def library(request, libraries: dict[str, Path]) -> Path:
    """Where the CPU lacks what the profile needs, this tests the portable path."""
    return libraries[request.param]


@pytest.fixture
def names(library: Path, libraries: dict[str, Path]) -> set[str]:
    """What the library is to have: a routine without memset leaves libc's alone."""
    return COPIES | SETS if library == libraries["masked"] else COPIES


@pytest.fixture
def best(libraries: dict[str, Path]) -> Path:
    """The library that does the most here."""
    return libraries["masked" if set(MASKED.needs) <= cpu_features() else "reference"]


def under(library: Path | None, **more: str) -> dict[str, str]:
    """The environment of a program with the library under it, or of one without."""
    clean = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "ASTEROPE_VERBOSE")}
    return {**clean, **({"LD_PRELOAD": str(library)} if library else {}), **more}


@pytest.fixture(scope="session")
def check(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """preload_check, and beside it the library that it loads."""
    folder = tmp_path_factory.mktemp("preload_check")
    source = CHECKERS / "preload_check.c"
    flags = ["-std=gnu99", "-O2", "-Wall", "-Wextra", "-fno-builtin"]
    plugin = folder / "plugin.so"
    output_of("cc", *flags, "-shared", "-fPIC", "-DPLUGIN", source, "-o", plugin)
    program = folder / "preload_check"
    output_of("cc", *flags, "-fPIE", "-pie", source, "-o", program, "-pthread", "-ldl")
    return program


@pytest.fixture(scope="session")
def fortified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, compiled so that copies beyond the end of a buffer are found."""
    program = tmp_path_factory.mktemp("fortified") / "preload_check"
    flags = ["-std=gnu99", "-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-w"]
    output_of("cc", *flags, CHECKERS / "preload_check.c", "-o", program, "-pthread", "-ldl")
    imported = output_of("nm", "-D", "--undefined-only", program)
    if any(f"__{name}_chk" not in imported for name in PLAIN):
        pytest.skip("this compiler or libc does not call the checked functions")
    return program


# --- The library ----------------------------------------------------------------------------------


def test_it_exports_the_names_of_libc_and_no_other(library: Path, names: set[str]) -> None:
    """Not asterope_memcpy: a program that has its own would get this one in its place."""
    assert exported(library).keys() == names


def test_it_needs_nothing_of_libc_that_could_copy(library: Path) -> None:
    wanted = output_of("nm", "-D", "--undefined-only", library)
    names = {line.split()[-1].split("@")[0] for line in wanted.splitlines()}
    of_compilers = {"__cxa_finalize", "__gmon_start__"}
    of_compilers |= {"_ITM_registerTMCloneTable", "_ITM_deregisterTMCloneTable"}
    assert names - of_compilers <= {"__chk_fail", "getenv", "strcmp", "strlen", "write"}


def test_nothing_it_exports_goes_through_the_linker_s_tables(library: Path) -> None:
    """A symbol of another library with the same name cannot get in between."""
    need("readelf")
    relocations = output_of("readelf", "-rW", library)
    assert "R_X86_64_RELATIVE" in relocations  # it is a listing
    for line in relocations.splitlines():
        assert not re.search(r"\b(__)?(asterope_)?mem\w*", line), line


def test_it_is_right_before_it_is_even_relocated(
    check: Path, library: Path, names: set[str]
) -> None:
    """What the dynamic linker has mapped may be called at once."""
    assert output_of(check, "unrelocated", library) == f"{len(names)} functions\n"


def test_libc_s_names_lead_to_it(check: Path, library: Path, names: set[str]) -> None:
    """Those of programs that were linked with an old glibc as well."""
    lines = output_of(check, "origins", env=under(library)).splitlines()
    origins = dict(line.split(maxsplit=1) for line in lines)
    assert set(origins) == COPIES | SETS | {"memcpy@GLIBC_2.2.5"}
    ours = {name for name, origin in origins.items() if origin == str(library)}
    assert ours == names | {"memcpy@GLIBC_2.2.5"}
    without = output_of(check, "origins", env=under(None))
    assert str(library) not in without


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("fortify", sampled(["0", "2", "3"], 3))
def test_hardening_flags_leave_it_whole(
    compiler: str, fortify: str, library: Path, names: set[str], tmp_path: Path
) -> None:
    """With _FORTIFY_SOURCE the headers define a memcpy, and clang then drops our alias."""
    need(compiler)
    routine = library.parents[1] / "asterope_memcpy.c"
    flags = ("-Wall", "-Wextra", "-Werror", "-U_FORTIFY_SOURCE", f"-D_FORTIFY_SOURCE={fortify}")
    flags = (*flags, "-fstack-protector-strong")
    hardened = build_preload(routine, tmp_path / "library.so", *flags, compiler=compiler)
    assert exported(hardened).keys() == names


# --- ASTEROPE_VERBOSE -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "functions", "tuned"),
    [
        (
            *("masked", "memcpy, memmove, mempcpy, memset and bzero"),
            r", tuned for A CPU \(TM\) @ 3\.20GHz, balanced, 2026-11-20T22:19:00Z",
        ),
        ("reference", "memcpy, memmove and mempcpy", ""),
    ],
)
def test_it_says_in_one_line_that_it_is_in_use_and_for_which_profile(
    libraries, name, functions, tuned
):
    done = run("/bin/true", env=under(libraries[name], ASTEROPE_VERBOSE="1"))
    assert (done.returncode, done.stdout) == (0, "")
    said = rf"asterope: {functions} are generated by asterope [0-9.]+"
    assert re.fullmatch(f"{said}{tuned}\n", done.stderr)


@pytest.mark.parametrize("verbose", [None, "", "0", "2", "11", "yes"])
def test_it_says_nothing_otherwise(library: Path, verbose: str | None) -> None:
    more = {} if verbose is None else {"ASTEROPE_VERBOSE": verbose}
    done = run("/bin/true", env=under(library, **more))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_closed_stderr_is_no_fault(library: Path) -> None:
    command = ("/bin/sh", "-c", "exec 2>&-; exec /bin/echo fine")
    assert output_of(*command, env=under(library, ASTEROPE_VERBOSE="1")) == "fine\n"


# --- Situations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("situation", ["copies", "early", "signals", "fork", "threads", "dlopen"])
@pytest.mark.parametrize("with_library", [True, False], ids=["with it", "without it"])
def test_copies_and_sets_are_right(
    check: Path, library: Path, situation: str, with_library: bool
) -> None:
    """Overlapping memcpy included. Without the library: the checks hold for glibc, as they must."""
    environment = under(library if with_library else None)
    output_of(check, situation, check.with_name("plugin.so"), env=environment)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 32, 2**31 - 1])
def test_checked_copies_beyond_the_buffer_end_the_program_as_glibc_s_do(
    fortified: Path, library: Path, name: str, size: int
) -> None:
    done, plain = (run(fortified, name, size, env=under(a)) for a in (library, None))
    assert (done.returncode, done.stdout, done.stderr) == (
        *(plain.returncode, plain.stdout, plain.stderr),
    )
    if size <= 16:
        text = "0" * 16 if name == "memset" else "0123456789abcdef"
        assert (done.returncode, done.stdout) == (0, text[:size] + "\n")
    else:
        assert done.returncode == -signal.SIGABRT
        assert "buffer overflow detected" in done.stderr


# --- Real programs --------------------------------------------------------------------------------


def compressible(count: int) -> bytes:
    """Bytes with matches of many lengths and distances; the same in every run."""
    numbers = random.Random(1)
    words = [numbers.randbytes(numbers.randrange(1, 400)) for _ in range(2000)]
    parts, size = [], 0
    while size < count:
        parts.append(numbers.choice(words))
        size += len(parts[-1])
    return b"".join(parts)[:count]


def python_with_tests() -> str:
    """A Python with the test package; Debian's own leaves it out."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    pythons = [sys.executable, os.path.join(sys.base_prefix, "bin", "python3")]
    pythons += [os.path.join(f, name) for f in folders for name in ("python3", "python")]
    test = "import sys, test.test_bytes; sys.exit(sys.version_info < (3, 9))"
    for python in pythons:
        if os.access(python, os.X_OK) and run(python, "-c", test).returncode == 0:
            return python
    pytest.skip("no python3 here has the test package (Debian: libpython3-testsuite)")


@pytest.mark.slow
def test_python_passes_its_own_tests(best: Path, tmp_path: Path) -> None:
    python = python_with_tests()
    command = [python, "-m", "test", "-v", "test_bytes", "test_memoryview", "test_array"]

    def results(library: Path | None) -> dict[str, str]:
        done = run(*command, env=under(library), cwd=tmp_path)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        lines = re.findall(
            r"^(test_\w+ \(\S+\)).*? \.\.\. (\w+)", done.stdout + done.stderr, re.MULTILINE
        )
        return dict(lines)

    plain, ours = results(None), results(best)
    assert len(plain) > 500
    assert ours == plain
    assert set(ours.values()) <= {"ok", "skipped"}


GIT = {
    **{"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"},
    **{f"GIT_{who}_NAME": "a" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "a@b" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": "1700000000 +0000" for who in ("AUTHOR", "COMMITTER")},
}


@pytest.mark.slow
def test_git_commits_clones_and_checks(best: Path, tmp_path: Path) -> None:
    need("git")

    def results(library: Path | None) -> list[str]:
        folder = tmp_path / ("with" if library else "without")
        environment = under(library, **GIT)
        numbers = random.Random(2)
        output_of("git", "init", "-q", "-b", "main", folder / "origin", env=environment)
        for commit in range(8):
            for file in range(6):
                content = compressible(200_000)[numbers.randrange(9999) :][: 4 ** (file + 3)]
                (folder / "origin" / f"file{file}").write_bytes(content)
            output_of("git", "add", ".", cwd=folder / "origin", env=environment)
            output_of("git", "commit", "-qm", f"{commit}", cwd=folder / "origin", env=environment)
        clone = folder / "clone"
        output_of("git", "clone", "-q", f"file://{folder / 'origin'}", clone, env=environment)
        output_of("git", "fsck", "--full", "--strict", cwd=clone, env=environment)
        output_of("git", "gc", "-q", "--aggressive", cwd=clone, env=environment)
        output_of("git", "fsck", "--full", "--strict", cwd=clone, env=environment)
        objects = output_of("git", "rev-list", "--objects", "--all", cwd=clone, env=environment)
        files = [hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(clone.glob("file*"))]
        return [objects, *files]

    plain = results(None)
    assert len(plain[0].splitlines()) > 50
    assert results(best) == plain


SQLITE = """
import hashlib, random, sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("PRAGMA cache_size = 500")
database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, size INTEGER, content BLOB)")
database.execute("CREATE INDEX by_size ON t (size, content)")
numbers = random.Random(3)
total = 0
while total < int(sys.argv[2]):
    with database:
        for _ in range(50):
            content = numbers.randbytes(int(2 ** (numbers.random() * 16)))
            database.execute("INSERT INTO t (size, content) VALUES (?, ?)", (len(content), content))
            total += len(content)
with database:
    database.execute("DELETE FROM t WHERE id % 7 = 0")
    database.execute("UPDATE t SET content = CAST(content || content AS BLOB) WHERE id % 11 = 0")
print(database.execute("PRAGMA integrity_check").fetchall())
digest = hashlib.sha256()
for row in database.execute("SELECT id, size, content FROM t ORDER BY size, content"):
    digest.update(repr(row).encode())
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_sqlite_writes_and_checks(best: Path, tmp_path: Path) -> None:
    pytest.importorskip("sqlite3")

    def results(library: Path | None) -> tuple[str, str]:
        path = tmp_path / ("with" if library else "without")
        command = [sys.executable, "-c", SQLITE, path, 16 * MIB]
        text = output_of(*command, env=under(library))
        return text, hashlib.sha256(path.read_bytes()).hexdigest()

    plain = results(None)
    assert plain[0].startswith("[('ok',)]\n")
    assert results(best) == plain


@pytest.mark.slow
@pytest.mark.parametrize("command", [("xz", "-1", "-T1"), ("zstd", "-q", "-3")], ids=lambda c: c[0])
def test_compressors_go_there_and_back(best: Path, tmp_path: Path, command: tuple[str]) -> None:
    need(command[0])
    content = compressible(16 * MIB)

    def through(arguments: tuple[str, ...], data: bytes, library: Path | None) -> bytes:
        done = subprocess.run(
            [*arguments, "-c"], input=data, capture_output=True, check=True, timeout=120,
            env=under(library),
        )  # fmt: skip
        assert done.stderr == b""
        return done.stdout

    packed = through(command, content, best)
    assert len(packed) < len(content) / 2
    assert through(command, content, None) == packed
    assert through((command[0], "-d"), packed, best) == content
    assert through((command[0], "-d"), packed, None) == content


@contextlib.contextmanager
def redis_server(folder: Path, library: Path | None) -> Iterator[None]:
    """A server on the socket `s` in `folder`."""
    folder.mkdir()
    command = ["redis-server", "--port", "0", "--unixsocket", "s", "--save", ""]
    quiet = {"stdout": subprocess.DEVNULL, "cwd": folder, "env": under(library)}
    with subprocess.Popen(command, **quiet) as server:
        try:
            deadline = time.monotonic() + 30  # for how long to wait, not for what comes out
            while run("redis-cli", "-s", "s", "ping", cwd=folder).stdout != "PONG\n":
                assert server.poll() is None and time.monotonic() < deadline, "it does not start"
                time.sleep(0.05)
            yield
        finally:
            server.terminate()


@pytest.mark.slow
def test_redis_keeps_what_it_is_given(best: Path, tmp_path: Path) -> None:
    need("redis-server", "redis-cli", "redis-benchmark")
    content = compressible(MIB)
    keys = {f"key{i}": content[i * 37 :][: int(1.072**i)] for i in range(200)}

    def quoted(value: bytes) -> str:
        return '"' + "".join(f"\\x{byte:02x}" for byte in value) + '"'

    def results(library: Path | None) -> str:
        folder = tmp_path / ("with" if library else "without")
        lines = []
        for key, value in keys.items():
            lines += [f"SET {key} {quoted(value)}", f"APPEND {key} {quoted(value[::3])}"]
            lines += [f"GET {key}", f"GETRANGE {key} 3 -5"]
            lines += [f"SETRANGE {key} 11 {quoted(value[:99])}", f"DUMP {key}"]
        with redis_server(folder, library):
            client = ("redis-cli", "-s", "s", "--no-raw")
            answers = output_of(*client, input="\n".join(lines) + "\n", cwd=folder)
            benchmark = output_of(
                *("redis-benchmark", "-s", "s", "-q", "-n", 2000, "-c", 10, "-d", 700, "-r", 1000),
                *("-t", "set,get,incr,lpush,lrange_100,sadd,hset,zadd,mset"),
                **{"cwd": folder, "env": under(library)},
            )
            assert "rror" not in answers + benchmark
            assert benchmark.count("requests per second") >= 9
            gets = "".join(f"GET {key}\n" for key in keys)
            return answers + output_of(*client, input=gets, cwd=folder)

    plain = results(None)
    assert plain.count("(integer)") == 2 * len(keys)
    assert results(best) == plain
