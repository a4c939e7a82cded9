"""The comparison of what is timed with what ships must be able to fail."""

from __future__ import annotations

from dataclasses import replace

from architectures import X86_64
from disassembly import differences_of, parse

LISTING = """
0000000000001000 <f>:
    1000:\tmov    %rdi,%rax
    1003:\tnopl   0x0(%rax,%rax,1)
    1040:\tprefetcht0 0x40(%rsi,%rcx,1)
    1044:\tprefetchw -0x40(%rdi,%r10,1)
    1048:\tvmovdqu (%rsi),%ymm0
    104c:\tcmp    %r8,%rdi
    104f:\tjb     1040 <f+0x40>
    1051:\tret
    1052:\tud2

0000000000002000 <g>:
    2000:\tdata16 cs nopw 0x0(%rax,%rax,1)
    2040:\tprefetcht0 0x240(%rsi)
    2044:\tprefetchw 0xc0(%rdi)
    2048:\tvmovdqu (%rsi),%ymm0
    204c:\tcmp    %r8,%rdi
    204f:\tjb     2038 <g+0x38>
    2055:\tret
"""
SHORT = X86_64.pipelines.Tuple("YMM", "T", "T", "T0", 2, 8, pw=4)


def faults_after(before: str, after: str, **changed: object) -> list[str]:
    assert before in LISTING
    f, g = (parse(LISTING.replace(before, after))[name].instructions for name in "fg")
    return differences_of(X86_64, replace(SHORT, **changed), f, g)


NOTICED = [
    *(
        ("2048:\tvmovdqu (%rsi)", f"2048:\t{other}")
        for other in ("vmovdqa (%rsi)", "vmovdqu (%rdi)")
    ),
    ("2048:\tvmovdqu (%rsi),%ymm0", "2048:\tvmovdqu (%rsi),%ymm1"),
    *(
        ("prefetcht0 0x240(%rsi)", other)
        for other in ("prefetcht1 0x240(%rsi)", "prefetcht0 0x280(%rsi)", "prefetcht0 0x240(%rdi)")
    ),
    ("prefetcht0 0x40(%rsi,%rcx,1)", "prefetcht0 0x40(%rsi,%rcx,2)"),
    *(
        ("prefetchw 0xc0(%rdi)", other)
        for other in ("prefetchw 0x100(%rdi)", "prefetchw 0xc0(%rsi)", "prefetcht0 0xc0(%rdi)")
    ),
    ("prefetchw -0x40(%rdi,%r10,1)", "prefetchw -0x40(%rdi,%rcx,1)"),
    ("2038 <g+0x38>", "2048 <g+0x48>"),
    ("jb     2038", "jbe    2038"),
    ("    2055:\tret\n", ""),
    ("    2055:\tret\n", "    2055:\tsfence\n    2058:\tret\n"),
    ("    1051:\tret\n", ""),
    ("    1048:\tvmovdqu (%rsi),%ymm0\n", ""),
]


def test_any_change_is_noticed_but_padding_and_lengths_of_encodings():
    assert len(parse(LISTING)["g"].instructions) == 6
    assert faults_after("", "") == []
    for change in NOTICED:
        assert faults_after(*change), change
    for distances in ({"pd": 10}, {"pw": 2}, {"dir": "down"}):
        assert faults_after("", "", **distances), distances


def test_symbols_are_known_by_their_names_without_the_prefix():
    text = "or    0x2dc9(%rip),%r9        # 4020 <a_cpu_unfit>"
    listing = LISTING.replace("cmp    %r8,%rdi", text)
    assert "or <a_cpu_unfit>,%r9" in parse(listing)["f"].instructions
    assert "or <cpu_unfit>,%r9" in parse(listing.replace("a_cpu", "small7_cpu"))["f"].instructions
