"""Runs that are cut short: what was timed is kept, and --resume comes to the same end."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest
from asterope.profile import load_profile
from command_errors import make_device, run_command, tune_error
from conftest import BUILD
from trial_logs import log_lines_of

pytestmark = pytest.mark.one_cpu

PROGRAM = BUILD / "asterope-tune"
RUN = ("--rigor", "quick", "--sizes", "128,1K,64K", "--no-generate")
# From the first trial on in an instant: one size, and no memset, which takes as long again.
ONE_SIZE = (
    *("--rigor", "quick", "--operations", "memcpy", "--sizes", "128"),
    *("--workload", "hot", "--space", "paper"),
)
SHORT = (*ONE_SIZE, "--no-generate")


def wait_for_bytes(log: Path, count: int, process: subprocess.Popen) -> None:
    """Returns when the log has so many bytes, or the process has ended."""
    while process.poll() is None:
        try:
            if log.stat().st_size >= count:
                return
        except FileNotFoundError:
            pass


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the log of a run held that was ended soon; nobody else got it meanwhile."""
    folder = tmp_path_factory.mktemp("begun")
    log = folder / "asterope-profile.json.trials"
    first = subprocess.Popen([PROGRAM, *SHORT, "--quiet"], cwd=folder)
    try:
        wait_for_bytes(log, 5_000, first)
        refused = tune_error(run_command(PROGRAM, *SHORT, "--resume", cwd=folder), 2)
    finally:
        first.send_signal(signal.SIGTERM)
        assert first.wait(timeout=60) == 130
    assert f"{log.name} is being written by another run" in refused
    return log.read_bytes()


# --- Killed and resumed ---------------------------------------------------------------------------


def test_a_killed_run_on_the_machine_goes_on(tune, tmp_path: Path) -> None:
    trials = tmp_path / "asterope-profile.json.trials"
    process = subprocess.Popen([PROGRAM, *SHORT, "--quiet"], cwd=tmp_path)
    wait_for_bytes(trials, 200_000, process)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    left = trials.read_bytes()
    whole_lines = left[: left.rindex(b"\n") + 1]
    assert not (tmp_path / "asterope-profile.json").exists()

    # Without --resume nothing of it is lost.
    message = tune_error(tune(*SHORT, "--quiet"), 2)
    assert "asterope-profile.json.trials" in message
    assert "--resume" in message
    assert trials.read_bytes() == left

    trials.write_bytes(whole_lines + b'{"size":')  # torn
    done = tune(*SHORT, "--resume", "--log", "asterope-profile.json.trials")
    assert done.returncode == 0, done
    assert "its last line is not whole and was dropped" in done.all_stderr
    assert trials.read_bytes().startswith(whole_lines)
    profile = load_profile(tmp_path / "asterope-profile.json")
    assert profile.complete
    assert profile.search["resumed"] == 1
    lines = log_lines_of(trials.read_bytes())
    assert profile.search["trials"] == sum("ns" in line for line in lines)


def test_to_resume_where_there_is_no_log_is_refused(tune, tmp_path: Path) -> None:
    for log in ("none.jsonl", "asterope-profile.json.trials"):
        named = ("--log", log) if log == "none.jsonl" else ()
        message = tune_error(tune(*SHORT, "--resume", *named), 2)
        assert log in message and "leave out --resume" in message
    assert list(tmp_path.iterdir()) == []


# --- Other ends -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_stopped_and_continued_run_goes_on_and_repeats_what_was_hit(tmp_path: Path) -> None:
    process = subprocess.Popen([PROGRAM, *RUN, "--quiet", "--log", "t.jsonl"], cwd=tmp_path)
    wait_for_bytes(tmp_path / "t.jsonl", 50_000, process)
    for _ in range(5):  # one may fall between two rounds
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.05)
    assert process.wait(timeout=180) == 0
    noise = load_profile(tmp_path / "asterope-profile.json").raw["search"]["noise"]
    assert noise["disturbed"]["stalled"] >= 1
    assert noise["repeated"] >= 1


