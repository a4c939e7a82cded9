"""asterope-tune check: parts of a machine that make a profile stale, and winners timed anew."""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command_errors import SHORTEST, tune_error
from namespaces import run_with
from profile_samples import DOUBT, choice, of, of_memset, provisional_profile, taking, without

pytestmark = pytest.mark.one_cpu


@pytest.fixture(scope="module")
def text(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A profile of this machine."""
    path = tmp_path_factory.mktemp("tuned") / "profile.json"
    quiet = ("--sizes", "128,1K", "--quiet", "--no-generate", "-o", path)
    subprocess.run([build_dir / "asterope-tune", *SHORTEST, *quiet], check=True, timeout=120)
    profile = json.loads(path.read_text())
    profile["search"]["noise"]["provisional"] = False  # this machine may have been busy meanwhile
    return json.dumps(profile)


@pytest.fixture
def profile(text: str) -> dict:
    return json.loads(text)


@pytest.fixture
def check(tune, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """`over`: what lies over a file or folder of the system meanwhile."""

    def run(profile: dict, *options: object, over=()) -> subprocess.CompletedProcess:
        (tmp_path / "profile.json").write_text(json.dumps(profile))
        if over:
            return run_with([over], [*tune.args, "check", "profile.json"], **tune.keywords)
        return tune("check", "profile.json", *options)

    return run


def changed(profile: dict, part: str, value: object) -> dict:
    *outer, last = part.split(".")
    functools.reduce(dict.get, outer, profile)[last] = value
    return profile


@pytest.mark.parametrize(
    ("part", "value"), [("machine.cpu.model", 4096), ("architecture", "aarch64")]
)
def test_another_machines_profile_is_stale_and_told_why(check, profile, part, value) -> None:
    done = check(changed(profile, part, value))
    assert (done.returncode, done.stderr) == (3, "")
    first, told, blank, *_ = done.stdout.splitlines()
    assert (first, blank) == ("profile.json is stale:", "")
    assert told.startswith(f"  {part.removeprefix('machine.')}: ")


def test_a_stale_profile_is_told_with_the_next_step(check, profile, tmp_path) -> None:
    file = tmp_path / "check.json"
    again = "asterope-tune -o profile.json"
    timed = "asterope-tune check --measure profile.json\n  or: "
    for part, value, step in (
        ("machine.kernel", "Linux 2.6", None),
        ("machine.libc", "glibc 2.1", timed + again),
        ("machine.cpu.model", 4096, again),
        ("architecture", "aarch64", again),
    ):
        done = check(changed(profile, part, value), "--json", file)
        found = json.loads(file.read_text())
        decides = [one["part"] for one in found["parts"] if one["state"] == "decides"]
        assert found["stale"] == bool(step) == (done.returncode == 3) == bool(decides)
        assert part.removeprefix("machine.") in decides or not step
        assert re.findall(r"^Next: [^\0]*(?=\n)", done.stdout, re.MULTILINE) == (
            [f"Next: {step}"] if step else []
        )
        assert found["machine"]["fingerprint"] and found["results"] == []


def test_this_machines_fits_and_what_does_not_matter_is_told_apart(check, profile: dict) -> None:
    done = check(changed(profile, "machine.kernel", "Linux 2.6"))
    assert (done.returncode, done.stderr) == (0, "")
    first, blank, *_ = done.stdout.splitlines()
    assert (first, blank) == ("profile.json fits this machine", "")
    same = re.search(r"^The same: .*(?:\n  .*)*", done.stdout, re.MULTILINE)[0]
    assert max(map(len, same.splitlines())) <= 100
    for part in ("cpu.vendor", "cpu.model", "cpus", "libc", "memory", "hypervisor"):
        assert part in re.sub(r"\n +", " ", same).removeprefix("The same: ").split(", ")
    assert "\nChanged, which does not matter by itself:\n  kernel: " in done.stdout


@pytest.fixture(params=["huge_pages", "smaller_huge_pages"])
def of_another_mode(request, profile: dict) -> tuple[dict, str]:
    """One that was made under another mode of huge pages than the machine's, and the field."""
    mode = profile["machine"][request.param]
    if not mode:
        pytest.skip("this system does not tell its mode of huge pages")
    other = {"always": "never", "never": "64 KiB always"}.get(mode, "always")
    return changed(profile, f"machine.{request.param}", other), request.param


STAGE = choice("fresh", 65535, 131072, {"stage": "populate", "piece": 65536})


def test_page_stages_of_another_mode_of_huge_pages_are_stale(check, of_another_mode) -> None:
    profile, field = of_another_mode
    profile["choices"].append(STAGE)
    done = check(profile)
    assert (done.returncode, done.stderr) == (3, "")
    first, told, blank, *rest = done.stdout.splitlines()
    assert (first, blank) == ("profile.json is stale:", "")
    assert re.fullmatch(rf"  {field}: [\w ]+ in the profile, [\w ]+ here", told)
    assert rest[-1] == "Next: asterope-tune -o profile.json"  # only that times them
    last = check(profile, "--measure").stdout.splitlines()[-1]
    assert last.startswith("The profile is stale: not timed, as for another mode of huge pages ")
    del profile["machine"][field]
    done = check(profile)
    assert done.returncode == 0
    assert f"Not recorded in the profile: {field}" in done.stdout


def test_without_page_stages_the_mode_of_huge_pages_does_not_matter(check, of_another_mode) -> None:
    profile, field = of_another_mode
    done = check(profile)
    assert done.returncode == 0
    assert f"\nChanged, which does not matter by itself:\n  {field}: " in done.stdout


@pytest.mark.parametrize("options", [(), ("--settled",), ("--measure",)], ids=" ".join)
@pytest.mark.parametrize("machine", [{}, {"machine": {"cpu": {}, "caches": []}}], ids=str)
def test_a_profile_that_names_no_machine_is_called_that_and_not_stale(
    check, profile: dict, machine: dict, options: tuple[str, ...]
) -> None:
    del profile["machine"]
    done = check({**profile, **machine}, *options)
    assert "does not name its machine" in tune_error(done, 2)
    assert done.stdout == ""


def test_a_provisional_profile_fits_and_is_warned_of(check, profile: dict) -> None:
    elsewhere = "run again in a quieter hour, or on another CPU (--cpu N)"
    profile["search"]["noise"] = provisional_profile()["search"]["noise"]
    done = check(profile)
    assert done.returncode == 0
    assert done.stdout.startswith("profile.json fits this machine\n")
    assert done.all_stderr == f"warning: {DOUBT}: these winners are provisional; {elsewhere}\n"
    # who wants a settled one is told that it is not
    done = check(profile, "--settled")
    assert (done.returncode, done.stderr) == (3, "")
    first = "profile.json fits this machine, but is provisional:"
    assert done.stdout.startswith(f"{first}\n  {DOUBT}; {elsewhere}\n\n")
    done = check(changed(profile, "machine.libc", "glibc 2.1"))  # stale as well
    assert done.returncode == 3
    assert done.stdout.startswith("profile.json is stale:\n  libc: ")
    profile["search"]["noise"]["provisional"] = False
    profile["machine"].pop("libc")
    assert check(profile, "--settled").returncode == 0


def test_where_the_machine_cannot_be_read_it_does_not_guess(
    check, profile: dict, tmp_path: Path
) -> None:
    text, nothing = tmp_path / "text", tmp_path / "nothing"
    text.write_text("\x00\xff[[ MemTotal: -1 kB\n")
    assert "/proc/meminfo" in tune_error(check(profile, over=(text, "/proc/meminfo")), 2)
    nothing.mkdir()
    no_cpus = (nothing, "/sys/devices")
    line = tune_error(check(changed(profile, "machine.cpus", 4096), over=no_cpus), 2)
    assert "cannot tell whether" in line
    assert "cpus (/sys/devices/system/cpu/online: No such file" in line
    done = check(changed(profile, "machine.cpu.model", 4096), over=no_cpus)
    assert done.returncode == 3, done
    _, reason, blank, *_ = done.stdout.splitlines()
    assert (reason.split(":")[0].strip(), blank) == ("cpu.model", "")


def rows(done: subprocess.CompletedProcess) -> dict[str, str]:
    """The rows of the table by size."""
    label = r"(?:memset )?(?:\d+ B|\d+ KiB|to \d+ B)"
    found = re.finditer(rf"^({label}) +\d.*$", done.stdout, re.MULTILINE)
    return {row[1]: row[0] for row in found}


def verdict(done: subprocess.CompletedProcess) -> tuple[int, str]:
    """The last line of a measurement. Skips where the machine was too busy for any verdict."""
    last = done.stdout.splitlines()[-1]
    if "Cannot tell yet: " in last or "timing cannot absolve" in last:
        assert "stayed disturbed" in last or "the time was up" in last
        assert done.returncode == (0 if last.startswith("Cannot tell yet") else 3)
        pytest.skip(last)
    return done.returncode, last


def always_holds(profile: dict) -> dict:
    """So far behind libc from the start, and without runners-up, that it cannot have fallen."""
    for one in profile["choices"]:
        one["evidence"] = {**one.get("evidence", {}), "ratio": 1e-6, "runners_up": []}
    return profile


def test_measuring_says_of_each_size_how_it_does_and_what_follows(check, profile: dict) -> None:
    done = check(profile, "--measure")
    assert done.stdout.startswith("profile.json describes this machine\n")  # no verdict yet
    code, last = verdict(done)
    small = f"to {of(profile, 'small')[0]['copies']['taken']['bound']} B"
    assert set(rows(done)) == {"128 B", "1 KiB", small}
    fallen = ", ".join(size for size, row in rows(done).items() if " holds " not in row)
    no_longer = (3, f"The profile no longer holds: {fallen}")
    assert (code, last) == (no_longer if fallen else (0, "The profile still holds"))
    for one, size in zip(of(profile), ("128 B", "1 KiB")):
        row, evidence = rows(done)[size], one["evidence"]
        assert f" {evidence['ratio']:.2f} " in row
        assert f" {evidence['proof']['lead']['median']:.2f} " in row
    assert "by more than 3 %" in done.stdout  # the rule


def test_a_winner_that_is_slow_now_has_fallen(check, profile: dict) -> None:
    """Non-temporal stores of 8 bytes, both sides cached: many times as slow as anything."""
    slow = {"rt": "MM", "lt": "T", "st": "NT", "pt": "none", "ps": 0, "pd": 0}
    of(always_holds(profile))[1].update(copies={"taken": slow}, evidence={"ratio": 1.2})
    done = check(profile, "--measure")
    assert verdict(done) == (3, "The profile no longer holds: 1 KiB")
    assert "behind libc" in rows(done)["1 KiB"]


def test_timing_again_absolves_of_another_libc_and_sets_are_timed_as_copies_are(
    check, profile: dict, tmp_path: Path
) -> None:
    """One winner of each function: little to be disturbed."""
    figures = tmp_path / "figures.json"
    sets = of_memset("pipelines", 0, 1024, {"rt": "XMM", "st": "T"}, size=1024)
    taking(without(changed(profile, "machine.libc", "glibc 2.1"), "small"), of(profile)[0], sets)
    profile["search"]["weights"]["memset"] = {"hot": 1}
    done = check(always_holds(profile), "--measure", "--json", figures)
    assert done.stdout.startswith("profile.json describes another machine:\n  libc: ")
    written = json.loads(figures.read_text())
    assert written["machine"]["fingerprint"] and written["verdict"] == done.stdout.splitlines()[-1]
    assert [one["of"] for one in written["results"]] == list(rows(done))
    assert all(len(one["rounds"]) == 21 for one in written["results"])
    assert verdict(done) == (0, "The profile still holds")
    assert list(rows(done)) == ["128 B", "memset 1 KiB"]
    assert rows(done)["memset 1 KiB"].endswith("  XMM T")


def test_nothing_absolves_of_another_processor(check, profile: dict) -> None:
    done = check(changed(profile, "machine.cpu.model", 4096), "--measure")
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.splitlines()[-1].startswith("The profile is stale: not timed, ")
    assert rows(done) == {}


def test_what_cannot_be_timed_again_is_refused(check, profile: dict) -> None:
    tune_error(check(profile, "--measure", "--cpu", "9999"), 2)
    assert "--settled" in tune_error(check(profile, "--settled", "--measure"), 2)  # two questions
