"""Packs a profile, its sample log and bench results into one file that may be sent to others.

Usage: python -m asterope.share OUTPUT.tar.gz FILE... (scripts/tune --share)

Words that could tell whose machine it is go: the host's and the user's names, and paths from /, ~,
. or .., of which the last part stays. The file is for figures, CPU, kernel and libc.
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
_ROOT = r"(?:(?:~[\w.-]*|\.{1,2})/|/(?!\s|$))"
# Folders may have blanks in their names where a text, an option's value or an entry begins.
_BLANKS = rf"(?:^|(?<=[=,])){_ROOT}(?:(?:[^/\s,=]|[\s,=](?!{_ROOT}))+/)*"
_PATH = re.compile(
    rf"(?:{_BLANKS}|(?<![\w.]){_ROOT}(?:(?:[^\s/\"',]|,(?!{_ROOT}))+/)*)([^\s/\"',]*)"
)


def names_here() -> list[str]:
    """The host's and the user's names, longest first; not root, and none of one or two letters,
    which may be words."""
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
        value = re.sub(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", "-", value, flags=re.IGNORECASE)
    return value


def _text(path: Path, names: Sequence[str]) -> str:
    """The value of a JSON file, or the values of a sample log, one a line; without the last line of
    a run that was killed, if that is cut short. Raises OSError, ValueError."""
    text = path.read_text(encoding="utf-8")
    with suppress(json.JSONDecodeError):
        return json.dumps(anonymous(json.loads(text), names), indent=1) + "\n"
    packed = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        try:
            packed += [json.dumps(anonymous(json.loads(line), names))]
        except json.JSONDecodeError as error:
            if number == len(lines) > 1:
                break
            raise ValueError(f"{path}: line {number}: not JSON: {error.msg}") from None
    return "".join(f"{line}\n" for line in packed)


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
    show(
        f"{one_line(output)}: figures of this machine, without paths, its name and yours "
        "(unless of one or two letters)."
    )
    return DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
