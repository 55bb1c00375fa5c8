"""A hand of poker after the deal, as the runtime plays it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from feltro.poker.v1 import poker_pb2
from services.kit.cards.shoe import shuffled_shoe
from services.kit.randomness.tape import Tape
from services.kit.table.game import Default, StakeOnTable, Street, Turn
from services.poker import messages
from services.poker.engine import Table
from services.poker.hand.state import BOARD_CARDS, FOLD, Hand
from services.poker.lineup.entry import Positions
from services.poker.messages import Brought, Outcome
from services.poker.specific_rules import Showdown

ONE_PACK = 1
_FOLD = messages.move_message(FOLD).SerializeToString()


# Without slots, for the properties that are computed once.
@dataclass(frozen=True)
class DealtPoker:
    """Implements `services.kit.table.game.DealtRound`: nothing is staked after the deal but chips of the caves."""

    table: Table
    hand: Hand
    # What is done for a player who has left: a fold; in a tournament what the clock would do (810/2015, T-A-09).
    folds_if_away: bool = True

    @cached_property
    def turn(self) -> Turn | None:
        """Whose turn it is; when the time is up, a check where it is free and otherwise a fold (`806/2015:45`).

        Who has left a table of cash poker folds (A-18).
        """
        hand = self.hand
        if hand.is_over:
            return None
        seat = hand.deal.seats[hand.actor]
        default = messages.move_message(self.table.default(hand)).SerializeToString()
        return Turn((seat,), at_once=False, defaults=(Default(seat, default, _FOLD if self.folds_if_away else None),))

    def judge(self, seat: int, move: bytes) -> None:
        """Refuses an action that is not possible now, with the legal bounds."""
        self.table.judge(self.hand, seat, messages.read_move(move))

    def after(self, seat: int, move: bytes, stake_id: str) -> DealtPoker:  # noqa: ARG002 - it is the turn of the seat
        return dataclasses.replace(self, hand=self.table.after(self.hand, messages.read_move(move)))

    def move_staking(self, seat: int, bets: Brought) -> bytes | None:  # noqa: ARG002 - of the protocol
        return None

    def due_cents(self) -> Mapping[str, int]:
        return {}

    @cached_property
    def outcome(self) -> Outcome:
        return Outcome.of(messages.outcome_message(self.hand, self._view))

    @property
    def cards_shown(self) -> int:
        """How many cards lie on the table: the personal cards, and the common ones that are turned up."""
        return sum(map(len, self.hand.deal.holes)) + len(self.hand.board)

    def view(self) -> poker_pb2.View:
        return self._view

    @cached_property
    def _view(self) -> poker_pb2.View:
        """What everybody may see: the last move's event, the record and snapshots tell it, and it is built once."""
        return messages.view_message(self.hand)

    def run_out(self, cards_shown: int) -> Sequence[Street]:
        """Returns the common cards that are dealt when all are all in, street by street (A-15).

        First of all the personal cards are turned up, where all show theirs. Whose combination wins, and what is paid,
        is said by the outcome, when the last card lies.
        """
        hand, view = self.hand, self.view()
        lying = cards_shown - sum(map(len, hand.deal.holes))
        boards = [cards for cards in BOARD_CARDS if lying <= cards <= len(hand.board)]
        if len(boards) < 2:
            return ()
        views = [self._before_end(view, cards) for cards in boards]
        dealt = [0, *(after - before for before, after in pairwise(boards))]
        return [Street(*street) for street in zip(views, dealt, strict=True)]

    def _before_end(self, view: poker_pb2.View, cards: int) -> poker_pb2.View:
        """Returns the view with so many common cards, when nothing is compared and paid yet."""
        hand, earlier = self.hand, poker_pb2.View()
        earlier.CopyFrom(view)
        earlier.street = poker_pb2.Street.ValueType(BOARD_CARDS.index(cards) + 1)
        del earlier.board[cards:]
        for seat, held, bet in zip(earlier.seats, hand.held, hand.bets, strict=True):
            seat.stack_cents = held - bet
            seat.combination = poker_pb2.COMBINATION_UNSPECIFIED
            del seat.best_cards[:]
            if hand.deal.rules.showdown is Showdown.MUCK_LOSERS:
                # Who shows cards is known when all cards lie: until then it would say who wins.
                del seat.cards[:]
        return earlier

    def lost_cents(self, seat: int) -> int | None:
        """Returns what a seat has bet that has folded: nothing else of its cave can change in this hand."""
        hand, position = self.hand, self.hand.deal.position(seat)
        if position is None or position in hand.live():
            return None
        return hand.contributions[position]

    def own_view(self, seat: int, free_cents: int) -> poker_pb2.OwnView | None:  # noqa: ARG002 - chips are in the cave
        return messages.own_view_message(self.hand, seat)


def deal(
    table: Table, stakes: Sequence[StakeOnTable[Brought]], tape: Tape, *, folds_if_away: bool = True
) -> DealtPoker:
    """Draws the button where that is due (`806/2015:46`), shuffles the pack (2.j), posts the blinds and deals."""
    caves = {stake.bets.seat: stake.bets.cave_cents for stake in stakes}
    seats = sorted(caves)
    button = stakes[0].bets.button or seats[tape.below(len(seats))]
    order = [*(seat for seat in seats if seat > button), *(seat for seat in seats if seat <= button)]
    posting = {stake.bets.seat for stake in stakes if stake.bets.posts}
    posters = tuple(at for at, seat in enumerate(order) if seat in posting)
    positions = Positions(tuple(order), tuple(caves[seat] for seat in order), posters)
    return DealtPoker(table, table.deal(positions, shuffled_shoe(ONE_PACK, tape)), folds_if_away)
