"""Axes with the same values and the same words on every architecture."""

from .axis import Axis

PAGES_INTERLEAVED = Axis(
    "pi",
    (1, 2, 4),
    "Pages interleaved: that many neighbouring stretches of 4096 bytes are copied side by "
    "side. Where missing: 1.",
    paper=1,
    extension="pi",
    mark="PI",
    words=lambda pi: f"{pi} pages interleaved",
    legend="pages interleaved",
)

DIRECTION = Axis(
    "dir",
    ("up", "down"),
    "Direction of the copy. Where missing: up.",
    title="D",
    paper=1,
    extension="dir",
    mark="",
    words=lambda _: "from the end backward",
    legend="direction",
)

# Of small copies.
ORDER = Axis(
    "order",
    ("middle", "up", "down"),
    "Order of the tests: smallest class first (up), largest first (down), 16 bytes first (middle). "
    "On x86-64 the classes from 64 bytes on go before those, but for middle.",
)
