"""Copies that winners are judged by besides libc: asterope-tune --reference."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from asterope.profile import load_profile
from command_errors import SHORTEST, interrupted, json_lines, make_device, run_command, tune_error

pytestmark = pytest.mark.one_cpu

RUN = (*SHORTEST, "--sizes", "4K", "--no-generate")


@pytest.fixture(scope="module")
def judged(build_dir: Path, peers: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with two references."""
    folder = tmp_path_factory.mktemp("judged")
    done = run_command(
        build_dir / "asterope-tune", *RUN, "--log", "trials.jsonl", "-o", "p.json",
        "--time-budget", "1h",
        "--reference", f"new-1.0={peers}:right", "--reference", f"Slow={peers}:slow",
        cwd=folder)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "then that of the fastest of libc and the references" in done.stdout
    return folder


def test_references_run_beside_libc_and_are_named_in_log_and_profile(judged: Path) -> None:
    header, *figures = json_lines(judged / "trials.jsonl")
    names = ["new-1.0", "Slow"]
    assert [one["name"] for one in header["options"]["references"]] == names
    steps: dict[str, set[str]] = {}
    for figure in figures:
        if "step" in figure:
            timed = steps.setdefault(figure["step"].split()[0], set())
        timed.add(figure.get("candidate"))
    beside = {f"reference {name}" for name in names}
    assert beside < steps["pipelines"] and beside < steps["small"]
    assert not beside & steps["overlapping"]
    profile = load_profile(judged / "p.json")
    assert profile.raw["search"]["references"] == names
    for kind in ("pipelines", "small"):
        (choice,) = profile.of(kind)
        for measured in choice.evidence["workloads"].values():
            assert measured["best_reference"] in {"libc", "new-1.0"}
            if measured["best_reference"] == "libc":
                assert measured["best_ratio"] == measured["ratio"]


def test_a_replay_takes_the_references_from_the_log(tune, judged: Path, tmp_path: Path) -> None:
    done = tune("replay", judged / "trials.jsonl", "-o", "p.json", "--no-generate")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "p.json").read_bytes() == (judged / "p.json").read_bytes()


def test_resuming_needs_the_same_ones(tune, judged: Path, peers: Path, tmp_path: Path) -> None:
    lines = (judged / "trials.jsonl").read_bytes().splitlines(keepends=True)
    cut = b"".join(lines[: len(lines) // 2])
    (tmp_path / "trials.jsonl").write_bytes(cut)
    resume = (*RUN, "--log", "trials.jsonl", "-o", "p.json", "--resume")
    right, slow = f"new-1.0={peers}:right", f"Slow={peers}:slow"
    for other in ([], [right], [slow, right], [f"new-1.0={peers}:slow", slow]):
        options = [word for text in other for word in ("--reference", text)]
        assert "its search had another references" in tune_error(tune(*resume, *options), 2)
    assert (tmp_path / "trials.jsonl").read_bytes() == cut
    done = tune(*resume, "--reference", right, "--reference", slow)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_unusable_reference_is_named_before_a_sample(tune, peers: Path, tmp_path: Path) -> None:
    for symbol, reason in (("too_short", "wrong byte"), ("leaves", "ends the process")):
        message = tune_error(tune(*RUN, "--reference", f"new={peers}:{symbol}"), 2)
        assert message.startswith("asterope-tune: --reference new ") and reason in message
        assert list(tmp_path.iterdir()) == []


LATE = {  # tests/base/test_watched_run.cpp has the other ways to end a run
    "crashes_late": "new (crashes_late of {}) ended the run: the process died: Aborted: ",
    "idles_late": "new copied right before the search, and copies wrong since",
}


@pytest.mark.parametrize(("symbol", "said"), LATE.items())
def test_a_reference_that_goes_wrong_in_the_middle_is_named(
    tune, peers: Path, tmp_path: Path, symbol: str, said: str
) -> None:
    done = tune(*RUN, "-o", "p.json", "--reference", f"new={peers}:{symbol}")
    message = tune_error(done, 1)
    assert message.startswith(f"asterope-tune: reference {said.format(peers)}")
    assert "leave it out, or repair it" in message
    # A log that cannot be trusted is gone; another is named, as it hinders the next search.
    left = {"late", "p.json.trials"} if symbol == "crashes_late" else {"late"}
    assert {path.name for path in tmp_path.iterdir()} == left
    assert ("the log p.json.trials" in message) == (len(left) == 2)


def test_one_that_goes_wrong_leaves_a_log_that_is_a_device(
    tune, peers: Path, tmp_path: Path
) -> None:
    node = make_device(tmp_path / "node")
    options = ("-o", "p.json", "--log", "node", "--reference", f"new={peers}:idles_late")
    assert "copies wrong since" in tune_error(tune(*RUN, *options), 1)
    assert node.is_char_device()


def test_one_that_went_wrong_before_an_interrupt_leaves_no_log_to_resume_from(
    build_dir: Path, peers: Path, tmp_path: Path
) -> None:
    """tests/base/test_watched_run.cpp has references that do not return."""
    late = tmp_path / "late"
    run = (*RUN, "-o", "p.json", "--reference", f"new={peers}:idles_late")
    command = (build_dir / "asterope-tune", *run)
    done = interrupted(command, lambda _: late.exists(), signal.SIGTERM, cwd=tmp_path)
    assert done.returncode == 1 and "copies wrong since" in done.stderr
    assert list(tmp_path.iterdir()) == [late]
