"""A rendered file describes its profile: in comments, in its description, in its header."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import profile_samples as samples
import pytest
from generate_command import NAMES
from generate_command import command as run


@pytest.fixture
def rendered(tmp_path: Path) -> Callable[..., tuple[str, str]]:
    """Source and header of a profile, of the good one with changes."""

    def render(raw: dict | None = None, **changes: object) -> tuple[str, str]:
        raw = {**(samples.good_profile() if raw is None else raw), **changes}
        raw = {field: value for field, value in raw.items() if value is not None}
        path = tmp_path / "rendered.json"
        path.write_text(json.dumps(raw), encoding="utf-8")
        assert run(path, "-o", tmp_path / "rendered") == 0
        return tuple((tmp_path / "rendered" / name).read_text("ascii") for name in NAMES)

    return render


COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DESCRIPTION = re.compile(r'asterope_tuned_for\[\][^;"]*"([^"\\\n]*)";')


def test_text_from_the_profile_reaches_comments_and_the_description_only(rendered):
    name, text = "Z0 ()@.,:_+/-//", "Z0 !#$%&'()+,./:;<=>@[]^_|~- %s %n //"
    raw = samples.good_profile()
    raw["machine"]["cpu"]["brand"] = raw["machine"]["libc"] = name
    raw["search"]["distribution"] = name
    raw["source"], raw["search"]["warnings"] = text, [text]
    odd = rendered(raw)
    assert text in odd[0]
    described = DESCRIPTION.search(odd[0])[1]
    assert described.endswith(f", tuned for {name}, balanced, {raw['search']['finished']}")
    plain = rendered()
    odd = (odd[0].replace(described, DESCRIPTION.search(plain[0])[1]), odd[1])
    assert [COMMENT.sub("", text) for text in plain] == [COMMENT.sub("", text) for text in odd]


TITLES = " * Up to      RT        LT ST PT   PS PD TB PI PW PG D "
HEADING = f"{TITLES}    x libc    GB/s\n"
IN_WORDS = " * YMM, temporal loads, non-temporal stores, prefetch T0 of 4 lines, 8 lines ahead:\n"
ROW = " * 512 B      YMM       T  NT T0    4  8  2  1  0  0 up      1.31"
# The head comment of the good profile.
HEAD = {
    "small copies": (
        " * Up to 256 bytes, whatever the rows above say: small copies, masked, ZMM, tests up, "
        "1.21 x libc.\n"
    ),
    "overlaps": " * Buffers that overlap, above that: YMM, 128 bytes a turn, 1.10 x libc.\n",
    "a row": f"{HEADING}{IN_WORDS}{ROW}    64.0\n",
    "both pipelines of a sensing copy, and its probe": (
        " * 20000 B    ZMM       T  T  T0   16  8 16  1  0  0 up      1.10    12.5\n"
        " * 1 MiB      sensing source 4 > 300                         1.41    14.5\n"
        " * YMM, temporal loads and stores, no prefetch, prefetchw 8 lines ahead:\n"
        " *   cached   YMM       T  T  none  0  0  2  1  8  0 up              14.5\n"
        f"{IN_WORDS.replace('YMM', 'XMM').replace(':', ', 4 pages interleaved:')}"
        " *   uncached XMM       T  NT T0    4  8  2  4  0  0 up              14.5\n"
        " * ZMM, temporal loads and stores, prefetch T0 of 16 lines, 8 lines ahead, "
        "blocks of 16 lines:\n"
        " * no counter ZMM       T  T  T0   16  8 16  1  0  0 up      1.10    12.5\n *\n"
    ),
    "the table of hot": (
        " * asterope_memcpy_hot, its figures those of the workload hot alone:\n"
        f"{HEADING}{IN_WORDS}{ROW}    64.0\n"
    ),
    "the table of consume, without figures": (
        " * asterope_memcpy_consume:\n"
        f"{TITLES.rstrip()}\n"
        " * YMM, temporal loads and stores, no prefetch, prefetchw 8 lines ahead:\n"
        " * 4 KiB      YMM       T  T  none  0  0  2  1  8  0 up\n"
        " * Its small copies: clamped, YMM16, tests up.\n *\n"
    ),
    "the page stages": (
        " * asterope_memcpy_fresh, from 64 KiB on, and the time without a page stage over its "
        "own:\n"
    ),
    "a mapped source": "memory mapped from /sys/bus/pci/devices/0000:01:00.0/resource1_wc, not",
}


def test_the_head_comment_says_what_is_copied_how(rendered):
    source, _ = rendered()
    assert [what for what, said in HEAD.items() if said not in source] == []


def test_a_file_of_several_profiles_says_all_of_each(rendered, tmp_path):
    """Tables, small copies, page stages: the lines of a file of its own, in the same order."""

    def listing(head: str) -> list[str]:
        return re.findall(r"^ \* (?:Up to|asterope_|\d+ [KM]?i?B ).*", head, re.MULTILINE)

    alone, _ = rendered()
    path = tmp_path / "other.json"
    path.write_text(json.dumps(samples.plain_profile("x86_64")), encoding="utf-8")
    assert run(tmp_path / "rendered.json", "--dispatch", path, "-o", tmp_path) == 0
    both = (tmp_path / NAMES[0]).read_text("ascii").replace("asterope_rendered_", "asterope_")
    of_it = both[both.index("== rendered ==") : both.index("== other ==")]
    assert listing(of_it) == listing(alone[: alone.index("*/")])


AGAIN = ": run asterope-tune again with more time"
INCOMPLETE = samples.incomplete_profile()
STEPS = "; ".join(INCOMPLETE["left_out"]["memcpy"]["steps"])
LEFT_OUT = [
    (
        {**INCOMPLETE["left_out"], "memset": {"sizes": [8192], "steps": ["rows"]}},
        f"the search left out the sizes 8 KiB, 2 MiB; {STEPS}; in memset the size 8 KiB; rows",
    ),
    # Coarse to fine, as they would have been searched; told from the smallest to the largest.
    (
        {"memcpy": {"sizes": [2048, 8388608, 300, 4096, 8192]}},
        "the search left out 5 sizes from 300 B to 8 MiB",
    ),
    (None, "what the search left out is not known"),
]
QUIETER = "again in a quieter hour, or on another CPU (--cpu N)"
MERGED = samples.merged_profile()
LACKING = {**MERGED, "complete": False, "left_out": {"memcpy": {"sizes": [8192], "steps": []}}}
# A profile, the warning, and the line of the head comment.
WARNED = [
    (samples.good_profile(), None, None),
    *(
        ({**INCOMPLETE, "left_out": left}, f"incomplete: {said}{AGAIN}", f"Incomplete: {said}")
        for left, said in LEFT_OUT
    ),
    (
        samples.provisional_profile(),
        f"{samples.DOUBT}: these winners are provisional; run {QUIETER}",
        f"Provisional: {samples.DOUBT}; tune {QUIETER}",
    ),
    (MERGED, None, None),
    (
        LACKING,
        "incomplete: the search left out the size 8 KiB: merge the sample logs of these searches",
        "Incomplete: the search left out the size 8 KiB",
    ),
]


@pytest.mark.parametrize(("raw", "warning", "line"), WARNED)
def test_what_a_profile_lacks_is_warned_of_and_noted_in_its_head(
    rendered, tmp_path, capsys, raw, warning, line
):
    source, _ = rendered(raw)
    stdout, stderr = capsys.readouterr()
    assert stdout.startswith("wrote ")
    start = f"asterope-generate: warning: {tmp_path / 'rendered.json'}: "
    assert stderr.startswith(f"{start}{warning}") if warning else stderr == ""
    assert stderr.count("\n") == bool(warning)
    head = source[: source.index("*/")].splitlines()
    doubts = [text for text in head if re.match(r" \* (Incomplete|Provisional): ", text)]
    assert doubts == ([f" * {line}"] if line else [])
    if raw.get("left_out") and line:  # the routine of the same winners stays the same
        complete, _ = rendered(raw, complete=True, left_out=None)
        assert source.replace(f" * {line}\n", "") == complete


@pytest.mark.parametrize("names", [["hot", "cold", "consume"], ["consume"], []])
def test_the_header_declares_the_intents_of_the_profile_only(rendered, names):
    choices = samples.good_profile()["choices"]
    _, header = rendered(choices=[c for c in choices if c.get("intent") in (None, *names)])
    assert re.findall(r"memcpy_(\w+)\(", header) == [*names, "fresh", "mt"]
    assert header.count("Where it is not so, ") == len(names)
