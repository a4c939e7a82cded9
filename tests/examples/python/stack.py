"""Stacks binary PPM images of one size into one numpy file, with the tuned copy."""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import tuned_copy

# Comments run from # to the end of the line.
GAP = rb"(?:\s|#[^\n]*\n)+"
HEADER = re.compile(rb"P6" + 3 * (GAP + rb"([0-9]{1,9})") + rb"\s")


class BadInput(Exception):
    """What is wrong with the arguments or an image."""


def read_image(path: str) -> np.ndarray:
    """The pixels, as rows x columns x colours: a view of the file's bytes, not a copy."""
    try:
        file = Path(path).read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot read: {error.strerror}") from error
    header = HEADER.match(file)
    width, height, brightest = map(int, header.groups()) if header else (0, 0, 0)
    if not (width and height and 0 < brightest < 65536):
        raise BadInput(f"{path}: no binary PPM image (P6)")
    pixel = np.dtype("u1" if brightest < 256 else ">u2")
    numbers = height * width * 3
    wanted, there = numbers * pixel.itemsize, len(file) - header.end()
    if there < wanted:
        raise BadInput(f"{path}: cut short: {there} of {wanted} bytes of pixels")
    return np.frombuffer(file, pixel, numbers, header.end()).reshape(height, width, 3)


def stacked(images: list[np.ndarray]) -> np.ndarray:
    """The images one after the other, copied by several threads: a copy does not hold the GIL."""
    stack = np.empty((len(images), *images[0].shape), images[0].dtype)
    with ThreadPoolExecutor() as threads:
        # list: asks for the results, and so for the errors.
        list(threads.map(tuned_copy.copy, stack, images))
    return stack


def what_it_is(image: np.ndarray) -> str:
    return f"{image.shape[1]}x{image.shape[0]} of {8 * image.itemsize} bits"


def run(arguments: list[str]) -> None:
    if len(arguments) < 2:
        raise BadInput("needs arguments: OUT.npy IN.ppm ...")
    target, *paths = arguments
    images = [read_image(path) for path in paths]
    first = images[0]
    for path, image in zip(paths, images):
        if (image.shape, image.dtype) != (first.shape, first.dtype):
            raise BadInput(f"{path}: {what_it_is(image)}, where {paths[0]} is {what_it_is(first)}")
    with open(target, "wb") as file:
        np.save(file, stacked(images))


def main() -> int:
    try:
        run(sys.argv[1:])
    except BadInput as error:
        print(f"stack: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"stack: cannot write: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
