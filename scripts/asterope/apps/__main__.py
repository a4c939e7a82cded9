"""python -m asterope.apps: the command asterope-apps."""

import sys

from .command import main

sys.exit(main())
