"""Probes as they are timed: where they look, which copy they go on with, and that they ship so."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from architectures import X86_64, Architecture, each, sampled
from asterope.render import render_candidates
from asterope.spaces.probes import PROBES, PROBES_OF_SETS
from copy_programs import REPOSITORY, need, output_of, render, run
from disassembly import disassemble
from test_sensing import INTERVALS, sensing_parts, with_clock

FIRST_PROBE = {
    "x86_64": "\nvoid asterope_sense_",
    "aarch64": 'ASTEROPE_CANDIDATE_BEGIN("asterope_sense_',
}


def candidates_with(arch: Architecture, before: str = "", after: str = "") -> str:
    """The candidates, of the pipelines a plain one, each sensing copy with a change of its text."""
    first = FIRST_PROBE[arch.name]
    head, *probes = render_candidates(arch.name, variants=[arch.plain.variant]).split(first)
    assert sum(before in probe for probe in probes) >= len(PROBES) / 3
    times = -1 if arch is X86_64 else 1
    changed = [probe.replace(before, after, times) if before else probe for probe in probes]
    return first.join([head, *changed])


def sensing_check(arch: Architecture, folder: Path, objects: Path, *change: str) -> Path:
    text = with_clock(arch, candidates_with(arch, *change))
    text = f"extern void *sensing_clock;\n{text}"
    return arch.candidates_check(folder, text, objects, "sensing_check")


@each()
def test_all_that_senses_is_right_and_looks_where_it_should(tmp_path, objects, arch):
    """At a new place each time, in the middle of its stretches."""
    done = run(*arch.on(), sensing_check(arch, tmp_path, objects))
    lines = done.stdout.splitlines()
    wrong = [line for line in lines if line.startswith("FAIL")]
    assert not wrong, "\n".join(wrong)
    assert done.returncode == 0, done.stderr
    probes = (*PROBES, *(PROBES_OF_SETS if arch is X86_64 else ()))
    assert [line for line in lines if line.startswith("ok ")] == [f"ok {p.name}" for p in probes]
    for probe in probes:
        # the pages that each reading touched: of the source, and of the destination
        prefix = f"pages {probe.name}:"
        sides = [line[len(prefix) :].split("|") for line in lines if line.startswith(prefix)]
        readings = [([*map(int, a.split())], [*map(int, b.split())]) for a, b in sides]
        assert len(readings) == 32
        length = 64 // probe.lines
        for source, destination in readings:
            pages = source or destination
            assert [page // length for page in pages] == [*range(probe.lines)]
            assert len({page % length for page in pages}) == 1
            assert length // 4 <= pages[0] < 3 * length // 4
            assert source == ([] if probe.kind == "destination" else pages)
            assert destination == ([] if probe.kind == "source" else pages)
        assert len({(source or destination)[0] for source, destination in readings}) > 1, probe.name


WRONGLY, MORE, SETS = "went on wrongly", "reading the ticks changed more", "destination 2"
# A fault of all that senses: the code before and after; then pairs, a probe that shows it and what
# sensing_check must say of that. test_candidates has the faults that are any copy's.
FAULTS = {
    "x86_64": {
        "it is always cold": ("ja 2f", "jmp 2f", "source 2", f"{WRONGLY} with c"),
        "it has the threshold the other way": ("ja 2f", "jbe 2f", "source 2", WRONGLY),
        "it hands on the other distance": (
            *("mov 16(%r10)", "mov 32(%r10)", "source 2", WRONGLY),
            *(SETS, WRONGLY),
        ),
        "it times nothing": ("sub %r10d, %eax", "", "source 2", WRONGLY, SETS, "read "),
        # those that look at the destination
        "it never fetches": ("ja 3f", "jmp 3f", "each 2", f"{WRONGLY} with c"),
        "it writes other": ("mov %al, (%rdi,%r11)", "movb $77, (%rdi,%r11)", "each 2", MORE),
        # those that look at both sides at once
        "it never produces": ("ja 21f", "jmp 21f", "both 2", f"{WRONGLY} with c"),
        "it sees no fault": ("ja 4f", "", "both 2", f"{WRONGLY} with c"),
        "it never tries": (
            *("jz 5f", "", "both 2", "time at one page went on with p"),
            *(SETS, "time at one page went on with c"),
        ),
        "it tries for ever": ("cmove %r8d, %ecx", "", "both 2", "time at one page went on with"),
        "it tries none in a row": ("je 5f", "", "both 2", "65. time at one page went on with p"),
        "it tries by chance alone": ("jb 5f", "jmp 5f", "both 2", f"{WRONGLY} with h"),
        "it never tries by chance": ("jb 5f", "", "both 2", "0 tries", SETS, "0 tries"),
        # those that remember what probes said
        "it never recalls": (
            *("jle 7f", "jmp 7f", "both 2", "it recalls h wrongly"),
            *(SETS, "it recalls h wrongly"),
        ),
        "it never fetches unprobed": ("je 4f", "", "both 2", "it recalls f wrongly"),
        "it recalls for ever": ("and $254, %ecx", "", "both 2", "it recalls h wrongly"),
        "it never forgets": ("movq $0, (%r11)", "", "both 2", "it recalls h wrongly"),
        "it recalls large copies": (
            *("jae 7f", "", "both 2", "it recalls h wrongly"),
            *(SETS, "it recalls h wrongly"),
        ),
        # those that look at the destination before they evict it
        "it looks at no destination": ("ja 24f", "", "both 2", "it recalls c wrongly"),
        "it never probes after all": ("jbe 25f", "", "both 2", "it recalls c wrongly"),
        "it sees no late fault": ("ja 25f", "", "both 2", "it looks wrongly at a fault"),
        "it takes waits for faults": ("ja 25f", "jae 25f", "both 2", "wrongly at a long wait"),
        "it looks again": ("movq $0, (%rax)", "", "both 2", "it looks wrongly at a fault"),
        "it produces what is cold": ("je 3f", "", "both 2", "it recalls c wrongly"),
        "it counts no look": ("decl 16(%r10)", "", "both 2", "the end of a finding"),
        # those that find out which stores serve the program
        "it heeds nobody": (
            *("mov %ecx, 40(%r11)", "", "both 2", "program 2 has"),
            *(SETS, "program 0 has"),
        ),
        "it measures nothing": ("mov %eax, 32(%r11,%rdx,4)", "", "both 2", "program 2 has"),
        "it confuses the stores": (
            *("mov %eax, 44(%r11)", "", "both 2", "program", SETS, "program"),
        ),
        "it always tries": ("mov %ecx, 16(%r11)", "", "both 2", "program 0 has"),
        "it finds no least time": ("dec %ecx", "", "both 2", "program 2 has"),
        "it knows no time": ("jz 13f", "jmp 13f", "both 2", "program 2 has"),
        "it drops long times": (
            *("cmova %rdx, %rax", "ja 13f", "both 2", "program 14 has"),
            *(SETS, "program .* has"),
        ),
        # sets alone
        "a set sees no fault": ("ja 19f", "", SETS, f"{WRONGLY} with c"),
        "a set writes other": ("mov %sil, (%rdi,%r11)", "movb $77, (%rdi,%r11)", SETS, MORE),
        "a set probes despite a finding": ("movq $14, (%r11)", "", SETS, "it recalls h wrongly"),
        "a set believes for long": ("cmova %eax, %ecx", "", SETS, "1048576 .* holds for 4095"),
        "a set draws without a time": ("movl $0, 44(%r11)", "jmp 14f", SETS, "without a time"),
        "a set never tries others": ("shr $31, %eax", "mov $1, %eax", SETS, "program .* has"),
    },
    "aarch64": {
        "it never believes its probe": ("b.hi 2f", "b 2f", "source 2", f"{WRONGLY} with c"),
        "it always fetches": ("b.hi 3f", "nop", "each 2", f"{WRONGLY} with f"),
        "it hands on the other distance": ("[x4, #48]", "[x4, #32]", "each 2", WRONGLY),
        "it compares more than 32 bits": ("cmp w12, w15", "cmp x12, x15", "source 2", WRONGLY),
        "it sees no fault": ("b.lo 4f", "", "both 2", f"{WRONGLY} with c"),
        "it never tries": ("b.eq 5f", "", "both 2", "time at one page went on with p"),
    },
}


@each(FAULTS, one_in=3)
def test_wrong_sensing_is_reported(tmp_path, objects, arch, case):
    before, after, *said = case
    program = sensing_check(arch, tmp_path, objects, before, after)
    done = run(*arch.on(), program, *said[::2])
    assert done.returncode == 1
    for probe, message in zip(said[::2], said[1::2]):
        assert re.search(rf"^FAIL {probe}: .*{message}", done.stdout, re.MULTILINE), done.stdout


# A candidate has lines of its own in the memory of call sites: a search calls all from one site.
OWN_LINE = re.compile(r"^movq %xmm15,(%\w+)\nadd \1,%\w+\n", re.MULTILINE)
# Its arguments. The routine has constants in their place, and goes on by other jumps.
OF_ONE_ALONE = re.compile(
    r"j(a|b|be|mp)|cmp|mov %rdi,%rax|movq %rcx,%xmm15|movq %xmm15,%r\w+|"
    r"mov 0x\w+\(%r10\),%(r11|rcx)|cmp (\(%r\w+\)|\$0x0|\$0xf{8,}),%\w+|"
    r"movd? %(eax|xmm\w+),%\w+|shr \$0x5,%r\w+|mov %rax,%r8|mov %r8,%rax|mov %r9,%rdx"
)
GOES_ON = "mov %r8,%rax\nmov %r9,%rdx"


def without_addresses(body: list[str]) -> list[str]:
    return [text.split()[0] if text[0] == "j" or "%rip" in text else text for text in body]


def differences(timed: list[str], ships: list[str]) -> list[str]:
    """The instructions of either that the other one lacks at that place, but for those above."""
    timed = OWN_LINE.sub("", "\n".join(timed)).splitlines()
    both = without_addresses(timed), without_addresses(ships)
    parts = SequenceMatcher(None, *both, autojunk=False).get_opcodes()
    other = [
        text
        for kind, first, last, begin, end in parts
        if kind != "equal"
        for text in (*both[0][first:last], *both[1][begin:end])
    ]
    return [text for text in other if not OF_ONE_ALONE.fullmatch(text)]


def without_store_of_large_copies(body: list[str]) -> list[str]:
    """A probe of both sides without the one store that large copies time before it."""
    if "cmp $0x400000,%r9" not in body:
        return body
    start = body.index("cmp $0x400000,%r9")
    difference = body.index("sub %r10d,%eax", start)
    jump = next(i for i in range(difference, len(body)) if body[i].startswith("ja"))
    return body[:start] + body[jump + 1 :]


def looks(body: list[str]) -> list[list[str]]:
    """The instructions of a probe, one list a side that it looks at.

    A look begins where the call is put aside, with the first byte that is copied, or with the next
    time stamp. It ends in the difference of two time stamps. In between, a candidate fetches its
    argument, a routine's copy jumps, and a reader of ticks puts them aside.
    """
    body = without_store_of_large_copies(body)
    ends = [i for i, text in enumerate(body) if re.fullmatch(r"sub %\w+,%eax", text)]
    starts = [body.index("mov %rax,%r8")]
    first = ("movzbl (%rsi,%r11,1),%eax", "lfence", "mov %rdx,%r9")
    begins = [next(i for i in range(end, len(body)) if body[i] in first) for end in ends[:-1]]
    starts += [i - (body[i] == "mov %rdx,%r9") for i in begins]
    return [body[start : end + 1] for start, end in zip(starts, ends)]


@pytest.mark.parametrize("compiler", sampled(["gcc -O0", "gcc -O2", "clang -O2"], 3))
def test_every_probe_is_what_was_timed(tmp_path, compiler):
    """It differs from the others: with equal ones this test would see no difference."""
    compiler = compiler.split()
    need("objdump", compiler[0])
    source, target = tmp_path / "candidates.c", tmp_path / "candidates.o"
    source.write_text(candidates_with(X86_64), encoding="ascii")
    output_of(*compiler, f"-I{REPOSITORY / 'tuner'}", "-c", source, "-o", target)
    candidates, readers = disassemble(target), set()
    for probe in (*PROBES, *PROBES_OF_SETS):
        routine = render(INTERVALS, tmp_path, prefix=probe.symbol, **sensing_parts(probe))
        target = tmp_path / "routine.o"
        output_of(*compiler, "-c", routine, "-o", target)
        functions = disassemble(target)
        body = candidates[f"asterope_sense_{probe.symbol}"].instructions
        timed = looks(body)
        assert len(timed) == {"source": 1, "destination": 2, "each": 2, "both": 4}[probe.kind]
        assert min(len(look) for look in timed) > 8
        touches = {
            "source": ["prefetcht0 (%rax)"],
            "each": ["prefetcht0 (%rax)", "mov %al,(%rdi,%r11,1)"],
            "both": ["prefetcht0 (%rdi,%r11,1)", "prefetcht0 (%rax)"],
        }
        if probe.kind == "destination":
            assert body.count("mov %sil,(%rdi,%r11,1)") == probe.lines
        for touch, look in zip(touches.get(probe.kind, []), timed):
            touched = [i for i, text in enumerate(look) if text == touch]
            assert len(touched) == probe.lines, "the wait for an address is timed"
            assert max(touched) < look.index("lfence")
        for number in (1, 2):
            shipped = functions[f"{probe.symbol}_sense_{number}"]
            assert looks(shipped.instructions) == timed, probe.name
            assert differences(body, shipped.instructions) == [], probe.name
            # each way puts the registers right for its pipeline
            shown, timed_so = ("\n".join(one) for one in (shipped.instructions, body))
            assert shown.count(GOES_ON) == timed_so.count(GOES_ON) >= len(timed), probe.name
            assert shipped.address % 64 == 0
        reader = candidates[f"asterope_ticks_{probe.symbol}"].instructions
        assert reader[-1] == "ret"
        asked = timed[1:] if probe.kind == "both" else timed  # not the look instead of a probe
        assert looks(reader) == asked[:2], probe.name
        readers.add(tuple(reader))
    assert len(readers) == len(PROBES) + len(PROBES_OF_SETS)
