"""Runs scripts/tune, without an installed package.

Usage: start.py [ARGUMENTS of scripts/tune]
"""

import sys
from pathlib import Path

# This replaces the script's own folder. With -m it would be the current folder, where a json.py
# belongs to others.
sys.path[0] = str(Path(__file__).parents[2])

from asterope.tune_script.command import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
