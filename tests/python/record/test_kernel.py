"""The kernel's share of a program's CPU time, and the advice if fresh pages cost much of it."""

from __future__ import annotations

import pytest
from asterope.record.kernel import Used, are_pages_the_cost, kernel_words

MIB = 1 << 20


def test_faults_are_told_for_each_mib_where_it_is_known_how_much_was_copied() -> None:
    whole = "The kernel took 45 % of the CPU time, with 2.56k page faults"
    assert kernel_words(0.45, 2560, 10 * MIB) == f"{whole} (256 for each MiB copied)"
    assert "(2560 for each" in kernel_words(0.45, 2560, MIB)
    assert kernel_words(0.45, 2560) == kernel_words(0.45, 2560, 99) == whole
    assert kernel_words(0.45, 0, 10 * MIB) == "The kernel took 45 % of the CPU time"
    assert kernel_words(1.0, 0, who="With libc it") == "With libc it took 100 % of the CPU time"


@pytest.mark.parametrize(
    ("share", "seconds", "faults", "copied", "are_it"),
    [
        (0.2, 0.01, 64, MIB, True),
        (0.19, 0.01, 256, MIB, False),  # the kernel takes little
        (0.9, 0.0001, 63, MIB, False),  # it does something else
        (0.9, 1, 10**6, None, False),
        (0.9, 1, 10**6, MIB - 1, False),  # a program that hardly copies
        (0.9, 0.34, 250, 3 * MIB, False),  # faults of its start alone
    ],
)
def test_pages_are_the_cost_where_all_say_so(share, seconds, faults, copied, are_it: bool) -> None:
    assert are_pages_the_cost(share, seconds, faults, copied) == are_it


def test_of_less_than_ten_ticks_the_share_is_not_known() -> None:
    assert not Used(0.09, 0.09).is_known and Used(0.1, 0.05).is_known
    assert (Used() + Used(2.0, 1.0, 3)).kernel_share == 0.5
    assert Used().kernel_share == 0.0
