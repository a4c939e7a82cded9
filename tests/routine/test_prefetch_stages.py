"""Prefetch stages ask for the right lines, each once and in time: no copy's result shows that.

The assembly text of a pipeline is run by the few instructions that move its pointers; what it asks
for, loads and stores is written down.
"""

from __future__ import annotations

import itertools
import re

import pytest
from asterope import render
from asterope.spaces.x86_64 import pipelines
from asterope.spaces.x86_64.pipelines import Tuple

SOURCE, DESTINATION = 0x100000, 0x900000  # on line boundaries

MEMORY = re.compile(r"(-?\d*)\((%\w+)(?:,(%\w+))?\)")
TAKEN = {
    "jmp": lambda a, b: True,
    "jb": lambda a, b: a < b,
    "jbe": lambda a, b: a <= b,
    "ja": lambda a, b: a > b,
    "jae": lambda a, b: a >= b,
    "jnz": lambda a, b: a & b != 0,  # after `test`
    "cmova": lambda a, b: a > b,
    "cmovb": lambda a, b: a < b,
}


def code_of(t: Tuple) -> list[str]:
    template = render._environment("x86_64").get_template("pipeline.j2")
    lines = [line.strip() for line in template.module.pipeline(t, t.pd, 128).splitlines()]
    return [line for line in lines if line and line[0] not in "./"]


def label_at(code: list[str], here: int, label: str) -> int:
    forward = label.endswith("f")
    places = range(here, len(code)) if forward else range(here, -1, -1)
    return next(i for i in places if code[i] == f"{label[:-1]}:")


def trace(t: Tuple, size: int) -> list[tuple[str, int]]:
    """Instruction and address of every access to memory."""
    code = code_of(t)
    values = {"%rdi": DESTINATION, "%rsi": SOURCE, "%rdx": size, "%sil": SOURCE & 0xFF}
    accesses = []
    compared = (0, 0)
    here = 0

    def address(text: str) -> int:
        displacement, base, index = MEMORY.fullmatch(text).groups()
        return int(displacement or 0) + values[base] + (values[index] if index else 0)

    def value(text: str) -> int:
        return int(text[1:]) if text[0] == "$" else values[text]

    while True:
        operation, _, rest = code[here].partition(" ")
        operands = re.split(r", (?![^(]*\))", rest)  # at no comma in parentheses
        here += 1
        if operation == "ret":
            return accesses
        if operation.endswith(":") or operation in ("sfence", "vzeroupper"):
            continue
        if operation in ("cmp", "test"):
            compared = (value(operands[1]), value(operands[0]))
        elif operation.startswith("j"):
            if TAKEN[operation](*compared):
                here = label_at(code, here - 1, operands[0])
        elif operation.startswith("cmov"):
            if TAKEN[operation](*compared):
                values[operands[1]] = value(operands[0])
        elif operation == "lea":
            values[operands[1]] = address(operands[0])
        elif operation in ("add", "sub", "and"):
            a, b = values[operands[1]], value(operands[0])
            results = {"add": a + b, "sub": a - b, "and": a & b}
            values[operands[1]] = results[operation]
        else:
            assert operation.startswith(("prefetch", "mov", "vmov")), code[here - 1]
            accesses += [(operation, address(o)) for o in operands if "(" in o]
            if operation == "movdir64b":
                accesses.append((operation, values[operands[1]]))


def some_tuples() -> list[Tuple]:
    """Each combination of the axes that prefetches, at distances that tell the two apart."""
    tuples = []
    for v in pipelines.variants():
        if v.rt in ("XMM", "ZMM", pipelines.DIRECT) and v.pt in ("none", "T0") and (v.ps or v.pw):
            pd, pw = (6 if v.ps else 0), (8 if v.pw else 0)
            tuples.append(Tuple(v.rt, v.lt, v.st, v.pt, v.ps, pd, v.tb, v.pi, pw, v.dir))
    return tuples


@pytest.mark.parametrize(("dir", "pi"), [("up", 1), ("up", 2), ("up", 4), ("down", 1)])
@pytest.mark.parametrize("tb", sorted(pipelines.VALUES["tb"]))
def test_each_line_is_asked_for_once_and_ahead_of_its_copy(tb, pi, dir):
    chosen = [t for t in some_tuples() if (t.tb, t.pi, t.dir) == (tb, pi, dir)]
    assert chosen
    down = dir == "down"
    # Several groups, with a rest; and none that fits, where only small blocks may go without.
    for t, size in itertools.product(chosen, (40_000, 3 * 64 * tb + 320)):
        accesses = trace(t, size)
        reached = size - 64 * t.tb - 256  # whole blocks come at least so far
        for prefetch, start, lines in (
            ("prefetcht0", SOURCE, t.pd),
            ("prefetchw", DESTINATION, t.pw),
        ):
            asked = [where for operation, where in accesses if operation == prefetch]
            if not (t.pw if prefetch == "prefetchw" else t.ps):
                assert not asked, t.name
                continue
            # The head is the line at either end; from there on, line by line, without a gap.
            first = start + 64 + 64 * lines if not down else start + size - size % 64
            if down:
                first -= (0 if size % 64 else 64) + 64 + 64 * lines
            step = -64 if down else 64
            expected = [first + i * step for i in range(len(asked))]
            assert sorted(asked, reverse=down) == expected, f"{t.name}, {size} bytes, {prefetch}"
            assert 64 * len(asked) >= reached, f"{t.name}, {size} bytes, {prefetch}"
            assert_in_time(t, accesses, prefetch, start, size)


def assert_in_time(t: Tuple, accesses, prefetch: str, start: int, size: int) -> None:
    """Between the question for a line and its copy lie as many lines as the distance says, more or
    less a step of every page."""
    lines = t.pw if prefetch == "prefetchw" else t.pd
    step = (t.ps or t.tb) * t.pi
    asked: dict[int, int] = {}
    copied = set()
    for operation, where in accesses:
        if operation == prefetch:
            asked[where] = len(copied)
        elif not operation.startswith("prefetch") and start <= where < start + size:
            line = where // 64
            if line in copied:
                continue
            if line * 64 in asked and t.pi == 1:
                between = len(copied) - asked[line * 64]
                assert lines <= between + 1 <= lines + step + 2, (t.name, between)
            if line * 64 in asked and t.pi > 1:
                assert len(copied) >= asked[line * 64], t.name
            copied.add(line)


def test_a_wrong_line_would_be_noticed(monkeypatch):
    """The trace follows the text: without its last prefetch there is a gap."""
    t = Tuple("XMM", "T", "T", "T0", 8, 6, 4, 2, 8)
    code = code_of(t)
    for prefetch in ("prefetcht0", "prefetchw"):
        at = [i for i, line in enumerate(code) if line.startswith(prefetch)]
        for i in (at[3], at[-1]):
            monkeypatch.setattr(f"{__name__}.code_of", lambda _, i=i: [*code[:i], *code[i + 1 :]])
            asked = [where for operation, where in trace(t, 40_000) if operation == prefetch]
            assert len(asked) == len(set(asked))
            assert max(asked) - min(asked) > 64 * (len(asked) - 1)
