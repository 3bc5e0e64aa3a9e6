"""How a place is shown on a map: its name, its letter, its words and its colours."""

from __future__ import annotations

from dataclasses import dataclass

from ..inference.nodes import Place
from ..inference.trace import NAMES


@dataclass(frozen=True)
class Look:
    """How values in one place look.

    `css` is the class of their marks, `letter` what stands for the place where colours do not.
    `light` and `dark` are the colour of their names and the tint behind it.
    """

    css: str
    name: str
    letter: str
    meaning: str
    light: tuple[str, str]
    dark: tuple[str, str]


PLACES = {
    Place.HOST: Look(
        "h", NAMES[Place.HOST], "C", "on the CPU",
        ("#9a4f00", "#fff0d9"), ("#f0b063", "#3a2b14"),
    ),
    Place.CENTRAL: Look(
        "c", NAMES[Place.CENTRAL], "D", "on the project\u2019s device",
        ("#00695c", "#dcf5ec"), ("#4fd6b4", "#10352e"),
    ),
    Place.FIXED: Look(
        "x", NAMES[Place.FIXED], "P", "on a second device, by name",
        ("#7b2fbe", "#f3e8ff"), ("#c9a0ff", "#33224a"),
    ),
    Place.FOLLOWS: Look(
        "f", NAMES[Place.FOLLOWS], "I", "where its input or its module is",
        ("#1857b8", "#e3eeff"), ("#82b4ff", "#172c4d"),
    ),
    Place.UNKNOWN: Look(
        "u", NAMES[Place.UNKNOWN], "?", "not decided by what can be read",
        ("#636c76", "#eeeff0"), ("#98a2af", "#262b33"),
    ),
}  # fmt: skip

#: What is not a place: name -> colour on a light and on a dark page.
OTHERS = {
    "bad": ("#c4162a", "#ff7b84"), "bad-tint": ("#fdeaec", "#3d1a20"),
    "changed": ("#f1f8e9", "#1c2a1e"),
    "page": ("#fbfbf9", "#14171c"), "paper": ("#ffffff", "#1a1e25"),
    "ink": ("#22272e", "#d7dde5"), "quiet": ("#5c656f", "#98a2af"),
    "line": ("#e3e5e0", "#2c323c"),
}  # fmt: skip

CSS = {place: look.css for place, look in PLACES.items()}


def variables() -> str:
    """Return the colours as CSS variables that follow the scheme of the page."""
    pairs = {name: OTHERS[name] for name in ("bad", "bad-tint", "changed")}
    for look in PLACES.values():
        pairs[look.css] = look.light[0], look.dark[0]
        pairs[f"{look.css}-tint"] = look.light[1], look.dark[1]
    told = "; ".join(f"--{name}: light-dark({a}, {b})" for name, (a, b) in pairs.items())
    return f":root {{ {told} }}\n"
