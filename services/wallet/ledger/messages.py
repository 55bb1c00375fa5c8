"""How the ledger's values are said in the messages of the protos."""

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.wallet.model.state import Account, SessionsAfterRound, SessionState


def balance_message(account: Account) -> types_pb2.Balance:
    said = types_pb2.Balance()
    fill_balance(said, account)
    return said


def fill_balance(message: types_pb2.Balance, account: Account) -> None:
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
