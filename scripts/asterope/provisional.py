"""Whether a profile or other results are provisional, because of noise, and why: in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

# As tuner/timing/disturbance_monitor.hpp has them.
_KINDS = ("steal", "preempted", "migrated", "frequency", "clock", "stalled")


def why_provisional(raw: Mapping[str, Any]) -> str:
    """Why a checked profile is provisional, for warning(); empty where it is not.

    As tuner/profile/provisional.cpp says it. Which share of disturbed rounds is too much,
    tuner/timing/disturbed_rounds.cpp decides: the profile has the verdict.
    """
    noise = raw.get("search", {}).get("noise", {})
    if not noise.get("provisional"):
        return ""
    kept, undecided = kept_in_words(noise), _count_undecided(raw)
    reasons = [kept] if kept else []
    if undecided == 1:
        reasons.append("1 winner is the plain copy, as noise hid a better one")
    elif undecided:
        reasons.append(f"{undecided} winners are the plain copy, as noise hid better ones")
    return ", and ".join(reasons) or "too many rounds of its search stayed disturbed"


def kept_in_words(noise: Mapping[str, Any]) -> str:
    """How many rounds stayed disturbed; empty for less than half a percent."""
    rounds, repeated, kept = (noise.get(name, 0) for name in ("rounds", "repeated", "kept"))
    percent = math.floor(100 * kept / (rounds - repeated) + 0.5) if rounds > repeated else 0
    if percent == 0:
        return ""
    disturbed = noise.get("disturbed", {})
    kinds = ", ".join(f"{kind} {disturbed[kind]}" for kind in _KINDS if disturbed.get(kind))
    seen = f" (seen: {kinds})" if kinds else ""
    return f"{percent} % of the rounds stayed disturbed, however often they were repeated{seen}"


def warning(reason: str, result: str) -> str:
    """What every command says of a result that noise may have decided; "warning: " goes before."""
    return f"{reason}: {result} provisional; run again on a quieter machine"


def _count_undecided(raw: Mapping[str, Any]) -> int:
    races = [*raw.get("intervals", ()), raw.get("small", {})]
    for intent in raw.get("intents", {}).values():
        races += intent["intervals"]
    return sum(1 for race in races if race.get("undecided"))
