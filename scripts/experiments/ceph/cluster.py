"""A Ceph cluster of one mon, mgr, osd and mds on the loopback, without authentication, its data in
memory. It has its own folder, takes free ports, and is ended by the processes that were started."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import uuid
from contextlib import ExitStack, closing
from pathlib import Path

from asterope.faults import Failure
from asterope.prove.processes import Process

PROGRAMS = ("ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds", "ceph", "monmaptool")
PACKAGES = "ceph-mon ceph-mgr ceph-osd ceph-mds ceph-common libcephfs-dev"
PATIENCE = 120.0  # seconds for each step

CONFIGURATION = """\
[global]
fsid = {fsid}
mon host = v2:127.0.0.1:{port}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
run dir = {folder}
admin socket = {folder}/$name.asok
log file = {folder}/$name.log
keyring = /dev/null
crash dir = {folder}

mon data = {folder}/mon
mgr data = {folder}/mgr
osd data = {folder}/osd
mds data = {folder}/mds
mon allow pool delete = false
mon warn on pool no redundancy = false
osd pool default size = 1
osd pool default min size = 1
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = {store}

[client]
admin socket =
log file =
client oc size = {cache}
client oc max objects = {objects}
"""


def missing() -> str | None:
    """The first program that is not installed; None: all are."""
    return next((one for one in PROGRAMS if not shutil.which(one, path=_PATH)), None)


# Debian keeps some daemons where an ordinary user's PATH does not look.
_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


class Cluster:
    """Up when the constructor returns, with an empty file system; down after close()."""

    def __init__(self, folder: Path, file_mib: int) -> None:
        self.configuration = folder / "ceph.conf"
        self._folder = folder
        self._daemons = ExitStack()
        self._running: list[tuple[str, Process]] = []
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        self._fsid = str(uuid.uuid4())
        file = file_mib << 20
        text = CONFIGURATION.format(
            fsid=self._fsid,
            port=port,
            folder=folder,
            store=2 * file + (1 << 30),
            cache=2 * file,
            objects=file >> 20,
        )
        self.configuration.write_text(text)
        try:
            self._start(port)
        except BaseException:
            self.close()
            raise

    def _start(self, port: int) -> None:
        for name in ("mon", "mgr", "osd", "mds"):
            (self._folder / name).mkdir()
        monitors = str(self._folder / "monmap")
        self._run(
            *("monmaptool", "--create", "--fsid", self._fsid),
            *("--addv", "a", f"[v2:127.0.0.1:{port}]", monitors),
        )
        self._run("ceph-mon", "--mkfs", "-i", "a", "--monmap", monitors)
        self._daemon("ceph-mon", "a")
        self._until("the monitor answers", lambda: self._ask("quorum_status") is not None)
        self._daemon("ceph-mgr", "a")
        store = str(uuid.uuid4())
        self._run("ceph", "osd", "new", store, "0")
        self._run("ceph-osd", "--mkfs", "-i", "0", "--osd-uuid", store)
        self._daemon("ceph-osd", "0")
        self._until("the osd is up", lambda: " 1 up" in (self._ask("osd", "stat") or ""))
        for pool in ("metadata", "data"):
            self._run("ceph", "osd", "pool", "create", pool, "8")
        self._run("ceph", "fs", "new", "files", "metadata", "data")
        self._daemon("ceph-mds", "a")
        self._until("the mds is active", lambda: "up:active" in (self._ask("mds", "stat") or ""))

    def _arguments(self, *command: str) -> list[str]:
        found = shutil.which(command[0], path=_PATH)
        if found is None:
            raise Failure(f"{command[0]} is not installed: apt-get install {PACKAGES}")
        return [found, "--conf", str(self.configuration), *command[1:]]

    def _run(self, *command: str) -> None:
        with closing(Process(self._arguments(*command), os.environ)) as process:
            try:
                process.wait(PATIENCE)
            except Failure as error:
                raise Failure(f"{' '.join(command[:3])} {error}") from None

    def _ask(self, *command: str) -> str | None:
        """The cluster's answer; None where it refuses."""
        arguments = [*self._arguments("ceph", "--connect-timeout", "5"), *command]
        done = subprocess.run(
            arguments, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        return done.stdout if done.returncode == 0 else None

    def _daemon(self, program: str, name: str) -> None:
        process = Process(self._arguments(program, "-f", "-i", name), os.environ)
        self._daemons.enter_context(closing(process))
        self._running.append((program, process))

    def _until(self, what: str, holds) -> None:
        deadline = time.monotonic() + PATIENCE
        while not holds():
            for program, process in self._running:
                if process.has_ended():
                    raise Failure(f"{program} {process.how_it_ended()}")
            if time.monotonic() > deadline:
                raise Failure(f"waited {PATIENCE:.0f} s in vain until {what}")
            time.sleep(0.1)

    def close(self) -> None:
        self._daemons.close()
