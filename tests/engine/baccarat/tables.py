"""Tables, rounds and refusals of baccarat for tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import pytest

from feltro.baccarat.v1 import baccarat_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.baccarat.engine import Bets, Chance, Commission, Outcome, SpecificRules, Table, deal
from services.kit.cards.card import cards_named
from services.kit.table.refusals import TableRefused

CHAPTER_ONE = SpecificRules(
    packs=8, minimum_cents=100, times_minimum={}, pairs=True, commission=Commission.FIVE_PERCENT
)
MACAU = dataclasses.replace(CHAPTER_ONE, macau=True, prize_cap_cents=1_000_000)
HALF_ON_SIX = dataclasses.replace(CHAPTER_ONE, commission=Commission.HALF, half_scores=frozenset({6}))
HALF_ON_FIVE = dataclasses.replace(CHAPTER_ONE, commission=Commission.HALF, half_scores=frozenset({5}))
HALF_ON_FIVE_AND_SIX = dataclasses.replace(CHAPTER_ONE, commission=Commission.HALF, half_scores=frozenset({5, 6}))


def bets(**cents: int) -> dict[Chance, int]:
    """Returns bets by the names of their chances: `bets(ponto_pair=100)`."""
    return {Chance(name.replace("_", "-")): amount for name, amount in cents.items()}


def round_of(cards: str) -> Outcome:
    """Deals a round from these cards; all of them are dealt."""
    outcome = deal(cards_named(cards))
    assert len(outcome.ponto) + len(outcome.banca) == len(cards.split())
    return outcome


def refusal_of(call: Callable[[], object]) -> TableRefused:
    with pytest.raises(TableRefused) as caught:
        call()
    return caught.value


def refusal(table: Table, added: Bets, on_felt: Mapping[Chance, int] | None = None) -> TableRefused:
    """Returns why the table refuses these bets."""
    return refusal_of(lambda: table.add(on_felt, added))


def specific_rules(**changes: object) -> baccarat_pb2.SpecificRules:
    """Returns the operator's choices for a table of chapter I, with changes."""
    rules: dict[str, object] = {
        "packs": 8,
        "places": 7,
        "minimum_cents": 100,
        "commission": baccarat_pb2.COMMISSION_FIVE_PERCENT,
    }
    return baccarat_pb2.SpecificRules(**(rules | changes))  # type: ignore[arg-type]


def macau_rules(**changes: object) -> baccarat_pb2.SpecificRules:
    """Returns the operator's choices for a Macau table, with changes."""
    macau: dict[str, object] = {"macau": True, "prize_cap_cents": 1_000_000, "player_maximum_cents": 5_000_000}
    return specific_rules(**(macau | changes))


def configuration(
    rules: baccarat_pb2.SpecificRules | None = None,
    *,
    regulation: str = "812/2015",
    play: wallet_types.Play.ValueType = wallet_types.PLAY_MULTI_PLAYER,
    seats: int = 7,
) -> types_pb2.TableConfiguration:
    """Returns the specific rules of a table."""
    made = types_pb2.TableConfiguration(game="baccarat", regulation=regulation, play=play, seats=seats)
    made.rules.Pack(rules or specific_rules())
    return made
