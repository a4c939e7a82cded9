"""The places where a profile lies that no option named: the user's own, then the system's."""

from __future__ import annotations

import os
from pathlib import Path

from .faults import BadInput, one_line

SYSTEM_PROFILE = Path("/etc/asterope/profile.json")


def user_profile() -> Path | None:
    """$XDG_CONFIG_HOME/asterope/profile.json; ~/.config in its place where that is not an absolute
    path, as the XDG base directory specification has it. None where HOME is missing, too."""
    folder = os.environ.get("XDG_CONFIG_HOME", "")
    if not folder.startswith("/"):
        home = os.environ.get("HOME", "")
        if not home.startswith("/"):
            return None
        folder = os.path.join(home, ".config")
    return Path(folder, "asterope", "profile.json")


def profile_to_read(named: str | None) -> Path:
    """`named` if a profile was named, else the user's if it exists, else the system's.

    An existing one counts, readable or not: to go on with another would surprise its owner. Raises
    BadInput where neither exists, and says where it looked.
    """
    if named is not None:
        return Path(named)
    places = [place for place in (user_profile(), SYSTEM_PROFILE) if place is not None]
    for place in places:
        if _is_there(place):
            return place
    looked = " nor ".join(one_line(place) for place in places)
    raise BadInput(
        f"no profile is named, and there is no {looked}: "
        "name one, or make one for all with asterope-tune --system"
    )


def _is_there(path: Path) -> bool:
    """True also of a link that leads nowhere, and in a folder that we may not enter: the error of
    reading it names the cause."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True
