"""Translates the awards of a tournament, and the end of tickets to it, into what the wallet is asked for."""

from __future__ import annotations

from typing import NamedTuple

from feltro.wallet.v1 import tournament_pb2 as wallet_tournament
from services.poker.directing.books import WalletAward
from services.poker.tournament.money.awards import Award, Form, Why
from services.poker.tournament.running.state import Phase
from services.poker.tournament.specific_rules import FreerollTicket, TournamentRules

_REASONS = {
    Why.PRIZE: wallet_tournament.AWARD_REASON_PRIZE,
    Why.BOUNTY: wallet_tournament.AWARD_REASON_BOUNTY,
    Why.OWN_BOUNTY: wallet_tournament.AWARD_REASON_BOUNTY,
    Why.UNREGISTERED: wallet_tournament.AWARD_REASON_REFUND,
    Why.TOO_LATE: wallet_tournament.AWARD_REASON_REFUND,
    Why.ENTRY_BACK: wallet_tournament.AWARD_REASON_REFUND,
    Why.SHARE_BY_CHIPS: wallet_tournament.AWARD_REASON_CANCELLATION_SHARE,
}


# Refunds after which a ticket is as it was before the entry.
_RETURNED = frozenset({Why.UNREGISTERED, Why.TOO_LATE})


def award_message(each: WalletAward) -> wallet_tournament.Award:
    """Builds an award as the wallet is asked for it."""
    award = each.award
    message = wallet_tournament.Award(
        account_id=each.account_id,
        reason=_REASONS[award.why],
        amount_cents=award.cents,
        refunded_request_id=each.refunded,
    )
    if award.form is Form.TICKET and award.why is Why.PRIZE:
        message.ticket.tournament_id = award.tournament
        message.ticket.from_freeroll = each.from_freeroll
    if each.refunded_ticket:
        message.ticket_refund = _ticket_refund(award)
        if message.ticket_refund == wallet_tournament.TICKET_REFUND_REPLACE:
            message.replacement_tournament_id = award.tournament
    return message


def _ticket_refund(award: Award) -> wallet_tournament.TicketRefund.ValueType:
    """Returns how an entry by ticket is given back (25, 28, 30, 37)."""
    if award.form is Form.CASH:
        return wallet_tournament.TICKET_REFUND_CASH
    if award.why in _RETURNED:
        return wallet_tournament.TICKET_REFUND_RETURN
    return wallet_tournament.TICKET_REFUND_REPLACE


class TicketEnds(NamedTuple):
    """What becomes of the tickets to a tournament that nobody has used when it is over."""

    won: wallet_tournament.TicketSettlement.ValueType
    from_freeroll: wallet_tournament.TicketSettlement.ValueType
    # The tournament of the tickets that replace those from freerolls.
    replacement: str = ""


def ticket_ends(phase: Phase, rules: TournamentRules) -> TicketEnds:
    """Returns how unused tickets end: they lapse with the event, and are made good if it is cancelled (37, T-A-03)."""
    lapses = wallet_tournament.TICKET_SETTLEMENT_EXPIRE
    if phase is not Phase.CANCELLED:
        return TicketEnds(lapses, lapses)
    money = wallet_tournament.TICKET_SETTLEMENT_REIMBURSE
    if rules.freeroll_ticket is FreerollTicket.CASH:
        return TicketEnds(money, money)
    if not rules.replacement_tournament:
        # No satellite that is free is created for such a tournament.
        return TicketEnds(money, lapses)
    return TicketEnds(money, wallet_tournament.TICKET_SETTLEMENT_REPLACE, rules.replacement_tournament)
