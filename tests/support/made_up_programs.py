"""Made-up whole programs, as a trial of all of their processes sees them."""

from __future__ import annotations

import random
from dataclasses import dataclass

from asterope.prove.trial.blocks import LIBC, ROUTINE, Block, Lived, Observed, Pair, Place, Seen
from asterope.prove.trial.short import SHORT

COPIES, STARTING = (Place("/bin/program", n, "memcpy", 4096) for n in (1, 2))
_CALL = 1e-4  # seconds to the next one
_SHORTEST, _LONGEST, _OF_ALL = 0.001, 0.03, 16  # a period: in seconds, and as a part of what was


@dataclass(frozen=True)
class Program:
    """`share`: of its CPU time, what its copies take with libc; `factor`: what they take with the
    routine, in times of that. `seconds`: of CPU time of a process; `noise`: of a period's time, and
    how often it is longer by far."""

    share: float
    factor: float
    seconds: float
    noise: float
    stalls: float

    @property
    def gain(self) -> float:
        return 1 / self._level(ROUTINE) - 1

    def _level(self, way: str | None) -> float:
        factor = {LIBC: 1.0, ROUTINE: self.factor, None: (1 + self.factor) / 2}[way]
        return 1 - self.share + self.share * factor

    def _stretched(self, seconds: float, dice: random.Random) -> float:
        seconds *= max(0.3, 1 + self.noise * dice.gauss(0, 1))
        return seconds * (dice.uniform(1, 3) if dice.random() < self.stalls else 1)

    def tried(self, seconds: float, dice: random.Random) -> Observed:
        """All of its processes in so many seconds of CPU time, 300 at most."""
        observed, number = Observed(wall_seconds=seconds), 0
        while observed.cpu_seconds < seconds and number < 300:
            before = observed.cpu_seconds
            luck = 1 + 0.005 * dice.gauss(0, 1)  # where its memory happens to lie
            if self.seconds < SHORT and number:
                way = dice.choice([LIBC, ROUTINE, None])
                own = luck * self._stretched(self.seconds * self._level(way), dice)
                observed.lived.append(Lived(str(number), 7, number, own, way, own))
                observed.cpu_seconds += own
            else:
                most = min(luck * self.seconds, max(seconds - before, self.seconds / 4))
                self._in_periods(str(number), most, observed, dice)
                own = observed.cpu_seconds - before
                observed.lived.append(Lived(str(number), 7, number, own, None, own))
            number += 1
        observed.processes = observed.runs = number
        calls = observed.cpu_seconds / _CALL
        measured = max(25, int(calls / 64))
        seen = observed.places.setdefault(COPIES, Seen())
        seen.calls = max(seen.calls, int(calls))
        each = _CALL * self.share
        seen.measured = {
            LIBC: (measured, measured * each),
            ROUTINE: (measured, measured * each * self.factor),
        }
        return observed

    def _in_periods(
        self, process: str, seconds: float, observed: Observed, dice: random.Random
    ) -> None:
        passed, pair = 0.0, 0
        while passed < seconds:
            is_together = (pair // 2 + pair) % 2
            for way in dice.sample([LIBC, ROUTINE], 2):
                length = min(max(_SHORTEST, passed / _OF_ALL), _LONGEST) * dice.uniform(1, 2)
                # while it starts, other things than copies take most of the time
                is_start = passed < 0.02
                place = STARTING if is_start else COPIES
                level = _CALL * (dice.uniform(0.5, 5) if is_start else self._level(way))
                calls = max(8, round(length / level))
                own = self._stretched(calls * level, dice)
                seen = observed.places.setdefault(place, Seen())
                seen.calls += calls
                if is_together:
                    times = [own / calls * (1 + 0.1 * dice.gauss(0, 1)) for _ in range(8)]
                    key = Pair(process, pair)
                    seen.together.setdefault(key, []).append(Block(way, times, [1.0] * 8, calls))
                    whole = Block(way, [own, own], [1.0] * 2, 1)
                    observed.together.setdefault(key, []).append(whole)
                else:
                    seen.own_calls += calls
                passed += own
                observed.cpu_seconds += own
            pair += 1
