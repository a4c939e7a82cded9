"""sqlite3 with its database in memory: blobs and rows, written and read."""

from __future__ import annotations

import os
import select
import subprocess
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .application import PATIENCE, Application, Cell, Failure, Place, how_it_ended

BYTES = 32 << 20  # of blobs, in one turn of one process
ROWS = 50_000  # of 100 bytes
REPEATS = 4  # of what takes but a few milliseconds
DONE = "-- done --"


@dataclass(frozen=True)
class Work:
    """Statements for so many blobs or rows, and what is done before them, once and each time."""

    count: int
    setup: str
    before: str
    statement: str


def _blobs(size: int) -> str:
    """A table of random blobs; its pages, of 4 KiB, are what sqlite copies from and to."""
    return (
        f"CREATE TABLE blobs_{size} (content BLOB);"
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {BYTES // size}) "
        f"INSERT INTO blobs_{size} SELECT randomblob({size}) FROM n;"
    )


def _insert_blobs(size: int) -> Work:
    return Work(
        BYTES // size,
        f"CREATE TABLE copies_{size} (content BLOB);",
        f"DELETE FROM copies_{size};",
        f"INSERT INTO copies_{size} SELECT content FROM blobs_{size};",
    )


def _read_blobs(size: int) -> Work:
    """substr has sqlite put each blob together, where length and a comparison need not."""
    statement = f"SELECT count(*) FROM blobs_{size} WHERE substr(content, -1) = x'00';"
    return Work(REPEATS * BYTES // size, "", "", REPEATS * statement)


def _insert_rows() -> Work:
    return Work(
        ROWS,
        "CREATE TABLE rows (id INTEGER PRIMARY KEY, content BLOB);"
        "CREATE TABLE copies (id INTEGER PRIMARY KEY, content BLOB);"
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {ROWS}) "
        "INSERT INTO rows SELECT i, randomblob(100) FROM n;",
        "DELETE FROM copies;",
        "INSERT INTO copies SELECT id, content || x'00' FROM rows;",
    )


SIZES = {"64 KiB": 64 << 10, "1 MiB": 1 << 20}
WORKS = {
    **{f"INSERT {label}": _insert_blobs(size) for label, size in SIZES.items()},
    **{f"SELECT {label}": _read_blobs(size) for label, size in SIZES.items()},
    "INSERT 100 B": _insert_rows(),
}


class Shell:
    """A sqlite3 shell with a database in memory, which says when it is done."""

    def __init__(self, folder: Path, place: Place) -> None:
        self._place = place
        # a terminal, as the shell keeps its answers to itself for long where it writes to a pipe
        self._answers, its_end = os.openpty()
        try:
            self._process = subprocess.Popen(
                ["sqlite3", "-batch", ":memory:"],
                cwd=folder,
                env={**place.environment(), "HOME": str(folder)},  # without a user's .sqliterc
                preexec_fn=place.enter,
                stdin=subprocess.PIPE,
                stdout=its_end,
                stderr=its_end,
                bufsize=0,
            )
        finally:
            os.close(its_end)
        self.pid = self._process.pid
        try:
            self.run("".join(_blobs(size) for size in SIZES.values()))
            for work in WORKS.values():
                self.run(work.setup)
            place.check(self.pid, "sqlite3")
        except BaseException:
            self.close()
            raise

    def run(self, sql: str) -> None:
        """Raises Failure where sqlite3 reports an error, is gone or does not answer."""
        try:
            self._process.stdin.write(f"{sql}\n.print {DONE}\n".encode())
        except BrokenPipeError:
            raise self._gone() from None
        said = ""
        while not said.endswith(f"{DONE}\r\n"):  # a terminal's line ends
            if not select.select([self._answers], [], [], PATIENCE)[0]:
                raise Failure(f"sqlite3 does not answer for {PATIENCE:.0f} s")
            try:
                part = os.read(self._answers, 4096)
            except OSError:  # what a terminal has to say when its other end is closed
                raise self._gone() from None
            said += part.decode(errors="replace")
        if "rror" in said:
            raise Failure(f"sqlite3 says: {said.splitlines()[0]}")

    def _gone(self) -> Failure:
        self._process.kill()
        with_what = "with the library" if self._place.library else "without the library"
        return Failure(f"sqlite3 {how_it_ended(self._process.wait())} ({with_what})")

    def seconds(self, work: Work) -> float:
        """Of one blob or row."""
        self.run(work.before)
        begin = time.perf_counter()
        self.run(work.statement)
        return (time.perf_counter() - begin) / work.count

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        os.close(self._answers)


def _do(work: Work, shell: Shell) -> float:
    return shell.seconds(work)


SQLITE = Application(
    name="sqlite",
    unit="a blob or row",
    programs=("sqlite3",),
    package="sqlite3",
    cells=tuple(Cell(label, partial(_do, work)) for label, work in WORKS.items()),
    start=Shell,
    rounds=31,
)
