"""Endings of asterope-tune before its time: faults, signals, budgets, and a generator that fails.
Older files stay, timings are kept, and --resume comes to the same end."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from asterope.profile import load_profile
from command_errors import (
    SHORTEST,
    interrupted,
    json_lines,
    make_device,
    run_command,
    script,
    tune_error,
    wait_until,
)
from conftest import BUILD

pytestmark = pytest.mark.one_cpu

PROGRAM = BUILD / "asterope-tune"
RUN = ("--rigor", "quick", "--sizes", "128,1K,64K", "--no-generate")
QUICK = (*SHORTEST, "--sizes", "128,1K")
ONE_SIZE = (*SHORTEST, "--sizes", "128")
SHORT = (*ONE_SIZE, "--no-generate")
OLD = "an earlier profile"
PROFILE = "asterope-profile.json"  # and its log
LOG = f"{PROFILE}.trials"


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    path = tmp_path / "out" / "profile.json"
    path.parent.mkdir()
    path.write_text(OLD)
    return path


def assert_untouched(earlier: Path) -> None:
    assert earlier.read_text() == OLD
    assert list(earlier.parent.iterdir()) == [earlier]


def limit(what: int, value: int) -> Callable[[], None]:
    def apply() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # write() then says EFBIG
        resource.setrlimit(what, (value, value))

    return apply


FAULTS = {
    "no memory for the buffers": ([], limit(resource.RLIMIT_RSS, 2 << 20), "no memory for"),
    "a full disk": ([], limit(resource.RLIMIT_FSIZE, 1024), "profile.json"),
    "a full disk for the log": (["--log", "/dev/full"], None, "/dev/full"),
}


@pytest.mark.parametrize(("arguments", "limited", "said"), FAULTS.values(), ids=FAULTS)
def test_a_fault_ends_it_in_one_line_and_leaves_the_earlier_profile(
    tune, earlier: Path, arguments: list[str], limited: Callable[[], None] | None, said: str
) -> None:
    assert said in tune_error(tune(*QUICK, "-o", earlier, *arguments, preexec_fn=limited), 1)
    assert_untouched(earlier)


def test_a_disk_that_fills_up_keeps_the_timings(tune, earlier: Path) -> None:
    full = limit(resource.RLIMIT_FSIZE, 100_000)
    message = tune_error(tune(*SHORT, "-o", earlier, preexec_fn=full), 1)
    log = earlier.with_name("profile.json.trials")
    assert str(log) in message and "--resume" in message
    assert earlier.read_text() == OLD
    assert log.stat().st_size == 100_000
    earlier.unlink()
    assert tune(*SHORT, "-o", earlier, "--resume").returncode == 0
    load_profile(earlier)


HANG_UP = pytest.param("SIGHUP", "later", marks=pytest.mark.slow)


@pytest.mark.parametrize(("name", "moment"), [("SIGINT", "at once"), ("SIGTERM", "later"), HANG_UP])
def test_a_signal_ends_cleanly(earlier: Path, name: str, moment: str) -> None:
    log = earlier.parent.parent / "trials.jsonl"

    def ready(process: subprocess.Popen) -> bool:
        # The first line on stdout comes before the verification, the second in the log is a sample.
        if moment == "at once":
            return bool(process.stdout.readline())
        return log.exists() and log.read_bytes().count(b"\n") >= 2

    options = ("--rigor", "exhaustive", "-o", earlier, "--log", log)
    done = interrupted([PROGRAM, *options], ready, getattr(signal, name))
    assert tune_error(done, 130).startswith("asterope-tune: interrupted")
    assert_untouched(earlier)
    # the timings until then stay readable
    assert moment == "at once" or json_lines(log)


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with asterope-tune alone, and the log of a run of it that was interrupted while its
    routine was rendered for the exam."""
    folder = tmp_path_factory.mktemp("timed")
    alone = Path(shutil.copy(PROGRAM, folder))
    generator = script(folder / "asterope-generate", "#!/bin/sh\nexit 130\n")
    run = run_command(alone, *ONE_SIZE, cwd=folder, env={**os.environ, "PATH": ""})
    assert "--resume goes on" in tune_error(run, 130)
    assert not (folder / PROFILE).exists()
    generator.unlink()
    return folder


def resume(alone: Path, path: str, *arguments: str) -> subprocess.CompletedProcess:
    """Goes on where that run ended, so that little is left to be timed."""
    command = (alone, *ONE_SIZE, "--resume", *arguments)
    return run_command(*command, cwd=alone.parent, env={**os.environ, "PATH": path})


