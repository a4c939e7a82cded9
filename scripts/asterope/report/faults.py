"""What is wrong with an input of a report."""

from __future__ import annotations


class BadInput(ValueError):
    """An input that cannot be used. Its text is one line: which, where, what is wrong, remedy."""
