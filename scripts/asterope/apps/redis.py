"""redis: GET and SET of large values over a Unix socket."""

from __future__ import annotations

import csv
import os
import socket
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

from .application import PATIENCE, Application, Cell, Failure, Place, how_it_ended

SIZES = {"64 KiB": 64 << 10, "256 KiB": 256 << 10, "1 MiB": 1 << 20}
BYTES = 96 << 20  # of values, in one turn of one server
CLIENTS = 4  # so that the server always has a request to go on with


class Server:
    """A redis-server that keeps nothing on disk, and is driven by redis-benchmark."""

    def __init__(self, folder: Path, place: Place) -> None:
        self._place = place
        # a socket's path has 107 characters at most, and `folder` may be deep: so a name in it
        self._folder = tempfile.TemporaryDirectory(prefix="s", dir=folder)
        command = ["redis-server", "--port", "0", "--unixsocket", "s", "--save", ""]
        self._process = subprocess.Popen(
            command,
            cwd=self._folder.name,
            env=place.environment(),
            preexec_fn=place.enter,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.pid = self._process.pid
        try:
            self._wait_for_it()
            place.check(self.pid, "redis-server")
        except BaseException:
            self.close()
            raise

    def _wait_for_it(self) -> None:
        folder = os.open(self._folder.name, os.O_PATH)
        deadline = time.monotonic() + PATIENCE
        try:
            while True:
                with socket.socket(socket.AF_UNIX) as connection:
                    try:
                        connection.connect(f"/proc/self/fd/{folder}/s")
                        return
                    except OSError:
                        pass
                self._check_that_it_lives()
                if time.monotonic() > deadline:
                    raise Failure(f"redis-server does not listen after {PATIENCE:.0f} s")
                time.sleep(0.02)
        finally:
            os.close(folder)

    def _check_that_it_lives(self) -> None:
        code = self._process.poll()
        if code is not None:
            with_what = "with the library" if self._place.library else "without the library"
            raise Failure(f"redis-server {how_it_ended(code)} ({with_what})")

    def seconds(self, test: str, size: int) -> float:
        """Of one request, "set" or "get" of so many bytes, as redis-benchmark counts them."""
        command = ["redis-benchmark", "-s", "s", "-t", test, "-d", str(size), "-c", str(CLIENTS)]
        command += ["-n", str(BYTES // size), "--csv"]
        self._check_that_it_lives()
        try:
            done = subprocess.run(
                command,
                cwd=self._folder.name,
                preexec_fn=self._place.enter_as_driver,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            self._check_that_it_lives()
            raise Failure(f"redis-benchmark takes more than {PATIENCE:.0f} s") from None
        self._check_that_it_lives()
        for row in csv.reader(done.stdout.splitlines()):
            if len(row) >= 2 and row[0] == test.upper():
                return 1 / float(row[1])
        raise Failure(f"redis-benchmark {how_it_ended(done.returncode)} and says no {test.upper()}")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


def _ask(test: str, size: int, server: Server) -> float:
    return server.seconds(test, size)


REDIS = Application(
    name="redis",
    unit="a request",
    programs=("redis-server", "redis-benchmark"),
    package="redis-server",
    # SET first: what GET fetches is what was set last
    cells=tuple(
        Cell(f"{test.upper()} {label}", partial(_ask, test, size))
        for label, size in SIZES.items()
        for test in ("set", "get")
    ),
    start=Server,
    rounds=9,
)
