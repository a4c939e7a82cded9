"""The instructions of functions, as objdump shows them, in a form that can be compared with another
program's."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from architectures import X86_64, Architecture
from copy_programs import output_of

_PADDING = {
    "x86_64": re.compile(r"(data16 |cs )*(nop\w*|ud2|int3|endbr64|xchg +%ax,%ax)\b"),
    "aarch64": re.compile(r"nop|udf\b"),
}
_JUMP = re.compile(
    r"(j\w+|b|b\.\w+|cbn?z .+?,|tbn?z .+?,) +([0-9a-f]+) <(.+?)(?:[-+]0x[0-9a-f]+)?>$"
)
_INNER = re.compile(r"\n[0-9a-f]+ <\w+_inner>:\n")
# Each routine has its own, and candidates have theirs.
_PREFIX = re.compile(r"<(?:asterope_candidate|asterope|small\d+)_")
# "cmp 0x2dc9(%rip),%rdx # 404018 <asterope_cpu_unfit>": the linker has put the address in.
_LINKED = re.compile(r"-?0x[0-9a-f]+\(%rip\)(.*?) # [0-9a-f]+ (<\w+>)")
# "adrp x9, 0 <asterope_memcpy>", and in the next line the relocation.
_TO_RELOCATE = re.compile(r"(\S+( [xw]\d+,( \[x\d+)?)?)")
_RELOCATION = re.compile(r"\s*[0-9a-f]+: R_\w+\t(\w+?)(?:_inner)?\b")


@dataclass(frozen=True)
class Function:
    """Instructions without padding. Within a function a jump names how many instructions on its
    target is, `jb <-17>`; symbols stand for addresses and have no prefix, `jbe <untuned>`."""

    address: int
    addresses: list[int]
    instructions: list[str]

    @property
    def outermost_loops(self) -> list[int]:
        """The addresses at which the loops begin that lie in no other."""
        jumps = ((at, jump_of(text)) for at, text in enumerate(self.instructions))
        loops = [(at + jump, at) for at, jump in jumps if jump is not None and jump < 0]
        inner = {begin for begin, _ in loops if any(b < begin < e for b, e in loops)}
        return sorted({self.addresses[begin] for begin, _ in loops if begin not in inner})


def jump_of(instruction: str) -> int | None:
    found = re.search(r"<([+-]\d+)>$", instruction)
    return int(found[1]) if found else None


def _lines(block: str, arch: Architecture) -> Iterator[tuple[int, str]]:
    """Address and text of each instruction, with the names of symbols."""
    last: tuple[int, str] | None = None
    for line in block.splitlines():
        address, found, text = line.partition(":\t")
        if found:
            if last:
                yield last
            text = " ".join(text.partition("//")[0].split())
            text = _LINKED.sub(r"\2\1", text).partition(" # ")[0] if " # " in text else text
            last = (int(address, 16), text)
        elif last and arch.name == "aarch64" and (symbol := _RELOCATION.match(line)):
            last = (last[0], f"{_TO_RELOCATE.match(last[1])[1]} <{symbol[1]}>")
    if last:
        yield last


class Listing(Mapping[str, Function]):
    """Functions of `objdump -dr --no-show-raw-insn` by name, each in one piece where it has a label
    behind its first instruction (`_inner`): a jump there is one to the function. They are parsed
    on request: a program has many that no test needs."""

    def __init__(self, text: str, arch: Architecture) -> None:
        text = re.sub(r"<(\w+)_inner\b", r"<\1", _INNER.sub("\n", text))
        blocks = (block.partition(">:\n") for block in re.split(r"\n(?=[0-9a-f]+ <)", text))
        heads = ((head.partition(" <"), body) for head, end, body in blocks if end)
        self._blocks = {name: (int(address, 16), body) for (address, _, name), body in heads}
        self._arch = arch

    def __getitem__(self, name: str) -> Function:
        address, block = self._blocks[name]
        padding = _PADDING[self._arch.name]
        kept = [(at, text) for at, text in _lines(block, self._arch) if not padding.match(text)]
        addresses = [at for at, _ in kept]
        texts = [_named(text, name, addresses, here) for here, (_, text) in enumerate(kept)]
        return Function(address, addresses, texts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)


def _named(text: str, function: str, addresses: list[int], here: int) -> str:
    jump = _JUMP.match(text)
    if not jump:
        return _PREFIX.sub("<", text)
    if jump[3] != function:
        return _PREFIX.sub("<", f"{jump[1]} <{jump[3]}>")
    target = int(jump[2], 16)  # of padding: what follows it
    return f"{jump[1]} <{bisect_left(addresses, target) - here:+d}>"


def disassemble(path: Path, arch: Architecture = X86_64) -> Listing:
    return Listing(output_of(arch.objdump, "-dr", "--no-show-raw-insn", path), arch)


_PREFETCH = re.compile(r"(prefetch\w+) (-?(?:0x)?[0-9a-f]+)?\((%rsi,%rcx|%rdi,%r10),1\)$")

# Instructions for what jumps to a function: bti c.
LANDING = {"x86_64": 0, "aarch64": 1}


def _at_distances(text: str, pd: int, pw: int, down: bool = False) -> str:
    """A candidate's instruction with its distances in lines: `pd` ahead of the load, `pw` ahead of
    the store; below them where an x86-64 copy runs `down`."""
    found = _PREFETCH.match(text)
    if found:
        ahead = 64 * (pd if found[3] == "%rsi,%rcx" else pw)
        displacement = int(found[2] or "0", 16) + (-ahead if down else ahead)
        base = found[3].split(",")[0]
        return f"{found[1]} {hex(displacement) if displacement else ''}({base})"
    found = re.fullmatch(r"((?:add|sub) x17, x[01]), (x[45])", text)
    return f"{found[1]}, #{hex(64 * (pd if found[2] == 'x4' else pw))}" if found else text


def taken_apart(
    arch: Architecture, candidate: list[str], pipeline: list[str]
) -> tuple[list[str], list[str]]:
    """The candidate's instructions beyond the pipeline's, at its beginning, and the common ones."""
    landing = LANDING[arch.name]
    more = landing + max(0, len(candidate) - len(pipeline))
    return candidate[landing:more], [*candidate[:landing], *candidate[more:]]


def differences_of(arch: Architecture, t: object, candidate: list, pipeline: list) -> list[str]:
    """In what the pipeline of a tuple is not the candidate; nothing if it is."""
    _, same = taken_apart(arch, candidate, pipeline)
    timed = [_at_distances(text, t.pd, t.pw, t.dir == "down") for text in same]
    pairs = enumerate(itertools.zip_longest(timed, pipeline))
    return [f"instruction {i}: {a!r} is timed, {b!r} ships" for i, (a, b) in pairs if a != b]
