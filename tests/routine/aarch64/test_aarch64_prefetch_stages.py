"""Prefetch stages of AArch64 ask for the right lines, each once and in time: no copy's result shows
that.

The assembly text of a pipeline is run by the few instructions that move its pointers; what it asks
for, loads and stores is written down. Pipelines of vectors, whose blocks have no known length, ask
for the same lines between blocks that need not be whole lines: of them only a part can be said.
"""

from __future__ import annotations

import itertools
import re

import pytest
from asterope import render
from asterope.spaces.aarch64 import pipelines
from asterope.spaces.aarch64.pipelines import Tuple

SOURCE, DESTINATION = 0x100000, 0x900000  # on line boundaries
VECTOR = 32  # bytes

OF_SOURCE, OF_DESTINATION = "prfm pldl1keep", "prfm pstl1keep"
MEMORY = re.compile(r"\[(\w+)(?:, (#-?\d+|\w+))?(, mul vl)?\]")
TAKEN = {
    "b": lambda a, b: True,
    "b.lo": lambda a, b: a < b,
    "b.ls": lambda a, b: a <= b,
    "b.hi": lambda a, b: a > b,
    "b.hs": lambda a, b: a >= b,
    "lo": lambda a, b: a < b,
    "hi": lambda a, b: a > b,
    "b.first": lambda a, b: a < b,  # after whilelo
    "b.none": lambda a, b: a >= b,
}
CALCULATES = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "and": lambda a, b: a & b}


def code_of(t: Tuple) -> list[str]:
    template = render._environment("aarch64").get_template("pipeline.j2")
    lines = [line.strip() for line in template.module.pipeline(t, t.pd, 128).splitlines()]
    return [line for line in lines if line and line[0] not in "./"]


def label_at(code: list[str], here: int, label: str) -> int:
    places = range(here, len(code)) if label.endswith("f") else range(here, -1, -1)
    return next(i for i in places if code[i] == f"{label[:-1]}:")


def trace(t: Tuple, size: int) -> list[tuple[str, int]]:
    """Instruction and address of every access to memory; of prefetches with the operation."""
    code = code_of(t)
    values = {"x0": DESTINATION, "x1": SOURCE, "x2": size, "x3": DESTINATION}
    accesses = []
    compared = (0, 0)
    here = 0

    def value(text: str) -> int:
        return int(text[1:]) if text[0] == "#" else values[text]

    def address(text: str) -> int:
        base, more, by_vectors = MEMORY.search(text).groups()
        return values[base] + (value(more) if more else 0) * (VECTOR if by_vectors else 1)

    while True:
        operation, _, rest = code[here].partition(" ")
        operands = re.split(r", (?![^\[{]*[\]}])", rest)  # at no comma in brackets
        here += 1
        if operation == "ret":
            return accesses
        if operation.endswith(":") or operation == "ptrue":
            continue
        if operation in ("cmp", "whilelo"):
            compared = (value(operands[-2]), value(operands[-1]))
        elif operation.startswith("b.") or operation == "b":
            if TAKEN[operation](*compared):
                here = label_at(code, here - 1, operands[0])
        elif operation == "csel":
            values[operands[0]] = value(operands[1 if TAKEN[operands[3]](*compared) else 2])
        elif operation in CALCULATES:
            values[operands[0]] = CALCULATES[operation](value(operands[1]), value(operands[2]))
        elif operation in ("mov", "movz"):
            values[operands[0]] = value(operands[1])
        elif operation == "movk":
            shift = int(operands[2].split("#")[1])
            values[operands[0]] |= value(operands[1]) << shift
        elif operation == "cntb":
            vectors = int(operands[2].split("#")[1]) if len(operands) > 1 else 1
            values[operands[0]] = VECTOR * vectors
        elif operation == "incb":
            values[operands[0]] += VECTOR
        elif operation == "addvl":
            values[operands[0]] = value(operands[1]) + VECTOR * value(operands[2])
        elif operation == "prfm":
            accesses.append((f"prfm {operands[0]}", address(operands[1])))
        elif operation == "dmb":
            assert operands == ["ishld"]
        elif operation == "dc":
            accesses.append(("dc zva", values[operands[1]]))
        else:
            assert re.match(r"(ld|st)(p|np|r|1b|nt1b)$", operation), code[here - 1]
            first = address(operands[-1])
            pair = 16 if operands[0][0] == "q" else 8
            accesses.append((operation, first))
            if operation[2:] in ("p", "np"):
                accesses.append((operation, first + pair))


def some_tuples(*registers: str) -> list[Tuple]:
    """Each combination of the axes that prefetches, at distances that tell the two apart."""
    tuples = []
    for v in pipelines.variants():
        if v.rt in registers and v.pt in ("none", "L1KEEP") and (v.ps or v.pw):
            marks = {axis.field: getattr(v, axis.field) for axis in pipelines.MARKED}
            marks["pw"] = 8 if v.pw else 0
            tuples.append(Tuple(v.rt, v.lt, v.st, v.pt, v.ps, 6 if v.ps else 0, **marks))
    return tuples


