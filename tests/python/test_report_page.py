"""The page of asterope-report: its pictures, as data and as pixels, and the words beside them."""

from __future__ import annotations

import html.parser
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asterope.faults import BadInput
from profile_samples import good_profile, plain_profile
from report_samples import (
    CANDIDATES,
    PEERS,
    SIZES,
    WINNER,
    WORKLOADS,
    Made,
    bench_results,
    is_dark_on_light,
    log_header,
    log_lines,
    log_text,
    program_trial,
    read,
    run,
    sample,
    small_bench,
    whole_runs,
)

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from asterope.modes import TwoModes, histogram
from asterope.profile import Ratio
from asterope.report.copies import ratio_picture, throughput_picture
from asterope.report.intervals import _colours, intervals_picture
from asterope.report.modes import Sample, modes_pictures
from asterope.report.page import make_sections, render_page
from asterope.report.program import proof_pictures, trial_pictures
from asterope.report.search_maps import families_picture, plane_of, planes_picture, scored_sizes
from asterope.report.series import find_series
from asterope.report.style import Picture
from asterope.report.words import findings, progress
from asterope.spaces import ARCHITECTURES, of
from asterope.workloads import names

# matplotlib warns where a picture has no room for what is in it
pytestmark = pytest.mark.filterwarnings("error::UserWarning")


def test_throughput_has_a_line_for_every_copy_that_looks_different(made: Made) -> None:
    inputs = read(made.bench)
    chart = next(c for c in find_series(inputs).charts if (c.workload, c.threads) == ("cold", 1))
    picture = throughput_picture(chart, inputs.machine, list(PEERS), "a test")
    axes = picture.figure.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    lines = {line.get_label(): line for line in axes.get_lines()}
    for name in PEERS:
        assert list(lines[name].get_xdata()) == list(SIZES)
    at = {(c["workload"], c["size"]): c for c in bench_results()["results"]}[("cold", 4096)]
    drawn = lines["musl"].get_ydata()[SIZES.index(4096)]
    assert drawn == pytest.approx(4096 / at["copies"]["musl"]["ns"])
    (legend,) = picture.figure.legends
    assert {text.get_text() for text in legend.get_texts()} == set(PEERS)
    assert "L1 32 KiB" in {text.get_text() for text in axes.texts}


def test_a_picture_of_many_copies_has_room_for_its_legend_and_its_title(made: Made) -> None:
    inputs = read(made.bench)
    chart = next(c for c in find_series(inputs).charts if (c.workload, c.threads) == ("cold", 1))
    names = [f"a_library-2026.{i}-avx512_unaligned_erms" for i in range(45)]
    best = {size: Ratio(3, 3, 3) for size in SIZES}
    many = {name: chart.rates["musl"] for name in names}
    chart = replace(chart, rates={**chart.rates, **many}, ratios={**chart.ratios, names[9]: best})
    figure = throughput_picture(chart, inputs.machine, [*PEERS, *names], "a test").figure
    figure.canvas.draw()
    (legend,) = figure.legends
    box, (axes,) = legend.get_window_extent(), figure.axes
    assert len(legend.get_texts()) == len(PEERS) + 45 and box.y0 >= 0
    assert names[9] in axes.get_title(loc="left")
    assert axes._left_title.get_window_extent().x1 < box.x0


def test_threads_are_drawn_apart_and_at_the_rate_of_all(made: Made) -> None:
    chart = next(c for c in find_series(read(made.bench)).charts if c.threads == 2)
    assert chart.name == "threads cold 2 threads"
    cell = next(c for c in bench_results()["results"] if c["threads"] == 2)
    rate = chart.rates["asterope"][cell["size"]]
    # from one call that some thread ends to the next
    assert rate == pytest.approx(cell["size"] / cell["copies"]["asterope"]["ns"])


def test_throughput_shows_the_ratio_of_paired_rounds(made: Made) -> None:
    raw = bench_results()
    for cell in raw["results"]:  # as where a round in which neither copy was at its best counts
        cell["copies"]["asterope"]["ns"] = cell["copies"]["glibc"]["ns"]
    for chart in find_series(read(made.put(raw))).charts:
        for size, rate in chart.rates["asterope"].items():
            ratio = chart.ratios["asterope"][size].median
            assert rate / chart.rates["glibc"][size] == pytest.approx(ratio)


