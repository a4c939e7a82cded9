"""The Kubernetes manifests: against the schema of the API, and the scripts run as by a pod."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import pytest
from asterope import __version__
from copy_programs import REPOSITORY, need, output_of
from fleet_programs import QUICK, assert_dispatches, install_stand_ins

pytestmark = pytest.mark.slow

yaml = pytest.importorskip("yaml", reason="PyYAML not found: pip install '.[test]'")

MANIFESTS = ("volume.yaml", "node-type.yaml", "finish.yaml")


@pytest.fixture(scope="session")
def objects(repository: Path) -> dict[str, list[dict]]:
    """The objects in each file."""
    folder = repository / "scripts/fleet/kubernetes"
    return {name: list(yaml.safe_load_all((folder / name).read_text())) for name in MANIFESTS}


def pods_of(objects: dict[str, list[dict]]) -> Iterator[tuple[str, dict]]:
    """The specification of each pod that is started, by the file it is in."""
    for name, those in objects.items():
        for one in those:
            if one["kind"] == "Job":
                yield name, one["spec"]["template"]["spec"]
            elif one["kind"] == "Pod":
                yield name, one["spec"]


# --- The manifests --------------------------------------------------------------------------------


def test_every_object_fits_the_schema(repository, objects):
    schema = json.loads((repository / "tests/packaging/kubernetes.schema.json").read_text())
    for name, those in objects.items():
        for one in those:
            assert one["kind"] in schema["$defs"]
            own = {**schema, "$ref": f"#/$defs/{one['kind']}"}
            errors = jsonschema.Draft202012Validator(own).iter_errors(one)
            assert [(name, error.json_path, error.message) for error in errors] == []


def test_no_pod_is_more_than_it_must_be(objects):
    files = set()
    for name, pod in pods_of(objects):
        files.add(name)
        rights = pod["securityContext"]
        assert rights["runAsNonRoot"] is True and rights["runAsUser"] > 0
        assert rights["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
        assert all("hostPath" not in volume for volume in pod["volumes"])
        for container in pod["containers"]:
            limits = container["securityContext"]
            assert limits["allowPrivilegeEscalation"] is False
            assert limits["readOnlyRootFilesystem"] is True
            assert limits["capabilities"] == {"drop": ["ALL"]}
            assert "cpu" not in container["resources"]["limits"]  # being throttled is noise
            assert {"memory", "ephemeral-storage"} <= container["resources"]["limits"].keys()
            # every node runs the same one, also when another has been made meanwhile
            assert container["image"].endswith(f":{__version__}")
            assert container["imagePullPolicy"] == "IfNotPresent"
        assert all(v["emptyDir"]["sizeLimit"] for v in pod["volumes"] if "emptyDir" in v)
    assert files == set(MANIFESTS) - {"volume.yaml"}


def test_images_are_made_of_the_files_that_git_has(repository):
    def patterns(name: str) -> set[str]:
        lines = (repository / name).read_text().splitlines()
        return {line for line in lines if line and not line.startswith("#")}

    def for_images(pattern: str) -> str:
        sign = "!" * pattern.startswith("!")
        path = pattern.lstrip("!").strip("/")
        return sign + path if "/" in pattern.rstrip("/") else f"**/{path}"

    assert patterns(".dockerignore") == set(map(for_images, patterns(".gitignore")))


def test_jobs_and_settings_agree_and_no_two_tuning_pods_share_a_node(repository, objects):
    folder = repository / "scripts/fleet"
    common = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert common["resources"] == ["kubernetes/volume.yaml"]
    (settings,) = common["configMapGenerator"]
    assert set(settings["files"]) == {"fleet.conf", "tune.sh", "finish.sh"}
    assert common["generatorOptions"] == {"disableNameSuffixHash": True}
    spec = objects["node-type.yaml"][0]["spec"]
    pod = spec["template"]["spec"]
    rules = pod["affinity"]["podAntiAffinity"]
    (rule,) = rules["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    assert rule["labelSelector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    name = pod["nodeSelector"]["asterope/type"]
    assert pod["containers"][0]["command"][-1] == name
    assert spec["completionMode"] == "Indexed"  # it tells each pod which of the nodes it is
    assert spec["completions"] == spec["parallelism"] == 1
    assert re.search(rf'^ +"{name} +1 ', (folder / "fleet.conf").read_text(), re.MULTILINE)
    (claim,) = objects["volume.yaml"]
    for _, pod in pods_of(objects):
        names = {volume["name"]: volume for volume in pod["volumes"]}
        assert {mount["name"] for mount in pod["containers"][0]["volumeMounts"]} == names.keys()
        assert names["work"]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
        assert names["config"]["configMap"]["name"] == settings["name"]


def test_kubectl_makes_the_settings_of_the_files(repository):
    need("kubectl")
    folder = repository / "scripts/fleet"
    made = list(yaml.safe_load_all(output_of("kubectl", "kustomize", folder)))
    settings, _ = sorted(made, key=lambda one: one["kind"])
    assert (settings["kind"], settings["metadata"]["name"]) == ("ConfigMap", "asterope-fleet")
    assert settings["data"]["tune.sh"] == (folder / "tune.sh").read_text()


# --- The scripts of the pods ----------------------------------------------------------------------


@dataclass
class Fleet:
    """The two volumes as folders, and the programs of the image."""

    objects: dict[str, list[dict]]
    folder: Path
    programs: Path

    def configure(self, **settings: str) -> None:
        """Writes the ConfigMap as its volume shows it, with some of its settings replaced."""
        shutil.copytree(REPOSITORY / "scripts/fleet", self.folder / "config")
        with (self.folder / "config/fleet.conf").open("a") as file:
            changed = {"bin": f"'{self.programs}'", **settings}
            file.writelines(f"{name}={value}\n" for name, value in changed.items())

    def tune(self, kind: str, index: int) -> tuple[int, str]:
        """Runs a pod of the Job of that type of nodes. Returns exit code and output."""
        (container,) = self.objects["node-type.yaml"][0]["spec"]["template"]["spec"]["containers"]
        command = [*container["command"][:-1], kind]
        return self.run(container, command, JOB_COMPLETION_INDEX=str(index))

    def finish(self) -> tuple[int, str]:
        """Does in the pod for it as the guide says."""
        guide = (REPOSITORY / "scripts/docs/fleet.md").read_text()
        command = re.search("^kubectl exec asterope-finish -- (.*)$", guide, re.MULTILINE)[1]
        (container,) = self.objects["finish.yaml"][0]["spec"]["containers"]
        return self.run(container, command.split())

    def run(self, container: dict, command: list[str], **changed: str) -> tuple[int, str]:
        """Runs a command in a container as Kubernetes does, on this machine."""
        mounts = tuple(mount["mountPath"] for mount in container["volumeMounts"])

        def here(path: str) -> str:
            return f"{self.folder}{path}" if path.startswith(mounts) else path

        variables = {item["name"]: here(item.get("value", "node-a")) for item in container["env"]}
        variables = {"PATH": os.environ["PATH"], **variables, **changed}
        place = here(container["workingDir"])
        Path(place).mkdir(exist_ok=True)
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        words = [here(word) for word in command]
        done = subprocess.run(words, cwd=place, env=variables, timeout=120, **output)
        return done.returncode, done.stdout

    def text(self, name: str) -> str:
        return (self.folder / "fleet" / name).read_text()


@pytest.fixture
def fleet(objects: dict[str, list[dict]], tmp_path: Path) -> Fleet:
    return Fleet(objects, tmp_path, install_stand_ins(tmp_path))


def test_the_nodes_become_one_dispatching_routine(objects, build_dir, repository, tmp_path):
    fleet = Fleet(objects, tmp_path, build_dir)
    fleet.configure(types='("zen4 1" "here 2")', options=f"({QUICK})")
    # Another type's pod has done its work: the profile of another machine.
    done = tmp_path / "fleet/tasks/zen4/node-1.json"
    done.parent.mkdir(parents=True)
    shutil.copy(repository / "generated/reference/opteron-6378.json", done)
    for index in (0, 1):
        task = f"tasks/here/node-{index + 1}"
        code, said = fleet.tune("here", index)
        assert (code, fleet.text(f"{task}.txt")) == (0, said)
        assert said.startswith(f"== node-a: here, node {index + 1} of 2\n")
        assert (tmp_path / f"fleet/{task}.trials").exists()
    code, said = fleet.finish()
    assert code == 0, said
    profile = json.loads(fleet.text("profiles/here.json"))
    assert profile["complete"] is True
    sources = [one["name"] for one in profile["merged"]["sources"]]
    assert sources == ["node-1.trials", "node-2.trials"]

    assert_dispatches(tmp_path / "fleet/routine", tmp_path)

    # Once more: nothing is tuned again, and the routine is the same.
    before = fleet.text("routine/asterope_memcpy.c")
    both = "tasks/here/node-2.json is there already: remove it and tasks/here/node-2.trials"
    assert fleet.tune("here", 1) == (0, f"{both} to have it tuned again\n")
    assert fleet.finish()[0] == 0
    assert fleet.text("routine/asterope_memcpy.c") == before


def test_a_missing_node_is_named_and_the_routine_left_alone_until_it_is_there(fleet, tmp_path):
    fleet.configure(types='("zen4 1" "icelake 2")')
    (tmp_path / "fleet/routine").mkdir(parents=True)
    (tmp_path / "fleet/routine/arguments").write_text("earlier")
    assert fleet.tune("zen4", 0)[0] == 0
    assert fleet.tune("icelake", 0)[0] == 0
    missing = "icelake: node 2 of 2 is missing; see tasks/icelake/node-2.txt"
    assert fleet.finish() == (1, f"finish: {missing}, then submit it again\n")
    assert fleet.text("routine/arguments") == "earlier"
    assert fleet.tune("icelake", 1)[0] == 0
    (fleet.programs / "ends-merge").write_text("2\n")  # profiles that do not merge
    assert fleet.finish() == (1, "asterope-tune: ends with 2\n")
    assert fleet.text("routine/arguments") == "earlier"
    assert fleet.finish()[0] == 0
    assert json.loads(fleet.text("profiles/zen4.json")).split()[-1] == "node-1"  # its only one
    merged = json.loads(fleet.text("profiles/icelake.json"))
    assert merged.startswith("merge tasks/icelake/node-1.trials tasks/icelake/node-2.trials -o ")
    both = "profiles/zen4.json profiles/icelake.json"
    assert fleet.text("routine/arguments") == f"{both} --dispatch -o routine\n"


def test_the_exit_code_is_that_of_the_search(fleet):
    fleet.configure(types='("icelake 2")')
    (fleet.programs / "ends-node-2").write_text("2\n")
    ended, said = fleet.tune("icelake", 1)
    assert ended == 2 and said.endswith("asterope-tune: ends with 2\n")


@pytest.mark.parametrize(
    ("types", "index", "complaint"),
    [
        ('("zen4 1")', 0, "0 nodes of icelake, but this is number 1"),
        ('("icelake 2")', 2, "2 nodes of icelake, but this is number 3"),
    ],
)
def test_a_job_that_does_not_fit_the_settings_is_named(fleet, types, index, complaint):
    fleet.configure(types=types)
    assert fleet.tune("icelake", index) == (2, f"tune: fleet.conf has {complaint}\n")
