"""Runs that are cut short: what was timed is kept, and --resume comes to the same end."""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from asterope.profile import load_profile
from command_errors import without_warnings

pytestmark = pytest.mark.one_cpu

RUN = ("--rigor", "quick", "--sizes", "128,1K,64K", "--no-generate")
SHORT = ("--rigor", "quick", "--sizes", "128", "--workload", "hot", "--space", "paper")


@pytest.fixture(scope="module")
def program(build_dir: Path) -> Path:
    return build_dir / "asterope-tune"


@dataclass
class Whole:
    """A run that was left alone."""

    log: bytes
    path: Path
    profile: bytes

    def header(self) -> dict:
        return json.loads(self.log.splitlines()[0])


@pytest.fixture(scope="module")
def whole(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    command = [program, *RUN, "--quiet", "--seed", "5", "--log", "trials.jsonl", "-o", "p.json"]
    subprocess.run(command, cwd=folder, check=True, timeout=180)
    log = folder / "trials.jsonl"
    return Whole(log.read_bytes(), log, (folder / "p.json").read_bytes())


@pytest.fixture
def run(program: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    def run(*arguments: object, **settings: object) -> subprocess.CompletedProcess:
        command = [str(argument) for argument in (program, *arguments)]
        settings = {"cwd": tmp_path, "timeout": 180, **settings}
        return subprocess.run(command, capture_output=True, text=True, **settings)

    return run


@pytest.fixture
def replay(run, whole: Whole) -> Callable[..., subprocess.CompletedProcess]:
    """Replays the whole run into p.json with a log of its own, new.jsonl."""

    def replay(*arguments: object) -> subprocess.CompletedProcess:
        into = ("-o", "p.json", "--log", "new.jsonl")
        return run("replay", whole.path, *into, "--quiet", "--no-generate", *arguments)

    return replay


def lines_on_stderr(done: subprocess.CompletedProcess) -> list[str]:
    return without_warnings(done.stderr).splitlines()


def only_error(done: subprocess.CompletedProcess, code: int) -> str:
    assert done.returncode == code, done
    errors = lines_on_stderr(done)
    assert len(errors) == 1, done
    assert errors[0].isprintable()
    return errors[0]


def wait_for_bytes(log: Path, count: int, process: subprocess.Popen) -> None:
    """Returns when the log has so many bytes, or the process has ended."""
    while process.poll() is None:
        try:
            if log.stat().st_size >= count:
                return
        except FileNotFoundError:
            pass


# --- Killed and resumed ---------------------------------------------------------------------------


def test_a_replay_of_the_whole_log_gives_the_same_profile_and_the_same_log(
    replay, whole: Whole, tmp_path: Path
) -> None:
    assert replay().returncode == 0
    assert (tmp_path / "p.json").read_bytes() == whole.profile
    assert (tmp_path / "new.jsonl").read_bytes() == whole.log


@pytest.mark.slow
def test_fifty_random_kills_each_resumed_give_the_profile_of_the_run_left_alone(
    program: Path, replay, whole: Whole, tmp_path: Path
) -> None:
    log, profile = tmp_path / "new.jsonl", tmp_path / "p.json"
    command = [program, "replay", whole.path, "-o", profile, "--log", log]
    killed = 0
    for seed in range(50):
        moment = random.Random(seed).randrange(len(whole.log))
        process = subprocess.Popen([*command, "--quiet", "--no-generate"], cwd=tmp_path)
        wait_for_bytes(log, moment, process)
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        # At most the trial under way is lost, and what is there is what was timed.
        left = log.read_bytes() if log.exists() else b""
        assert whole.log.startswith(left)
        assert not profile.exists() or profile.read_bytes() == whole.profile
        done = replay(*(["--resume"] if log.exists() else []))
        assert not left or b"\n" in left  # the header is there whole or not at all
        assert done.returncode == 0, done
        assert profile.read_bytes() == whole.profile, f"killed at {len(left)} bytes"
        log.unlink()
        profile.unlink()
    assert killed >= 25  # the others had finished by then: replays are fast


def test_a_run_killed_again_and_again_comes_to_the_same_end(
    program: Path, replay, whole: Whole, tmp_path: Path
) -> None:
    log = tmp_path / "new.jsonl"
    command = [program, "replay", whole.path, "-o", "p.json", "--log", log, "--quiet"]
    for part in range(1, 6):
        resume = ["--resume"] if log.exists() else []
        process = subprocess.Popen([*command, *resume, "--no-generate"], cwd=tmp_path)
        wait_for_bytes(log, len(whole.log) * part // 6, process)
        process.kill()
        process.wait()
    assert replay("--resume").returncode == 0
    assert (tmp_path / "p.json").read_bytes() == whole.profile


def test_a_killed_run_on_the_machine_goes_on(program: Path, run, tmp_path: Path) -> None:
    trials = tmp_path / "asterope-profile.json.trials"
    process = subprocess.Popen([program, *RUN, "--quiet"], cwd=tmp_path)
    wait_for_bytes(trials, 200_000, process)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    left = trials.read_bytes()
    whole_lines = left[: left.rindex(b"\n") + 1]
    assert not (tmp_path / "asterope-profile.json").exists()

    # Without --resume nothing of it is lost.
    message = only_error(run(*RUN, "--quiet"), 2)
    assert "asterope-profile.json.trials" in message
    assert "--resume" in message
    assert trials.read_bytes() == left

    done = run(*RUN, "--resume", "--log", "asterope-profile.json.trials")
    assert done.returncode == 0, done
    assert trials.read_bytes().startswith(whole_lines)
    profile = load_profile(tmp_path / "asterope-profile.json")
    assert profile.complete
    assert profile.search["resumed"] == 1
    lines = [json.loads(line) for line in trials.read_bytes().splitlines()[1:]]
    assert profile.search["trials"] == sum("ns" in line for line in lines)


def test_the_log_that_nobody_asked_for_goes_when_the_profile_is_there(run, tmp_path: Path) -> None:
    assert run(*SHORT, "--no-generate", "--quiet").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["asterope-profile.json"]


@pytest.mark.parametrize("log", [(), ("--log", "none.jsonl")], ids=["beside the profile", "named"])
def test_to_resume_where_there_is_no_log_is_refused(run, tmp_path: Path, log) -> None:
    message = only_error(run(*SHORT, "--no-generate", "--resume", *log), 2)
    assert ("none.jsonl" if log else "asterope-profile.json.trials") in message
    assert "leave out --resume" in message
    assert list(tmp_path.iterdir()) == []


def test_a_replay_cannot_resume_from_a_log_that_is_not_there(replay, tmp_path: Path) -> None:
    assert "new.jsonl" in only_error(replay("--resume"), 2)
    assert list(tmp_path.iterdir()) == []


# --- Other ends -----------------------------------------------------------------------------------


def test_hang_ups_are_ignored_where_they_were(program: Path, tmp_path: Path) -> None:
    """As nohup does."""
    process = subprocess.Popen(
        [program, *SHORT, "--no-generate", "--quiet"],
        cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    wait_for_bytes(tmp_path / "asterope-profile.json.trials", 5000, process)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=120) == 0


def test_a_stopped_and_continued_run_goes_on_and_repeats_what_was_hit(
    program: Path, tmp_path: Path
) -> None:
    process = subprocess.Popen([program, *RUN, "--quiet", "--log", "t.jsonl"], cwd=tmp_path)
    wait_for_bytes(tmp_path / "t.jsonl", 50_000, process)
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.1)
    process.send_signal(signal.SIGCONT)
    assert process.wait(timeout=180) == 0
    noise = load_profile(tmp_path / "asterope-profile.json").raw["search"]["noise"]
    assert noise["disturbed"]["stalled"] >= 1
    assert noise["repeated"] >= 1


def test_a_vanished_output_folder_costs_no_trial(program: Path, run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    options = [*SHORT, "--no-generate", "--quiet", "-o", "out/p.json", "--log", "trials.jsonl"]
    process = subprocess.Popen([program, *options], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    wait_for_bytes(tmp_path / "trials.jsonl", 5000, process)
    shutil.rmtree(tmp_path / "out")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "out/p.json" in errors
    before = (tmp_path / "trials.jsonl").read_bytes()

    (tmp_path / "out").mkdir()
    assert run(*options, "--resume").returncode == 0
    after = (tmp_path / "trials.jsonl").read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b'"ns"') == 0  # nothing had to be timed again
    load_profile(tmp_path / "out" / "p.json")


# --- The time budget ------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_budget_ends_in_a_valid_profile_that_resuming_completes(run, tmp_path: Path) -> None:
    # Exhaustive, these sizes take more than a minute anywhere.
    sizes = "1K,2K,4K,8K,16K,32K,64K,128K,256K,512K,1M,2M,4M,8M,16M,32M"
    options = ["--rigor", "exhaustive", "--workload", "cold", "--space", "paper", "--sizes", sizes]
    done = run(*options, "--time-budget", "15s")
    if done.returncode == 1 and "before the first size" in done.stderr:
        pytest.skip("this machine does not get through one size in the budget")
    assert done.returncode == 0, done
    profile = load_profile(tmp_path / "asterope-profile.json")
    assert not profile.complete
    left = profile.raw["left_out"]["sizes"]
    found = [interval.size for interval in profile.intervals]
    assert sorted([*left, *found]) == [1024 << i for i in range(16)]
    assert profile.raw["search"]["time_budget_seconds"] == 15
    assert (tmp_path / "asterope_memcpy.c").exists()
    assert "left out" in done.stdout + done.stderr
    assert (tmp_path / "asterope-profile.json.trials").exists()  # for --resume


@pytest.mark.parametrize("budget", ["0s", "0", "10", "10x", "-5m", "nan", "infs", "", "5m30s"])
def test_a_bad_budget_is_refused(run, tmp_path: Path, budget: str) -> None:
    only_error(run(*SHORT, "--time-budget", budget), 2)
    assert list(tmp_path.iterdir()) == []


def test_timings_say_where_the_time_went(run, tmp_path: Path) -> None:
    done = run(*SHORT, "--no-generate", "--timings")
    assert done.returncode == 0
    phases = load_profile(tmp_path / "asterope-profile.json").raw["search"]["phases"]
    assert {"verifying", "calibrating", "screening", "run-off", "small copies"} <= set(phases)
    for phase in phases:
        assert any(line.startswith(phase) for line in done.stdout.splitlines())


# --- Two at once ----------------------------------------------------------------------------------


@pytest.mark.parametrize("second", [("--resume",), ()], ids=["resumed", "begun"])
@pytest.mark.parametrize("named", [True, False], ids=["its log", "its profile"])
def test_a_log_has_one_writer(
    program: Path, run, tmp_path: Path, second: tuple[str, ...], named: bool
) -> None:
    log = tmp_path / ("t.jsonl" if named else "asterope-profile.json.trials")
    options = [*RUN, "--quiet", *(["--log", "t.jsonl"] if named else [])]
    first = subprocess.Popen([program, *options], cwd=tmp_path)
    try:
        wait_for_bytes(log, 5_000, first)
        message = only_error(run(*options, *second), 2)
        assert log.name in message
        assert "is being written by another run" in message
    finally:
        first.send_signal(signal.SIGTERM)
        assert first.wait(timeout=60) == 130
    for line in log.read_bytes().splitlines():
        json.loads(line)


def test_a_log_that_another_resumes_is_not_touched(replay, whole: Whole, tmp_path: Path) -> None:
    log = tmp_path / "new.jsonl"
    left = whole.log[: len(whole.log) // 2]
    log.write_bytes(left)
    with log.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        message = only_error(replay("--resume"), 2)
        assert "new.jsonl is being written by another run" in message
        assert log.read_bytes() == left
    assert replay("--resume").returncode == 0
    assert (tmp_path / "p.json").read_bytes() == whole.profile


# --- No regular files -----------------------------------------------------------------------------


def test_a_loop_of_links_as_log_is_refused(run, tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to("log")
    for more in ((), ("--resume",)):
        message = only_error(run(*RUN, "--quiet", "--log", "log", *more), 2)
        assert "cannot write log: its symbolic links lead round in a circle" in message
    assert "log log: Too many levels of symbolic links" in only_error(run("replay", "log"), 2)
    assert os.listdir(tmp_path) == ["log"]


def test_a_log_behind_a_link_is_written_there(replay, whole: Whole, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").symlink_to("there.jsonl")
    assert replay().returncode == 0
    assert (tmp_path / "there.jsonl").read_bytes() == whole.log
    assert (tmp_path / "new.jsonl").is_symlink()


def test_a_log_with_a_byte_order_mark_is_resumed(replay, whole: Whole, tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    (tmp_path / "new.jsonl").write_bytes(mark + whole.log[: len(whole.log) // 2])
    assert replay("--resume").returncode == 0
    assert (tmp_path / "p.json").read_bytes() == whole.profile
    lines = (tmp_path / "new.jsonl").read_bytes().removeprefix(mark).splitlines()
    assert all(json.loads(line) for line in lines)


def test_a_run_into_a_device_leaves_it_one_and_renders_nothing(run, tmp_path: Path) -> None:
    node = tmp_path / "node"
    try:
        os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        node.write_bytes(b"x")
    except OSError as error:
        pytest.skip(f"cannot make a device node: {error.strerror}")
    done = run(*SHORT, "--quiet", "-o", "node")
    assert done.returncode == 0
    assert lines_on_stderr(done) == []
    assert "node is no regular file: no routine is rendered from it" in done.stderr
    assert stat.S_ISCHR(node.stat().st_mode)
    assert os.listdir(tmp_path) == ["node"]


# --- Logs that cannot be resumed from -------------------------------------------------------------


def with_header(whole: Whole, **changes: object) -> bytes:
    header, _, rest = whole.log.partition(b"\n")
    return json.dumps({**json.loads(header), **changes}).encode() + b"\n" + rest


def with_trial(whole: Whole, old: bytes, new: bytes) -> bytes:
    """Changes the first trial that has `old` in it, somewhere behind the beginning."""
    at = whole.log.index(b"\n", len(whole.log) // 4)
    return whole.log[:at] + whole.log[at:].replace(old, new, 1)


def other_machine(whole: Whole) -> bytes:
    machine = {**whole.header()["machine"], "fingerprint": "0123456789abcdef"}
    return with_header(whole, machine=machine)


def other_rigor(whole: Whole) -> bytes:
    return with_header(whole, options={**whole.header()["options"], "rigor": "standard"})


UNUSABLE = {
    "empty": (lambda whole: b"", "empty"),
    "binary": (lambda whole: b"\x7fELF\x02\x01\x01\x00\xff\xfe\n" * 9, "log"),
    "another file": (lambda whole: b'{"format": "asterope-profile"}\n', "no trial log"),
    "a list": (lambda whole: b"[1, 2]\n", "no trial log"),
    "another schema": (lambda whole: with_header(whole, version=1), "version 1"),
    "another machine": (other_machine, "another machine"),
    "another tool": (lambda whole: with_header(whole, tool_version="0.0.1"), "another version"),
    "another space": (lambda whole: with_header(whole, space_hash="0"), "another space"),
    "another seed": (lambda whole: with_header(whole, seed=6), "another seed"),
    "another rigor": (other_rigor, "another rigor"),
    "no options": (lambda whole: with_header(whole, options=None), "options: null where"),
    "thinned": (lambda whole: with_header(whole, thinned={"samples": 8}), "thinned"),
    "unknown candidate": (
        lambda whole: with_trial(whole, b'"candidate":"libc"', b'"candidate":"ours"'),
        "not what this search asks for",
    ),
    "not a number": (lambda whole: with_trial(whole, b'"ns":', b'"ns":NaN,"x":'), "line"),
    "a negative time": (lambda whole: with_trial(whole, b'"ns":', b'"ns":-'), "no time above 0"),
    "a hole": (lambda whole: with_trial(whole, b'{"size"', b"\x00\x00\x00"), "log"),
    "no JSON": (lambda whole: with_trial(whole, b'{"size"', b"size"), "line"),
}


@pytest.mark.parametrize("fault", UNUSABLE)
def test_a_log_that_is_not_of_this_search_is_refused_and_kept(
    replay, whole: Whole, tmp_path: Path, fault: str
) -> None:
    make, expected = UNUSABLE[fault]
    content = make(whole)
    (tmp_path / "new.jsonl").write_bytes(content)
    message = only_error(replay("--resume"), 2)
    assert "new.jsonl" in message
    assert expected in message
    assert len(message) < 400
    if fault != "unknown candidate":  # only found on the way
        assert (tmp_path / "new.jsonl").read_bytes() == content
    assert not (tmp_path / "p.json").exists()


def test_a_torn_last_line_is_dropped_with_a_warning(replay, whole: Whole, tmp_path: Path) -> None:
    end = whole.log.index(b"\n", len(whole.log) // 2) - 10
    (tmp_path / "new.jsonl").write_bytes(whole.log[:end])
    done = replay("--resume")
    assert done.returncode == 0
    assert "warning: new.jsonl: its last line is not whole and was dropped" in done.stderr
    assert (tmp_path / "p.json").read_bytes() == whole.profile


def test_an_existing_log_is_not_replaced(run, whole: Whole, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_bytes(whole.log)
    message = only_error(run(*RUN, "--quiet", "--log", "new.jsonl"), 2)
    assert "new.jsonl" in message
    assert "--resume" in message
    assert (tmp_path / "new.jsonl").read_bytes() == whole.log


def test_a_log_that_ends_early_cannot_be_replayed(run, whole: Whole, tmp_path: Path) -> None:
    lines = whole.log.splitlines(keepends=True)
    (tmp_path / "half.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    message = only_error(run("replay", "half.jsonl", "-o", "p.json", "--quiet"), 2)
    assert "half.jsonl" in message
    assert "--resume" in message
    assert os.listdir(tmp_path) == ["half.jsonl"]
