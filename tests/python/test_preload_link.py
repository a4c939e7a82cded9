"""The printed command line that runs a command with a library works where paths have blanks."""

from pathlib import Path

import pytest
from asterope.preload_link import preload_line

LINK = "~/asterope_preload.so"


@pytest.mark.parametrize(
    ("library", "command", "line"),
    [
        ("/b/p.so", ["redis-server"], "LD_PRELOAD=/b/p.so redis-server"),
        ("/b/$x.so", ["sh", "-c", "a b", "c"], "LD_PRELOAD='/b/$x.so' sh -c 'a b' ..."),
        ("/s p/p.so", ["./x"], f"ln -sfn '/s p/p.so' {LINK} && LD_PRELOAD={LINK} ./x"),
        ("/s:p/p.so", ["./x"], f"ln -sfn /s:p/p.so {LINK} && LD_PRELOAD={LINK} ./x"),
    ],
)
def test_the_line_works_as_it_is_printed(library, command, line):
    assert preload_line(Path(library), command) == line
