"""The study of searches: what it reads and counts, and that each strategy finds a known winner.

The models are tested where numpy and scikit-learn are installed: pip install -e '.[study]'.
"""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from random import Random

import pytest
from study.candidates import Space, axis, everything, family
from study.model_search import coarse_to_fine, main, objectives_of, play, strategies, table
from study.race import Race, sign_interval
from study.recording import BadRecording, Size, parse_recording, read_recording
from study.search import RIGORS, Racing

WORKLOADS = ("hot", "cold", "consume")
BALANCED = dict.fromkeys(WORKLOADS, 1 / 3)
SIZES = (4096, 65536)
# More than a tie may cost before every other candidate.
BEST = "ZMM T T T0 4 8 TB4 PW4"
FINALISTS = 20


def truth(name: str, workload: str) -> float:
    """log(libc's time / own) of the made-up machine: BEST has the most in every workload."""
    c = everything()[name]
    value = {"XMM": 0.0, "YMM": 0.1, "ZMM": 0.2}[c.rt]
    value -= 0.03 * abs(c.ps - 4) / 2 + 0.03 * abs(c.pd - 8) / 2 if c.ps else 0.4
    value += {1: -0.1, 2: 0.0, 4: 0.1}[c.tb]
    value += {0: 0.0, 2: 0.1, 4: 0.15}.get(c.pw, 0.05)
    if c.st == "NT":
        value += -0.6 if workload == "hot" else 0.1
    return value


def recorded_names() -> list[str]:
    return sorted(
        name
        for name, c in everything().items()
        if c.rt in ("XMM", "YMM", "ZMM")
        and (c.lt, c.pi, c.dir) == ("T", 1, "up")
        and c.pt in ("none", "T0")
        and c.tb in (1, 2, 4)
        and (c.departures == 0 or (c.rt == "ZMM" and c.st == "T"))
    )


def recording_lines() -> list[str]:
    """A thinned recording: two samples of everybody, many of the best, 0.5 % of noise."""
    random = Random(1)
    names = recorded_names()
    by_truth = sorted(names, key=lambda name: -sum(truth(name, w) for w in WORKLOADS))
    finalists = set(by_truth[:FINALISTS])
    lines = [
        {"format": "asterope-trials", "version": 2, "thinned": {"samples": 24}},
        {"names": names},
    ]
    for size in SIZES:
        for workload in (*WORKLOADS, "produce"):
            samples = []
            for name in names:
                count = 24 if name in finalists else 2 if workload in WORKLOADS else 0
                middle = truth(name, workload)
                samples.append(
                    [round((middle + random.gauss(0, 0.005)) * 1e4) for _ in range(count)]
                )
            libc = [round(random.gauss(0, 0.005) * 1e4) for _ in range(64)]
            lines.append(
                {
                    "size": size,
                    "workload": workload,
                    "calls": 10,
                    "libc_ns": 1000.0,
                    "fixed_us": 80.0,
                    "per_timed": 2.0,
                    "libc": libc,
                    "rounds": [0] * 64,
                    "candidates": samples,
                }
            )
    return [json.dumps(line) for line in lines]


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return recording_lines()


@pytest.fixture(scope="module")
def sizes(lines) -> list[Size]:
    return parse_recording(lines, "made up")


def race_over(size: Size, objectives: list[dict[str, float]]) -> Race:
    return Race(size, Space(size.candidates), objectives, Random(1))


# --- What is read ---


def test_a_recording_is_read_from_a_gzipped_file(tmp_path, lines, sizes):
    path = tmp_path / "made-up.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    assert read_recording(path) == sizes
    assert [size.bytes for size in sizes] == list(SIZES)
    assert set(sizes[0].candidates) == set(recorded_names())
    assert sizes[0].libc_seconds["hot"] == pytest.approx(20e-6)
    assert sizes[0].fixed_seconds["cold"] == pytest.approx(80e-6)


