"""The wheel as it is drawn: its numbers clockwise, their colours, and the pocket in which one sees the ball lie."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from playwright.sync_api import Locator

# The regulations' sequences (804/2015:6.c, 807/2015:6.c), written down here once more: what is drawn is held against
# the text, not against the platform.
CLOCKWISE = {
    "american": "0 28 9 26 30 11 7 20 32 17 5 22 34 15 3 24 36 13 1 27 10 25 29 12 8 19 31 18 6 21 33 16 4 23 35 14 2",
    "american-00": (
        "0 28 9 26 30 11 7 20 32 17 5 22 34 15 3 24 36 13 1 00 27 10 25 29 12 8 19 31 18 6 21 33 16 4 23 35 14 2"
    ),
    "french": "0 32 15 19 4 21 2 25 17 34 6 27 13 36 11 30 8 23 10 5 24 16 33 1 20 14 31 9 22 18 29 7 28 12 35 3 26",
}
RED = frozenset(map(str, (1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36)))
ZEROS = frozenset({"0", "00"})

_READ = """
(wheel) => [...wheel.querySelectorAll(".wheel-rotor text")].map((text) => ({
  number: text.textContent,
  turned: Number(/rotate\\(([-\\d.]+)\\)/.exec(text.getAttribute("transform"))[1]),
  fill: getComputedStyle(text.parentElement.querySelector("path")).fill,
}))
"""
_BALL = """
(wheel) => {
  const matrix = (part) => new DOMMatrix(getComputedStyle(part).transform);
  const rotor = matrix(wheel.querySelector(".wheel-rotor"));
  const ball = matrix(wheel.querySelector("[data-testid=ball]"));
  const degrees = (radians) => ((radians * 180) / Math.PI + 720) % 360;
  return {
    seenFromWheel: degrees(Math.atan2(ball.e, -ball.f) - Math.atan2(rotor.b, rotor.a)),
    radius: Math.hypot(ball.e, ball.f) / (wheel.clientWidth / 2),
  };
}
"""


@dataclass(frozen=True, slots=True)
class Pocket:
    """A number on the wheel."""

    number: str
    # Clockwise from the first.
    degrees: float
    colour: str


def colour_of(number: str) -> str:
    if number in ZEROS:
        return "green"
    return "red" if number in RED else "black"


def colour_name(fill: str) -> str:
    """What one would call a colour that the browser names as `rgb(…)`."""
    red, green, blue = (int(float(part)) for part in fill[fill.index("(") + 1 : -1].split(",")[:3])
    if max(red, green, blue) < 60:
        return "black"
    if red > 2 * max(green, blue):
        return "red"
    return "green" if green > 1.4 * max(red, blue) else fill


def pockets(wheel: Locator) -> list[Pocket]:
    """Clockwise from the zero."""
    read = wheel.evaluate(_READ)
    zero = next(one["turned"] for one in read if one["number"] == "0")
    found = [Pocket(one["number"], (one["turned"] - zero) % 360, colour_name(one["fill"])) for one in read]
    return sorted(found, key=lambda pocket: pocket.degrees)


def pocket_widths(drawn: list[Pocket]) -> list[float]:
    """From each pocket to the next, in degrees."""
    around = [*(pocket.degrees for pocket in drawn), 360.0]
    return [after - before for before, after in pairwise(around)]


def number_under_ball(wheel: Locator) -> str:
    """The number in whose pocket one sees the ball; it has to lie in the ring of pockets, and not between two."""
    drawn, ball = pockets(wheel), wheel.evaluate(_BALL)
    width = 360 / len(drawn)
    zero = next(one["turned"] for one in wheel.evaluate(_READ) if one["number"] == "0")
    away = (ball["seenFromWheel"] - zero) % 360
    nearest = min(drawn, key=lambda pocket: min((pocket.degrees - away) % 360, (away - pocket.degrees) % 360))
    off = min((nearest.degrees - away) % 360, (away - nearest.degrees) % 360)
    assert off < width / 6, f"the ball lies {off:.2f}° beside the middle of {nearest.number}"
    assert 0.40 < ball["radius"] < 0.53, f"the ball lies at {ball['radius']:.2f} of the wheel, not in a pocket"
    return nearest.number
