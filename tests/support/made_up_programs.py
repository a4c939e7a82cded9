"""Made-up whole programs, as a trial of all of their processes sees them."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from asterope.prove.trial.blocks import (
    LIBC,
    ROUTINE,
    SHORT,
    Block,
    Lived,
    Observed,
    Pair,
    Place,
    Seen,
    Spent,
)

COPIES, STARTING = (Place("/bin/program", n, "memcpy", 4096) for n in (1, 2))
_SHORTEST, _OF_ALL = 0.001, 16  # a period: in seconds, and as a part of the time until then
_LONG = 1e-4  # seconds between two calls, from which on they are of CPU time
_TIMED = 1e-5  # seconds: calls that follow each other faster are timed in groups
_KEPT = 8  # intervals of a period, of which each place keeps so many
_MOST_WAITING = 8  # one interval in so many, else the usual ones are not told from the others
_MOST_PROCESSES = 150


@dataclass(frozen=True)
class Program:
    """`share`: the part of its processes' CPU time that copies take with libc. `factor`: with the
    routine they take so many times that. `seconds`: of CPU time of a process; `noise`: of a
    period's time, and how often it is longer by far. `idle`: the part of the time that it waits.
    `processes`: that run beside each other; if several, another one starts them, and copies
    nothing. `call`: seconds of CPU time from a call to the next; `calls`: from a wait to the next
    one; `longest`: period, in seconds."""

    share: float
    factor: float
    seconds: float
    noise: float
    stalls: float
    idle: float = 0.0
    processes: int = 1
    call: float = 1e-4
    calls: int = 30
    longest: float = 0.03

    @property
    def _parent(self) -> float:
        """The seconds of the process that starts the others, for each of these."""
        return 0.3 * self.seconds / self.processes if self.processes > 1 else 0.0

    @property
    def _starting(self) -> float:
        """The seconds of a process in which no copies of the routine's matter."""
        return min(0.02, self.seconds / 10)

    def _level(self, way: str | None) -> float:
        factor = {LIBC: 1.0, ROUTINE: self.factor, None: (1 + self.factor) / 2}[way]
        return 1 - self.share + self.share * factor

    def _whole(self, way: str | None) -> float:
        """The seconds of a process."""
        return self._starting + (self.seconds - self._starting) * self._level(way)

    def _stretched(self, seconds: float, dice: random.Random) -> float:
        seconds *= max(0.3, 1 + self.noise * dice.gauss(0, 1))
        return seconds * (dice.uniform(1, 3) if dice.random() < self.stalls else 1)

    def tried(self, seconds: float, dice: random.Random) -> tuple[Observed, float]:
        """All of its processes in so many seconds, _MOST_PROCESSES at most; and how much faster
        they are, as far as they came."""
        seconds *= 1 - self.idle
        observed, number, is_short, takes = Observed(), 0, False, [0.0, 0.0]
        copies = observed.places.setdefault(COPIES, Seen())
        while observed.cpu_seconds < seconds and number < _MOST_PROCESSES:
            left = (seconds - observed.cpu_seconds) / self.processes
            for _ in range(self.processes):
                before, way, done = observed.cpu_seconds, None, 1.0
                if is_short:
                    way = dice.choice([LIBC, ROUTINE, None])
                    calls = round((self.seconds - self._starting) / self.call)
                    copies.calls += calls
                    luck = 1 + 0.005 * dice.gauss(0, 1)  # where its memory happens to lie
                    observed.cpu_seconds += luck * self._stretched(self._whole(way), dice)
                else:
                    calls = copies.calls
                    done = self._in_periods(str(number), left, observed, dice)
                    calls = copies.calls - calls
                own = observed.cpu_seconds - before
                one = Lived(str(number), 7, number, own, way, own if done == 1 else None)
                observed.lived.append(one)
                if one.is_short:
                    copies.short_calls += calls
                number += 1
                observed.cpu_seconds += done * self._parent
                for i, each in enumerate((LIBC, ROUTINE)):
                    copying = done * (self._whole(each) - self._starting)
                    starting = self._starting if done else min(own, self._starting)
                    takes[i] += starting + copying + done * self._parent
                is_short = is_short or (own < SHORT and done == 1)
        observed.wall_seconds = observed.cpu_seconds / (1 - self.idle)
        observed.processes = observed.runs = number
        measured = max(25, copies.calls // 64)
        each = self.call * self.share * (1 + self.stalls)
        copies.measured = {
            LIBC: (measured, measured * each),
            ROUTINE: (measured, measured * each * self.factor),
        }
        return observed, takes[0] / takes[1] - 1

    def _in_periods(
        self, process: str, most: float, observed: Observed, dice: random.Random
    ) -> float:
        """A process, for `most` seconds. Returns the part of its work that is done then. While it
        starts, other things than copies take most of the time."""
        luck = 1 + 0.005 * dice.gauss(0, 1)
        work = (self.seconds - self._starting) / self.call
        passed, pair, to_do = 0.0, 0, work
        while passed < most and to_do > 0:
            is_together = (pair // 2 + pair) % 2
            for way in (LIBC, ROUTINE) if dice.random() < 0.5 else (ROUTINE, LIBC):
                so_far = passed / (1 - self.idle) / _OF_ALL
                length = min(max(_SHORTEST, so_far), self.longest) * dice.uniform(1, 2)
                is_start = passed < self._starting
                place = STARTING if is_start else COPIES
                level = self.call * (dice.uniform(0.5, 5) if is_start else self._level(way))
                calls = max(8, round(length * (1 - self.idle) / level))
                own = luck * self._stretched(calls * level, dice)
                to_do -= 0 if is_start else calls
                seen = observed.places.setdefault(place, Seen())
                seen.calls += calls
                if is_together:
                    usual = own / calls * (1 + 0.1 / math.sqrt(_KEPT) * dice.gauss(0, 1))
                    waits, are_few = self._waits(dice)
                    key = Pair(process, pair)
                    block = Block(way, [usual + waits], [1.0], calls)
                    seen.together.setdefault(key, []).append(block)
                    whole = Spent(way, own, own if are_few else 0.0)
                    observed.together.setdefault(key, []).append(whole)
                else:
                    seen.own_calls += calls
                passed += own
                observed.cpu_seconds += own
            pair += 1
        return 1 - max(0.0, to_do) / work

    def _waits(self, dice: random.Random) -> tuple[float, bool]:
        """The seconds of waits in the mean of a place's kept intervals, and whether few have
        some."""
        if not self.idle or self.call / (1 - self.idle) > _LONG:
            return 0.0, True
        calls = math.ceil(_TIMED / self.call)
        chance = min(1.0, calls / self.calls)
        wait = self.calls * self.call * self.idle / (1 - self.idle) / calls
        several = sum(dice.random() < chance for _ in range(_KEPT))
        return several / _KEPT * wait * max(1.0, calls / self.calls), chance < 1 / _MOST_WAITING
