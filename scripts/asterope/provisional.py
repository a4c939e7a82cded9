"""Why a profile or other results are provisional, because of noise: in the words of the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def why_provisional(noise: Mapping[str, Any]) -> str:
    """The reason in a checked profile's `search.noise`, or in a bench's `noise`; empty where the
    result is not provisional.

    tuner/profile/provisional.cpp decides it and words the reason.
    """
    if not noise.get("provisional"):
        return ""
    return noise.get("reason") or "noise may have decided its winners"


def doubt_of(profile: Mapping[str, Any]) -> str:
    """The same of a whole profile."""
    return why_provisional(profile.get("search", {}).get("noise", {}))


def warning(reason: str, result: str) -> str:
    """Every command's warning of a result that noise may have decided; "warning: " goes before."""
    remedy = "run again in a quieter hour, or on another CPU (--cpu N)"
    return f"{reason}: {result} provisional; {remedy}"
