"""The trial inside a program: what it sees is right, and whatever the program does, it goes on."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from asterope.prove.trial.blocks import (
    FULL,
    LIBC,
    LIBC_AGAIN,
    NO_COUNTER,
    NO_WAY,
    PLACES_FULL,
    QUIET,
    ROUTINE,
    Observed,
    Place,
    Seen,
)
from asterope.prove.trial.file import TrialError, read_trial
from asterope.prove.trial.findings import findings
from asterope.prove.trial.ways import Way, environment, names_of
from asterope.record.raw import read_process
from copy_programs import output_of, shared_library

HERE = Path(__file__).parent
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fno-builtin")

# The routine of these tests copies right, and takes `spin` more for each call.
SLOW = """
#include <stddef.h>
void *own_memcpy(void *to, const void *from, size_t bytes);
void *own_memset(void *to, int value, size_t bytes);
void *own_memmove(void *to, const void *from, size_t bytes);
static void spin(void) { for (volatile int i = 0; i < SPIN; ++i) { } }
void *own_memcpy(void *to, const void *from, size_t bytes)
{
    const void *source = from;
    void *target = to;
    spin();
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
    return to;
}
void *own_memmove(void *to, const void *from, size_t bytes)
{
    volatile unsigned char *target = to;
    const volatile unsigned char *source = from;
    if ((size_t)(target - source) >= bytes) return own_memcpy(to, from, bytes);
    while (bytes-- > 0) target[bytes] = source[bytes];
    return to;
}
void *own_memset(void *to, int value, size_t bytes)
{
    void *target = to;
    spin();
    __asm__ volatile("rep stosb" : "+D"(target), "+c"(bytes) : "a"(value) : "memory");
    return to;
}
"""
PLUGIN = """
#include <stddef.h>
void call(void *(*copy)(void *, const void *, size_t), long calls);
void call(void *(*copy)(void *, const void *, size_t), long calls)
{
    static char from[2048], to[2048];
    while (calls-- > 0) copy(to, from, sizeof to);
}
"""


# Copies for the program itself and for nobody else.
STRICT = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>
void *own_memcpy(void *to, const void *from, size_t bytes);
void *own_memcpy(void *to, const void *from, size_t bytes)
{
    Dl_info caller;
    if (!dladdr(__builtin_return_address(0), &caller) || !strstr(caller.dli_fname, "trial_check"))
        _exit(9);
    void *target = to;
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(from), "+c"(bytes) : : "memory");
    return to;
}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trial_check")
    output_of(
        "cc", *FLAGS, HERE / "trial_check.c", "-o", folder / "trial_check", "-pthread", "-ldl"
    )
    for name, spin in (("like", 0), ("slow", 1000)):
        shared_library(folder / f"{name}.so", SLOW.replace("SPIN", str(spin)))
    shared_library(folder / "plugin.so", PLUGIN)
    shared_library(folder / "strict.so", STRICT)
    return folder


@pytest.fixture
def tried(build_dir: Path, programs: Path, tmp_path: Path) -> Callable[..., Observed]:
    """Runs trial_check in a trial; returns what was seen of all its processes."""
    folder = tmp_path / "raw"
    folder.mkdir()

    def run(
        *arguments: object,
        ways: Sequence[Way] = (),
        code: int = 0,
        explore: int | None = None,
        **settings,
    ) -> Observed:
        names = ways or [Way(ROUTINE, programs / "like.so", "own_memcpy", "own_memset")]
        done = subprocess.run(
            [str(programs / "trial_check"), *map(str, arguments)],
            env={
                **environment(build_dir / "libasterope_record.so", folder, names, explore),
                "ASTEROPE_RECORD_SEED": "1",
            },
            capture_output=True,
            timeout=120,
            **settings,
        )
        if done.returncode == 77:
            pytest.skip("this machine cannot do that")
        assert (done.returncode, done.stderr) == (code, b"")
        observed = Observed()
        for path in folder.glob("*.raw"):
            if path.stat().st_size:
                observed.add(read_trial(path, read_process(path), names_of(names)))
        return observed

    return run


def only_place(observed: Observed, function: str = "memcpy") -> tuple[Place, Seen]:
    found = {p: s for p, s in observed.places.items() if p.is_own and p.function == function}
    ((place, seen),) = found.items()
    return place, seen


def way(programs: Path, name: str, library: str) -> Way:
    return Way(name, programs / f"{library}.so", "own_memcpy", "own_memset")


# --- What it sees ---------------------------------------------------------------------------------


def test_a_place_has_its_calls_and_all_ways(tried, programs: Path) -> None:
    place, seen = only_place(tried("copies", 5000, 500_000))
    assert (place.module, place.function, place.least) == (
        *(str(programs / "trial_check"), "memcpy", 4096),
    )
    # calls that are timed together count as soon as the first of them comes
    assert 500_000 <= seen.calls <= 500_000 + 256
    assert seen.cycles and seen.together
    for cycle in seen.cycles:
        assert sorted(block.way for block in cycle) == sorted([LIBC, LIBC_AGAIN, ROUTINE])
        for block in cycle:
            assert len(block.seconds) == len(block.sizes) <= 8
            assert all(0 < seconds < 60 for seconds in block.seconds)
            assert all(abs(size - 5000 / 4096) < 0.001 for size in block.sizes)
    orders = {tuple(block.way for block in cycle) for cycle in seen.cycles}
    assert len(orders) > 1
    both = [{block.way for block in pair} for pair in seen.together.values()]
    assert {LIBC, ROUTINE} in both and all(ways <= {LIBC, ROUTINE} for ways in both)


def test_each_way_is_taken_and_what_it_takes_is_booked_on_it(tried, programs: Path) -> None:
    """A thousand turns of a loop a call are seen, and seen where they are."""
    slow = tried("copies", 4096, 8_000_000, ways=[way(programs, ROUTINE, "slow")])
    found = findings(slow, [LIBC, LIBC_AGAIN, ROUTINE])
    one = next(one for one in found.places if one.place.is_own and one.ratios)
    assert one.ratios[ROUTINE].high < 0.9
    assert one.best == LIBC
    assert found.gain.high < 0


def test_a_way_that_is_plainly_slower_leaves_early(tried, programs: Path) -> None:
    ways = [way(programs, ROUTINE, "like"), way(programs, "other", "slow")]
    _, seen = only_place(tried("copies", 4096, 3_000_000, ways=ways))
    with_it = ["other" in {block.way for block in cycle} for cycle in seen.cycles]
    assert with_it[0] and not with_it[-1] and sum(with_it) <= 20


def test_sizes_below_512_bytes_are_judged_together_alone(tried) -> None:
    observed = tried("copies", 100, 1_000_000)
    ((place, seen),) = observed.places.items()
    assert not place.is_own and not seen.cycles and seen.together
    assert seen.calls == pytest.approx(1_000_000, rel=0.01)


def test_all_functions_copy_right(tried) -> None:
    observed = tried("functions")
    functions = {place.function for place in observed.places if place.is_own}
    assert functions == {"memcpy", "memmove", "mempcpy", "memset"}


def test_a_routine_without_memset_leaves_sets_to_libc(tried, programs: Path) -> None:
    ways = [Way(ROUTINE, programs / "like.so", "own_memcpy")]
    observed = tried("functions", ways=ways)
    for place, seen in observed.places.items():
        taken = {block.way for cycle in seen.cycles for block in cycle}
        if place.function == "memset":
            assert taken <= {LIBC, LIBC_AGAIN}


def test_a_library_with_a_map_is_taken_by_all_places_together_alone(tried, programs: Path) -> None:
    """And with the return address of the program: it ends what calls it otherwise."""
    like = way(programs, ROUTINE, "like")
    whole = Way("map", programs / "strict.so", "own_memcpy", is_whole=True)
    _, seen = only_place(tried("copies", 4096, 1_000_000, ways=[like, whole]))
    assert {block.way for cycle in seen.cycles for block in cycle} == {LIBC, LIBC_AGAIN, ROUTINE}
    pairs = {frozenset(block.way for block in pair) for pair in seen.together.values()}
    whole_pairs = [one for one in pairs if len(one) == 2]
    assert sorted(map(sorted, whole_pairs)) == [[LIBC, "map"], [LIBC, ROUTINE]]


def test_in_operation_a_part_of_the_calls_is_tried_and_all_are_counted(tried) -> None:
    _, seen = only_place(tried("copies", 4096, 4_000_000, explore=4))
    assert 4_000_000 <= seen.calls <= 4_000_000 + 128 * 17
    assert seen.cycles and seen.together and 0 < seen.own_calls < seen.calls / 2


# --- What a program may do ------------------------------------------------------------------------


SITUATIONS = (
    *("forks", "signals", "leaps", "killed", "ends_by_exit", "places"),
    *("executes", "borrows", "filter", "renounces"),
)


@pytest.mark.parametrize("explore", [None, 3])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_program_goes_on_and_what_was_seen_is_kept(tried, situation: str, explore) -> None:
    observed = tried(situation, code=-9 if situation == "killed" else 0, explore=explore)
    assert observed.places
    assert observed.processes >= {"forks": 6, "borrows": 6, "executes": 2}.get(situation, 1)
    if explore is None:
        assert any(seen.cycles for seen in observed.places.values())
        assert situation != "places" or PLACES_FULL in observed.limits
        assert situation != "filter" or QUIET in observed.limits


def test_threads_have_tables_of_their_own(tried) -> None:
    observed = tried("threads", 16)
    assert observed.threads >= 16
    assert sum(seen.calls for seen in observed.places.values()) >= 16 * 20 * 200


def test_a_library_that_comes_and_goes_is_a_place(tried, programs: Path) -> None:
    observed = tried("plugin", programs / "plugin.so")
    assert str(programs / "plugin.so") in {place.module for place in observed.places}


@pytest.mark.parametrize("situation", ["no_counter", "strict"])
def test_without_the_time_stamp_copies_go_on(tried, situation: str) -> None:
    assert NO_COUNTER in tried(situation).limits


def test_a_library_that_cannot_be_loaded_is_told(tried, programs: Path) -> None:
    for bad in (
        Way(ROUTINE, programs / "missing.so", "own_memcpy"),
        Way(ROUTINE, programs / "like.so", "no_such_function"),
    ):
        observed = tried("copies", 4096, 1000, ways=[bad])
        assert NO_WAY in observed.limits and not any(s.cycles for s in observed.places.values())


@pytest.mark.parametrize("largest", [0, 1 << 20, 8 << 20])
def test_a_limit_on_the_size_of_files_ends_the_trial_not_the_program(tried, largest: int) -> None:
    limit = (largest, largest)
    observed = tried(
        "copies", 4096, 1000, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    )
    assert observed.places == {}
    assert largest < 8 << 20 or FULL in observed.limits


def test_damage_is_told(tried, programs: Path, tmp_path: Path) -> None:
    tried("copies", 4096, 5000)
    (path,) = (tmp_path / "raw").glob("*.raw")
    process = read_process(path)
    from asterope.prove.trial import file

    for at, bad, said in (
        (file.RAW_BYTES, b"other!!", "another version"),
        (file._THREADS_AT, b"\xff\xff\xff", "places"),
    ):
        whole = path.read_bytes()
        (tmp_path / "bad.raw").write_bytes(whole[:at] + bad + whole[at + len(bad) :])
        with pytest.raises(TrialError, match=said):
            read_trial(tmp_path / "bad.raw", process, [LIBC, LIBC_AGAIN, ROUTINE])
