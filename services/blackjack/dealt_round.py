"""A round of blackjack after the deal, as the runtime plays it: seats decide for their places, and stakes have ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from feltro.blackjack.v1 import blackjack_pb2
from services.blackjack import engine, messages, refusals
from services.blackjack.engine import Decision, Move, Option, Round, Table
from services.blackjack.messages import Bets, Outcome
from services.kit.cards.card import Card
from services.kit.table.game import Default, StakeOnTable, Turn, Wanted
from services.kit.table.refusals import TableRefused


# Without slots, for the properties that are computed once.
@dataclass(frozen=True)
class DealtBlackjack:
    """Implements `services.kit.table.game.DealtRound`."""

    table: Table
    round: Round
    # The seat that plays each place with a bet.
    seats: Mapping[int, int]
    # The bets of each stake by name; those of decisions too.
    stakes: Mapping[str, Bets]

    # -- decisions ----------------------------------------------------------------------------------------------------

    @cached_property
    def _engine_turn(self) -> engine.Turn | None:
        return self.table.turn(self.round)

    # The runtime asks for it several times for every decision.
    @cached_property
    def turn(self) -> Turn | None:
        """Who may decide: all with an open offer side by side (B28), or the seat of the hand that is to be played."""
        turn = self._engine_turn
        if turn is None:
            return None
        defaults = tuple(Default(self.seats[place], self._default(place)) for place in turn.places)
        seats = tuple(dict.fromkeys(self.seats[place] for place in turn.places))
        return Turn(seats, at_once=turn.hand is None, defaults=defaults)

    def _default(self, place: int) -> bytes:
        return messages.move_message(self.table.default(self.round, place)).SerializeToString()

    def judge(self, seat: int, move: bytes) -> Wanted[Bets] | None:
        """Returns what a decision has to stake; refuses one that its place does not have now, or another's place."""
        read = messages.read_move(move, self.table.specific_rules.places)
        turn = self._engine_turn
        if self.seats.get(read.place) != seat:
            raise refusals.not_your_place(read.place, () if turn is None else turn.places)
        wanted = self.table.judge(self.round, read)
        return None if wanted is None else Wanted({wanted.stake: wanted.cents}, wanted.cents)

    def after(self, seat: int, move: bytes, stake_id: str) -> DealtBlackjack:  # noqa: ARG002 - the move names its place
        """Returns the round after a decision that was judged, up to the next one or to its end."""
        after = self.table.after(self.round, messages.read_move(move, self.table.specific_rules.places))
        added = {name: cents for name, cents in after.stakes.items() if name not in self.round.stakes}
        stakes = {**self.stakes, stake_id: added} if added else self.stakes
        return dataclasses.replace(self, round=after, stakes=stakes)

    def move_staking(self, seat: int, bets: Bets) -> bytes | None:
        """Returns the decision of a seat that stakes these bets now; None if none does."""
        cents = sum(bets.values())
        for place, option in self._options(seat, cents):
            insurance_cents = cents if option.decision is Decision.INSURE else 0
            move = messages.move_message(Move(place, option.decision, insurance_cents)).SerializeToString()
            try:
                wanted = self.judge(seat, move)
            except TableRefused:
                # An insurance that is not in the table's steps.
                continue
            if wanted is not None and wanted.bets == bets:
                return move
        return None

    # -- pay ----------------------------------------------------------------------------------------------------------

    def due_cents(self) -> Mapping[str, int]:
        """Returns what stakes pay that are decided before the bank plays: 20.a, even money, and half back (15.e)."""
        due, staked = self.table.due(self.round), self.round.stakes
        return {
            stake_id: sum(part_of(due[name], cents, staked[name]) for name, cents in bets.items())
            for stake_id, bets in self.stakes.items()
            if due.keys() >= bets.keys()
        }

    @property
    def outcome(self) -> Outcome:
        """The record of the round, with what every stake paid."""
        return Outcome.of(messages.outcome_message(self.round, self.table.payouts(self.round), self.seats))

    # -- what is shown ------------------------------------------------------------------------------------------------

    @property
    def cards_shown(self) -> int:
        """How many cards have left the shoe, the hole card included."""
        return self.round.dealt

    def view(self) -> blackjack_pb2.View:
        """Builds what everybody may see: all cards but the hole card, until the bank plays."""
        return messages.view_message(self.round, self._engine_turn, self.seats)

    def own_view(self, seat: int, free_cents: int) -> blackjack_pb2.OwnView | None:
        """Builds the decisions of a seat's places that this money pays for (24); None if it has none to make."""
        options = tuple(self._options(seat, free_cents))
        return messages.own_view_message(options) if options else None

    def _options(self, seat: int, free_cents: int) -> Iterator[tuple[int, Option]]:
        turn = self._engine_turn
        for place in () if turn is None else turn.places:
            if self.seats[place] != seat:
                continue
            for option in self.table.options(self.round, place):
                affordable = self._affordable(option, free_cents)
                if affordable is not None:
                    yield place, affordable

    def _affordable(self, option: Option, free_cents: int) -> Option | None:
        """Returns a decision as far as there is money for it: an insurance may be less than half of the bet (B21)."""
        if option.decision is Decision.INSURE:
            step_cents = self.table.specific_rules.step_cents
            limit_cents = min(option.cost_cents, free_cents // step_cents * step_cents)
            return Option(Decision.INSURE, limit_cents) if limit_cents > 0 else None
        return option if option.cost_cents <= max(free_cents, 0) else None


def deal(table: Table, stakes: Sequence[StakeOnTable[Bets]], shoe: Sequence[Card]) -> DealtBlackjack:
    """Deals to every place with a bet; several stakes on one place are one bet (14)."""
    bets: dict[int, int] = {}
    seats: dict[int, int] = {}
    for stake in stakes:
        for name, cents in stake.bets.items():
            place = int(name)
            bets[place] = bets.get(place, 0) + cents
            seats[place] = stake.seat
    return DealtBlackjack(table, table.deal(bets, shoe), seats, {stake.stake_id: stake.bets for stake in stakes})


def part_of(payout_cents: int, cents: int, staked_cents: int) -> int:
    """Returns what a part of a stake gets of its payout.

    Whole, because bets lie in even steps (B19) and everything pays a multiple of a half.
    """
    part, rest = divmod(payout_cents * cents, staked_cents)
    if rest:
        raise AssertionError(f"{cents} of {staked_cents} cents would get a fraction of {payout_cents}")
    return part
