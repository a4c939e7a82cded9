"""Untrusted raw files: each is read, or refused in one line; none does more."""

from __future__ import annotations

import math
import mmap
import os
import random
import re
import struct
from collections import Counter
from pathlib import Path

import pytest
from asterope.record import raw
from asterope.record.calls import Call, Module, Site
from asterope.record.raw import RawError, left_files, read_folder, read_process


def raw_file(**fields: object) -> bytearray:
    """One as the recorder leaves it, of one slot; `fields`: other values of the header."""
    header = {
        **{"magic": b"asterec\0", "version": raw._VERSION, "pid": 77, "file_bytes": raw._LARGEST},
        **{"period": 4 << 20, "realtime_ns": 1_700_000_000 * 10**9},
        **{"started_ns": 10**9, "started_ticks": 5 * 10**9, "started_cpu_ns": 10**6},
        **{"noted0_ns": 0, "noted0_ticks": 0, "noted0_cpu_ns": 0},
        **{"noted1_ns": 3 * 10**9, "noted1_ticks": 11 * 10**9, "noted1_cpu_ns": 10**9},
        **{"note": 1, "stop": 0, "flags": 0, "slots": 1, "threads": 1, "modules": 1},
        **{"drawn": 4, "samples": 4096, "path_bytes": 8, "children_cpu_ns": 0},
        **{
            "has_ended": 1,
            "sanitizer": 0,
            "program": b"/a/b",
            "first": b"",
            "next": b"",
            "routine": b"",
        },
        **fields,
    }
    data = bytearray(raw._SLOTS_AT + raw._SLOT_BYTES)
    raw._HEADER.pack_into(data, 0, *(header[name] for name in raw._HEADER_FIELDS))
    raw._WAITED.pack_into(data, raw._WAITED_AT, 7 * 10**9, 42)  # two of them over the oldest ones
    for at, (seconds, pid) in {0: (2, 9), 1: (3, 8), 2: (1, 8), 3: (4, 9)}.items():
        room = raw._WAITED_AT + raw._WAITED.size + at * raw._CHILD.size
        raw._CHILD.pack_into(data, room, seconds * 10**9, pid)
    raw._MODULE.pack_into(data, raw._MODULES_AT, 0x1000, 0x9000, 0x500, 0, 8)
    data[raw._PATHS_AT : raw._PATHS_AT + 8] = b"/lib/a.b"
    for number, (timed, ready) in enumerate([(1, 1), (0, 1), (1, 2)]):
        sample = (100 + number, 0x2000, 50, 1, timed, ready)
        raw._SAMPLE.pack_into(data, raw._SAMPLES_AT + number * raw._SAMPLE.size, *sample)
    for place, calls, left in ((16, 9, 3), (530, 5, -1)):
        struct.pack_into("<Ii", data, raw._SLOTS_AT + 8 * place, calls, left)
    struct.pack_into("<I", data, raw._SLOTS_AT + raw._CELLS.size + 4 * 16, 2)
    return data


@pytest.fixture
def write(tmp_path: Path):
    def put(data: bytes) -> Path:
        path = tmp_path / "77-0.raw"
        path.write_bytes(data)
        return path

    return put


def refused(path: Path) -> str:
    """The one line, without the name of the file."""
    with pytest.raises(RawError) as error:
        read_process(path)
    line = str(error.value)
    assert line.isprintable()
    return line.removeprefix(f"{path}: ")


def test_everything_in_a_file_is_read(write) -> None:
    process = read_process(write(raw_file()))
    assert (process.pid, process.period, process.drawn) == (77, 4 << 20, 4)
    assert (process.started, process.seconds, process.cpu_seconds) == (1_700_000_000, 2.0, 1.0)
    assert process.tick_hz == 3 * 10**9
    assert (process.waited_seconds, process.waited_for) == (7.0, {8: 3.0, 9: 2.0})
    assert process.modules == [Module(0x1000, 0x9000, 0x500, "/lib/a.b")]
    assert process.counts == {"memcpy": {(16, 18): 9 + 2 * 2**30}, "memmove": {(20, 22): 5}}
    site, weight = Site("/lib/a.b", 0x1500), 2 / -math.expm1(-(96 + 256) / (4 << 20))
    assert process.samples == [  # one was being written
        Call("memmove", 100, site, pytest.approx(weight), 50),
        Call("memmove", 101, site, pytest.approx(weight), None),
    ]
    assert process.flags == set()


def test_flags_have_names(write) -> None:
    for bit, name in enumerate(("full", "shared_slots", "modules_full", "quiet")):
        assert read_process(write(raw_file(flags=1 << bit))).flags == {name}


