"""The observations of a trial: blocks of intervals, by place and way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...record.kernel import Used, are_pages_the_cost
from ...record.recorder import TO_OPEN

LIBC, LIBC_AGAIN, ROUTINE = "libc", "libc again", "routine"

_IDLE = 0.1  # of the time: a program that runs for less of it waits
SHORT = 0.3  # seconds of CPU time of a process: some hundred periods


@dataclass(frozen=True)
class Block:
    """Calls that went one way, in a row or in one period. `seconds`: up to eight intervals, each
    from a call's start to the next one's. `sizes`: the calls' sizes as multiples of the place's
    least size. `calls`: the block stands for so many."""

    way: str
    seconds: Sequence[float]
    sizes: Sequence[float]
    calls: int
    gap: int = 1  # calls that were timed as one


@dataclass(frozen=True)
class Spent:
    """A thread's CPU time in the part of a period that counts. `within`: the same, with the longest
    intervals counted as usual ones; 0: not known."""

    way: str
    seconds: float
    within: float


class Pair(NamedTuple):
    """Two successive periods: with libc in one and another way in the other."""

    process: str
    number: int


@dataclass(frozen=True, order=True)
class Place:
    """Calls of one function from one return address, of sizes from `least`, below twice that.
    `least` is 0 for calls that are too small to be tried one by one, or have no place of their
    own. `file_name`: the file's name for users. The command's program has the name that the user
    gave, which may be a link's. Empty: as `module`."""

    module: str  # the file; empty: the code is in none
    offset: int  # of the return address in it
    function: str
    least: int
    file_name: str = field(default="", compare=False)

    @property
    def is_own(self) -> bool:
        return self.least > 0


@dataclass
class Seen:
    """The blocks of one place, in all threads, processes and runs."""

    calls: int = 0
    own_calls: int = 0  # of them, while each place changed its way by itself
    short_calls: int = 0  # of all, in processes that are too short for periods
    copied: int = 0  # bytes of all calls but sets
    left: set[str] = field(default_factory=set)  # ways that were plainly slower, and left
    # Each has a block of every way that had not left, in time's order. They have no order.
    cycles: list[Sequence[Block]] = field(default_factory=list)
    # By pair of periods: blocks of the time in which all places went one way together.
    together: dict[Pair, list[Block]] = field(default_factory=dict)
    # Some of its calls were timed by themselves: their number and seconds, by libc and the routine.
    measured: dict[str, tuple[int, float]] = field(default_factory=dict)

    def add(self, other: Seen) -> None:
        for way, (count, seconds) in other.measured.items():
            before = self.measured.get(way, (0, 0.0))
            self.measured[way] = before[0] + count, before[1] + seconds
        self.calls += other.calls
        self.own_calls += other.own_calls
        self.short_calls += other.short_calls
        self.copied += other.copied
        self.left |= other.left
        self.cycles += other.cycles
        for pair, blocks in other.together.items():
            self.together.setdefault(pair, []).extend(blocks)


@dataclass(frozen=True)
class Lived:
    """A process. `kind`: the same for those of one program, or for the children forked from them;
    0: not known, as in operation. `way`: it took this one as a whole; None: it did not.
    `cpu_since_start`: its CPU time from the trial's start to its end; None: not noted.
    `noted_short`: its library noted that it was too short, that its periods were, or that only its
    places were tried."""

    name: str  # as of its pairs of periods
    kind: int
    started: float
    seconds: float  # of CPU time
    way: str | None = None
    cpu_since_start: float | None = None
    noted_short: bool = False

    @property
    def is_short(self) -> bool:
        """Too short for periods, or of a kind that is."""
        return self.seconds < SHORT or self.noted_short or self.way is not None


@dataclass
class Observed:
    """The observations of all processes."""

    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0  # to the last time that a process noted
    processes: int = 0
    threads: int = 0
    runs: int = 0
    lasted: float = 0.0  # seconds of the runs, from command's start to end; 0: in operation
    # CPU time in operation without a trial, on libc's way and on the other one that may be best
    easy_libcs: float = 0.0
    easy_others: float = 0.0
    places: dict[Place, Seen] = field(default_factory=dict)
    # By pair of periods, of each thread and period.
    together: dict[Pair, list[Spent]] = field(default_factory=dict)
    limits: set[str] = field(default_factory=set)  # hindrances, see LIMITS
    restricted: float = 0.0  # CPU time in which processes restricted their system calls, at most
    # Processes in operation that did so before they were tried: their time is not known.
    untimed: int = 0
    lived: list[Lived] = field(default_factory=list)
    outlived_by: set[str] = field(default_factory=set)  # programs that went on after the command
    # of all processes that were waited for, with the trial's own work
    used: Used = field(default_factory=Used)

    def add(self, other: Observed) -> None:
        for place, seen in other.places.items():
            self.places.setdefault(place, Seen()).add(seen)
        self.together.update(other.together)
        # Sets are joined, numbers and lists added; the two dicts are above.
        for name, own in vars(self).items():
            if isinstance(own, set):
                own |= getattr(other, name)
            elif not isinstance(own, dict):
                own += getattr(other, name)
                setattr(self, name, own)

    @property
    def known_seconds(self) -> float:
        """CPU time whose processes are known."""
        return self.cpu_seconds + self.restricted

    @property
    def copied(self) -> int:
        """Bytes."""
        return sum(seen.copied for seen in self.places.values())

    @property
    def is_idle(self) -> bool:
        """Whether the program waited nearly all the time."""
        return self.cpu_seconds < _IDLE * max(self.wall_seconds, self.lasted)

    @property
    def are_pages_the_cost(self) -> bool:
        used = self.used
        about = (used.kernel_share, used.seconds, used.faults, self.copied)
        return used.is_known and are_pages_the_cost(*about)


FULL, PLACES_FULL, NO_COUNTER, NO_WAY = "full", "places full", "no counter", "no way"
THREADS_FULL, QUIET, UNSEEN, CLOSED = "threads full", "quiet", "unseen", "closed"
LIMITS = {
    FULL: "there was no room for all figures: later parts of the program count less",
    PLACES_FULL: "a thread copies at more places than are told apart: the rest is one place",
    NO_COUNTER: "the program forbids reading the time stamp: from then on nothing was tried",
    NO_WAY: "a library could not be loaded into the program: nothing was tried there",
    THREADS_FULL: "more than 128 threads copy at a time: the rest was not tried",
    UNSEEN: "most of the CPU time was taken by processes without the library: their environment "
    "was cleared, they are linked statically or privileged, or another user runs them",
    CLOSED: f"other users may not enter the trial's folder, and are not tried: {TO_OPEN}",
    QUIET: "a program restricts its system calls, after which new places were not tried: prove it "
    "with its sandbox off",
}
