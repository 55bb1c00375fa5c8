"""Explains the tickets to a tournament: by its journal each was used, given back or left over, as the ledger has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from feltro.wallet.v1 import ticket_pb2
from feltro.wallet.v1 import tournament_pb2 as wallet_tournament
from services.poker.directing.award_messages import TicketEnds, award_message, ticket_ends
from services.poker.directing.course import Course, Step
from services.poker.tournament.refusals import rule
from services.poker.tournament.running.facts import Paid
from services.poker.tournament.running.state import Phase

State: TypeAlias = "ticket_pb2.TicketState.ValueType"
ISSUED, USED, RETURNED, CONVERTED, REIMBURSED, REPLACED, EXPIRED = (
    ticket_pb2.TICKET_STATE_ISSUED,
    ticket_pb2.TICKET_STATE_USED,
    ticket_pb2.TICKET_STATE_RETURNED,
    ticket_pb2.TICKET_STATE_CONVERTED,
    ticket_pb2.TICKET_STATE_REIMBURSED,
    ticket_pb2.TICKET_STATE_REPLACED,
    ticket_pb2.TICKET_STATE_EXPIRED,
)
_REFUNDED: Mapping[int, State] = {
    wallet_tournament.TICKET_REFUND_RETURN: RETURNED,
    wallet_tournament.TICKET_REFUND_CASH: REIMBURSED,
    wallet_tournament.TICKET_REFUND_REPLACE: REPLACED,
}
_SETTLED: Mapping[int, State] = {
    wallet_tournament.TICKET_SETTLEMENT_EXPIRE: EXPIRED,
    wallet_tournament.TICKET_SETTLEMENT_REIMBURSE: REIMBURSED,
    wallet_tournament.TICKET_SETTLEMENT_REPLACE: REPLACED,
}
_WHY: Mapping[int, str] = {
    ISSUED: "can be used",
    USED: "is used",
    RETURNED: f"was given back, and can be used ({rule('28')})",
    CONVERTED: f"was credited in money, as another one was won before ({rule('29')})",
    REIMBURSED: f"was credited in money ({rule('37')})",
    REPLACED: f"was replaced by another one ({rule('37')}, {rule('30')})",
    EXPIRED: "has lapsed",
}


def explain_tickets(
    course: Course, steps: Sequence[Step], tickets: Sequence[ticket_pb2.Ticket], *, is_closed: bool
) -> tuple[list[str], list[str]]:
    """Returns a line for each ticket to the tournament, oldest first, and what differs from the journal."""
    by_journal = _states_by_journal(steps)
    ends = ticket_ends(course.state.phase, course.state.rules) if is_closed else None
    lines, differences = [], []
    # Who has won an entry to it before (29).
    winners: set[str] = set()
    for ticket in tickets:
        where = f"ticket {ticket.ticket_id} of {ticket.account_id}"
        origin = f"won in {ticket.awarded_by_tournament_id}"
        freeroll = ", a freeroll" if ticket.from_freeroll else ""
        lines.append(f"{where}: {ticket.value_cents} cents, {origin}{freeroll}, {_WHY.get(ticket.state, 'unknown')}")
        expected = _expected(
            ticket, by_journal.pop(ticket.ticket_id, ISSUED), ends, course, was_won_before=ticket.account_id in winners
        )
        if ticket.state not in expected:
            names = " or ".join(ticket_pb2.TicketState.Name(each) for each in expected)
            found = ticket_pb2.TicketState.Name(ticket.state)
            differences.append(f"{where}: by the journal it is {names}, and by the ledger {found}")
        if ticket.state != EXPIRED:
            winners.add(ticket.account_id)
    differences += [f"ticket {each}: the journal has it used, and the ledger has no such ticket" for each in by_journal]
    return lines, differences


def _states_by_journal(steps: Sequence[Step]) -> dict[str, State]:
    """Returns what the journal has made of each ticket that was used."""
    states: dict[str, State] = {}
    for step in steps:
        fact = step.event.fact
        if isinstance(fact, Paid) and fact.ticket:
            states[fact.ticket] = USED
        for transfer in step.transfers:
            for each in transfer.pay_out.awards:
                if each.refunded_ticket:
                    states[each.refunded_ticket] = _REFUNDED[award_message(each).ticket_refund]
    return states


def _expected(
    ticket: ticket_pb2.Ticket, by_journal: State, ends: TicketEnds | None, course: Course, *, was_won_before: bool
) -> tuple[State, ...]:
    """Returns the states that a ticket may have."""
    if by_journal not in {ISSUED, RETURNED}:
        return (by_journal,)
    if by_journal == ISSUED and was_won_before and not ticket.from_freeroll:
        return (CONVERTED,)
    if ends is None:
        return (by_journal,)
    ended = _SETTLED[ends.from_freeroll if ticket.from_freeroll else ends.won]
    if by_journal == RETURNED:
        return (ended,)
    # A satellite may have awarded it when this tournament was over.
    awarded_late = EXPIRED if ticket.from_freeroll else REIMBURSED
    return (ended,) if course.state.phase is Phase.CANCELLED and not ticket.from_freeroll else (ended, awarded_late)
