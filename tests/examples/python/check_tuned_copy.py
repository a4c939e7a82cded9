"""Checks what tuned_copy copies and what it refuses: python3 -m unittest check_tuned_copy"""

from __future__ import annotations

import unittest

import numpy as np
import tuned_copy


class Copies(unittest.TestCase):
    def test_a_copy_equals_its_source(self) -> None:
        for shape in [(0,), (1,), (100,), (), (50, 100), (3, 1000, 1000)]:
            source = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
            to = np.zeros_like(source)
            tuned_copy.copy(to, source)
            np.testing.assert_array_equal(to, source)

    def test_columns_first_and_records_are_fine(self) -> None:
        for source in (
            np.arange(12.0).reshape(3, 4, order="F"),
            np.array([(1, 2.5), (3, 4.5)], dtype=[("n", "u1"), ("x", "f8")]),
        ):
            to = np.zeros_like(source)
            tuned_copy.copy(to, source)
            np.testing.assert_array_equal(to, source)

    def test_a_read_only_source_is_fine(self) -> None:
        to = np.zeros(4, np.uint8)
        tuned_copy.copy(to, np.frombuffer(b"abcd", np.uint8))
        self.assertEqual(to.tobytes(), b"abcd")

    def test_move_minds_the_overlap(self) -> None:
        numbers = np.arange(10)
        tuned_copy.move(numbers[2:], numbers[:8])
        self.assertEqual(numbers.tolist(), [0, 1, 0, 1, 2, 3, 4, 5, 6, 7])

    def test_neighbours_do_not_overlap(self) -> None:
        numbers = np.arange(10)
        tuned_copy.copy(numbers[5:], numbers[:5])
        self.assertEqual(numbers.tolist(), [0, 1, 2, 3, 4, 0, 1, 2, 3, 4])


class Refuses(unittest.TestCase):
    """Each of these raises, with both functions, and leaves the destination alone."""

    def refused(self, to: object, source: object, error: type[Exception], words: str) -> None:
        for function in (tuned_copy.copy, tuned_copy.move):
            before = memoryview(to).tobytes() if isinstance(to, np.ndarray) else None
            with self.assertRaisesRegex(error, words):
                function(to, source)
            if before is not None:
                self.assertEqual(memoryview(to).tobytes(), before)

    def test_an_overlap(self) -> None:
        numbers = np.arange(10)
        for to, source in [(numbers[4:], numbers[:6]), (numbers[:6], numbers[4:])]:
            with self.assertRaisesRegex(ValueError, "overlap: use move"):
                tuned_copy.copy(to, source)
        self.assertEqual(numbers.tolist(), list(range(10)))

    def test_other_shapes(self) -> None:
        self.refused(np.zeros(3), np.ones(4), ValueError, r"shape \(4,\) does not fill \(3,\)")
        self.refused(np.zeros((2, 3)), np.ones(3), ValueError, "does not fill")
        self.refused(np.zeros((2, 3)), np.ones((3, 2)), ValueError, "does not fill")

    def test_other_types(self) -> None:
        self.refused(np.zeros(3, "i4"), np.ones(3, "f4"), TypeError, "float32 does not become")
        self.refused(np.zeros(3, "<i4"), np.ones(3, ">i4"), TypeError, "does not become int32")

    def test_what_is_not_in_one_piece(self) -> None:
        whole = np.arange(24).reshape(4, 6)
        words = "not in one piece"
        self.refused(np.zeros(12, int), np.arange(24)[::2], ValueError, words)
        self.refused(np.zeros(24, int), np.arange(24)[::-1], ValueError, words)
        self.refused(np.zeros((4, 2), int), whole[:, 1:3], ValueError, words)
        self.refused(whole[:, 1:3], np.zeros((4, 2), int), ValueError, words)
        self.refused(np.zeros((6, 4), int), whole.T, ValueError, "the same order")
        self.refused(np.zeros((4, 6)), np.broadcast_to(1.0, (4, 6)), ValueError, words)

    def test_a_read_only_destination(self) -> None:
        read_only = np.frombuffer(b"abc", np.uint8)
        self.refused(read_only, np.zeros(3, np.uint8), ValueError, "read-only")

    def test_python_objects(self) -> None:
        objects = np.array([[1], [2]], dtype=object)
        other = np.array([None, None], dtype=object).reshape(2, 1)
        with self.assertRaisesRegex(TypeError, "Python objects"):
            tuned_copy.copy(other, objects)
        self.assertEqual(other.tolist(), [[None], [None]])

    def test_what_is_no_array(self) -> None:
        self.refused(np.zeros(3), [1, 2, 3], TypeError, "two numpy arrays")
        self.refused(bytearray(3), np.zeros(3, np.uint8), TypeError, "two numpy arrays")


if __name__ == "__main__":
    unittest.main()
