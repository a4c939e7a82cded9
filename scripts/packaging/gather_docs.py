"""Gathers guides and examples as they lie in an installed tree's share/doc/asterope.

Their links are made to fit; of a link to what is not installed, the words are left.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# These files and folders are installed, under these names in share/doc/asterope.
PLACES = {
    "README.md": "README.md",
    "LICENSE": "LICENSE",
    "scripts/docs": ".",
    "scripts/fleet": "fleet",
    "tests/examples": "examples",
    "generated/pictures": "pictures",
}
# Leavings of an example that was built or tested in the checkout.
LEFT_BEHIND = {"__pycache__", "build", "target"}

# [words](target), perhaps with a picture among the words, or src="target", srcset or href.
LINK = re.compile(
    r"\[(?P<words>(?:!\[[^]]*\]\([^)]*\)|[^][])*)\]\((?P<target>[^()\s]+)\)"
    r"|(?P<attribute>src|srcset|href)=\"(?P<value>[^\"]+)\""
)


def installed_place(path: Path) -> Path | None:
    """The place in share/doc/asterope of a file or folder of the checkout; None: not installed."""
    for source, place in PLACES.items():
        if path == ROOT / source or ROOT / source in path.parents:
            return Path(place) / path.relative_to(ROOT / source)
    return None


def fit_links(text: str, source: Path) -> str:
    """The text of `source` with its links as they are from its installed place."""
    here = installed_place(source)
    assert here is not None

    def fitted(link: re.Match[str]) -> str:
        target, hash_sign, anchor = (link["target"] or link["value"]).partition("#")
        path = Path(os.path.normpath(source.parent / target))
        if not target or not path.exists():
            return link[0]  # within the page, on the web, or no link at all but code
        place = installed_place(path)
        if place is None:
            return link["words"] or ""
        relative = os.path.relpath(place, here.parent) + hash_sign + anchor
        if link["attribute"]:
            return f'{link["attribute"]}="{relative}"'
        return f"[{LINK.sub(fitted, link['words'])}]({relative})"

    return LINK.sub(fitted, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="folder that becomes share/doc/asterope")
    output = parser.parse_args().output
    shutil.rmtree(output, ignore_errors=True)  # files of an earlier build
    for top in map(ROOT.joinpath, PLACES):
        for source in [top] if top.is_file() else top.rglob("*"):
            if not source.is_file() or LEFT_BEHIND & set(source.relative_to(ROOT).parts):
                continue
            place = output / (installed_place(source) or "")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, place)
            if source.suffix == ".md":
                place.write_text(fit_links(source.read_text(), source))


if __name__ == "__main__":
    main()