def panels_of(picture: Any) -> dict[str, Any]:
    """The axes that have a title, by it."""
    titled = {axes.get_title(loc="left"): axes for axes in picture.figure.axes}
    return {title: axes for title, axes in titled.items() if title}


def charts_and_ratios(path: Path, *workloads: str) -> tuple[dict[str, Any], Picture]:
    """The charts of all sizes, and a picture of those of the workloads, or of all."""
    inputs = read(path)
    series = find_series(inputs)
    charts = {chart.workload: chart for chart in series.charts if chart.suite == "sizes"}
    drawn = [charts[name] for name in workloads or charts]
    return charts, ratio_picture(drawn, inputs.machine, series.source, "glibc 2.36")


def test_ratios_have_intervals_and_the_noise_floor(made: Made) -> None:
    _, picture = charts_and_ratios(made.bench)
    panels = panels_of(picture)
    assert [re.search(r"\((\w+)\)\n", title)[1] for title in panels] == list(WORKLOADS)
    for panel in panels.values():
        (bars,) = panel.containers
        assert list(bars.lines[0].get_xdata()) == list(SIZES)
        assert bars.has_yerr
        assert panel.collections, "the band of the noise"
        best = next(li for li in panel.get_lines() if li.get_label() == "best other copy")
        assert 1.3 < max(best.get_ydata()) < 1.6, "copies over threads do not compete"
    assert [row[0] for row in picture.table.rows][:: len(SIZES) - 1] == ["128 B", "32 MiB"]


def test_titles_of_panels_and_names_of_caches_have_room(made: Made) -> None:
    raw = bench_results()
    for cell in raw["results"]:
        cell["workload"] = cell["workload"].replace("produce", "produce_read")
    _, picture = charts_and_ratios(made.put(raw))
    picture.figure.canvas.draw()
    assert "Ends beyond the axis are cut. " in picture.caption
    for panel in panels_of(picture).values():
        title = panel._left_title.get_window_extent()
        assert title.width < panel.get_window_extent().width
        (bars,) = panel.containers
        top = panel.transData.transform((1, max(bars.lines[0].get_ydata())))[1]
        assert all(text.get_window_extent().y0 > top for text in panel.texts)


def test_panels_that_are_all_noise_become_one_line(made: Made) -> None:
    raw = bench_results()
    cells = [cell for cell in raw["results"] if cell["suite"] == "sizes"]
    for cell in cells:
        if cell["workload"] != "hot":
            cell["noise_floor"] = {"median": 1.0, "low": 0.01, "high": 100.0}
    charts, picture = charts_and_ratios(made.put(raw))
    assert len(panels_of(picture)) == 1 and len(picture.table.rows) == len(SIZES)
    noise = ", ".join(name for name in charts if name != "hot")
    assert picture.caption.startswith(f"No more than the noise, and not drawn: {noise}. ")
    for cell in cells:
        cell["noise_floor"] = {"median": 1.0, "low": 0.01, "high": 100.0}
    charts, picture = charts_and_ratios(made.put(raw))
    assert len(panels_of(picture)) == len(charts), "else the picture is empty"
    assert picture.caption.startswith("No difference beyond the noise at any size. ")
    assert is_dark_on_light(picture.rendered("png"))


