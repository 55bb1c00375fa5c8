"""The worked rounds through the game, as the runtime plays them: seats, named stakes, early payment and the record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from feltro.blackjack.v1 import blackjack_pb2
from services.blackjack.dealt_round import DealtBlackjack
from services.blackjack.engine import Decision, Move
from services.blackjack.game import BlackjackGame, BlackjackRules
from services.blackjack.messages import Bets, Outcome
from services.kit.cards.shoe import packs, shuffled_shoe
from services.kit.randomness.tape import Tape
from services.kit.table.game import DealtRound, Default, Game, Rules, StakeOnTable, Turn
from tests.engine.blackjack.tables import configuration, deal_cards, decide, encoded, game_rules, refusal_of, stake
from tests.engine.blackjack.test_rounds import EXAMPLES

RULES = game_rules()
SEAT = 1


def play_out(dealt: DealtBlackjack, decisions: tuple[str | Move, ...]) -> DealtBlackjack:
    """Carries out decisions of the place whose turn it is, each stake with an id of its own."""
    for number, each in enumerate(decisions):
        move = each if isinstance(each, Move) else Move(1, Decision(each))
        costs = move.decision in {Decision.DOUBLE, Decision.SPLIT, Decision.INSURE}
        message = encoded(move.place, move.decision, move.insurance_cents)
        dealt = decide(dealt, SEAT, message, f"decision-{number}" if costs else "")
    return dealt


def paid_by_stake(rules: BlackjackRules, dealt: DealtBlackjack) -> Mapping[str, int]:
    """Returns what every stake paid, by the record alone, as the runtime and a replay read it."""
    outcome = rules.read_outcome(rules.outcome_message(dealt.outcome).SerializeToString())
    stored = {stake_id: rules.bets_message(bets).SerializeToString() for stake_id, bets in dealt.stakes.items()}
    return {stake_id: rules.payout_cents(outcome, rules.read_bets(bets)) for stake_id, bets in stored.items()}


def test_blackjack_implements_the_protocols_of_the_runtime() -> None:
    # mypy checks these assignments.
    game: Game[Bets, Outcome] = BlackjackGame()
    rules: Rules[Bets, Outcome] = RULES
    dealt: DealtRound[Bets, Outcome] = rules.deal([stake("s", 1, p1=1000)], Tape(bytes(range(256)) * 16))

    assert (game.name, rules.minimum_cents, rules.hides_cards, rules.move_type) == (
        "blackjack",
        500,
        True,
        blackjack_pb2.Move,
    )
    assert dealt.cards_shown == 4


@pytest.mark.guarantee("G10")
@pytest.mark.parametrize("number", EXAMPLES)
def test_g10_a_worked_round_pays_by_its_record_what_the_rulebook_says(number: str) -> None:
    example = EXAMPLES[number]
    (first, second), (up, hole) = example.player.split(), example.bank.split()
    cards = " ".join([first, up, second, hole, example.drawn])
    # The bet was placed in two parts, which are one bet and get their parts of what it pays.
    dealt = deal_cards(RULES, [stake("a", SEAT, p1=600), stake("b", SEAT, p1=400)], cards)
    over = play_out(dealt, example.decisions)

    assert over.turn is None
    paid = paid_by_stake(RULES, over)
    assert sum(sum(bets.values()) for bets in over.stakes.values()) == example.wagered
    assert sum(paid.values()) == example.credit
    assert paid["a"] * 400 == paid["b"] * 600
    assert over.due_cents().items() <= paid.items()
    # No stake can get back more than the wallet was told when it was placed.
    assert all(cents <= RULES.largest_payout_cents(over.stakes[stake_id]) for stake_id, cents in paid.items())


def test_j27_two_places_are_two_hands_with_stakes_of_their_own() -> None:
    rules = game_rules(places_per_player=2)
    dealt = deal_cards(rules, [stake("a", 2, p2=1000), stake("b", 2, p5=1000)], "Ts Ts 6s 6c 3c Tc 9d Kd")
    over = decide(decide(dealt, 2, encoded(2, "draw")), 2, encoded(5, "stand"))

    assert paid_by_stake(rules, over) == {"a": 0, "b": 2000}


@pytest.mark.rule("805/2015:20.a")
def test_a_blackjack_against_2_to_9_is_due_at_the_deal_and_nobody_elses_stake_is() -> None:
    dealt = deal_cards(
        RULES, [stake("a", 1, p1=600), stake("b", 2, p2=800), stake("c", 1, p1=400)], "As Ts 6h Kd 8d 5c"
    )

    assert dealt.due_cents() == {"a": 1500, "c": 1000}
    assert dealt.turn == Turn((2,), at_once=False, defaults=(Default(2, encoded(2, "stand")),))


@pytest.mark.rule("805/2015:15.e")
def test_giving_up_is_due_at_once_with_half_of_the_bet() -> None:
    two = [stake("a", 1, p1=1000), stake("b", 2, p2=1000)]
    dealt = decide(deal_cards(RULES, two, "Ts Ts 6h 6d 8d 5c"), 1, encoded(1, "give-up"))

    assert dealt.due_cents() == {"a": 500}
    assert dealt.turn is not None


@pytest.mark.rule("805/2015:20.b", "805/2015:15.f")
def test_offers_are_made_to_all_seats_at_once_with_a_default_for_each_place() -> None:
    rules = game_rules(places_per_player=2)
    stakes = [stake("a", 1, p1=1000), stake("b", 4, p4=1000), stake("c", 1, p6=1000)]
    dealt = deal_cards(rules, stakes, "Ts As 9s Ah 6c Kd 5d 9c")
    assert dealt.turn == Turn(
        (1, 4),
        at_once=True,
        defaults=(
            Default(1, encoded(1, "decline")),
            Default(4, encoded(4, "decline")),
            Default(1, encoded(6, "decline")),
        ),
    )
    # In any order: each answer closes one question.
    dealt = decide(dealt, 1, encoded(6, "insure", 300), "d")
    dealt = decide(dealt, 4, encoded(4, "even-money"))
    assert dealt.turn == Turn((1,), at_once=True, defaults=(Default(1, encoded(1, "decline")),))
    assert dealt.due_cents() == {"b": 2000}
    dealt = decide(dealt, 1, encoded(1, "decline"))
    assert dealt.turn == Turn((1,), at_once=False, defaults=(Default(1, encoded(1, "stand")),))
    assert dealt.stakes["d"] == {"6.insurance": 300}


def test_l8_defaults_draw_up_to_11_and_then_stand() -> None:
    dealt = deal_cards(RULES, [stake("a", 1, p1=1000)], "4s Th 5d 8c 2c Kd")
    taken = []
    while (turn := dealt.turn) is not None:
        (default,) = turn.defaults
        taken.append(blackjack_pb2.Decision.Name(blackjack_pb2.Move.FromString(default.move).decision))
        dealt = decide(dealt, default.seat, default.move)

    assert taken == ["DECISION_DRAW", "DECISION_DRAW"]
    assert paid_by_stake(RULES, dealt) == {"a": 2000}


@pytest.mark.rule("805/2015:20.c")
def test_l10_the_record_of_a_lone_bust_shows_no_hole_card() -> None:
    over = decide(deal_cards(RULES, [stake("a", 1, p1=1000)], "Ts Th 6d 5c 9c"), 1, encoded(1, "draw"))
    record = over.outcome.record

    assert list(record.bank.cards) == ["Th", ""]
    assert not record.bank.hole_shown
    assert record.hands[0].state == blackjack_pb2.HAND_STATE_BUST
    assert paid_by_stake(RULES, over) == {"a": 0}


def test_the_record_holds_hands_bank_offers_and_every_stake_by_its_name() -> None:
    stakes = [stake("a", 3, p3=1000)]
    dealt = deal_cards(RULES, stakes, "8h Ah 8s 7c 3c Td Tc")
    view = dealt.view()
    assert [(offer.place, offer.seat, offer.open, offer.even_money) for offer in view.offers] == [(3, 3, True, False)]
    assert (list(view.bank.cards), view.bank.score, view.bank.soft) == (["Ah", ""], 11, True)
    assert (view.place, view.hand) == (0, 0)
    dealt = decide(dealt, 3, encoded(3, "insure", 500), "i")
    dealt = decide(dealt, 3, encoded(3, "split"), "s")
    assert (dealt.view().place, dealt.view().hand) == (3, 1)
    dealt = decide(dealt, 3, encoded(3, "double"), "d")
    assert (dealt.view().place, dealt.view().hand) == (3, 2)
    over = decide(dealt, 3, encoded(3, "stand"))

    record = over.outcome.record
    shown = [
        (h.place, h.number, h.seat, list(h.cards), h.score, h.staked_cents, h.doubled, h.split) for h in record.hands
    ]
    assert shown == [
        (3, 1, 3, ["8h", "3c", "Td"], 21, 2000, True, True),
        (3, 2, 3, ["8s", "Tc"], 18, 1000, False, True),
    ]
    assert (list(record.bank.cards), record.bank.score, record.bank.soft) == (["Ah", "7c"], 18, True)
    assert [(r.place, r.amount_cents, r.payout_cents, r.prize_cents) for r in record.results] == [
        ("3", 1000, 2000, 1000),
        ("3.1.double", 1000, 2000, 1000),
        ("3.2", 1000, 1000, 0),
        ("3.insurance", 500, 0, 0),
    ]
    assert paid_by_stake(RULES, over) == {"a": 2000, "d": 2000, "s": 1000, "i": 0}
    results = RULES.results_message(over.outcome, {"3": 400, "3.insurance": 500}).results
    assert [(r.place, r.payout_cents) for r in results] == [("3", 800), ("3.insurance", 0)]


@pytest.mark.guarantee("G12")
def test_g12_a_stake_that_the_round_did_not_have_is_not_paid_as_lost() -> None:
    over = decide(deal_cards(RULES, [stake("a", 1, p1=1000)], "Ts Th 6d 5c 9c"), 1, encoded(1, "draw"))

    with pytest.raises(KeyError):
        RULES.payout_cents(over.outcome, {"2": 1000})


def test_the_whole_shoe_is_shuffled_for_each_round() -> None:
    entropy = bytes(range(1, 256)) * 16
    for count in (4, 6, 8):
        rules = game_rules(packs=count)
        dealt = rules.deal([StakeOnTable("a", 1, {"1": 1000})], Tape(entropy))
        assert dealt.round.shoe == shuffled_shoe(count, Tape(entropy))
        assert len(dealt.round.shoe) == count * 52


@pytest.mark.guarantee("G6", "G10")
@pytest.mark.rule("805/2015:4.b", "805/2015:14")
def test_a_shoe_with_a_cut_card_is_dealt_on_from_where_the_round_before_has_left_it() -> None:
    entropy = bytes(range(1, 256)) * 16
    rules = game_rules(packs=6, cut_card=260)
    whole = shuffled_shoe(6, Tape(entropy))
    for taken in (0, 4, 259):
        dealt = rules.deal([StakeOnTable("a", 1, {"1": 1000})], Tape(entropy), taken)
        assert dealt.round.shoe[: 312 - taken] == whole[taken:]
        # A round has as many cards as with a shoe of its own, whatever is split (G11).
        assert Counter(dealt.round.shoe) == Counter(packs(6))
        assert dealt.cards_shown == 4


def test_the_wallets_ceilings_have_room_for_doubles_and_splits() -> None:
    # A hand of 6, 7 and 8 of one suit gets its bet, as much again, and three times the bet.
    assert RULES.largest_payout_limit_cents == 5 * 50_000
    assert game_rules(without_special_prizes=True).largest_payout_limit_cents == 125_000
    # Four hands on one place, each doubled, and an insurance of half of the bet.
    assert RULES.largest_stake_cents == 8 * 50_000 + 25_000
    assert game_rules(places_per_player=3, without_insurance=True).largest_stake_cents == 24 * 50_000
    # Without a limit of splits the cards of the shoe are one.
    assert game_rules(splits_limit=0).largest_stake_cents > 40 * 50_000
    assert RULES.largest_payout_cents({"1": 1000, "1.1.double": 1000, "1.insurance": 500, "1.2": 1000}) == 13_500
    assert game_rules(double_any_score=True).largest_payout_cents({"1.1.double": 1000}) == 5000


def test_an_insurance_is_decided_by_seat_and_money() -> None:
    dealt = deal_cards(RULES, [stake("a", 1, p1=1000)], "Ts Ah 6d 5c")

    def insurance_with(free_cents: int) -> list[int]:
        view = dealt.own_view(1, free_cents)
        assert view is not None
        insure_ = blackjack_pb2.DECISION_INSURE
        return [option.cost_cents for option in view.options if option.decision == insure_]

    assert [insurance_with(cents) for cents in (1000, 500, 333, 2, 1, 0)] == [[500], [500], [332], [2], [], []]
    assert dealt.own_view(2, 1000) is None


@pytest.mark.guarantee("G3")
def test_g3_only_a_stake_that_a_decision_would_make_now_tells_which_one_it_was() -> None:
    dealt = deal_cards(RULES, [stake("a", 1, p1=1000)], "8s Ah 8d 5c")

    assert dealt.move_staking(1, {"1.insurance": 300}) == encoded(1, "insure", 300)
    foreign: list[Bets] = [{"1.insurance": 502}, {"1.insurance": 301}, {"1.2": 1000}, {"1.1.double": 1000}, {"1": 1000}]
    assert [dealt.move_staking(1, bets) for bets in foreign] == [None] * len(foreign)
    assert dealt.move_staking(2, {"1.insurance": 300}) is None
    played = decide(dealt, 1, encoded(1, "decline"))
    assert played.move_staking(1, {"1.2": 1000}) == encoded(1, "split")
    assert played.move_staking(1, {"1.2": 800}) is None
    assert played.move_staking(1, {"1.3": 1000}) is None


def test_a_configuration_of_another_game_is_refused() -> None:
    other = configuration()
    other.game = "roulette"
    refused = refusal_of(lambda: BlackjackGame().rules(other))
    assert (refused.reason, refused.facts["field"]) == ("INVALID", "configuration.game")


@pytest.mark.parametrize(
    ("move", "field"),
    [
        (b"\xff\xff", "move"),
        (blackjack_pb2.Move(place=1).SerializeToString(), "move.decision"),
        (b"\x08\x01\x10\x63", "move.decision"),
        (encoded(0, "draw"), "move.place"),
        (encoded(8, "draw"), "move.place"),
        (encoded(-1, "draw"), "move.place"),
        (encoded(1, "draw", 2), "move.insurance_cents"),
    ],
)
def test_what_is_no_decision_of_this_table_is_invalid(move: bytes, field: str) -> None:
    dealt = deal_cards(game_rules(), [stake("a", 1, p1=1000)], "Ts 9h 6d 5c")
    refused = refusal_of(lambda: dealt.judge(1, move))
    assert (refused.reason, refused.facts["field"]) == ("INVALID", field)


def test_a_decided_round_is_nobodys_turn() -> None:
    over = decide(deal_cards(game_rules(), [stake("a", 1, p1=1000)], "Ts Th 6d 5c 9c"), 1, encoded(1, "draw"))
    refused = refusal_of(lambda: over.judge(1, encoded(1, "draw")))
    assert (refused.reason, refused.facts["turn_of"]) == ("NOT_YOUR_TURN", "")
