"""The recorder library: its place and the folder that it writes into."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from ..faults import Failure
from ..scratch_folder import MARK

LIBRARY = "libasterope_record.so"

# The remedy if root began, and processes of other users cannot make their files.
TO_OPEN = "have TMPDIR name a folder that other users may enter"

_MEMORY = "/dev/shm"
_ROOM = 256 << 20  # bytes: a process takes up to 0.2 MB, and 0.025 MB for each further thread


def find_library() -> Path:
    """Looks in a checkout, in an installed tree or beside the package. Raises Failure if the
    library is not there."""
    above = Path(__file__).resolve().parents  # record, the package, and so on
    if (above[3] / "tuner" / "record").is_dir():  # a checkout
        places = [Path(os.environ.get("ASTEROPE_BUILD_DIR", above[3] / "build"))]
    else:  # where pip puts it, or above share/asterope/python
        places = [above[1], *(root / "lib" / "asterope" for root in above[5:6])]
    for path in (place.resolve() / LIBRARY for place in places):
        if path.is_file():
            return path
    raise Failure(f"{LIBRARY} is not there: build it")


def place_for_files() -> Path:
    """The folder in which raw files cost programs the least: in memory. On a disk each process that
    starts waits some milliseconds for the file system's journal. If memory is short or TMPDIR names
    a folder, it is the usual one for temporary files."""
    named = any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))  # tempfile's
    with contextlib.suppress(OSError):
        space = os.statvfs(_MEMORY)
        roomy = space.f_bavail * space.f_frsize >= _ROOM
        if roomy and not named and os.access(_MEMORY, os.W_OK | os.X_OK):
            return Path(_MEMORY)
    return Path(tempfile.gettempdir())


def admit_other_users(folder: Path) -> None:
    """Opens the folder to other users if this is root, as servers give up its rights, and fork or
    exec. Such processes may make files there, but not list the others'. The scratch folders above
    it are opened, too. Raises OSError."""
    if os.geteuid() == 0:
        folder.chmod(0o1733)
        for one in folder.parents:
            if (one / MARK).exists():
                one.chmod(0o711)


def closed_to_others(folder: Path) -> Path | None:
    """If this is root, the first folder above it that other users may not enter; else None."""
    way = reversed(folder.resolve().parents) if os.geteuid() == 0 else ()
    return next((one for one in way if not one.stat().st_mode & stat.S_IXOTH), None)
