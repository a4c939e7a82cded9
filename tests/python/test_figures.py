"""Figures as people read them: few digits, in the unit that fits."""

from __future__ import annotations

import pytest
from asterope.figures import bytes_text, count_text


@pytest.mark.parametrize(
    ("text", "value", "shown"),
    [
        (count_text, 999.4, "999"),
        (count_text, 1230, "1.23k"),
        (count_text, 999_499, "999k"),
        (count_text, 999_600, "1M"),
        (count_text, 2e15, "2000T"),
        (bytes_text, 1010, "1010 B"),
        (bytes_text, 1023.7, "1 KiB"),
        (bytes_text, 1 << 20, "1 MiB"),
    ],
)
def test_a_figure_that_rounds_to_the_next_unit_is_in_that(text, value, shown):
    assert text(value) == shown
