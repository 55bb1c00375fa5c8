"""Turns the ledger's values into proto messages."""

from typing import Protocol

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.wallet.model.state import Mode, SessionsAfterRound, SessionState


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


def sessions_after_round_message(after: SessionsAfterRound) -> wallet_pb2.SessionsAfterRound:
    return wallet_pb2.SessionsAfterRound(
        invited_session_ids=[session.session_id for session in after.invited],
        ended_session_ids=[session.session_id for session in after.ended],
        ending_session_ids=[session.session_id for session in after.ending if session.state is SessionState.ENDING],
        announce_next_round=after.announce_next_round,
    )