@pytest.fixture
def alone(timed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(timed, tmp_path / "alone")) / "asterope-tune"


def test_a_generator_on_the_path_is_found(alone: Path) -> None:
    assert resume(alone, f"{BUILD}:{os.environ['PATH']}").returncode == 0
    left = {"asterope-tune", PROFILE, "asterope_memcpy.c", "asterope_memcpy.h"}
    assert {path.name for path in alone.parent.iterdir()} == left


@pytest.mark.parametrize(
    ("does", "code", "said"),
    [
        ("", 1, "asterope-generate"),
        ("exit 1", 1, "asterope-generate failed"),
        # The first time is for the exam, before the profile exists.
        ("[ -e asked ] && exit 130; : > asked; exit 1", 130, "interrupted; the profile is written"),
        (": > asterope_memcpy.c", 0, None),
    ],
)
def test_a_generator_that_is_missing_or_fails_leaves_the_profile(
    alone: Path, does: str, code: int, said: str | None
) -> None:
    if does:
        script(alone.with_name("asterope-generate"), f"#!/bin/sh\n{does}\n")
    done = resume(alone, path="")
    assert done.returncode == code
    if said:
        message = tune_error(done, code)
        assert said in message and "profile" in message
    load_profile(alone.with_name(PROFILE))


def test_an_interrupt_while_the_routine_is_compiled_for_its_exam_ends_the_run(alone: Path) -> None:
    compiler = script(alone.with_name("cc"), "#!/bin/sh\nkill -TERM $PPID\nexit 1\n")
    environment = {**os.environ, "CC": str(compiler), "PATH": f"{BUILD}:{os.environ['PATH']}"}
    done = run_command(alone, *ONE_SIZE, "--resume", cwd=alone.parent, env=environment)
    assert "--resume goes on" in tune_error(done, 130)
    assert alone.with_name(LOG).exists() and not alone.with_name(PROFILE).exists()


def test_a_log_behind_a_link_goes_once_the_profile_is_there(alone: Path) -> None:
    script(alone.with_name("asterope-generate"), "#!/bin/sh\n: > asterope_memcpy.c\n")
    log = alone.with_name(LOG).rename(alone.with_name("far.trials"))
    alone.with_name(LOG).symlink_to(log)
    assert resume(alone, path="").returncode == 0
    assert not log.exists()


def has(log: Path, count: int) -> Callable[..., bool]:
    """A condition for `interrupted`: the log has at least `count` bytes."""
    return lambda *_: log.exists() and log.stat().st_size >= count


def test_a_killed_run_on_the_machine_goes_on(tune, tmp_path: Path) -> None:
    log = tmp_path / LOG
    run = [PROGRAM, *SHORT, "--quiet"]
    done = interrupted(run, has(log, 200_000), signal.SIGKILL, cwd=tmp_path)
    assert done.returncode == -signal.SIGKILL
    left = log.read_bytes()
    whole_lines = left[: left.rindex(b"\n") + 1]
    assert not (tmp_path / PROFILE).exists()

    # Without --resume nothing of it is lost.
    message = tune_error(tune(*SHORT, "--quiet"), 2)
    assert LOG in message and "--resume" in message
    assert log.read_bytes() == left

    log.write_bytes(whole_lines + b'{"size":')  # torn
    done = tune(*SHORT, "--resume", "--log", LOG)
    assert done.returncode == 0, done
    assert "its last line is not whole and was dropped" in done.all_stderr
    assert log.read_bytes().startswith(whole_lines)
    profile = load_profile(tmp_path / PROFILE)
    assert (profile.complete, profile.search["resumed"]) == (True, 1)
    lines = json_lines(log)
    assert profile.search["trials"] == sum("ns" in line for line in lines)


def test_to_resume_where_there_is_no_log_is_refused(tune, tmp_path: Path) -> None:
    for log, named in (("none.jsonl", ["--log", "none.jsonl"]), (LOG, [])):
        message = tune_error(tune(*SHORT, "--resume", *named), 2)
        assert log in message and "leave out --resume" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_stopped_and_continued_run_goes_on_and_repeats_the_rounds_that_were_hit(
    tmp_path: Path,
) -> None:
    process = subprocess.Popen([PROGRAM, *RUN, "--quiet", "--log", "t.jsonl"], cwd=tmp_path)
    wait_until(has(tmp_path / "t.jsonl", 50_000), "it has timed much")
    for _ in range(5):  # one may fall between two rounds
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.05)
    assert process.wait(timeout=180) == 0
    noise = load_profile(tmp_path / PROFILE).raw["search"]["noise"]
    assert noise["disturbed"]["stalled"] >= 1 and noise["repeated"] >= 1


