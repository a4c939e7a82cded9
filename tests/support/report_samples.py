"""Inputs of reports for the tests, of made-up machines. Also reads a report's parts for a test."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from asterope.prove import copies as prove
from asterope.prove.rounds import NARROW, Goal, Metric, Rounds, judge
from asterope.prove.run_words import Setting, of_kernel
from asterope.prove.run_words import document as runs_document
from asterope.prove.trial.blocks import LIBC, LIBC_AGAIN, ROUTINE, Observed, Place
from asterope.prove.trial.findings import Found, PlaceFound
from asterope.prove.trial.report import document
from asterope.prove.trial.run import Tried
from asterope.prove.trial.statistics import Estimate
from asterope.prove.trial.trial_words import after_table, before_table
from asterope.prove.trial.ways import Way
from asterope.record.kernel import Used
from command_errors import exit_code_of
from profile_samples import good_profile

# Some are as fast beside libc in memory as in the caches, others are not.
PEERS = (
    *("glibc", "asterope", "asterope_mt", "glibc_tuned", "musl", "dpdk", "bytes", "rep_movsb"),
    *("rep_movsq", "avx_aligned", "avx_streaming", "avx_streaming_prefetch", "avx_unrolled"),
    *("avx_threads", "buffered", "polytropon", "xeon_gold_5218", "opteron_6378"),
)
THREADED = ("asterope_mt", "avx_threads")
WORKLOADS = ("hot", "hot_read", "cold", "consume", "produce", "fetch")
SIZES = tuple(1 << exponent for exponent in range(7, 26))


def _ratio(median: float, spread: float = 0.01) -> dict[str, float]:
    return {"median": median, "low": median * (1 - spread), "high": median * (1 + spread)}


def _cell(suite: str, workload: str, label: str, size: int, **more: Any) -> dict[str, Any]:
    hot = workload.startswith("hot")
    ns = 3 + (size or 100) / 60 if hot else 63 + (size or 100) / 16
    far = min(1.0, max(0.0, (math.log2(max(size, 128)) - 12) / 8))
    copies: dict[str, Any] = {}
    for i, name in enumerate(PEERS):
        ratio = 1.045 ** (i * far * math.cos(i)) + 0.02 * math.sin(i + size % 97 + len(label))
        ratio = 1.0 if name == "glibc" else 1.1 + 0.35 * far if name == "asterope" else ratio
        copies[name] = {"ns": ns / ratio, "ratio": _ratio(ratio)}
        copies[name]["versus"] = _ratio(ratio / (1.1 + 0.35 * far))
    del copies["glibc"]["ratio"], copies["asterope"]["versus"]
    place = {"suite": suite, "workload": workload, "label": label, "size": size, "threads": 1}
    return {**place, "noise_floor": _ratio(1.0, 0.015), "copies": copies, **more}


def bench_results() -> dict[str, Any]:
    """Results of version 2 with cells of every kind."""
    results = [_cell("sizes", w, f"{size} B", size) for w in WORKLOADS for size in SIZES]
    results += [
        _cell("mix", f"mix_{level}{read}", "fleet", 0, weighting=weighting)
        for level in ("l1", "l2", "l3", "memory")
        for read in ("", "_read")
        for weighting in ("calls", "bytes")
    ]
    results += [
        _cell("misalignment", "hot", f"{size >> 10} KiB +{source} +{destination}", size)
        for size, source, destination in product((4096, 65536), (0, 1, 63), (0, 8, 31, 63))
    ]
    results += [_cell("threads", "cold", f"{size} B", size, threads=2) for size in SIZES[8:]]
    copies = [
        {"name": name, "description": f"{name}, as people use it", "threaded": name in THREADED}
        for name in PEERS
    ]
    whole = json.loads("""{
        "format": "asterope-bench", "version": 2, "tool_version": "0.1.0", "rounds": 51,
        "operation": "memcpy", "distribution": "fleet", "complete": true,
        "noise": {"rounds": 0, "disturbed": {}, "repeated": 0, "kept": 0, "provisional": false},
        "left_out": [{"name": "folly", "reason": "no such package"}]
    }""")
    return {**whole, "machine": good_profile()["machine"], "copies": copies, "results": results}


def small_bench() -> dict[str, Any]:
    """Two workloads at three sizes: as much as a whole page needs."""
    results = bench_results()
    kept = {*product(("hot", "cold"), (4096, 65536, 1 << 20))}
    results["results"] = [c for c in results["results"] if (c["workload"], c["size"]) in kept]
    return results


Line = dict[str, Any]
LOG_SIZES = (1024, 65536)
WINNER = "YMM T NT T0 4 8"  # as in good_profile() at 256 and 512 bytes
CANDIDATES = {
    # name -> x libc
    WINNER: 1.5,
    "YMM T NT T0 4 10": 1.4,
    "YMM T NT T0 2 8": 1.25,
    "YMM T NT T0 14 30": 1.0,
    "XMM T T none 0 0": 1.1,
    "XMM T T T1 4 0 TB4 PW8": 1.2,
    "REP_MOVSB T T none 0 0": 0.9,
}


def log_header(**changes: Any) -> Line:
    """The header of a standard search of the extended space."""
    header = json.loads("""{
        "format": "asterope-trials", "version": 2, "architecture": "x86_64", "sensing": true,
        "tool_version": "0.1.0", "space_hash": "0123456789abcdef", "candidates": 7186,
        "invalid": [], "seed": 1, "started": "2026-11-20T22:15:00Z", "cpu": 1, "warnings": [],
        "options": {"rigor": "standard", "workload": "balanced", "weights_given": "",
                    "weights": {"hot": 0.5, "cold": 0.5, "consume": 0.0}, "space": "extended",
                    "sizes": [1024, 65536, 1048576], "sensing": true, "distribution": "fleet",
                    "source_map": "", "without": []}
    }""")
    return {**header, "machine": good_profile()["machine"], **changes}


def sample(size: int, workload: str, candidate: str, number: int, ns: float) -> Line:
    place = {"size": size, "workload": workload, "candidate": candidate, "round": number}
    return {**place, "ns": ns, "us": ns}


def log_text(lines: Iterable[Line]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def log_lines(
    finished: bool = True,
    rounds: int = 9,
    candidates: Mapping[str, float] = CANDIDATES,
    **header: Any,
) -> list[Line]:
    """The whole log, header first. Every round is slower than the one before, libc as well."""
    lines = [log_header(**header), {"step": "calibration"}]
    for size, workload in product(LOG_SIZES, ("hot", "cold")):
        lines.append({"size": size, "workload": workload, "calls": 10, "seconds": 1e-7})
    for size in LOG_SIZES:
        lines.append({"step": f"pipelines {size}"})
        for number, workload in product(range(rounds), ("hot", "cold")):
            libc_ns = size / 10 * (1 + number)
            for name, ratio in (("libc", 1), *candidates.items(), ("libc", 1)):
                lines.append(sample(size, workload, name, number, libc_ns / ratio))
    if finished:
        lines.append({"finished": "2026-11-20T22:19:00Z", "seconds": 240, "phases": {}})
    return lines


def program_trial() -> dict[str, Any]:
    """The findings of asterope-prove on two places, one of which loses."""
    way = Way(ROUTINE, Path("/lib.so"), "asterope_memcpy")
    tried = Tried([way], Observed(2.0, 3.0, 1, 1, 1, used=Used(2.0, 1.0, 5000)))
    tried.stopped_by = "known"
    places = []
    for offset, gained in ((10, 0.2), (20, -0.1)):
        place = Place("/bin/target", offset, "memcpy", 4096, "<program>")
        ratios = {LIBC_AGAIN: Estimate(1, 0.9, 1.1), ROUTINE: Estimate(1.2, 1.1, 1.3)}
        one = Estimate(gained, gained - 0.01, gained + 0.02)
        humps = [1e-6, 3e-6 if offset == 20 else 1.001e-6]
        means = [hump * (1 + i / 1e4) for hump in humps for i in range(30)]
        places.append(PlaceFound(place, 1000, 50, 0.5, ratios, one, best=LIBC, means=means))
    found = Found(Estimate(0.1, 0.05, 0.15), places)
    names = {one.place: "main" for one in places}
    apart = {one.place: f"copy.c:{one.place.offset} main" for one in places}
    said = [*before_table(found, None, tried.observed), *after_table(found, apart)]
    return json.loads(document(tried, found, names, apart, said, ["<program>", "a b"], 3.0, found))


def whole_runs() -> dict[str, Any]:
    """The findings of asterope-prove by whole runs, of which ours have two modes."""
    names = [prove.LIBC, prove.LIBC_AGAIN, "ours", "theirs"]
    rounds = Rounds(stopped_by="rounds", times=[(1.0, Used(1.0))] * 24 * len(names))
    for n in range(24):
        libc, ours = 1 + n / 1000, (0.7 if n % 2 else 0.9) * (1 + 0.02 * math.sin(n))
        figures = (libc, libc, libc * ours, libc + 0.1 * math.sin(n))
        rounds.done.append(list(zip(names, figures)))
    copies, goal = [prove.Copy(name) for name in names], Goal(rounds=24)
    run = Setting(["redis"], None, Metric("wall"), copies, goal, 1, "2026-11-20", "glibc 2.36")
    said = of_kernel(prove.LIBC, rounds)
    return json.loads(runs_document(run, rounds, judge(rounds, names, NARROW), said, 9.0))


class Made:
    """The good inputs, each written when it is first asked for, and any others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: Any, name: str = "input") -> Path:
        """Writes text or bytes as they are, a list as a log, anything else as JSON."""
        if not isinstance(content, (str, bytes)):
            content = log_text(content) if isinstance(content, list) else json.dumps(content)
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    @cached_property
    def profile(self) -> Path:
        return self.put(good_profile(), "profile.json")

    @cached_property
    def log(self) -> Path:
        return self.put(log_lines(), "log.trials")

    @cached_property
    def bench(self) -> Path:
        return self.put(bench_results(), "bench.json")


@pytest.fixture
def made(tmp_path: Path) -> Made:
    from asterope.report.style import set_up

    set_up()
    return Made(tmp_path)


def read(*paths: object) -> Any:
    from asterope.report.inputs import read_inputs

    return read_inputs([str(path) for path in paths])


def run(*arguments: object) -> int:
    from asterope.report.command import main

    return exit_code_of(main, *arguments)


def is_dark_on_light(png: bytes) -> bool:
    """Whether the drawing is on white and has much that is not."""
    from PIL import Image  # which comes with matplotlib

    pixels = Image.open(io.BytesIO(png)).convert("RGBA").tobytes()
    return pixels[:3] == b"\xff\xff\xff" and len({*memoryview(pixels).cast("I")}) > 20
