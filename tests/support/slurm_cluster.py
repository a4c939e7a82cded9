"""A Slurm cluster of our own for the tests: munged, slurmctld and two slurmd on this machine.

Its configuration, keys, ports and logs are private, and everything runs as the user who runs the
tests. If the machine has a Slurm of its own, it is neither used nor disturbed.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from command_errors import run_command

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
    """The reason why Slurm is missing here."""


@dataclass
class Cluster:
    folder: Path
    daemons: list[subprocess.Popen] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PATH": PATH, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def run(self, *command: object) -> subprocess.CompletedProcess:
        return run_command(*command, env=self.environment, timeout=60)

    def answer(self, *command: object) -> list[str]:
        """The lines that a command of Slurm prints; CannotRun where it fails."""
        done = self.run(*command)
        if done.returncode:
            raise CannotRun((done.stderr.strip().splitlines() or ["it gave no reason"])[-1])
        return done.stdout.splitlines()

    def until(self, ready: Callable[[], bool], missing: str, patience: float = 20) -> None:
        """CannotRun where a daemon ends, or `patience` s do not suffice."""
        end = time.monotonic() + patience
        while not ready():
            for daemon in self.daemons:
                if daemon.poll() is not None:
                    said = self.output_of(daemon.args[0]).read_text().splitlines() or ["nothing"]
                    raise CannotRun(f"{daemon.args[0]} ended: {said[-1]}")
            if time.monotonic() > end:
                raise CannotRun(f"{missing} in {patience:g} s")
            time.sleep(0.05)

    def wait(self, patience: float = 300) -> None:
        """Until no job is queued or running."""
        self.until(lambda: not self.answer("squeue", "--noheader"), "jobs do not end", patience)

    def cancel_all(self) -> None:
        self.run("scancel", "--user", user())
        self.wait(10)

    def states(self) -> dict[str, str]:
        """The state of each job and task so far, by its id: {"1_2": "COMPLETED"}."""
        lines = self.answer("squeue", "--noheader", "--states=all", "--array", "--format=%i %T")
        return dict(line.split() for line in lines)

    def output_of(self, daemon: str) -> Path:
        return self.folder / f"{daemon}.out"

    def start(self, *command: str) -> None:
        with self.output_of(command[0]).open("a") as output:
            settings = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
            # Ctrl-C is for the tests; they stop us in order
            settings |= {"env": self.environment, "start_new_session": True}
            self.daemons.append(subprocess.Popen(command, **settings))

    def stop(self) -> None:
        if len(self.daemons) > 2:
            # While the controller can be told about their ends: steps wait for that.
            with suppress(CannotRun):
                self.cancel_all()
        for daemon in reversed(self.daemons):
            daemon.terminate()
            with suppress(subprocess.TimeoutExpired):
                daemon.wait(10)
            daemon.kill()
            daemon.wait()
        # Some still run under our configuration: steps are daemons in sessions of their own.
        ours = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):  # ended meanwhile, or another user's
                if ours in environment.read_bytes().split(b"\0"):
                    os.kill(int(environment.parent.name), signal.SIGKILL)


def user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        raise CannotRun(f"user {os.getuid()} has no name") from None


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        servers = (socket.create_server(("127.0.0.1", 0)) for _ in range(count))
        return [stack.enter_context(one).getsockname()[1] for one in servers]


def answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """Two idle nodes; CannotRun says why not."""
    missing = [program for program in PROGRAMS if shutil.which(program, path=PATH) is None]
    if missing:
        raise CannotRun(
            f"{', '.join(missing)} not found (Debian: slurmctld, slurmd, slurm-client, munge)"
        )
    (folder / "state").mkdir()
    key, socket_file = folder / "munge.key", folder / "munge.socket"
    key.touch(0o600)
    key.write_bytes(os.urandom(64))
    ports = free_ports(3)
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(folder=folder, user=user(), nodes=NODES, ports=ports)
    )
    cluster = Cluster(folder)
    try:
        cluster.start(
            "munged",
            "--foreground",
            "--force",  # the folder above is readable by us alone, which it finds unusual
            f"--socket={socket_file}",
            f"--key-file={key}",
            *(f"--{name}-file={folder}/munged.{name}" for name in ("log", "pid", "seed")),
        )
        cluster.until(socket_file.exists, "munged does not answer")
        cluster.start("slurmctld", "-D", "-c")
        # Before anything asks it: Slurm's commands try for most of a minute.
        cluster.until(lambda: answers(ports[0]), "slurmctld does not answer")
        for node in NODES:
            cluster.start("slurmd", "-D", "-N", node)
        idle = [word for node in NODES for word in (node, "idle")]
        states = ("sinfo", "--noheader", "--Node", "--format=%N %T")
        cluster.until(lambda: cluster.run(*states).stdout.split() == idle, "no two nodes are ready")
        yield cluster
    finally:
        cluster.stop()
