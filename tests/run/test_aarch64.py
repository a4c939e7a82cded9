"""AArch64 as a user meets it, in an emulator: from the cross build to a routine that copies right,
and other outputs of the commands. Nothing here looks at a time: an emulator's mean nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from architectures import AARCH64, WITHOUT_SVE
from asterope import __version__
from asterope.profile import load_profile
from asterope.record.raw import RawProcess
from command_errors import json_lines, only_error_of, run_command
from conftest import BUILD, CPUS, REPOSITORY
from copy_programs import assert_right, need, output_of
from profile_samples import of
from recorded_programs import FLAGS, HERE, Recorder, copies, said

(COMPILER,) = AARCH64.gcc
pytestmark = [pytest.mark.slow, pytest.mark.long, *AARCH64.marks(slow=False)]

WITH_SVE, LONGER_VECTORS = (f"max,sve{bits}=on" for bits in (256, 512))
RUN = ("--rigor", "quick", "--sizes", "1K,64K", "--threads", "1", "--log", "trials.jsonl")
NO_SPEED = "aarch64: checked in emulation alone; this project has measured no speed on such"


# --- The cross build: it stays in the build folder, and a later run compiles the changes ----------

# Debian's libraries that are headers, alike for all architectures, and the sources of googletest.
HEADERS = ("include/nlohmann", "include/CLI", "share/cmake/nlohmann_json", "share/cmake/CLI11")
GOOGLETEST = Path("/usr/src/googletest")


@pytest.fixture(scope="module")
def configured() -> Path:
    need("cmake", "ninja", "aarch64-linux-gnu-g++")
    missing = [str(part) for part in (*HEADERS, GOOGLETEST) if not Path("/usr", part).exists()]
    if missing:
        pytest.skip(f"there are no libraries of Debian's to build with: {', '.join(missing)}")
    folder, root = BUILD / "aarch64" / "build", BUILD / "aarch64" / "libraries"
    for part in HEADERS:
        shutil.copytree(Path("/usr", part), root / "usr" / part, dirs_exist_ok=True)
    toolchain = REPOSITORY / "scripts/packaging/cmake/aarch64-linux-gnu.cmake"
    output_of(
        *("cmake", "-S", REPOSITORY, "-B", folder, "-G", "Ninja", f"--toolchain={toolchain}"),
        *(f"-DASTEROPE_AARCH64_ROOT={root}", f"-DPython3_EXECUTABLE={sys.executable}"),
        *("-DASTEROPE_BUILD_TESTS=ON", f"-DFETCHCONTENT_SOURCE_DIR_GOOGLETEST={GOOGLETEST}"),
    )
    return folder


@pytest.fixture(scope="module")
def built(configured: Path) -> Callable[..., Path]:
    """Builds these targets; returns the folder."""

    def build(*targets: str) -> Path:
        command = ("cmake", "--build", configured, "--parallel", len(CPUS), "--target")
        done = run_command(*command, *targets, timeout=None)
        assert done.returncode == 0, done.stdout[-4000:] + done.all_stderr[-4000:]
        return configured

    return build


@dataclass(frozen=True)
class Emulated:
    """The programs of the build on one CPU, in a folder of its own, which is the home, too."""

    cpu: str
    build: Path
    folder: Path

    def run(self, program: str, *arguments: object) -> subprocess.CompletedProcess:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("ASTEROPE_", "XDG_"))}
        environment = {**clean, "HOME": str(self.folder), "CC": COMPILER}
        # QEMU asks for no huge pages, and a host may take 30 us to give back one that it took.
        small = ("prlimit", f"--rss={128 << 20}")
        command = (*small, *AARCH64.emulated(self.cpu), self.build / program, *arguments)
        return run_command(*command, cwd=self.folder, env=environment, timeout=1200)


@pytest.fixture(scope="module")
def programs(built: Callable[..., Path]) -> Path:
    return built("asterope-tune", "asterope-bench", "asterope_record")


# --- One search, through to the routine -----------------------------------------------------------


@dataclass(frozen=True)
class Tuned(Emulated):
    done: subprocess.CompletedProcess

    def profile(self) -> dict:
        return load_profile(self.folder / "p.json").raw

    def has_sve(self) -> bool:
        return self.cpu == WITH_SVE


@pytest.fixture(scope="module", params=[WITH_SVE, WITHOUT_SVE])
def tuned(
    request: pytest.FixtureRequest, programs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Tuned:
    machine = Emulated(request.param, programs, tmp_path_factory.mktemp("tuned"))
    done = machine.run("asterope-tune", *RUN, "-o", "p.json")
    assert (done.returncode, done.stderr) == (0, "")
    return Tuned(machine.cpu, machine.build, machine.folder, done)


def test_a_search_ends_with_a_routine_that_was_examined(tuned: Tuned) -> None:
    """Compiled, loaded and timed beside libc: all of that within the emulator."""
    routine = {"asterope_memcpy.c", "asterope_memcpy.h"}
    assert {path.name for path in tuned.folder.iterdir()} == {"p.json", "trials.jsonl"} | routine
    profile = tuned.profile()
    assert (profile["architecture"], profile["complete"]) == ("aarch64", True)
    assert of(profile)[-1]["size"] == 64 << 10
    assert all(profile["exam"][operation]["cells"] > 10 for operation in ("memcpy", "memset"))
    assert "was not examined" not in tuned.done.all_stderr


def test_every_candidate_that_the_cpu_can_run_copies_right_and_is_timed(tuned: Tuned) -> None:
    profile = tuned.profile()
    assert profile["search"]["invalid"] == []
    features = profile["machine"]["cpu"]["features"]
    assert ("sve256" in features, "sve" in features) == (tuned.has_sve(),) * 2
    lines = json_lines(tuned.folder / "trials.jsonl")
    assert lines[0]["architecture"] == "aarch64"
    timed = {line["candidate"].split()[0] for line in lines if "candidate" in line}
    assert {"libc", "Q", "X"} <= timed
    assert ("SVE" in timed) == tuned.has_sve()
    assert ("MOPS" in timed) == ("mops" in AARCH64.features_of(tuned.cpu))


def test_the_profile_says_why_no_copy_senses(tuned: Tuned) -> None:
    """The emulator's counter goes on in steps of 16 ns at least; QEMU 10 hides its rate."""
    profile = tuned.profile()
    reason = profile["search"]["no_sensing"]
    assert reason.startswith(("the counter moves in steps of ", "the rate of the counter is not "))
    assert f"no copies that sense: {reason}" in tuned.done.stdout
    assert not any("probe" in one.get("copies", {}) for one in profile["choices"])