def test_the_layout_is_the_recorder_s(repository: Path) -> None:
    """The facts of raw_file.h, by name."""
    text = (repository / "tuner" / "record" / "raw_file.h").read_text()
    facts = {
        **{"VERSION": raw._VERSION, "PAGE": raw._PAGE, "FUNCTIONS": len(raw.FUNCTIONS)},
        **{"CLASSES": raw._CLASSES, "CLASSES_ROOM": raw._CLASSES_ROOM, "SLOTS": raw._SLOTS},
        **{"MODULES": raw._MODULES, "PATHS": raw._PATHS, "SAMPLES": raw._SAMPLES},
        **{"FULL": raw._FLAGS["full"], "SHARED": raw._FLAGS["shared_slots"]},
        **{"QUIET": raw._FLAGS["quiet"], "MODULES_FULL": raw._FLAGS["modules_full"]},
        "FOLD_BITS": raw._FOLD_BITS,
        **{f"MEM{name[3:].upper()}": i for i, name in enumerate(raw.FUNCTIONS)},
    }
    for name, value in facts.items():
        assert re.search(rf"\bRAW_{name} = {value},", text), name


OUT_OF_BOUNDS = (
    *(("file_bytes", 4096), ("file_bytes", 1 << 60), ("period", 0), ("slots", 0), ("slots", 257)),
    *(("samples", 1 << 20), ("modules", 513), ("path_bytes", 1 << 30)),
)
# A field of the header, or a place in the file; what is there; what is said.
WRONG = [
    ("magic", b"elephant", "not a raw file of asterope-record"),
    ("magic", bytes(8), "never begun"),
    ("version", 9, "of version 9: this asterope-record reads 6"),
    *((field, value, f"damaged: {field} is {value}, not from ") for field, value in OUT_OF_BOUNDS),
    (raw._MODULES_AT, struct.pack("<Q", 0x9000), "damaged: a module from 0x9000 to 0x9000"),
    (raw._SAMPLES_AT + 24, b"\4", "damaged: there is no function 4"),
    (raw._SLOTS_AT + 8 * 500, b"\1", "damaged: calls of a size class 500"),
]


@pytest.mark.parametrize(("place", "value", "said"), WRONG, ids=repr)
def test_what_is_wrong_is_refused_in_one_line(write, place, value, said: str) -> None:
    data = raw_file(**{place: value}) if isinstance(place, str) else raw_file()
    if not isinstance(place, str):
        data[place : place + len(value)] = value
    assert refused(write(data)).startswith(said)


def test_a_file_that_is_cut_short_gives_what_it_holds(write) -> None:
    data = raw_file()
    assert "ends within its header" in refused(write(data[:100]))
    assert "empty" in refused(write(b""))
    samples = []
    for end in (raw._HEADER.size, 4096, *range(5000, len(data), 40_009)):
        process = read_process(write(data[:end]))
        assert "cut_short" in process.flags
        assert end >= raw._SLOTS_AT + raw._SLOT_BYTES or process.counts == {}
        samples.append(len(process.samples))
    assert set(samples) == {0, 2}


def test_damage_anywhere_is_read_or_refused(write) -> None:
    numbers = random.Random(17)
    outcomes = Counter()
    for _ in range(300):
        data = raw_file()
        for _ in range(numbers.choice([1, 10, 1000])):
            end = numbers.choice([1 << 10, 1 << 13, len(data)])
            data[numbers.randrange(end)] = numbers.randrange(256)
        try:
            read_process(write(data))
            outcomes["read"] += 1
        except RawError as error:
            outcomes["refused"] += 1
            assert str(error).isprintable()
    assert min(outcomes.values()) > 20, outcomes


def test_a_file_is_left_when_nobody_can_write_it_any_more(tmp_path: Path, write) -> None:
    (tmp_path / "other.txt").touch()
    path = write(raw_file())
    with path.open("r+b") as file:
        assert left_files(tmp_path) == []
        mapped = mmap.mmap(file.fileno(), 4096)
    assert left_files(tmp_path) == []
    mapped.close()
    assert left_files(tmp_path) == [path]


def test_what_is_no_file_is_refused_and_waited_for_by_nobody(tmp_path: Path, write) -> None:
    os.mkfifo(tmp_path / "1-0.raw")
    (tmp_path / "2-0.raw").mkdir()
    (tmp_path / "3-0.raw").symlink_to("nowhere")
    (tmp_path / "other.txt").write_text("not looked at")
    write(raw_file())
    processes, problems = read_folder(tmp_path)
    assert [process.pid for process in processes] == [77]
    assert len(problems) == 3
    assert all(line.startswith(str(tmp_path)) and line.isprintable() for line in problems)
