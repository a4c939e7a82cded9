"""Makes scripts/tune-options: the options of asterope-tune, for scripts/tune before it is built.

    python3 scripts/packaging/options_list.py build > scripts/tune-options

A test finds out where the list is no longer what asterope-tune says of itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from manual import WORDS, describe, is_list

HEAD = """\
# The options of asterope-tune, made by scripts/packaging/options_list.py: the command ("-": none),
# the option's names, "=" where it takes a value, and the words that this may be where it is one.
"""


def _lines(name: str, options: Iterable[dict[str, Any]]) -> list[str]:
    lines = [name]
    for option in options:
        if not option["names"]:
            continue
        line = " ".join([name, *option["names"]])
        if option["argument"]:
            words = "" if is_list(option) else WORDS.get(option["names"][-1], "")
            line += f" = {words}".rstrip()
        lines.append(line)
    return lines


def options_list(programs: Path) -> str:
    """The whole file, from the asterope-tune in the folder `programs`."""
    tune = describe("tune", programs)
    lines = _lines("-", tune["options"])
    for command in tune["commands"]:
        lines += _lines(command["name"], command["options"])
    return HEAD + "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=Path, help="folder with asterope-tune")
    print(options_list(parser.parse_args().programs), end="")


if __name__ == "__main__":
    main()