def test_the_middle_of_the_samples_is_what_a_candidate_takes(sizes):
    assert sizes[0].center(BEST, "cold") == pytest.approx(truth(BEST, "cold"), abs=0.005)
    assert len(sizes[0].candidates["XMM T T none 0 0"]["hot"]) == 2
    assert "produce" not in sizes[0].candidates["XMM T T none 0 0"]


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda lines: [], "no size in it"),
        (lambda lines: lines[:2], "no size in it"),
        (lambda lines: ['{"format": "asterope-trials"}', *lines[1:]], "no thinned recording"),
        (lambda lines: ["{}"], "line 1 is damaged"),
        (lambda lines: [*lines, "{"], "line 11 is damaged"),
        (lambda lines: [*lines, "[]"], "line 11 is damaged"),
        (lambda lines: [lines[0], '{"names": ["one"]}', lines[2]], "line 3 is damaged"),
    ],
)
def test_what_is_no_recording_is_refused_with_its_line(lines, damage, complaint):
    with pytest.raises(BadRecording, match=complaint):
        parse_recording(damage(lines), "made up")


def test_a_file_that_is_not_gzipped_is_refused(tmp_path, capsys):
    path = tmp_path / "plain"
    path.write_text("{}")
    with pytest.raises(BadRecording, match="no gzipped text"):
        read_recording(path)
    assert main([str(path)]) == 2
    assert main([str(tmp_path / "missing")]) == 2
    assert capsys.readouterr().err.count("model_search: ") == 2


# --- Regret ---


def test_the_winner_is_the_best_finalist_and_has_no_regret(sizes):
    for size in sizes:
        assert size.winner(BALANCED) == BEST
        assert size.regret(BEST, BALANCED) == 0
        assert len(size.finalists) == FINALISTS


def test_regret_is_how_much_longer_the_copy_takes(sizes):
    other = "ZMM T T T0 4 8 TB4 PW2"  # 0.05 behind in every workload
    assert sizes[0].regret(other, BALANCED) == pytest.approx(math.expm1(0.05), abs=0.005)


def test_who_seems_faster_than_the_winner_by_luck_has_no_negative_regret():
    lucky = {"hot": [0.5, 0.6]}
    finalist = {"hot": [0.1] * 20}
    size = Size(128, {"lucky": lucky, "finalist": finalist}, {"hot": [0.0]})
    assert size.winner({"hot": 1.0}) == "finalist"
    assert size.regret("lucky", {"hot": 1.0}) == 0


def test_who_loses_in_one_workload_does_not_win_while_another_does_not():
    loser = {"hot": [-0.04] * 9, "cold": [0.9] * 9}
    other = {"hot": [-0.02] * 9, "cold": [0.1] * 9}
    size = Size(128, {"loser": loser, "other": other}, {"hot": [0.0], "cold": [0.0]})
    assert size.winner({"hot": 0.5, "cold": 0.5}) == "other"
    assert size.winner({"cold": 1.0, "hot": 0.0}) == "loser"


# --- What is counted ---


def test_a_trial_is_one_sample_of_one_workload_and_libc_runs_thrice_a_heat(sizes):
    race = race_over(sizes[0], objectives_of("balanced", ["produce"]))
    race.sample(race.space.paper[:30], 2)
    assert race.screening_trials == (30 + 2 * 3) * 2 * 3
    assert race.seconds == pytest.approx(race.trials * 100e-6, rel=0.3)
    before = race.seconds
    race.run_off(race.space.paper[:5], 9, [[]] * 4)
    # produce is only measured, but it is measured; libc runs under two names
    assert race.run_off_trials == (5 + 2) * 9 * 4
    assert race.seconds - before == pytest.approx(race.run_off_trials * 100e-6, rel=0.3)


def test_racing_times_what_the_tuner_times(sizes):
    """Counted by hand for one workload in the paper's space."""
    race = race_over(sizes[0], objectives_of("hot", []))
    search = Racing(race, RIGORS["quick"], False)
    search.explore()
    # 6 families of 113 candidates: 1 without prefetch, and 2 sizes by 3 distances are coarse.
    coarse = 6 * (1 + 2 * 3)
    # 4 families are searched in full. Each place goes to a family that prefetches.
    rest = sum(race.space.candidates[e].ps > 0 for e in search.seen) - 6 * 2 * 3
    assert len(search.seen) == coarse + rest
    assert rest == 4 * (7 * 16 - 2 * 3)

    def with_libc(entrants: int) -> int:
        return entrants + math.ceil(entrants / 24) * 3

    assert race.screening_trials == (
        with_libc(coarse) + with_libc(rest) + 2 * with_libc(40) + 4 * with_libc(12)
    )


