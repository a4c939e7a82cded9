"""`python -m asterope`: lists the commands, and runs the one that is named."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .command_line import Parser
from .commands import COMMANDS, run_command

PROGRAM = "python -m asterope"


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:{width}}  {what}" for name, (what, _) in COMMANDS.items())
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} COMMAND [ARGUMENTS]",
        description="Finds the fastest memcpy for this machine and writes it as C.\n\n"
        f"commands, each also to be called as asterope-COMMAND:\n{commands}",
        epilog=f"{PROGRAM} COMMAND --help tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", nargs="?", choices=COMMANDS, help=argparse.SUPPRESS)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command that the first argument names with the rest; returns its exit code."""
    given = sys.argv[1:] if argv is None else list(argv)
    parser = _parser()
    # Words behind the command are its own, --help and --version too.
    command = parser.parse_args(given[:1]).command
    if command is None:
        parser.print_help()
        return 0
    return run_command(command, given[1:])


if __name__ == "__main__":
    sys.exit(main())
