"""What the commands share: errors are one line in the program's name, with the contract's codes."""

import pytest
from asterope.command_line import BAD_INPUT, FAILED, Parser, fail


def test_bad_arguments_get_one_line_and_exit_2(capsys):
    parser = Parser(prog="asterope-some")
    with pytest.raises(SystemExit) as left:
        parser.parse_args(["--unknown\nand more"])
    assert left.value.code == BAD_INPUT == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("asterope-some: ")
    assert said.err.endswith(": see asterope-some --help\n")
    assert said.err.count("\n") == 1


def test_a_failure_is_told_in_the_programs_name_and_hands_on_its_code(capsys):
    assert fail("asterope-some", "no such thing", FAILED) == 1
    assert capsys.readouterr().err == "asterope-some: no such thing\n"
