"""Turns SIGINT, SIGTERM and SIGHUP into KeyboardInterrupt, and holds them back for a while."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupts_caught() -> AbstractContextManager[None]:
    """Inside, all of them raise KeyboardInterrupt; ignored ones stay so."""
    return _handled_by(_interrupt)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """The block inside is done as a whole: the signals come when it is over, or has failed.

    Blocking them would not do: they would go to the threads that numpy started.
    """
    came: list[int] = []
    try:
        with _handled_by(lambda number, _frame: came.append(number)):
            yield
    finally:
        if came:
            signal.raise_signal(came[0])


def run_in_foreground(command: Sequence[str]) -> int:
    """Runs a program to its end, which an interrupt leaves to it; returns its exit code, 128 more
    than the signal that killed it. A terminal sends SIGINT to both; the other signals are passed
    on."""
    child: subprocess.Popen | None = None
    early: list[int] = []  # came before it was there

    def pass_on(number: int, _frame: object) -> None:
        if number == signal.SIGINT:
            return
        if child is None:
            early.append(number)
        else:
            child.send_signal(number)

    with _handled_by(pass_on):
        child = subprocess.Popen(command)
        for number in early:
            child.send_signal(number)
        code = child.wait()
    return code if code >= 0 else 128 - code


def _interrupt(*_: object) -> NoReturn:
    for number in SIGNALS:  # the way out is not to be interrupted again
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


@contextmanager
def _handled_by(handler: Callable[[int, Any], object]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread only
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    handled = [number for number in SIGNALS if before[number] not in (signal.SIG_IGN, None)]
    try:
        for number in handled:
            signal.signal(number, handler)
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])
