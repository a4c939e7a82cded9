"""The machine, the search and the noise in words, so that a reader knows how far to trust the
pictures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ..figures import counted, duration_text
from ..profile import Profile
from ..render import human_size, what_is_missing
from ..spaces.kinds import MEMCPY
from .inputs import Inputs
from .program import proof_finding, said_by
from .sample_log import SampleLog
from .series import ROUTINE, Cell, cells_of, marked
from .style import cache_sizes

MOST_LOSSES = 6  # of an exam, in a sentence

DISTURBANCES = {
    "steal": "another virtual machine took the CPU",
    "preempted": "another thread ran",
    "migrated": "the thread was moved to another CPU",
    "frequency": "the CPU's speed changed",
    "clock": "the clocks disagreed",
    "stalled": "the thread was off the CPU for long",
}


def machine_facts(machine: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The facts that decide how fast this machine copies; unknown ones are left out."""
    cpu = machine.get("cpu") if isinstance(machine.get("cpu"), dict) else {}
    thresholds = machine.get("libc_thresholds")
    thresholds = thresholds if isinstance(thresholds, dict) else {}
    vectors = [
        f for f in cpu.get("features", []) if str(f).startswith(("avx", "sse", "asimd", "sve"))
    ]
    model = [f"{name} {cpu[name]}" for name in ("family", "model", "stepping") if name in cpu]
    memory = machine.get("memory_bytes")
    facts = {
        "Processor": cpu.get("brand"),
        "Which is": ", ".join(model),
        "CPUs": machine.get("cpus"),
        "Caches of data": ", ".join(f"{n} {human_size(size)}" for n, size in cache_sizes(machine)),
        "Memory": f"{memory / 2**30:.1f} GiB" if isinstance(memory, (int, float)) else None,
        "Memory modules": _modules(machine.get("memory")),
        "Huge pages": machine.get("huge_pages"),
        "Those below 2 MiB": machine.get("smaller_huge_pages"),
        "Hypervisor": machine.get("hypervisor"),
        "Kernel": machine.get("kernel"),
        "C library": machine.get("libc"),
        "Its thresholds": ", ".join(f"{k} {v}" for k, v in thresholds.items()),
        "Frequency governor": machine.get("governor"),
        "Vector features": ", ".join(vectors),
        "Fingerprint": machine.get("fingerprint"),
    }
    return [(name, str(value)) for name, value in facts.items() if value]


def _modules(memory: Any) -> str | None:
    """Words such as "8 x DDR5, 4800 MT/s, 8 channels"; None if nothing is known."""
    if not isinstance(memory, dict):
        return None
    count, kind = memory.get("modules"), memory.get("type", "")
    channels = memory.get("channels", memory.get("edac_channels"))
    parts = [
        f"{count} x {kind or 'of unknown type'}" if count else "",
        f"{memory['speed_mts']} MT/s" if "speed_mts" in memory else "",
        f"{channels} channels" if channels else "",
    ]
    return ", ".join(part for part in parts if part) or None


def findings(inputs: Inputs) -> list[str]:
    """The sentences at the beginning."""
    return [f"Warning: {doubt}." for doubt in inputs.doubts] + [*_findings(inputs)]


def _findings(inputs: Inputs) -> Iterator[str]:
    yield from _losses(inputs)
    if inputs.trial is not None:
        yield from said_by(inputs.trial)
    if inputs.bench is not None:
        yield from _bench_findings(inputs.bench)
    if inputs.proof is not None:
        yield f"{proof_finding(inputs.proof)}."
        yield from inputs.proof["said"]
    if inputs.bench is not None and inputs.profile is None and inputs.log is None:
        yield "Only bench results were given: nothing of the search is shown."
    if inputs.log is not None and not inputs.log.finished:
        yield progress(inputs.log)
    if inputs.profile is not None and not inputs.profile.machine:
        yield "The profile names no machine, so nothing shows that it is of the measured one."


def losses_of(inputs: Inputs) -> list[Mapping[str, Any]]:
    """The losses of the reported function in the exam at the end of the search, worst first."""
    exams = inputs.profile.raw.get("exam", {}) if inputs.profile else {}
    losses = exams.get(inputs.operation, {}).get("losses", ())
    return sorted(losses, key=lambda loss: loss["ratio"]["median"])


def _losses(inputs: Inputs) -> Iterator[str]:
    losses = losses_of(inputs)
    told = [
        f"{loss['workload']} {human_size(loss['size']) if loss['size'] else 'mixed sizes'} "
        f"{loss['ratio']['median']:.2f}"
        for loss in losses[:MOST_LOSSES]
    ]
    more = f" and {len(losses) - len(told)} more" if len(losses) > len(told) else ""
    if losses:
        yield (
            "At the end of the search the compiled routine was slower than libc or a reference in "
            f"{counted(len(losses), 'cell')}: {', '.join(told)}{more} (of the other's speed)."
        )


def standing(cell: Cell, apart: Collection[str] = ()) -> tuple[float, bool] | None:
    """The routine's ratio to libc in a cell, and whether it is the best copy there, or as good
    within the noise floor. None if it was not timed. Copies that stand `apart` do not compete."""
    ours = cell["copies"].get(ROUTINE, {}).get("ratio")
    if ours is None:
        return None
    noise = max(1.0, cell["noise_floor"].high, 1 / cell["noise_floor"].low)
    rivals = [
        timing["versus"]
        for name, timing in cell["copies"].items()
        if name != ROUTINE and name not in apart
    ]
    return ours.median, not any(versus and versus.low > noise for versus in rivals)


