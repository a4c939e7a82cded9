"""Writes files so that a reader finds the old ones or the new ones, never half of one."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import select
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from .faults import BadInput, Failure, one_line
from .interrupt import interrupts_held

_ROOM = 256 << 10  # bytes that a result needs beside the old one


def write_files(folder: Path, texts: Mapping[str, str | bytes]) -> None:
    """Writes `texts` into `folder`, which is created where it is missing: file name -> text, which
    is written in UTF-8, or bytes.

    Each is written in full beside its target before the first is renamed. So a full disk or a
    missing permission leaves every target as it was. Interrupts wait until all is done. Only a
    crash of the system between the renames can leave one file new and another old; POSIX has no
    rename of two. Pipes and devices are written first: an interrupt may cut these short. Leftovers
    of killed processes are removed there. Raises OSError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise _os_error(errno.ENOTDIR, folder) from None
    contents = [
        (*_find_target(folder / name), text.encode("utf-8") if isinstance(text, str) else text)
        for name, text in texts.items()
    ]
    for file, into, content in contents:
        if into is not None:
            _write_into(file, into, content)
    with interrupts_held(), ExitStack() as stack:
        staged = [
            (_stage(file, content, stack), file) for file, into, content in contents if into is None
        ]
        for beside, file in staged:
            os.replace(beside, file)


def check_output(path: Path) -> None:
    """Checks, before the work, a file that a user names for its result. Raises BadInput if the file
    surely cannot be written, and Failure if a trial write fails, as on a full disk."""
    if path.is_dir():
        raise BadInput(f"{one_line(path)}: a folder: name a file")
    folder = _nearest(path.parent)
    if not folder.is_dir():
        raise BadInput(f"{one_line(path)}: {one_line(folder)} is no folder: choose another place")
    if not path.exists() and not os.access(folder, os.W_OK):
        raise BadInput(f"{one_line(path)}: may not be written there: choose another place")
    try:
        target, into = _find_target(path)
        if into is None:
            with tempfile.TemporaryFile(dir=_nearest(target.parent), buffering=0) as file:
                _write_all(file.fileno(), bytes(_ROOM), path)
    except OSError as error:
        raise Failure(f"{one_line(path)}: cannot write: {error.strerror}") from None


def _nearest(folder: Path) -> Path:
    """The folder, or the one above it in which it would have to be made."""
    while not folder.exists():
        folder = folder.parent
    return folder


def refuse_loss(path: str | Path, other: str | Path, called: str, option: str) -> None:
    """Checks that writing `path`, which the option names, does not replace `other`. Raises
    BadInput. A device or pipe replaces nothing."""
    if os.path.realpath(path) != os.path.realpath(other):
        return
    if os.path.isfile(path) or not os.path.exists(path):
        raise BadInput(f"{one_line(path)}: is {called}, and would be lost: choose another {option}")


def write_output(path: Path, content: str | bytes) -> None:
    """Raises Failure."""
    try:
        write_files(path.parent, {path.name: content})
    except OSError as error:
        raise Failure(f"{one_line(path)}: cannot write: {error.strerror}") from None


def _os_error(number: int, path: Path, text: str = "") -> OSError:
    return OSError(number, text or os.strerror(number), str(path))


def _find_target(path: Path) -> tuple[Path, int | Path | None]:
    """The file behind all links, which is to be replaced (None). A device, a pipe or /dev/stdout is
    written into instead: by a descriptor of this process, or by the file."""
    # The system's own word first: it knows which links must not be followed (in /tmp, those of
    # others), and when they go round in a circle.
    with suppress(FileNotFoundError):
        os.stat(path)
    file = path
    for _ in range(41):  # as many links as the system follows; they may change meanwhile
        descriptor = _own_descriptor(file)
        if descriptor is not None:
            return file, descriptor
        try:
            mode = os.lstat(file).st_mode
        except FileNotFoundError:
            return file, None
        if stat.S_ISDIR(mode):
            raise _os_error(errno.EISDIR, path)
        if not stat.S_ISLNK(mode):
            return file, None if stat.S_ISREG(mode) else file
        file = file.parent / os.readlink(file)
    raise _os_error(errno.ELOOP, path)


def _own_descriptor(path: Path) -> int | None:
    """N where `path` is this process's /proc/self/fd/N, also by way of /dev/fd."""
    own = os.path.realpath(path.parent) == os.path.realpath("/proc/self/fd")
    return int(path.name) if own and path.name.isdecimal() else None


def _write_into(file: Path, into: int | Path, content: bytes) -> None:
    try:
        # It does not block: a pipe without a reader would keep us for ever.
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
        descriptor = os.dup(into) if isinstance(into, int) else os.open(into, flags)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        why = "nothing reads this pipe or socket: start its reader first"
        raise _os_error(errno.ENXIO, file, why) from None
    try:
        _write_all(descriptor, content, file)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, content: bytes, path: Path, *, sync: bool = False) -> None:
    """`path`: the file's name, which errors of writing lack."""
    try:
        while content:
            try:
                content = content[os.write(descriptor, content) :]
            except BlockingIOError:
                select.select([], [descriptor], [])
        if sync:
            os.fsync(descriptor)
    except OSError as error:
        raise _os_error(error.errno or errno.EIO, path) from None


def _stage(target: Path, content: bytes, stack: ExitStack) -> Path:
    """Writes a temporary file beside the target: ".NAME.XXXXXX.tmp", as the C++ commands do. It is
    locked, and gone when the stack is left, unless it was renamed by then."""
    _remove_leftovers(target)
    while True:
        beside = target.parent / f"{_hidden(target)}.{secrets.token_hex(3)}.tmp"
        # tempfile will not do: its files are private, these take the mode that the umask gives.
        file = stack.enter_context(beside.open("xb", buffering=0))  # nothing is left to close()
        stack.callback(beside.unlink, missing_ok=True)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:  # no other process took it for a leftover just now
            break
    _write_all(file.fileno(), content, target, sync=True)
    return beside


def _hidden(target: Path) -> str:
    """ ".NAME", which ".XXXXXX.tmp" may follow: file systems take names of up to 255 bytes."""
    return os.fsdecode(os.fsencode(f".{target.name}")[:244])


def _remove_leftovers(target: Path) -> None:
    """Removes the temporary files of processes that were killed: these hold no locks any more."""
    pattern = re.compile(rf"{re.escape(_hidden(target))}\.[0-9A-Za-z]{{6}}\.tmp")
    for path in filter(lambda path: pattern.fullmatch(path.name), target.parent.iterdir()):
        # or another process is writing it, or it is not ours to remove
        with suppress(OSError), locked(path) as status:
            if stat.S_ISREG(status.st_mode):
                path.unlink()


@contextmanager
def locked(file: Path) -> Iterator[os.stat_result]:
    """Raises OSError, also where another process has the file locked."""
    flags = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY
    descriptor = os.open(file, flags)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield os.fstat(descriptor)
    finally:
        os.close(descriptor)
