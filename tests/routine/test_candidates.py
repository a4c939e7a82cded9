"""Every candidate of the tuner is right, at all offsets, sizes and next to unmapped memory."""

from __future__ import annotations

import functools
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from architectures import ARCHITECTURES, X86_64, Architecture, each, once
from asterope.render import render_candidates
from copy_programs import CHECKERS

# All 64 x 64 offsets with all sizes from 128 to 1024 bytes take 0.2 s for most variants. Each
# variant of the paper with non-temporal stores takes 2 s, as its result has to come back from
# memory. So a variant that prefetches is checked at a third of them, and those of other prefetch
# types at the rest. Small copies, and variants beyond the paper, meet fewer sizes
# (candidates_check.c).
#
# An emulated copy takes some ten times as long. There each pair of offsets meets one size in 31,
# which lets each size meet every offset. So each run checks one candidate in so many on each CPU.
# --slow checks each on one of the CPUs that have what it needs.
SAMPLE = {True: (37, ("--step", "5")), False: (601, ())}  # by whether it is native
THIN = {True: (), False: ("--step", "31", "--other-step", "31")}
PROCESSES = 2
EMULATED = {"movdir64b"}  # by the check itself

# The name of each candidate and what it needs of the CPU, in the order of candidates_check.
CANDIDATES = {
    name: [(one.name, one.needs) for one in arch.copies()] for name, arch in ARCHITECTURES.items()
}


def check(arch: Architecture, program: Path, cpu: str, share: str, *options: str) -> list[str]:
    """The output of candidates_check on its share of the candidates on that CPU."""
    command = [*map(str, arch.on(cpu)), str(program), *THIN[arch.is_native], "--share", share]
    command += options
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode in (0, 1), f"{command}: exit {done.returncode}: {done.stderr}"
    return done.stdout.splitlines()


program = once(lambda arch, folder: arch.candidates_check(folder, None, folder))


def verdict_of(arch: Architecture, cpu: str, name: str, needs: tuple[str, ...]) -> str:
    lacks = [feature for feature in needs if feature not in arch.features_of(cpu)]
    if lacks and EMULATED.issuperset(lacks):
        return f"ok {name} ({lacks[0]} emulated)"
    return f"skip {name}: this CPU lacks {lacks[0]}" if lacks else f"ok {name}"


@each(lambda arch: arch.cpus, slow=False)
def test_a_sample_of_the_candidates_is_right(program, arch, case):
    one_in, options = SAMPLE[arch.is_native]
    first = 3 + arch.cpus.index(case)  # each CPU runs others
    lines = check(arch, program(arch), case, f"{first},{one_in}", *options)
    sample = CANDIDATES[arch.name][first::one_in]
    assert lines == [verdict_of(arch, case, *candidate) for candidate in sample]


def needs_on_cpus(arch: Architecture) -> list[tuple[str, str]]:
    """The needs of candidates, as the table has them, with each CPU."""
    needs = sorted({" ".join(needs) for _, needs in CANDIDATES[arch.name]})
    return [(needs, cpu) for needs in needs for cpu in arch.cpus]


@pytest.mark.slow
@pytest.mark.long
@each(needs_on_cpus)
def test_every_candidate_is_right(program, arch, case):
    needs, cpu = case
    wanted = {*needs.split()} - EMULATED
    able = [other for other in arch.cpus if wanted <= arch.features_of(other)]
    if cpu not in able:
        pytest.skip(f"{cpu} lacks what it needs: {needs}")
    shares = [(able.index(cpu) + len(able) * part) for part in range(PROCESSES)]
    of = PROCESSES * len(able)
    built = program(arch)  # here: in two threads, it would be built twice, in folders that collide

    def verdicts_of(share: int) -> list[str]:
        return check(arch, built, cpu, f"{share},{of}", "--needs", needs)

    with ThreadPoolExecutor(PROCESSES) as pool:
        verdicts = [line for lines in pool.map(verdicts_of, shares) for line in lines]
    mine = [c for s in shares for c in CANDIDATES[arch.name][s::of] if " ".join(c[1]) == needs]
    assert sorted(verdicts) == sorted(verdict_of(arch, cpu, *c) for c in mine)


