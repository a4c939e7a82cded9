"""The results of the experiment as people read them: tables, a verdict, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from ..render import human_size
from .experiment import AGAIN, CALLED, LIBC, PLACES, ROUTINE, Build, Results

# A difference up to this is real, but too small to matter.
SMALL = 0.01

COPY_WORDS = {
    ROUTINE: "asterope_memcpy compiled so",
    AGAIN: "asterope_memcpy compiled once, loaded as often (noise)",
    CALLED: "libc's memcpy called from code compiled so",
}


def tables(results: Results, builds: Sequence[Build]) -> str:
    """Two tables: what the level does, what the place does."""
    lines = ["Time over the median of all builds, over all places (1.000: no difference)"]
    width = max(len(build.name) for build in builds) + 2
    for copy, words in COPY_WORDS.items():
        lines += ["", f"{words:<12}"]
        lines.append(" " * 10 + "".join(f"{build.name:>{width}}" for build in builds))
        for size, ratios in results.levels[copy].items():
            row = "".join(f"{ratio.median:>{width}.3f}" for ratio in ratios)
            lines.append(f"{human_size(size):<10}{row}")
    lines += ["", "Time over heap to heap: the routine / libc", ""]
    pairs = [(source, destination) for source in PLACES for destination in PLACES]
    heads = "".join(f"{human_size(size):>15}" for size in results.sizes)
    lines.append(f"{'from -> to':<16}{heads}")
    for pair in pairs:
        row = "".join(
            f"{results.places[ROUTINE][size][pair].median:>8.3f} / "
            f"{results.places[LIBC][size][pair].median:.2f}"
            for size in results.sizes
        )
        lines.append(f"{pair[0] + ' -> ' + pair[1]:<16}{row}")
    return "\n".join(lines)


def verdict(results: Results, builds: Sequence[Build]) -> str:
    """What was asked, answered in a line."""
    low, high = results.spread(ROUTINE)
    floor_low, floor_high = results.spread(AGAIN)
    different = results.different()
    named = ", ".join(f"{builds[b].name} at {human_size(size)}" for size, b in different[:4])
    if len(different) > 4:
        named += f" and {len(different) - 4} more"
    if not different:
        first = "The routine's speed does not depend on the compiler and -O it was compiled with"
    elif max(high - 1, 1 - low) <= SMALL:
        first = (
            f"The routine's speed depends on the compiler and -O by at most {100 * SMALL:g} % "
            f"(beyond the noise: {named})"
        )
    else:
        first = f"The routine's speed depends on the compiler and -O it was compiled with ({named})"
    places = [
        f"{who} at most {ratio:.2f} x heap to heap ({human_size(size)}, {source} to {destination})"
        for who, (ratio, size, source, destination) in (
            ("the routine", results.worst_place(ROUTINE)),
            ("libc", results.worst_place(LIBC)),
        )
    ]
    return (
        f"{first}: its builds take {low:.3f} to {high:.3f} of their median, one build loaded as "
        f"often {floor_low:.3f} to {floor_high:.3f}. Placement: {', '.join(places)}."
    )


def csv_text(results: Results, builds: Sequence[Build]) -> str:
    """A row for each cell; ratio, low, high: the time over the median of all builds'."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        "size source destination compiler level copy ns ratio low high".split()  # noqa: SIM905
    )
    for cell in results.cells:
        build, ratio = builds[cell.build], cell.ratio
        numbers = [f"{value:.4f}" for value in (cell.ns, ratio.median, ratio.low, ratio.high)]
        place = [cell.size, cell.source, cell.destination]
        writer.writerow([*place, build.compiler, build.level, cell.copy, *numbers])
    return file.getvalue()
