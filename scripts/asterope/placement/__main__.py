"""python -m asterope.placement: the command asterope-placement."""

import sys

from .command import main

sys.exit(main())
