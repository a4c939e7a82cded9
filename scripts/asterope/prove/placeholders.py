"""Fills in {port}, {socket} and {folder} in a command: each copy has its own."""

from __future__ import annotations

import difflib
import re
import secrets
import shutil
import socket
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ..faults import BadInput, Failure

_NAMES = ("port", "socket", "folder")
_PLACEHOLDER = re.compile(r"\{(" + "|".join(_NAMES) + r")\}")
_WORD = re.compile(r"(?<!\$)\{([a-z]+)\}")  # not the shell's ${word}
_ALIKE = 0.75  # of names and words: "sock" and "prot" are so alike, awk's "{print}" is not
_LONGEST_SOCKET = 107  # bytes of a Unix socket's path: sun_path in unix(7)


def placeholders_in(command: Sequence[str]) -> set[str]:
    return {name for word in command for name in _PLACEHOLDER.findall(word)}


def check_placeholders(command: Sequence[str], has_client: bool) -> None:
    """Refuses a word that resembles a placeholder, as the command would get it unchanged. Only a
    server with a client has a port and a socket. Raises BadInput."""
    for word in command:
        for name in _WORD.findall(word):
            meant = difflib.get_close_matches(name, _NAMES, 1, _ALIKE)
            if name not in _NAMES and meant:
                raise BadInput(f"there is no placeholder {{{name}}}: did you mean {{{meant[0]}}}?")
    if not has_client and placeholders_in(command) - {"folder"}:
        raise BadInput("{port} and {socket} are a server's: name its client with --client")


def _new_folder() -> Path:
    """Makes it in this run's folder, with a short name: a socket's path has little room."""
    while True:
        folder = Path(tempfile.gettempdir()) / secrets.token_hex(2)
        with suppress(FileExistsError):
            folder.mkdir(0o700)
            return folder


class Spot:
    """A folder, the path of a socket in it, and a free TCP port of the loopback. Closing the spot
    removes the folder."""

    def __init__(self, names: Collection[str] = ()) -> None:
        """`names`: a server's placeholders. Raises Failure."""
        self.folder = _new_folder()
        self.socket, self.port = self.folder / "s", 0
        if "socket" in names and len(str(self.socket).encode()) > _LONGEST_SOCKET:
            raise Failure(f"{self.socket}: too long for a socket's path: set TMPDIR to a short one")
        if "port" in names:
            with socket.socket() as listener:
                listener.bind(("127.0.0.1", 0))
                self.port = listener.getsockname()[1]

    def fill(self, command: Sequence[str]) -> list[str]:
        values = {"port": self.port, "socket": self.socket, "folder": self.folder}
        return [_PLACEHOLDER.sub(lambda found: str(values[found[1]]), word) for word in command]

    def accepts(self, names: Collection[str]) -> bool:
        """Whether a server listens at the port and the socket, if its command names them."""
        for name, family, address in (
            ("port", socket.AF_INET, ("127.0.0.1", self.port)),
            ("socket", socket.AF_UNIX, str(self.socket)),
        ):
            with socket.socket(family) as connection:
                if name in names and connection.connect_ex(address):
                    return False
        return True

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def filled(command: Sequence[str]) -> Iterator[Sequence[str]]:
    """The command with a folder for {folder}, which is removed in the end."""
    if not placeholders_in(command):
        yield command
        return
    with closing(Spot()) as spot:
        yield spot.fill(command)