def test_what_the_exam_found_slower_is_told_first_and_drawn(made: Made) -> None:
    raw = good_profile()
    ratio = {"median": 0.93, "low": 0.92, "high": 0.94}
    losses = [{"size": size, "workload": "cold", "ratio": ratio} for size in (0, 65536)]
    raw["exam"]["memcpy"]["losses"] = losses * 4
    inputs = read(made.put(raw))
    told = "in 8 cells: cold mixed sizes 0.93, cold 64 KiB 0.93,"
    assert told in findings(inputs)[0] and "and 2 more" in findings(inputs)[0]
    pictures = {p.name: p for section in make_sections(inputs) for p in section.pictures}
    assert any("(cold)" in title for title in panels_of(pictures["ratio"]))
    assert not re.search(r"\bcold\b", pictures["ratio"].caption)
    raw["exam"]["memcpy"]["losses"] = []
    assert not any("slower" in sentence for sentence in findings(read(made.put(raw))))
    raw["exam"]["memcpy"]["losses"] = [{**losses[0], "workload": "hot"}]
    inputs = read(made.put(raw))
    pictures = {p.name: p for section in make_sections(inputs) for p in section.pictures}
    assert re.search(r"\bcold\b", pictures["ratio"].caption), "all noise"


def test_the_overview_is_one_panel_of_the_workloads_that_differ_most(made: Made) -> None:
    inputs = read(made.bench)
    pictures = [p for section in make_sections(inputs) for p in section.pictures]
    assert pictures[0].name == "overview"
    (axes,) = pictures[0].figure.axes
    (legend,) = pictures[0].figure.legends
    shown = [re.search(r"\((\w+)\)$", text.get_text())[1] for text in legend.get_texts()]
    assert shown == ["cold", "consume", "hot"]
    assert [list(one.lines[0].get_xdata()) for one in axes.containers] == [list(SIZES)] * 3
    hot = read(made.put({**bench_results(), "results": bench_results()["results"][: len(SIZES)]}))
    names = [p.name for section in make_sections(hot) for p in section.pictures]
    assert "overview" not in names and "ratio" in names


def test_the_told_entry_point_is_drawn_beside_the_routine_and_is_no_rival(made: Made) -> None:
    raw = bench_results()
    raw["copies"] += [{"name": "asterope_cold", "description": "told", "ours": True}]
    for cell in raw["results"]:
        if (cell["suite"], cell["workload"]) == ("sizes", "cold"):
            ratio = {"median": 9.0, "low": 8.9, "high": 9.1}
            ns = cell["copies"]["glibc"]["ns"] / 9
            cell["copies"]["asterope_cold"] = {"ns": ns, "ratio": ratio}
    charts, picture = charts_and_ratios(made.put(raw), "cold")
    cold = charts.pop("cold")
    assert {chart.told for chart in charts.values()} == {None}
    assert cold.told == "asterope_cold"
    assert "asterope_cold" not in cold.rivals
    lines = {line.get_label(): line for line in picture.figure.axes[0].get_lines()}
    assert set(lines["asterope's entry point for it"].get_ydata()) == {9.0}
    assert max(lines["best other copy"].get_ydata()) < 9
    _, picture = charts_and_ratios(made.put(raw))  # of which it has another panel first
    assert (
        "asterope's entry point for it" not in picture.figure.axes[0].get_legend_handles_labels()[1]
    )
    (legend,) = picture.figure.legends
    told = [text.get_text() for text in legend.get_texts()]
    assert told.count("asterope's entry point for it") == 1 and len({*told}) == len(told) == 4


def test_misalignments_are_drawn_by_label_and_results_of_memset_called_that(made: Made) -> None:
    raw = {**bench_results(), "operation": "memset"}
    kept = [cell for cell in raw["results"] if cell["label"].startswith("4 KiB +0 ")]
    for cell in kept:
        cell["label"] = cell["label"].replace(" +0 ", " ")
    raw["results"] = [cell for cell in raw["results"] if cell["suite"] == "sizes"] + kept
    inputs = read(made.put(raw))
    series = find_series(inputs)
    assert series.source.startswith("asterope-bench of memset")
    assert [cell["label"] for cell in series.labelled["misalignment"]] == [c["label"] for c in kept]
    pictures = {p.name: p for section in make_sections(inputs) for p in section.pictures}
    assert len(pictures["cells-misalignment"].table.rows) == len(kept)
    best = "asterope's memset is the best of "
    assert any(sentence.startswith(best) for sentence in findings(inputs))
    page = render_page(inputs, make_sections(inputs))
    assert "<h1>asterope_memset on AMD Ryzen" in page and "bytes copied" not in page
    assert "memset" not in find_series(read(made.bench)).source


