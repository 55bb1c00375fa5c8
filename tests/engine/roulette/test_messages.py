"""Tests of roulette's messages: bets and outcomes survive a round trip, and the layout agrees with the engine."""

from __future__ import annotations

import pytest

from feltro.roulette.v1 import roulette_pb2
from services.kit.randomness.tape import Tape
from services.kit.table.game import Game, Rules
from services.kit.table.refusals import TableRefused
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteGame, RouletteRules
from tests.engine.roulette import reference
from tests.engine.roulette.tables import WHEELS, outcome_on, place, table


def test_roulette_implements_the_protocols_of_the_runtime() -> None:
    # mypy checks these two assignments.
    game: Game[Bets, Outcome] = RouletteGame()
    rules: Rules[Bets, Outcome] = table()

    assert (game.name, rules.minimum_cents) == ("roulette", 100)


@pytest.mark.parametrize("wheel", WHEELS)
def test_every_outcome_survives_a_round_trip(wheel: str) -> None:
    rules = table(wheel)
    for outcome in rules.outcomes:
        message = rules.outcome_message(outcome)
        assert rules.read_outcome(message.SerializeToString()) == outcome
        assert message.pocket == rules.wheel.order.index(message.number)


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(("number", "pocket"), [("17", 0), ("00", 19), ("0", 37), ("26", -1), ("", 0), ("37", 5)])
def test_g12_an_outcome_that_this_wheel_cannot_have_is_refused(number: str, pocket: int) -> None:
    message = roulette_pb2.Outcome(number=number, pocket=pocket)

    with pytest.raises(ValueError, match="FRENCH"):
        table("FRENCH").read_outcome(message.SerializeToString())


@pytest.mark.guarantee("G12")
def test_g12_bets_on_unknown_places_are_not_paid_as_lost() -> None:
    rules = table("FRENCH")
    foreign = rules.read_bets(
        roulette_pb2.Bets(bets=[roulette_pb2.Bet(place="0-00", amount_cents=100)]).SerializeToString()
    )

    with pytest.raises(KeyError):
        rules.payout_cents(outcome_on(rules, "0"), foreign)
    with pytest.raises(TableRefused):
        rules.add(None, foreign)


def test_results_hold_stake_payout_and_prize_of_every_bet() -> None:
    rules = table()
    bets = place(rules, {"17": 100, "red": 200, "double-dozen-1-2": 300})

    results = rules.results_message(outcome_on(rules, "17"), bets).results

    assert [(each.place, each.amount_cents, each.payout_cents, each.prize_cents) for each in results] == [
        ("17", 100, 3600, 3500),
        ("red", 200, 0, 0),
        ("double-dozen-1-2", 300, 450, 150),
    ]


@pytest.mark.parametrize("wheel", WHEELS)
def test_the_layout_lists_every_legal_place(wheel: str) -> None:
    rules = table(wheel)
    layout = rules.layout()

    assert layout.wheel == roulette_pb2.Wheel.Value(f"WHEEL_{wheel}")
    assert layout.largest_prize_per_unit == 35
    assert layout.total_maximum_cents == 0
    assert not layout.call_bets
    kinds = {each.place: roulette_pb2.Kind.Name(each.kind).removeprefix("KIND_") for each in layout.places}
    assert kinds == reference.legal_places(wheel)
    for each in layout.places:
        assert each.prize_halves == 2 * reference.prize(each.place)
        assert each.even_cents_only == each.place.startswith("double-")


def test_the_stated_largest_prize_is_the_largest_of_all_prizes() -> None:
    rules = table("AMERICAN_38")
    prizes = [
        result.prize_cents // 100
        for each in rules.layout().places
        for outcome in rules.outcomes
        for result in rules.results_message(outcome, place(rules, {each.place: 100})).results
    ]

    assert max(prizes) == rules.layout().largest_prize_per_unit


@pytest.mark.guarantee("G10")
def test_g10_a_round_can_be_paid_again_from_its_stored_messages() -> None:
    before = table("AMERICAN_38")
    bets = place(before, {"00-3": 100, "red": 300, "0-00": 200})
    outcome = before.draw(Tape(bytes([19])))
    stored = before.bets_message(bets).SerializeToString(), before.outcome_message(outcome).SerializeToString()

    after: RouletteRules = table("AMERICAN_38")
    assert outcome.number == "00"
    assert after.payout_cents(after.read_outcome(stored[1]), after.read_bets(stored[0])) == 1800 + 3600
