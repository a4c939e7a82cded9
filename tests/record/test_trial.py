"""The trial inside a program sees its copies right, and the program goes on in every case."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import pytest
from architectures import HOST
from asterope.prove.trial import blocks, file
from asterope.prove.trial.blocks import LIBC, LIBC_AGAIN, ROUTINE, Observed, Place, Seen
from asterope.prove.trial.file import TrialError, read_trial
from asterope.prove.trial.findings import findings
from asterope.prove.trial.run import Tried
from asterope.prove.trial.ways import Way, environment, names_of
from asterope.record.raw import left_files, read_process
from copy_programs import CHECKERS, compiled, output_of
from recorded_programs import Recorder


@pytest.fixture
def way(libraries: Path) -> Callable[..., Way]:
    own = {"copy": "asterope_memcpy", "set": "asterope_memset"}
    return lambda of, name=ROUTINE, **more: Way(name, libraries / f"{of}.so", **{**own, **more})


@pytest.fixture
def tried(recorder: Recorder, check: Path, way) -> Callable[..., Observed]:
    """Runs record_check in a trial; returns the observations of all its processes."""

    def run(*arguments: object, ways=(), explore=None, program=check, **settings) -> Observed:
        names = ways or [way("like")]
        more = environment(recorder.library, recorder.folder, names, explore)
        done = recorder.run(program, *arguments, seed=4, more=more, timeout=120, **settings)
        assert done.stderr == ""
        observed = Observed()
        for path in recorder.folder.glob("*.raw"):
            if path.stat().st_size:
                process = read_process(path)
                seconds = process.cpu_seconds
                observed.add(read_trial(path, process, names_of(names), seconds, None))
        return observed

    return run


def only_place(observed: Observed, function: str = "memcpy") -> tuple[Place, Seen]:
    found = {p: s for p, s in observed.places.items() if p.is_own and p.function == function}
    ((place, seen),) = found.items()
    return place, seen


# --- What it sees ---------------------------------------------------------------------------------


def test_a_place_has_its_calls_and_all_ways(tried, check: Path) -> None:
    observed = tried("copies", 5000, 500_000)
    place, seen = only_place(observed)
    assert (place.module, place.function, place.least) == (str(check), "memcpy", 4096)
    # calls that are timed together count as soon as the first of them comes
    assert 500_000 <= seen.calls <= 500_000 + 256
    assert seen.copied == 5000 * seen.calls
    assert seen.cycles and seen.together
    for cycle in seen.cycles:
        assert sorted(block.way for block in cycle) == sorted([LIBC, LIBC_AGAIN, ROUTINE])
        for block in cycle:
            assert len(block.seconds) == len(block.sizes) <= 8
            assert all(0 < seconds < 60 for seconds in block.seconds)
            assert all(abs(size - 5000 / 4096) < 0.001 for size in block.sizes)
    assert len({tuple(block.way for block in cycle) for cycle in seen.cycles}) > 1, "orders"
    both = [{block.way for block in pair} for pair in seen.together.values()]
    assert {LIBC, ROUTINE} in both and all(ways <= {LIBC, ROUTINE} for ways in both)
    assert len({pair.number // 2 for pair in seen.together}) == len(seen.together), "one of two"
    periods = [spent for pair in observed.together.values() for spent in pair]
    usual = [spent.within / spent.seconds for spent in periods if spent.within]
    assert len(usual) > 0.8 * len(periods) and 0.5 < median(usual) < 1.1


@pytest.mark.parametrize(("size", "is_tried"), [(5000, False), (9000, True)])
def test_a_way_is_tried_from_its_least_size_on(tried, way, size: int, is_tried: bool) -> None:
    ways = [way("like"), way("like", "other", least=8192)]
    _, seen = only_place(tried("copies", size, 500_000, ways=ways))
    own = {LIBC, LIBC_AGAIN, ROUTINE, *(["other"] if is_tried else [])}
    assert seen.cycles and all({block.way for block in cycle} == own for cycle in seen.cycles)


LONG_COPIES = """
#include <string.h>
static char from[32 << 20], to[32 << 20];
int main(void)
{
    memset(from, 1, sizeof from);
    for (int i = 0; i < 300; ++i) memcpy(to, from, sizeof to);
    return 0;
}
"""


def test_places_of_long_calls_change_their_ways_after_few(tried, tmp_path: Path) -> None:
    """Else few cycles would come to an end in a program that has a hundred calls. Short calls
    have blocks of three and more, however loaded the machine is."""
    program = compiled(tmp_path / "long", LONG_COPIES, "-O1", "-fno-builtin")
    observed = tried(program=program)
    _, seen = only_place(observed)
    assert min(block.calls for cycle in seen.cycles for block in cycle) < 3
    # periods have several of them, so they are judged
    assert findings(observed, [LIBC, LIBC_AGAIN, ROUTINE]).unjudged < 0.1


TWO_SITES = """
#include <string.h>
static char a[1 << 20], b[1 << 20], to[1 << 20];
int main(void)
{
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    for (int i = 0; i < 3000; ++i) {
        memcpy(to, a, sizeof to);
        memcpy(to, b, sizeof to);
    }
    return 0;
}
"""


def test_the_routine_sees_two_call_sites_where_the_program_has_two(tried, way, tmp_path) -> None:
    """It remembers by return address which stores serve a site."""
    program = compiled(tmp_path / "two", TWO_SITES, "-O1", "-fno-builtin")
    observed = tried(program=program, ways=[way("sites")])
    measured = [seen.measured.get(ROUTINE, (0, 0)) for seen in observed.places.values()]
    assert sum(count > 20 for count, _ in measured) == 2


def test_rare_long_calls_are_no_usual_time_of_a_period(tried, way) -> None:
    """Half of the routine's time is in one call of 20,000; libc has no such calls."""
    observed = tried("copies", 4096, 8_000_000, ways=[way("rarely")])
    periods = [spent for pair in observed.together.values() for spent in pair]

    def usual(name: str) -> float:
        taken = [one for one in periods if one.way == name and one.within]
        return sum(one.within for one in taken) / sum(one.seconds for one in taken)

    assert usual(ROUTINE) < 0.8 * usual(LIBC)
    assert findings(observed, [LIBC, LIBC_AGAIN, ROUTINE]).gain.high < 0  # they are its own