def test_a_vanished_output_folder_costs_no_trial_and_an_ignored_hang_up_nothing(
    tune, tmp_path: Path
) -> None:
    """Hang-ups stay ignored where they are, as under nohup."""
    (tmp_path / "out").mkdir()
    options = [*SHORT, "--quiet", "-o", "out/p.json", "--log", "trials.jsonl"]
    process = subprocess.Popen(
        [PROGRAM, *options],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    wait_for_bytes(tmp_path / "trials.jsonl", 5000, process)
    process.send_signal(signal.SIGHUP)
    shutil.rmtree(tmp_path / "out")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "out/p.json" in errors
    before = (tmp_path / "trials.jsonl").read_bytes()

    (tmp_path / "out").mkdir()
    assert tune(*options, "--resume").returncode == 0
    after = (tmp_path / "trials.jsonl").read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b'"ns"') == 0  # nothing had to be timed again
    load_profile(tmp_path / "out" / "p.json")


# --- The time budget ------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_budget_ends_in_a_valid_profile_that_resuming_goes_on_with(tune, tmp_path: Path) -> None:
    # These sizes take more than half a minute anywhere.
    sizes = "1K,2K,4K,8K,16K,32K,64K,128K,256K,512K,1M,2M,4M,8M,16M,32M"
    options = ["--rigor", "quick", "--operations", "memcpy", "--sizes", sizes]
    done = tune(*options, "--time-budget", "15s")
    if done.returncode == 1 and "before the first size" in done.stderr:
        pytest.skip("this machine does not get through one size in the budget")
    assert done.returncode == 0, done
    profile = load_profile(tmp_path / "asterope-profile.json")
    assert not profile.complete
    left = profile.left_out["memcpy"]["sizes"]
    found = [choice.size for choice in profile.of("pipelines")]
    assert sorted([*left, *found]) == [1024 << i for i in range(16)]
    assert profile.raw["search"]["time_budget_seconds"] == 15
    assert (tmp_path / "asterope_memcpy.c").exists()
    assert "left out" in done.stdout + done.all_stderr
    trials = tmp_path / "asterope-profile.json.trials"
    before = trials.read_bytes()
    # What was chosen of these sizes is not in the log: of more sizes something else is chosen.
    assert not {b"rows", b"exam"} & set(re.findall(rb'"step":"(\w+)', before))
    done = tune(*options, "--time-budget", "24s", "--resume")
    assert done.returncode == 0, done
    assert trials.read_bytes().startswith(before)
    resumed = load_profile(tmp_path / "asterope-profile.json").left_out["memcpy"]["sizes"]
    assert set(resumed) < set(left)


def test_a_log_without_a_trial_is_no_reason_to_refuse(tune, begun: bytes, tmp_path: Path) -> None:
    for _ in range(2):
        message = tune_error(tune(*SHORT, "--quiet", "--time-budget", "0.001s"), 1)
        assert "before anything was timed: give more" in message
    lines = begun.splitlines(keepends=True)
    trials = tmp_path / "asterope-profile.json.trials"
    for last in (b'"calls"', b'"ns"'):  # killed while calibrating, and in its first trial
        (tmp_path / "asterope-profile.json").unlink(missing_ok=True)
        first = next(i for i, line in enumerate(lines) if last in line)
        trials.write_bytes(b"".join(lines[: first + 1]))
        done = tune(*SHORT, "--quiet")
        refused = last == b'"ns"'
        # a log that nobody asked for goes when the profile is there
        assert (done.returncode, trials.exists()) == ((2, True) if refused else (0, False))


# --- No regular files -----------------------------------------------------------------------------


def test_a_run_into_a_device_leaves_it_one_and_renders_nothing(tune, tmp_path: Path) -> None:
    node = make_device(tmp_path / "node")
    done = tune(*ONE_SIZE, "--quiet", "-o", "node")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "node is no regular file: no routine is rendered from it" in done.all_stderr
    assert stat.S_ISCHR(node.stat().st_mode)
    assert os.listdir(tmp_path) == ["node"]
