"""Runs scripts/tune, without an installed package.

Usage: start.py [ARGUMENTS of scripts/tune]
"""

import sys
from pathlib import Path

# Instead of this folder; with -m it would be the current one, where a json.py is somebody else's.
sys.path[0] = str(Path(__file__).parents[2])

from asterope.tune_script.command import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
