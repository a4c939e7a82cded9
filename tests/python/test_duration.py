"""Lengths of time on command lines."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest
from asterope.duration import duration


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("1.5h", 5400)])
def test_a_time_has_a_unit(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "60", "s", "0s", "-1s", "1d", "1e3s", "nans", "9000h", "1 s"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="10m"):
        duration(text)
