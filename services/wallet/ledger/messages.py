"""Turns the ledger's values into proto messages."""

from typing import Protocol

from feltro.wallet.v1 import ticket_pb2, types_pb2, wallet_pb2
from services.kit.wire_format import timestamp
from services.wallet.model.state import Account, Mode, SessionsAfterRound, SessionState, Table, Ticket


class AccountBalance(Protocol):
    """The balance of an account, whether it was read for a command or for a query."""

    @property
    def account_id(self) -> str: ...
    @property
    def mode(self) -> Mode: ...
    @property
    def free_cents(self) -> int: ...
    @property
    def locked_cents(self) -> int: ...
    @property
    def version(self) -> int: ...


def balance_message(account: AccountBalance) -> types_pb2.Balance:
    message = types_pb2.Balance()
    fill_balance(message, account)
    return message


def fill_balance(message: types_pb2.Balance, account: AccountBalance) -> None:
    message.account_id = account.account_id
    message.mode = types_pb2.Mode.ValueType(account.mode)
    message.free_cents = account.free_cents
    message.locked_cents = account.locked_cents
    message.version = account.version


def ticket_message(ticket: Ticket, account: Account, target: Table) -> ticket_pb2.Ticket:
    return ticket_pb2.Ticket(
        ticket_id=ticket.ticket_id,
        account_id=account.account_id,
        tournament_id=target.table_id,
        value_cents=ticket.value_cents,
        from_freeroll=ticket.from_freeroll,
        won=ticket.won,
        state=ticket_pb2.TicketState.ValueType(ticket.state),
        awarded_by_tournament_id=ticket.awarded_by_id,
        replaced_ticket_id=ticket.replaced_id or "",
        issued_at=timestamp(ticket.issued_at),
        changed_at=timestamp(ticket.changed_at),
        mode=types_pb2.Mode.ValueType(target.mode),
    )


def sessions_after_round_message(after: SessionsAfterRound) -> wallet_pb2.SessionsAfterRound:
    return wallet_pb2.SessionsAfterRound(
        invited_session_ids=[session.session_id for session in after.invited],
        ended_session_ids=[session.session_id for session in after.ended],
        ending_session_ids=[session.session_id for session in after.ending if session.state is SessionState.ENDING],
        announce_next_round=after.announce_next_round,
    )