def _bench_findings(bench: Mapping[str, Any]) -> Iterator[str]:
    apart = marked(bench, "threaded") | marked(bench, "ours")
    stood = [(cell, s) for cell in cells_of(bench) if (s := standing(cell, apart)) is not None]
    if not stood:
        yield "The bench results have no figures of asterope against libc."
        return
    first = sum(leads for _, (_, leads) in stood)
    slower = sum(c["copies"][ROUTINE]["ratio"].high < c["noise_floor"].low for c, _ in stood)
    worst, (least, _) = min(stood, key=lambda both: both[1][0])
    peers = sum(copy["name"] not in apart - {ROUTINE} for copy in bench["copies"])
    copies = bench["operation"] == MEMCPY
    function = "" if copies else f"'s {bench['operation']}"
    rivals = "copies on one thread" if copies else "that were timed"
    yield (
        f"asterope{function} is the best of {peers} {rivals}, or as good as the best within the "
        f"noise, in {first} of {len(stood)} cells ({100 * first / len(stood):.0f} %)."
    )
    yield (
        f"Against libc it does worst in {worst['suite']} {worst['workload']} {worst['label']}: "
        f"{least:.2f} x libc. It is slower beyond the noise in {slower} of {len(stood)} cells."
    )
    if not bench["complete"]:
        yield "The bench was stopped: these are the cells that it got to."
    if bench["left_out"]:
        reasons = "; ".join(f"{copy['name']} ({copy['reason']})" for copy in bench["left_out"])
        yield f"Left out: {reasons}."


def progress(log: SampleLog) -> str:
    """The progress of a run whose log has no end."""
    sizes = f"{len(log.sizes)} of {len(log.header['options']['sizes'])}"
    last = log.steps[-1] if log.steps else "none"
    torn = " Its last line is not whole and was left out." if log.torn else ""
    return (
        f"The search has not come to its end: {sizes} sizes begun, {log.samples:,} samples, last "
        f"step: {last}.{torn} The pictures show the log as it is so far."
    )


def search_facts(inputs: Inputs) -> list[str]:
    """How the winners were found, and how far to trust them."""
    profile, log = inputs.profile, inputs.log
    return [
        *(_profile_sentences(profile) if profile is not None else ()),
        *(_log_sentences(log, profile) if log is not None else ()),
    ]


def _profile_sentences(profile: Profile) -> Iterator[str]:
    search = profile.search
    if profile.source:
        yield f"Where the profile comes from: {profile.source}."
    if search:
        samples = f", {search['trials']:,} samples" if "trials" in search else ""
        took = f" in {duration_text(search['seconds'])}" if "seconds" in search else ""
        cpu = f" on CPU {search['cpu']}" if "cpu" in search else ""
        yield (
            f"A {search['rigor']} search of the {search['space']} space for the workload "
            f"{search['workload']}{samples}{took}{cpu}, ended {search['finished']}."
        )
    if not profile.complete:
        yield f"The profile is incomplete: {what_is_missing(profile)}."
    if noise := search.get("noise"):
        kinds = _by_kind(noise.get("disturbed", {}))
        yield (
            f"{noise.get('rounds', 0):,} rounds were timed. {noise.get('repeated', 0):,} were "
            f"disturbed and timed again, {noise.get('kept', 0):,} were disturbed and count all the "
            "same." + (f" By kind, a round may be in several: {kinds}." if kinds else "")
        )
    elif search:
        yield "The profile does not say what disturbed the search."
    yield from _proof_sentences(profile)
    if search.get("invalid"):
        yield f"{len(search['invalid'])} candidates copied wrongly and were never timed."
    for warning in search.get("warnings", ()):
        yield f"Warning of the search: {warning}"


def _by_kind(disturbances: Mapping[str, int]) -> str:
    return ", ".join(
        f"{DISTURBANCES.get(kind, kind)}: {count:,}"
        for kind, count in disturbances.items()
        if count
    )


def _proof_sentences(profile: Profile) -> Iterator[str]:
    evidence = [one.evidence for one in profile.of("pipelines")]
    floors = sorted(
        max(ratio["high"], 1 / ratio["low"] if ratio["low"] > 0 else 1)
        for one in evidence
        for ratio in one.get("noise_floor", {}).values()
    )
    if floors:
        yield (
            "libc against itself, in the run-offs: within "
            f"{100 * (floors[len(floors) // 2] - 1):.1f} % in half of the cells, "
            f"{100 * (floors[-1] - 1):.0f} % at worst. A ratio or a lead inside that is noise."
        )
    proofs = [one["proof"] for one in evidence if "proof" in one]
    if proofs:
        sure = sum(proof["lead"]["low"] > 1 for proof in proofs)
        beaten = sum(proof["lead"]["high"] < 1 for proof in proofs)
        tied = sum(bool(proof["ties"]) and proof["lead"]["high"] >= 1 for proof in proofs)
        yield (
            f"Of {len(proofs)} winners {sure} lead beyond doubt (95 %), {tied} have others that "
            "are as good within the noise: their order says little about the machine."
            + (
                f" Slower than the runner-up at their size: {beaten}; other sizes, or copies "
                "that sense, counted more."
                if beaten
                else ""
            )
        )


def _log_sentences(log: SampleLog, profile: Profile | None) -> Iterator[str]:
    yield (
        f"The sample log has {log.samples:,} samples of {len(log.tuples):,} candidates at "
        f"{len(log.sizes)} sizes."
    )
    if log.hits:
        yield f"Disturbed rounds in it, by kind: {_by_kind(dict(sorted(log.hits.items())))}."
    if log.resumed:
        yield f"The run was cut off and resumed {log.resumed} times."
    started = log.header.get("started")
    if profile is not None and profile.search and started != profile.search.get("started"):
        yield (
            f"The log is of another run (begun {started}) than the profile "
            f"(begun {profile.search.get('started', 'at an unknown time')}), on the same machine."
        )
