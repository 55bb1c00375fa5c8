"""The engine beside a second implementation: the cards of random rounds, every cent, and which bets are taken."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from random import Random

import pytest

from services.baccarat.engine import Chance, SpecificRules, Table, deal
from services.baccarat.game import BaccaratRules
from services.kit.cards.card import cards_named
from services.kit.table.refusals import TableRefused
from tests.engine.baccarat import reference
from tests.engine.baccarat.reference import Limits
from tests.engine.baccarat.tables import (
    CHAPTER_ONE,
    HALF_ON_FIVE,
    HALF_ON_FIVE_AND_SIX,
    HALF_ON_SIX,
    MACAU,
)

PACK = [rank + suit for rank in "A23456789TJQK" for suit in "shdc"]
CARDS_OF_A_ROUND = 6
ROUNDS_PER_TEST = 5000
COMMISSIONS: dict[str, tuple[SpecificRules, tuple[int, ...] | None]] = {
    "26.a": (CHAPTER_ONE, None),
    "26.b on 5": (HALF_ON_FIVE, (5,)),
    "26.b on 6": (HALF_ON_SIX, (6,)),
    "26.b on 5 and 6": (HALF_ON_FIVE_AND_SIX, (5, 6)),
}


@pytest.mark.rule(
    "812/2015:16",
    "812/2015:17",
    "812/2015:19",
    "812/2015:20",
    "812/2015:22",
    "812/2015:23",
    "812/2015:25",
    "812/2015:26.a",
    "812/2015:26.b",
)
@pytest.mark.parametrize("packs", [6, 8])
@pytest.mark.parametrize("commission", COMMISSIONS)
def test_a_second_implementation_deals_the_same_cards_and_pays_the_same_cents(commission: str, packs: int) -> None:
    rules, halved = COMMISSIONS[commission]
    game = BaccaratRules(dataclasses.replace(rules, packs=packs))
    # A seed that is the same in every process.
    chance = Random(f"{commission}, {packs} packs")
    for _ in range(ROUNDS_PER_TEST):
        cards = chance.sample(PACK * packs, CARDS_OF_A_ROUND)
        outcome, dealt = deal(cards_named(" ".join(cards))), reference.deal(cards)
        assert tuple(card.name for card in outcome.ponto) == dealt.ponto
        assert tuple(card.name for card in outcome.banca) == dealt.banca
        assert (outcome.ponto_score, outcome.banca_score) == (
            reference.score(dealt.ponto),
            reference.score(dealt.banca),
        )
        assert outcome.winner.value == dealt.winner
        placed = {each: 20 * chance.randint(5, 350) for each in Chance}
        stored = game.read_outcome(game.outcome_message(outcome).SerializeToString())
        paid = {each: game.bet_payout_cents(stored, each, cents) for each, cents in placed.items()}
        assert paid == {each: reference.credit(dealt, each.value, cents, halved) for each, cents in placed.items()}
        assert game.payout_cents(stored, placed) == sum(paid.values())


TABLES = {
    "26.a": (CHAPTER_ONE, Limits(100, 20)),
    "26.b": (HALF_ON_SIX, Limits(100, 2)),
    "an uneven minimum": (dataclasses.replace(CHAPTER_ONE, minimum_cents=30), Limits(30, 20)),
    "no pairs": (dataclasses.replace(CHAPTER_ONE, pairs=False), Limits(100, 20, pairs=False)),
    "Macau": (MACAU, Limits(100, 20, ceilings=False)),
}


def an_amount(chance: Random, limits: Limits, place: str, lies: int) -> int:
    """Returns an amount close to some limit: nothing, a minimum, a maximum, or what makes two sides too equal."""
    near = chance.choice([0, limits.minimum, limits.most(place), lies, limits.most(place) - lies])
    return near + chance.choice([-20, -2, -1, 0, 0, 0, 1, 2, 20, 100])


def tried(table: Table, felt: Mapping[Chance, int], change: Mapping[Chance, int], *, adding: bool) -> object:
    """Returns what lies on the felt after a change, by names; None if it is refused."""
    before = dict(felt)
    try:
        then = table.add(felt or None, change) if adding else table.take(felt, change)
    except TableRefused:
        return None
    finally:
        assert felt == before
    return {each.value: cents for each, cents in (then or {}).items()}


@pytest.mark.rule("812/2015:10", "812/2015:13", "812/2015:14", "812/2015:15", "812/2015:39", "812/2015:40")
@pytest.mark.parametrize("name", TABLES)
def test_a_second_implementation_takes_and_gives_back_the_same_bets(name: str) -> None:
    rules, limits = TABLES[name]
    table, chance = Table(rules), Random(name)
    felt: dict[Chance, int] = {}
    taken = 0
    for _ in range(ROUNDS_PER_TEST):
        if chance.random() < 0.05:
            felt = {}
        places = chance.sample(list(Chance), chance.choice([1, 1, 1, 2, 3]))
        # Now and then what lies on the other side is bet on this one.
        lies = felt.get(chance.choice([*places, Chance.PONTO, Chance.BANCA]), 0)
        change = {place: an_amount(chance, limits, place.value, lies) for place in places}
        adding = chance.random() < 0.6
        named, changed = ({each.value: cents for each, cents in which.items()} for which in (felt, change))
        expected = limits.after_adding(named, changed) if adding else limits.after_taking(named, changed)
        assert tried(table, felt, change, adding=adding) == expected, (felt, change, adding)
        if expected is not None:
            felt = {Chance(place): cents for place, cents in expected.items()}
            taken += 1
    # A good part of what is tried is legal, and a good part is not.
    assert ROUNDS_PER_TEST / 20 < taken < ROUNDS_PER_TEST * 0.9
