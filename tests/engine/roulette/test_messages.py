"""What roulette says and hears: messages that come back as what they were, and a board that tells the whole truth."""

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


def test_the_runtime_finds_what_it_expects() -> None:
    # The type checker reads these two lines.
    game: Game[Bets, Outcome] = RouletteGame()
    rules: Rules[Bets, Outcome] = table()

    assert (game.name, rules.minimum_cents) == ("roulette", 100)


@pytest.mark.parametrize("wheel", WHEELS)
def test_every_outcome_comes_back_as_what_it_was(wheel: str) -> None:
    rules = table(wheel)
    for outcome in rules.outcomes:
        message = rules.outcome_message(outcome)
        assert rules.read_outcome(message.SerializeToString()) == outcome
        assert message.pocket == rules.wheel.order.index(message.number)


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(("number", "pocket"), [("17", 0), ("00", 19), ("0", 37), ("26", -1), ("", 0), ("37", 5)])
def test_an_outcome_that_this_wheel_cannot_have_is_not_believed(number: str, pocket: int) -> None:
    message = roulette_pb2.Outcome(number=number, pocket=pocket)

    with pytest.raises(ValueError, match="FRENCH"):
        table("FRENCH").read_outcome(message.SerializeToString())


@pytest.mark.guarantee("G12")
def test_bets_that_this_board_does_not_have_are_not_paid_as_lost() -> None:
    rules = table("FRENCH")
    foreign = rules.read_bets(
        roulette_pb2.Bets(bets=[roulette_pb2.Bet(place="0-00", amount_cents=100)]).SerializeToString()
    )

    with pytest.raises(KeyError):
        rules.payout_cents(outcome_on(rules, "0"), foreign)
    with pytest.raises(TableRefused):
        rules.add(None, foreign)


def test_results_say_stake_payout_and_prize_of_every_bet() -> None:
    rules = table()
    bets = place(rules, {"17": 100, "red": 200, "double-dozen-1-2": 300})

    results = rules.results_message(outcome_on(rules, "17"), bets).results

    assert [(each.place, each.amount_cents, each.payout_cents, each.prize_cents) for each in results] == [
        ("17", 100, 3600, 3500),
        ("red", 200, 0, 0),
        ("double-dozen-1-2", 300, 450, 150),
    ]


@pytest.mark.parametrize("wheel", WHEELS)
def test_the_layout_is_the_board(wheel: str) -> None:
    rules = table(wheel)
    shown = rules.layout()

    assert shown.wheel == roulette_pb2.Wheel.Value(f"WHEEL_{wheel}")
    assert shown.largest_prize_per_unit == 35
    assert shown.total_maximum_cents == 0
    assert not shown.call_bets
    kinds = {each.place: roulette_pb2.Kind.Name(each.kind).removeprefix("KIND_") for each in shown.places}
    assert kinds == reference.legal_places(wheel)
    for each in shown.places:
        assert each.prize_halves == 2 * reference.prize(each.place)
        assert each.even_cents_only == each.place.startswith("double-")


def test_the_largest_prize_is_the_largest_there_is() -> None:
    rules = table("AMERICAN_38")
    prizes = [
        result.prize_cents // 100
        for each in rules.layout().places
        for outcome in rules.outcomes
        for result in rules.results_message(outcome, place(rules, {each.place: 100})).results
    ]

    assert max(prizes) == rules.layout().largest_prize_per_unit


@pytest.mark.guarantee("G10")
def test_a_round_can_be_paid_again_from_what_was_written_down() -> None:
    before = table("AMERICAN_38")
    bets = place(before, {"00-3": 100, "red": 300, "0-00": 200})
    outcome = before.draw(Tape(bytes([19])))
    written = before.bets_message(bets).SerializeToString(), before.outcome_message(outcome).SerializeToString()

    after: RouletteRules = table("AMERICAN_38")
    assert outcome.number == "00"
    assert after.payout_cents(after.read_outcome(written[1]), after.read_bets(written[0])) == 1800 + 3600
