"""A Slurm cluster of our own for the tests: munged, slurmctld and two slurmd on this machine.

Its configuration, keys, ports and logs are private, and everything runs as the user who runs the
tests; a Slurm that the machine may have is neither used nor disturbed.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

NODES = ("first", "second")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo", "scancel")
# Debian keeps daemons where an ordinary user's PATH does not look.
PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])

CONFIGURATION = """\
ClusterName=asterope
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log

# Nobody outside can reach the daemons, nor talk to them without the key.
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
CredType=cred/munge
# Seconds until a requeued job starts again; Slurm takes no less.
AuthInfo=socket={folder}/munge.socket,cred_expire=5

# Nothing that needs root or cgroups.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
# The nodes have one CPU each, however many the machine has.
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
KillWait=1
MinJobAge=600

NodeName={nodes[0]} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[1]} Feature=equal,one
NodeName={nodes[1]} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[2]} Feature=equal,two
PartitionName=main Nodes={nodes[0]},{nodes[1]} Default=YES MaxTime=10 State=UP
"""


class CannotRun(Exception):
    """Why there is no Slurm here."""


@dataclass
class Cluster:
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PATH": PATH, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def run(self, *command: object, cwd: Path | None = None) -> subprocess.CompletedProcess:
        return subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def answer(self, *command: object) -> list[str]:
        """The lines that a command of Slurm prints; CannotRun where it fails."""
        done = self.run(*command)
        if done.returncode:
            raise CannotRun((done.stderr.strip().splitlines() or ["it gave no reason"])[-1])
        return done.stdout.splitlines()

    def wait(self, patience: float = 90) -> None:
        """Until no job is queued or running; TimeoutError says what is left after `patience` s."""
        until = time.monotonic() + patience
        while left := self.answer("squeue", "--noheader", "--format=%i %T %r"):
            if time.monotonic() > until:
                raise TimeoutError("; ".join(left))
            time.sleep(0.1)

    def cancel_all(self) -> None:
        self.run("scancel", "--user", user())
        self.wait(10)

    def states(self) -> dict[str, str]:
        """The state of each job and task so far, by its id: {"1_2": "COMPLETED"}."""
        lines = self.answer("squeue", "--noheader", "--states=all", "--array", "--format=%i %T")
        return dict(line.split() for line in lines)


def user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        raise CannotRun(f"user {os.getuid()} has no name") from None


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def missing_programs() -> list[str]:
    return [program for program in PROGRAMS if shutil.which(program, path=PATH) is None]


class Daemons:
    """Starts them in the order in which they need each other, and stops them the other way."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.running: list[subprocess.Popen] = []

    def start(self, *command: object) -> None:
        with self.output(len(self.running)).open("w") as output:
            daemon = subprocess.Popen(
                [str(part) for part in command],
                env=self.cluster.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C is for the tests; they stop us in order
            )
        self.running.append(daemon)

    def output(self, number: int) -> Path:
        return self.cluster.folder / f"daemon-{number}.out"

    def wait_for(self, ready: Callable[[], bool], what: str, patience: float = 20) -> None:
        until = time.monotonic() + patience
        while not ready():
            for number, daemon in enumerate(self.running):
                if daemon.poll() is not None:
                    said = self.output(number).read_text().splitlines() or ["it gave no reason"]
                    raise CannotRun(f"{daemon.args[0]} ended: {said[-1]}")
            if time.monotonic() > until:
                raise CannotRun(f"{what} in {patience:g} s")
            time.sleep(0.05)

    def stop(self) -> None:
        if len(self.running) > 2 and self.running[1].poll() is None:
            # While the controller can be told about their ends: steps wait for that.
            with suppress(CannotRun, TimeoutError):
                self.cluster.cancel_all()
        for daemon in reversed(self.running):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for step in processes_of(self.cluster):
            os.kill(step, signal.SIGKILL)


def processes_of(cluster: Cluster) -> list[int]:
    """What still runs under our configuration: each step is a daemon in a session of its own."""
    ours = f"SLURM_CONF={cluster.folder}/slurm.conf".encode()
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if ours in environment.read_bytes().split(b"\0"):
                found.append(int(environment.parent.name))
        except OSError:  # ended meanwhile, or another user's
            continue
    return found


def start_cluster(folder: Path) -> tuple[Cluster, Daemons]:
    """Two idle nodes; CannotRun says why not. The caller calls stop() of what it gets."""
    if missing := missing_programs():
        raise CannotRun(
            f"{', '.join(missing)} not found (Debian: slurmctld, slurmd, slurm-client, munge)"
        )
    (folder / "state").mkdir()
    key = folder / "munge.key"
    key.touch(0o600)
    key.write_bytes(os.urandom(64))
    ports = free_ports(3)
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(folder=folder, user=user(), nodes=NODES, ports=ports)
    )
    cluster = Cluster(folder)
    daemons = Daemons(cluster)
    socket_file = folder / "munge.socket"
    try:
        daemons.start(
            "munged",
            "--foreground",
            "--force",  # the folder above is readable by us alone, which it finds unusual
            f"--socket={socket_file}",
            f"--key-file={key}",
            *(f"--{name}-file={folder}/munged.{name}" for name in ("log", "pid", "seed")),
        )
        daemons.wait_for(socket_file.exists, "munged does not answer")
        daemons.start("slurmctld", "-D", "-c")
        # Before anything asks it: Slurm's commands try for most of a minute.
        daemons.wait_for(lambda: answers(ports[0]), "slurmctld does not answer")
        for node in NODES:
            daemons.start("slurmd", "-D", "-N", node)

        def idle() -> bool:
            done = cluster.run("sinfo", "--noheader", "--Node", "--format=%N %T")
            return done.stdout.split() == [word for node in NODES for word in (node, "idle")]

        daemons.wait_for(idle, "the two nodes are not ready")
    except BaseException:
        daemons.stop()
        raise
    return cluster, daemons