@pytest.mark.parametrize("cpu", [WITH_SVE, WITHOUT_SVE])
def test_the_routine_copies_and_sets_right_on_any_cpu(
    tuned: Tuned, objects: Path, tmp_path: Path, cpu: str
) -> None:
    """On one that lacks features of the tuned one, too."""
    for name in ("asterope_memcpy.c", "asterope_memcpy.h"):
        shutil.copy(tuned.folder / name, tmp_path)
    routine = tmp_path / "asterope_memcpy.c"
    check = AARCH64.routine_check(routine, objects)
    ends = ",".join(str(one["up_to"]) for one in of(tuned.profile()))
    options = ("--step", 29, "--other-step", 31, "--largest", 131072, "--around", ends)
    assert_right(*AARCH64.emulated(cpu), check, *options, sets=True)


def test_a_profile_fits_its_own_cpu_and_is_stale_on_another(tuned: Tuned) -> None:
    fits = tuned.run("asterope-tune", "check", "p.json")
    assert (fits.returncode, fits.stdout.splitlines()[0]) == (0, "p.json fits this machine")
    others = [WITHOUT_SVE, LONGER_VECTORS] if tuned.has_sve() else [WITH_SVE]
    for other in others:
        stale = replace(tuned, cpu=other).run("asterope-tune", "check", "p.json")
        assert (stale.returncode, stale.stdout.splitlines()[0]) == (3, "p.json is stale:")
        features = next(line for line in stale.stdout.splitlines() if "cpu.features: " in line)
        assert "sve256" in features
        assert ("sve512 only here" in features) == (other == LONGER_VECTORS)


def test_a_replay_of_the_log_finds_the_same(tuned: Tuned, tmp_path: Path) -> None:
    again = tmp_path / "replayed.json"
    replayed = ("replay", "trials.jsonl", "-o", again, "--no-generate", "--verbose")
    done = tuned.run("asterope-tune", *replayed)
    assert done.returncode == 0, done.stderr
    assert again.read_bytes() == (tuned.folder / "p.json").read_bytes()
    assert " variants, tried around the best" in done.stdout


