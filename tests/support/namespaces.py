"""A mount namespace with other files of the system, for tests of these."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_errors import run_command
from copy_programs import need

_UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")


def run_with(
    mounts: Sequence[tuple[Path, str]],
    command: Sequence[object],
    first: str = "",
    **settings: object,
) -> subprocess.CompletedProcess:
    """Runs the command as root of a namespace where each folder or file of `mounts` lies over that
    path of the system; `first`: shell commands to run before."""
    need("unshare")
    tried = run_command(*_UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt")
    if tried.returncode:  # containers often forbid them
        pytest.skip(f"no mount namespace may be made here: {tried.stderr.strip()}")
    steps = [f"mount --bind {shlex.quote(str(own))} {target}" for own, target in mounts]
    script = "; ".join(["set -e", *steps, *([first] if first else []), 'exec "$@"'])
    settings["env"] = {**os.environ, **settings.get("env", {})}
    return run_command(*_UNSHARE, "sh", "-c", script, "sh", *command, **settings)
