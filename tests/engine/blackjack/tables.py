"""Tables, rounds and refusals of blackjack for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.blackjack import dealt_round
from services.blackjack.dealt_round import DealtBlackjack
from services.blackjack.engine import Decision, Move, Round, SpecificRules, Table
from services.blackjack.game import BlackjackGame, BlackjackRules
from services.blackjack.messages import Bets, move_message
from services.kit.cards.card import cards_named
from services.kit.cards.shoe import packs
from services.kit.table.game import StakeOnTable
from services.kit.table.refusals import TableRefused

DEFAULT = SpecificRules(
    packs=6, places=7, places_per_player=1, minimum_cents=500, maximum_cents=50_000, step_cents=2, splits_limit=3
)
TABLE = Table(DEFAULT)
BET = 1000


def dealt(player: str, bank: str, drawn: str = "", *, bet: int = BET, table: Table = TABLE) -> Round:
    """Deals to place 1 alone: the player's two cards, the bank's two, and then those that are drawn, in order."""
    (first, second), (up, hole) = cards_named(player), cards_named(bank)
    return table.deal({1: bet}, (first, up, second, hole, *cards_named(drawn), *packs(table.specific_rules.packs)))


def play(table: Table, round_: Round, decisions: Sequence[str | Move]) -> Round:
    """Carries out decisions in their order, each judged first; a text is a decision of the place whose turn it is."""
    for each in decisions:
        turn = table.turn(round_)
        assert turn is not None, f"{each}: the round is decided"
        move = Move(turn.places[0], Decision(each)) if isinstance(each, str) else each
        table.judge(round_, move)
        round_ = table.after(round_, move)
    return round_


def insure(cents: int, place: int = 1) -> Move:
    return Move(place, Decision.INSURE, cents)


def options(table: Table, round_: Round, place: int = 1) -> dict[str, int]:
    """Returns the decisions that are possible, each with what it costs."""
    return {option.decision.value: option.cost_cents for option in table.options(round_, place)}


def staked(round_: Round) -> int:
    """Returns all money that the round holds or held, insurance included."""
    hands = sum(hand.staked_cents for hand in round_.hands)
    return hands + sum(place.insurance_cents for place in round_.places)


def paid(table: Table, round_: Round) -> int:
    """Returns what the whole round pays."""
    payouts: Mapping[str, int] = table.payouts(round_)
    return sum(payouts.values())


def refusal_of(call: Callable[[], object]) -> TableRefused:
    with pytest.raises(TableRefused) as caught:
        call()
    return caught.value


# -- through the game, with named stakes and seats ---------------------------------------------------------------------


def configuration(
    *,
    play: wallet_types.Play.ValueType = wallet_types.PLAY_MULTI_PLAYER,
    seats: int = 1,
    regulation: str = "805/2015",
    **rules: int | bool,
) -> types_pb2.TableConfiguration:
    """Builds a table's configuration; `rules` are fields of blackjack's specific rules beside those of `DEFAULT`."""
    made = types_pb2.TableConfiguration(game="blackjack", regulation=regulation, play=play, seats=seats)
    fields = {
        "packs": 6,
        "places": 7,
        "minimum_cents": 500,
        "maximum_cents": 50_000,
        "step_cents": 2,
        "splits_limit": 3,
    }
    made.rules.Pack(blackjack_pb2.SpecificRules(**{**fields, **rules}))  # type: ignore[arg-type]
    return made


def game_rules(**rules: int | bool) -> BlackjackRules:
    return BlackjackGame().rules(configuration(**rules))  # type: ignore[arg-type]


def stake(stake_id: str, seat: int, **bets: int) -> StakeOnTable[Bets]:
    """Builds a stake; the places of its bets are named `p3`, since no keyword begins with a digit."""
    return StakeOnTable(stake_id, seat, {name.removeprefix("p"): cents for name, cents in bets.items()})


def deal_cards(rules: BlackjackRules, stakes: Sequence[StakeOnTable[Bets]], cards: str) -> DealtBlackjack:
    """Deals these cards first, in the order of dealing, and then a pack after the other."""
    return dealt_round.deal(rules.table, stakes, (*cards_named(cards), *packs(rules.table.specific_rules.packs)))


def encoded(place: int, decision: Decision | str, insurance_cents: int = 0) -> bytes:
    return move_message(Move(place, Decision(decision), insurance_cents)).SerializeToString()


def decide(dealt_: DealtBlackjack, seat: int, move: bytes, stake_id: str = "") -> DealtBlackjack:
    """Carries out a decision as the runtime does: judged first, its stake with an id of its own."""
    wanted = dealt_.judge(seat, move)
    assert (wanted is not None) == bool(stake_id), wanted
    return dealt_.after(seat, move, stake_id)
