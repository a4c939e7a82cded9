"""The page of asterope-report: what is in it, and what cannot get into it."""

from __future__ import annotations

import html.parser
import re
from pathlib import Path
from typing import Any

import pytest
from report_inputs import Made, panels_of, read, run
from report_samples import log_lines, modes, small_bench
from trial_logs import log_text

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from asterope.faults import BadInput
from asterope.report import page
from asterope.report.words import findings, progress

# matplotlib warns where a picture has no room for what is in it
pytestmark = pytest.mark.filterwarnings("error::UserWarning")


class _Page(html.parser.HTMLParser):
    """What a page has, by element."""

    VOID = ("meta", "img", "br", "link")

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: dict[str, list[dict[str, str]]] = {}
        self.text = ""
        self.feed(path.read_text())
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.setdefault(tag, []).append(dict(attrs))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_whole_self_contained_and_repeatable(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = made.put(small_bench())
    for name in ("one", "two"):
        out, png = tmp_path / f"{name}.html", tmp_path / name
        assert run(made.profile, made.log, bench, "-o", out, "--png", png) == 0
    text = (tmp_path / "one.html").read_text()
    assert text == (tmp_path / "two.html").read_text()
    found = _Page(tmp_path / "one.html")
    images = found.found["img"]
    pngs = list((tmp_path / "one").iterdir())
    assert len(images) == len(pngs) >= 7
    for image in images:
        assert image["src"].startswith("data:image/svg+xml;base64,")
        assert len(image["alt"]) > 40
    assert not {"script", "link", "iframe"} & set(found.found)
    assert re.findall(r"(?:src|href)=\"(?!data:|#)", text) == [], "nothing from elsewhere"
    assert found.found["html"] == [{"lang": "en"}]
    assert any(meta.get("name") == "viewport" for meta in found.found["meta"])
    assert len(found.found["h1"]) == 1
    for words in ("AMD Ryzen 7", "Fingerprint", "Left out: folly (no such package)."):
        assert words in found.text
    assert capsys.readouterr().out.count("wrote ") == 2
    for path in pngs:
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG\r\n\x1a\n") and len(content) > 5000
        assert content == (tmp_path / "two" / path.name).read_bytes()


def test_a_page_of_a_log_alone_says_how_far_it_is(made: Made) -> None:
    path = made.put(log_text(log_lines(finished=False))[:-9])
    told = progress(read(path).log)
    for words in ("2 of 3 sizes begun", "last step: pipelines 65536", "last line is not whole"):
        assert words in told
    out = path.with_name("r.html")
    assert run(path, "-o", out) == 0
    found = _Page(out)
    assert "The search has not come to its end: 2 of 3 sizes begun" in found.text
    sections = {section.get("id") for section in found.found["section"]}
    assert sections == {"search", "machine"}


def test_what_inputs_say_cannot_become_markup(made: Made) -> None:
    raw = small_bench()
    evil = "<script>alert(1)</script>"
    raw["copies"][3]["description"] = evil
    raw["left_out"] = [{"name": evil, "reason": "$\\frac{1}{$"}]
    raw["copies"].append({"name": "<b>$x_1$", "description": ""})
    for cell in raw["results"]:
        cell["copies"]["<b>$x_1$"] = cell["copies"]["musl"]
    path = made.put(raw)
    out = path.with_name("r.html")
    assert run(path, "-o", out) == 0
    found = _Page(out)
    assert "script" not in found.found and "b" not in found.found
    assert evil in found.text


def test_a_page_without_a_machine_says_so(repository: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    assert run(repository / "generated/reference/xeon-gold-5218.json", "-o", out) == 0
    assert "names no machine" in out.read_text()


def test_samples_of_two_modes_are_drawn_as_histograms(made: Made) -> None:
    diagnosis = made.put(modes("asterope-diagnosis", "s", "4 KiB, alone: libc", "8 KiB"), "d.json")
    check = made.put(modes("asterope-check", "x libc", "memset 64 KiB"), "c.json")
    calls, rounds = page.make_sections(read(diagnosis, check))[0].pictures
    assert list(panels_of(calls)) == ["4 KiB, alone: libc", "8 KiB"]
    assert "4 KiB, alone: libc: 1.0 s and 1.3 s (61 %)" in calls.caption
    axes = panels_of(rounds)["memset 64 KiB"]
    assert [bar.get_height() for bar in axes.patches][:3] == [4, 30, 5]
    assert axes.patches[1].get_x() == pytest.approx(1.03) and axes.get_xlabel() == "x libc"
    other = modes("asterope-check", "x libc", "64 KiB")
    other["machine"] = {"fingerprint": "0" * 16}
    with pytest.raises(BadInput, match="of another machine"):
        read(diagnosis, made.put(other, "other.json"))


def test_whole_runs_are_drawn_with_their_intervals_and_verdicts(made: Made) -> None:
    def copy(name: str, verdict: str | None, *ratio: float) -> dict[str, Any]:
        interval = dict(zip(("median", "low", "high"), ratio)) if ratio else None
        return {"name": name, "description": "", "figure": 1.0, "ratio": interval,
                "at_most": None, "more_rounds": None, "verdict": verdict}  # fmt: skip

    raw = {
        **{"format": "asterope-prove", "version": 2, "tool_version": "0", "command": ["redis"]},
        **{"client": None, "libc": "glibc 2.36", "started": "", "seconds": 9.0, "seed": 1},
        "metric": {"kind": "wall", "pattern": None, "larger_is_better": False},
        "goal": {"rounds": 9, "until": None, "seconds": None},
        **{"stopped_by": "rounds", "rounds": 9},
        "blocks": [
            [
                {"copy": "libc", "figure": 1 + number / 1000, "wall": 1, "cpu": 1},
                {"copy": "ours", "figure": 1 + number % 2 + number / 1000, "wall": 1, "cpu": 1},
            ]
            for number in range(24)
        ],
        "noise_floor": {"median": 1.0, "low": 0.99, "high": 1.01},
        "copies": [
            copy("libc", None),
            copy("libc again", None, 1, 0.99, 1.01),
            copy("ours", "faster", 1.25, 1.2, 1.3),
            copy("theirs", "cannot tell yet", 1, 0.98, 1.02),
        ],
    }
    path = made.put(raw)
    out = path.with_name("r.html")
    assert run(path, "-o", out) == 0
    text = out.read_text()
    assert (
        "redis, 9 rounds: ours is faster: 1.250 x libc (1.200 to 1.300)" in text
        and "glibc 2.36" in text
    )
    inputs = read(path)
    picture, modes = [one for section in page.make_sections(inputs) for one in section.pictures]
    assert modes.title == "Two modes: runs" and "ours: 1.012 and 2.013 (50 %)" in modes.caption
    assert sum(bar.get_height() for bar in modes.figure.axes[0].patches) == 24
    assert [label.get_text() for label in picture.figure.axes[0].get_yticklabels()] == [
        "libc again", "ours", "theirs"]  # fmt: skip
    raw["copies"][2]["verdict"] = "the same"
    assert "no copy differs from libc beyond the noise" in findings(read(made.put(raw)))[0]
    raw["copies"][2]["ratio"]["low"] = -1
    with pytest.raises(BadInput, match="run asterope-prove --json again"):
        read(made.put(raw))
