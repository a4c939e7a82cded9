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
from pathlib import Path
from typing import Any

import pytest
from profile_samples import DOUBT, good_profile, incomplete_profile, provisional_profile
from report_samples import (
    CANDIDATES,
    LOG_SIZES,
    PEERS,
    SIZES,
    THREADED,
    WINNER,
    WORKLOADS,
    bench_results,
    log_header,
    log_lines,
    log_text,
    trial,
)

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from asterope.profile import load_profile
from asterope.report import command, page
from asterope.report.cells import cells_picture
from asterope.report.copies import ratio_picture, throughput_picture
from asterope.report.faults import BadInput
from asterope.report.inputs import read_inputs
from asterope.report.intervals import intervals_picture
from asterope.report.search_maps import families_picture, plane_of, planes_picture, scored_sizes
from asterope.report.series import find_series
from asterope.report.style import Picture, cache_sizes, legend_outside, new_figure, set_up
from asterope.report.words import findings, machine_facts, progress, search_facts, standing
from asterope.spaces import pipelines

# matplotlib warns where a picture has no room for what is in it
pytestmark = pytest.mark.filterwarnings("error::UserWarning")

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(good_profile()))
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.trials"
    path.write_text(log_text(log_lines()))
    return path


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(bench_results()))
    return path


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
    try:
        return command.main([str(argument) for argument in arguments])
    except SystemExit as left:  # as argparse leaves
        return left.code


