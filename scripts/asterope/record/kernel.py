"""The kernel's share of a program's CPU time. Where a program copies into untouched memory, page
faults are most of it."""

from __future__ import annotations

from dataclasses import dataclass

from ..figures import count_text, figure_text, percent_text

# The kernel's share is known from so many seconds of CPU time on. Most systems only look a hundred
# times a second whether the program or the kernel runs.
_KNOWN = 0.1

# Fresh pages are the cost if the kernel takes the first share of the CPU time, and each MiB copied
# has so many faults. A MiB that goes into untouched pages of 4 KiB has 256 faults, so 64 mean that
# a quarter of the bytes goes there. A fault takes 0.5 to 2 us, so 64 take about as long as copying
# the MiB. Each program has some hundred faults at its start, which cost little. So all faults
# together must be a quarter of the kernel's time, even at 10 us a fault.
_COST_SHARE, _COST_FAULTS = 0.2, 64
_SLOWEST_FAULT, _COST_PART = 1e-5, 0.25


@dataclass(frozen=True)
class Used:
    """The CPU seconds of processes, the part of these in the kernel, and minor page faults."""

    seconds: float = 0.0
    in_kernel: float = 0.0
    faults: int = 0

    def __add__(self, other: Used) -> Used:
        return Used(
            self.seconds + other.seconds,
            self.in_kernel + other.in_kernel,
            self.faults + other.faults,
        )

    @property
    def kernel_share(self) -> float:
        """The kernel's part of the CPU time, 0 to 1."""
        return min(1.0, self.in_kernel / self.seconds) if self.seconds > 0 else 0.0

    @property
    def is_known(self) -> bool:
        return self.seconds >= _KNOWN


def _faults_a_mib(faults: int, copied: float | None) -> float | None:
    """`copied`: bytes; None: not known. Less than a MiB gives None."""
    mib = (copied or 0.0) / (1 << 20)
    return faults / mib if mib >= 1 else None


def are_pages_the_cost(share: float, seconds: float, faults: int, copied: float | None) -> bool:
    """`share`: the kernel's share of the CPU time. `seconds`: the CPU time."""
    each = _faults_a_mib(faults, copied)
    if share < _COST_SHARE or each is None or each < _COST_FAULTS:
        return False
    return faults * _SLOWEST_FAULT >= share * seconds * _COST_PART


def kernel_words(
    share: float, faults: int, copied: float | None = None, who: str = "The kernel"
) -> str:
    """The beginning of a sentence. `faults` 0: the kernel does not count them."""
    also, each = "", _faults_a_mib(faults, copied)
    if faults:
        also = f", with {count_text(faults)} page faults"
    if faults and each is not None and each >= 1:
        also += f" ({figure_text(each)} for each MiB copied)"
    return f"{who} took {percent_text(share)} of the CPU time{also}"


def to_try_tunables(command: str) -> str:
    """The command that tries two ways to save the faults: kept memory, and huge pages."""
    return f"asterope-prove --runs --tunables -- {command}"
