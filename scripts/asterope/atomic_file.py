"""Writes files so that a reader finds the old ones or the new ones, never half of one."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Mapping
from pathlib import Path


def write_files(folder: Path, texts: Mapping[str, str | bytes]) -> None:
    """Writes `texts` into `folder`, which is created where it is missing: file name -> text, which
    is written in UTF-8, or bytes.

    Each is written in full beside its target before the first is renamed, so a full disk or a
    missing permission leaves every target as it was. Only a crash of the system between the
    renames can leave one file new and another old; POSIX has no rename of two.
    Raises OSError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None
    for name in texts:  # the one fault of a rename that can be known before
        if (folder / name).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(folder / name))
    staged: dict[Path, Path] = {}
    try:
        for name, text in texts.items():
            beside = folder / f".{name}.{secrets.token_hex(4)}.tmp"
            # Not tempfile: its files are private, these take the mode that the umask gives.
            with open(beside, "xb") as file:
                staged[folder / name] = beside
                file.write(text.encode("utf-8") if isinstance(text, str) else text)
                file.flush()
                os.fsync(file.fileno())
        for target, beside in staged.items():
            os.replace(beside, target)
    finally:
        for beside in staged.values():
            beside.unlink(missing_ok=True)
