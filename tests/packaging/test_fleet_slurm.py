"""The Slurm job files, on a cluster of our own: two nodes on this machine, real daemons."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_errors import only_error_of, run_command, script
from copy_programs import REPOSITORY, need, output_of
from fleet_programs import QUICK, assert_dispatches, install_stand_ins
from profile_samples import of
from slurm_cluster import NODES, CannotRun, Cluster, running_cluster

pytestmark = pytest.mark.slow

FOLDER = REPOSITORY / "scripts/fleet"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    try:
        with running_cluster(tmp_path_factory.mktemp("slurm")) as cluster:
            yield cluster
    except CannotRun as reason:
        pytest.skip(f"no Slurm here: {reason}")


@dataclass
class Fleet:
    """A copy of the job files, as a user makes one, and the cluster that they are submitted to."""

    folder: Path
    cluster: Cluster

    def configure(self, **settings: str) -> None:
        with (self.folder / "fleet.conf").open("a") as file:
            file.writelines(f"{name}={value}\n" for name, value in settings.items())

    def submit(self) -> subprocess.CompletedProcess:
        return self.cluster.run(self.folder / "submit.sh")

    def run(self) -> dict[str, str]:
        """Submits and waits; the final states of the tasks and of the job that gathers."""
        before = self.cluster.states()
        done = self.submit()
        assert (done.returncode, done.stderr) == (0, ""), done
        self.cluster.wait()
        return {job: state for job, state in self.cluster.states().items() if job not in before}

    def text(self, name: str) -> str:
        return (self.folder / name).read_text()

    def files(self) -> set[str]:
        """Those that were written into it."""
        paths = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*.*")}
        return {path for path in paths if not (FOLDER / path).exists()}


@pytest.fixture
def fleet(tmp_path: Path, cluster: Cluster) -> Iterator[Fleet]:
    fleet = Fleet(shutil.copytree(FOLDER, tmp_path / "shared folder"), cluster)
    fleet.configure(limit="00:05:00", types='("here 2 --constraint=equal")')
    yield fleet
    cluster.cancel_all()


@pytest.fixture
def stand_in(fleet: Fleet, tmp_path: Path) -> Path:
    programs = install_stand_ins(tmp_path)
    fleet.configure(bin=str(programs))
    return programs


# --- Whole searches -------------------------------------------------------------------------------


def test_two_nodes_become_one_dispatching_routine(fleet, repository, build_dir, tmp_path):
    other = repository / "generated/reference/xeon-gold-5218.json"
    fleet.configure(bin=f"'{build_dir}'", options=f"({QUICK})", others=f"('{other}')")
    assert set(fleet.run().values()) == {"COMPLETED"}, fleet.text("finish.txt")

    tasks = [f"tasks/here/node-{number}" for number in (1, 2)]
    ran_on = {fleet.text(f"{task}.txt").split(":")[0] for task in tasks}
    assert ran_on == {f"== {node}" for node in NODES}
    kept = {task + suffix for task in tasks for suffix in (".json", ".trials", ".txt")}
    routine = {"routine/asterope_memcpy.c", "routine/asterope_memcpy.h"}
    assert fleet.files() == kept | routine | {"profiles/here.json", "finish.txt"}

    profile = json.loads(fleet.text("profiles/here.json"))
    assert profile["complete"] is True and len(profile["merged"]["sources"]) == 2
    assert [one["size"] for one in of(profile)] == [128, 4096]

    assert_dispatches(fleet.folder / "routine", tmp_path)

    # Again, where one task was killed halfway: it goes on from its log, and the other stays.
    before = fleet.text("tasks/here/node-2.txt")
    killed = fleet.folder / "tasks/here/node-1"
    log = killed.with_suffix(".trials")
    lines = log.read_text().splitlines(keepends=True)
    cut = "".join(lines[: len(lines) // 2])
    log.write_text(cut)
    killed.with_suffix(".json").unlink()
    assert sorted(fleet.run().values()) == ["COMPLETED", "COMPLETED"]
    assert log.read_text().startswith(cut)
    assert json.loads(killed.with_suffix(".json").read_text())["search"]["resumed"] == 1
    assert json.loads(fleet.text("profiles/here.json"))["complete"] is True
    assert fleet.text("tasks/here/node-2.txt") == before

    # A second time nothing is left to search, and gathering gives the same.
    before = {name: fleet.text(name) for name in fleet.files()}
    assert list(fleet.run().values()) == ["COMPLETED"]
    assert {name: fleet.text(name) for name in fleet.files()} == before


# --- Slurm ----------------------------------------------------------------------------------------


def test_each_type_runs_on_its_own_nodes_and_a_failed_task_goes_back_into_the_queue(
    fleet, stand_in
):
    fleet.configure(types='(\n "A-1  1 --constraint=two"\n "b_2 2  --constraint=equal"\n)')
    (stand_in / "ends-node-2").write_text("1\n")
    assert set(fleet.run().values()) == {"COMPLETED"}
    assert fleet.text("tasks/b_2/node-2.txt").count("asterope-tune: ends with 1\n") == 1
    assert json.loads(fleet.text("profiles/A-1.json")) == "second node-1"
    both = "profiles/A-1.json profiles/b_2.json"
    assert fleet.text("routine/arguments") == f"{both} --dispatch -o routine\n"


def test_a_task_is_tried_three_times(fleet, stand_in):
    script(stand_in / "scontrol", '#!/bin/sh\necho "$@" >asked\n')
    path = {"PATH": f"{stand_in}:{os.environ['PATH']}"}
    for before, requeued in (("2", False), ("1", True)):
        (stand_in / "ends-node-2").write_text("1\n")
        task = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_JOB_ID": "17", "SLURM_RESTART_COUNT": before}
        command = ("bash", "tune.sh", "here")
        done = run_command(*command, cwd=fleet.folder, env={**os.environ, **path, **task})
        assert done.returncode == 1
        assert (fleet.folder / "asked").exists() == requeued
    assert fleet.text("asked") == "requeue 17\n"


def test_a_missing_node_is_named_and_made_up_for(fleet, stand_in):
    """Whose task said that its input is bad, and so was not tried again."""
    (stand_in / "ends-node-2").write_text("2\n")
    assert sorted(fleet.run().values()) == ["COMPLETED", "FAILED", "FAILED"]
    log = "tasks/here/node-2.txt"
    missing = f"here: node 2 of 2 is missing; see {log}, then submit it again"
    assert fleet.text("finish.txt") == f"finish: {missing}\n"
    assert "asterope-tune: ends with 2\n" in fleet.text(log)
    assert not (fleet.folder / "routine").exists()

    states = fleet.run()
    assert {job.partition("_")[2] for job in states} == {"2", ""}
    assert set(states.values()) == {"COMPLETED"}
    assert (fleet.folder / "routine/arguments").exists()


def test_submitting_twice_at_once_is_refused(fleet, stand_in):
    fleet.configure(everywhere="(--begin=now+1hour)")
    job = re.search(r"here: job (\d+),", fleet.submit().stdout).group(1)
    there = rf"jobs of this folder are still there: {job} \d+; .*"
    assert re.fullmatch(f"submit\\.sh: {there}", only_error_of("submit.sh", fleet.submit(), 2))


def test_a_job_that_slurm_refuses_takes_the_others_along(fleet, stand_in):
    fleet.configure(types='(\n "here 1"\n "there 1 --constraint=none-has-it"\n)')
    done = fleet.submit()
    refused = "submit.sh: there: sbatch does not take its job, so the others were cancelled"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, refused)
    fleet.cluster.wait()
    assert not (fleet.folder / "finish.txt").exists()


# --- Without Slurm --------------------------------------------------------------------------------


NO_NAME = "is not a name for a type: letters, digits, points, _ and -"
WRONG_LINES = [
    ("others", "(none.json)", "others: none.json cannot be read"),
    ("limit", "; unset limit", "fleet.conf does not set limit"),
    ("types", "()", "fleet.conf names no types of nodes"),
    ("types", '("a/b 1")', f"'a/b' {NO_NAME}"),
    ("types", '("fallback 1")', f"'fallback' {NO_NAME}"),
    ("types", '("zen4")', "zen4: '' is not a number of nodes"),
    ("types", '("zen-4 1" "zen_4 2")', "zen_4 is there twice, but for its punctuation"),
]


@pytest.mark.parametrize(("setting", "value", "said"), WRONG_LINES)
def test_a_wrong_line_is_named_and_nothing_submitted(tmp_path, setting, value, said):
    folder = shutil.copytree(FOLDER, tmp_path / "fleet")
    fleet = Fleet(folder, Cluster(tmp_path))
    fleet.configure(**{setting: value})
    assert only_error_of("submit.sh", run_command(folder / "submit.sh"), 2).endswith(said)
    assert {path.name for path in folder.iterdir()} == {path.name for path in FOLDER.iterdir()}


def test_the_scripts_are_clean():
    need("shellcheck")
    scripts = ("fleet.conf", "submit.sh", "tune.sh", "finish.sh")
    output_of("shellcheck", "--external-sources", *scripts, cwd=FOLDER)