def test_a_way_that_is_plainly_slower_leaves_early(tried, way) -> None:
    ways = [way("like"), way("slow", "other")]
    _, seen = only_place(tried("copies", 4096, 3_000_000, ways=ways))
    with_it = ["other" in {block.way for block in cycle} for cycle in seen.cycles]
    assert with_it[0] and not with_it[-1] and sum(with_it) <= 20


# SEED, then COUNT PERCENT, once or more: in so many of 100 cycles the last way is plainly slower.
# Prints the number of cycles until it left, or of all.
CYCLES = """
#include "draw.h"
#include "trial.h"
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words)
{
    static struct trial_place place = {.ways = 4, .racing = 4, .order = {0, 1, 2, 3},
                                       .pages = TRIAL_PLACE_PAGES};
    long cycles = 0;
    tried.random = (uint64_t)atol(words[1]);
    for (int i = 2; i + 1 < count; i += 2) {
        for (long left = atol(words[i]); left > 0 && place.racing == 4; --left, ++cycles) {
            for (int way = 0; way < 4; ++way) place.ticks[way] = 16000;
            const long drawn = (long)draw_below(&tried.random, 100);
            if (drawn < atol(words[i + 1])) place.ticks[3] = 20000;
            begin_cycle(&place);
        }
    }
    printf("%ld\\n", cycles);
    return 0;
}
"""


