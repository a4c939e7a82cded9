"""Copies of other libraries than libc in a program: the report names them, and gives no verdict."""

from __future__ import annotations

from pathlib import Path

import pytest
from asterope.faults import BadInput
from asterope.program import find_program
from asterope.record import others
from asterope.record.others import check_has_libcs, others_of, warnings_of, why_no_verdict
from asterope.record.raw import FIRST, NEXT, PROGRAM, ROUTINE, SANITIZER
from asterope.record.recording import make_recording
from asterope.record.table import advice
from copy_programs import compiled, need_way, shared_library
from made_up_processes import Kind, facts, made_up_process, pool_of

TSAN = ((SANITIZER, "ThreadSanitizer"), (NEXT, "/lib/libtsan.so.2"), (FIRST, "/app"))
SAID = {
    "a sanitizer": (TSAN, "the program has ThreadSanitizer, whose checks", "without the sanitizer"),
    "another library": (
        ((NEXT, "/usr/lib/libother.so.1"), (PROGRAM, "/usr/bin/true")),
        "that of libother.so.1, not libc's",
        "Not worth it",
    ),
    "its own": (
        ((FIRST, "/opt/app"), (ROUTINE, "/opt/app")),
        "app has an asterope_memcpy and a memcpy of its own, whose calls are not seen",
        "asterope-prove --against OTHER -- made-up --fast",
    ),
    "nothing": (((PROGRAM, "/usr/bin/true"),), "", "Not worth it"),
}


@pytest.mark.parametrize(("said", "warning", "next_step"), SAID.values(), ids=SAID)
def test_a_recording_says_it_and_what_to_do(said, warning: str, next_step: str) -> None:
    recording = make_recording(pool_of(made_up_process([], others=said)), facts())
    assert len(recording["warnings"]) == bool(warning)
    assert warning in "".join(recording["warnings"])
    assert next_step in advice(recording)


def test_what_else_copies_much_is_worth_a_trial_all_the_same() -> None:
    process = made_up_process([Kind(1 << 20, 40_000, 50e-6)], others=((FIRST, "/opt/app"),))
    recording = make_recording(pool_of(process), facts())
    assert "asterope-prove -- made-up" in advice(recording)
    assert recording["warnings"] == warnings_of(others_of(process.others))


def test_a_trial_tells_nothing_of_what_is_not_libc_s() -> None:
    for has_seen in (False, True):
        assert "prove a build without it" in why_no_verdict(TSAN, has_seen)
        assert "that of other.so: prove" in why_no_verdict([(NEXT, "/other.so")], has_seen)
        assert why_no_verdict([(PROGRAM, "/usr/bin/true")], has_seen) is None
    assert "app has a memcpy of its own" in why_no_verdict([(FIRST, "/app")], False)
    assert why_no_verdict([(FIRST, "/app")], True) is None


def test_a_program_with_a_sanitizer_is_refused_before_it_runs(tmp_path: Path) -> None:
    need_way(tmp_path, "cc", "-fsanitize=thread")
    text = "int main(void) { return 0; }\n"
    check_has_libcs(find_program([str(compiled(tmp_path / "plain", text))]))
    program = compiled(tmp_path / "checked", text, "-fsanitize=thread")
    with pytest.raises(BadInput, match=r"^checked: the program has ThreadSanitizer"):
        check_has_libcs(find_program([str(program)]))


def test_a_routine_that_all_programs_load_is_not_compared_with_itself(tmp_path, monkeypatch):
    library = shared_library(tmp_path / "routine.so", "void *memcpy(void *t) { return t; }\n")
    other = shared_library(tmp_path / "other.so", "int unused;\n")
    monkeypatch.setattr(others, "_PRELOADED", tmp_path / "ld.so.preload")
    (tmp_path / "ld.so.preload").write_text(f"# none\n{other} # but this\n")
    check_has_libcs(find_program(["true"]))
    (tmp_path / "ld.so.preload").write_text(f"{other}:{library}\n")
    with pytest.raises(BadInput, match=r"libc's place is that of routine\.so: "):
        check_has_libcs(find_program(["true"]))
