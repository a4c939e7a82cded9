"""What the package's commands share: exit codes and errors of one line."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from .profile import one_line

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class Parser(argparse.ArgumentParser):
    """argparse with errors of one line; its own print the usage as well."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {one_line(message)}: see {self.prog} --help\n")


def fail(program: str, line: str, code: int) -> int:
    """Says in the program's name what is wrong; returns the exit code."""
    print(f"{program}: {line}", file=sys.stderr)
    return code
