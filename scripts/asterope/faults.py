"""What can go wrong: each is one line, with an exit code."""

from __future__ import annotations


class BadInput(Exception):
    """What was asked for cannot be done: exit code 2."""


class Failure(Exception):
    """The machine or a program fails: exit code 1."""
