"""Tests of baccarat's messages: bets and outcomes survive a round trip, and the layout agrees with the engine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feltro.baccarat.v1 import baccarat_pb2
from services.baccarat.engine import Bets, Chance, Outcome, deal
from services.baccarat.game import BETS_LIMIT, BaccaratGame, BaccaratRules
from services.kit.cards.card import Card
from services.kit.cards.shoe import PACK, shuffled_shoe
from services.kit.randomness.tape import Tape
from services.kit.table.game import Game, Rules, StakeOnTable
from tests.engine.baccarat.tables import (
    bets,
    configuration,
    macau_rules,
    refusal_of,
    round_of,
    specific_rules,
)

RULES: BaccaratRules = BaccaratGame().rules(configuration())
ENTROPY = bytes(range(256)) * 40


def test_baccarat_implements_the_protocols_of_the_runtime() -> None:
    # mypy checks these two assignments.
    game: Game[Bets, Outcome] = BaccaratGame()
    rules: Rules[Bets, Outcome] = RULES

    assert (game.name, game.has_cards, game.has_decisions) == ("baccarat", True, False)
    assert (rules.minimum_cents, rules.bets_lean_on_each_other, rules.hides_cards) == (100, True, False)


@pytest.mark.rule("812/2015:16", "812/2015:19", "812/2015:20")
def test_a_round_is_decided_when_it_is_dealt_and_says_how_many_cards_lie_there() -> None:
    dealt = RULES.deal([StakeOnTable("s1", 1, bets(ponto=100))], Tape(ENTROPY))
    assert dealt.turn is None
    assert dealt.outcome == RULES.draw(Tape(ENTROPY))
    assert dealt.cards_shown == len(dealt.outcome.ponto) + len(dealt.outcome.banca)
    assert 4 <= dealt.cards_shown <= 6
    # No stake changes what is dealt.
    assert RULES.deal([], Tape(ENTROPY)) == dealt


@pytest.mark.guarantee("G6", "G10")
@pytest.mark.rule("812/2015:6.b", "812/2015:16")
def test_a_shoe_with_a_cut_card_is_dealt_on_card_by_card() -> None:
    rules = BaccaratGame().rules(configuration(specific_rules(packs=6, cut_card=306)))
    shoe, taken = shuffled_shoe(6, Tape(ENTROPY)), 0
    assert rules.cut_card is not None
    while taken < rules.cut_card:
        dealt = rules.deal([], Tape(ENTROPY), taken)
        assert dealt.outcome == deal(shoe[taken : taken + 6])
        taken += dealt.cards_shown
    # The last round is whole, and no card of it came before.
    assert 306 <= taken <= 311


@given(st.permutations(list(PACK)))
def test_every_outcome_survives_a_round_trip(cards: list[Card]) -> None:
    outcome = deal(cards[:6])
    message = RULES.outcome_message(outcome)
    assert RULES.read_outcome(message.SerializeToString()) == outcome
    assert (message.ponto_score, message.banca_score) == (outcome.ponto_score, outcome.banca_score)


@pytest.mark.rule("812/2015:17", "812/2015:18", "812/2015:21")
def test_an_outcome_shows_the_cards_of_each_side_in_their_order_with_the_third_apart() -> None:
    message = RULES.outcome_message(round_of("2c Kd 3s 3h 9c 2d"))
    assert (list(message.ponto), list(message.banca)) == (["2c", "3s", "9c"], ["Kd", "3h", "2d"])
    assert (message.ponto_score, message.banca_score) == (4, 5)
    assert message.winner == baccarat_pb2.WINNER_BANCA
    assert not message.ponto_pair
    pairs = RULES.outcome_message(round_of("9c 9h 9d 9s"))
    assert (pairs.winner, pairs.ponto_pair, pairs.banca_pair) == (baccarat_pb2.WINNER_TIE, True, True)


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(
    ("ponto", "banca"),
    [
        ("4c", "Ts 7h"),
        ("4c 5d 6h 7s", "Ts 7h"),
        ("", ""),
        # Ponto has a natural and banca draws; ponto draws with 6; banca stands with 0 although ponto drew.
        ("4c 5d", "Ts 2h 3c"),
        ("4c 2d 2h", "Ts 7h"),
        ("2c 2d 9h", "Ts Th"),
    ],
)
def test_g12_an_outcome_that_no_shoe_gives_is_refused(ponto: str, banca: str) -> None:
    message = baccarat_pb2.Outcome(ponto=ponto.split(), banca=banca.split())
    with pytest.raises(ValueError, match="round"):
        RULES.read_outcome(message.SerializeToString())


@pytest.mark.guarantee("G12")
def test_g12_unknown_cards_and_chances_are_not_read() -> None:
    with pytest.raises(ValueError, match="no card"):
        RULES.read_outcome(baccarat_pb2.Outcome(ponto=["1c", "2c"], banca=["3c", "4c"]).SerializeToString())
    foreign = baccarat_pb2.Bets(bets=[baccarat_pb2.Bet(place="red", amount_cents=100)])
    with pytest.raises(ValueError, match="red"):
        RULES.read_bets(foreign.SerializeToString())


def test_a_request_is_read_with_each_chance_added_up() -> None:
    request = [
        baccarat_pb2.Bet(place="ponto", amount_cents=100),
        baccarat_pb2.Bet(place="tie", amount_cents=200),
        baccarat_pb2.Bet(place="ponto", amount_cents=300),
    ]
    assert RULES.read_place_request(request) == bets(ponto=400, tie=200)
    assert RULES.read_bets(RULES.bets_message(bets(ponto=400, tie=200)).SerializeToString()) == bets(ponto=400, tie=200)


@pytest.mark.guarantee("G11")
def test_g11_requests_without_bets_or_with_too_many_are_refused() -> None:
    one = baccarat_pb2.Bet(place="ponto", amount_cents=100)
    assert RULES.read_place_request([one] * BETS_LIMIT) == bets(ponto=100 * BETS_LIMIT)
    for wrong in ([], [one] * (BETS_LIMIT + 1)):
        assert refusal_of(lambda: RULES.read_place_request(wrong)).facts == {"field": "bets"}  # noqa: B023 - called at once
    nothing = [one, baccarat_pb2.Bet(place="tie", amount_cents=0)]
    assert refusal_of(lambda: RULES.read_place_request(nothing)).facts == {"field": "bets[1].amount_cents"}
    unknown = [baccarat_pb2.Bet(place="player", amount_cents=100)]
    assert refusal_of(lambda: RULES.read_place_request(unknown)).reason == "BET_ILLEGAL"


@pytest.mark.rule("812/2015:23", "812/2015:25", "812/2015:26")
def test_results_hold_stake_payout_prize_and_commission_of_every_bet() -> None:
    def results(cards: str, **placed: int) -> list[tuple[str, int, int, int, int]]:
        message = RULES.results_message(round_of(cards), bets(**placed))
        return [
            (each.place, each.amount_cents, each.payout_cents, each.prize_cents, each.commission_cents)
            for each in message.results
        ]

    banca_wins = results("2c Kd 3s 3h 9c 2d", banca=1000, ponto=200)
    assert banca_wins == [("banca", 1000, 1950, 950, 50), ("ponto", 200, 0, 0, 0)]
    tie = results("Kc 2d 6h 4s", ponto=1000, tie=500)
    assert tie == [("ponto", 1000, 1000, 0, 0), ("tie", 500, 4500, 4000, 0)]


def test_the_layout_lists_every_chance_with_its_limits() -> None:
    rules = specific_rules(minimum_cents=50)
    layout = BaccaratGame().rules(configuration(rules)).layout(rules)
    assert layout.rules == rules
    listed = {
        each.place: (each.minimum_cents, each.maximum_cents, each.prize, each.step_cents) for each in layout.chances
    }
    assert listed == {
        "ponto": (50, 3500, 1, 1),
        "banca": (60, 3500, 1, 20),
        "tie": (50, 750, 8, 1),
        "ponto-pair": (50, 400, 11, 1),
        "banca-pair": (50, 400, 11, 1),
    }
    macau = macau_rules(without_pairs=True)
    chances = BaccaratGame().rules(configuration(macau)).layout(macau).chances
    assert [(each.place, each.maximum_cents) for each in chances] == [("ponto", 0), ("banca", 0), ("tie", 0)]


@pytest.mark.guarantee("G10")
def test_g10_a_round_can_be_paid_again_from_its_stored_messages() -> None:
    placed = {Chance.BANCA: 1000, Chance.TIE: 100}
    outcome = RULES.draw(Tape(ENTROPY))
    stored = RULES.bets_message(placed).SerializeToString(), RULES.outcome_message(outcome).SerializeToString()
    after: BaccaratRules = BaccaratGame().rules(configuration())
    assert after.payout_cents(after.read_outcome(stored[1]), after.read_bets(stored[0])) == RULES.payout_cents(
        outcome, placed
    )
