"""The shared part of drivers with a server: it ends with them, and has a folder of its own."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator


@contextlib.contextmanager
def server(*command: str) -> Iterator[socket.socket]:
    """A socket to the server, which listens at {socket}."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.relpath(f"{folder}/s")  # the path of a socket must be short
        words = [word.replace("{socket}", path) for word in command]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
            try:
                yield _connected(path, process)
            finally:
                process.terminate()


def _connected(path: str, process: subprocess.Popen) -> socket.socket:
    for _ in range(1000):
        link = socket.socket(socket.AF_UNIX)
        try:
            link.connect(path)
            return link
        except OSError:
            link.close()
        if process.poll() is not None:
            break
        time.sleep(0.01)
    raise SystemExit(f"{process.args[0]} does not start")


def ask(link: socket.socket, request: bytes, answer: memoryview) -> None:
    """Sends the request, and reads as many bytes as the answer has room for."""
    link.sendall(request)
    while len(answer):
        read = link.recv_into(answer)
        if not read:
            raise SystemExit("the server has ended")
        answer = answer[read:]