def only_line(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed: nothing on stdout, one line on stderr, which is returned."""
    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    assert stderr.startswith("asterope-report: ")
    assert stderr.endswith("\n")
    assert stderr[:-1].isprintable()
    return stderr


def is_dark_on_light(picture: Picture) -> bool:
    """Whether the drawing is on white and has much that is not."""
    import matplotlib.backends.backend_agg as agg

    canvas = agg.FigureCanvasAgg(picture.figure)
    canvas.draw()
    pixels = bytes(canvas.buffer_rgba())
    return pixels[:3] == b"\xff\xff\xff" and len(set(zip(*[iter(pixels)] * 4))) > 20


# --- Reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_inputs_are_told_apart_by_content(
    order: tuple[int, ...], profile: Path, log: Path, bench: Path, tmp_path: Path
) -> None:
    paths = []
    for i, path in enumerate((profile, log, bench)):
        paths.append(path.rename(tmp_path / f"input{i}"))
    inputs = read_inputs([str(paths[i]) for i in order])
    assert inputs.profile is not None and len(inputs.profile.intervals) == 6
    assert inputs.log is not None and list(inputs.log.sizes) == list(LOG_SIZES)
    assert inputs.bench is not None and list(inputs.bench.copies) == list(PEERS)


def test_a_candidates_ratio_is_taken_within_the_round(log: Path) -> None:
    trials = read_inputs([str(log)]).log.sizes[1024]
    for name, ratio in CANDIDATES.items():  # though every round is slower than the one before
        for workload in ("hot", "cold"):
            found = trials.ratio(name, workload)
            assert found.median == pytest.approx(ratio)
            assert found.high - found.low < 1e-9
    assert trials.leader({"hot": 1, "cold": 1}) == WINNER


def test_a_round_that_was_disturbed_and_timed_again_counts_once(tmp_path: Path) -> None:
    lines = log_lines(rounds=1)
    at = next(i for i, line in enumerate(lines) if line.get("candidate") == "libc")
    lost = [trial(1024, "hot", "libc", 0, 1e6), trial(1024, "hot", WINNER, 0, 1.0)]
    lines[at:at] = [*lost, {"hit": ["steal"]}]
    path = tmp_path / "log"
    path.write_text(log_text(lines))
    log = read_inputs([str(path)]).log
    assert log.sizes[1024].samples[WINNER]["hot"] == pytest.approx([1.5])
    assert log.hits == {"steal": 1}


def test_the_leader_is_none_that_was_timed_seldom(tmp_path: Path) -> None:
    lines = log_lines(rounds=9)
    lucky = "ZMM T T none 0 0"
    at = next(i for i, line in enumerate(lines) if line.get("candidate") == WINNER)
    lines.insert(at, trial(1024, "hot", lucky, 0, 1.0))
    at = next(i for i, line in enumerate(lines) if line.get("workload") == "cold" and "ns" in line)
    lines.insert(at, trial(1024, "cold", lucky, 0, 1.0))
    path = tmp_path / "log"
    path.write_text(log_text(lines))
    trials = read_inputs([str(path)]).log.sizes[1024]
    assert trials.scores({"hot": 1, "cold": 1})[lucky] > 50
    assert trials.leader({"hot": 1, "cold": 1}) == WINNER


def test_a_gzipped_log_is_the_same_log(log: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    assert read_inputs([str(packed)]).log == read_inputs([str(log)]).log


def test_a_torn_last_line_is_left_out(log: Path) -> None:
    whole = log.read_text()
    log.write_text(whole[: whole.rindex('{"finished"') - 20])
    found = read_inputs([str(log)]).log
    assert found.torn and not found.finished
    assert found.sizes[1024].samples[WINNER]["hot"] == pytest.approx([1.5] * 9)


def test_a_gzip_that_is_cut_short_is_read_as_far_as_it_goes(log: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    lines = log_lines(rounds=60)
    content = gzip.compress(log_text(lines).encode())
    packed.write_bytes(content[: len(content) * 3 // 4])
    found = read_inputs([str(packed)]).log
    assert found.torn and not found.finished
    assert 0 < found.trials < sum(1 for line in lines if "candidate" in line)


@pytest.mark.parametrize("kind", ["profile", "log", "packed log", "bench"])
def test_inputs_come_through_pipes_and_with_byte_order_marks(
    kind: str, profile: Path, log: Path, bench: Path, tmp_path: Path
) -> None:
    name = kind.rpartition(" ")[2]
    path = {"profile": profile, "log": log, "bench": bench}[name]
    plain = getattr(read_inputs([str(path)]), name)
    content = b"\xef\xbb\xbf" + path.read_bytes()
    marked = tmp_path / "marked"
    marked.write_bytes(gzip.compress(content) if kind == "packed log" else content)
    assert getattr(read_inputs([str(marked)]), name) == plain

    read_end, write_end = os.pipe()

    def write() -> None:
        with open(write_end, "wb") as file:
            file.write(marked.read_bytes())

    writer = threading.Thread(target=write)
    writer.start()
    assert getattr(read_inputs([f"/dev/fd/{read_end}"]), name) == plain
    writer.join()
    os.close(read_end)


def test_a_pipe_that_nothing_is_written_to_is_not_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert run(tmp_path / "pipe", "-o", tmp_path / "r.html") == 2
    assert "pipe: cannot read it: a pipe that nothing was written to" in only_line(capsys)


def test_recordings_are_logs(repository: Path) -> None:
    path = repository / "generated/recordings/zen4-paper.trials.gz"
    log = read_inputs([str(path)]).log
    assert log.thinned and log.finished
    assert list(log.sizes) == [256 << 2 * i for i in range(8)]
    leaders = scored_sizes(log, None)
    assert all(1.0 < found.scores[found.winner] < 1.6 for found in leaders)


def test_names_are_parsed_as_they_are_written() -> None:
    for name in (*CANDIDATES, "MOVDIR64B T NT T0 4 8", "ZMM T T T0 16 8 TB16 down"):
        assert pipelines.named(name).name == name
    for name in ("", "libc", "ZMM T NT T0 4", "QMM T T none 0 0", "MM NT T none 0 0"):
        assert pipelines.named(name) is None


def _log(*lines: dict[str, Any], **header: Any) -> str:
    return log_text([log_header(**header), *lines])


_STEP = {"step": "pipelines 1024"}
# the checksum at the end does not fit
_DAMAGED = gzip.compress(_log(_STEP).encode())[:-8] + b"\xff" * 8
BAD_FILES: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "empty": ("", ("empty",)),
    "other text": ("hello\n", ("not JSON",)),
    "other JSON": ('{"format": "x"}', ("no profile, trial log or bench results",)),
    "binary": (b"\x7fELF\x00\xff" * 9, ("UTF-8",)),
    "torn profile": (json.dumps(good_profile())[:-9], ("cut short",)),
    "profile of another version": (
        json.dumps({**good_profile(), "version": 9}),
        ("version", "newer"),
    ),
    "bench of version 1": (json.dumps({**bench_results(), "version": 1}), ("version 1", "reads")),
    "bench without results": (
        json.dumps({k: v for k, v in bench_results().items() if k != "results"}),
        ("required",),
    ),
    "bench with a time of 0": (
        json.dumps(bench_results()).replace('"ns": ', '"ns": 0, "was": ', 1),
        ("results[0].copies", "exclusiveMinimum"),
    ),
    "log of version 1": (_log(version=1), ("version 1", "reads version 2")),
    "log of no machine": (_log(machine=None), ("line 1: machine: null where an object",)),
    "log of a machine that is none": (
        _log(machine={**good_profile()["machine"], "kernel": []}),
        ("line 1: machine.kernel: an array where a string is expected",),
    ),
    "log that began at no time": (_log(started="yesterday"), ("line 1: started:",)),
    "log with a byte order mark in its middle": (
        _log(_STEP) + "\ufeff" + log_text([_STEP]),
        ("line 3", "not JSON"),
    ),
    "nested deeply": ('{"format": "asterope-bench", "x": ' + "[" * 500 + "]" * 500 + "}", ()),
    "bench of a deep version": (
        json.dumps({**bench_results(), "version": json.loads("[" * 900 + "]" * 900)}),
        (),
    ),
    "log without a whole header": (log_text([log_header()])[:-1], ("no whole first line",)),
    "log with a line that is no JSON": (
        _log(_STEP) + "{]\n" + log_text([_STEP]),
        ("line 3, column 2: not JSON",),
    ),
    "log with a list": (_log(_STEP) + "[]\n", ("line 3", "no JSON object")),
    "log with a time of 0": (_log(_STEP, trial(1024, "hot", "libc", 0, 0)), ("line 3", "time")),
    "log with NaN": (
        _log(_STEP, trial(1024, "hot", "libc", 0, float("nan"))),
        ("line 3", "time"),
    ),
    "log with an unknown workload": (
        _log(_STEP, trial(1024, "lukewarm", "libc", 0, 1)),
        ("line 3",),
    ),
    "log with an unknown candidate": (_log(_STEP, trial(1024, "hot", "<b>", 0, 1)), ("line 3",)),
    "log with a trial of another size": (_log(_STEP, trial(512, "hot", "libc", 0, 1)), ("line 3",)),
    "log with a step of no size": (_log({"step": "pipelines x"}), ("line 2",)),
    "gzip that is cut short": (gzip.compress(b"x" * 99)[:12], ("no whole first line",)),
    "gzip that is damaged": (_DAMAGED, ("damaged gzip",)),
    "gzip of something else": (gzip.compress(b"hello\n"), ("gzipped, but no trial log",)),
    "header alone": (_log(), ("nothing in there to show yet",)),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_get_one_line_and_overwrite_nothing(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, expected = BAD_FILES[name]
    path, out = tmp_path / "input", tmp_path / "report.html"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    out.write_text("the old one")
    assert run(path, "-o", out, "--png", tmp_path / "png") == 2
    line = only_line(capsys)
    assert str(path) in line
    for part in expected:
        assert part in line
    assert out.read_text() == "the old one"
    assert not (tmp_path / "png").exists()


# Arguments, the good profile standing for {}; the exit code, and what is said.
REFUSED = {
    "a missing file": (["absent"], 2, "absent: cannot read it: No such file"),
    "two of a kind": (["{}", "{}"], 2, "a second profile"),
    "an input as output": (["{}", "-o", "{}"], 2, "is an input"),
    "a page that cannot be written": (["{}", "-o", "{}/report.html"], 1, "cannot write"),
    "an unknown option": (["--frob"], 2, "--help"),
    "an option without its value": (["x", "-o"], 2, "--help"),
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


@pytest.mark.parametrize("kind", ["log", "bench"])
def test_files_of_another_machine_are_refused(
    kind: str, profile: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = {**good_profile()["machine"], "fingerprint": "f" * 16}
    other = tmp_path / "other"
    text = json.dumps({**bench_results(), "machine": machine})
    other.write_text(_log(machine=machine) if kind == "log" else text)
    assert run(profile, other, "-o", tmp_path / "r.html") == 2
    line = only_line(capsys)
    assert "another machine" in line and "f" * 16 in line
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (
            "raise ModuleNotFoundError('no', name='matplotlib')",
            ("pip install matplotlib", "apt-get install python3-matplotlib"),
        ),
        (
            "raise ImportError('a screen\\nfull') from ImportError('cannot map it\\nat all')",
            ("matplotlib cannot be loaded: cannot map it",),
        ),
    ],
    ids=["missing", "no memory for it"],
)
def test_without_matplotlib_the_command_says_so(
    profile: Path, repository: Path, tmp_path: Path, reason: str, expected: tuple[str, ...]
) -> None:
    blocked = tmp_path / "matplotlib"
    blocked.mkdir()
    (blocked / "__init__.py").write_text(reason)
    done = subprocess.run(
        [sys.executable, "-m", "asterope.report", profile, "-o", tmp_path / "r.html"],
        env={"PYTHONPATH": f"{tmp_path}:{repository / 'scripts'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert all(part in done.stderr for part in expected)
    assert not (tmp_path / "r.html").exists()


# --- Pictures -------------------------------------------------------------------------------------


def test_throughput_has_a_line_for_every_copy(bench: Path) -> None:
    set_up()
    inputs = read_inputs([str(bench)])
    chart = next(c for c in find_series(inputs).charts if (c.workload, c.threads) == ("cold", 1))
    picture = throughput_picture(chart, inputs.machine, list(PEERS), "a test")
    axes = picture.figure.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    lines = {line.get_label(): line for line in axes.get_lines()}
    for name in PEERS:
        assert list(lines[name].get_xdata()) == list(SIZES)
    cell = next(
        c for c in bench_results()["results"] if (c["workload"], c["size"]) == ("cold", 4096)
    )
    drawn = lines["musl"].get_ydata()[SIZES.index(4096)]
    assert drawn == pytest.approx(4096 / cell["copies"]["musl"]["ns"])
    names = {text.get_text(): text for text in axes.texts}
    assert set(PEERS) <= set(names), "each line is labelled at its end"
    heights = sorted(names[name].xyann[1] for name in PEERS)
    assert min(b - a for a, b in zip(heights, heights[1:])) > 0.02, "no label hides another"
    assert "L1 32 KiB" in names
    assert is_dark_on_light(picture)


def test_every_copy_looks_different(bench: Path) -> None:
    set_up()
    inputs = read_inputs([str(bench)])
    chart = find_series(inputs).charts[0]
    axes = throughput_picture(chart, inputs.machine, list(PEERS), "a test").figure.axes[0]
    looks = [
        (line.get_color(), line.get_linestyle(), line.get_marker(), line.get_linewidth())
        for line in axes.get_lines()
        if line.get_label() in PEERS
    ]
    assert len(set(looks)) == len(PEERS)
    widths = {line.get_label(): line.get_linewidth() for line in axes.get_lines()}
    others = [widths[n] for n in PEERS if n not in ("asterope", "asterope_mt", "glibc")]
    assert min(widths["asterope"], widths["glibc"]) > max(others)


def test_two_suites_of_the_same_cells_are_drawn_once(bench: Path) -> None:
    raw = bench_results()
    cells = [dict(c) for c in raw["results"] if c["suite"] == "sizes" and c["workload"] == "hot"]
    raw["results"] += [{**cell, "suite": "workloads"} for cell in cells[:5]]
    bench.write_text(json.dumps(raw))
    (chart,) = [c for c in find_series(read_inputs([str(bench)])).charts if c.name == "hot"]
    assert (chart.suite, chart.sizes) == ("sizes", list(SIZES))


def test_threads_are_drawn_apart_and_at_the_rate_of_all(bench: Path) -> None:
    charts = find_series(read_inputs([str(bench)])).charts
    chart = next(c for c in charts if c.threads == 2)
    assert chart.name == "threads cold 2 threads"
    cell = next(c for c in bench_results()["results"] if c["threads"] == 2)
    point = chart.copies["asterope"][cell["size"]]
    # from one call that some thread ends to the next
    assert point.gb_per_s == pytest.approx(cell["size"] / cell["copies"]["asterope"]["ns"])


def test_ratios_have_intervals_and_the_noise_floor(bench: Path) -> None:
    set_up()
    inputs = read_inputs([str(bench)])
    series = find_series(inputs)
    charts = [chart for chart in series.charts if chart.suite == "sizes"]
    picture = ratio_picture(charts, inputs.machine, series.source, "glibc 2.36")
    panels = [axes for axes in picture.figure.axes if axes.get_title(loc="left")]
    titles = [panel.get_title(loc="left") for panel in panels]
    assert [re.search(r"\((\w+)\)\n", title)[1] for title in titles] == list(WORKLOADS)
    for panel in panels:
        (bars,) = panel.containers
        assert list(bars.lines[0].get_xdata()) == list(SIZES)
        assert bars.has_yerr
        assert panel.collections, "the band of the noise"
        best = next(li for li in panel.get_lines() if li.get_label() == "best other copy")
        assert max(best.get_ydata()) < 1.6, "copies over threads do not compete"
    assert [row[0] for row in picture.table.rows][:: len(SIZES) - 1] == ["128 B", "32 MiB"]
    assert is_dark_on_light(picture)


def test_the_told_entry_point_is_drawn_beside_the_routine_and_is_no_rival(bench: Path) -> None:
    set_up()
    raw = bench_results()
    raw["copies"] += [{"name": "asterope_cold", "description": "told", "ours": True}]
    for cell in raw["results"]:
        if (cell["suite"], cell["workload"]) == ("sizes", "cold"):
            ratio = {"median": 9.0, "low": 8.9, "high": 9.1}
            cell["copies"]["asterope_cold"] = {
                "ns": cell["copies"]["glibc"]["ns"] / 9,
                "ratio": ratio,
            }
    bench.write_text(json.dumps(raw))
    inputs = read_inputs([str(bench)])
    series = find_series(inputs)
    charts = [chart for chart in series.charts if chart.suite == "sizes"]
    assert {chart.told for chart in charts if chart.workload != "cold"} == {None}
    (cold,) = (chart for chart in charts if chart.workload == "cold")
    assert cold.told == "asterope_cold"
    assert "asterope_cold" not in cold.rivals
    picture = ratio_picture([cold], inputs.machine, series.source, "glibc 2.36")
    lines = {line.get_label(): line for line in picture.figure.axes[0].get_lines()}
    assert set(lines["asterope's entry point for it"].get_ydata()) == {9.0}
    assert max(lines["best other copy"].get_ydata()) < 9


def test_cells_without_sizes_are_drawn_by_label(bench: Path) -> None:
    set_up()
    series = find_series(read_inputs([str(bench)]))
    picture = cells_picture("mix", series.labelled["mix"], list(PEERS), "a test")
    labels = [text.get_text() for text in picture.figure.axes[0].get_yticklabels()]
    assert len(labels) == 16
    assert labels[0] == "mix_l1 fleet by calls"
    assert is_dark_on_light(picture)


def test_misalignments_are_drawn_as_grids(bench: Path, tmp_path: Path) -> None:
    sections = page.make_sections(read_inputs([str(bench)]))
    picture = next(p for s in sections for p in s.pictures if p.name == "grid-misalignment")
    panels = [axes for axes in picture.figure.axes if axes.get_title(loc="left")]
    assert [axes.get_title(loc="left") for axes in panels] == ["4 KiB", "64 KiB"]
    assert [len(axes.texts) for axes in panels] == [12, 12]


def test_the_profile_alone_gives_ratios_and_throughput(profile: Path) -> None:
    charts = find_series(read_inputs([str(profile)])).charts
    by_name = {chart.name: chart for chart in charts}
    assert list(by_name) == list(WORKLOADS)
    # the copy that senses is what the routine takes there
    assert by_name["cold"].copies["asterope"][1 << 20].gb_per_s == 14.5
    assert by_name["cold"].copies["asterope"][128].ratio.median == 1.31
    assert by_name["cold"].copies["glibc"][128].gb_per_s == pytest.approx(128 / 1063)
    assert by_name["cold"].floor[128].low == 1.29


def test_a_size_that_is_still_being_screened_is_not_drawn(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = log_lines(finished=False)
    end = next(i for i, line in enumerate(lines) if line.get("round") == 3 and i > 200)
    path.write_text(log_text(lines[:end]))
    inputs = read_inputs([str(path)])
    assert list(inputs.log.sizes) == list(LOG_SIZES)
    assert [chart.sizes for chart in find_series(inputs).charts] == [[1024], [1024]]


def test_the_heat_map_has_what_was_timed_and_frames_the_winner(log: Path) -> None:
    set_up()
    found = read_inputs([str(log)]).log
    sizes = scored_sizes(found, None)
    assert [s.winner for s in sizes] == [WINNER, WINNER]
    base, plane = plane_of(found.tuples, sizes[0])
    assert base.name == WINNER
    assert set(plane) == {(4, 8), (4, 10), (2, 8), (14, 30)}
    picture = planes_picture(found, sizes)
    panels = [axes for axes in picture.figure.axes if axes.get_title(loc="left")]
    assert [axes.get_title(loc="left").replace("\n", " ") for axes in panels] == [
        f"{size}: YMM, plain loads, non-temporal stores, prefetch T0"
        for size in ("1 KiB", "64 KiB")
    ]
    values = panels[0].collections[0].get_array().reshape(7, 16)  # matplotlib 3.6: all in a row
    assert values.count() == 4, "the others were not timed"
    assert values[1][4] == 0.5, "the winner, at the end of the scale"
    assert values[1][5] == pytest.approx(100 * (1.5 / 1.4 - 1))
    assert values[6][15] == pytest.approx(50)
    (frame,) = panels[0].patches
    assert (frame.get_x(), frame.get_y()) == (4, 1)
    assert is_dark_on_light(picture)


def test_a_winner_without_prefetch_gets_the_best_plane_there_is(tmp_path: Path) -> None:
    lines = log_lines()
    for line in lines:
        if line.get("candidate") == "XMM T T none 0 0":
            line["ns"] /= 2
    path = tmp_path / "log"
    path.write_text(log_text(lines))
    found = read_inputs([str(path)]).log
    (first, _) = scored_sizes(found, None)
    assert first.winner == "XMM T T none 0 0"
    base, plane = plane_of(found.tuples, first)
    assert (base.rt, base.st) == ("XMM", "T") and plane


def test_the_profiles_winner_is_the_one_framed(log: Path, tmp_path: Path) -> None:
    raw = good_profile()
    raw["intervals"][3]["winner"]["tuple"] = {
        **{"rt": "YMM", "lt": "T", "st": "NT", "pt": "T0"},
        **{"ps": 2, "pd": 8},
    }
    path = tmp_path / "profile"
    path.write_text(json.dumps(raw))
    sizes = scored_sizes(read_inputs([str(log)]).log, load_profile(path))
    assert [(s.size, s.winner, s.chosen) for s in sizes] == [
        (1024, "YMM T NT T0 2 8", True),
        (65536, WINNER, False),
    ]


def test_registers_and_stores_are_compared_by_size(log: Path) -> None:
    set_up()
    found = read_inputs([str(log)]).log
    picture = families_picture(found, scored_sizes(found, None))
    assert picture.table.head == ["size", "REP_MOVSB T", "XMM T", "YMM NT"]
    assert picture.table.rows[0] == [
        "1 KiB",
        "REP_MOVSB T T none 0 0: 0.90",
        "XMM T T T1 4 0 TB4 PW8: 1.20",
        f"{WINNER}: 1.50",
    ]
    values = picture.figure.axes[0].collections[0].get_array().reshape(2, 3)
    assert values.tolist() == [pytest.approx([0.9, 1.2, 1.5])] * 2
    assert is_dark_on_light(picture)


@pytest.mark.parametrize("side", ["below", "right"])
def test_a_legend_outside_touches_nothing(side: str) -> None:
    figure = new_figure(8, 4)
    for axes in figure.subplots(1, 2):
        for number in range(3):
            axes.plot([0, 1], [0, number], label=f"copy number {number}")
        axes.set(xlabel="an axis has a label", ylabel="and this one, too")
    handles, labels = axes.get_legend_handles_labels()
    legend_outside(figure, side, handles=handles, labels=labels)
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
    assert not any(axes.get_tightbbox().overlaps(box) for axes in figure.axes)


def test_the_strips_cover_all_sizes_of_the_profile(profile: Path) -> None:
    set_up()
    picture = intervals_picture(load_profile(profile))
    axes = picture.figure.axes[0]
    labels = [text.get_text().replace("\n", " ") for text in axes.get_yticklabels()]
    assert labels[0].endswith("“cached”") and labels[1].endswith("“uncached”")
    assert labels[2:] == [
        "asterope_memcpy_hot",
        "asterope_memcpy_cold",
        "asterope_memcpy_consume",
        "buffers that alias (modulo 4096)",
        "buffers that overlap",
    ]
    first = sorted((p.get_x(), p.get_x() + p.get_width()) for p in axes.patches if p.get_y() < 0)
    assert first[0][0] == 1 and first[-1][1] == 1 << 20
    assert all(a[1] == b[0] for a, b in zip(first, first[1:])), "neither gap nor overlap"
    assert len(picture.table.rows) == 6
    assert is_dark_on_light(picture)


def test_caches_of_instructions_and_odd_ones_are_not_marked() -> None:
    caches = [
        {"level": 1, "type": "instruction", "bytes": 65536},
        {"level": 1, "type": "data", "bytes": 32768},
        {"level": "x", "bytes": 1},
        7,
    ]
    assert cache_sizes({"caches": caches}) == [("L1", 32768)]
    assert cache_sizes({}) == []


# --- Words ----------------------------------------------------------------------------------------


def test_the_noise_is_told_in_words(profile: Path, tmp_path: Path) -> None:
    text = " ".join(search_facts(read_inputs([str(profile)])))
    assert "5,000 rounds were timed. 30 were disturbed and timed again, 3 were disturbed" in text
    assert "another virtual machine took the CPU: 31" in text
    assert "provisional" not in text
    assert "Warning of the search: the machine is loaded" in text
    other = tmp_path / "other"
    other.write_text(json.dumps(incomplete_profile()))
    assert "incomplete" in " ".join(search_facts(read_inputs([str(other)])))


def noisy_bench() -> dict[str, Any]:
    noise = {"rounds": 1200, "repeated": 200, "kept": 70, "provisional": True}
    return {**small_bench(), "noise": {**noise, "disturbed": {"preempted": 270}}}


def test_what_noise_may_have_decided_comes_first_and_is_warned_of(tmp_path: Path, capsys) -> None:
    (tmp_path / "profile.json").write_text(json.dumps(provisional_profile()))
    (tmp_path / "bench.json").write_text(json.dumps(noisy_bench()))
    paths = [tmp_path / "profile.json", tmp_path / "bench.json"]
    ending = "provisional; run again on a quieter machine"
    doubts = [
        f"{DOUBT}: these winners are {ending}",
        "7 % of the rounds stayed disturbed, however often they were repeated (seen: preempted "
        f"270): these figures are {ending}",
    ]
    inputs = read_inputs([str(path) for path in paths])
    assert findings(inputs)[:2] == [f"Warning: {doubt}." for doubt in doubts]
    assert run(*paths, "-o", tmp_path / "page.html") == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"asterope-report: warning: {doubt}" for doubt in doubts]


def test_quiet_figures_are_not_warned_of(profile: Path, tmp_path: Path) -> None:
    bench = noisy_bench()
    bench["noise"]["provisional"] = False
    (tmp_path / "bench.json").write_text(json.dumps(bench))
    assert read_inputs([str(profile), str(tmp_path / "bench.json")]).doubts == []


def test_a_log_of_another_run_is_named_as_such(profile: Path, log: Path, tmp_path: Path) -> None:
    assert "another run" not in " ".join(search_facts(read_inputs([str(profile), str(log)])))
    other = tmp_path / "other"
    lines = log_lines()
    lines[0]["started"] = "2026-11-21T00:00:00Z"
    other.write_text(log_text(lines))
    assert "another run" in " ".join(search_facts(read_inputs([str(profile), str(other)])))


def test_a_run_under_way_says_how_far_it_is(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = log_lines(finished=False)
    path.write_text(log_text(lines)[:-9])
    text = progress(read_inputs([str(path)]).log)
    assert "2 of 3 sizes begun" in text
    assert "last step: pipelines 65536" in text
    assert "last line is not whole" in text


def test_the_best_of_a_cell_is_judged_by_its_noise(bench: Path) -> None:
    def cell_of(asterope: float, other: float, name: str = "musl") -> Any:
        raw = bench_results()
        cell = raw["results"][0]
        copies = cell["copies"]
        for copy in copies.values():
            copy.pop("ratio", None)
        for copy, ratio in (("asterope", asterope), (name, other)):
            copies[copy]["ratio"] = {"median": ratio, "low": ratio, "high": ratio}
        cell["noise_floor"] = {"median": 1, "low": 0.98, "high": 1.01}
        bench.write_text(json.dumps(raw))
        return read_inputs([str(bench)]).bench.cells[0]

    assert standing(cell_of(1.30, 1.32)) == (1.30, True)
    assert standing(cell_of(1.30, 1.34)) == (1.30, False)
    assert standing(cell_of(0.97, 0.5)) == (0.97, False), "libc itself is a rival"
    assert standing(cell_of(1.3, 2.0, "avx_threads"), THREADED) == (1.3, True)


def test_the_best_of_a_cell_is_judged_by_paired_intervals_where_there_are_some(
    bench: Path,
) -> None:
    def leads(low: float) -> bool:
        raw = bench_results()
        cell = raw["results"][0]
        cell["noise_floor"] = {"median": 1, "low": 0.98, "high": 1.01}
        for name, timing in cell["copies"].items():
            if name != "asterope":
                timing["versus"] = {"median": 0.9, "low": 0.8, "high": 1}
        cell["copies"]["musl"]["versus"] = {"median": 1.5, "low": low, "high": 2}
        bench.write_text(json.dumps(raw))
        place = standing(read_inputs([str(bench)]).bench.cells[0])
        assert place is not None
        return place[1]

    assert leads(1.01)
    assert not leads(1.03)


# --- The page -------------------------------------------------------------------------------------


class _Page(html.parser.HTMLParser):
    """What a page has, by element."""

    VOID = ("meta", "img", "br", "link")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: dict[str, list[dict[str, str]]] = {}
        self.text = ""
        self.feed(text)
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
    profile: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = tmp_path / "bench"
    bench.write_text(json.dumps(small_bench()))
    for name in ("one", "two"):
        out, png = tmp_path / f"{name}.html", tmp_path / name
        assert run(profile, log, bench, "-o", out, "--png", png) == 0
    text = (tmp_path / "one.html").read_text()
    assert text == (tmp_path / "two.html").read_text()
    found = _Page(text)
    images = found.found["img"]
    assert len(images) == len(list((tmp_path / "one").iterdir())) >= 7
    for image in images:
        assert image["src"].startswith("data:image/svg+xml;base64,")
        assert len(image["alt"]) > 40
    assert not {"script", "link", "iframe"} & set(found.found)
    assert re.findall(r"(?:src|href)=\"(?!data:|#)", text) == [], "nothing from elsewhere"
    assert found.found["html"] == [{"lang": "en"}]
    assert any(meta.get("name") == "viewport" for meta in found.found["meta"])
    assert len(found.found["h1"]) == 1
    assert "AMD Ryzen 7" in found.text and "Fingerprint" in found.text
    assert "Left out: folly (no such package)." in found.text
    assert capsys.readouterr().out.count("wrote ") == 2
    for path in (tmp_path / "one").iterdir():
        content = path.read_bytes()
        assert content.startswith(PNG) and len(content) > 5000
        assert content == (tmp_path / "two" / path.name).read_bytes()


def test_a_page_of_a_log_alone_says_what_is_there_so_far(tmp_path: Path) -> None:
    path, out = tmp_path / "log", tmp_path / "r.html"
    lines = log_lines(finished=False)
    path.write_text(log_text(lines)[:-9])
    assert run(path, "-o", out) == 0
    found = _Page(out.read_text())
    assert "The search has not come to its end: 2 of 3 sizes begun" in found.text
    assert {section.get("id") for section in found.found["section"]} == {
        *("ratio", "throughput", "search", "machine")
    }


def test_what_inputs_say_cannot_become_markup(tmp_path: Path) -> None:
    raw = small_bench()
    evil = "<script>alert(1)</script>"
    raw["copies"][3]["description"] = evil
    raw["left_out"] = [{"name": evil, "reason": "$\\frac{1}{$"}]
    raw["copies"].append({"name": "<b>$x_1$"})
    for cell in raw["results"]:
        cell["copies"]["<b>$x_1$"] = cell["copies"]["musl"]
    path, out = tmp_path / "bench", tmp_path / "r.html"
    path.write_text(json.dumps(raw))
    assert run(path, "-o", out) == 0
    found = _Page(out.read_text())
    assert "script" not in found.found and "b" not in found.found
    assert evil in found.text


def test_a_page_without_a_machine_says_so(repository: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    assert run(repository / "generated/reference/xeon-gold-5218.json", "-o", out) == 0
    assert "names no machine" in out.read_text()


def test_a_bad_input_is_an_exception_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^[^\n]+$"):
        read_inputs([str(tmp_path / "two\nlines")])
