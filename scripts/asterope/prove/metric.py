"""The compared figure: a run's wall-clock time, its CPU time, or a number that it prints."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal

from ..faults import BadInput, Failure, one_line
from .processes import Run

# Within these bounds the ratio of two figures and its interval are finite floating-point numbers.
_LEAST, _MOST = 1e-50, 1e50
WALL, CPU, PATTERN = "wall", "cpu", "pattern"


@dataclass(frozen=True)
class Metric:
    kind: str
    pattern: re.Pattern[str] | None = None
    larger_is_better: bool = False

    @property
    def words(self) -> str:
        """For a table's head."""
        if self.pattern is None:
            return {WALL: "wall-clock time", CPU: "CPU time"}[self.kind]
        better = "larger" if self.larger_is_better else "smaller"
        return f"{one_line(self.pattern.pattern)} ({better} is better)"

    def of(self, run: Run) -> float:
        """The run's figure, which is above 0; a printed one is a Figure. Raises Failure."""
        if self.pattern is None:
            return run.wall if self.kind == WALL else run.used.seconds
        found = [*self.pattern.finditer(run.output)]
        if not found:
            raise Failure(f"prints nothing that --metric {one_line(self.pattern.pattern)} matches")
        text = found[-1][1] or ""  # the last one is a summary
        try:
            figure = float(text)
        except ValueError:
            shown = one_line(text)[:40] or "nothing"
            raise Failure(f"--metric: {shown!r} is not a number") from None
        if not _LEAST <= figure <= _MOST:
            raise Failure(
                f"--metric: {one_line(text)[:40]} has no usable ratio to another: it must be above "
                f"0, from {_LEAST:g} to {_MOST:g}"
            )
        return Figure(figure, 10.0 ** int(Decimal(text).as_tuple().exponent))


class Figure(float):
    """A number that was printed; `step`: one in its last digit, 0.1 for "4.5"."""

    step: float

    def __new__(cls, value: float, step: float) -> Figure:
        figure = super().__new__(cls, value)
        figure.step = step
        return figure

    @property
    def rounding(self) -> float:
        """How far rounding may move the logarithm of its ratio to another such figure: by half of
        the last digit of each."""
        return math.log((self + self.step / 2) / (self - self.step / 2))


def parse_metric(text: str, larger_is_better: bool) -> Metric:
    """Raises BadInput."""
    if text in (WALL, CPU):
        if larger_is_better:
            raise BadInput(f"--larger-is-better is for a REGEX, and less {text} time is better")
        return Metric(text)
    try:
        pattern = re.compile(text, re.MULTILINE)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadInput(f"--metric {one_line(text)[:80]}: {one_line(error)}") from None
    if pattern.groups < 1:
        raise BadInput(
            f"--metric {one_line(text)[:80]}: is neither wall nor cpu nor a regular expression "
            r"with the number in parentheses, as in 'took ([0-9.]+) s'"
        )
    return Metric(PATTERN, pattern, larger_is_better)
