"""When to look at the command's processes. One may end without noting its time, and its own parent
may wait for it. Then its CPU time since the last look is lost."""

from __future__ import annotations

# Seconds from one look to the next: right after a process has begun, and at most.
FIRST, LAST = 0.01, 0.25
GROWTH = 1.03  # each pause over the one before: so a pause is some 3 % of the process's age
_BETWEEN = 10  # durations of a look pass before the next one, but LAST at most


class Pace:
    """All in seconds of one clock. `due`: when the next look is."""

    def __init__(self, now: float) -> None:
        self._pause, self._earliest = FIRST, now
        self.due = now + FIRST

    def begun(self, now: float) -> None:
        """A process has begun."""
        self._pause = FIRST
        self.due = min(self.due, max(self._earliest, now + FIRST))

    def looked(self, began: float, ended: float) -> None:
        self._earliest = ended + min(LAST, _BETWEEN * (ended - began))
        self._pause = min(LAST, self._pause * GROWTH)
        self.due = max(self._earliest, ended + self._pause)
