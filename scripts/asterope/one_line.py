"""Text of others as a message of one line can hold it."""

from __future__ import annotations


def one_line(text: object) -> str:
    """`text` as a message can hold it: as it is, or escaped where it has odd characters."""
    shown = str(text)
    return shown if shown.isprintable() else ascii(shown)[1:-1]
