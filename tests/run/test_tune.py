"""The command asterope-tune: its exit codes, its one-line errors, its files, and what it prints."""

from __future__ import annotations

import ctypes
import json
import math
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from asterope import __version__
from asterope.profile import load_profile
from asterope.spaces import overlapping_copies, pipelines, small_copies
from command_errors import without_warnings

pytestmark = pytest.mark.one_cpu

SIZES = ("--sizes", "128,1K", "--workload", "hot")
EXTENDED = ("--rigor", "standard", *SIZES)  # quick does not compare the axes
QUICK = ("--rigor", "quick", *SIZES, "--space", "paper")
MIXES = {"mix_l1", "mix_l2", "mix_l3", "mix_l1_read", "mix_l2_read", "mix_l3_read"}
FIXED = {"fixed", "fixed_read"}
PAGE_ENDS = {"page_end", "page_end_read"}
MEASURED = {"hot", "hot_read", "cold", "consume", "produce", "fetch"}
AXES = {"tb", "pi", "pw", "dir", "movdir64b"}
ROUTINE = {"asterope_memcpy.c", "asterope_memcpy.h"}
OLD = "an earlier profile"


@dataclass
class Outcome:
    """What a run left: `errors` are the lines on stderr but for warnings about the machine."""

    code: int
    stdout: str
    stderr: str

    @property
    def errors(self) -> list[str]:
        return without_warnings(self.stderr).splitlines()


@pytest.fixture(scope="session")
def program(build_dir: Path) -> Path:
    return build_dir / "asterope-tune"


@pytest.fixture
def tune(program: Path, tmp_path: Path) -> Callable[..., Outcome]:
    """Runs asterope-tune in an empty folder."""

    def run(*arguments: object, **options: object) -> Outcome:
        settings = {"cwd": tmp_path, "timeout": 120, **options}
        command = [str(argument) for argument in (settings.pop("program", program), *arguments)]
        done = subprocess.run(command, capture_output=True, text=True, **settings)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


def only_error(outcome: Outcome, code: int) -> str:
    """The one line that explains the exit code."""
    assert outcome.code == code, outcome
    assert len(outcome.errors) == 1, outcome
    assert outcome.errors[0].startswith("asterope-tune: ")
    assert outcome.errors[0].isprintable()
    return outcome.errors[0]


@dataclass
class Tuned:
    folder: Path
    outcome: Outcome

    @property
    def profile(self) -> dict:
        return json.loads((self.folder / "asterope-profile.json").read_text())

    def trials(self) -> list[dict]:
        lines = (self.folder / "trials.jsonl").read_text().splitlines()
        return [figure for figure in map(json.loads, lines) if "ns" in figure]