# --- The tuner's rules ---


def test_sizes_are_searched_from_coarse_to_fine():
    assert list(coarse_to_fine(0)) == []
    assert list(coarse_to_fine(1)) == [0]
    assert list(coarse_to_fine(2)) == [0, 1]
    assert list(coarse_to_fine(7)) == [0, 6, 3, 1, 4, 2, 5]


def test_what_lies_around_a_candidate_is_what_the_tuner_tries(sizes):
    space = Space(sizes[0].candidates)
    around = {space.candidates[e].name for e in space.around(space.place("ZMM T T T0 6 8"))}
    assert "ZMM T T T0 6 8 TB1" in around
    assert "ZMM T T T0 4 8 TB4" in around  # 6 is no multiple of 4; of 4 and 8 the shorter one
    assert "ZMM T T T0 8 8 TB4" not in around
    assert {f"ZMM T T T0 6 8 PW{pw}" for pw in (2, 4, 8, 16, 32)} <= around
    assert all(axis(everything()[name]) != "paper" for name in around)
    plane = {space.candidates[e].name for e in space.plane(space.place("ZMM T T T0 4 8 TB4 PW4"))}
    assert plane == {f"ZMM T T T0 {ps} {pd} TB4 PW4" for ps in (4, 8, 12) for pd in range(0, 31, 2)}


@pytest.mark.parametrize(("count", "low", "high"), [(1, 0, 0), (5, 0, 4), (9, 1, 7), (15, 3, 11)])
def test_the_sign_interval_is_the_tuners(count, low, high):
    assert sign_interval(list(range(count))) == ((count - 1) / 2, low, high)


def test_ties_go_to_the_first_favourite_among_them_else_to_the_simplest():
    names = ["XMM T T none 0 0", "YMM T T none 0 0", "ZMM T T none 0 0", "XMM T NT none 0 0"]
    behind = {"XMM T T none 0 0": 0.005, "YMM T T none 0 0": 0.005, "XMM T NT none 0 0": 0.05}
    size = Size(
        128,
        {name: {"hot": [0.1 - behind.get(name, 0)] * 20} for name in names},
        {"hot": [0.0] * 20},
        {"hot": [0.0] * 20},
        {"hot": 1e-6},
        {"hot": 0.0},
    )

    def winner(*favourites: str) -> str:
        race = race_over(size, [{"hot": 1.0}])
        entrants = [race.space.place(name) for name in names]
        chosen = race.run_off(entrants, 15, [[race.space.place(f) for f in favourites]])
        return race.space.candidates[chosen[0].winner].name

    assert winner() == "XMM T T none 0 0"
    assert winner("YMM T T none 0 0") == "YMM T T none 0 0"
    assert winner("XMM T NT none 0 0", "ZMM T T none 0 0") == "ZMM T T none 0 0"


def test_who_has_two_samples_does_not_get_one_of_them_as_its_median(sizes):
    """Of two recorded samples one would be the median of 15 rounds; both together are it."""
    size = sizes[0]
    name = next(n for n in size.candidates if n not in size.finalists)
    size.candidates[name]["hot"] = [0.0, 1.0]
    race = race_over(size, [{"hot": 1.0}])
    race.sample([race.space.place(name)], 15)
    assert race.score(race.space.place(name)) == pytest.approx(0.5, abs=0.02)


# --- The strategies ---


def winners_of(sizes: list[Size], name: str) -> list[str]:
    return [o.winner for o in play("made up", sizes, name, strategies()[name], "balanced", True, 1)]


@pytest.mark.parametrize("name", ["random 3000", "racing standard", "racing exhaustive"])
def test_a_search_finds_the_known_winner(sizes, name):
    assert winners_of(sizes, name) == [BEST] * len(SIZES)