def test_the_bench_times_the_routine_beside_libc(tuned: Tuned, tmp_path: Path) -> None:
    library = tmp_path / "libroutine.so"
    source = tuned.folder / "asterope_memcpy.c"
    output_of(COMPILER, "-O2", "-shared", "-fPIC", source, "-o", library)
    bench = ("--routine", library, "--sizes", "1K", "--suite", "hot")
    done = tuned.run("asterope-bench", *bench, "--rounds", "3", "--json", tmp_path / "b.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "asterope_memcpy" in (tmp_path / "b.json").read_text(encoding="utf-8")


# --- Other commands -------------------------------------------------------------------------------


@pytest.mark.parametrize("program", ["asterope-tune", "asterope-bench"])
def test_the_version_says_that_no_speed_was_measured(tuned: Tuned, program: str) -> None:
    done = tuned.run(program, "--version")
    first, second = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert first.startswith(f"{program} {__version__} (")
    assert second.startswith(NO_SPEED)


def test_causes_of_slow_copies_are_measured_and_there_are_no_tunables(
    tuned: Tuned, tmp_path: Path
) -> None:
    done = tuned.run("asterope-tune", "diagnose", "--quick", "--json", tmp_path / "d.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "d.json").read_text(encoding="utf-8"))
    done = tuned.run("asterope-tune", "tunables")
    assert "no tunables to choose: " in only_error_of("asterope-tune", done, 2)


# --- The recorder: asterope-record itself would have to run in the emulator, its library does -----


@pytest.fixture(scope="module")
def recorded_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("record_check") / "record_check"
    output_of(COMPILER, *FLAGS, HERE / "record_check.c", "-o", program, "-pthread", "-ldl")
    return program


def record(
    programs: Path, program: Path, folder: Path, *situation: object, period: int
) -> tuple[RawProcess, subprocess.CompletedProcess]:
    """The recorder's notes about the program, and the program's output."""
    recorder = Recorder(programs / "libasterope_record.so", folder)
    given = [f"{name}={value}" for name, value in recorder.variables(period).items()]
    of_program = [word for one in given for word in ("-E", one)]
    done = run_command(*AARCH64.emulated(WITHOUT_SVE), *of_program, program, *situation)
    assert (done.returncode, done.stderr) == (0, "")
    return recorder.only(), done


@pytest.mark.parametrize("period", [4 << 20, 3000, 1])
def test_each_function_is_counted_by_size(
    programs: Path, recorded_program: Path, tmp_path: Path, period: int
) -> None:
    process, done = record(programs, recorded_program, tmp_path, "functions", period=period)
    assert process.counts == said(done)
    assert process.tick_hz > 0
    assert str(recorded_program.resolve()) in {module.path for module in process.modules}
    if period == 1:
        assert len(process.samples) == sum(sum(one.values()) for one in process.counts.values())


def test_threads_are_counted_each(programs: Path, recorded_program: Path, tmp_path: Path) -> None:
    process, _ = record(programs, recorded_program, tmp_path, "threads", 64, 500, period=3000)
    assert process.counts == copies(40, 2 * 500 * 64)
    assert process.threads == 65


# --- The C++ unit tests ---------------------------------------------------------------------------

# The tests of a room that run there, as googletest's filter has them.
ROOMS: dict[str, Sequence[str]] = {
    **{room: ["*"] for room in sorted({p.parent.name for p in REPOSITORY.glob("tests/*/*.cpp")})},
    # The others take minutes, or ask the system for facts that the emulator does not tell.
    "timing": ["Stopwatch*", "Settling.*", "*Memory.*", "WriteSource.*", "CacheEffect*"],
}


def test_every_program_is_built(built: Callable[..., Path]) -> None:
    built("all")


@pytest.mark.parametrize("cpu", [WITH_SVE, WITHOUT_SVE])
@pytest.mark.parametrize("room", ROOMS)
def test_unit(built: Callable[..., Path], tmp_path: Path, room: str, cpu: str) -> None:
    machine = Emulated(cpu, built(f"test_{room}"), tmp_path)
    options = (f"--gtest_filter={':'.join(ROOMS[room])}", "--gtest_brief=1", "--gtest_color=no")
    done = machine.run(f"tests/test_{room}", *options)
    assert done.returncode == 0, done.stdout[-4000:]
    assert "[  PASSED  ] " in done.stdout
