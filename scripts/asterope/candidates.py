"""Build step: writes the C file of all candidates from the templates.

Usage: python -m asterope.candidates ARCHITECTURE OUTPUT
"""

from __future__ import annotations

import sys
from pathlib import Path

from .render import render_candidates

if __name__ == "__main__":
    Path(sys.argv[2]).write_text(render_candidates(sys.argv[1]), encoding="ascii")
