"""python -m asterope.report: the command asterope-report."""

import sys

from .command import main

sys.exit(main())
