"""Prefetch stages ask for the right lines, each once and in time: no copy's result shows that.

The assembly text of a pipeline is run by the few instructions that move its pointers; what it asks
for, loads and stores is written down. Pipelines of vectors, whose blocks have no known length, ask
for the same lines between blocks that need not be whole lines: of them only a part can be said.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterator
from typing import ClassVar

from architectures import AARCH64, Architecture, each
from asterope import render

SOURCE, DESTINATION = 0x100000, 0x900000  # on line boundaries
VECTOR = 32  # bytes

# Instructions that ask for a line of the source, and for one of the destination.
PREFETCHES = {
    "x86_64": ("prefetcht0", "prefetchw"),
    "aarch64": ("prfm pldl1keep", "prfm pstl1keep"),
}
# Types of prefetches of the source; and these registers, but for vectors.
CHOSEN = {"x86_64": ("T0", "XMM", "ZMM", "MOVDIR64B"), "aarch64": ("L1KEEP", "Q", "X")}

Accesses = list[tuple[str, int]]  # instruction and address; of prefetches as PREFETCHES has them


CONDITIONS = {
    **dict.fromkeys(("jmp", "b"), lambda a, b: True),
    **dict.fromkeys(("jb", "cmovb", "b.lo", "lo", "b.first"), operator.lt),  # after whilelo
    **dict.fromkeys(("jbe", "b.ls"), operator.le),
    **dict.fromkeys(("ja", "cmova", "b.hi", "hi"), operator.gt),
    **dict.fromkeys(("jae", "b.hs", "b.none"), operator.ge),
    "jnz": lambda a, b: a & b != 0,  # after `test`
}
CALCULATE = {
    "add": operator.add,
    "sub": operator.sub,
    "and": operator.and_,
    "or": operator.or_,
}


class Machine:
    """Runs the text: an architecture says what its instructions do, and what they access."""

    memory: re.Pattern[str]
    registers: ClassVar[dict[str, int]]

    def __init__(self, code: list[str], size: int) -> None:
        self.code, self.here = code, 0
        self.values = {**self.registers, self.size_in: size}
        self.compared = (0, 0)

    def value(self, text: str) -> int:
        return int(text[1:]) if text[0] in "$#" else self.values[text]

    def jump(self, condition: str, label: str) -> None:
        if not CONDITIONS[condition](*self.compared):
            return
        forwards = label.endswith("f")
        places = range(self.here, len(self.code)) if forwards else range(self.here, -1, -1)
        self.here = next(i for i in places if self.code[i] == f"{label[:-1]}:")

    def run(self) -> Iterator[tuple[str, int]]:
        while self.code[self.here] != "ret":
            operation, _, rest = self.code[self.here].partition(" ")
            self.here += 1
            if not operation.endswith(":"):
                operands = re.split(r", (?![^(\[{]*[)\]}])", rest)  # at no comma in parentheses
                yield from self.step(operation, operands)


class X8664(Machine):
    memory = re.compile(r"(-?\d*)\((%\w+)(?:,(%\w+))?\)")
    registers: ClassVar = {"%rdi": DESTINATION, "%rsi": SOURCE, "%sil": SOURCE & 0xFF}
    size_in = "%rdx"

    def address(self, text: str) -> int:
        displacement, base, index = self.memory.fullmatch(text).groups()
        return int(displacement or 0) + self.values[base] + (self.values[index] if index else 0)

    def step(self, operation: str, operands: list[str]) -> Iterator[tuple[str, int]]:
        target = operands[-1]
        if operation in ("cmp", "test"):
            self.compared = (self.value(operands[1]), self.value(operands[0]))
        elif operation.startswith("j"):
            self.jump(operation, target)
        elif operation.startswith("cmov"):
            if CONDITIONS[operation](*self.compared):
                self.values[target] = self.value(operands[0])
        elif operation == "lea":
            self.values[target] = self.address(operands[0])
        elif operation == "sbb" and operands[0] == target:  # all ones behind `below`, else 0
            self.values[target] = 2**64 - 1 if operator.lt(*self.compared) else 0
        elif operation in CALCULATE:
            value = CALCULATE[operation](self.values[target], self.value(operands[0]))
            self.values[target] = value
        elif operation not in ("sfence", "vzeroupper"):
            assert operation.startswith(("prefetch", "mov", "vmov")), operation
            yield from ((operation, self.address(o)) for o in operands if "(" in o)
            if operation == "movdir64b":
                yield operation, self.values[target]


class AArch64(Machine):
    memory = re.compile(r"\[(\w+)(?:, (#-?\d+|\w+))?(, mul vl)?\]")
    registers: ClassVar = {"x0": DESTINATION, "x1": SOURCE, "x3": DESTINATION}
    size_in = "x2"
    # Instructions that write a register.
    writes: ClassVar = {
        **{
            name: lambda m, to, a, b, f=f: f(m.value(a), m.value(b))
            for name, f in CALCULATE.items()
        },
        **dict.fromkeys(("mov", "movz"), lambda m, to, a: m.value(a)),
        "csel": lambda m, to, a, b, when: m.value(a if CONDITIONS[when](*m.compared) else b),
        "movk": lambda m, to, a, by: m.values[to] | m.value(a) << int(by.split("#")[1]),
        "cntb": lambda m, to, of="all", by="mul #1": VECTOR * int(by.split("#")[1]),
        "incb": lambda m, to: m.values[to] + VECTOR,
        "addvl": lambda m, to, a, b: m.value(a) + VECTOR * m.value(b),
    }

    def address(self, text: str) -> int:
        base, more, by_vectors = self.memory.search(text).groups()
        return self.values[base] + (self.value(more) if more else 0) * (VECTOR if by_vectors else 1)

    def step(self, operation: str, operands: list[str]) -> Iterator[tuple[str, int]]:
        target, *others = operands
        if operation in ("cmp", "whilelo"):
            self.compared = (self.value(operands[-2]), self.value(operands[-1]))
        elif operation in CONDITIONS:
            self.jump(operation, target)
        elif operation == "prfm":
            yield f"prfm {target}", self.address(others[0])
        elif operation == "dc":
            yield "dc zva", self.values[others[0]]
        elif operation in self.writes:
            self.values[target] = self.writes[operation](self, target, *others)
        elif operation not in ("ptrue", "dmb"):
            assert re.match(r"(ld|st)(p|np|r|1b|nt1b)$", operation), operation
            first = self.address(others[-1])
            yield operation, first
            if operation[2:] in ("p", "np"):
                yield operation, first + (16 if target[0] == "q" else 8)


MACHINES = {"x86_64": X8664, "aarch64": AArch64}


def trace(arch: Architecture, t: object, size: int) -> Accesses:
    template = render._environment(arch.name).get_template("pipeline.j2")
    lines = [line.strip() for line in template.module.pipeline(t, t.pd, 128).splitlines()]
    code = [line for line in lines if line and line[0] not in "./"]
    return list(MACHINES[arch.name](code, size).run())


def some_tuples(arch: Architecture, *registers: str) -> list:
    """Each combination of the axes that prefetches, at distances that tell the two apart."""
    way, *others = CHOSEN[arch.name]
    return [
        arch.with_distances(v, 6 if v.ps else 0, 8)
        for v in arch.pipelines.variants()
        if v.rt in (registers or others) and v.pt in ("none", way) and (v.ps or v.pw)
    ]


def distances_of(arch: Architecture, t: object) -> list[tuple[str, int, int]]:
    """Prefetch, beginning of the buffer, distance in lines; only of prefetches that there are."""
    source, destination = PREFETCHES[arch.name]
    both = [(source, SOURCE, t.pd, t.ps), (destination, DESTINATION, t.pw, t.pw)]
    return [(prefetch, start, lines) for prefetch, start, lines, is_there in both if is_there]


def is_prefetch(operation: str) -> bool:
    return operation.startswith(("prefetch", "prfm"))


# Blocks, and pages side by side, which only goes upwards.
@each(lambda a: itertools.product(a.pipelines.VALUES["tb"], (1, 2, 4, "down")), slow=False)
def test_each_line_is_asked_for_once_and_ahead_of_its_copy(arch, case):
    tb, pages = case
    down, pi = pages == "down", 1 if pages == "down" else pages
    way = (tb, pi, "down" if down else "up")
    chosen = [t for t in some_tuples(arch) if (t.tb, t.pi, t.dir) == way]
    assert chosen
    # Several groups, with a rest; and none that fits, where only small blocks may go without.
    for t, size in itertools.product(chosen, (20_000 if pi > 1 else 6_000, 3 * 64 * tb + 576)):
        accesses = trace(arch, t, size)
        reached = size - 64 * t.tb - 256  # whole blocks come at least so far
        wanted = distances_of(arch, t)
        assert {o for o, _ in accesses if is_prefetch(o)} <= {p for p, _, _ in wanted}, t.name
        for prefetch, start, lines in wanted:
            asked = [where for operation, where in accesses if operation == prefetch]
            # The head is the line at either end; from there on, line by line, without a gap.
            first = start + 64 + 64 * lines if not down else start + size - size % 64
            if down:
                first -= (0 if size % 64 else 64) + 64 + 64 * lines
            step = -64 if down else 64
            expected = [first + i * step for i in range(len(asked))]
            assert sorted(asked, reverse=down) == expected, f"{t.name}, {size} bytes, {prefetch}"
            assert 64 * len(asked) >= reached, f"{t.name}, {size} bytes, {prefetch}"
            assert_in_time(t, accesses, prefetch, start, size, lines)


def assert_in_time(t, accesses: Accesses, prefetch: str, start: int, size: int, lines: int) -> None:
    """Between the question for a line and its copy lie as many lines as the distance says, at most
    so many of every page and a step more."""
    step = (t.ps or t.tb) * t.pi
    asked: dict[int, int] = {}
    copied = set()
    for operation, where in accesses:
        line = where // 64
        if operation == prefetch:
            asked[line] = len(copied)
        elif not is_prefetch(operation) and start <= where < start + size and line not in copied:
            if line in asked:
                between = len(copied) - asked[line]
                most = t.pi * lines + step + (2 if t.pi == 1 else 32)
                assert lines <= between + 1 <= most, (t.name, between)
            copied.add(line)


def test_vectors_ask_for_no_line_twice_where_their_blocks_are_whole_lines():
    """With these vectors, a prefetch stage is as long as whole blocks."""
    chosen = [t for t in some_tuples(AARCH64, "SVE") if (64 * t.ps) % (VECTOR * t.tb) == 0]
    assert {t.tb for t in chosen} == set(AARCH64.pipelines.VALUES["tb"])
    for t in chosen:
        accesses = trace(AARCH64, t, 20_000)
        for prefetch, start, lines in distances_of(AARCH64, t):
            asked = [where for operation, where in accesses if operation == prefetch]
            first = start + 64 + 64 * lines
            assert asked == [first + 64 * i for i in range(len(asked))], t.name
            assert 64 * len(asked) >= 20_000 - 64 * t.ps - VECTOR * t.tb - 128, t.name
