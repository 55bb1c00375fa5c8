"""Connects the hands of a tournament to the table runtime: chips, the blinds of their levels, and what they moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from feltro.poker.v1 import poker_pb2
from services.kit.randomness.tape import Tape
from services.kit.table.chips.rules import BroughtToHand, ChipTimes
from services.kit.table.chips.seam import HandToPlay
from services.kit.table.game import NoBets, StakeOnTable
from services.poker import dealt_hand, messages
from services.poker.dealt_hand import DealtPoker
from services.poker.engine import Table
from services.poker.messages import Brought, Outcome
from services.poker.tournament.running.facts import HandEnded
from services.poker.tournament.specific_rules import TournamentRules, rules_of_hands

_MILLISECOND = timedelta(milliseconds=1)


class TournamentHands(NoBets[Brought, Outcome]):
    """Implements `services.kit.table.chips.rules.ChipRules`, under the rules of one tournament.

    No money lies at its tables: stakes and payouts are 0 cents, and chips are what seats bring (810/2015, section 3).
    """

    move_type = poker_pb2.Move
    hides_cards = True
    cut_card = None
    minimum_cents = 0
    largest_stake_cents = 0
    largest_payout_limit_cents = 0

    def __init__(self, rules: TournamentRules) -> None:
        self.tournament = rules
        self._tables: dict[int, Table] = {}

    @property
    def times(self) -> ChipTimes:
        hands = self.table(1).specific_rules
        return ChipTimes(
            time_bank=timedelta(seconds=hands.time_bank_s),
            lost_line_extra=timedelta(seconds=hands.disconnect_extra_s),
            gateway_pause=timedelta(seconds=hands.gateway_pause_s),
            recovery_limit=timedelta(seconds=hands.recovery_limit_s),
        )

    def table(self, level: int) -> Table:
        """Returns the game by the blinds of a level, from 1."""
        table = self._tables.get(level)
        if table is None:
            blinds = self.tournament.levels[level - 1]
            table = self._tables[level] = Table(rules_of_hands(self.tournament, blinds))
        return table

    # -- chips -------------------------------------------------------------------------------------------------------

    def brought(self, hand: HandToPlay, time_banks: Mapping[int, timedelta]) -> Mapping[int, Brought]:
        return {
            seat: Brought(
                seat,
                chips,
                hand.button,
                hand=hand.number,
                level=hand.level,
                time_bank_ms=time_banks[seat] // _MILLISECOND,
            )
            for seat, chips in sorted(zip(hand.seats, hand.chips, strict=True))
        }

    def read_brought(self, brought: Brought) -> BroughtToHand:
        return BroughtToHand(brought.hand, _MILLISECOND * brought.time_bank_ms)

    def bets_message(self, bets: Brought) -> poker_pb2.SeatInHand:
        return messages.brought_message(bets)

    def read_bets(self, message: bytes) -> Brought:
        return messages.read_brought(message)

    def total_cents(self, bets: Brought) -> int:  # noqa: ARG002 - chips are no money
        return 0

    def payout_cents(self, outcome: Outcome, bets: Brought) -> int:  # noqa: ARG002 - chips are no money
        return 0

    def largest_payout_cents(self, bets: Brought) -> int:  # noqa: ARG002 - chips are no money
        return 0

    # -- hands -------------------------------------------------------------------------------------------------------

    def deal(self, stakes: Sequence[StakeOnTable[Brought]], tape: Tape, cards_taken: int = 0) -> DealtPoker:  # noqa: ARG002
        """Shuffles the pack anew for each hand (`806/2015:2.j`), and deals from it by the blinds of its level."""
        return dealt_hand.deal(self.table(stakes[0].bets.level), stakes, tape, folds_if_away=False)

    def outcome_message(self, outcome: Outcome) -> poker_pb2.Outcome:
        return outcome.record

    def read_outcome(self, message: bytes) -> Outcome:
        return Outcome.of(poker_pb2.Outcome.FromString(message))

    def results_message(self, outcome: Outcome, bets: Brought) -> poker_pb2.SeatResult:
        return messages.seat_result_message(outcome, bets)


def hand_ended(table: int, number: int, outcome: bytes) -> HandEnded:
    """Returns the fact that a journalled outcome of a hand is: chips by seat, and who took the last ones (T-A-23)."""
    record = poker_pb2.Outcome.FromString(outcome)
    chips = {each.seat: each.stack_cents for each in record.view.seats}
    takers: dict[int, tuple[int, ...]] = {}
    for seat in (seat for seat, left in chips.items() if left == 0):
        # The winners of the highest layer of the pot that the player was in, clockwise from the button.
        last = max(at for at, pot in enumerate(record.view.pots) if seat in pot.seats)
        takers[seat] = tuple(payment.seat for payment in record.payments if payment.pot == last)
    return HandEnded(table, number, chips, takers)
