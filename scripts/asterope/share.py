"""Packs a profile, its sample log and bench results into one file that may be sent to others.

Usage: python -m asterope.share OUTPUT.tar.gz FILE... (scripts/tune --share)

Words that could tell whose machine it is go: the host's and the user's names and every path, of
which the last part stays. The file is for figures, CPU, kernel and libc.
"""

from __future__ import annotations

import getpass
import gzip
import io
import json
import platform
import re
import sys
import tarfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .atomic_file import write_output
from .command_line import BAD_INPUT, DONE, FAILED, fail, show
from .faults import Failure, one_line

PROGRAM = "asterope.share"
_PATH = re.compile(r"(?<![\w.])~?/(?:[^\s/\"']+/)*([^\s/\"']*)")


def names_here() -> list[str]:
    """The host's and the user's names, without those that other words contain."""
    names = {platform.node(), platform.node().split(".")[0]}
    with suppress(OSError, KeyError, ImportError):
        names.add(getpass.getuser())
    return sorted((name for name in names if len(name) > 2 and name != "root"), key=len)[::-1]


def anonymous(value: Any, names: Sequence[str]) -> Any:
    """The same without paths, and with `-` for each of the names."""
    if isinstance(value, dict):
        return {anonymous(key, names): anonymous(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [anonymous(one, names) for one in value]
    if not isinstance(value, str):
        return value
    value = _PATH.sub(r"\1", value)
    for name in names:
        value = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "-", value)
    return value


def _text(path: Path, names: Sequence[str]) -> str:
    """The value of a JSON file, or the values of a sample log, one a line. Raises OSError,
    ValueError."""
    text = path.read_text(encoding="utf-8")
    try:
        return json.dumps(anonymous(json.loads(text), names), indent=1) + "\n"
    except json.JSONDecodeError:
        lines = (json.dumps(anonymous(json.loads(line), names)) for line in text.splitlines())
        return "".join(f"{line}\n" for line in lines)


def pack(files: Sequence[Path], names: Sequence[str]) -> bytes:
    """The files as a gzipped tar, without owners. Raises OSError, ValueError."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as out,
        tarfile.open(fileobj=out, mode="w") as archive,
    ):
        for path in files:
            content = _text(path, names).encode()
            entry = tarfile.TarInfo(anonymous(path.name, names))
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def main(argv: Sequence[str]) -> int:
    output, *files = argv
    try:
        write_output(Path(output), pack([Path(name) for name in files], names_here()))
    except (OSError, ValueError) as error:
        return fail(PROGRAM, one_line(error), BAD_INPUT)
    except Failure as error:
        return fail(PROGRAM, str(error), FAILED)
    show(f"{one_line(output)}: figures of this machine, without names of hosts, users or paths.")
    return DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
