"""Inputs of reports as files, how a test reads them, and what is looked at in a picture."""

from __future__ import annotations

import json
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pytest
from command_errors import exit_code_of, only_line_of
from profile_samples import good_profile
from report_samples import bench_results, log_lines
from trial_logs import log_text

only_line = partial(only_line_of, "asterope-report")


class Made:
    """The good inputs, each written when it is first asked for, and any others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: Any, name: str = "input") -> Path:
        """Writes text or bytes as they are, a list as a log, anything else as JSON."""
        if not isinstance(content, (str, bytes)):
            content = log_text(content) if isinstance(content, list) else json.dumps(content)
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    @cached_property
    def profile(self) -> Path:
        return self.put(good_profile(), "profile.json")

    @cached_property
    def log(self) -> Path:
        return self.put(log_lines(), "log.trials")

    @cached_property
    def bench(self) -> Path:
        return self.put(bench_results(), "bench.json")


@pytest.fixture
def made(tmp_path: Path) -> Made:
    from asterope.report.style import set_up

    set_up()
    return Made(tmp_path)


def read(*paths: object) -> Any:
    from asterope.report.inputs import read_inputs

    return read_inputs([str(path) for path in paths])


def run(*arguments: object) -> int:
    from asterope.report.command import main

    return exit_code_of(main, *arguments)


def is_dark_on_light(picture: Any) -> bool:
    """Whether the drawing is on white and has much that is not."""
    import matplotlib.backends.backend_agg as agg

    canvas = agg.FigureCanvasAgg(picture.figure)
    canvas.draw()
    pixels = bytes(canvas.buffer_rgba())
    return pixels[:3] == b"\xff\xff\xff" and len(set(zip(*[iter(pixels)] * 4))) > 20


def panels_of(picture: Any) -> dict[str, Any]:
    """The axes that have a title, by it."""
    titled = {axes.get_title(loc="left"): axes for axes in picture.figure.axes}
    return {title: axes for title, axes in titled.items() if title}
