"""What tests of the system's own files need: a mount namespace in which they are others."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

_UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")


def _skip_without_namespaces() -> None:
    """Containers often forbid them."""
    try:
        done = subprocess.run(
            [*_UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True
        )
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if done.returncode:
        pytest.skip(f"no mount namespace may be made here: {done.stderr.strip()}")


def run_with(
    mounts: Sequence[tuple[Path, str]],
    command: Sequence[object],
    first: str = "",
    **settings: object,
) -> subprocess.CompletedProcess:
    """Runs the command as root of a namespace where each folder or file of `mounts` lies over that
    path of the system; `first`: shell commands to run before."""
    _skip_without_namespaces()
    steps = [f"mount --bind {shlex.quote(str(own))} {target}" for own, target in mounts]
    script = "; ".join(["set -e", *steps, *([first] if first else []), 'exec "$@"'])
    settings = {"capture_output": True, "text": True, "timeout": 120, **settings}
    environment = {**os.environ, **settings.pop("env", {})}
    return subprocess.run(
        [*_UNSHARE, "sh", "-c", script, "sh", *map(str, command)], env=environment, **settings
    )
