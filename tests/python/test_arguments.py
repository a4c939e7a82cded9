"""Values on command lines: lengths of time, whole numbers, names of files."""

from argparse import ArgumentTypeError

import pytest
from asterope.arguments import duration, file_name, whole_number


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("1.5h", 5400)])
def test_a_time_has_a_unit(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "60", "s", "0s", "-1s", "1d", "1e3s", "nans", "9000h", "1 s"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ArgumentTypeError, match="10m"):
        duration(text)


@pytest.mark.parametrize("text", ["", "5", "10001", "-6", "6.0", "6 ", "1e1"])
def test_a_whole_number_has_bounds(text):
    assert (whole_number(6, 10_000)("6"), whole_number(6, 10_000)("10000")) == (6, 10_000)
    with pytest.raises(ArgumentTypeError, match="no whole number from 6 to 10000"):
        whole_number(6, 10_000)(text)


def test_a_file_has_a_name():
    assert file_name("a b") == "a b"
    with pytest.raises(ArgumentTypeError, match="must not be empty"):
        file_name("")