def test_a_cell_is_named_once_and_apart_from_the_charts_of_its_suite(made: Made) -> None:
    raw = bench_results()
    states = [cell for cell in raw["results"] if cell["suite"] == "misalignment"][:3]
    for cell, size in zip(states, (1024, 2048, 4096)):
        cell.update(suite="states", workload="again", label=f"{size} B", size=size)
    turn = {"workload": "cached in turn", "label": "32 KiB cached, 1 in turn", "size": 0}
    raw["results"] = [*states, {**states[0], **turn}]
    inputs = read(made.put(raw))
    pictures = {p.name: p for section in make_sections(inputs) for p in section.pictures}
    picture = pictures["cells-states"]
    assert [row[0] for row in picture.table.rows] == ["32 KiB cached, 1 in turn"]
    title = picture.figure.axes[0].get_title(loc="left")
    assert re.fullmatch(r"states, other cells: asterope at [\d.]+ x libc", title)
    assert picture.title == "Suite states, other cells"


def test_the_profile_alone_gives_ratios_and_throughput(made: Made) -> None:
    by_name = {chart.name: chart for chart in find_series(read(made.profile)).charts}
    assert list(by_name) == list(names("measured"))
    cold = by_name["cold"]
    # the copy that senses is what the routine takes there
    assert cold.ratios["asterope"][512].median == 1.31
    assert cold.rates["glibc"][512] == pytest.approx(512 / 1063)
    assert cold.rates["asterope"][512] == pytest.approx(1.31 * 512 / 1063)
    assert cold.floor[512].low == 1.29
    for by_size in (cold.rates["glibc"], cold.rates["asterope"], cold.ratios["asterope"]):
        assert min(by_size) == 512, "the small copy does all up to 256 bytes"


def test_the_heat_map_has_what_was_timed_and_frames_the_winner(made: Made) -> None:
    found = read(made.log).log
    sizes = scored_sizes(found, None)
    assert [s.winner for s in sizes] == [WINNER, WINNER]
    base, plane = plane_of(found.tuples, sizes[0])
    assert base.name == WINNER
    assert set(plane) == {(4, 8), (4, 10), (2, 8), (14, 30)}
    picture = planes_picture(found, sizes)
    panels = {title.replace("\n", " "): panel for title, panel in panels_of(picture).items()}
    kind = "YMM, plain loads, non-temporal stores, prefetch T0"
    assert list(panels) == [f"1 KiB: {kind}", f"64 KiB: {kind}"]
    panel = panels[f"1 KiB: {kind}"]
    values = panel.collections[0].get_array().reshape(7, 16)  # matplotlib 3.6: all in a row
    assert values.count() == 4, "the others were not timed"
    assert values[1][4] == 0.5, "the winner, at the end of the scale"
    assert values[1][5] == pytest.approx(100 * (1.5 / 1.4 - 1))
    assert values[6][15] == pytest.approx(50)
    (frame,) = panel.patches
    assert (frame.get_x(), frame.get_y()) == (4, 1)


def test_workloads_that_a_size_or_most_candidates_lack_hide_no_search(made: Made) -> None:
    weights = {"hot": 0.2, "cold": 0.2, "produce": 0.3, "fresh_huge": 0.3}
    options = {**log_header()["options"], "weights": weights}
    second = "YMM T NT T0 4 10"
    lines = log_lines(options=options)
    for number in range(9):  # the run-off: two candidates, and the second leads
        for name, ns in {"libc": 2, WINNER: 2, second: 1}.items():
            lines.insert(-1, sample(65536, "produce", name, number, ns))
    found = read(made.put(lines)).log
    sizes = scored_sizes(found, None)
    assert [(s.winner, s.workloads, len(s.scores)) for s in sizes] == [
        (WINNER, ("hot", "cold"), len(CANDIDATES)),
        (second, ("hot", "cold"), len(CANDIDATES)),
    ]
    assert "mean over hot, cold of " in families_picture(found, sizes).caption
    for name in CANDIDATES:
        lines[-1:-1] = [sample(65536, "produce", one, 9, 1.0) for one in ("libc", name)]
    found = read(made.put(lines)).log
    caption = families_picture(found, scored_sizes(found, None)).caption
    assert "mean over hot, cold (1 KiB); hot, cold, produce (64 KiB) of " in caption


