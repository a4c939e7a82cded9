"""However processes begin and end, what is recorded, tried and explored of them is all of it, and
nothing sure is said that is false."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_errors import finished, only_error_of, python_settings, read_json
from recorded_programs import copies_in, read_recording

# Of record_check.
FAMILIES = (
    *("foreground", "raw_exit", "restricted", "execve", "vfork", "fork", "other_user"),
    *("background", "threads", "posix_spawn", "killed"),
)
# Each is started by itself, and by a shell that waits for it.
BY_SHELL = {"alone": "{}", "below a shell": "sh -c '{}; exit $?'"}
# These ends and beginnings a shell has shown in another light than the rest.
SHELLS_DIFFER = ("raw_exit", "restricted", "background", "killed")

COUNT = 60_000
SANDBOX = "a program restricts its system calls, after which new places were not tried: prove it "


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """That other users may enter, unlike pytest's."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        yield Path(folder)


def each_family(turn: int) -> pytest.MarkDecorator:
    """Each of the three tests runs every third case daily, beginning at `turn`; --slow runs the
    others."""
    cases = [(how, shell) for shell in BY_SHELL for how in FAMILIES]
    daily = [case for case in cases if case[1] == "alone" or case[0] in SHELLS_DIFFER][turn::3]
    return pytest.mark.parametrize(
        ("how", "shell"),
        [pytest.param(*case, marks=[pytest.mark.slow] * (case not in daily)) for case in cases],
    )


@pytest.fixture
def started(check: Path, open_folder: Path):
    program = open_folder / "family"
    shutil.copy(check, program)

    def command(how: str, shell: str, count: int = COUNT) -> list[str]:
        if how == "other_user" and os.geteuid() != 0:
            pytest.skip("only root becomes another user")
        return shlex.split(BY_SHELL[shell].format(f"{program} family {how} {count}"))

    return command


@each_family(0)
def test_all_copies_are_recorded(
    started, build_dir, open_folder, tmp_path, how: str, shell: str
) -> None:
    words = ("-m", "asterope", "record", "--", *started(how, shell))
    variables = {"TMPDIR": open_folder, "ASTEROPE_BUILD_DIR": build_dir}
    done = finished(python_settings(tmp_path, *words, **variables))
    assert done.returncode == 0, done
    recording = read_recording(tmp_path / "recording.json")
    assert copies_in(recording) == COUNT
    assert recording["outlived_by"] == (how == "background")
    if how == "restricted":  # none of them was timed
        assert "system calls were restricted in 1 process" in " ".join(done.stderr.split())
        return
    assert how == "background" or recording["unseen"] == 0, done
    says = "Next: record again" if how == "background" else "asterope-prove -- "
    if how == "raw_exit" and "That is a guess" in done.stderr:  # its clock was not noted again
        says = "Next: record a longer run."
    assert recording["unseen"] > 0 or says in " ".join(done.stderr.split()), done


def calls_of(found: dict[str, Any]) -> int:
    places = [one for one in found["places"] if (one["function"], one["least"]) == ("memcpy", 8192)]
    return sum(one["calls"] for one in places if Path(one["module"]).name == "family")


def check_not_tried(done: subprocess.CompletedProcess) -> None:
    """Whatever was seen of a shell around it."""
    assert done.returncode in (1, 4), done
    assert SANDBOX in (
        only_error_of("asterope-prove", done, 1) if done.returncode == 1 else done.stdout
    )


@each_family(1)
def test_a_trial_of_each_tells_what_is_true(
    started, libraries, build_dir, open_folder, tmp_path, how: str, shell: str
) -> None:
    """Its routine is slower by far."""
    file = tmp_path / "trial.json"
    words = ("--routine", libraries / "slow.so", "--time", "1s", "--json", file, "--")
    settings = python_settings(
        tmp_path,
        *("-m", "asterope", "prove", *words, *started(how, shell)),
        **{"TMPDIR": open_folder, "ASTEROPE_BUILD_DIR": build_dir},
    )
    done = finished(settings)
    if how == "background":
        said = only_error_of("asterope-prove", done, 1)
        assert "still running when the command ended: family: prove a command that ends" in said
        return
    if how == "restricted":
        check_not_tried(done)
        return
    found = read_json(file, "trial")
    assert done.stderr == "" and done.returncode in (3, 4), done
    assert not set(found["limits"]) - {"unseen"} and calls_of(found) >= COUNT
    assert how == "raw_exit" or found["limits"] == []
    assert not found["told"] or found["gain"]["high"] < 0


@each_family(2)
def test_in_operation_each_leaves_its_figures(
    started, libraries, build_dir, open_folder, tmp_path, how: str, shell: str
) -> None:
    built = open_folder / "build"
    built.mkdir()
    shutil.copy(build_dir / "libasterope_record.so", built)
    shutil.copy(libraries / "like.so", built / "libasterope_memcpy.so")
    variables = {"TMPDIR": open_folder, "ASTEROPE_BUILD_DIR": built}

    def own(*words: object) -> Any:
        return finished(python_settings(tmp_path, "-m", "asterope", "prove", *words, **variables))

    done = own("--explore", 2, "--name", "own", "--", *started(how, shell, 20 * COUNT))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
    file = tmp_path / "merged.json"
    done = own("merge", "own", "--json", file)
    if how == "restricted":
        check_not_tried(done)
        return
    assert done.returncode in (0, 3, 4) and done.stderr == "", done
    assert calls_of(read_json(file, "trial")) == pytest.approx(20 * COUNT, rel=0.05)