def distances_of(t: Tuple) -> list[tuple[str, int, int]]:
    """Prefetch, beginning of the buffer, distance in lines; only of prefetches that there are."""
    both = [(OF_SOURCE, SOURCE, t.pd, t.ps), (OF_DESTINATION, DESTINATION, t.pw, t.pw)]
    return [(prefetch, start, lines) for prefetch, start, lines, is_there in both if is_there]


def asked_by(accesses: list[tuple[str, int]], prefetch: str) -> list[int]:
    return [where for operation, where in accesses if operation == prefetch]


@pytest.mark.parametrize(("dir", "pi"), [("up", 1), ("up", 2), ("up", 4), ("down", 1)])
@pytest.mark.parametrize("tb", sorted(pipelines.VALUES["tb"]))
def test_each_line_is_asked_for_once_and_ahead_of_its_copy(tb, pi, dir):
    chosen = [t for t in some_tuples("Q", "X") if (t.tb, t.pi, t.dir) == (tb, pi, dir)]
    assert chosen
    down = dir == "down"
    # Several groups, with a rest; and none that fits, where only small blocks may go without.
    for t, size in itertools.product(chosen, (20_000, 3 * 64 * tb + 320)):
        accesses = trace(t, size)
        reached = size - 64 * t.tb - 256  # whole blocks come at least so far
        wanted = distances_of(t)
        prefetches = {operation for operation, _ in accesses if operation.startswith("prfm")}
        assert prefetches <= {prefetch for prefetch, _, _ in wanted}, t.name
        for prefetch, start, lines in wanted:
            asked = asked_by(accesses, prefetch)
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
    lines = t.pw if prefetch == OF_DESTINATION else t.pd
    step = (t.ps or t.tb) * t.pi
    asked: dict[int, int] = {}
    copied = set()
    for operation, where in accesses:
        if operation == prefetch:
            asked[where] = len(copied)
        elif not operation.startswith("prfm") and start <= where < start + size:
            line = where // 64
            if line in copied:
                continue
            if line * 64 in asked and t.pi == 1:
                between = len(copied) - asked[line * 64]
                assert lines <= between + 1 <= lines + step + 2, (t.name, between)
            if line * 64 in asked and t.pi > 1:
                assert len(copied) >= asked[line * 64], t.name
            copied.add(line)


def test_all_that_is_cleared_is_stored_to_next():
    """A line that `dc zva` has cleared holds zeros until it is stored to: nothing else may be."""
    chosen = [t for t in some_tuples("Q") if t.clear == "zva"]
    chosen += [Tuple("Q", "T", "T", "none", 0, 0, tb=tb, clear="zva") for tb in (1, 2, 4, 8)]
    assert {t.tb for t in chosen} == {1, 2, 4, 8}
    for t in chosen:
        cleared: set[int] = set()
        accesses = trace(t, 20_007)
        for number, (operation, where) in enumerate(accesses):
            if operation == "dc zva":
                assert where % 64 == 0, t.name
                later = {at for op, at in accesses[number:] if op == "stp"}
                assert {where + n for n in (0, 16, 32, 48)} <= later, t.name
                assert DESTINATION <= where <= DESTINATION + 20_007 - 64, t.name
                assert where not in cleared, t.name
                cleared.add(where)
        assert len(cleared) >= (20_007 - 64 * t.tb - 256) // 64, t.name


@pytest.mark.parametrize("tb", sorted(pipelines.VALUES["tb"]))
def test_vectors_ask_for_no_line_twice_where_their_blocks_are_whole_lines(tb):
    """With these vectors, a prefetch stage is as long as whole blocks."""
    chosen = [t for t in some_tuples("SVE") if t.tb == tb and (64 * t.ps) % (VECTOR * tb) == 0]
    assert chosen
    for t in chosen:
        accesses = trace(t, 20_000)
        for prefetch, start, lines in distances_of(t):
            asked = asked_by(accesses, prefetch)
            first = start + 64 + 64 * lines
            assert asked == [first + 64 * i for i in range(len(asked))], t.name
            assert 64 * len(asked) >= 20_000 - 64 * t.ps - VECTOR * tb - 128, t.name


def test_a_wrong_line_would_be_noticed(monkeypatch):
    """The trace follows the text: without its last prefetch there is a gap."""
    t = Tuple("Q", "T", "T", "L1KEEP", 8, 6, tb=4, pi=2, pw=8)
    code = code_of(t)
    for prefetch in (OF_SOURCE, OF_DESTINATION):
        at = [i for i, line in enumerate(code) if line.startswith(prefetch)]
        for i in (at[3], at[-1]):
            monkeypatch.setattr(f"{__name__}.code_of", lambda _, i=i: [*code[:i], *code[i + 1 :]])
            asked = asked_by(trace(t, 20_000), prefetch)
            assert len(asked) == len(set(asked))
            assert max(asked) - min(asked) > 64 * (len(asked) - 1)
