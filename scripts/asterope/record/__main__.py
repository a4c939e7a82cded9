"""python -m asterope.record: the command asterope-record."""

import sys

from .command import main

sys.exit(main())
