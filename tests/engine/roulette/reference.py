"""Computes roulette a second time, by arithmetic on names and numbers; shares only the names with the engine.

The engine finds places from shapes on the cloth and colours from a set; here they are formulas (rulebook 3.2), and the
rule of thumb for red. The engine has a table of prizes; here a prize is 36 parts shared among the numbers of a place.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

# The shapes with a zero, kind by kind (rulebook 3.2).
WITH_ZERO = {
    1: ["0", "0-1", "0-2", "0-3", "0-1-2", "0-2-3", "0-1-2-3"],
    2: ["0", "00", "0-00", "0-1", "0-2", "00-2", "00-3", "0-1-2", "0-00-2", "00-2-3"],
}
KIND_BY_COUNT = {1: "STRAIGHT", 2: "SPLIT", 3: "STREET", 4: "CORNER", 6: "SIX_LINE"}


def zeros_of(wheel: str) -> int:
    return 2 if wheel == "AMERICAN_38" else 1


def numbers_of(wheel: str) -> list[str]:
    return ["0", "00"][: zeros_of(wheel)] + [str(n) for n in range(1, 37)]


@cache
def legal_places(wheel: str) -> dict[str, str]:
    """Returns the kind of every legal place by name."""
    names = {name: KIND_BY_COUNT[name.count("-") + 1] for name in WITH_ZERO[zeros_of(wheel)]}
    for n in range(1, 37):
        steps: list[tuple[int, ...]] = [(0,)]
        steps += [(0, 1)] if n % 3 else []
        steps += [(0, 3)] if n <= 33 else []
        steps += [(0, 1, 2)] if n % 3 == 1 else []
        steps += [(0, 1, 3, 4)] if n % 3 and n <= 32 else []
        steps += [(0, 1, 2, 3, 4, 5)] if n % 3 == 1 and n <= 31 else []
        names |= {"-".join(str(n + step) for step in each): KIND_BY_COUNT[len(each)] for each in steps}
    names |= {f"{box}-{k}": box.upper() for box in ("dozen", "column") for k in (1, 2, 3)}
    names |= {f"double-{box}-{k}-{k + 1}": f"DOUBLE_{box.upper()}" for box in ("dozen", "column") for k in (1, 2)}
    return names | {name: name.upper() for name in ("even", "odd", "low", "high", "red", "black")}


def wins(place: str, number: str) -> bool:
    """Returns whether a legal place contains a number."""
    words = place.split("-")
    if words[0].isdecimal():
        return number in words
    n = int(number)
    if n == 0:
        return False
    digits = {int(word) for word in words if word.isdecimal()}
    if "dozen" in words:
        return (n + 11) // 12 in digits
    if "column" in words:
        return (n % 3 or 3) in digits
    # From 1 to 10 and from 19 to 28 the odd numbers are red, elsewhere the even ones.
    red = (n % 2 == 1) == (n <= 10 or 19 <= n <= 28)
    return {"even": n % 2 == 0, "odd": n % 2 == 1, "low": n < 19, "high": n > 18, "red": red, "black": not red}[place]


def prize(place: str) -> Fraction:
    """Returns the prize of one unit: 36 parts, shared among the numbers that the place covers, less the stake."""
    return Fraction(36, sum(wins(place, n) for n in numbers_of("AMERICAN_38"))) - 1


def payout(bets: dict[str, int], number: str) -> Fraction:
    return sum((cents * (1 + prize(place)) for place, cents in bets.items() if wins(place, number)), Fraction(0))
