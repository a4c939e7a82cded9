"""Checks the copies and the refusals of tuned_copy: python3 -m unittest check_tuned_copy"""

from __future__ import annotations

import unittest

import numpy as np
import tuned_copy

ORDERED = np.arange(24).reshape(4, 6)
REFUSED = [
    (np.zeros((2, 3)), np.ones(3), ValueError, r"shape \(3,\) does not fill \(2, 3\)"),
    (np.zeros((2, 3)), np.ones((3, 2)), ValueError, "does not fill"),
    (np.zeros(3, "i4"), np.ones(3, "f4"), TypeError, "float32 does not become"),
    (np.zeros(3, "<i4"), np.ones(3, ">i4"), TypeError, "does not become int32"),
    (np.zeros(12, int), np.arange(24)[::2], ValueError, "not in one piece"),
    (np.zeros(24, int), np.arange(24)[::-1], ValueError, "not in one piece"),
    (np.zeros((4, 2), int), ORDERED[:, 1:3], ValueError, "not in one piece"),
    (ORDERED[:, 1:3], np.zeros((4, 2), int), ValueError, "not in one piece"),
    (np.zeros((4, 6)), np.broadcast_to(1.0, (4, 6)), ValueError, "not in one piece"),
    (np.zeros((6, 4), int), ORDERED.T, ValueError, "the same order"),
    (np.frombuffer(b"abc", np.uint8), np.zeros(3, np.uint8), ValueError, "read-only"),
    (np.array([None]), np.array([1], dtype=object), TypeError, "Python objects"),
    (np.zeros(3), [1, 2, 3], TypeError, "two numpy arrays"),
    (bytearray(3), np.zeros(3, np.uint8), TypeError, "two numpy arrays"),
]


class Copies(unittest.TestCase):
    def test_a_copy_equals_its_source(self) -> None:
        for source in (
            *(np.arange(n, dtype=np.int32) for n in (0, 1, 100)),
            np.array(7),
            np.arange(3_000_000).reshape(3, 1000, 1000),
            np.arange(12.0).reshape(3, 4, order="F"),
            np.array([(1, 2.5), (3, 4.5)], dtype=[("n", "u1"), ("x", "f8")]),
            np.frombuffer(b"abcd", np.uint8),  # read-only
        ):
            to = np.zeros_like(source)
            tuned_copy.copy(to, source)
            np.testing.assert_array_equal(to, source)

    def test_an_overlap_is_minded_by_move_and_refused_by_copy(self) -> None:
        numbers = np.arange(10)
        for to, source in [(numbers[4:], numbers[:6]), (numbers[:6], numbers[4:])]:
            with self.assertRaisesRegex(ValueError, "overlap: use move"):
                tuned_copy.copy(to, source)
        self.assertEqual(numbers.tolist(), list(range(10)))
        tuned_copy.copy(numbers[5:], numbers[:5])  # neighbours
        self.assertEqual(numbers.tolist(), [0, 1, 2, 3, 4] * 2)
        tuned_copy.move(numbers[2:], numbers[:8])
        self.assertEqual(numbers.tolist(), [0, 1, 0, 1, 2, 3, 4, 0, 1, 2])

    def test_what_is_refused_is_left_alone(self) -> None:
        for to, source, error, words in REFUSED:
            for function in (tuned_copy.copy, tuned_copy.move):
                before = to.tolist() if isinstance(to, np.ndarray) else bytes(to)
                with self.assertRaisesRegex(error, words):
                    function(to, source)
                self.assertEqual(to.tolist() if isinstance(to, np.ndarray) else bytes(to), before)


if __name__ == "__main__":
    unittest.main()
