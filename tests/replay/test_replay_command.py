"""The subcommands replay and thin of asterope-tune: tables, files, exit codes, one-line errors."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command_errors import only_error_of
from trial_logs import calibrations, log_header, log_text, trial

SIZES = (1024, 65536)
NAMES = [
    f"{rt} T {st} {pt} {ps} {pd}"
    for rt in ("R64", "XMM")
    for st in ("T", "NT")
    for pt in ("T0", "T1", "NTA")
    for ps in (2, 8, 12)
    for pd in (0, 4, 12, 16)
]
NAMES += [f"{rt} T {st} none 0 0" for rt in ("R64", "XMM") for st in ("T", "NT")]
BEST = "XMM T NT T1 8 4"  # which every strategy looks at
ROW = re.compile(
    r"(\w+) +(\d+) +(\d[\d a-z]*?) +(\d+\.\d\d) % +(\d+\.\d\d) % \((.*?)\)"
    r" +(\d+\.\d\d) % \(.*?\) +(\d+\.\d\d) % \(.*?\) +(\d+) %"
)

Run = Callable[..., subprocess.CompletedProcess]


def header() -> dict:
    """Of an exhaustive search for one workload, on a CPU without any feature."""
    return log_header(
        {
            "rigor": "exhaustive",
            "workload": "hot",
            "weights": {"hot": 1},
            "sizes": list(SIZES),
            "space": "paper",
            "sensing": False,
        },
        machine={
            "cpu": {"brand": "Made Up", "features": []},
            "caches": [],
            "libc": "glibc 2.36",
            "libc_thresholds": {},
        },
        candidates=len(NAMES),
        sensing=False,
    )


def lines() -> list[dict]:
    """Each candidate thrice at each size, in heats of 24 with libc; the best one is 1.25 x libc."""
    out = [header(), *calibrations(SIZES, ["hot"])]
    for size in SIZES:
        out.append({"step": f"pipelines {size}"})
        for i, name in enumerate(NAMES * 3):
            number = i // 24
            wanted = ["libc", name] if i % 24 == 0 else [name]
            for candidate in wanted:
                # some thousandths up and down, so that no two are the same
                ns = size * (0.8 if candidate == BEST else 1) * (1 + 0.001 * (i * 7 % 5))
                us = round(ns / 100 + 5, 3)
                out.append({**trial(size, "hot", candidate, number, round(ns, 3)), "us": us})
    out.append({"step": "small copies"})
    return out


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_bytes(log_text(lines()).encode())
    return path


def rows(done: subprocess.CompletedProcess) -> dict[str, tuple]:
    assert done.returncode == 0, done
    found = [ROW.fullmatch(line) for line in done.stdout.splitlines()]
    return {match[1]: match.groups()[1:] for match in found if match}


def only_error(done: subprocess.CompletedProcess) -> str:
    assert done.stdout == ""
    return only_error_of("asterope-tune", done, 2)


# --- replay ---------------------------------------------------------------------------------------


def test_replay_prints_a_row_a_strategy(tune: Run, log: Path) -> None:
    done, again = (tune("replay", log, "--json", name) for name in ("one", "two"))
    assert done.stderr == ""
    assert done.stdout == again.stdout
    assert log.with_name("one").read_bytes() == log.with_name("two").read_bytes()
    table = rows(done)
    assert list(table) == ["exhaustive", "standard", "quick"]
    trials = [int(row[0]) for row in table.values()]
    assert trials == sorted(trials, reverse=True)
    for _, _, mean, worst, _, difference, in_a_situation, same in table.values():
        assert float(mean) <= float(worst)
        assert float(difference) < 30
        assert float(in_a_situation) < 30
        assert int(same) <= 100
    assert "hot" in done.stdout.splitlines()[0]
    assert "10 seeds" in done.stdout.splitlines()[0]


def test_replay_runs_what_is_asked_for(tune: Run, log: Path, tmp_path: Path) -> None:
    done = tune("replay", log, "--rigor", "quick,exhaustive", "--seeds", 2, "--json", "r.json")
    assert list(rows(done)) == ["quick", "exhaustive"]
    figures = json.loads((tmp_path / "r.json").read_text())
    assert figures["format"] == "asterope-replay"
    assert figures["seeds"] == 2
    assert figures["log"] == header()
    for strategy in figures["strategies"]:
        assert [size["size"] for size in strategy["sizes"]] == list(SIZES)
        assert (strategy["regret"]["worst"], strategy["regret"]["mean"]) == (0, 0)
        winners = [winner for size in strategy["sizes"] for winner in size["winners"]]
        assert len(winners) == 4
        assert {(winner["candidate"], winner["regret"]) for winner in winners} == {(BEST, 0)}


def test_replay_reads_gzipped_logs(tune: Run, log: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    assert tune("replay", packed).stdout == tune("replay", log).stdout


def test_replay_warns_of_a_torn_last_line_and_goes_on(tune: Run, log: Path) -> None:
    whole = tune("replay", log, "--rigor", "quick")
    with log.open("a") as file:
        file.write('{"step":"pipel')
    torn = tune("replay", log, "--rigor", "quick")
    assert torn.stdout == whole.stdout
    assert torn.all_stderr == f"warning: log {log}: its torn last line is left out\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--workload", "cold"), "without cold"),
        (("--workload", "lukewarm"), "lukewarm"),
        (("--weights", "hot=1,cold=1"), "without cold"),
        (("--weights", "hot=nan"), "hot=nan"),
        (("--space", "extended"), "choose --space paper"),
        (("--space", "large"), "large"),
        (("--rigor", "quick,hasty"), "hasty"),
        (("--seeds", "0"), "1 to 1000"),
        (("--seeds", "-1"), "whole number"),
        (("--seeds", "many"), "whole number"),
        (("--json", "missing/r.json"), "missing/r.json"),
    ],
)
def test_replay_refuses_in_one_line_what_it_cannot_serve(
    tune: Run, log: Path, arguments: tuple[str, ...], says: str
) -> None:
    assert says in only_error(tune("replay", log, *arguments))


def changed(where: int, field: str, value: object) -> bytes:
    content = lines()
    content[where][field] = value
    return log_text(content).encode()


NO_LOGS = {
    "empty": (b"", "is empty"),
    "binary": (b"\x7fELF\x02\x01\x01\x00\x00\n\x00", "is no text"),
    "other JSON": (b'{"name": "foreign"}\n', "is no trial log"),
    "text": (b"hello\n", "is no trial log"),
    "a damaged gzip": (gzip.compress(b"hello\n" * 99)[:-20] + b"damaged" * 9, "log"),
    "NaN": (changed(6, "ns", float("nan")), "line 7 column"),
    "infinity": (changed(6, "ns", float("inf")), "line 7 column"),
    "time below 0": (changed(6, "ns", -5), "no time above 0"),
    "time of 0": (changed(6, "ns", 0), "no time above 0"),
    "cost below 0": (changed(6, "us", -1), "no time above 0"),
    "unknown workload": (changed(6, "workload", "warm"), "unknown workload 'warm'"),
    "unknown candidate": (
        changed(6, "candidate", "ZMM T T none 0 0"),
        "'ZMM T T none 0 0' is none that this version has",
    ),
    "version 1": (changed(0, "version", 1), "version 1"),
    "quick": (changed(0, "options", {**header()["options"], "rigor": "quick"}), "rigor quick"),
}


@pytest.mark.parametrize("command", [("replay",), ("thin", "-o", "out.gz")], ids=lambda c: c[0])
@pytest.mark.parametrize(("content", "says"), NO_LOGS.values(), ids=NO_LOGS)
def test_logs_that_are_none_or_make_no_sense_are_refused(
    tune: Run, tmp_path: Path, command: tuple[str, ...], content: bytes, says: str
) -> None:
    bad = tmp_path / "bad"
    bad.write_bytes(content)
    name, *options = command
    line = only_error(tune(name, bad, *options))
    assert says in line
    assert str(bad) in line
    assert not (tmp_path / "out.gz").exists()


def test_a_missing_log_or_a_folder_is_refused(tune: Run, tmp_path: Path) -> None:
    assert "No such file" in only_error(tune("replay", tmp_path / "none"))
    assert "Is a directory" in only_error(tune("replay", tmp_path))
    assert "LOG" in only_error(tune("replay"))


# --- thin -----------------------------------------------------------------------------------------


def test_thin_makes_a_small_log_that_replays_alike(tune: Run, log: Path, tmp_path: Path) -> None:
    done = tune("thin", log, "-o", "thin.gz")
    assert (done.returncode, done.stderr) == (0, "")
    thin = tmp_path / "thin.gz"
    assert done.stdout == (
        f"wrote thin.gz: 2 sizes, {len(NAMES)} candidates, {thin.stat().st_size} bytes\n"
    )
    assert thin.stat().st_size < log.stat().st_size / 20
    first = json.loads(gzip.decompress(thin.read_bytes()).splitlines()[0])
    assert first == {**header(), "thinned": {"samples": 8}}
    # no candidate has more than 8 samples, so nothing but the order of its samples is lost
    whole, small = rows(tune("replay", log)), rows(tune("replay", thin))
    assert list(whole) == list(small)
    for name in whole:
        assert float(small[name][3]) == pytest.approx(float(whole[name][3]), abs=0.5)


def test_thin_keeps_the_sizes_and_samples_asked_for(tune: Run, log: Path, tmp_path: Path) -> None:
    done = tune("thin", log, "-o", "thin.gz", "--sizes", "64K", "--samples", 2)
    assert done.returncode == 0
    content = gzip.decompress((tmp_path / "thin.gz").read_bytes()).splitlines()
    _, names, *fields = map(json.loads, content)
    assert names["names"] == sorted(NAMES)
    (field,) = fields
    assert (field["size"], field["workload"], field["calls"]) == (65536, "hot", 10)
    assert {len(samples) for samples in field["candidates"]} == {2}


def test_thin_writes_the_same_bytes_each_time_and_takes_its_own_work(
    tune: Run, log: Path, tmp_path: Path
) -> None:
    for name in ("one.gz", "two.gz"):
        tune("thin", log, "-o", name)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    assert tune("thin", "one.gz", "-o", "two.gz", "--samples", 1).returncode == 0
    fields = gzip.decompress((tmp_path / "two.gz").read_bytes()).splitlines()[2:]
    assert {len(one) for one in json.loads(fields[0])["candidates"]} == {1}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--output"),
        (("-o", ""), "without a name"),
        (("-o", "missing/thin.gz"), "missing/thin.gz"),
        (("-o", "thin.gz", "--sizes", "4K"), "has no size 4 KiB"),
        (("-o", "thin.gz", "--sizes", "4X"), "4X"),
        (("-o", "thin.gz", "--samples", "0"), "at least 1"),
        (("-o", "thin.gz", "--samples", "some"), "whole number"),
    ],
)
def test_thin_refuses_in_one_line(
    tune: Run, log: Path, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    assert says in only_error(tune("thin", log, *arguments))
    assert not (tmp_path / "thin.gz").exists()


@pytest.mark.slow
def test_the_recording_that_ships_can_be_replayed(
    tune: Run, repository: Path, tmp_path: Path
) -> None:
    recording = repository / "generated" / "recordings" / "zen5-extended.trials.gz"
    options = ["replay", recording, "--rigor", "quick", "--seeds", "1"]
    first = tune(*options, "--json", "figures.json")
    assert (first.returncode, first.stderr) == (0, "")
    assert tune(*options).stdout == first.stdout
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["space"] == "extended"
    (quick,) = figures["strategies"]
    # Of the whole recording: each size has a winner, and none was chosen at random.
    assert len(quick["sizes"]) == 6
    assert quick["regret"]["mean"] < 0.05
