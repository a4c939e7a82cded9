"""A folder for the files of a run. The next run removes it if this one was killed."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from .atomic_file import locked

MARK = ".in-use"  # a file in each such folder


@contextmanager
def scratch_folder(prefix: str, base: Path) -> Iterator[Path]:
    """A new folder below `base`. It is in use as long as this process or a fork of it lives: they
    have its mark locked. Folders of that prefix whose processes were all killed go. Raises
    OSError."""
    for mark in base.glob(f"{prefix}*/{MARK}"):
        with suppress(OSError), locked(mark) as status:
            if status.st_uid == os.geteuid():
                shutil.rmtree(mark.parent, ignore_errors=True)
    with ExitStack() as stack:
        while True:
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=base))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            mark = folder / MARK
            try:
                mark.touch()
                stack.enter_context(locked(mark))
            except (BlockingIOError, FileNotFoundError):
                continue  # another run took it for left over just now
            except OSError as error:
                if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
                    raise
            if mark.exists():
                break
        yield folder
