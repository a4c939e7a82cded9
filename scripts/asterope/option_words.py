"""The possible words of an option's value, for options whose command reads these words itself.

Completion offers them, and scripts/tune refuses others before asterope-tune is built. Tests compare
them with the text of each option, and with the words that asterope-tune takes.
"""

from __future__ import annotations

from . import workloads
from .spaces.kinds import OPERATIONS

# A command's own entry goes before the one for all.
WORDS = {
    "--rigor": "quick standard exhaustive",
    "--workload": " ".join([*workloads.names("tunable"), "balanced"]),
    "--space": "paper extended",
    "--suite": "workloads sizes misalignment mix fixed states overlap threads all balanced "
    + " ".join(workloads.names("name")),
    "--peer": "all list",
    "--operation": " ".join(one.name for one in OPERATIONS),
    "--only": "working_set critical_stride misalignment aliasing store_forwarding huge_pages "
    "contents single_timings identical",
}

# The names that --help gives to a value of several words, which are separated by commas.
LISTS = ("NAMES", "LEVELS")
