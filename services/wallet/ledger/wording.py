"""How the ledger's values are said in the messages of the protos."""

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.wallet.state import Account, SessionsAfterRound, SessionState


def balance(account: Account) -> types_pb2.Balance:
    said = types_pb2.Balance()
    write_balance(said, account)
    return said


def write_balance(said: types_pb2.Balance, account: Account) -> None:
    said.account_id = account.account_id
    said.mode = types_pb2.Mode.ValueType(account.mode)
    said.free_cents = account.free_cents
    said.locked_cents = account.locked_cents
    said.version = account.version


def sessions_after_round(after: SessionsAfterRound) -> wallet_pb2.SessionsAfterRound:
    return wallet_pb2.SessionsAfterRound(
        invited_session_ids=[session.session_id for session in after.invited],
        ended_session_ids=[session.session_id for session in after.ended],
        ending_session_ids=[session.session_id for session in after.ending if session.state is SessionState.ENDING],
        announce_next_round=after.announce_next_round,
    )
