"""The command asterope-report: the files that it reads, its refusals, its words."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_errors import only_line_of
from profile_samples import DOUBT, good_profile, incomplete_profile, provisional_profile
from report_samples import (
    CANDIDATES,
    LOG_SIZES,
    PEERS,
    THREADED,
    WINNER,
    Made,
    bench_results,
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

from asterope.report import page
from asterope.report.sample_log import leader, scores
from asterope.report.series import cells_of
from asterope.report.words import findings, machine_facts, search_facts, standing

# matplotlib warns where a picture has no room for what is in it
pytestmark = pytest.mark.filterwarnings("error::UserWarning")
only_line = partial(only_line_of, "asterope-report")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_inputs_are_told_apart_by_content(made: Made, order, tmp_path: Path) -> None:
    files = enumerate((made.profile, made.log, made.bench))
    paths = [path.rename(tmp_path / f"{number}") for number, path in files]
    inputs = read(*(paths[number] for number in order))
    assert inputs.profile is not None and len(inputs.profile.of("pipelines")) == 6
    assert inputs.log is not None and list(inputs.log.sizes) == list(LOG_SIZES)
    assert [copy["name"] for copy in inputs.bench["copies"]] == list(PEERS)


def test_a_candidates_ratio_is_taken_within_the_round(made: Made) -> None:
    at_size = read(made.log).log.sizes[1024]
    for name, ratio in CANDIDATES.items():  # though every round is slower than the one before
        for workload in ("hot", "cold"):
            assert at_size[name][workload] == pytest.approx([ratio] * 9)
    assert leader(at_size, {"hot": 1, "cold": 1}) == WINNER


def first_line(lines: list[dict], **wanted: str) -> int:
    return next(i for i, line in enumerate(lines) if wanted.items() <= line.items())


def test_a_round_that_was_disturbed_and_timed_again_counts_once(made: Made) -> None:
    lines = log_lines(rounds=1)
    at = first_line(lines, candidate="libc")
    lost = [sample(1024, "hot", "libc", 0, 1e6), sample(1024, "hot", WINNER, 0, 1.0)]
    lines[at:at] = [*lost, {"hit": ["steal"]}]
    log = read(made.put(lines)).log
    assert log.sizes[1024][WINNER]["hot"] == pytest.approx([1.5])
    assert log.hits == {"steal": 1}


def test_the_leader_is_none_that_was_timed_seldom(made: Made) -> None:
    lines = log_lines(rounds=9)
    lucky, both = "ZMM T T none 0 0", {"hot": 1, "cold": 1}
    for workload in both:
        at = first_line(lines, candidate=WINNER, workload=workload)
        lines.insert(at, sample(1024, workload, lucky, 0, 1.0))
    at_size = read(made.put(lines)).log.sizes[1024]
    assert scores(at_size, both)[lucky] > 50
    assert leader(at_size, both) == WINNER


def _log(*lines: dict[str, Any], **header: Any) -> str:
    return log_text([log_header(**header), *lines])


def _bench(**changes: Any) -> dict[str, Any]:
    return {**bench_results(), **changes}


_NO_MACHINE = {**good_profile()["machine"], "kernel": []}
_NO_TIME = json.dumps(bench_results()).replace('"ns": ', '"ns": 0, "was": ', 1)
_BACKWARDS = {"value": 0.1, "low": 0.2, "high": 0.1}
_PROVE_AGAIN = "run asterope-prove --json again"
_BELOW_0 = json.loads(json.dumps(whole_runs()).replace('"low": 1.2', '"low": -1.2'))
_STEP = {"step": "pipelines 1024"}
_WITH_STEP = _log(_STEP)
# Name -> a file, and what its one line of an error has.
BAD_FILES: dict[str, tuple[Any, str]] = {
    "empty": ("", "empty"),
    "other text": ("hello\n", "not JSON"),
    "other JSON": ({"format": "x"}, "a profile, sample log, bench results, whole runs or trial"),
    "binary": (b"\x7fELF\x00\xff" * 9, "UTF-8"),
    "bench of version 1": (_bench(version=1), "version 1"),
    "bench of no results": (_bench(results=None), "results"),
    "bench with a time of 0": (_NO_TIME, "results[0].copies"),
    "log of version 1": (_log(version=1), "reads version 2"),
    "riscv64": (_log(architecture="riscv64"), 'line 1: architecture: "riscv64" is none of x86_64'),
    "no machine": (_log(machine=_NO_MACHINE), "line 1: machine.kernel: an array where a string is"),
    "log that began at no time": (_log(started="yesterday"), "line 1: started:"),
    "log with no JSON": (_WITH_STEP + "{]\n" + log_text([_STEP]), "line 3, column 2: not JSON"),
    "log with a time of 0": (_log(_STEP, sample(1024, "hot", "libc", 0, 0)), "line 3"),
    "log with NaN": (_log(_STEP, sample(1024, "hot", "libc", 0, float("nan"))), "line 3"),
    "log with a sample of another size": (_log(_STEP, sample(512, "hot", "libc", 0, 1)), "line 3"),
    "log with a step of no size": (_log({"step": "pipelines x"}), "line 2"),
    "gzipped": (gzip.compress(b"x"), "is gzipped: unpack it first"),
    "header alone": (_log(), "nothing in there to show yet"),
    "whole runs with a ratio below 0": (_BELOW_0, _PROVE_AGAIN),
    **{
        f"a trial whose {field} is {value}": ({**program_trial(), field: value}, _PROVE_AGAIN)
        for field, value in (
            ("gain", "much"),
            ("gain", {**_BACKWARDS, "low": float("nan")}),
            ("gain", {**_BACKWARDS, "high": float("inf")}),
            ("wall_gain", _BACKWARDS),
            ("places", [{}]),
        )
    },
}


@pytest.mark.parametrize(("content", "expected"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files_get_one_line_and_overwrite_nothing(made: Made, content, expected, capsys):
    path, out = made.put(content), made.put("the old one", "report.html")
    assert run(path, "-o", out, "--png", out.with_name("png")) == 2
    line = only_line(capsys)
    assert str(path) in line and expected in line
    assert out.read_text() == "the old one"
    assert not out.with_name("png").exists()


def test_a_bench_without_results_is_not_called_a_search(made: Made, capsys) -> None:
    assert run(made.put(_bench(results=[])), "-o", made.folder / "report.html") == 2
    assert only_line(capsys).strip().endswith("nothing in there to show yet")


ANOTHER_MACHINE = f"another machine (fingerprint {'f' * 16})"
# Arguments, and what is said.
REFUSED = {
    "absent": "absent: cannot read it: No such file",
    "profile.json profile.json": "a second profile",
    "profile.json -o profile.json": "is an input",
    "profile.json -o profile.json/report.html": "profile.json is no folder",
    "profile.json log": ANOTHER_MACHINE,
    "profile.json bench": ANOTHER_MACHINE,
}


@pytest.mark.parametrize(("arguments", "said"), REFUSED.items())
def test_what_cannot_be_done_overwrites_nothing(made: Made, arguments, said, capsys, monkeypatch):
    monkeypatch.chdir(made.profile.parent)
    other = {**good_profile()["machine"], "fingerprint": "f" * 16}
    files = {made.profile, made.put(_log(machine=other), "log")}
    files.add(made.put(_bench(machine=other), "bench"))
    monkeypatch.setattr(page, "make_sections", None)  # which takes seconds
    assert run(*arguments.split()) == 2
    assert said in only_line(capsys)
    assert {*made.folder.iterdir()} == files
    assert json.loads(made.profile.read_text()) == good_profile()


def test_a_picture_replaces_no_input(made: Made, capsys) -> None:
    path = made.put(program_trial(), "trial.png")
    whole, out = path.read_bytes(), made.folder / "report.html"
    assert run(path, "-o", out, "--png", made.folder) == 2
    assert "trial.png: is an input, and would be lost: choose another --png" in only_line(capsys)
    assert path.read_bytes() == whole and not out.exists()


def facts(*paths: Path) -> str:
    return " ".join(search_facts(read(*paths)))


def test_noise_memory_modules_and_another_run_are_told_in_words(made: Made) -> None:
    text = facts(made.profile, made.log)
    assert "5,000 rounds were timed. 30 were disturbed and timed again, 3 were disturbed" in text
    assert "another virtual machine took the CPU: 31" in text
    assert "provisional" not in text and "another run" not in text
    assert "Warning of the search: the machine is loaded" in text
    assert "incomplete" in facts(made.put(incomplete_profile()))
    other = made.put([{**log_lines()[0], "started": "2026-11-21T00:00:00Z"}, *log_lines()[1:]])
    assert "another run" in facts(made.profile, other)
    for memory, words in (
        (good_profile()["machine"]["memory"], "8 x DDR5, 4800 MT/s, 8 channels"),
        ({"edac_channels": 2}, "2 channels"),
        ({"modules": 1}, "1 x of unknown type"),
        ("many", None),
    ):
        assert dict(machine_facts({"memory": memory})).get("Memory modules") == words


def test_winners_that_another_copy_beats_are_not_called_as_good(made: Made) -> None:
    raw = good_profile()
    proof = raw["choices"][2]["evidence"]["proof"]
    raw["choices"][2]["evidence"]["proof"] = {**proof, "lead": dict.fromkeys(proof["lead"], 0.8)}
    said = "4 winners 0 lead beyond doubt (95 %), {} have others that are as good"
    for path, tied in ((made.profile, 4), (made.put(raw), 3)):
        assert said.format(tied) in facts(path)
        beaten = "Slower than the runner-up at their size: 1;" in facts(path)
        assert beaten == (tied == 3)


def test_what_noise_may_have_decided_comes_first_and_is_warned_of(made: Made, capsys) -> None:
    reason, bench = "7 % of the rounds stayed disturbed", small_bench()
    bench["noise"].update(rounds=1200, repeated=200, kept=70, provisional=True, reason=reason)
    noisy = made.put(provisional_profile(), "noisy.json")
    paths = [noisy, made.put(bench, "bench.json")]
    ending = "provisional; run again in a quieter hour, or on another CPU (--cpu N)"
    doubts = [f"{DOUBT}: these winners are {ending}", f"{reason}: these figures are {ending}"]
    assert findings(read(*paths))[:2] == [f"Warning: {doubt}." for doubt in doubts]
    assert run(*paths, "-o", noisy.with_name("page.html")) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"asterope-report: warning: {doubt}" for doubt in doubts]
    del bench["noise"]["reason"]
    bench["noise"]["provisional"] = False
    assert read(made.profile, made.put(bench)).doubts == []


@pytest.mark.parametrize(
    ("asterope", "other", "name", "stands"),
    [
        (1.30, 1.32, "musl", (1.30, True)),
        (1.30, 1.34, "musl", (1.30, False)),
        (0.97, 0.5, "musl", (0.97, False)),  # libc itself is a rival
        (1.30, 2.0, "avx_threads", (1.30, True)),
    ],
)
def test_the_best_of_a_cell_is_judged_by_its_noise(made, asterope, other, name, stands) -> None:
    raw = bench_results()
    cell = raw["results"][0]
    for copy in cell["copies"].values():
        copy.pop("versus", None)
    for copy, ratio in (("asterope", asterope), (name, other), ("glibc", 1.0)):
        for field, value in (("ratio", ratio), ("versus", ratio / asterope)):
            cell["copies"][copy][field] = dict.fromkeys(("median", "low", "high"), value)
    cell["noise_floor"] = {"median": 1, "low": 0.98, "high": 1.01}
    assert standing(cells_of(read(made.put(raw)).bench)[0], THREADED) == stands
