"""The options of asterope-tune, and the possible words of an option's value where the command reads
these words itself.

Completion offers the words. scripts/tune refuses other words and options before asterope-tune is
built, which takes minutes. Tests compare both with the words and options that the commands take.
"""

from __future__ import annotations

from . import workloads
from .spaces.kinds import OPERATIONS

# The key of the options that no command is named for.
SEARCH = ""

# Of each command of asterope-tune; an option that takes a value has `=` behind it.
OPTIONS = {
    SEARCH: "-h --help --version -o= --output= --system --user --cpu= --fresh --rigor= --workload= "
    "--operations= --sizes= --space= --reference= --threads= --source-map= --recording= --without= "
    "--log= --resume --time-budget= --interleave --seed= --verbose --strict --quiet --no-generate",
    "check": "-h --help --settled --measure --json= --cpu=",
    "diagnose": "-h --help --json= --cpu= --quick --only=",
    "merge": "-h --help -o= --output= --quiet",
    "replay": "-h --help -o= --output= --verbose --quiet --no-generate",
    "tunables": "-h --help -o= --output= --rigor= --workload= --sizes= --cpu= --quiet",
}

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


def options_of(command: str) -> dict[str, bool]:
    """The options of a command of asterope-tune, and whether each takes a value."""
    words = OPTIONS[command].split()
    return {word.rstrip("="): word.endswith("=") for word in words}
