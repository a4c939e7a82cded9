"""How deeply JSON from outside may nest: the same for all commands, those in C++ too."""

from __future__ import annotations

from typing import Any

# Arrays and objects that lie in one another; no file of ours has more than a dozen.
MAXIMUM_DEPTH = 16


def nests_too_deeply(value: Any) -> bool:
    """Without recursion, which would end where the interpreter's does."""
    pending = [(value, 0)]
    while pending:
        part, depth = pending.pop()
        if isinstance(part, (dict, list)):
            if depth == MAXIMUM_DEPTH:
                return True
            inner = part.values() if isinstance(part, dict) else part
            pending.extend((one, depth + 1) for one in inner)
    return False