@each(slow=False)
def test_each_feature_is_had_by_one_of_the_emulated_cpus(arch):
    """Else candidates would be skipped everywhere. Only newer emulators have MOPS."""
    if arch.is_native:
        pytest.skip("there is one CPU, which has what it has")
    needs = {f for _, needs in CANDIDATES[arch.name] for f in needs}
    had = {feature for cpu in arch.cpus for feature in arch.features_of(cpu)}
    assert needs - {"mops"} <= had


class Fault(NamedTuple):
    """A line of faulty_candidates.txt, which says what these are, and what is said of the fault."""

    kind: str
    name: str
    text: str
    instead: str | None
    said: str


def faults_of(arch: Architecture) -> dict[str, Fault]:
    faults, fault, said = {}, "", ""
    for line in (CHECKERS / "faulty_candidates.txt").read_text(encoding="ascii").splitlines():
        first, *fields = (field.strip() for field in line.split("|"))
        if line.startswith("  ") and first == arch.name:
            text, change, instead = fields.pop().partition(" => ")
            faults[fault] = Fault(*fields, text, instead if change else None, said)
        elif line and line[0] not in " #":
            fault, (said,) = first, fields
    return faults


@functools.cache
def candidates_with(arch: Architecture, name: str) -> str:
    """The candidates. Their only pipeline is `name`, or a plain one where that is another kind."""
    variants = {v.name: v for v in arch.pipelines.variants()}
    return render_candidates(arch.name, variants=[variants.get(name, arch.plain.variant)])


def faulty(arch: Architecture, fault: Fault) -> str:
    text = candidates_with(arch, fault.name)
    named = fault.name.removeprefix("overlapping ").lower().replace(" ", "_")
    symbol = f"asterope_{fault.kind}_{named}"
    start = {"x86_64": f"void {symbol}(void)\n{{", "aarch64": f'BEGIN("{symbol}"'}[arch.name]
    begin = text.index(start)
    end = text.index({"x86_64": "\n}\n", "aarch64": "ASTEROPE_CANDIDATE_END"}[arch.name], begin)
    body = text[begin:end]
    if fault.instead is None:
        first = re.search(r'^ +"', body, re.MULTILINE).start()
        body = f'{body[:first]}    "{fault.text}\\n"\n{body[first:]}'
    else:
        there = fault.text.replace("; ", '\\n"\n    "')  # an instruction a line
        assert there in body, body
        body = body.replace(there, fault.instead)
    return text[:begin] + body + text[end:]


@each(faults_of, slow=False, one_in=3)
def test_a_faulty_candidate_is_reported(tmp_path, objects, arch, case):
    candidates = CANDIDATES[arch.name]
    needs = {*next(needs for name, needs in candidates if name == case.name)} - EMULATED
    needs |= {"upper halves"} if "halves" in case.said else set()
    able = [cpu for cpu in arch.cpus if needs <= arch.features_of(cpu)]
    if not able:
        pytest.skip(f"no CPU here has {', '.join(sorted(needs))}")
    program = arch.candidates_check(tmp_path, faulty(arch, case), objects)
    later = [name for name, _ in candidates[len(arch.pipelines.variants()) :]]
    # one pipeline comes first; small sets have names of small copies, moves those of aliased copies
    places = [i for i, name in enumerate(later) if name == case.name]
    index = 1 + places[0 if case.kind == "small" else -1] if places else 0
    output = "\n".join(check(arch, program, able[-1], f"{index},{len(candidates)}"))
    expected = re.escape(f"FAIL {case.name}: {case.said}").replace(r"\.\*", ".*")
    assert re.match(expected, output), output


def stores_at_ends(t: object) -> bool:
    """Whether such a pipeline stores to the end of each further huge page first, if it runs
    upwards."""
    plain = (getattr(t, "pi", 1), getattr(t, "pg", 0)) == (1, 0)
    return t.rt in t.VECTORS and t.lt != "NT" and plain


SHARES = {"a sample": "3,11", "all": "0,1"}


@each(lambda arch: SHARES, of=X86_64, emulated=False, daily="a sample".__eq__)
def test_huge_pages_are_stored_to_at_their_ends_first(program, arch, case):
    lines = check(arch, program(arch), arch.cpus[0], case, "--huge-pages", "1")
    found = dict(reversed(line.split(" ", 1)) for line in lines if not line.startswith("skip "))
    variants = (*arch.pipelines.variants(), *arch.set_pipelines.variants())
    ways = {v.name: "ends" if stores_at_ends(v) else "begins" for v in variants}
    assert found == {name: ways[name] for name in found}
    assert {*found.values()} == {"ends", "begins"}
