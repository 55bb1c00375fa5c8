"""What the tables of a tournament make of its rules: the blinds of a level, chips without money, and ends as facts."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from feltro.poker.v1 import poker_pb2
from services.kit.randomness.tape import Tape
from services.kit.table.chips.seam import HandToPlay
from services.kit.table.game import StakeOnTable
from services.poker import messages
from services.poker.dealt_hand import DealtPoker
from services.poker.hand import betting
from services.poker.hand.state import CALL, CHECK, FOLD, Kind, Move
from services.poker.messages import Brought
from services.poker.tournament.levels import Level
from services.poker.tournament.price import Price
from services.poker.tournament.running.facts import HandEnded
from services.poker.tournament.specific_rules import default_rules
from services.poker.tournament_hands import TournamentHands, hand_ended
from services.poker.variant import Variant

HANDS = 300
LEVELS = (Level(50, 100), Level(100, 200))


def rules(variant: Variant = Variant.HOLDEM) -> TournamentHands:
    chosen = default_rules(variant, Price(1_000, 100), levels=LEVELS, late_reg_until_level=0, time_bank_seconds=40)
    return TournamentHands(chosen)


def deal(hands: TournamentHands, seats: Sequence[int], chips: Sequence[int], seed: int, level: int = 1) -> DealtPoker:
    to_play = HandToPlay(7, tuple(seats), tuple(chips), level)
    brought = hands.brought(to_play, dict.fromkeys(seats, hands.times.time_bank))
    stakes = [StakeOnTable(f"x.{seat}", seat, each) for seat, each in brought.items()]
    return hands.deal(stakes, Tape(random.Random(seed).randbytes(4_000)))


def play(dealt: DealtPoker, rng: random.Random) -> DealtPoker:
    """Plays a hand to its end with random decisions, in which much is bet."""
    while not dealt.hand.is_over:
        legal = betting.legal(dealt.hand)
        assert legal is not None
        moves = [CALL if legal.to_call_cents else CHECK] * 3 + [FOLD]
        if legal.min_to_cents:
            moves += [Move(Kind.RAISE, legal.min_to_cents), Move(Kind.RAISE, legal.max_to_cents)]
        move = messages.move_message(rng.choice(moves)).SerializeToString()
        dealt = dealt.after(dealt.hand.deal.seats[dealt.hand.actor], move, "")
    return dealt


@pytest.mark.parametrize("variant", list(Variant))
@pytest.mark.rule("810/2015:31", "810/2015:33")
def test_an_outcome_on_record_is_the_fact_that_the_hand_itself_is(variant: Variant) -> None:
    """Who is out, and who took the last chips (T-A-23), is read from the record alone."""
    hands, out = rules(variant), 0
    for seed in range(HANDS):
        rng = random.Random(seed)
        seats = sorted(rng.sample(range(1, 10), rng.randint(2, 6)))
        dealt = play(deal(hands, seats, [rng.choice((30, 100, 900, 1_500)) for _ in seats], seed), rng)
        outcome = hands.outcome_message(dealt.outcome).SerializeToString()
        fact = hand_ended(3, 7, outcome)
        assert fact == HandEnded.of(3, 7, dealt.hand)
        out += len(fact.takers)
        assert dealt.outcome.record.commission_cents == 0
    assert out > HANDS / 10


@pytest.mark.rule("810/2015:46")
def test_a_hand_is_dealt_with_the_blinds_of_its_level_and_the_button_that_the_director_says() -> None:
    hands = rules()
    for level, small, big in ((1, 50, 100), (2, 100, 200)):
        view = deal(hands, (2, 5, 9), (1_500, 1_500, 1_500), 1, level).view()
        bets = {each.seat: each.bet_cents for each in view.seats}
        assert (view.button, view.small_blind, view.big_blind) == (9, 2, 5)
        assert bets == {2: small, 5: big, 9: 0}


def test_what_a_seat_brings_is_read_back_with_its_hand_its_level_and_its_time_bank() -> None:
    hands = rules()
    brought = hands.brought(HandToPlay(41, (2, 5), (700, 800), 2), {2: hands.times.time_bank, 5: hands.times.time_bank})
    assert brought[5] == Brought(5, 800, 5, hand=41, level=2, time_bank_ms=40_000)
    for each in brought.values():
        read = hands.read_bets(hands.bets_message(each).SerializeToString())
        assert read == each
        assert hands.read_brought(read) == (41, hands.times.time_bank)
        # Chips are no money: nothing of them is in a column of cents.
        assert hands.total_cents(each) == hands.largest_payout_cents(each) == 0


@pytest.mark.rule("810/2015:27", "810/2015:43")
def test_t_a_09_what_is_done_for_an_absent_player_is_what_the_clock_would_do() -> None:
    dealt = deal(rules(), (1, 2, 3), (1_500, 1_500, 1_500), 1)
    turn = dealt.turn
    assert turn is not None
    assert [each.move_if_away for each in turn.defaults] == [None]
    assert poker_pb2.Move.FromString(turn.defaults[0].move).action == poker_pb2.ACTION_FOLD
