"""The pictures of asterope-report: what is drawn, as data and as pixels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from profile_samples import good_profile, plain_profile
from report_inputs import Made, is_dark_on_light, panels_of, read
from report_samples import PEERS, SIZES, WINNER, WORKLOADS, bench_results

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from asterope.report import page
from asterope.report.copies import ratio_picture, throughput_picture
from asterope.report.intervals import intervals_picture
from asterope.report.search_maps import families_picture, plane_of, planes_picture, scored_sizes
from asterope.report.series import find_series
from asterope.report.style import Picture
from asterope.report.words import findings
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
    assert is_dark_on_light(picture)


def test_threads_are_drawn_apart_and_at_the_rate_of_all(made: Made) -> None:
    chart = next(c for c in find_series(read(made.bench)).charts if c.threads == 2)
    assert chart.name == "threads cold 2 threads"
    cell = next(c for c in bench_results()["results"] if c["threads"] == 2)
    point = chart.copies["asterope"][cell["size"]]
    # from one call that some thread ends to the next
    assert point.gb_per_s == pytest.approx(cell["size"] / cell["copies"]["asterope"]["ns"])


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
    assert is_dark_on_light(picture)


def test_panels_that_are_all_noise_become_one_line(made: Made) -> None:
    raw = bench_results()
    for cell in raw["results"]:
        if cell["suite"] == "sizes":
            cell["noise_floor"] = {"median": 1.0, "low": 0.01, "high": 100.0}
    charts, picture = charts_and_ratios(made.put(raw))
    assert picture.figure.axes == [] and len(picture.table.rows) == len(SIZES)
    assert "no difference beyond the noise" in picture.figure.get_suptitle()
    assert f"not drawn: {', '.join(chart.name for chart in charts.values())}. " in picture.caption


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


def test_misalignments_are_drawn_by_label_and_results_of_memset_called_that(made: Made) -> None:
    raw = {**bench_results(), "operation": "memset"}
    kept = [cell for cell in raw["results"] if cell["label"].startswith("4 KiB +0 ")]
    others = [cell for cell in raw["results"] if cell["suite"] == "sizes"]
    for cell in kept:
        cell["label"] = cell["label"].replace(" +0 ", " ")
    raw["results"] = [*others, *kept]
    inputs = read(made.put(raw))
    series = find_series(inputs)
    assert series.source.startswith("asterope-bench of memset")
    assert [cell.label for cell in series.labelled["misalignment"]] == [
        cell["label"] for cell in kept
    ]
    pictures = {p.name: p for section in page.make_sections(inputs) for p in section.pictures}
    assert len(pictures["cells-misalignment"].table.rows) == len(kept)
    best = "asterope's memset is the best of "
    assert any(sentence.startswith(best) for sentence in findings(inputs))
    without = find_series(read(made.put(bench_results(), "copies.json"))).source
    assert "memset" not in without


def test_the_profile_alone_gives_ratios_and_throughput(made: Made) -> None:
    by_name = {chart.name: chart for chart in find_series(read(made.profile)).charts}
    assert list(by_name) == list(names("measured"))
    cold = by_name["cold"]
    # the copy that senses is what the routine takes there
    assert cold.copies["asterope"][1 << 20].gb_per_s == pytest.approx((1 << 20) / 72315)
    assert cold.copies["asterope"][128].ratio.median == 1.31
    assert cold.copies["glibc"][128].gb_per_s == pytest.approx(128 / 1063)
    assert cold.floor[128].low == 1.29


def test_the_heat_map_has_what_was_timed_and_frames_the_winner(made: Made) -> None:
    found = read(made.log).log
    sizes = scored_sizes(found, None)
    assert [s.winner for s in sizes] == [WINNER, WINNER]
    base, plane = plane_of(found.tuples, sizes[0])
    assert base.name == WINNER
    assert set(plane) == {(4, 8), (4, 10), (2, 8), (14, 30)}
    picture = planes_picture(found, sizes)
    panels = panels_of(picture)
    assert [title.replace("\n", " ") for title in panels] == [
        f"{size}: YMM, plain loads, non-temporal stores, prefetch T0"
        for size in ("1 KiB", "64 KiB")
    ]
    panel = next(iter(panels.values()))
    values = panel.collections[0].get_array().reshape(7, 16)  # matplotlib 3.6: all in a row
    assert values.count() == 4, "the others were not timed"
    assert values[1][4] == 0.5, "the winner, at the end of the scale"
    assert values[1][5] == pytest.approx(100 * (1.5 / 1.4 - 1))
    assert values[6][15] == pytest.approx(50)
    (frame,) = panel.patches
    assert (frame.get_x(), frame.get_y()) == (4, 1)
    assert is_dark_on_light(picture)


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
    values = picture.figure.axes[0].collections[0].get_array().reshape(2, 3)
    assert values.tolist() == [pytest.approx([0.9, 1.2, 1.5])] * 2
    assert is_dark_on_light(picture)


def test_the_strips_cover_all_sizes_of_the_profile(made: Made) -> None:
    picture = intervals_picture(read(made.profile).profile)
    axes = picture.figure.axes[0]
    labels = [text.get_text().replace("\n", " ") for text in axes.get_yticklabels()]
    assert labels[0].endswith("“cached”") and labels[1].endswith("“uncached”")
    assert labels[2:] == [
        *(f"asterope_memcpy_{intent}" for intent in ("hot", "cold", "consume")),
        "asterope_memset",
        "buffers that alias (modulo 4096)",
        "buffers that overlap",
    ]
    first = sorted((p.get_x(), p.get_x() + p.get_width()) for p in axes.patches if p.get_y() < 0)
    assert first[0][0] == 1 and first[-1][1] == 1 << 20
    assert all(a[1] == b[0] for a, b in zip(first, first[1:])), "neither gap nor overlap"
    assert [row[0].startswith("memset ") for row in picture.table.rows] == [False] * 6 + [True] * 2
    assert is_dark_on_light(picture)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_intervals_of_any_architecture_are_drawn(made: Made, architecture: str) -> None:
    picture = intervals_picture(read(made.put(plain_profile(architecture))).profile)
    assert is_dark_on_light(picture)
    assert any(of(architecture).pipelines.PLAIN.name in row for row in picture.table.rows)