@pytest.fixture(scope="module")
def tuned(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    """One complete run, log and routine included."""
    folder = tmp_path_factory.mktemp("tuned")
    done = subprocess.run(
        [program, *EXTENDED, "--verbose", "--seed", "7", "--log", "trials.jsonl"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return Tuned(folder, Outcome(done.returncode, done.stdout, done.stderr))


# --- A whole run ----------------------------------------------------------------------------------


def test_a_run_writes_profile_routine_and_log(tuned: Tuned) -> None:
    assert tuned.outcome.code == 0
    assert tuned.outcome.errors == []
    names = {path.name for path in tuned.folder.iterdir()}
    assert names == {"asterope-profile.json", "trials.jsonl"} | ROUTINE


def test_the_profile_fits_the_schema(tuned: Tuned) -> None:
    profile = load_profile(tuned.folder / "asterope-profile.json")
    assert [interval.size for interval in profile.intervals] == [128, 1024]
    assert 128 <= profile.intervals[0].up_to < profile.intervals[1].up_to == 1024
    assert profile.measured


def test_the_profile_says_how_it_was_found(tuned: Tuned) -> None:
    search = tuned.profile["search"]
    assert search["tool_version"] == __version__
    assert (search["rigor"], search["workload"], search["space"]) == ("standard", "hot", "extended")
    assert search["weights"] == {"hot": 1}
    assert set(search["axes"]) <= AXES  # sensing is for mixes
    assert {"tb", "dir"} <= set(search["axes"])  # no pages fit side by side in 1 KiB
    assert search["extended_candidates"] > 0
    assert "source_map" not in search
    assert "intents" not in tuned.profile  # it is for one workload itself
    assert search["seed"] == 7
    assert search["cpu"] in os.sched_getaffinity(0)
    assert search["started"] <= search["finished"]
    assert search["invalid"] == []


def test_each_interval_has_winner_runners_up_and_noise_floor(tuned: Tuned) -> None:
    for interval in tuned.profile["intervals"]:
        assert set(interval["noise_floor"]) == MEASURED
        assert 4 <= len(interval["runners_up"]) <= 5
        for entry in (interval["winner"], *interval["runners_up"]):
            assert set(entry["workloads"]) == MEASURED  # what a choice costs elsewhere
            for measured in entry["workloads"].values():
                ratio = measured["ratio"]
                assert ratio["low"] <= ratio["median"] <= ratio["high"]
                rate = interval["size"] / measured["ns"]
                assert measured["gb_per_s"] == pytest.approx(rate, rel=1e-4)
            hot = entry["workloads"]["hot"]
            assert entry["ratio"] == pytest.approx(hot["ratio"]["median"], rel=1e-4)


def test_each_interval_has_what_each_axis_brought(tuned: Tuned) -> None:
    for interval in tuned.profile["intervals"]:
        assert set(interval["axes"]) == {"hot"}
        # up to 256 bytes no axis acts
        expected = {"paper"} if interval["size"] == 128 else {"paper", "tb", "dir"}
        assert expected <= set(interval["axes"]["hot"]) <= AXES | {"paper"}
        for best in interval["axes"]["hot"].values():
            assert set(best["workloads"]) == MEASURED


def test_the_log_has_the_header_and_every_trial(tuned: Tuned) -> None:
    lines = (tuned.folder / "trials.jsonl").read_text().splitlines()
    header, *figures = (json.loads(line) for line in lines)
    trials = [figure for figure in figures if "ns" in figure]
    assert header["format"] == "asterope-trials"
    assert header["machine"] == tuned.profile["machine"]
    assert header["seed"] == 7
    assert len(trials) == tuned.profile["search"]["trials"]
    large = [trial for trial in trials if trial["size"]]
    # from 512 bytes on, where buffers alias
    expected = {(size, workload) for size in (128, 1024) for workload in MEASURED}
    expected.add((1024, "aliased"))
    found = {(trial["size"], trial["workload"]) for trial in large}
    assert found >= expected
    for size, workload in found - expected:  # where the two winners change places
        assert 128 < size < 1024
        assert workload == "hot"
    small = [trial for trial in trials if not trial["size"]]  # they are of many sizes
    assert {trial["workload"] for trial in small} == MIXES | FIXED | PAGE_ENDS | {"overlapping"}
    names = {copy.name for copy in small_copies.small_tuples()}
    names |= {copy.name for copy in overlapping_copies.overlapping_tuples()}
    assert {trial["candidate"] for trial in small} <= names | {"libc"}
    assert all(trial["ns"] > 0 and trial["us"] > 0 for trial in trials)
    calibrations = [figure for figure in figures if "calls" in figure]
    assert {(one["size"], one["workload"]) for one in calibrations} >= expected - {
        (1024, "aliased")
    }
    steps = [figure["step"] for figure in figures if "step" in figure]
    assert steps[:3] == ["calibration", "pipelines 1024", "small copies"]
    assert steps[3:5] == ["overlapping buffers", "pipelines 128"]
    assert len(set(steps)) == len(steps)
    assert figures[-1]["finished"] == tuned.profile["search"]["finished"]


def test_overlapping_buffers_have_a_copy_and_all_are_told(tuned: Tuned) -> None:
    found = tuned.profile["overlapping"]
    features = set(tuned.profile["machine"]["cpu"]["features"])
    tuples = overlapping_copies.overlapping_tuples()
    expected = [copy for copy in tuples if set(copy.needs) <= features]
    entries = [found["winner"], *found["runners_up"]]
    copies = [overlapping_copies.OverlappingTuple(**entry["tuple"]) for entry in entries]
    assert sorted(copies, key=str) == sorted(expected, key=str)
    for entry in entries:
        assert entry["ratio"] == entry["workloads"]["overlapping"]["ratio"]["median"]
    routine = (tuned.folder / "asterope_memcpy.c").read_text()
    assert f"void asterope_move_upwards_{copies[0].symbol}(void)\n" in routine
    assert "Overlapping buffers  " in tuned.outcome.stdout


def name_of(fields: dict) -> str:
    """As the log has it: what is not the paper's stands behind."""
    tuple_ = pipelines.Tuple(**fields)
    name = " ".join(str(fields[key]) for key in ("rt", "lt", "st", "pt", "ps", "pd"))
    for axis, default in (("tb", 2), ("pi", 1), ("pw", 0)):
        value = getattr(tuple_, axis)
        name += f" {axis.upper()}{value}" * (value != default)
    return name + " down" * (tuple_.dir == "down")


def test_the_log_and_the_profile_tell_the_same(tuned: Tuned) -> None:
    """The winner's median comes from the last rounds of its size."""
    trials = tuned.trials()
    for interval in tuned.profile["intervals"]:
        size, winner = interval["size"], interval["winner"]
        name = name_of(winner["tuple"])
        rounds = winner["workloads"]["hot"]["rounds"]
        ns: list[float] = []
        latest = None
        for trial in trials:
            if (trial["size"], trial["candidate"], trial["workload"]) != (size, name, "hot"):
                continue
            if trial["round"] == latest:  # timed again, as something hit the round
                ns.pop()
            latest = trial["round"]
            ns.append(trial["ns"])
        ns = ns[-rounds:]
        assert len(ns) == rounds
        assert sorted(ns)[rounds // 2] == pytest.approx(winner["workloads"]["hot"]["ns"], rel=1e-3)


def test_the_small_copies_have_all_figures(tuned: Tuned) -> None:
    small = tuned.profile["small"]
    assert (small["distribution"], small["objective"]) == ("fleet", "balanced")
    assert set(small["noise_floor"]) == MIXES | FIXED | PAGE_ENDS
    assert len(small["runners_up"]) == 5
    for entry in (small["winner"], *small["runners_up"]):
        assert set(entry["workloads"]) == MIXES | FIXED | PAGE_ENDS
        logs = {
            name: math.log(measured["ratio"]["median"])
            for name, measured in entry["workloads"].items()
        }
        mix = sum(logs[name] for name in MIXES) / 3  # alone and read
        fixed = sum(logs[name] for name in FIXED)
        ends = sum(logs[name] for name in PAGE_ENDS)
        assert entry["ratio"] == pytest.approx(math.exp((2 * mix + fixed + ends) / 8), rel=1e-4)


def test_the_routine_has_the_small_winner(tuned: Tuned) -> None:
    winner = tuned.profile["small"]["winner"]["tuple"]
    source = (tuned.folder / "asterope_memcpy.c").read_text()
    bound, shape, rt, order = (winner[name] for name in ("bound", "shape", "rt", "order"))
    assert f"Up to {bound} bytes, whatever the rows above say: small copies" in source
    assert f"small copies, {shape}, {rt}, tests {order}" in source
    row = next(
        line
        for line in tuned.outcome.stdout.splitlines()
        if line.startswith(f"to {winner['bound']} B: {winner['shape']} {winner['rt']}")
    )
    assert f"{tuned.profile['small']['winner']['ratio']:.2f}" in row.split()


def test_the_log_times_libc_all_along(tuned: Tuned) -> None:
    names = [trial["candidate"] for trial in tuned.trials()]
    assert names.count("libc") > len(names) / 30


def test_a_run_ends_with_few_lines_where_verbose_prints_all_tables(
    program: Path, tuned: Tuned, tmp_path: Path
) -> None:
    command = [program, "replay", tuned.folder / "trials.jsonl", "-o", "p.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    lines = done.stdout.splitlines()
    assert len(lines) <= 32
    assert lines[2].startswith("Up to ")
    assert "times as fast as libc" in done.stdout
    assert lines[-1] == "next: cc app.c asterope_memcpy.c"
    for heading in ("Small copies, x libc", "Overlapping buffers", "Time spent on", "lead: "):
        assert heading not in done.stdout
        assert heading in tuned.outcome.stdout


def test_the_table_has_the_winners(tuned: Tuned) -> None:
    lines = tuned.outcome.stdout.splitlines()
    header = next(i for i, line in enumerate(lines) if line.startswith("Up to "))
    columns = lines[header].removeprefix("Up to").split()
    fields = {"TB": "tb", "PI": "pi", "PW": "pw"}
    for interval, row in zip(tuned.profile["intervals"], lines[header + 1 :]):
        up_to, winner = interval["up_to"], interval["winner"]["tuple"]
        size = "1 KiB" if up_to == 1024 else f"{up_to} B"
        shown = dict(zip(columns, row.removeprefix(size).split()))
        for name in ("RT", "LT", "ST", "PT", "PS", "PD"):
            assert shown[name] == str(winner[name.lower()])
        for column, field in fields.items():  # only where a winner uses them
            default = {"tb": 2, "pi": 1, "pw": 0}[field]
            assert int(shown.get(column, default)) == winner.get(field, default)
        assert shown["hot"] == f"{interval['winner']['workloads']['hot']['ratio']['median']:.2f}"


def test_without_a_terminal_there_is_no_progress_line(tuned: Tuned) -> None:
    for text in (tuned.outcome.stdout, tuned.outcome.stderr):
        assert "\033" not in text
        assert "\r" not in text
        assert " left" not in text


def test_a_terminal_gets_a_progress_line_with_the_time_left(program: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    sizes = "128,256,512,1K,2K,4K"  # long enough for a line at any speed: it comes every 0.2 s
    process = subprocess.Popen(
        [program, "--rigor", "quick", "--sizes", sizes, "--no-generate"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux: nobody has the other end any more
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait(timeout=60) == 0
    text = shown.decode()
    assert re.search(r"\r\033\[K *\d+ %  \w[\w ]+  (\d+ min )?\d+ s left", text), text
    # and is taken away at the end; a warning may follow, where the machine was not quiet
    assert " s left" not in text.rpartition("\r\033[K")[2]


def test_quiet_prints_nothing(tune, tmp_path: Path) -> None:
    outcome = tune(*QUICK, "--quiet")
    assert (outcome.code, outcome.stdout, outcome.stderr) == (0, "", "")
    assert {path.name for path in tmp_path.iterdir()} == {"asterope-profile.json"} | ROUTINE


def test_no_generate_stops_after_the_profile(tune, tmp_path: Path) -> None:
    outcome = tune(*QUICK, "--no-generate", "-o", tmp_path / "other name.json")
    assert outcome.code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["other name.json"]
    load_profile(tmp_path / "other name.json")


def test_a_bigger_or_unsorted_list_of_sizes_comes_out_in_order(tune, tmp_path: Path) -> None:
    outcome = tune("--rigor", "quick", "--workload", "cold", "--sizes", "1K,200,1024", "--quiet")
    assert outcome.code == 0
    profile = load_profile(tmp_path / "asterope-profile.json")
    assert [interval.size for interval in profile.intervals] == [200, 1024]
    assert 200 <= profile.intervals[0].up_to < profile.intervals[1].up_to == 1024


# --- What it is tuned for -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def balanced(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    """A run for the mix of workloads, at a size too small to sense and at one large enough."""
    folder = tmp_path_factory.mktemp("balanced")
    done = subprocess.run(
        [program, "--rigor", "standard", "--verbose", "--sizes", "2K,64K"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    outcome = Outcome(done.returncode, done.stdout, done.stderr)
    assert (outcome.code, outcome.errors) == (0, [])
    load_profile(folder / "asterope-profile.json")
    return Tuned(folder, outcome)


def test_balanced_counts_hot_cold_consume_and_fetch_alike(balanced: Tuned) -> None:
    search = balanced.profile["search"]
    assert search["workload"] == "balanced"
    assert search["weights"] == {"hot": 0.25, "cold": 0.25, "consume": 0.25, "fetch": 0.25}
    for interval in balanced.profile["intervals"]:
        for entry in (interval["winner"], *interval["runners_up"]):
            assert set(entry["workloads"]) == MEASURED
            ratios = [entry["workloads"][name]["ratio"]["median"] for name in search["weights"]]
            assert entry["ratio"] == pytest.approx(math.prod(ratios) ** (1 / 4), rel=1e-4)


def test_balanced_has_the_winners_of_each_workload_in_it(balanced: Tuned) -> None:
    intents = balanced.profile["intents"]
    assert set(intents) == {"hot", "cold", "consume"}
    for workload, intent in intents.items():
        assert [interval["size"] for interval in intent["intervals"]] == [2048, 65536]
        assert intent["intervals"][-1]["up_to"] == 65536
        for interval in intent["intervals"]:
            winner = interval["winner"]
            measured = winner["workloads"][workload]
            assert winner["ratio"] == pytest.approx(measured["ratio"]["median"], rel=1e-4)
            assert len(interval["runners_up"]) <= 2


def test_balanced_says_what_each_axis_brought_to_each_workload(balanced: Tuned) -> None:
    for interval in balanced.profile["intervals"]:
        assert set(interval["axes"]) == {"hot", "cold", "consume"}
        for best in interval["axes"].values():
            interleaved = {"pi"} if interval["size"] > 8192 else set()
            assert {"paper", "tb", "dir"} | interleaved <= set(best) <= AXES | {"paper"}
    lines = balanced.outcome.stdout.splitlines()
    header = next(line for line in lines if line.startswith("Axes "))
    assert header.endswith("x the paper's best: hot cold consume")


def test_balanced_tries_copies_that_sense_where_the_counter_serves_them(balanced: Tuned) -> None:
    profile = balanced.profile
    cpu = profile["machine"]["cpu"]
    sensed = "sensing" in profile["search"]["axes"]
    assert not sensed or (cpu["invariant_tsc"] and "rdtscp" in cpu["features"])
    small = profile["intervals"][0]
    assert "sensing" not in small  # of 2 KiB
    for interval in profile["intervals"]:
        if "sensing" not in interval:
            continue
        assert sensed
        sensing = interval["sensing"]
        assert sensing["cached_ticks"] <= sensing["threshold"] < sensing["uncached_ticks"]
        assert set(sensing["workloads"]) == MEASURED


def test_the_routine_of_balanced_has_an_entry_point_for_each_intent(balanced: Tuned) -> None:
    library = balanced.folder / "library.so"
    command = ["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library]
    subprocess.run([*command, balanced.folder / "asterope_memcpy.c"], check=True, timeout=120)
    routine = ctypes.CDLL(str(library))
    source = bytes(i * 7 % 251 for i in range(200_000))
    for name in ("memcpy", "memcpy_hot", "memcpy_cold", "memcpy_consume"):
        copy = getattr(routine, f"asterope_{name}")
        copy.restype = ctypes.c_void_p
        copy.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        for size in (0, 1, 100, 128, 1000, 2048, 2049, 20_000, 65_536, 65_537, 200_000):
            destination = ctypes.create_string_buffer(b"x" * (size + 1), size + 1)
            address = ctypes.addressof(destination)
            assert copy(address, source, size) == address
            assert destination.raw == source[:size] + b"x", (name, size)


def test_weights_are_a_mix_of_ones_own(tune, tmp_path: Path) -> None:
    outcome = tune("--rigor", "quick", "--sizes", "8K", "--weights", "consume=3,cold=0,hot=1",
                   "--space", "paper", "--no-sensing")  # fmt: skip
    assert (outcome.code, outcome.errors) == (0, [])
    profile = load_profile(tmp_path / "asterope-profile.json").raw
    search = profile["search"]
    assert (search["workload"], search["space"]) == ("weights", "paper")
    assert search["weights"] == {"hot": 0.25, "consume": 0.75}
    assert (search["axes"], search["extended_candidates"]) == ([], 0)
    assert set(profile["intents"]) == {"hot", "consume"}
    (interval,) = profile["intervals"]
    assert not {"axes", "sensing"} & set(interval)
    for entry in (interval["winner"], *interval["runners_up"]):
        assert set(entry["workloads"]) == MEASURED
        assert not AXES & set(entry["tuple"])
        logs = {
            name: math.log(measured["ratio"]["median"])
            for name, measured in entry["workloads"].items()
        }
        mean = math.exp(0.25 * logs["hot"] + 0.75 * logs["consume"])
        assert entry["ratio"] == pytest.approx(mean, rel=1e-4)
    assert "Axes " not in outcome.stdout
    assert "Sensing " not in outcome.stdout
    header = (tmp_path / "asterope_memcpy.h").read_text()
    assert "asterope_memcpy_consume(" in header
    assert "asterope_memcpy_cold(" not in header


@pytest.mark.parametrize("workload", ["consume", "produce"])
def test_one_workload_alone_is_tuned_for(tune, tmp_path: Path, workload: str) -> None:
    outcome = tune("--rigor", "quick", "--sizes", "1K", "--workload", workload,
                   "--space", "paper")  # fmt: skip
    assert (outcome.code, outcome.errors) == (0, [])
    profile = load_profile(tmp_path / "asterope-profile.json").raw
    assert profile["search"]["weights"] == {workload: 1}
    assert profile["search"]["axes"] == []
    assert "intents" not in profile
    assert profile["aliased"] == {"sizes": []}  # a matter of cached buffers
    (interval,) = profile["intervals"]
    for entry in (interval["winner"], *interval["runners_up"]):
        assert set(entry["workloads"]) == MEASURED
        ratio = entry["workloads"][workload]["ratio"]["median"]
        assert entry["ratio"] == pytest.approx(ratio, rel=1e-4)


# --- Mapped sources -------------------------------------------------------------------------------


def test_sources_are_mapped_from_a_file_that_stays_as_it_is(tune, tmp_path: Path) -> None:
    content = bytes(i * 7 % 251 for i in range(100_000))
    (tmp_path / "our; map.bin").write_bytes(content)
    outcome = tune("--rigor", "quick", "--sizes", "1K,4K", "--space", "paper",
                   "--source-map", "our; map.bin:4096:80K")  # fmt: skip
    assert (outcome.code, outcome.errors) == (0, [])
    assert (tmp_path / "our; map.bin").read_bytes() == content
    profile = load_profile(tmp_path / "asterope-profile.json").raw
    assert profile["search"]["source_map"] == "our_ map.bin:4096:80K"
    for interval in profile["intervals"]:  # nothing can have been written there just before
        assert set(interval["noise_floor"]) == MEASURED - {"produce"}
        assert set(interval["winner"]["workloads"]) == MEASURED - {"produce"}
    assert set(profile["intents"]) == {"hot", "cold", "consume"}


# With room for a copy at every place in a page, 8 KiB need 16 KiB.
BAD_MAPS = {
    "shorter than the largest size": ("short", "need 16384 bytes, here are 8000"),
    "just too short": ("good:0:16383", "need 16384 bytes, here are 16383"),
    "too short from its offset on": ("good:20480", "need 16384 bytes, here are 12288"),
    "missing": ("missing", "cannot open missing: No such file"),
    "folder": ("folder", "folder is a directory"),
    "empty": ("empty", "empty is empty"),
    "without a name": ("", "--source-map"),
    "without a name but with an offset": (":4096", "names no file"),
    "offset inside a page": ("good:100", "OFFSET is no multiple of the page size"),
    "offset beyond the end": ("good:64K", "OFFSET is beyond the end"),
    "offset that is no number": ("good:x", "good:x"),
    "length beyond the end": ("good:0:64K", "LENGTH goes beyond the end"),
    "device without a size": ("/dev/null", "is a device without a size"),
    "device that cannot be mapped": ("/dev/null:0:64K", "cannot be mapped"),
}


@pytest.fixture
def maps(tmp_path: Path) -> Path:
    (tmp_path / "good").write_bytes(b"m" * 32768)
    (tmp_path / "short").write_bytes(b"m" * 8000)
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize(("source", "expected"), BAD_MAPS.values(), ids=BAD_MAPS)
def test_a_bad_source_map_is_refused(tune, maps: Path, source: str, expected: str) -> None:
    before = sorted(maps.iterdir())
    message = only_error(tune("--rigor", "quick", "--sizes", "8K", "--source-map", source), 2)
    assert expected in message
    assert sorted(maps.iterdir()) == before


def test_an_unreadable_source_map_is_refused(tune, maps: Path) -> None:
    (maps / "good").chmod(0)
    if os.access(maps / "good", os.R_OK):
        pytest.skip("root may read everything")
    message = only_error(tune("--rigor", "quick", "--sizes", "8K", "--source-map", "good"), 2)
    assert "cannot open good: Permission denied" in message


@pytest.mark.parametrize(
    "what", [("--workload", "produce"), ("--weights", "hot=1,produce=0.1")], ids=lambda w: w[0]
)
def test_a_source_map_is_not_for_what_writes_its_source(tune, maps: Path, what) -> None:
    arguments = ("--rigor", "quick", "--sizes", "8K", "--source-map", "good")
    message = only_error(tune(*arguments, *what), 2)
    assert "workload produce writes its source" in message


# --- Words and counts -----------------------------------------------------------------------------


def test_version_and_help(tune) -> None:
    assert tune("--version").stdout.startswith(f"asterope-tune {__version__} (commit ")
    outcome = tune("--help")
    assert outcome.code == 0
    for option in ("--rigor", "--workload", "--weights", "--sizes", "--space", "--no-sensing",
                   "--source-map", "--log", "--cpu", "--seed", "--small", "--distribution",
                   "--without", "--threads"):  # fmt: skip
        assert option in outcome.stdout


def listed(outcome: Outcome) -> tuple[int, int, list[str], list[str]]:
    """Candidates a size, small copies, the lines of the axes, and those of the extension axes."""
    assert (outcome.code, outcome.stderr) == (0, "")
    first, *axes, last = outcome.stdout.splitlines()
    large = re.fullmatch(r"paper space: (\d+) candidates a size", first)
    small = re.fullmatch(r"small copies: (\d+) candidates", last)
    extension = next(i for i, line in enumerate(axes) if line.startswith("extension axes: "))
    return int(large[1]), int(small[1]), axes[:extension], axes[extension:]


def in_the_space(features: set[str]) -> tuple[int, int]:
    """How many candidates there are for a CPU with these features, large and small."""
    large = [variant for variant in pipelines.paper_variants() if set(variant.needs) <= features]
    small = [copy for copy in small_copies.small_tuples() if set(copy.needs) <= features]
    return (
        sum(len(pipelines.VALUES["pd"]) if v.pt != "none" else 1 for v in large),
        len(small),
    )


def test_list_space_counts_what_this_cpu_has(tune, tuned: Tuned) -> None:
    features = set(tuned.profile["machine"]["cpu"]["features"])
    expected, small = in_the_space(features)
    if "avx512f" in features:
        assert expected == 7186
    assert tuned.profile["search"]["candidates"] == expected
    *counts, axes, extension = listed(tune("--list-space"))
    assert counts == [expected, small]
    assert [line.split()[0] for line in axes] == ["RT", "LT", "ST", "PT", "PS", "PD"]
    for line in axes:
        assert sum(int(count) for count in re.findall(r": (\d+)", line)) == expected
    beyond = sum(v.departures > 0 and set(v.needs) <= features for v in pipelines.variants())
    assert extension[0].startswith(f"extension axes: {beyond} variants")
    assert [line.split()[0] for line in extension[1:]] == ["RT", "TB", "PI", "PW", "DIR"]
    for line in extension[1:]:
        assert sum(int(count) for count in re.findall(r": (\d+)", line)) == beyond


@pytest.mark.parametrize(
    "without", ["avx512", "avx2", "avx", "avx512bw", "bmi2", "sse4_1", "avx512vl,avx2", "avx512f"]
)
def test_list_space_counts_what_is_left_without(tune, tuned: Tuned, without: str) -> None:
    beginnings = tuple(without.split(","))
    features = set(tuned.profile["machine"]["cpu"]["features"])
    if not any(feature.startswith(beginnings) for feature in features):
        pytest.skip(f"this CPU has no {without} anyway")
    left = {feature for feature in features if not feature.startswith(beginnings)}
    *counts, _, _ = listed(tune("--list-space", "--without", without))
    assert counts == list(in_the_space(left))
    assert counts != list(in_the_space(features))


def test_the_features_are_those_of_the_system(tuned: Tuned) -> None:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        pytest.skip("no /proc/cpuinfo")
    flags = next(line for line in text.splitlines() if line.startswith("flags")).split()
    for feature in ("sse4_1", "avx2", "avx512f"):
        assert (feature in tuned.profile["machine"]["cpu"]["features"]) == (feature in flags)


# --- Bad arguments --------------------------------------------------------------------------------

BAD_SIZES = ["0", "-1", "12Q", "99999T", "", "64", "127", "8K,,", ",8K", "8K,0", "1.5K", "128 256",
             "8K;16K", "99999999999999999999", "8589934592G", "1\n2", "\x1b[31m"]  # fmt: skip

BAD_ARGUMENTS = {
    "unknown option": ["--bogus"],
    "unknown short option": ["-x"],
    "unknown word": ["tune"],
    "unknown rigor": ["--rigor", "slow"],
    "empty rigor": ["--rigor", ""],
    "unknown workload": ["--workload", "warm"],
    "workload that is only measured": ["--workload", "hot_read"],
    "workload of small copies": ["--workload", "mix_l1"],
    "weights that are missing": ["--workload", "weights"],
    "unknown space": ["--space", "all"],
    "empty space": ["--space", ""],
    "value for a flag": ["--no-sensing=maybe"],
    "no thread": ["--threads", "0"],
    "more threads than any copy has": ["--threads", "65"],
    "threads in words": ["--threads", "two"],
    "unknown objective of small copies": ["--small", "speed"],
    "empty objective of small copies": ["--small", ""],
    "two objectives of small copies": ["--small", "predictable,unpredictable"],
    "distribution without a name": ["--distribution", ""],
    "distribution that is missing": ["--distribution", "missing.csv"],
    "distribution that is a folder": ["--distribution", "."],
    "distribution that is empty": ["--distribution", "/dev/null"],
    "distribution that is binary": ["--distribution", "/bin/sh"],
    "without an unknown feature": ["--without", "avx1024"],
    "without a feature in capitals": ["--without", "AVX512"],
    "without nothing": ["--without", ""],
    "without a feature and an unknown one": ["--without", "sse4_1,avx1024"],
    "without a feature and a blank": ["--without", "sse4_1, avx2"],
    "without a newline": ["--without", "avx\n2"],
    "option without its value": ["--sizes"],
    "option twice": ["--sizes", "128", "--sizes", "256"],
    "CPU that is not there": ["--cpu", "9999"],
    "CPU beyond int": ["--cpu", "99999999999"],
    "CPU below 0": ["--cpu", "-1"],
    "CPU that is no number": ["--cpu", "x"],
    "CPU that is nothing": ["--cpu", ""],
    "seed below 0": ["--seed", "-1"],
    "seed that is no number": ["--seed", "one"],
    "seed beyond 64 bits": ["--seed", "18446744073709551616"],
    "check of two": ["check", "a.json", "b.json"],
    "check on a CPU that is no number": ["check", "--measure", "--cpu", "x", "a.json"],
    "check on a CPU, without measuring": ["check", "--cpu", "0", "a.json"],
    "places of both kinds": ["--system", "--user"],
    "a place and a name": ["--system", "-o", "profile.json"],
    "a name and a place": ["-o", "profile.json", "--user"],
    "output in a missing folder": ["-o", "missing/profile.json"],
    "output that is a folder": ["-o", "."],
    "output without a name": ["-o", ""],
    "output below a file": ["-o", "/proc/version/profile.json"],
    "output with a newline": ["-o", "missing\n/profile.json"],
    "log without a name": ["--log", ""],
    "log in a missing folder": ["--log", "missing/trials.jsonl"],
    "log that is a folder": ["--log", "."],
    **{f"sizes {text!r}": ["--sizes", text] for text in BAD_SIZES},
}


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS.keys())
def test_bad_arguments_are_refused_in_one_line(
    tune, tmp_path: Path, arguments: Sequence[str]
) -> None:
    # All else is as short as can be: were they not refused, the test would fail quickly.
    defaults = ["--rigor", "quick", "--sizes", "128", "--workload", "hot"]
    for name in ("--rigor", "--sizes", "--workload"):
        if name in arguments or "check" in arguments:
            del defaults[defaults.index(name) : defaults.index(name) + 2]
    outcome = tune(*defaults, *arguments)
    message = only_error(outcome, 2)
    assert len(message) < 300
    assert list(tmp_path.iterdir()) == []


MEANT = {
    "option": (["--rigr", "quick"], "--rigor"),
    "option with its value": (["--sizs=8K"], "--sizes"),
    "option of a command": (["check", "--mesure", "p.json"], "--measure"),
    "option behind a value like a command": (["--log", "check", "--resum"], "--resume"),
    "command": (["chek"], "check"),
    "command behind an option": (["--rigor", "quick", "merg"], "merge"),
    "beside what is missing": (["replay", "--jsn", "x"], "--json"),
    "none": (["--bogus"], None),
    "none that is hidden": (["--help-jso"], None),
    "none of another command": (["check", "--rigor", "quick"], None),
}


@pytest.mark.parametrize(("arguments", "meant"), MEANT.values(), ids=MEANT)
def test_a_misspelt_word_is_answered_with_the_nearest_one(
    tune, arguments: Sequence[str], meant: str | None
) -> None:
    message = only_error(tune(*arguments), 2)
    assert (f"(did you mean {meant}?)" if meant else "--help") in message
    assert meant or "did you mean" not in message


BAD_WEIGHTS = {
    "negative": ("hot=-1", "'hot=-1' is no finite number from 0 up"),
    "negative beside a good one": ("hot=1,cold=-0.5", "'cold=-0.5' is no finite number"),
    "all zero": ("hot=0,cold=0", "'hot=0,cold=0' are all 0"),
    "one zero": ("hot=0", "'hot=0' are all 0"),
    "unknown workload": ("warm=1", "'warm=1' names no workload"),
    "mix": ("balanced=1", "'balanced=1' names no workload"),
    "only measured": ("hot_read=1", "'hot_read=1' names no workload"),
    "capitals": ("Hot=1", "'Hot=1' names no workload"),
    "blank": ("hot=1, cold=1", "' cold=1' names no workload"),
    "nothing": ("", "--weights"),
    "no number": ("hot=x", "'hot=x' is no finite number"),
    "empty number": ("hot=", "'hot=' is no finite number"),
    "NaN": ("hot=nan", "'hot=nan' is no finite number"),
    "infinity": ("hot=inf", "'hot=inf' is no finite number"),
    "beyond double": ("hot=1e999", "'hot=1e999' is no finite number"),
    "number with a tail": ("hot=1x", "'hot=1x' is no finite number"),
    "no sign": ("hot", "'hot' is no pair"),
    "final comma": ("hot=1,", "'' is no pair"),
    "twice": ("hot=1,hot=2", "'hot=2' names its workload again"),
    "newline": ("hot=1\n", "is no finite number"),
    "escape sequence": ("\x1b[31m=1", "names no workload"),
    "very long": ("cold" * 1000 + "=1", "names no workload"),
}


@pytest.mark.parametrize(("weights", "expected"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
def test_bad_weights_are_refused(tune, tmp_path: Path, weights: str, expected: str) -> None:
    message = only_error(tune("--rigor", "quick", "--sizes", "128", "--weights", weights), 2)
    assert expected in message
    assert len(message) < 300
    assert list(tmp_path.iterdir()) == []


def test_weights_beside_another_workload_are_refused(tune) -> None:
    message = only_error(tune(*QUICK, "--weights", "hot=1"), 2)
    assert "'hot' and weights are both given" in message


def test_a_bad_size_is_named(tune) -> None:
    assert "'12Q'" in only_error(tune("--sizes", "8K,12Q"), 2)
    assert "64 B" in only_error(tune("--sizes", "8K,64"), 2)


BAD_DISTRIBUTIONS = {
    "empty": (b"", "line 1, column 1"),
    "negative": (b"8:-0.5,16:1.5\n", "line 1, column 3"),
    "no number": (b"8:0.5,x:0.5\n", "line 1, column 7"),
    "not 1 in all": (b"8:0.5\n", "line 1, column 6"),
    "no colon": (b"8 1\n", "line 1, column 2"),
    "final comma": (b"8:1,\n", "line 1, column 5"),
    "NaN": (b"8:nan\n", "line 1, column 3"),
    "infinity": (b"8:inf\n", "line 1, column 3"),
    "five lines": (b"8:1\n0:1\n1:1\n1:1\n1:1\n", "line 4, column 1"),
    "alignment 0": (b"8:1\n0:1\n1:0.5,0:0.5\n", "line 3, column 7"),
    "Windows, and bad": (b"8:1\r\n0:1\r\n1:x\r\n", "line 3, column 3"),
    "escape sequence": (b"\x1b[31m\n", "line 1, column 1"),
    "large sizes only": (b"1048576:1\n", "no size of up to 1024 bytes"),
}


@pytest.mark.parametrize(("content", "expected"), BAD_DISTRIBUTIONS.values(), ids=BAD_DISTRIBUTIONS)
def test_a_bad_distribution_is_refused_where_it_is_bad(
    tune, tmp_path: Path, content: bytes, expected: str
) -> None:
    (tmp_path / "calls.csv").write_bytes(content)
    outcome = tune(*QUICK, "--log", "trials.jsonl", "--distribution", "calls.csv")
    message = only_error(outcome, 2)
    assert "distribution calls.csv" in message
    assert expected in message
    assert [path.name for path in tmp_path.iterdir()] == ["calls.csv"]  # before any trial


def test_a_distribution_is_named_in_the_profile(tune, tmp_path: Path) -> None:
    (tmp_path / "our; calls*.csv").write_bytes(b"8:0.25,100:0.75\r\n")
    outcome = tune(*QUICK, "--distribution", "our; calls*.csv", "--small", "predictable")
    assert (outcome.code, outcome.errors) == (0, [])
    profile = load_profile(tmp_path / "asterope-profile.json")
    assert profile.raw["small"]["distribution"] == "our_ calls_.csv"


@pytest.mark.parametrize("objective", ["unpredictable", "predictable"])
def test_small_copies_are_tuned_for_what_was_asked(tune, tmp_path: Path, objective: str) -> None:
    assert tune(*QUICK, "--no-generate", "--small", objective).code == 0
    small = load_profile(tmp_path / "asterope-profile.json").raw["small"]
    assert small["objective"] == objective
    counted = MIXES if objective == "unpredictable" else FIXED
    for entry in (small["winner"], *small["runners_up"]):
        assert set(entry["workloads"]) == MIXES | FIXED | PAGE_ENDS  # all figures, whatever counts
        log = {name: math.log(w["ratio"]["median"]) for name, w in entry["workloads"].items()}
        told = sum(log[name] for name in counted) / len(counted)
        ends = sum(log[name] for name in PAGE_ENDS) / len(PAGE_ENDS)
        assert entry["ratio"] == pytest.approx(math.exp((3 * told + ends) / 4), rel=1e-4)


def test_without_avx512_there_is_none_of_it_and_the_profile_says_so(tune, tmp_path: Path) -> None:
    assert tune(*EXTENDED, "--without", "avx512").code == 0
    profile = load_profile(tmp_path / "asterope-profile.json")
    assert profile.search["without"] == ["avx512"]
    entries = [e for i in profile.intervals for e in (i.winner, *i.runners_up)]
    assert "ZMM" not in {entry.tuple.rt for entry in entries}
    small = [profile.raw["small"]["winner"], *profile.raw["small"]["runners_up"]]
    for entry in small:
        assert entry["tuple"]["rt"] != "ZMM"
        assert entry["tuple"]["shape"] != "masked"
    source = (tmp_path / "asterope_memcpy.c").read_text()
    for trace in ("zmm", "ymm16", "%k1", "avx512"):
        assert trace not in source


def test_without_all_that_not_every_cpu_has_the_routine_looks_at_none(tune, tmp_path: Path) -> None:
    without = ["avx", "sse4_1", "movdir64b", "3dnowprefetch"]
    assert tune(*EXTENDED, "--without", ",".join(without)).code == 0
    profile = load_profile(tmp_path / "asterope-profile.json")
    assert profile.search["without"] == without
    source = (tmp_path / "asterope_memcpy.c").read_text()
    assert "cpuid" not in source
    assert "ymm" not in source
    assert "movntdqa" not in source


def test_without_may_be_given_again(tune) -> None:
    apart = listed(tune("--list-space", "--without", "avx512", "--without", "avx2"))
    assert apart == listed(tune("--list-space", "--without", "avx512,avx2"))


@pytest.mark.all_cpus
def test_a_cpu_that_is_not_allowed_is_refused(tune) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")

    def keep_first() -> None:
        os.sched_setaffinity(0, cpus[:1])

    message = only_error(tune(*QUICK, "--cpu", cpus[1], preexec_fn=keep_first), 2)
    assert f"CPU {cpus[1]} is not there or not allowed" in message


def test_the_cpu_that_was_asked_for_is_used(tune, tmp_path: Path) -> None:
    first = min(os.sched_getaffinity(0))
    assert tune(*QUICK, "--no-generate", "--cpu", first).code == 0
    profile = json.loads((tmp_path / "asterope-profile.json").read_text())
    assert profile["search"]["cpu"] == first


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_output_in_a_read_only_folder_is_refused(tune, tmp_path: Path) -> None:
    folder = tmp_path / "read only"
    folder.mkdir(mode=0o555)
    only_error(tune(*QUICK, "-o", folder / "profile.json"), 2)


# --- Faults while running: the profile that was there before stays --------------------------------


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """An earlier profile, alone in its folder."""
    path = tmp_path / "out" / "profile.json"
    path.parent.mkdir()
    path.write_text(OLD)
    return path


def assert_untouched(earlier: Path) -> None:
    assert earlier.read_text() == OLD
    assert list(earlier.parent.iterdir()) == [earlier]


def limit(what: int, value: int) -> Callable[[], None]:
    def apply() -> None:
        resource.setrlimit(what, (value, value))

    return apply


def test_without_memory_for_the_buffers_it_fails(tune, earlier: Path) -> None:
    no_memory = limit(resource.RLIMIT_AS, 200 << 20)
    message = only_error(tune(*QUICK, "-o", earlier, preexec_fn=no_memory), 1)
    assert "no memory" in message
    assert_untouched(earlier)


# 3 times the last two is next to nothing, modulo 2^64.
@pytest.mark.parametrize("size", ["1024G", "4611686018427387904", "6148914691236517206"])
def test_sizes_beyond_all_memory_fail(tune, earlier: Path, size: str) -> None:
    outcome = tune("--rigor", "quick", "--sizes", size, "-o", earlier)
    assert "no memory" in only_error(outcome, 1)
    assert_untouched(earlier)


def test_a_full_disk_fails(tune, earlier: Path) -> None:
    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # write() then says EFBIG
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    message = only_error(tune(*QUICK, "-o", earlier, preexec_fn=full), 1)
    assert str(earlier) in message
    assert_untouched(earlier)


def test_a_disk_that_fills_up_keeps_what_was_timed(tune, earlier: Path) -> None:
    full = limit(resource.RLIMIT_FSIZE, 100_000)
    message = only_error(tune(*QUICK, "-o", earlier, preexec_fn=full), 1)
    log = earlier.with_name("profile.json.trials")
    assert str(log) in message
    assert "--resume" in message
    assert earlier.read_text() == OLD
    assert log.stat().st_size == 100_000
    earlier.unlink()
    assert tune(*QUICK, "-o", earlier, "--resume").code == 0
    load_profile(earlier)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_for_the_log_fails(tune, earlier: Path) -> None:
    message = only_error(tune(*QUICK, "-o", earlier, "--log", "/dev/full"), 1)
    assert "/dev/full" in message
    assert_untouched(earlier)


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name
)
@pytest.mark.parametrize("moment", ["at the beginning", "during the search"])
def test_a_signal_ends_cleanly(program: Path, earlier: Path, number: int, moment: str) -> None:
    log = earlier.parent.parent / "trials.jsonl"
    process = subprocess.Popen(
        [program, "--rigor", "exhaustive", "-o", earlier, "--log", log],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # The first line on stdout comes before the verification, the second in the log is a trial.
    assert select.select([process.stdout], [], [], 60)[0], "it does not begin"
    deadline = time.monotonic() + 60
    while moment == "during the search" and time.monotonic() < deadline:
        if log.exists() and log.read_bytes().count(b"\n") >= 2:
            break
        time.sleep(0.01)
    process.send_signal(number)
    try:
        stdout, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    outcome = Outcome(process.returncode, stdout, stderr)
    assert only_error(outcome, 130).startswith("asterope-tune: interrupted")
    assert_untouched(earlier)
    if moment == "during the search":  # what was timed until then stays readable
        for line in log.read_text().splitlines():
            json.loads(line)


def test_without_the_generator_it_fails_but_the_profile_is_there(
    tune, program: Path, tmp_path: Path
) -> None:
    alone = tmp_path / "alone" / "asterope-tune"
    alone.parent.mkdir()
    shutil.copy(program, alone)
    outcome = tune(*QUICK, program=alone, env={**os.environ, "PATH": ""})
    message = only_error(outcome, 1)
    assert "asterope-generate" in message
    assert "asterope-profile.json" in message
    load_profile(tmp_path / "asterope-profile.json")


def test_a_generator_on_the_path_is_found(
    tune, program: Path, build_dir: Path, tmp_path: Path
) -> None:
    alone = tmp_path / "alone" / "asterope-tune"
    alone.parent.mkdir()
    shutil.copy(program, alone)
    path = f"{build_dir}:{os.environ['PATH']}"
    assert tune(*QUICK, program=alone, env={**os.environ, "PATH": path}).code == 0
    assert {path.name for path in tmp_path.iterdir()} >= ROUTINE


@pytest.mark.parametrize(
    ("code", "told", "expected"),
    [(1, 1, "asterope-generate failed"), (130, 130, "interrupted; the profile is written")],
)
def test_a_generator_that_fails_is_reported(
    tune, program: Path, tmp_path: Path, code: int, told: int, expected: str
) -> None:
    alone = tmp_path / "alone" / "asterope-tune"
    alone.parent.mkdir()
    shutil.copy(program, alone)
    generator = alone.with_name("asterope-generate")
    generator.write_text(f"#!/bin/sh\nexit {code}\n")
    generator.chmod(0o755)
    message = only_error(tune(*QUICK, program=alone), told)
    assert expected in message
    load_profile(tmp_path / "asterope-profile.json")


def test_the_set_up_command_refuses_to_build_from_a_device(
    repository: Path, tmp_path: Path
) -> None:
    """Before it installs or builds anything: nothing of the checkout is touched here."""
    os.mkfifo(tmp_path / "pipe")
    command = [repository / "scripts" / "tune", "-o", tmp_path / "pipe"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "pipe: is no regular file" in done.stderr
