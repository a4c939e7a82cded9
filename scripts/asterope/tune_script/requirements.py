"""Prints the Python packages that .venv holds, one a line, from the lists of pyproject.toml.

Usage: requirements.py tune|test

Installing the project itself would be shorter, but builds the C++ once more.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

EXTRAS = {"tune": [], "test": ["test", "report"]}


def requirements(root: Path, purpose: str) -> list[str]:
    """Their lists are lists of Python's, too: tomllib came with Python 3.11 alone."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    found = []
    for name in ["dependencies", *EXTRAS[purpose]]:
        array = re.search(rf"^{name} = (\[.*?\])$", text, re.MULTILINE | re.DOTALL)
        found += ast.literal_eval(array[1])
    return found


if __name__ == "__main__":
    print("\n".join(requirements(Path(__file__).parents[3], sys.argv[1])))
