"""The common part of the commands: errors are one line in the program's name, with the contract's
codes."""

import io
import signal

import pytest
from asterope.command_line import BAD_INPUT, Parser, run, show
from command_errors import only_line_of


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["--prefx", "a"], "--prefix"),
        (["a", "--outptu=b"], "--output"),
        (["--bogus"], None),
        (["-x\nmore"], None),
        (["--help-jsn"], "--help"),  # and not what is hidden
    ],
)
def test_bad_arguments_get_one_line_that_names_the_nearest_option(capsys, given, meant):
    parser = Parser(prog="asterope-some")
    parser.add_argument("file", nargs="*")
    parser.add_argument("-o", "--output")
    parser.add_argument("--prefix")
    with pytest.raises(SystemExit) as left:
        parser.parse_intermixed_args(given)
    assert left.value.code == BAD_INPUT == 2
    said = only_line_of("asterope-some", capsys)
    assert said.endswith(": see asterope-some --help\n")
    assert f"(did you mean {meant}?)" in said if meant else "did you mean" not in said


def test_a_dash_inside_a_file_name_begins_no_option(capsys):
    parser = Parser(prog="asterope-some")
    parser.add_argument("file")
    parser.add_argument("--prefix")
    with pytest.raises(SystemExit):
        parser.parse_args(["a.c", "my-prefix.c"])
    said = only_line_of("asterope-some", capsys)
    assert "unrecognized arguments: my-prefix.c: see" in said


def test_what_the_encoding_of_the_output_lacks_is_escaped():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="latin-1")
    show("wrote ä日.html", stream)
    assert raw.getvalue() == "wrote ä\\u65e5.html\n".encode("latin-1")


def test_options_of_a_program_to_run_are_told_where_they_go(capsys):
    parser = Parser(prog="asterope-some")
    parser.add_argument("command", metavar="COMMAND", nargs="+")
    with pytest.raises(SystemExit):
        parser.parse_args(["/bin/ls", "-la"])
    assert ": -la (the program and its options go behind --): " in capsys.readouterr().err
    assert parser.parse_args(["--", "/bin/ls", "-la"]).command == ["/bin/ls", "-la"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_told_in_one_line_and_the_way_out_is_not_interrupted(capsys, number):
    way_out = []

    def command() -> int:
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(number)
            way_out.append("cleaned up")
        return 0

    before = signal.getsignal(number)
    assert run("asterope-some", command) == 130
    assert capsys.readouterr().err == "asterope-some: interrupted\n"
    assert way_out == ["cleaned up"]
    assert signal.getsignal(number) == before


def test_what_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run("asterope-some", lambda: signal.raise_signal(signal.SIGHUP) or 0) == 0
    finally:
        signal.signal(signal.SIGHUP, before)
