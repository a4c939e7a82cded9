"""Opens and reads files that a user named, as the C++ commands do."""

from __future__ import annotations

import codecs
import errno
import os
import stat
from typing import BinaryIO


def open_to_read(path: str | os.PathLike) -> BinaryIO:
    """Opens a file that can peek; a byte order mark at its beginning is skipped.

    A pipe does not wait for a writer. Raises OSError, also for a pipe that nothing writes to.
    """
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), "rb")
    try:
        os.set_blocking(file.fileno(), True)  # only opening must not wait
        if not file.peek(1) and stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            text = "a pipe that nothing was written to: start its writer first"
            raise OSError(errno.ENODATA, text, os.fspath(path))
        if file.peek(len(codecs.BOM_UTF8)).startswith(codecs.BOM_UTF8):
            file.read(len(codecs.BOM_UTF8))
    except OSError:
        file.close()
        raise
    return file