@pytest.mark.parametrize("name", ["forest", "forest carried over"])
def test_a_model_finds_the_known_winner_in_fewer_trials(sizes, name):
    pytest.importorskip("numpy", reason="models need numpy: pip install -e '.[study]'")
    pytest.importorskip("sklearn", reason="models need scikit-learn: pip install -e '.[study]'")
    found, raced = (
        play("made up", sizes, one, strategies()[one], "balanced", True, 1)
        for one in (name, "racing standard")
    )
    assert [outcome.winner for outcome in found] == [BEST] * len(SIZES)
    assert sum(o.trials for o in found) < sum(o.trials for o in raced)
    assert all(o.modelling_seconds > 0 for o in found)


def test_a_model_starts_with_a_part_of_the_space_that_is_well_spread(sizes):
    pytest.importorskip("numpy", reason="models need numpy: pip install -e '.[study]'")
    pytest.importorskip("sklearn", reason="models need scikit-learn: pip install -e '.[study]'")
    race = race_over(sizes[0], objectives_of("balanced", []))
    search = strategies()["forest"](race, True, {})
    space = race.space
    chosen = [space.candidates[e] for e in search.spread(space.paper, 24)]
    assert len(set(chosen)) == 24
    # 12 families, 6 of which have one member: each is there, none takes more than its turn
    by_family = Counter(family(c) for c in chosen)
    assert sorted(by_family.values()) == [1] * 6 + [3] * 6
    for one in by_family:
        mine = [c for c in chosen if family(c) == one and c.ps]
        assert len({c.pd for c in mine}) == len(mine)


@pytest.mark.parametrize(
    ("truths", "expected"),
    [
        ({"hot": 0.3, "cold": 0.3}, 0.1),  # the best timed one has 0.2
        ({"hot": 0.1, "cold": 0.1}, 0.0),
        ({"hot": -0.1, "cold": 0.9}, 0.0),  # loses in one workload: may not win
    ],
)
def test_only_what_may_win_promises_a_gain(sizes, truths, expected):
    np = pytest.importorskip("numpy", reason="models need numpy: pip install -e '.[study]'")
    pytest.importorskip("sklearn", reason="models need scikit-learn: pip install -e '.[study]'")
    race = race_over(sizes[0], [{"hot": 0.5, "cold": 0.5}])
    search = strategies()["forest"](race, True, {})
    timed = np.array([[[0.2, 0.2], [0.0, 0.0]]])
    untimed = np.array([[[truths[w] for w in race.workloads]]])
    assert search._expected_gain(timed, untimed, 0)[0] == pytest.approx(expected)


def test_a_seed_means_the_same_outcome(sizes):
    one, again = (
        play("made up", sizes, "racing quick", strategies()["racing quick"], "hot", True, 3)
        for _ in range(2)
    )
    assert one == again


def test_the_table_tells_trials_and_regret(sizes):
    outcomes = play(
        "made up", sizes, "racing standard", strategies()["racing standard"], "balanced", True, 1
    )
    line = table(outcomes).splitlines()[1]
    trials = sum(o.trials for o in outcomes) / len(outcomes)
    assert line.startswith("racing standard")
    assert f" {trials:.0f} " in line
    assert line.count("0.00%") >= 3  # reached, mean and worst: all found the winner


def test_every_outcome_can_be_written_for_the_record(tmp_path, lines, capsys):
    path = tmp_path / "made-up.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    out = tmp_path / "outcomes.json"
    asked = ["--strategies", "racing quick", "--seeds", "2", "--json", str(out)]
    assert main([str(path), *asked, "--workload", "hot", "--space", "paper"]) == 0
    assert "racing quick" in capsys.readouterr().out
    outcomes = json.loads(out.read_text())
    assert [o["size"] for o in outcomes] == [*SIZES, *SIZES]
    assert all(o["trials"] > 0 and o["regret"] >= 0 for o in outcomes)


@pytest.mark.parametrize("arguments", [["--strategies", "luck"], ["--seeds", "0"]])
def test_bad_arguments_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as refused:
        main(["recording", *arguments])
    assert refused.value.code == 2
    assert capsys.readouterr().err