def test_a_way_leaves_if_it_is_slower_in_most_of_the_last_cycles(tmp_path: Path) -> None:
    """In two of five it is so by luck, and in a few after many others for a moment."""
    record = CHECKERS.parents[1] / "tuner" / "record"
    folders = (f"-I{record}", f"-I{record.parent / 'machine' / HOST.name}")
    flags = ("-std=gnu11", "-O1", "-fno-builtin", "-D_GNU_SOURCE", *folders)
    program = compiled(tmp_path / "cycles", CYCLES, *flags, *record.glob("*.c"), "-ldl")

    def left_after(*shares: int) -> list[int]:
        return [int(output_of(program, seed, *shares)) for seed in range(20)]

    assert left_after(2000, 100) == 20 * [10]
    assert max(left_after(2000, 60)) < 300
    assert left_after(2000, 40) == 20 * [2000]
    assert left_after(1000, 0, 50, 100, 1000, 0) == 20 * [2050]
    assert max(left_after(10_000, 0, 1000, 100)) < 10_200  # now it is slower for good


def test_sizes_below_512_bytes_are_judged_together_alone(tried) -> None:
    observed = tried("copies", 100, 1_000_000)
    ((place, seen),) = observed.places.items()
    assert not place.is_own and not seen.cycles and seen.together
    assert seen.calls == pytest.approx(1_000_000, rel=0.01)
    assert seen.copied == 100 * seen.calls


SANDBOXED = """
#include <string.h>
#include "restrictions.h"
static char from[8192], to[8192];
int main(void)
{
    for (int i = 0; i < 200000; ++i) memcpy(to, from, 5000);
    restrict_calls(NULL, 0, 0, 0);
    for (int i = 0; i < 3000000; ++i) memcpy(to, from, 5000);
    for (int i = 0; i < 200000; ++i) memcpy(to, from, 2500);
    return 0;
}
"""


def test_after_a_sandbox_neither_places_nor_figures_are_too_many(tried, tmp_path: Path) -> None:
    """That no more of them are kept has one reason, which is told."""
    include = f"-I{CHECKERS.parent / 'record'}"
    program = compiled(tmp_path / "own", SANDBOXED, "-std=gnu11", "-O1", "-fno-builtin", include)
    assert tried(program=program).limits == {blocks.QUIET}


@pytest.mark.parametrize("explore", [None, 60_000])
def test_all_functions_copy_right(tried, checker, explore) -> None:
    """In operation calls go on by the routine's own functions, which need not have all of them."""
    tried("copies", explore=explore, program=checker)
    observed = tried("functions", 20, explore=explore)
    functions = {place.function for place in observed.places if place.is_own}
    assert functions == {"memcpy", "memmove", "mempcpy", "memset"} or (explore and functions)


def test_a_routine_without_memset_leaves_sets_to_libc(tried, way) -> None:
    observed = tried("functions", 20, ways=[way("like", set="-")])
    sets = [seen for place, seen in observed.places.items() if place.function == "memset"]
    assert sets and not any(seen.cycles for seen in sets)


def test_a_library_with_a_map_is_taken_by_all_places_together_alone(tried, way) -> None:
    """They call it with the program's return address: on another one it ends the program."""
    whole = way("strict", "map", set="-", is_whole=True)
    _, seen = only_place(tried("copies", 4096, 4_000_000, ways=[way("like"), whole]))
    assert {block.way for cycle in seen.cycles for block in cycle} == {LIBC, LIBC_AGAIN, ROUTINE}
    pairs = {frozenset(block.way for block in pair) for pair in seen.together.values()}
    whole_pairs = [one for one in pairs if len(one) == 2]
    assert sorted(map(sorted, whole_pairs)) == [[LIBC, "map"], [LIBC, ROUTINE]]
    assert 0 < seen.own_calls < seen.calls / 3  # one pair of eight is of places by themselves


def test_in_operation_a_part_of_the_calls_is_tried_and_all_are_counted(tried) -> None:
    _, seen = only_place(tried("copies", 4096, 4_000_000, explore=4))
    assert 4_000_000 <= seen.calls <= 4_000_000 + 128 * 65
    assert seen.cycles and seen.together and 0 < seen.own_calls < seen.calls / 2


