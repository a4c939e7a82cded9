"""The command asterope-report: what it reads, what its pictures show, its page, its errors."""

from __future__ import annotations

import gzip
import html.parser
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_errors import exit_code_of, only_line_of
from profile_samples import (
    DOUBT,
    good_profile,
    incomplete_profile,
    plain_profile,
    provisional_profile,
)
from report_samples import (
    CANDIDATES,
    LOG_SIZES,
    OTHER_ARCHITECTURE,
    OTHER_CANDIDATES,
    PEERS,
    SIZES,
    THREADED,
    WINNER,
    WORKLOADS,
    bench_results,
    log_lines,
)
from trial_logs import log_header, log_text, trial

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from asterope.faults import BadInput
from asterope.report import command, page
from asterope.report.copies import ratio_picture, throughput_picture
from asterope.report.inputs import Inputs, read_inputs
from asterope.report.intervals import intervals_picture
from asterope.report.search_maps import families_picture, plane_of, planes_picture, scored_sizes
from asterope.report.series import find_series
from asterope.report.style import Picture, set_up
from asterope.report.words import findings, machine_facts, progress, search_facts, standing
from asterope.spaces import ARCHITECTURES, of
from asterope.workloads import names

# matplotlib warns where a picture has no room for what is in it
pytestmark = pytest.mark.filterwarnings("error::UserWarning")

Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Writes an input: text or bytes as they are, a list as a log, anything else as JSON."""

    def put(content: Any, name: str = "input") -> Path:
        if not isinstance(content, (str, bytes)):
            content = log_text(content) if isinstance(content, list) else json.dumps(content)
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


@pytest.fixture
def profile(put: Put) -> Path:
    return put(good_profile(), "profile.json")


@pytest.fixture
def log(put: Put) -> Path:
    return put(log_lines(), "log.trials")


@pytest.fixture
def bench(put: Put) -> Path:
    return put(bench_results(), "bench.json")


@pytest.fixture(autouse=True)
def styled() -> None:
    set_up()


def read(*paths: object) -> Inputs:
    return read_inputs([str(path) for path in paths])


def small_bench() -> dict[str, Any]:
    """Two workloads at three sizes: as much as a whole page needs."""
    results = bench_results()
    results["results"] = [
        cell
        for cell in results["results"]
        if cell["workload"] in ("hot", "cold") and cell["size"] in (4096, 65536, 1 << 20)
    ]
    return results


def run(*arguments: object) -> int:
    return exit_code_of(command.main, *arguments)


def only_line(capsys: pytest.CaptureFixture[str]) -> str:
    return only_line_of("asterope-report", capsys)


def is_dark_on_light(picture: Picture) -> bool:
    """Whether the drawing is on white and has much that is not."""
    import matplotlib.backends.backend_agg as agg

    canvas = agg.FigureCanvasAgg(picture.figure)
    canvas.draw()
    pixels = bytes(canvas.buffer_rgba())
    return pixels[:3] == b"\xff\xff\xff" and len(set(zip(*[iter(pixels)] * 4))) > 20


def panels_of(picture: Picture) -> dict[str, Any]:
    """The axes that have a title, by it."""
    titled = {axes.get_title(loc="left"): axes for axes in picture.figure.axes}
    return {title: axes for title, axes in titled.items() if title}


# --- Reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_inputs_are_told_apart_by_content(
    order: tuple[int, ...], profile: Path, log: Path, bench: Path, tmp_path: Path
) -> None:
    paths = [path.rename(tmp_path / f"{i}") for i, path in enumerate((profile, log, bench))]
    inputs = read(*(paths[i] for i in order))
    assert inputs.profile is not None and len(inputs.profile.of("pipelines")) == 6
    assert inputs.log is not None and list(inputs.log.sizes) == list(LOG_SIZES)
    assert inputs.bench is not None and list(inputs.bench.copies) == list(PEERS)


def test_a_candidates_ratio_is_taken_within_the_round(log: Path) -> None:
    trials = read(log).log.sizes[1024]
    for name, ratio in CANDIDATES.items():  # though every round is slower than the one before
        for workload in ("hot", "cold"):
            assert trials.samples[name][workload] == pytest.approx([ratio] * 9)
    assert trials.leader({"hot": 1, "cold": 1}) == WINNER


def first_line(lines: list[dict], **wanted: str) -> int:
    return next(i for i, line in enumerate(lines) if wanted.items() <= line.items())


def test_a_round_that_was_disturbed_and_timed_again_counts_once(put: Put) -> None:
    lines = log_lines(rounds=1)
    at = first_line(lines, candidate="libc")
    lost = [trial(1024, "hot", "libc", 0, 1e6), trial(1024, "hot", WINNER, 0, 1.0)]
    lines[at:at] = [*lost, {"hit": ["steal"]}]
    log = read(put(lines)).log
    assert log.sizes[1024].samples[WINNER]["hot"] == pytest.approx([1.5])
    assert log.hits == {"steal": 1}


def test_the_leader_is_none_that_was_timed_seldom(put: Put) -> None:
    lines = log_lines(rounds=9)
    lucky, both = "ZMM T T none 0 0", {"hot": 1, "cold": 1}
    for workload in both:
        at = first_line(lines, candidate=WINNER, workload=workload)
        lines.insert(at, trial(1024, workload, lucky, 0, 1.0))
    trials = read(put(lines)).log.sizes[1024]
    assert trials.scores(both)[lucky] > 50
    assert trials.leader(both) == WINNER


def test_a_torn_last_line_is_left_out(log: Path) -> None:
    whole = log.read_text()
    log.write_text(whole[: whole.rindex('{"finished"') - 20])
    found = read(log).log
    assert found.torn and not found.finished
    assert found.sizes[1024].samples[WINNER]["hot"] == pytest.approx([1.5] * 9)


@pytest.mark.parametrize("kind", ["profile", "log", "bench"])
def test_inputs_come_through_pipes_and_with_byte_order_marks(
    kind: str, put: Put, request: pytest.FixtureRequest
) -> None:
    path = request.getfixturevalue(kind)
    plain, content = getattr(read(path), kind), b"\xef\xbb\xbf" + path.read_bytes()
    assert getattr(read(put(content)), kind) == plain

    read_end, write_end = os.pipe()

    def write() -> None:
        with open(write_end, "wb") as file:
            file.write(content)

    writer = threading.Thread(target=write)
    writer.start()
    assert getattr(read(f"/dev/fd/{read_end}"), kind) == plain
    writer.join()
    os.close(read_end)


def test_a_log_is_of_its_architectures_copies(put: Put) -> None:
    lines = log_lines(candidates=OTHER_CANDIDATES, architecture=OTHER_ARCHITECTURE)
    log = read(put(lines)).log
    assert {t.name for t in log.tuples.values()} == {*OTHER_CANDIDATES}
    sizes = scored_sizes(log, None)
    assert {s.winner for s in sizes} == {next(iter(OTHER_CANDIDATES))}
    assert all(map(is_dark_on_light, (planes_picture(log, sizes), families_picture(log, sizes))))
    # those of another architecture are none
    for wrong in (
        log_lines(candidates=OTHER_CANDIDATES),
        log_lines(architecture=OTHER_ARCHITECTURE),
    ):
        with pytest.raises(BadInput, match="names a candidate that does not exist"):
            read(put(wrong))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_intervals_of_any_architecture_are_drawn(put: Put, architecture: str) -> None:
    picture = intervals_picture(read(put(plain_profile(architecture))).profile)
    assert is_dark_on_light(picture)
    assert any(of(architecture).pipelines.PLAIN.name in row for row in picture.table.rows)


# --- What is refused ------------------------------------------------------------------------------


def _log(*lines: dict[str, Any], **header: Any) -> str:
    return log_text([log_header(**header), *lines])


def _bench(**changes: Any) -> dict[str, Any]:
    return {**bench_results(), **changes}


def _modes(kind: str, unit: str, *of: str, **changes: Any) -> dict[str, Any]:
    """What diagnose or check writes, as far as a report reads it."""
    counts = [4, 30, 5, 0, 0, 0, 0, 0, 0, 6, 50, 5]
    one = {"unit": unit, "low": 1.02, "high": 1.34, "share": 0.61, "from": 1.0, "width": 0.03}
    return {
        **{"format": kind, "version": 1, "machine": good_profile()["machine"]},
        "modes": [{"of": name, **one, "counts": counts, **changes} for name in of],
    }


_STEP = {"step": "pipelines 1024"}
_WITH_STEP = _log(_STEP)
# Name -> a file, and what its one line of an error has.
BAD_FILES: dict[str, tuple[Any, str]] = {
    "empty": ("", "empty"),
    "other text": ("hello\n", "not JSON"),
    "other JSON": ({"format": "x"}, "no profile, trial log, bench results or trial"),
    "binary": (b"\x7fELF\x00\xff" * 9, "UTF-8"),
    "bench of version 1": (_bench(version=1), "version 1"),
    "bench of no results": (_bench(results=None), "results"),
    "bench with a time of 0": (
        json.dumps(bench_results()).replace('"ns": ', '"ns": 0, "was": ', 1),
        "results[0].copies",
    ),
    "log of version 1": (_log(version=1), "reads version 2"),
    "log of an unknown architecture": (
        _log(architecture="riscv64"),
        'line 1: architecture: "riscv64" is none of x86_64, aarch64',
    ),
    "log of a machine that is none": (
        _log(machine={**good_profile()["machine"], "kernel": []}),
        "line 1: machine.kernel: an array where a string is expected",
    ),
    "log that began at no time": (_log(started="yesterday"), "line 1: started:"),
    "log with no JSON": (_WITH_STEP + "{]\n" + log_text([_STEP]), "line 3, column 2: not JSON"),
    "log with a time of 0": (_log(_STEP, trial(1024, "hot", "libc", 0, 0)), "line 3"),
    "log with NaN": (_log(_STEP, trial(1024, "hot", "libc", 0, float("nan"))), "line 3"),
    "log with a trial of another size": (_log(_STEP, trial(512, "hot", "libc", 0, 1)), "line 3"),
    "log with a step of no size": (_log({"step": "pipelines x"}), "line 2"),
    "gzipped": (gzip.compress(b"x"), "is gzipped: unpack it first"),
    "header alone": (_log(), "nothing in there to show yet"),
    "a diagnosis without two modes": (_modes("asterope-diagnosis", "s"), "a sample of two modes"),
    "a check with bins of no width": (
        _modes("asterope-check", "x libc", "64 KiB", width=0),
        "modes[0].width: 0 is less than 1e-12: run asterope-tune check --measure --json again",
    ),
    "a diagnosis with one bin": (_modes("asterope-diagnosis", "s", "x", counts=[9]), "counts"),
}


@pytest.mark.parametrize(("content", "expected"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files_get_one_line_and_overwrite_nothing(
    content: Any, expected: str, put: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = put(content), put("the old one", "report.html")
    assert run(path, "-o", out, "--png", tmp_path / "png") == 2
    line = only_line(capsys)
    assert str(path) in line and expected in line
    assert out.read_text() == "the old one"
    assert not (tmp_path / "png").exists()


# Arguments, the good profile standing for {}; the exit code, and what is said.
REFUSED = {
    "a missing file": (["absent"], 2, "absent: cannot read it: No such file"),
    "two of a kind": (["{}", "{}"], 2, "a second profile"),
    "an input as output": (["{}", "-o", "{}"], 2, "is an input"),
    "a page that cannot be written": (["{}", "-o", "{}/report.html"], 1, "cannot write"),
}


@pytest.mark.parametrize(("arguments", "code", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_gets_one_line_and_overwrites_nothing(
    arguments: list[str], code: int, said: str, profile: Path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(profile.parent)
    assert run(*(argument.format(profile) for argument in arguments)) == code
    assert said in only_line(capsys)
    assert os.listdir() == [profile.name]
    assert json.loads(profile.read_text()) == good_profile()


@pytest.mark.parametrize("kind", ["log", "bench"])
def test_files_of_another_machine_are_refused(
    kind: str, profile: Path, put: Put, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = {**good_profile()["machine"], "fingerprint": "f" * 16}
    other = put(_log(machine=machine) if kind == "log" else _bench(machine=machine))
    assert run(profile, other, "-o", other.with_name("r.html")) == 2
    line = only_line(capsys)
    assert "another machine" in line and "f" * 16 in line
    assert not other.with_name("r.html").exists()


def test_without_matplotlib_the_command_says_so(
    profile: Path, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text(
        "raise ModuleNotFoundError('no', name='matplotlib')"
    )
    done = subprocess.run(
        [sys.executable, "-m", "asterope", "report", profile, "-o", tmp_path / "r.html"],
        env={"PYTHONPATH": f"{tmp_path}:{repository / 'scripts'}"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "pip install matplotlib" in done.stderr
    assert not (tmp_path / "r.html").exists()


# --- Pictures -------------------------------------------------------------------------------------


def test_throughput_has_a_line_for_every_copy_that_looks_different(bench: Path) -> None:
    inputs = read(bench)
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


def test_threads_are_drawn_apart_and_at_the_rate_of_all(bench: Path) -> None:
    chart = next(c for c in find_series(read(bench)).charts if c.threads == 2)
    assert chart.name == "threads cold 2 threads"
    cell = next(c for c in bench_results()["results"] if c["threads"] == 2)
    point = chart.copies["asterope"][cell["size"]]
    # from one call that some thread ends to the next
    assert point.gb_per_s == pytest.approx(cell["size"] / cell["copies"]["asterope"]["ns"])


def test_ratios_have_intervals_and_the_noise_floor(bench: Path) -> None:
    inputs = read(bench)
    series = find_series(inputs)
    charts = [chart for chart in series.charts if chart.suite == "sizes"]
    picture = ratio_picture(charts, inputs.machine, series.source, "glibc 2.36")
    panels = panels_of(picture)
    assert [re.search(r"\((\w+)\)\n", title)[1] for title in panels] == list(WORKLOADS)
    for panel in panels.values():
        (bars,) = panel.containers
        assert list(bars.lines[0].get_xdata()) == list(SIZES)
        assert bars.has_yerr
        assert panel.collections, "the band of the noise"
        best = next(li for li in panel.get_lines() if li.get_label() == "best other copy")
        assert max(best.get_ydata()) < 1.6, "copies over threads do not compete"
    assert [row[0] for row in picture.table.rows][:: len(SIZES) - 1] == ["128 B", "32 MiB"]
    assert is_dark_on_light(picture)


def test_panels_that_are_all_noise_become_one_line(put: Put) -> None:
    raw = bench_results()
    for cell in raw["results"]:
        if cell["suite"] == "sizes":
            cell["noise_floor"] = {"median": 1.0, "low": 0.01, "high": 100.0}
    inputs = read(put(raw))
    series = find_series(inputs)
    charts = [chart for chart in series.charts if chart.suite == "sizes"]
    picture = ratio_picture(charts, inputs.machine, series.source, "glibc 2.36")
    assert picture.figure.axes == [] and len(picture.table.rows) == len(SIZES)
    assert "no difference beyond the noise" in picture.figure.get_suptitle()
    assert f"not drawn: {', '.join(chart.name for chart in charts)}. " in picture.caption


def test_the_told_entry_point_is_drawn_beside_the_routine_and_is_no_rival(put: Put) -> None:
    raw = bench_results()
    raw["copies"] += [{"name": "asterope_cold", "description": "told", "ours": True}]
    for cell in raw["results"]:
        if (cell["suite"], cell["workload"]) == ("sizes", "cold"):
            ratio = {"median": 9.0, "low": 8.9, "high": 9.1}
            ns = cell["copies"]["glibc"]["ns"] / 9
            cell["copies"]["asterope_cold"] = {"ns": ns, "ratio": ratio}
    inputs = read(put(raw))
    series = find_series(inputs)
    charts = {chart.workload: chart for chart in series.charts if chart.suite == "sizes"}
    cold = charts.pop("cold")
    assert {chart.told for chart in charts.values()} == {None}
    assert cold.told == "asterope_cold"
    assert "asterope_cold" not in cold.rivals
    picture = ratio_picture([cold], inputs.machine, series.source, "glibc 2.36")
    lines = {line.get_label(): line for line in picture.figure.axes[0].get_lines()}
    assert set(lines["asterope's entry point for it"].get_ydata()) == {9.0}
    assert max(lines["best other copy"].get_ydata()) < 9


def test_misalignments_are_drawn_by_label_and_results_of_memset_called_that(put: Put) -> None:
    raw = {**bench_results(), "operation": "memset"}
    kept = [cell for cell in raw["results"] if cell["label"].startswith("4 KiB +0 ")]
    others = [cell for cell in raw["results"] if cell["suite"] == "sizes"]
    for cell in kept:
        cell["label"] = cell["label"].replace(" +0 ", " ")
    raw["results"] = [*others, *kept]
    inputs = read(put(raw))
    series = find_series(inputs)
    assert series.source.startswith("asterope-bench of memset")
    assert [cell.label for cell in series.labelled["misalignment"]] == [
        cell["label"] for cell in kept
    ]
    pictures = {p.name: p for section in page.make_sections(inputs) for p in section.pictures}
    assert len(pictures["cells-misalignment"].table.rows) == len(kept)
    best = "asterope's memset is the best of "
    assert any(sentence.startswith(best) for sentence in findings(inputs))
    without = find_series(read(put(bench_results(), "copies.json"))).source
    assert "memset" not in without


def test_the_profile_alone_gives_ratios_and_throughput(profile: Path) -> None:
    by_name = {chart.name: chart for chart in find_series(read(profile)).charts}
    assert list(by_name) == list(names("measured"))
    cold = by_name["cold"]
    # the copy that senses is what the routine takes there
    assert cold.copies["asterope"][1 << 20].gb_per_s == pytest.approx((1 << 20) / 72315)
    assert cold.copies["asterope"][128].ratio.median == 1.31
    assert cold.copies["glibc"][128].gb_per_s == pytest.approx(128 / 1063)
    assert cold.floor[128].low == 1.29


def test_the_heat_map_has_what_was_timed_and_frames_the_winner(log: Path) -> None:
    found = read(log).log
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


def test_the_profiles_winner_is_the_one_framed(log: Path, put: Put) -> None:
    raw = good_profile()
    raw["choices"][3]["copies"]["taken"].update(ps=2, pd=8)
    inputs = read(log, put(raw))
    assert [(s.size, s.winner, s.chosen) for s in scored_sizes(inputs.log, inputs.profile)] == [
        (1024, "YMM T NT T0 2 8", True),
        (65536, WINNER, False),
    ]


def test_registers_and_stores_are_compared_by_size(log: Path) -> None:
    found = read(log).log
    picture = families_picture(found, scored_sizes(found, None))
    assert picture.table.head == ["size", "REP_MOVSB T", "XMM T", "YMM NT"]
    best = ["REP_MOVSB T T none 0 0: 0.90", "XMM T T T1 4 0 TB4 PW8: 1.20", f"{WINNER}: 1.50"]
    assert picture.table.rows[0] == ["1 KiB", *best]
    values = picture.figure.axes[0].collections[0].get_array().reshape(2, 3)
    assert values.tolist() == [pytest.approx([0.9, 1.2, 1.5])] * 2
    assert is_dark_on_light(picture)


def test_the_strips_cover_all_sizes_of_the_profile(profile: Path) -> None:
    picture = intervals_picture(read(profile).profile)
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


# --- Words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory", "words"),
    [
        (good_profile()["machine"]["memory"], "8 x DDR5, 4800 MT/s, 8 channels"),
        ({"edac_channels": 2}, "2 channels"),
        ({"modules": 1}, "1 x of unknown type"),
        ({}, None),
        ("many", None),
    ],
)
def test_the_memory_modules_are_told_as_far_as_they_are_known(memory: Any, words: Any) -> None:
    assert dict(machine_facts({"memory": memory})).get("Memory modules") == words


def facts(*paths: Path) -> str:
    return " ".join(search_facts(read(*paths)))


def test_the_noise_is_told_in_words(profile: Path, put: Put) -> None:
    text = facts(profile)
    assert "5,000 rounds were timed. 30 were disturbed and timed again, 3 were disturbed" in text
    assert "another virtual machine took the CPU: 31" in text
    assert "provisional" not in text
    assert "Warning of the search: the machine is loaded" in text
    assert "incomplete" in facts(put(incomplete_profile()))


def noisy_bench(provisional: bool) -> dict[str, Any]:
    noise = {"rounds": 1200, "repeated": 200, "kept": 70, "provisional": provisional}
    if provisional:
        noise["reason"] = "7 % of the rounds stayed disturbed"
    return {**small_bench(), "noise": {**noise, "disturbed": {"preempted": 270}}}


def test_what_noise_may_have_decided_comes_first_and_is_warned_of(
    profile: Path, put: Put, capsys
) -> None:
    paths = [put(provisional_profile(), "noisy.json"), put(noisy_bench(True), "bench.json")]
    ending = "provisional; run again in a quieter hour, or on another CPU (--cpu N)"
    doubts = [
        f"{DOUBT}: these winners are {ending}",
        f"7 % of the rounds stayed disturbed: these figures are {ending}",
    ]
    assert findings(read(*paths))[:2] == [f"Warning: {doubt}." for doubt in doubts]
    assert run(*paths, "-o", profile.with_name("page.html")) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"asterope-report: warning: {doubt}" for doubt in doubts]
    assert read(profile, put(noisy_bench(False))).doubts == []


def test_a_log_of_another_run_is_named_as_such(profile: Path, log: Path, put: Put) -> None:
    assert "another run" not in facts(profile, log)
    lines = log_lines()
    lines[0]["started"] = "2026-11-21T00:00:00Z"
    assert "another run" in facts(profile, put(lines))


def test_the_best_of_a_cell_is_judged_by_its_noise(put: Put) -> None:
    def cell_of(asterope: float, other: float, name: str = "musl") -> Any:
        raw = bench_results()
        cell = raw["results"][0]
        for copy in cell["copies"].values():
            copy.pop("versus", None)
        for copy, ratio in (("asterope", asterope), (name, other), ("glibc", 1.0)):
            for field, value in (("ratio", ratio), ("versus", ratio / asterope)):
                cell["copies"][copy][field] = dict.fromkeys(("median", "low", "high"), value)
        cell["noise_floor"] = {"median": 1, "low": 0.98, "high": 1.01}
        return read(put(raw)).bench.cells[0]

    assert standing(cell_of(1.30, 1.32)) == (1.30, True)
    assert standing(cell_of(1.30, 1.34)) == (1.30, False)
    assert standing(cell_of(0.97, 0.5)) == (0.97, False), "libc itself is a rival"
    assert standing(cell_of(1.3, 2.0, "avx_threads"), THREADED) == (1.3, True)


# --- The page -------------------------------------------------------------------------------------


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
    profile: Path, log: Path, put: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = put(small_bench())
    for name in ("one", "two"):
        out, png = tmp_path / f"{name}.html", tmp_path / name
        assert run(profile, log, bench, "-o", out, "--png", png) == 0
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


def test_a_page_of_a_log_alone_says_how_far_it_is(put: Put) -> None:
    path = put(log_text(log_lines(finished=False))[:-9])
    told = progress(read(path).log)
    for words in ("2 of 3 sizes begun", "last step: pipelines 65536", "last line is not whole"):
        assert words in told
    out = path.with_name("r.html")
    assert run(path, "-o", out) == 0
    found = _Page(out)
    assert "The search has not come to its end: 2 of 3 sizes begun" in found.text
    sections = {section.get("id") for section in found.found["section"]}
    assert sections == {"search", "machine"}


def test_what_inputs_say_cannot_become_markup(put: Put) -> None:
    raw = small_bench()
    evil = "<script>alert(1)</script>"
    raw["copies"][3]["description"] = evil
    raw["left_out"] = [{"name": evil, "reason": "$\\frac{1}{$"}]
    raw["copies"].append({"name": "<b>$x_1$", "description": ""})
    for cell in raw["results"]:
        cell["copies"]["<b>$x_1$"] = cell["copies"]["musl"]
    path = put(raw)
    out = path.with_name("r.html")
    assert run(path, "-o", out) == 0
    found = _Page(out)
    assert "script" not in found.found and "b" not in found.found
    assert evil in found.text


def test_a_page_without_a_machine_says_so(repository: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    assert run(repository / "generated/reference/xeon-gold-5218.json", "-o", out) == 0
    assert "names no machine" in out.read_text()


def test_samples_of_two_modes_are_drawn_as_histograms(put: Put) -> None:
    diagnosis = put(_modes("asterope-diagnosis", "s", "4 KiB, alone: libc", "8 KiB"), "d.json")
    check = put(_modes("asterope-check", "x libc", "memset 64 KiB"), "c.json")
    calls, rounds = page.make_sections(read(diagnosis, check))[0].pictures
    assert list(panels_of(calls)) == ["4 KiB, alone: libc", "8 KiB"]
    assert "4 KiB, alone: libc: 1.0 s and 1.3 s (61 %)" in calls.caption
    axes = panels_of(rounds)["memset 64 KiB"]
    assert [bar.get_height() for bar in axes.patches][:3] == [4, 30, 5]
    assert axes.patches[1].get_x() == pytest.approx(1.03) and axes.get_xlabel() == "x libc"
    other = _modes("asterope-check", "x libc", "64 KiB")
    other["machine"] = {"fingerprint": "0" * 16}
    with pytest.raises(BadInput, match="of another machine"):
        read(diagnosis, put(other, "other.json"))


def test_whole_runs_are_drawn_with_their_intervals_and_verdicts(put: Put) -> None:
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
    path = put(raw)
    out = path.with_name("r.html")
    assert run(path, "-o", out) == 0
    text = out.read_text()
    assert (
        "redis, 9 rounds: ours is faster: 1.250 x libc (1.200 to 1.300)" in text
        and "glibc 2.36" in text
    )
    inputs = read_inputs([str(path)])
    picture, modes = [one for section in page.make_sections(inputs) for one in section.pictures]
    assert modes.title == "Two modes: runs" and "ours: 1.012 and 2.013 (50 %)" in modes.caption
    assert sum(bar.get_height() for bar in modes.figure.axes[0].patches) == 24
    assert [label.get_text() for label in picture.figure.axes[0].get_yticklabels()] == [
        "libc again", "ours", "theirs"]  # fmt: skip
    raw["copies"][2]["verdict"] = "the same"
    assert "no copy differs from libc beyond the noise" in findings(read_inputs([str(put(raw))]))[0]
    raw["copies"][2]["ratio"]["low"] = -1
    with pytest.raises(BadInput, match="run asterope-prove --json again"):
        read_inputs([str(put(raw))])
