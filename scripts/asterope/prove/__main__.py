"""python -m asterope.prove: the command asterope-prove."""

import sys

from .command import main

sys.exit(main())