def test_the_profiles_winner_is_the_one_framed(made: Made) -> None:
    raw = good_profile()
    raw["choices"][3]["copies"]["taken"].update(ps=2, pd=8)
    inputs = read(made.log, made.put(raw))
    assert [(s.size, s.winner, s.chosen) for s in scored_sizes(inputs.log, inputs.profile)] == [
        (1024, "YMM T NT T0 2 8", True),
        (65536, WINNER, False),
    ]


def test_registers_and_stores_are_compared_by_size(made: Made) -> None:
    found = read(made.log).log
    picture = families_picture(found, scored_sizes(found, None))
    assert picture.table.head == ["size", "REP_MOVSB T", "XMM T", "YMM NT"]
    best = ["REP_MOVSB T T none 0 0: 0.90", "XMM T T T1 4 0 TB4 PW8: 1.20", f"{WINNER}: 1.50"]
    assert picture.table.rows[0] == ["1 KiB", *best]


def test_a_log_is_of_its_architectures_copies(made: Made) -> None:
    others = {"Q T NT L1KEEP 4 8": 1.5, "Q T NT L1KEEP 2 10": 1.4, "SVE T T none 0 0": 1.0}
    log = read(made.put(log_lines(candidates=others, architecture="aarch64"))).log
    assert {t.name for t in log.tuples.values()} == {*others}
    sizes = scored_sizes(log, None)
    assert {s.winner for s in sizes} == {"Q T NT L1KEEP 4 8"}
    for picture in (planes_picture(log, sizes), families_picture(log, sizes)):
        assert is_dark_on_light(picture.rendered("png"))
    # candidates of another architecture do not exist here
    for wrong in (log_lines(candidates=others), log_lines(architecture="aarch64")):
        with pytest.raises(BadInput, match="names a candidate that does not exist"):
            read(made.put(wrong))


def test_the_strips_cover_all_sizes_of_the_profile(made: Made) -> None:
    picture = intervals_picture(read(made.profile).profile)
    axes = picture.figure.axes[0]
    labels = [text.get_text().replace("\n", " ") for text in axes.get_yticklabels()]
    assert labels[0].endswith("“cached”") and labels[1].endswith("“uncached”")
    assert labels[2:] == [
        *(f"asterope_memcpy_{intent}" for intent in ("hot", "cold", "consume")),
        "asterope_memset, if it senses “cached”",
        "asterope_memset, if it senses “uncached”, and the call site wants that",
        "buffers that alias (modulo 4096)",
        "buffers that overlap",
    ]
    apart = len([text for text in axes.texts if text.get_text().startswith("small ")]) + 2
    assert f": {len(axes.patches) - apart} intervals, " in axes.get_title(loc="left")
    assert "YMM\n128 B" in [text.get_text() for text in axes.texts], "buffers that alias"
    first = sorted((p.get_x(), p.get_x() + p.get_width()) for p in axes.patches if p.get_y() < 0)
    assert first[0][0] == 1 and first[-1][1] == 1 << 20
    assert all(a[1] == b[0] for a, b in zip(first, first[1:])), "neither gap nor overlap"
    assert [row[0].startswith("memset ") for row in picture.table.rows] == [False] * 4 + [True] * 2
    assert picture.table.rows[0][0] == "512 B", "the small copy does all up to 256 bytes"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_each_register_type_has_a_colour_of_its_own(architecture: str) -> None:
    here = of(architecture)
    types = {rt for s in (here.pipelines, here.set_pipelines) for rt in s.AXES[0].values}
    colours = _colours(architecture)
    assert set(colours) == types and len(set(colours.values())) == len(types)


class _Page(html.parser.HTMLParser):
    """The parts of a page, by element."""

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