def test_a_vanished_folder_and_an_ignored_hang_up_cost_no_sample(tune, tmp_path: Path) -> None:
    """Hang-ups stay ignored where they are, as under nohup."""
    (tmp_path / "out").mkdir()
    options = [*SHORT, "--quiet", "-o", "out/p.json", "--log", "trials.jsonl"]
    log, out = tmp_path / "trials.jsonl", tmp_path / "out"
    done = interrupted(
        [PROGRAM, *options],
        lambda _: has(log, 5000)() and shutil.rmtree(out),
        signal.SIGHUP,
        cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    assert "out/p.json" in tune_error(done, 1)
    before = log.read_bytes()

    out.mkdir()
    assert tune(*options, "--resume").returncode == 0
    after = log.read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b'"ns"') == 0  # nothing had to be timed again
    load_profile(out / "p.json")


@pytest.mark.slow
def test_a_budget_ends_in_a_valid_profile_that_resuming_goes_on_with(tune, tmp_path: Path) -> None:
    # These sizes take more than half a minute anywhere.
    sizes = "1K,2K,4K,8K,16K,32K,64K,128K,256K,512K,1M,2M,4M,8M,16M,32M"
    options = ["--rigor", "quick", "--operations", "memcpy", "--sizes", sizes]
    done = tune(*options, "--time-budget", "15s")
    if done.returncode == 1 and "before the first size" in done.stderr:
        pytest.skip("this machine does not get through one size in the budget")
    assert done.returncode == 0, done
    profile = load_profile(tmp_path / PROFILE)
    assert not profile.complete
    left = profile.left_out["memcpy"]["sizes"]
    found = [choice.size for choice in profile.of("pipelines")]
    assert sorted([*left, *found]) == [1024 << i for i in range(16)]
    assert profile.raw["search"]["time_budget_seconds"] == 15
    assert (tmp_path / "asterope_memcpy.c").exists()
    assert "left out" in done.stdout + done.all_stderr
    log = tmp_path / LOG
    before = log.read_bytes()
    # The choices from these sizes are not in the log: more sizes may lead to others.
    assert not {b"rows", b"exam"} & set(re.findall(rb'"step":"(\w+)', before))
    done = tune(*options, "--time-budget", "24s", "--resume")
    assert done.returncode == 0, done
    assert log.read_bytes().startswith(before)
    resumed = load_profile(tmp_path / PROFILE).left_out["memcpy"]["sizes"]
    assert set(resumed) < set(left)


def test_a_log_without_a_sample_is_no_reason_to_refuse(tune, tmp_path: Path) -> None:
    for _ in range(2):
        message = tune_error(tune(*SHORT, "--quiet", "--time-budget", "0.001s"), 1)
        assert "before the first size was done: give more" in message
    log = tmp_path / LOG
    interrupted([PROGRAM, *SHORT], has(log, 5_000), signal.SIGTERM, cwd=tmp_path)
    lines = log.read_bytes().splitlines(keepends=True)
    for last in (b'"calls"', b'"ns"'):  # killed while calibrating, and in its first sample
        (tmp_path / PROFILE).unlink(missing_ok=True)
        first = next(i for i, line in enumerate(lines) if last in line)
        log.write_bytes(b"".join(lines[: first + 1]))
        done = tune(*SHORT, "--quiet")
        refused = last == b'"ns"'
        # a log that the user did not ask for goes when the profile is there
        assert (done.returncode, log.exists()) == ((2, True) if refused else (0, False))


def test_a_run_into_a_device_leaves_it_one_and_renders_nothing(alone: Path) -> None:
    node = make_device(alone.with_name("node"))
    done = resume(alone, os.environ["PATH"], "--quiet", "-o", "node")
    assert (done.returncode, done.stderr) == (0, "")
    assert "node is not a regular file: it gets no rendered routine" in done.all_stderr
    assert stat.S_ISCHR(node.stat().st_mode)
    assert {*os.listdir(alone.parent)} == {"asterope-tune", "node"}
