"""Plays a hand that is over again from its record, and writes its history for its player or for the operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from services.kit.randomness.tape import Tape
from services.kit.table.game import StakeOnTable
from services.kit.table.journal.history import RoundRecord
from services.kit.table.refusals import TableRefused, unavailable
from services.poker.game import PokerRules
from services.poker.hand.state import Hand
from services.poker.history import hand_history
from services.poker.history.hand_history import HandFacts
from services.poker.tournament_hands import TournamentHands

CURRENCY = "EUR"

# The rules of a table of cash poker, or of the tables of a tournament.
HandRules: TypeAlias = PokerRules | TournamentHands


class _PlayedHand(NamedTuple):
    """A hand as it was dealt and as it ended, and whom each of its positions belongs to."""

    begun: Hand
    ended: Hand
    player_ids: Sequence[str]
    record: RoundRecord
    # Empty where chips have no money value.
    currency: str

    def facts(self, players: Sequence[str]) -> HandFacts:
        opened, drawn = self.record.opened, self.record.drawn
        started_at = opened.opened_at if drawn is None else drawn.drawn_at
        return HandFacts(opened.round_id, opened.table_id, started_at, self.currency, players)


def for_operator(record: RoundRecord, rules: HandRules) -> str:
    """Returns the history of a hand with all cards and players."""
    played = _play(record, rules)
    return hand_history.for_operator(played.begun, played.ended, played.facts(played.player_ids))


def for_player(record: RoundRecord, rules: HandRules, player_id: str) -> str:
    """Returns the history of a hand that the player was dealt into, with the cards and the name that are theirs."""
    seat = next((stake.seat for stake in record.stakes if stake.player_id == player_id), None)
    if seat is None:
        raise TableRefused("ROUND_UNKNOWN", "You were in no such hand.", round_id=record.opened.round_id)
    played = _play(record, rules)
    own = [each if each == player_id else "" for each in played.player_ids]
    return hand_history.for_player(played.begun, played.ended, played.facts(own), seat)


def _play(record: RoundRecord, rules: HandRules) -> _PlayedHand:
    drawn = record.drawn
    if drawn is None or drawn.is_lost:
        raise unavailable("The record of the hand was lost with the journal, and a backup has its result alone")
    stakes = [StakeOnTable(each.stake_id, each.seat, rules.read_bets(each.bets)) for each in drawn.stakes]
    dealt = ended = rules.deal(stakes, Tape(drawn.entropy))
    for move in record.moves:
        ended = ended.after(move.seat, move.move, "")
    currency = "" if isinstance(rules, TournamentHands) else CURRENCY
    by_seat = {each.seat: each.player_id for each in drawn.stakes}
    return _PlayedHand(dealt.hand, ended.hand, [by_seat[seat] for seat in dealt.hand.deal.seats], record, currency)