def test_the_page_is_whole_self_contained_and_repeatable(made: Made, tmp_path: Path, capsys):
    bench = made.put(small_bench())
    for name, more in (("one", ("--png", tmp_path / "one")), ("two", ())):
        out = tmp_path / f"{name}.html"
        assert run(made.profile, made.log, bench, "-o", out, *more) == 0
    text = (tmp_path / "one.html").read_text()
    assert text == (tmp_path / "two.html").read_text()
    page = _Page(tmp_path / "one.html")
    images, pngs = page.found["img"], list((tmp_path / "one").iterdir())
    assert len(images) == len(pngs) >= 7
    assert [path.name for path in pngs if not is_dark_on_light(path.read_bytes())] == []
    for image in images:
        assert image["src"].startswith("data:image/svg+xml;base64,") and len(image["alt"]) > 40
    assert not {"script", "link", "iframe"} & set(page.found)
    assert re.findall(r"(?:src|href)=\"(?!data:|#)", text) == [], "nothing from elsewhere"
    assert page.found["html"] == [{"lang": "en"}] and len(page.found["h1"]) == 1
    assert any(meta.get("name") == "viewport" for meta in page.found["meta"])
    for words in ("AMD Ryzen 7", "Fingerprint", "Left out: folly (no such package)."):
        assert words in page.text
    assert capsys.readouterr().out.count("wrote ") == 2
    for path in pngs:
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG\r\n\x1a\n") and len(content) > 5000


def page_of(path: Path) -> _Page:
    out = path.with_name("r.html")
    assert run(path, "-o", out) == 0
    return _Page(out)


def test_a_page_of_a_log_alone_says_how_far_it_is_but_for_a_torn_last_line(made: Made) -> None:
    path = made.put(log_text(log_lines(finished=False))[:-9])
    log = read(path).log
    assert log.sizes[1024][WINNER]["hot"] == pytest.approx([1.5] * 9)
    for words in ("2 of 3 sizes begun", "last step: pipelines 65536", "last line is not whole"):
        assert words in progress(log)
    page = page_of(path)
    assert "The search has not come to its end: 2 of 3 sizes begun" in page.text
    assert {section.get("id") for section in page.found["section"]} == {"search", "machine"}


def test_what_inputs_say_cannot_become_markup(made: Made) -> None:
    raw = small_bench()
    evil = "<script>alert(1)</script>"
    raw["copies"][3]["description"] = evil
    raw["left_out"] = [{"name": evil, "reason": "$\\frac{1}{$"}]
    raw["copies"].append({"name": "<b>$x_1$", "description": ""})
    for cell in raw["results"]:
        cell["copies"]["<b>$x_1$"] = cell["copies"]["musl"]
    page = page_of(made.put(raw))
    assert not {"script", "b"} & set(page.found)
    assert evil in page.text


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_page_of_any_architecture_without_a_machine_says_so(made: Made, architecture) -> None:
    path = made.put({**plain_profile(architecture), "machine": {}})
    assert "names no machine" in page_of(path).text
    picture = intervals_picture(read(path).profile)
    assert any(of(architecture).pipelines.PLAIN.name in row for row in picture.table.rows)


def test_whole_runs_are_drawn_with_their_intervals_and_verdicts(made: Made) -> None:
    raw = whole_runs()
    path = made.put(raw)
    text = page_of(path).text
    assert "redis, 24 rounds: ours is faster: 1.259 x libc (1.237 to 1.282)" in text
    assert "glibc 2.36" in text
    assert "With libc the kernel took 0.01 % of the CPU time a run." in text
    picture, modes = [one for section in make_sections(read(path)) for one in section.pictures]
    assert modes.title == "Two modes: runs" and "ours: 0.7125 and 0.9091 (50 %)" in modes.caption
    assert sum(bar.get_height() for bar in modes.figure.axes[0].patches) == 24
    labels = [label.get_text() for label in picture.figure.axes[0].get_yticklabels()]
    assert labels == ["libc again", "ours", "theirs"]
    (legend,) = picture.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["faster", "slower", "neither"]
    assert picture.table.rows[1][1].endswith(" s")
    assert modes.figure.axes[0].get_xlabel() == "seconds of a run"
    raw["metric"].update(kind="pattern", pattern="requests (.*)")
    picture, modes = proof_pictures(raw)
    assert not picture.table.rows[1][1].endswith(" s")
    assert modes.figure.axes[0].get_xlabel() == "figure of a run"
    raw["copies"][2]["verdict"] = "the same"
    assert "no copy differs from libc beyond the noise" in findings(read(made.put(raw)))[0]


