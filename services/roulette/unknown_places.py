"""Explains why a name is not a place of the board, so that a refusal tells the player the reason."""

from __future__ import annotations

from collections.abc import Mapping

from services.kit.table.refusals import TableRefused
from services.roulette import call_bets, refusals
from services.roulette.board import KIND_BY_COUNT, Kind, Place
from services.roulette.wheel import Wheel

# Room for all numbers of the board; nothing longer is parsed (G11).
_NAME_CHARACTERS_LIMIT = 120
_TWELVE_OR_MORE = "Bets on 12, 18 or 24 numbers are named, such as `dozen-1`, `low` or `double-dozen-1-2`"
# How the numbers of a kind lie on the cloth.
_SHAPES = {
    Kind.SPLIT: "a cavalo is two numbers with a common edge",
    Kind.STREET: "a rua is one row of three numbers, or three that meet in a point of the zero's edge",
    Kind.CORNER: "a quadro is four numbers that meet in a point",
    Kind.SIX_LINE: "a linha is two rows of three numbers, one below the other",
}


def unknown_place(name: str, wheel: Wheel, board: Mapping[str, Place]) -> TableRefused:
    """Returns the refusal of a name that is neither a place of this board nor a call bet of this wheel."""
    articles = wheel.articles
    prefix = name.partition("-")[0]
    if prefix in call_bets.NAME_PREFIXES:
        return _unknown_call_bet(name, prefix, wheel)
    if name in {"double-dozen-1-3", "double-column-1-3"}:
        why = "a chip lies on two boxes where they meet, and the first and the third do not"
        return refusals.bet_illegal(name, articles.cite(articles.combinations), why)
    numbers = name.split("-") if len(name) <= _NAME_CHARACTERS_LIMIT else [name]
    unknown = next((number for number in numbers if number not in wheel.ascending), None)
    if unknown is None:
        return _unknown_combination(name, numbers, wheel, board)
    if unknown == "00":
        return refusals.bet_illegal(name, articles.cite(articles.features, "a"), "this wheel has no 00")
    why = "the board has no such number" if unknown.isdecimal() else "the board has no place of that name"
    return refusals.bet_illegal(name, articles.cite(articles.bets), why)


def _unknown_call_bet(name: str, prefix: str, wheel: Wheel) -> TableRefused:
    articles = wheel.articles
    if articles.call_bets is None:
        why = "call bets belong to the French roulette alone (807/2015:8)"
        return refusals.bet_illegal(name, articles.cite(articles.bets), why)
    if prefix == "neighbours":
        why = "it is named by a number of the wheel and 2, 4 or 6 neighbours, such as `neighbours-17-2`"
    elif prefix == "final":
        why = "finals are named by one digit, such as `final-7`"
    else:
        why = f"the series is named `{prefix}` and nothing more"
    return refusals.bet_illegal(name, articles.cite(articles.call_bets), why)


def _unknown_combination(name: str, numbers: list[str], wheel: Wheel, board: Mapping[str, Place]) -> TableRefused:
    articles = wheel.articles
    combinations = articles.cite(articles.combinations)
    covered = frozenset(numbers)
    if len(covered) < len(numbers):
        return refusals.bet_illegal(name, combinations, "it names a number twice")
    same = next((place.name for place in board.values() if place.numbers == covered), None)
    if same is not None:
        why = f"these numbers are the place `{same}` (numbers rise, with 00 right after 0)"
        return refusals.bet_illegal(name, combinations, why)
    kind = KIND_BY_COUNT.get(len(covered))
    if kind is None:
        why = (
            f"the regulation knows no bet on {len(covered)} single numbers, only on 1, 2, 3, 4 or 6. {_TWELVE_OR_MORE}"
        )
        return refusals.bet_illegal(name, articles.cite(articles.bets, "a"), why)
    return refusals.bet_illegal(
        name, combinations, _SHAPES[kind] + _combinations_with_zero(covered, kind, wheel, board)
    )


def _combinations_with_zero(covered: frozenset[str], kind: Kind, wheel: Wheel, board: Mapping[str, Place]) -> str:
    """Lists the combinations of a kind with the zeros that the name contains."""
    zeros = covered.intersection(wheel.zeros)
    if not zeros:
        return ""
    possible = [place.name for place in board.values() if place.kind is kind and zeros & place.numbers]
    return "; with " + " or ".join(sorted(zeros)) + " there is " + (", ".join(possible) or "none on this board")