def test_in_operation_a_slower_routine_is_left_for_libc(tried, way) -> None:
    """By the pairs of periods that each loses or wins."""
    slow = tried("copies", 4096, 4_000_000, ways=[way("slow")], explore=4)
    assert slow.easy_libcs > slow.easy_others


# --- What a program may do ------------------------------------------------------------------------


# Sizes are 64 times as large as in the tests of counting.
SITUATIONS = {
    "children": ("children", 5000),
    "signals": ("signals", 300),
    "jumps": ("jumps", 300),
    "fork_in_handler": ("fork_in_handler",),
    "kill": ("end", "kill", 20_000),
    "_exit": ("end", "exit", 20_000),
    "places": ("places",),
    "exec": ("exec", 5000),
    **{how: ("restricted", how, 5000) for how in ("calls", "rights", "stamp", "strict")},
    **{f"probed {how}": ("probed", how, 5000) for how in ("mode", "filter", "privileges")},
    "small_stack": ("small_stack", 500),
    "guest": ("guest", "root", 5000),
    "threads": ("threads", 16, 4000),
}


@pytest.mark.parametrize("explore", [None, 3])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_program_goes_on_and_what_was_seen_is_kept(tried, situation: str, explore) -> None:
    code = -9 if situation == "kill" else 0
    observed = tried("x64", *SITUATIONS[situation], code=code, explore=explore)
    assert observed.places
    assert observed.processes >= {"children": 4, "exec": 4}.get(situation, 1)
    if situation == "threads":  # each has a table of its own
        assert observed.threads >= 16
        assert sum(seen.calls for seen in observed.places.values()) >= 16 * 8000
    if explore is None:
        assert any(seen.cycles for seen in observed.places.values())
        assert situation != "places" or blocks.PLACES_FULL in observed.limits
        assert situation != "calls" or blocks.QUIET in observed.limits
        if situation.startswith("probed"):
            assert not observed.limits & {blocks.NO_COUNTER, blocks.QUIET}
        if situation in ("stamp", "strict"):
            assert observed.limits & {blocks.NO_COUNTER, blocks.QUIET} == {blocks.NO_COUNTER}


def test_in_operation_a_process_that_tried_nothing_leaves_nothing(tried, recorder) -> None:
    tried("copies", 100, 50, explore=3)
    assert not list(recorder.folder.iterdir())
    tried("x64", *SITUATIONS["_exit"], explore=3)
    assert list(recorder.folder.iterdir())


def test_in_operation_ended_processes_leave_so_many_files_at_most(tried, recorder) -> None:
    """The newest one takes the place of another."""
    assert tried("copies", 4096, 3_000_000, explore=2).places
    assert [path.name.partition("-")[0] for path in recorder.folder.iterdir()] == ["ended"]
    for number in range(1024):
        (recorder.folder / f"ended-{number}.raw").touch()
    tried("copies", 4096, 3_000_000, explore=2)
    files = list(recorder.folder.iterdir())
    assert len(files) == 1024 and 1 <= sum(path.stat().st_size > 0 for path in files) <= 2


def test_in_operation_large_files_of_ended_processes_have_few_names(tried, recorder) -> None:
    """So these are no more than some 64 MiB."""
    for _ in range(8):
        tried("threads", 64, 4000, explore=1)
    files = list(recorder.folder.iterdir())
    assert files
    for path in files:
        takes, number = path.stat().st_blocks * 512, int(path.stem.removeprefix("ended-"))
        assert takes > 1 << 20 and (number + 1) * takes < 80 << 20


@pytest.mark.parametrize("situation", [("restricted", "calls"), ("probed", "filter")])
def test_in_operation_so_do_those_that_restrict_their_calls(tried, recorder, situation) -> None:
    """After that none can give its file another name. A probe is not a restriction."""
    for _ in range(3):
        tried(*situation, 200_000, explore=2)
        assert {path.name.partition("-")[0] for path in recorder.folder.iterdir()} <= {"ended"}
    assert (len(list(recorder.folder.iterdir())) == 3) or situation[0] == "probed"