@pytest.mark.parametrize("missing", ["ratio", "figure"])
def test_a_copy_of_whole_runs_that_lacks_a_number_is_not_drawn(made: Made, missing: str) -> None:
    raw = whole_runs()
    del raw["copies"][2][missing]  # of ours, which is faster
    path = made.put(raw)
    assert "redis, 24 rounds: " in page_of(path).text
    picture, _ = [one for section in make_sections(read(path)) for one in section.pictures]
    labels = [label.get_text() for label in picture.figure.axes[0].get_yticklabels()]
    assert labels == ["libc again", "theirs"]


def test_places_are_dots_with_intervals_in_the_colour_of_their_verdict(made: Made) -> None:
    picture, modes = trial_pictures(program_trial())
    bars = picture.figure.axes[0].containers
    assert [one.lines[0].get_xdata()[0] for one in bars] == pytest.approx(
        [100 * (1 / (1 - saved) - 1) for saved in (0.2, -0.1)]
    )
    (legend,) = picture.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "faster",
        "slower",
        "cannot be told",
    ]
    labels = [text.get_text() for text in picture.figure.axes[0].get_yticklabels()]
    assert labels[0] == "<program> copy.c:10 main\nmemcpy, from 4 KiB"
    assert "copy.c:10 main, memcpy, from 4 KiB: +25.0 % (+23.5 to +28.2)" in picture.alt
    earlier = program_trial()
    del earlier["places"][0]["file_name"]
    (old, *_), _ = trial_pictures(earlier)[0].table.rows
    assert old == "target copy.c:10 main, memcpy, from 4 KiB"
    many = program_trial()
    many["places"] *= 15
    assert "Of 30 places the 12 that bring most." in trial_pictures(many)[0].caption
    assert "that bring most" not in picture.caption
    hidden = program_trial()
    hidden["places"][1]["shown"] = False
    assert len(trial_pictures(hidden)[0].table.rows) == 1
    assert picture.rendered("png")[:4] == b"\x89PNG" and len(picture.table.rows) == 2
    assert "routine 1.200 (1.100 to 1.300)" in picture.table.rows[0][3]
    (row,) = modes.table.rows  # of the place that has two
    assert row[1:4] == ["1.00 µs", "3.00 µs", "50 %"]
    near = Sample("near", "s", TwoModes(1.20e-6, 1.24e-6, 0.5), histogram([1.2e-6, 1.24e-6]))
    assert "near: 1.20 µs and 1.24 µs (50 %)" in modes_pictures("calls", [near])[0].caption
    unbelieved = program_trial()
    unbelieved["places"][1]["possible"] = False
    picture, _ = trial_pictures(unbelieved)
    assert len(picture.figure.axes[0].containers) == 1 and picture.table.rows[1][2] == "-"
    unsure = program_trial()
    unsure["places"][1]["gained"] = {"value": -0.1, "low": -0.3, "high": 0.1}
    bars = trial_pictures(unsure)[0].figure.axes[0].containers
    assert [one.lines[0].get_color() for one in bars] == ["#1b7837", "#555555"]


def test_a_trial_is_the_first_of_the_page_in_the_words_of_its_command(made: Made) -> None:
    page = page_of(made.put(program_trial()))
    said = "With the routine this program runs 10.0 % faster (5.0 to 15.0); no place is slower."
    assert f"'<program>' 'a b': {said}" in page.text
    assert "The kernel took 50 % of the CPU time, with 5k page faults." in page.text
    untold = {**program_trial(), "said": ["How fast this program is with it cannot be told."]}
    assert "cannot be told." in page_of(made.put(untold)).text
    assert "<program>" in page.text and "program" not in page.found
    assert page.found["section"][0]["id"] == "trial"
