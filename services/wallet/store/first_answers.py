"""Reads the first answer to a command again, with what it was about: a game repeats it to its player (G3)."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from feltro.wallet.v1 import wallet_pb2
from services.wallet.model import refusals
from services.wallet.model.state import TransferKind
from services.wallet.store.answers import StoredAnswer

_COMMAND = text("""
SELECT requests.digest, requests.refused, requests.answer, requests.transfer_no, transfers.kind, transfers.round_no,
       rounds.round_id, tables.table_id, tables.game, requests.caller
FROM requests
LEFT JOIN transfers ON transfers.transfer_no = requests.transfer_no
LEFT JOIN rounds ON rounds.round_no = transfers.round_no
-- A transfer of a tournament (11 to 14) is of no round: its reference is the tournament.
LEFT JOIN tables ON tables.table_no = coalesce(
    rounds.table_no,
    (SELECT of.table_no FROM tables AS of WHERE transfers.kind BETWEEN 11 AND 14 AND of.table_id = transfers.reference))
WHERE requests.request_id = :request_id
""")
_PLACED = text("SELECT account_no, placed_cents, detail FROM stakes WHERE stake_no = :transfer_no")
_CANCELLED = text("""
SELECT stakes.account_no, stakes.stake_id, cancelled.amount_cents
FROM stake_cancellations AS cancelled JOIN stakes ON stakes.stake_no = cancelled.stake_no
WHERE cancelled.transfer_no = :transfer_no ORDER BY stakes.stake_no
""")
# The transfers of one account rise with its version: those up to this one had happened when it was answered.
_IN_PLAY = text("""
SELECT stakes.stake_id, stakes.placed_cents - COALESCE(earlier.cents, 0),
       COALESCE(left_in_play.detail, stakes.detail)
FROM stakes
LEFT JOIN LATERAL (
    SELECT sum(amount_cents)::bigint AS cents FROM stake_cancellations AS cancelled
    WHERE cancelled.stake_no = stakes.stake_no AND cancelled.transfer_no <= :transfer_no
) AS earlier ON stakes.cancelled_cents > 0
LEFT JOIN LATERAL (
    SELECT remaining_detail AS detail FROM stake_cancellations AS cancelled
    WHERE cancelled.stake_no = stakes.stake_no AND cancelled.transfer_no <= :transfer_no
      AND remaining_detail IS NOT NULL
    ORDER BY cancelled.transfer_no DESC LIMIT 1
) AS left_in_play ON stakes.cancelled_cents > 0
WHERE stakes.round_no = :round_no AND stakes.account_no = :account_no AND stakes.stake_no <= :transfer_no
  AND stakes.placed_cents > COALESCE(earlier.cents, 0)
  AND (stakes.paid_transfer_no IS NULL OR stakes.paid_transfer_no > :transfer_no)
ORDER BY stakes.stake_no
""")
# The field of the answer, by the kind of transfer, of commands that are told by their answers alone.
_WHOLE_ANSWERS = {
    TransferKind.STAKES_PAID: "paid",
    TransferKind.ROUND_SETTLED: "settled",
    TransferKind.ROUND_VOID: "voided",
    TransferKind.HAND: "transferred",
    TransferKind.BUY_IN: "bought_in",
    TransferKind.TOURNAMENT_PAID_IN: "paid_in",
    TransferKind.TOURNAMENT_PAID_OUT: "paid_out",
    TransferKind.TICKET_USED: "paid_in",
    TransferKind.TICKETS_SETTLED: "settled_tickets",
}


async def find(
    connection: AsyncConnection,
    request_id: str,
    expected_digest: bytes | None,
    verify_sender: Callable[[str | None, str | None, str], None],
) -> wallet_pb2.GetFirstAnswerResponse:
    """Returns the answer; refuses an unknown command, other content, and what was refused the first time.

    `verify_sender` refuses what belongs to others: by the game and the table, if money moved there, and by the caller.
    """
    row = (await connection.execute(_COMMAND, {"request_id": request_id})).one_or_none()
    if row is None:
        raise refusals.request_unknown(request_id)
    digest, refused, answer, transfer_no, kind, round_no, round_id, table_id, game, caller = row
    verify_sender(game, table_id, caller)
    if expected_digest is not None and digest != expected_digest:
        raise refusals.request_reused(request_id)
    stored = StoredAnswer(refused, answer).unwrap()
    response = wallet_pb2.GetFirstAnswerResponse(round_id=round_id or "", table_id=table_id or "")
    transfer = {"transfer_no": transfer_no}
    if kind == TransferKind.STAKE:
        response.placed.CopyFrom(wallet_pb2.PlaceStakeResponse.FromString(stored).placed)
        account_no, response.amount_cents, response.detail = (await connection.execute(_PLACED, transfer)).one()
        await _add_in_play(connection, response, {**transfer, "round_no": round_no, "account_no": account_no})
    elif kind == TransferKind.STAKE_CANCELLED:
        response.cancelled.ParseFromString(stored)
        parts = (await connection.execute(_CANCELLED, transfer)).all()
        for _, stake_id, cents in parts:
            response.cancelled_parts.add(stake_id=stake_id, amount_cents=cents)
        await _add_in_play(connection, response, {**transfer, "round_no": round_no, "account_no": parts[0][0]})
    elif kind in _WHOLE_ANSWERS:
        getattr(response, _WHOLE_ANSWERS[kind]).ParseFromString(stored)
    else:
        # It moved no stake, such as the end of a round without any.
        raise refusals.request_unknown(request_id)
    return response


async def _add_in_play(
    connection: AsyncConnection, response: wallet_pb2.GetFirstAnswerResponse, moment: dict[str, Any]
) -> None:
    for stake_id, cents, detail in await connection.execute(_IN_PLAY, moment):
        response.in_play.add(stake_id=stake_id, amount_cents=cents, detail=detail)
