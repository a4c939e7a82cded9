"""The folder of raw files admits processes that give up root's rights."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from asterope.record.recorder import admit_other_users, closed_to_others
from asterope.scratch_folder import scratch_folder

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives up its rights")


def can_write_as_nobody(folder: Path) -> bool:
    child = os.fork()
    if child == 0:
        os.setgid(65534)
        os.setuid(65534)
        try:
            (folder / "1-0.raw").touch()
            os._exit(0)
        except OSError:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_other_users_may_make_their_files_there_and_see_no_others() -> None:
    base = Path(tempfile.gettempdir())  # pytest's folders are private
    with scratch_folder("asterope-test-", base) as folder:
        files = folder / "files"
        files.mkdir(0o700)
        assert not can_write_as_nobody(files) and closed_to_others(files) == folder
        admit_other_users(files)
        assert can_write_as_nobody(files) and closed_to_others(files) is None
        assert files.stat().st_mode & 0o7777 == 0o1733
