"""What the games differ in for tests on recorded answers: names of methods and messages, and the one result of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.browser.driver.rest import Json

# Roulette's number of every round: it has a colour, so that red and black differ, and it lies in every kind of place.
DRAWN = "8"
# Baccarat's cards of every round: both sides draw, and banca wins with a pair.
PONTO, BANCA = ("2h", "Kd", "4c"), ("As", "Ad", "5s")
PONTO_SCORE, BANCA_SCORE = 6, 7
WINNER, WINS = "WINNER_BANCA", {"banca", "banca-pair"}
COMMISSION_PERCENT = 5


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """One game: `layout` is the recorded answer to GetLayout, a result is one of BetResults."""

    name: str
    service: str
    start: str
    outcome: Callable[[Json], Json]
    result: Callable[[Json, str, int], Json]
    cards: int = 0

    def type_name(self, message: str) -> str:
        """Names one of the game's messages in an Any."""
        return f"type.googleapis.com/feltro.{self.name}.v1.{message}"


def _number(layout: Json) -> Json:
    pockets = layout["pockets"]
    at = next(at for at, pocket in enumerate(pockets) if pocket["number"] == DRAWN)
    return {"number": DRAWN, "colour": pockets[at]["colour"], "pocket": at}


def _number_result(layout: Json, place: str, cents: int) -> Json:
    found = next(one for one in layout["places"] if one["place"] == place)
    payout = cents + cents * int(found["prize_halves"]) // 2 if DRAWN in found["numbers"] else 0
    return _bet_result(place, cents, payout)


def _cards(_: Json) -> Json:
    scores = {"ponto_score": PONTO_SCORE, "banca_score": BANCA_SCORE}
    return {"ponto": [*PONTO], "banca": [*BANCA], **scores, "winner": WINNER, "ponto_pair": False, "banca_pair": True}


def _cards_result(layout: Json, place: str, cents: int) -> Json:
    prize = cents * int(next(one for one in layout["chances"] if one["place"] == place)["prize"])
    if place not in WINS:
        return {**_bet_result(place, cents, 0), "commission_cents": "0"}
    commission = prize * COMMISSION_PERCENT // 100 if place == "banca" else 0
    return {**_bet_result(place, cents, cents + prize - commission), "commission_cents": str(commission)}


def _bet_result(place: str, cents: int, payout: int) -> Json:
    amounts = {"amount_cents": str(cents), "payout_cents": str(payout), "prize_cents": str(max(0, payout - cents))}
    return {"place": place, **amounts}


ROULETTE = RecordedGame("roulette", "RouletteService", "Spin", _number, _number_result)
BACCARAT = RecordedGame("baccarat", "BaccaratService", "Deal", _cards, _cards_result, len(PONTO) + len(BANCA))
GAMES = {game.name: game for game in (ROULETTE, BACCARAT)}
