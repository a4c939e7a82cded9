"""Folders of killed runs go with the next one; those of runs that live, and of others, stay."""

import fcntl
import os

from asterope.scratch_folder import scratch_folder


def test_what_a_killed_run_left_goes_and_nothing_else(tmp_path):
    for name in ("trial-left", "trial-lives", "trial-unmarked", "other-left"):
        (tmp_path / name / "files").mkdir(parents=True)
        if name != "trial-unmarked":
            (tmp_path / name / ".in-use").touch()
    with (tmp_path / "trial-lives" / ".in-use").open("w") as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        with scratch_folder("trial-", tmp_path) as own, scratch_folder("trial-", tmp_path):
            assert own.is_dir()
    assert {*os.listdir(tmp_path)} == {"trial-lives", "trial-unmarked", "other-left"}
