"""The errors of commands: each is one line, with an exit code."""

from __future__ import annotations


class BadInput(Exception):
    """The user asked for something that cannot be done: exit code 2."""


class Failure(Exception):
    """The machine or a program fails: exit code 1."""


def one_line(text: object) -> str:
    """`text` as a message can hold it: unchanged, or escaped where it has odd characters."""
    shown = str(text)
    return shown if shown.isprintable() else ascii(shown)[1:-1]
