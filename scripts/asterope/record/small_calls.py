"""What small copies take in a program: far less than what the timing of a single one says.

A timing waits until all before it is done and lets nothing begin until it is over. In a program a
copy of some bytes overlaps with what comes before and behind it, and most of its latency is hidden:
20 million calls of 2 to 4 bytes took 1.2 ns each in a row and 16 ns each when timed alone. So the
program's own calls, in their recorded order, are made once more in a row by libc's copy, with
cached buffers (recorder.time_trace), and what was timed alone is scaled to that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from .calls import COPIES, HIDDEN_SECONDS, Call
from .raw import BurstCall

# From here on a copy is timed as it is: what is hidden of it is little.
SMALL = 2048

# A program hides more of a copy than its neighbours do, or less, where it waits for the copy's
# result or its branches are predicted worse than in a row.
RANGE_FACTOR = 2.0

# Fewer calls than this in the trace say nothing of the others.
LEAST_CALLS = 256

Trace = Sequence[tuple[int, int, int]]  # size, source and destination modulo 64
TimeTrace = Callable[[Trace], float]  # mean ticks of a call; raises OSError


def scaled_to_a_row(
    calls: Sequence[Call],
    bursts: Sequence[Sequence[BurstCall]],
    tick_hz: float,
    time_trace: TimeTrace,
) -> list[Call]:
    """The same calls, the small copies among them with what they take in a row. Unchanged where
    that is not known."""
    trace = [
        (call.size, call.source_mod, call.destination_mod)
        for burst in bursts
        for call in burst
        if call.function in COPIES and call.size < SMALL
    ]
    alone = [
        (call.weight, call.seconds)
        for call in calls
        if _is_small(call) and call.seconds is not None and call.seconds <= HIDDEN_SECONDS
    ]
    weight = sum(weight for weight, _ in alone)
    mean = sum(weight * seconds for weight, seconds in alone) / weight if weight else 0.0
    if len(trace) < LEAST_CALLS or mean <= 0 or not tick_hz:
        return list(calls)
    try:
        in_a_row = time_trace(trace) / tick_hz
    except OSError:
        return list(calls)
    scale, wait = min(1.0, in_a_row / mean), _mean_wait(calls)
    return [_scaled(call, scale, wait) if _is_small(call) else call for call in calls]


def _is_small(call: Call) -> bool:
    return call.size < SMALL and call.function in COPIES


def _mean_wait(calls: Sequence[Call]) -> float:
    """How long a small copy waits for a source in no cache, of all of them: from those that were
    probed, as of those that were timed nobody knows what else was in their time."""
    probed = [call for call in calls if _is_small(call) and call.probed]
    weight = sum(call.weight for call in probed)
    waits = sum(call.weight * call.source_seconds for call in probed if not call.source_cached)
    return waits / weight if weight else 0.0


def _scaled(call: Call, scale: float, wait: float) -> Call:
    """What was timed beyond that which a processor hides is left out: of some hundred samples one
    that an interrupt hit would be most of the mean."""
    if call.seconds is None:
        return call
    likely = scale * min(call.seconds, HIDDEN_SECONDS) + wait
    return replace(call, likely=likely, least=likely / RANGE_FACTOR, seconds=likely * RANGE_FACTOR)
