"""asterope-tune check: part by part, what matters and what does not, and whether winners hold."""

from __future__ import annotations

import json
import re
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from asterope.provisional import why_provisional
from command_errors import only_error_of
from namespaces import run_with, skip_without_namespaces

pytestmark = pytest.mark.one_cpu


@pytest.fixture(scope="module")
def program(build_dir: Path) -> Path:
    return build_dir / "asterope-tune"


@pytest.fixture(scope="module")
def text(program: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A profile of this machine."""
    path = tmp_path_factory.mktemp("tuned") / "profile.json"
    options = ("--rigor", "quick", "--sizes", "128,1K", "--workload", "hot", "--space", "paper")
    command = [program, *options, "--quiet", "--no-generate", "-o", path]
    subprocess.run(command, check=True, timeout=120)
    profile = json.loads(path.read_text())
    profile["search"]["noise"]["provisional"] = False  # whatever this machine did meanwhile
    return json.dumps(profile)


@pytest.fixture
def profile(text: str) -> dict:
    return json.loads(text)


@pytest.fixture
def check(program: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    def run(profile: dict, *options: str) -> subprocess.CompletedProcess:
        (tmp_path / "profile.json").write_text(json.dumps(profile))
        command = [program, "check", "profile.json", *options]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    return run


# --- Parts ----------------------------------------------------------------------------------------


def test_this_machines_profile_fits(check, profile: dict) -> None:
    done = check(profile)
    assert (done.returncode, done.stderr) == (0, "")
    first, blank, *rest = done.stdout.splitlines()
    assert (first, blank) == ("profile.json fits this machine", "")
    same = next(line for line in rest if line.startswith("The same: "))
    for part in ("cpu.vendor", "cpu.model", "cpus", "libc", "memory", "hypervisor"):
        assert part in same.removeprefix("The same: ").split(", ")


STALE = {
    "cpu.model": lambda profile: profile["machine"]["cpu"].update(model=1),
    "cpu.vendor": lambda profile: profile["machine"]["cpu"].update(vendor="x"),
    "cpus": lambda profile: profile["machine"].update(cpus=4096),
    "libc": lambda profile: profile["machine"].update(libc="glibc 2.1"),
    "memory": lambda profile: profile["machine"].update(memory_bytes=1 << 50),
    "hypervisor": lambda profile: profile["machine"].update(hypervisor="x"),
    "architecture": lambda profile: profile.update(architecture="aarch64"),
}


@pytest.mark.parametrize("reason", STALE)
def test_another_machines_profile_is_stale_and_told_why(check, profile: dict, reason: str) -> None:
    STALE[reason](profile)
    done = check(profile)
    assert (done.returncode, done.stderr) == (3, "")
    first, *rest = done.stdout.splitlines()
    assert first == "profile.json is stale:"
    reasons = rest[: rest.index("")]
    assert len(reasons) == 1
    assert reasons[0].startswith(f"  {reason}: ")


HARMLESS = {
    "kernel": lambda machine: machine.update(kernel="Linux 2.6"),
    "cpu.microcode": lambda machine: machine["cpu"].update(microcode="0xabc"),
    "cpu.brand": lambda machine: machine["cpu"].update(brand="x"),
    "huge_pages": lambda machine: machine.update(huge_pages="sometimes"),
}


@pytest.mark.parametrize("part", HARMLESS)
def test_what_does_not_matter_is_told_apart(check, profile: dict, part: str) -> None:
    HARMLESS[part](profile["machine"])
    done = check(profile)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "profile.json fits this machine"
    if f"Not readable here, maybe by root: {part}" in done.stdout:
        pytest.skip(f"this machine does not tell its {part}")
    place = lines.index("Changed, which does not matter by itself:")
    assert lines[place + 1].startswith(f"  {part}: ")


def test_a_profile_of_an_older_version_stays_valid(check, profile: dict) -> None:
    """It has the fingerprint, but knows nothing of memory modules, nor maybe of a later part."""
    profile["machine"].pop("memory", None)
    for part in ("kernel", "huge_pages", "governor"):
        profile["machine"].pop(part)
    done = check(profile)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^Not recorded in the profile: .*kernel", done.stdout, re.MULTILINE)


def test_what_root_recorded_and_a_user_cannot_read_does_not_matter(check, profile: dict) -> None:
    profile["machine"]["memory"] = {"speed_mts": 4801, "modules": 16, "type": "DDR5"}
    done = check(profile)
    if "memory.speed: " in done.stdout:
        pytest.skip("this machine tells of its memory modules")
    assert (done.returncode, done.stderr) == (0, "")
    unreadable = "Not readable here, maybe by root: memory.modules, memory.speed, memory.type"
    assert unreadable in done.stdout.splitlines()


NO_MACHINE = {
    "none": lambda profile: profile.pop("machine"),
    "an empty one": lambda profile: profile.update(machine={}),
    "one without a part": lambda profile: profile.update(machine={"cpu": {}, "caches": []}),
}


@pytest.mark.parametrize("options", [(), ("--settled",), ("--measure",)], ids=" ".join)
@pytest.mark.parametrize("machine", NO_MACHINE)
def test_a_profile_that_names_no_machine_is_called_that_and_not_stale(
    check, profile: dict, machine: str, options: tuple[str, ...]
) -> None:
    NO_MACHINE[machine](profile)
    done = check(profile, *options)
    assert "does not say what machine it was tuned on" in only_error_of("asterope-tune", done, 2)
    assert done.stdout == ""


def test_the_papers_profiles_name_no_machine(program: Path, repository: Path) -> None:
    paper = repository / "generated" / "reference" / "opteron-6378.json"
    done = subprocess.run([program, "check", paper], capture_output=True, text=True, timeout=60)
    assert "does not say what machine" in only_error_of("asterope-tune", done, 2)


# --- Provisional ones -----------------------------------------------------------------------------

KEPT = {"rounds": 5000, "repeated": 1000, "kept": 480, "provisional": True}


@pytest.fixture
def provisional(profile: dict) -> dict:
    profile["search"]["noise"] = {**KEPT, "disturbed": {"preempted": 504, "steal": 31}}
    for interval in profile["intervals"]:
        interval["undecided"] = True
    profile["small"].pop("undecided", None)
    return profile


def test_a_provisional_profile_fits_and_is_warned_of(check, provisional: dict) -> None:
    done = check(provisional)
    assert done.returncode == 0
    assert done.stdout.startswith("profile.json fits this machine\n")
    assert done.stderr == (
        f"warning: {why_provisional(provisional)}: these winners are provisional; run again on a "
        "quieter machine\n"
    )
    assert done.stderr.startswith("warning: 12 % of the rounds stayed disturbed, ")
    assert "(seen: steal 31, preempted 504), and 2 winners are the plain copy" in done.stderr


def test_a_provisional_profile_of_another_machine_is_stale_all_the_same(
    check, provisional: dict
) -> None:
    provisional["machine"]["libc"] = "glibc 2.1"
    done = check(provisional)
    assert done.returncode == 3
    assert done.stdout.startswith("profile.json is stale:\n  libc: ")


def test_who_wants_a_settled_profile_is_told_that_it_is_not(check, provisional: dict) -> None:
    done = check(provisional, "--settled")
    assert (done.returncode, done.stderr) == (3, "")
    reasons = done.stdout.partition("\n\n")[0].splitlines()
    assert reasons == [
        "profile.json fits this machine, but is provisional:",
        f"  {why_provisional(provisional)}; run again on a quieter machine",
    ]
    provisional["search"]["noise"]["provisional"] = False
    assert check(provisional, "--settled").returncode == 0


def test_settled_and_measure_are_two_questions(check, profile: dict) -> None:
    done = check(profile, "--settled", "--measure")
    assert "--settled" in only_error_of("asterope-tune", done, 2)


@pytest.mark.parametrize("fault", ["missing", "empty", "truncated", "newer", "binary", "folder"])
def test_an_unusable_profile_is_refused(
    program: Path, profile: dict, tmp_path: Path, fault: str
) -> None:
    path = tmp_path / "profile.json"
    if fault == "folder":
        path.mkdir()
    elif fault != "missing":
        contents = {
            "empty": b"",
            "truncated": json.dumps(profile)[:-40].encode(),
            "newer": json.dumps({**profile, "version": 2}).encode(),
            "binary": b"\x7fELF\x02\x01\x01\x00\xff\xfe",
        }
        path.write_bytes(contents[fault])
    done = subprocess.run([program, "check", path], capture_output=True, text=True, timeout=60)
    assert str(path) in only_error_of("asterope-tune", done, 2)


@pytest.mark.parametrize("name", ["machine", "cpu", "memory", "caches", "libc_thresholds"])
def test_a_part_of_the_wrong_kind_is_damage_and_does_not_fit(
    check, profile: dict, name: str
) -> None:
    (profile if name == "machine" else profile["machine"])[name] = "x"
    done = check(profile)
    error = only_error_of("asterope-tune", done, 2)
    assert name in error, error
    assert "damaged" in error


@pytest.mark.parametrize("content", ["", "\x00\xff[[ MemTotal: -1 kB\n"])
def test_where_the_machine_cannot_be_read_it_does_not_guess(
    program: Path, text: str, tmp_path: Path, content: str
) -> None:
    skip_without_namespaces()
    (tmp_path / "garbage").write_text(content)
    (tmp_path / "profile.json").write_text(text)
    command = [program, "check", tmp_path / "profile.json"]
    done = run_with([(tmp_path / "garbage", "/proc/meminfo")], command)
    assert "/proc/meminfo" in only_error_of("asterope-tune", done, 2)


def test_without_devices_it_tells_as_well(program: Path, text: str, tmp_path: Path) -> None:
    skip_without_namespaces()
    (tmp_path / "empty").mkdir()
    (tmp_path / "profile.json").write_text(text)
    command = [program, "check", tmp_path / "profile.json"]
    done = run_with([(tmp_path / "empty", "/dev")], command)
    assert (done.returncode, done.stderr) == (0, "")


def test_where_it_could_not_look_nothing_is_stale(program: Path, text: str, tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_text(text)
    codes = set()
    for most in range(3, 12):
        done = subprocess.run(
            [program, "check", tmp_path / "profile.json"],
            capture_output=True,
            text=True,
            timeout=60,
            preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)),
        )
        codes.add(done.returncode)
        assert done.returncode in (0, 2, 127), done  # 127: it was not even loaded
        if done.returncode == 2:
            only_error_of("asterope-tune", done, 2)
    assert {0, 2} <= codes


def test_a_guess_about_this_machine_is_no_difference_but_another_one_is(
    program: Path, profile: dict, tmp_path: Path
) -> None:
    skip_without_namespaces()
    (tmp_path / "empty").mkdir()
    path = tmp_path / "profile.json"
    profile["machine"]["cpus"] = 4096
    for model, code in ((profile["machine"]["cpu"]["model"], 2), (1, 3)):
        profile["machine"]["cpu"]["model"] = model
        path.write_text(json.dumps(profile))
        done = run_with([(tmp_path / "empty", "/sys/devices")], [program, "check", path])
        assert done.returncode == code, done
        if code == 2:
            line = only_error_of("asterope-tune", done, 2)
            assert "cannot tell whether" in line
            assert "cpus (/sys/devices/system/cpu/online: No such file" in line
        else:
            reasons = done.stdout.splitlines()[1:]
            assert [line.split(":")[0].strip() for line in reasons[: reasons.index("")]] == [
                "cpu.model"
            ]


# --- Measuring ------------------------------------------------------------------------------------


def rows(done: subprocess.CompletedProcess) -> dict[str, str]:
    """The rows of the table by size."""
    found = re.findall(r"^(\d+ B|\d+ KiB|to \d+ B) +\d.*$", done.stdout, re.MULTILINE)
    lines = done.stdout.splitlines()
    return {size: next(line for line in lines if line.startswith(f"{size} ")) for size in found}


def always_holds(profile: dict) -> dict:
    """So far behind libc from the start, and without runners-up, that it cannot have fallen."""
    for part in (*profile["intervals"], profile["small"]):
        part["winner"]["ratio"] = 1e-6
        part["runners_up"] = []
    return profile


SLOW = {"rt": "MM", "lt": "T", "st": "NT", "pt": "none", "ps": 0, "pd": 0}


def test_measuring_says_of_each_size_how_it_does_and_what_follows(check, profile: dict) -> None:
    done = check(profile, "--measure")
    last = done.stdout.splitlines()[-1]
    assert set(rows(done)) == {
        "128 B",
        "1 KiB",
        f"to {profile['small']['winner']['tuple']['bound']} B",
    }
    fallen = [size for size, row in rows(done).items() if " holds " not in row]
    assert done.returncode == (3 if fallen else 0)
    if fallen:
        assert last == f"The profile no longer holds: {', '.join(fallen)}"
    else:
        assert last == "The profile still holds"
    for interval, size in zip(profile["intervals"], ("128 B", "1 KiB")):
        row = rows(done)[size]
        assert f" {interval['winner']['ratio']:.2f} " in row
        assert f" {interval['proof']['lead']['median']:.2f} " in row
    assert "by more than 3 %" in done.stdout  # the rule


def test_a_profile_that_cannot_have_fallen_holds(check, profile: dict) -> None:
    done = check(always_holds(profile), "--measure")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "The profile still holds"


def test_a_winner_that_is_slow_now_has_fallen(check, profile: dict) -> None:
    """Non-temporal stores of 8 bytes, both sides cached: many times as slow as anything."""
    always_holds(profile)
    profile["intervals"][1]["winner"] = {"tuple": SLOW, "ratio": 1.2}
    done = check(profile, "--measure")
    assert done.returncode == 3
    assert "behind libc" in rows(done)["1 KiB"]
    assert done.stdout.splitlines()[-1] == "The profile no longer holds: 1 KiB"


def test_a_winner_behind_its_runner_up_has_fallen(check, profile: dict) -> None:
    runner_up = {"tuple": profile["intervals"][1]["winner"]["tuple"]}
    always_holds(profile)
    profile["intervals"][1]["winner"] = {"tuple": SLOW, "ratio": 1e-6}
    profile["intervals"][1]["runners_up"] = [runner_up]
    profile["intervals"][1]["proof"]["lead"] = {"median": 1.1, "low": 1, "high": 1.2}
    done = check(profile, "--measure")
    assert done.returncode == 3
    assert "behind runner-up" in rows(done)["1 KiB"]


def test_measuring_absolves_of_another_libc(check, profile: dict) -> None:
    profile["machine"]["libc"] = "glibc 2.1"
    done = check(always_holds(profile), "--measure")
    assert done.returncode == 0
    assert done.stdout.startswith("profile.json is stale:\n  libc: ")
    assert done.stdout.splitlines()[-1] == "The profile still holds"


def test_measuring_does_not_absolve_of_another_processor(check, profile: dict) -> None:
    profile["machine"]["cpu"]["model"] = 1
    done = check(always_holds(profile), "--measure")
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.splitlines()[-1].startswith("Not timed: ")
    assert rows(done) == {}


def test_what_cannot_be_timed_again_is_refused(check, profile: dict) -> None:
    profile["intervals"][0]["winner"]["tuple"]["rt"] = "QMM"
    line = only_error_of("asterope-tune", check(profile, "--measure"), 2)
    assert 'profile.json: intervals[0].winner.tuple.rt: "QMM" is none of' in line


def test_measuring_on_a_cpu_that_is_not_allowed_is_refused(check, profile: dict) -> None:
    only_error_of("asterope-tune", check(profile, "--measure", "--cpu", "9999"), 2)
