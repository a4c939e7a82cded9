"""All commands share one idea of a profile: the C++ commands neither read nor write one that
asterope-generate refuses."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from asterope.faults import BadInput
from asterope.profile import load_profile, log_header_fault
from command_errors import SHORTEST, only_error_of, run_command
from hostile_profiles import HOSTILE
from profile_samples import good_profile, incomplete_profile, merged_profile, provisional_profile

GOOD = [good_profile(), incomplete_profile(), merged_profile(), provisional_profile()]

# Values that hardly any field may have.
ODD = (None, True, -1, 1.5, "x*/y", [], ["x"], {"a": 1}, 1e300, 2**64 - 1)

# Exit codes of `check`.
FITS, UNUSABLE, STALE = 0, 2, 3


@pytest.fixture
def check(build_dir: Path, tmp_path: Path):
    """Whether C++ and Python take the profile."""

    def run(content: bytes | str) -> tuple[bool, bool]:
        path = tmp_path / "p.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        done = run_command(build_dir / "asterope-tune", "check", path)
        assert done.returncode in (FITS, UNUSABLE, STALE), done
        try:
            load_profile(path)
        except BadInput:
            return done.returncode != UNUSABLE, False
        return done.returncode != UNUSABLE, True

    return run


@pytest.mark.parametrize("profile", GOOD)
def test_check_takes_each_profile_that_generate_takes(check, profile):
    assert check(json.dumps(profile)) == (True, True)


def test_check_refuses_whatever_generate_refuses(check):
    # `check` says of an architecture that it does not know: the profile is not this machine's.
    taken = [name for name, (content, _) in HOSTILE.items() if check(content) != (False, False)]
    assert taken == ['architecture = "riscv64"']


def places(value: Any, place: tuple = ()) -> Iterator[tuple]:
    if place:
        yield place
    members = list(enumerate(value)) if isinstance(value, list) else ()
    for name, part in value.items() if isinstance(value, dict) else members:
        yield from places(part, (*place, name))


def changed(profile: Any, place: tuple, value: Any) -> Any:
    holder = profile = copy.deepcopy(profile)
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = value
    return profile


# of all fields, and how many of the values there each command refuses, at the least
SOME_FIELDS = (60, 50)
MOST_FIELDS = pytest.param(250, 200, marks=pytest.mark.slow)


@pytest.mark.parametrize(("count", "least_refused"), [SOME_FIELDS, MOST_FIELDS])
def test_check_and_generate_agree_on_every_field(check, count, least_refused):
    rng = random.Random(5)
    fields: dict[tuple, tuple[Any, tuple]] = {}
    for profile in GOOD:
        for place in places(profile):
            alike = tuple("#" if isinstance(step, int) else step for step in place)
            fields.setdefault(alike, (profile, place))
    del fields[("architecture",)]
    assert len(fields) > 400
    refused = 0
    for profile, place in rng.sample(sorted(fields.values(), key=repr), count):
        value = rng.choice(ODD)
        in_cpp, in_python = check(json.dumps(changed(profile, place, value)))
        assert in_cpp == in_python, (place, value)
        refused += not in_cpp
    assert least_refused <= refused < count


# --- Sample logs ----------------------------------------------------------------------------------

# A place in a log's header, and the damage there.
DAMAGED = {
    "a comment's end": (("machine", "cpu", "brand"), "x*/y"),
    "a number for a text": (("machine", "kernel"), 5),
    "no moment": (("started",), "now"),
    "a warning in two lines": (("warnings",), ["x\\"]),
    "a fingerprint of letters": (("machine", "fingerprint"), "fingerprint"),
    "a cache below 0": (("machine", "caches", 0, "ways"), -1),
    "a CPU too many": (("cpu",), 1 << 30),
    "another rigor": (("options", "rigor"), "none"),
    "another architecture": (("architecture",), "aarch64"),
}


@pytest.fixture(scope="module")
def tune(build_dir: Path, tmp_path_factory: pytest.TempPathFactory):
    """The command, in a folder with the profile p.json and its log p.trials."""
    run = partial(run_command, build_dir / "asterope-tune", cwd=tmp_path_factory.mktemp("logs"))
    few = ("--sizes", "128", "--threads", "1", "--no-generate")
    done = run(*SHORTEST, *few, "-o", "p.json", "--log", "p.trials", "--quiet")
    assert done.returncode == 0, done
    return run


@pytest.mark.one_cpu
@pytest.mark.parametrize(("place", "value"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_log_becomes_no_profile_and_replaces_none(tune, place, value):
    folder: Path = tune.keywords["cwd"]
    header, figures = (folder / "p.trials").read_text().split("\n", 1)
    assert log_header_fault(json.loads(header)) is None
    damaged = changed(json.loads(header), place, value)
    (folder / "x.trials").write_text(json.dumps(damaged) + "\n" + figures)
    (folder / "stands.json").write_bytes((folder / "p.json").read_bytes())
    for command in (
        ("replay", "x.trials", "--no-generate"),
        ("merge", "p.trials", "x.trials"),
        ("--resume", "--log", "x.trials", *SHORTEST, "--sizes", "128", "--no-generate"),
    ):
        error = only_error_of("asterope-tune", tune(*command, "-o", "stands.json"), 2)
        assert "log x.trials: " in error and str(place[0]) in error
        assert (folder / "stands.json").read_bytes() == (folder / "p.json").read_bytes()
    if place != ("architecture",):  # asterope-report draws those of all
        assert place[0] in log_header_fault(damaged)