def test_what_ended_processes_left_goes_when_it_is_read(tried, way, recorder) -> None:
    tried("x64", *SITUATIONS["children"])
    seen, left = Tried([way("like")]), left_files(recorder.folder)
    seen.read(recorder.folder, files=left)
    assert left and seen.observed.places and not list(recorder.folder.glob("*.raw"))
    seconds = seen.observed.cpu_seconds
    seen.read(recorder.folder)
    assert 0 < seconds == seen.observed.cpu_seconds


def test_a_program_whose_own_mmap_copies_is_tried(tried, own_mmap: Path) -> None:
    """Its first thread, too."""
    observed = tried(300_000, program=own_mmap)
    assert any(place.least == 4096 and seen.cycles for place, seen in observed.places.items())


@pytest.mark.parametrize("situation, loaded", [("children", 1), ("exec", 4)])
def test_cpu_time_counts_once(tried, way, recorder, situation: str, loaded: int) -> None:
    """An exec goes on with the process's clock, and a child has its own from the fork on."""
    tried("x64", *SITUATIONS[situation])
    left = [read_process(path) for path in recorder.folder.glob("*.raw")]
    by_pid = {one.pid: max(o.cpu_seconds for o in left if o.pid == one.pid) for one in left}
    seen, in_operation = Tried([way("like")]), Tried([way("like")])
    seen.read(recorder.folder)
    assert seen.observed.cpu_seconds == pytest.approx(sum(by_pid.values()))
    assert len([one for one in left if one.cpu_before]) == loaded
    since = sum(one.cpu_seconds - one.cpu_before for one in left)
    in_operation.read(recorder.folder, in_operation=True)
    assert in_operation.observed.cpu_seconds == pytest.approx(since)


def test_a_library_that_comes_and_goes_is_a_place(tried, check: Path) -> None:
    plugin = check.with_name("plugin.so")
    observed = tried("plugin", plugin, 200)
    assert str(plugin) in {place.module for place in observed.places}


def test_a_library_that_cannot_be_loaded_is_told(tried, way) -> None:
    for bad in (way("missing"), way("like", copy="no_such_function")):
        observed = tried("copies", 4096, 1000, ways=[bad])
        assert blocks.NO_WAY in observed.limits
        assert not any(seen.cycles for seen in observed.places.values())


@pytest.mark.parametrize("largest", [0, 1 << 20, 8 << 20])
def test_a_limit_on_the_size_of_files_ends_the_trial_not_the_program(tried, largest: int) -> None:
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (largest, largest))
    observed = tried("copies", 4096, 1000, preexec_fn=limit)
    assert observed.places == {}
    assert largest < 8 << 20 or blocks.FULL in observed.limits


def test_reading_takes_no_room(tried, recorder) -> None:
    """In memory that is full, a reader that fills a file's holes would be ended."""
    tried("copies", 4096, 5000)
    (path,) = recorder.folder.glob("*.raw")
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as copy:
        subprocess.run(["cp", "--sparse=always", path, copy.name], check=True)
        before = os.stat(copy.name).st_blocks
        read_trial(Path(copy.name), read_process(path), [LIBC, LIBC_AGAIN, ROUTINE], 1.0, None)
        assert os.stat(copy.name).st_blocks == before


def test_damage_is_told(tried, recorder, tmp_path: Path) -> None:
    tried("copies", 4096, 5000)
    (path,) = recorder.folder.glob("*.raw")
    process, whole, bad = read_process(path), path.read_bytes(), tmp_path / "bad.raw"
    for at, damage, said in (
        (file.RAW_BYTES, b"other!!", "another version"),
        (file._THREADS_AT, b"\xff\xff\xff", "places"),
    ):
        bad.write_bytes(whole[:at] + damage + whole[at + len(damage) :])
        with pytest.raises(TrialError, match=said):
            read_trial(bad, process, [LIBC, LIBC_AGAIN, ROUTINE], 1.0, None)
