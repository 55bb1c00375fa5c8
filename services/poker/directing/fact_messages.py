"""Translates the facts of a tournament between the engine and the messages that the journal keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from feltro.poker.v1 import tournament_journal_pb2
from services.poker.tournament.money.entries import PaidBy
from services.poker.tournament.running.facts import (
    AddedOn,
    CameBack,
    CancelOrdered,
    Fact,
    HandEnded,
    HandVoided,
    Paid,
    Rebought,
    RebuyDeclined,
    TimePassed,
    Unregistered,
    WentAway,
)

_Message = tournament_journal_pb2.TournamentFact
_BOUGHT: Mapping[str, Callable[[str], Fact]] = {"paid": Paid, "rebought": Rebought, "added_on": AddedOn}
_DONE: Mapping[str, Callable[[str], Fact]] = {
    "unregistered": Unregistered,
    "rebuy_declined": RebuyDeclined,
    "went_away": WentAway,
    "came_back": CameBack,
}


class Payment(NamedTuple):
    """Who has paid for a fact, and by which request of the wallet (empty: it was free)."""

    account_id: str
    pay_in_id: str
    # As the fact of the entry has it; empty: it was paid in money.
    ticket_id: str = ""


class UnknownFact(ValueError):
    """The journal holds a fact of a kind that this release does not know: a newer one has to replay it."""


def fact_message(fact: Fact, payment: Payment | None = None) -> tournament_journal_pb2.TournamentFact:
    """Returns the message of a fact; `payment` is that of what a player has paid."""
    message = _Message()
    match fact:
        case Paid() | Rebought() | AddedOn():
            getattr(message, _name_in(_BOUGHT, fact)).CopyFrom(_purchase(fact, payment))
        case Unregistered() | RebuyDeclined() | WentAway() | CameBack():
            getattr(message, _name_in(_DONE, fact)).player_id = fact.player
        case HandEnded():
            message.hand_ended.CopyFrom(_hand_ended(fact))
        case HandVoided(table, number):
            message.hand_voided.CopyFrom(tournament_journal_pb2.HandVoidedFact(table=table, hand_no=number))
        case CancelOrdered(reason):
            message.cancel_ordered.reason = reason
        case TimePassed():
            message.time_passed.SetInParent()
    return message


def _name_in(kinds: Mapping[str, Callable[[str], Fact]], fact: Fact) -> str:
    return next(name for name, kind in kinds.items() if kind is type(fact))


def _purchase(fact: Paid | Rebought | AddedOn, payment: Payment | None) -> tournament_journal_pb2.PurchaseFact:
    if payment is None:
        raise ValueError("A purchase is journalled with its payment.")
    message = tournament_journal_pb2.PurchaseFact(
        player_id=fact.player, account_id=payment.account_id, pay_in_id=payment.pay_in_id
    )
    if isinstance(fact, Paid) and fact.ticket:
        message.ticket_id, message.from_freeroll = fact.ticket, fact.paid_by is PaidBy.FREEROLL_TICKET
    return message


def _read_purchase(kind: str, bought: tournament_journal_pb2.PurchaseFact) -> tuple[Fact, Payment]:
    payment = Payment(bought.account_id, bought.pay_in_id, bought.ticket_id)
    if not bought.ticket_id:
        return _BOUGHT[kind](bought.player_id), payment
    paid_by = PaidBy.FREEROLL_TICKET if bought.from_freeroll else PaidBy.TICKET
    return Paid(bought.player_id, paid_by, bought.ticket_id), payment


def _hand_ended(fact: HandEnded) -> tournament_journal_pb2.HandEndedFact:
    seats = [
        tournament_journal_pb2.SeatAfterHand(seat=seat, chips=chips, takers=fact.takers.get(seat, ()))
        for seat, chips in sorted(fact.chips.items())
    ]
    return tournament_journal_pb2.HandEndedFact(table=fact.table, hand_no=fact.number, seats=seats)


def read_fact(message: bytes) -> tuple[Fact, Payment | None]:
    """Reads a fact, and the payment of a purchase."""
    read = _Message.FromString(message)
    kind = read.WhichOneof("fact")
    match kind:
        case "paid" | "rebought" | "added_on":
            return _read_purchase(kind, getattr(read, kind))
        case "unregistered" | "rebuy_declined" | "went_away" | "came_back":
            player: tournament_journal_pb2.PlayerFact = getattr(read, kind)
            return _DONE[kind](player.player_id), None
        case "hand_ended":
            hand = read.hand_ended
            chips = {each.seat: each.chips for each in hand.seats}
            taken = {each.seat: tuple(each.takers) for each in hand.seats if each.takers}
            return HandEnded(hand.table, hand.hand_no, chips, taken), None
        case "hand_voided":
            return HandVoided(read.hand_voided.table, read.hand_voided.hand_no), None
        case "cancel_ordered":
            return CancelOrdered(read.cancel_ordered.reason), None
        case "time_passed":
            return TimePassed(), None
        case _:
            raise UnknownFact("The journal holds a fact of an unknown kind: a newer release has written it.")
